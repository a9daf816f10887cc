"""LLM Foundry's benchmarks."""

from row import Row


def follow(row: Row) -> None:
    """Mixed precision PURE keeps parameters, reductions and buffers in 16 bits (mosaicml/llm-foundry,
    scripts/train/benchmarking). Tables with it were made with PyTorch 1.13, whose checkpoints run whole layers again.
    `tied=1` is their word for a shared embedding."""
    if row.notes.say("mp_mode=pure"):
        row.put_if_open("pure_half", "on")
        row.put_if_open("reentrant_checkpoint", "on")
    if row.notes.say("tied=1"):
        row.put_if_open("tied_embeddings", 1)
