"""Qwen's scripts, and Hugging Face's Trainer under DeepSpeed."""

import software
from row import Row

MOST_BUCKET = 2_000_000_000


def _auto_bucket(row: Row) -> int:
    """The Trainer writes the square of the hidden size for "auto"."""
    hidden = row.count("hidden") or int(row.architecture.get("hidden", 0))
    return min(hidden * hidden, MOST_BUCKET)


def follow(row: Row) -> None:
    """The trainer script of the first Qwen models runs DeepSpeed, be it on one device: stage 3 for whole models, stage 2
    for 4-bit ones (QwenLM/Qwen, finetune/finetune_ds.sh and finetune_qlora_single_gpu.sh, 2023). Their buckets: "auto",
    and 2e8 (finetune/ds_config_zero3.json and ds_config_zero2.json)."""
    mode = software.trained(row)
    says_what = bool(row.cell("method") or row.cell("lora"))
    family = row.preset["architecture"].get("family") if row.preset else ""
    own = "qwenlm" in row.cell("source").lower()
    if own and row.stack["id"] == "hf-trainer" and family == "qwen" and says_what and mode != "lora":
        row.stack = software.stack_of("deepspeed")
        row.put("stack", "deepspeed")
        stage = "zero3" if mode == "full" else "zero2"
        stated = software.stated_sharding(row)
        if not stated or (stated == "none" and row.replicas == 1):
            row.put("sharding", stage)
        row.put_if_open("reduce_bucket", _auto_bucket(row) if stage == "zero3" else 200_000_000)
    elif row.stack.get("deepspeed_engine") and software.is_trainer(row):
        # The Trainer's examples leave the bucket of stage 3 to "auto".
        if software.stated_sharding(row) == "zero3" and row.cell("framework") and not row.cell("stack"):
            row.put_if_open("reduce_bucket", _auto_bucket(row))
