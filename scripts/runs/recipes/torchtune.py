"""torchtune's recipes."""

from row import Row


def follow(row: Row) -> None:
    """Recipes for several devices shard by FSDP, those for one do not (meta-pytorch/torchtune,
    recipes/*_distributed.py). Weights stay in dtype. Their loss takes chunks; torchtune's list of optimizations begins
    with the plain one."""
    if row.program.say("torchtune"):
        row.put_if_open("pure_half", "on")
    if row.stack["id"] == "torchtune" and row.count("n_gpus") > 1:
        row.put_if_open("sharding", "fsdp-full")
    if row.notes.say("step: baseline", "step: +packed", "step: +compile"):
        row.put_if_open("loss_kernel", "whole")
