"""PrimeIntellect's trainer."""

from row import Row


def follow(row: Row) -> None:
    """It takes FlashAttention-3 on Hopper unless told otherwise (PrimeIntellect-ai/prime-rl, trainer configs, 2026:
    `attn` is "auto")."""
    attends = row.typed.get("flash_attention") != "off"
    if row.program.say("prime-rl") and attends and row.silicon.startswith("Hopper"):
        row.put_if_open("attention_kernel", "vendor")
