"""NVIDIA's NeMo RL."""

from row import Row


def follow(row: Row) -> None:
    """Its configurations recompute nothing unless told otherwise (NVIDIA-NeMo/RL, examples/configs/grpo_math_1B.yaml,
    which the others extend: `activation_checkpointing` is false for DTensor and for Megatron)."""
    if row.program.say("nemo-rl"):
        row.put_if_open("recompute", "none")
