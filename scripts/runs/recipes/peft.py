"""PEFT's comparison of methods, and Answer.AI's script for FSDP with QLoRA."""

from row import Row


def follow(row: Row) -> None:
    """The comparison keeps adapters in fp32 beside weights in dtype and empties the allocator's cache every few steps
    (huggingface/peft 5d602fd, method_comparison/MetaMathQA/run.py). AnswerDotAI/fsdp_qlora, train.py, keeps weights in
    dtype."""
    if row.program.say("fsdp+qlora"):
        row.put_if_open("pure_half", "on")
    if not row.program.say("method_comparison"):
        return
    row.put_if_open("empty_cache", "on")
    if row.typed.get("method", "full") == "full":
        row.put_if_open("pure_half", "on")
        return
    row.typed.pop("pure_half", None)
    if row.typed.get("method") in ("lora", "qlora"):
        row.put_if_open("adapter_dtype", "fp32")
