"""Cells as people write them, each as a value that the product knows; None where a cell says nothing that is known."""

import re

from phrases import Phrases, letters_and_digits, plain_words
from phrases import denies as denies

ON = {"1", "true", "yes", "on", "y", "t", "enabled", "✓", "✔"}
OFF = {"0", "false", "no", "off", "n", "f", "disabled", "none", "✗", "✘"}
BLANKS = {"", "-", "--", "n/a", "na", "?", "nan", "tbd", "unknown", "null", "not stated"}

SHARDINGS = {
    **dict.fromkeys(("none", "no", "noshard", "ddp", "zero0", "stage0", "0"), "none"),
    **dict.fromkeys(("zero1", "zerostage1", "stage1", "1"), "zero1"),
    **dict.fromkeys(("distributedoptimizer", "distopt", "usedistributedoptimizer"), "zero1"),
    **dict.fromkeys(("zero2", "zerostage2", "stage2", "2"), "zero2"),
    **dict.fromkeys(("zero3", "zerostage3", "stage3", "3"), "zero3"),
    **dict.fromkeys(("fsdp", "fsdp1", "fsdp2", "fsdpfull", "full", "fullshard", "fullyshard"), "fsdp-full"),
    "fsdpfullshard": "fsdp-full",
    **dict.fromkeys(("gradop", "shardgradop", "fsdpgradop"), "fsdp-grad-op"),
    **dict.fromkeys(("hsdp", "hybridshard", "fsdphybrid", "fsdphybridshard"), "fsdp-hybrid"),
}
FSDP_STRATEGIES = {
    "shard_grad_op": "fsdp-grad-op",
    "grad_op": "fsdp-grad-op",
    "hybrid_shard": "fsdp-hybrid",
    "hsdp": "fsdp-hybrid",
    "full_shard": "fsdp-full",
    "full shard": "fsdp-full",
}
RECOMPUTES = {
    **dict.fromkeys(("none", "no", "off", "false", "disabled", "0"), "none"),
    **dict.fromkeys(("selective", "op", "attention", "attn"), "selective"),
    **dict.fromkeys(("full", "yes", "on", "true", "enabled", "1", "all", "uniform", "block", "layers"), "full"),
    **dict.fromkeys(("activationcheckpointing", "gradientcheckpointing", "checkpointing", "ac", "gc"), "full"),
}
MODULES = ("core_attn", "mla_up_proj", "layernorm", "moe_act", "mlp", "shared_experts", "moe")
# Those that keep scores come first: `unfused` is not `fused`, and SDPA has a backend `math`.
ATTENTION_KERNELS = {
    **dict.fromkeys(("eager", "unfused", "naive", "vanilla", "math"), False),
    **dict.fromkeys(("flash", "sdpa", "cudnn", "xformers", "memoryefficient", "flex", "splash", "triton"), True),
    "fused": True,
}
SCHEDULES = {"interleaved": "interleaved", "1f1b": "1f1b", "gpipe": "gpipe", "zerobubble": "zero-bubble"}
OPTIMIZERS = {
    **dict.fromkeys(("8bit", "8-bit"), "adam8bit"),
    "lamb": "lamb",
    "lion": "lion",
    "sgd": "sgd-momentum",
    "adafactor": "adafactor",
    "muon": "muon",
    "adam": "adamw",
}
# The order keeps float16 out of bfloat16. `amp` is torch.autocast's default on CUDA.
PRECISIONS = {
    **dict.fromkeys(("fp8", "float8"), "fp8"),
    "fp4": "fp4",
    **dict.fromkeys(("bf16", "bfloat16"), "bf16"),
    **dict.fromkeys(("fp16", "float16", "half", "16-mixed", "16-true", "amp"), "fp16"),
    "tf32": "tf32",
    **dict.fromkeys(("fp32", "float32"), "fp32"),
}
# What the allocator calls active are the blocks that tensors hold; reserved ones were once called cached.
MEMORY_KINDS = {
    **dict.fromkeys(("allocated", "active"), "allocated"),
    **dict.fromkeys(("reserved", "cached"), "reserved"),
    **dict.fromkeys(("smi", "nvml", "device"), "device"),
}
FLOPS_KINDS = {"hardware": "hardware", "hfu": "hardware", "model": "model", "mfu": "model"}
MODEL_KINDS = ("encoder-decoder", "decoder", "encoder", "vision")
COLLECTIVES = ("nccl", "smddp")
FOUR_BITS = ("nf4", "gptq", "4-bit", "4bit", "int4", "awq")
NOT_WEIGHTS = frozenset("adam adamw optimizer optimizers lion states gradients gradient kv activations".split())
LINEAR_LAYERS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def is_blank(cell: str) -> bool:
    return cell.strip().lower() in BLANKS


