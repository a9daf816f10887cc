"""FSDP under Hugging Face's Accelerate and what stands on it: Trainer, TRL."""

import software
from row import Row


def follow(row: Row) -> None:
    """Accelerate accumulates without synchronising (GradientAccumulationPlugin, sync_each_batch is off)."""
    if row.stack["id"] == "fsdp" and software.is_trainer(row):
        row.put_if_open("unsharded_gradients", "on")
