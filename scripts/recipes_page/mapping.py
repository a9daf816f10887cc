"""Published configurations in the words of smplan's flags."""

import re

# Name in the recipe to preset, most specific first.
MODELS = [
    (r"deepseek_r1_671b", "deepseek-v3"),
    (r"llama_?3(_\d)?_405b", "llama-3.1-405b"),
    (r"llama_?3_2_1b", "llama-3.2-1b"),
    (r"llama_?3_2_3b", "llama-3.2-3b"),
    (r"llama_?3_2_(11|90)b", None),
    (r"llama4|llama_4", "llama-4-scout"),
    (r"llama_?(3_\d_|3_)?70b", "llama-3.1-70b"),
    (r"llama_?(3_\d_|3_)?8b", "llama-3.1-8b"),
    (r"gpt_oss_120b", "gpt-oss-120b"),
    (r"gpt_oss_20b", "gpt-oss-20b"),
    (r"mixtral_8x22b", "mixtral-8x22b"),
    (r"mixtral_?-?8x7b", "mixtral-8x7b"),
    (r"mistral_7b", "mistral-7b"),
    (r"qwen3_0_dot_6b", "qwen3-0.6b"),
    (r"qwen3_1_dot_7b", "qwen3-1.7b"),
    (r"qwen3_(\d+)b", "qwen3-{}b"),
    (r"qwen_1_dot_5b", "qwen2.5-1.5b"),
    (r"qwen2_5_(\d+)b", "qwen2.5-{}b"),
    (r"qwen_(\d+)b", "qwen2.5-{}b"),
    (r"falcon", "falcon-7b"),
    (r"llama2-arch 6\.74b|llama-2-7b", "llama-2-7b"),
    (r"llama2-arch 69b", "llama-2-70b"),
    (r"gpt-neox-20b", "gpt-neox-20b"),
    (r"gpt-neox-7b", "pythia-6.9b"),
]


def preset(row: dict) -> str | None:
    name = row["model"].lower()
    if name in ("finetune", "pretrain"):  # the 2026 recipes carry it in the file's name
        name = row["path"].rsplit("/", 1)[-1].lower()
    for pattern, model in MODELS:
        found = re.search(pattern, name)
        if found:
            return model.format(*found.groups()) if model else None
    return None


def model_flags(row: dict) -> list[str] | None:
    model = preset(row)
    if model:
        return ["--model", model]
    if row["source"].startswith("AWS docs") and row["params_b"]:
        return ["--params", f"{row['params_b']}B"]
    return None


def stack(row: dict) -> str:
    kind = row["zero_or_sharding"].lower()
    split = any(int(row[d]) > 1 for d in ("tp", "cp", "ep"))
    if row["use_smp"] == "v1":
        return "smp-v1"
    if "trn" in row["instance_type"]:
        return "neuron"
    if "distributed" in kind:
        return "megatron"
    if split:
        return "smp-v2"
    adapter = row["source"] == "AWS HyperPod recipes" and "/hf_" in row["path"]
    return "hyperpod-adapter" if adapter else "fsdp"


def instance(row: dict) -> str:
    """The type that AWS tunes for where several are allowed."""
    types = row["instance_type"].split("|")
    return "ml.p5.48xlarge" if "ml.p5.48xlarge" in types else types[0]


def unmapped(row: dict) -> str | None:
    """Why a row cannot be asked about; None where it can."""
    if not row["micro_batch"] or not row["tp"]:
        return "does not state its degrees"
    if not row["seq_len"]:
        return "does not state the sequence length"
    if not row["global_batch_seqs"]:
        return "does not state the global batch"
    if model_flags(row) is None:
        return "is of a model that no preset describes"
    if row["method"] == "qlora" and int(row["cp"]) > 1:
        return "combines QLoRA with context parallelism, which no stack of the catalog does"
    if stack(row) == "smp-v1" and "sdp" in row["zero_or_sharding"] and int(row["shard_degree"]) * int(row["tp"]) == int(row["world"]):
        return "shards over every rank with SMP v1, which the catalog has with replicas only"
    return None


def finetune(row: dict) -> str:
    if row["method"] in ("lora", "qlora"):
        return row["method"]
    name = row["path"].rsplit("/", 1)[-1]
    return "lora" if row["method"] == "dpo" and name.startswith("llmft") and "_fft" not in name else "full"


def sharding(row: dict) -> list[str]:
    data = int(row["world"]) // (int(row["tp"]) * int(row["pp"]))
    kind, degree = row["zero_or_sharding"].lower(), int(row["shard_degree"] or 1)
    if "zero1" in kind or "distributed" in kind:
        return ["--sharding", "zero1"]
    if degree >= data and stack(row) in ("fsdp", "hyperpod-adapter", "smp-v2"):
        return ["--sharding", "fsdp-full"]
    return ["--sharding", "fsdp-hybrid", "--shard-degree", str(degree)]


def work(row: dict) -> list[str]:
    """Model, work and hardware: what the comparison with our own plan keeps."""
    precision = {"bf16-mixed": "bf16", "mixed_precision": "bf16", "fp16|bf16": "bf16"}.get(row["precision"], row["precision"])
    return [*model_flags(row), "--instances", instance(row), "--count", row["num_nodes"], "--seq-len", row["seq_len"],
            "--global-batch", row["global_batch_seqs"], "--dtype", precision, "--finetune", finetune(row), "--tokens", "1B"]


def strategy(row: dict) -> list[str]:
    recompute = {"True": "full", "False": "none", "selective": "selective"}.get(row["act_ckpt"], "full")
    offload = [name for name, key in (("params", "param_offload"), ("activations", "act_offload")) if row[key] == "True"]
    data = int(row["world"]) // (int(row["tp"]) * int(row["pp"]) * int(row["cp"]))
    # NeMo cuts experts over the tensor ranks unless told otherwise (expert_tensor_parallel_size; Megatron Core,
    # parallel_state.py).
    cut = ["--etp", row["tp"]] if stack(row) == "megatron" and int(row["ep"]) > 1 else []
    return ["--stack", stack(row), "--dp", str(data), "--tp", row["tp"], "--pp", row["pp"], "--cp", row["cp"],
            "--ep", row["ep"], *cut, *sharding(row), "--micro-batch", row["micro_batch"], "--recompute", recompute,
            "--offload", "+".join(offload) or "none"]


def readings(row: dict) -> list[tuple[str, list[str]]]:
    """What the row leaves open and decides memory, from the plain reading to ones that save more: words and flags."""
    found: list[tuple[str, list[str]]] = [("", [])]
    if row["method"] == "full":
        found.append(("a fused loss", ["--fused-loss", "on"]))
    if stack(row) == "smp-v1":
        # In its own transformer SMP v1 runs flash attention (Developer Guide, SMP v1, archived).
        found.append(("flash attention", ["--flash-attention", "on"]))
    return found


def target(row: dict) -> str:
    """The format that the recipe itself is written in."""
    return {"smp-v1": "smp-v1", "neuron": "neuronx"}.get(stack(row)) or (
        "hyperpod-recipe" if row["source"] == "AWS HyperPod recipes" else "smp-v2" if stack(row) == "smp-v2" else "fsdp")
