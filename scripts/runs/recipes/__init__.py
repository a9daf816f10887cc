"""What scripts and vendors' recipes did that their tables do not say: one module a source. None reads a measurement."""

from collections.abc import Callable

from row import Row

from . import (
    accelerate,
    four_bits,
    lightning,
    megatron,
    mosaic,
    nemo_rl,
    nvidia,
    nvidia_bert,
    nvidia_jax,
    own_kernels,
    peft,
    prime_rl,
    qwen,
    torchtune,
    vtrain,
)

# In this order: later rules see what earlier ones found.
RULES: tuple[Callable[[Row], None], ...] = (
    qwen.follow,
    accelerate.follow,
    four_bits.follow,
    lightning.follow,
    torchtune.follow,
    peft.follow,
    own_kernels.follow,
    prime_rl.follow,
    nemo_rl.follow,
    mosaic.follow,
    vtrain.follow,
    nvidia_bert.follow,
    megatron.follow,
    nvidia_jax.follow,
    nvidia.follow,
)


def follow(row: Row) -> None:
    for rule in RULES:
        rule(row)
