"""Embedding and head beside a 4-bit base, which PEFT's preparation casts to fp32."""

from row import Row


def follow(row: Row) -> None:
    """axolotl casts them back (067b021, loaders/model.py); LLaMA-Factory does not prepare the model so (ff6d4d1,
    model/adapter.py)."""
    held = any([row.framework.say_word(name) for name in ("axolotl", "llamafactory", "llama-factory")])
    if held and row.typed.get("method") == "qlora":
        row.put_if_open("wide_embeddings", "off")
