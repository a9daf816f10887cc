"""The names that a request may use, as enumerations; the plain strings do as well."""

from __future__ import annotations

from enum import Enum


class _Name(str, Enum):
    def __str__(self) -> str:
        return str(self.value)


class Objective(_Name):
    """What plans are ranked by.

    >>> import smplan
    >>> smplan.Objective.COST == "cost", str(smplan.Objective("time"))
    (True, 'time')
    """

    COST = "cost"
    TIME = "time"
    BALANCED = "balanced"
    PARETO = "pareto"


class Market(_Name):
    """How the capacity is bought.

    >>> import smplan
    >>> str(smplan.Market.CAPACITY_BLOCK)
    'capacity-block'
    """

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    CAPACITY_BLOCK = "capacity-block"


class Recompute(_Name):
    """Which activations are computed again in the backward pass.

    >>> import smplan
    >>> [str(choice) for choice in smplan.Recompute]
    ['none', 'selective', 'full']
    """

    NONE = "none"
    SELECTIVE = "selective"
    FULL = "full"


class Sharding(_Name):
    """Which state each data-parallel rank keeps to itself.

    >>> import smplan
    >>> smplan.Sharding("fsdp-hybrid").name
    'FSDP_HYBRID'
    """

    NONE = "none"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"
    FSDP_FULL = "fsdp-full"
    FSDP_GRAD_OP = "fsdp-grad-op"
    FSDP_HYBRID = "fsdp-hybrid"


class Finetune(_Name):
    """What is trained.

    >>> import smplan
    >>> [str(choice) for choice in smplan.Finetune]
    ['full', 'lora', 'qlora']
    """

    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"


class Dtype(_Name):
    """Format of the matrix products.

    >>> import smplan
    >>> smplan.Dtype("bf16") is smplan.Dtype.BF16
    True
    """

    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    FP4 = "fp4"
    TF32 = "tf32"
    FP32 = "fp32"
