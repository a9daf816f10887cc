"""Megatron-LM's own script, and the programs on top of it."""

from row import Row


def follow(row: Row) -> None:
    """Gradients are reduced after the backward pass unless told otherwise (NVIDIA/Megatron-LM,
    megatron/training/arguments.py: overlap_grad_reduce); recipes of NeMo and Megatron-Bridge tell it. These set
    grad_reduce_in_fp32 to false; Megatron-LM's own default is true."""
    if row.program.say("megatron-lm") and not row.says("overlap-grad-reduce"):
        row.put_if_open("gradient_overlap", "off")
    if row.program.say("megatron-bridge", "nemo"):
        row.put_if_open("half_gradients", "on")