def switch(cell: str) -> str | None:
    word = cell.strip().lower()
    return "1" if word in ON else "0" if word in OFF else None


def _part(names: dict[str, str], text: str) -> str | None:
    """The first name, in the order of the table, that stands anywhere in the text."""
    return next((value for name, value in names.items() if name in text), None)


def fsdp_strategy(text: str) -> str | None:
    """The one strategy of FSDP that a text speaks of; a text that compares two names neither."""
    words = Phrases(text)
    found = {value for name, value in FSDP_STRATEGIES.items() if words.say_word(name)}
    return found.pop() if len(found) == 1 else None


def zero_stage(framework: str) -> str | None:
    """The stage that a framework is called with: `HF + DeepSpeed ZeRO-1`."""
    text = letters_and_digits(framework)
    for name in ("zerostage", "zero"):
        at = text.find(name)
        stage = SHARDINGS.get(text[at : at + len(name) + 1]) if at >= 0 else None
        if stage:
            return stage
    return None


def zero_stage_said(notes: str) -> str | None:
    """The one stage that notes speak of: `DeepSpeed ZeRO-2`, but not `ZeRO-2 and ZeRO-3`."""
    words = Phrases(notes)
    begins = ("zero", "zero-", "zero ", "zero_", "zero stage ", "zero-stage-")
    found = [f"zero{digit}" for digit in "123" if any([words.say_word(begin + digit) for begin in begins])]
    return found[0] if len(found) == 1 else None


def sharding(cell: str) -> str | None:
    letters = letters_and_digits(cell)
    if "/" in cell or "hybridshardzero2" in letters:  # one or the other; not modelled
        return None
    if letters in SHARDINGS:
        return SHARDINGS[letters]
    strategy = fsdp_strategy(cell)
    if strategy:
        return strategy
    if denies(cell):
        return "none"
    first = SHARDINGS.get(letters_and_digits(re.split(r"[ +,(]", cell)[0]))
    if first and first != "none":
        return first
    return zero_stage(cell) or first  # `ddp + zero1`


def modules(cell: str) -> list[str]:
    """Megatron Core's modules in a list, each once, and none that a block of experts holds beside that block."""
    found = [m for m in MODULES if m in re.findall(r"[a-z_]+", cell.lower())]
    return [m for m in found if "moe" not in found or m not in ("moe_act", "shared_experts")]


def recompute(cell: str) -> str | None:
    letters = letters_and_digits(cell)
    if letters in RECOMPUTES:
        return RECOMPUTES[letters]
    if letters.startswith("selective"):
        return "selective"
    if letters.startswith(("full", "fsdpfull")):
        return "full"
    if denies(cell):
        return "none"
    words = plain_words(cell)
    if "sac" in words or "selective" in words:  # torchtitan's selective activation checkpointing
        return "selective"
    if set(words) & {"yes", "true", "uniform", "full"}:
        return "full"
    return "selective" if modules(cell) else None


def flash_attention(cell: str) -> str | None:
    """A switch, or a kernel of attention by its name: whether it keeps no scores."""
    said = switch(cell)
    if said is not None:
        return "on" if said == "1" else "off"
    if denies(cell):
        return "off"
    letters = letters_and_digits(cell)
    known = next((value for name, value in ATTENTION_KERNELS.items() if name in letters), None)
    if known is None:
        # `te` is Transformer Engine; a bare digit is a version of FlashAttention, as in `fa2`.
        known = any(re.fullmatch(r"(fa)?[1-9]|fa|te", word) for word in plain_words(cell)) or None
    return None if known is None else "on" if known else "off"


def schedule(cell: str) -> str | None:
    return _part(SCHEDULES, letters_and_digits(cell))


