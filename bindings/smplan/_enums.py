"""The names that a request may use, as enumerations; the plain strings do as well."""

from __future__ import annotations

from enum import Enum


class _Name(str, Enum):
    def __str__(self) -> str:
        return str(self.value)


class Objective(_Name):
    """What plans are ranked by."""

    COST = "cost"
    TIME = "time"
    BALANCED = "balanced"
    PARETO = "pareto"


class Market(_Name):
    """How the capacity is bought."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    CAPACITY_BLOCK = "capacity-block"


class Recompute(_Name):
    """Which activations are computed again in the backward pass."""

    NONE = "none"
    SELECTIVE = "selective"
    FULL = "full"


class Sharding(_Name):
    """Which state each data-parallel rank keeps to itself."""

    NONE = "none"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"
    FSDP_FULL = "fsdp-full"
    FSDP_GRAD_OP = "fsdp-grad-op"
    FSDP_HYBRID = "fsdp-hybrid"


class Finetune(_Name):
    """What is trained."""

    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"


class Dtype(_Name):
    """Format of the matrix products."""

    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    TF32 = "tf32"
    FP32 = "fp32"
