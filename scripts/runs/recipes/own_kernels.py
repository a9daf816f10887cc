"""Programs whose kernels or compilation differ from those of the framework that they build on."""

from row import Row


def follow(row: Row) -> None:
    """Unsloth brings kernels of its own for norms, rotary embedding and gates, and takes the loss in chunks (unslothai/
    unsloth, unsloth/kernels, 2024-11 and later). nanoGPT and what came of it compute the loss in the module that they
    compile (karpathy/nanoGPT, train.py; karpathy/nanochat, scripts/base_train.py)."""
    if row.program.say("unsloth"):
        row.put_if_open("liger_kernels", "on")
        row.put_if_open("loss_kernel", "linear")
    if row.program.say("nanogpt", "nanochat") and row.typed.get("compile") == "layers":
        row.put("compile", "layers+loss")