def optimizer(cell: str) -> str | None:
    return _part(OPTIMIZERS, cell.lower())


def offload(cell: str) -> str | None:
    """`optimizer+params`, `params (CPU)`, `cpu`."""
    parts = re.split(r"[ (]", cell.lower())[0].replace("parameters", "params")
    moved = set(parts.split("+"))
    to_nvme = "nvme" not in moved or moved & {"optimizer", "params"}
    if moved <= {"optimizer", "params", "activations", "nvme"} and len(moved) == parts.count("+") + 1 and to_nvme:
        return parts
    if parts == "0" or (denies(cell) and not re.search("[,;]", cell)):
        return "none"
    return "optimizer" if parts in ("cpu", "1", "yes", "true", "zero-offload") else None


def host_beside(cell: str) -> bool:
    """Whether an optimizer's or a sharding's cell speaks of the host: `AdamW (CPU offload)`, `zero2+offload`."""
    words = Phrases(cell)
    return not words.deny("cpu") if words.say("offload") else words.say("cpu") and not words.deny("offload")


def precision(cell: str) -> str | None:
    words = Phrases(cell)
    return next((value for name, value in PRECISIONS.items() if words.say(name)), None)


def is_pure_half(cell: str) -> bool:
    """`bf16-true` of Lightning, `pure bf16`: weights too."""
    return ("-true" in cell.lower() or "pure" in cell.lower()) and "32" not in cell


def memory_kind(cell: str) -> str | None:
    text = cell.lower()
    if "allocated" in text and "reserved" in text:  # one or the other
        return None
    return _part(MEMORY_KINDS, text)


def flops_kind(cell: str) -> str | None:
    text = cell.lower()
    return None if "hardware" in text and "model" in text else _part(FLOPS_KINDS, text)


def mlp(cell: str) -> str:
    """What names no gate has none."""
    text = cell.strip().lower()
    if text in ("swiglu", "geglu", "reglu", "gelu", "relu", "silu"):
        return text
    return "swiglu" if "glu" in text else "gelu"


def model_kind(cell: str) -> str | None:
    return next((kind for kind in MODEL_KINDS if letters_and_digits(kind) == letters_and_digits(cell)), None)


def collectives(cell: str) -> str | None:
    return next((name for name in COLLECTIVES if name in plain_words(cell)), None)


def program(cell: str) -> str | None:
    """Whose program ran: a published recipe, or a user's."""
    return {"tuned": "tuned", "unknown": "unknown"}.get(cell.strip().lower())


def adapter_dtype(cell: str) -> str | None:
    """Only 32 bits are a setting; adapters have the dtype of the weights otherwise."""
    return "fp32" if precision(cell) == "fp32" else None


def says_four_bit_format(words: Phrases) -> bool:
    """The frozen weights, and neither the optimizer's states nor gradients, have 4 bits."""
    return any([words.say_word(name, NOT_WEIGHTS) for name in FOUR_BITS])


def says_four_bit_weights(words: Phrases) -> bool:
    return says_four_bit_format(words) or any([words.say_word(name) for name in ("q-lora", "qlora")])


def four_bits(quant: str) -> bool | None:
    """Whether frozen weights of that format have 4 bits: `bnb.nf4`, `int4 (GPTQ)`, `none`."""
    words = Phrases(quant)
    if denies(quant):
        return False
    if says_four_bit_weights(words) or words.say_word("fp4"):
        return True
    return False if words.say("bf16", "bfloat16", "fp16", "float16", "16") else None


def lora_targets(cell: str) -> str:
    """Linear layers by Transformers' names, or a word for several of them. What is no name of one is LoRA's attention:
    `qkv`, `query+key+value`; any word of the MLP means every linear layer."""
    if cell.lower() in ("query-value", "attention", "all"):
        return cell.lower()
    named = [layer for layer in LINEAR_LAYERS if layer in cell.lower()]
    words = [w for w in re.split(r"[+, ]", cell.lower()) if w]
    whole = {"all", "mlp", "gate_proj", "up_proj", "down_proj"} & set(words)
    if named and "all" not in cell.lower():
        return "+".join(named)
    if whole or "all" in cell.lower():
        return "all"
    return "query-value" if set(words) <= {"q", "v", "query", "value"} else "attention"
