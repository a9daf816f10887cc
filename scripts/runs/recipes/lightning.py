"""LitGPT, which runs on Lightning Fabric."""

from row import Row


def follow(row: Row) -> None:
    """LitGPT's scripts hold weights and moments in 16 bits unless told otherwise (utils.py,
    get_default_supported_precision). LitGPT checkpoints the layers that it shards, and only those. `bnb.nf4` has plain
    scales, `bnb.nf4-dq` quantised
    ones (Lightning Fabric, plugins/precision/bitsandbytes.py)."""
    whole = row.typed.get("method", "full") == "full"
    if whole and row.program.say("litgpt") and row.typed.get("dtype") in ("bf16", "fp8"):
        row.put_if_open("pure_half", "on")
    if row.stack["id"] != "litgpt":
        return
    if row.typed.get("sharding") == "fsdp-full" and not row.typed.get("recompute"):
        row.put("recompute", "full")
    if row.typed.get("method") == "qlora" and "-dq" not in row.cell("quant").lower():
        row.put_if_open("double_quantization", "off")
