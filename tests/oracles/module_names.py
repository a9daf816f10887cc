#!/usr/bin/env python3
"""Names that hang on the model, judged by what looks them up: classes for FSDP by accelerate's own search through the
modules, targets of adapters by PEFT, both on transformers' model of the type, without memory for its weights. What they
refuse `smplan check` must call an error, and what they take it must not.
Usage: module_names.py SMPLAN, in scripts/training's environment
"""

import collections
import contextlib
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

SEED = 20261128
LEAST_FOUND = 0.9
# Models of the catalog, and the type that their publishers' config.json has.
MODELS = {"llama-3.1-8b": "llama", "yi-6b": "llama", "smollm2-135m": "llama", "qwen2.5-7b": "qwen2", "qwen3-8b": "qwen3",
          "qwen3-30b-a3b": "qwen3_moe", "qwen1.5-moe-a2.7b": "qwen2_moe", "mistral-7b": "mistral",
          "mistral-nemo-12b": "mistral", "mixtral-8x7b": "mixtral", "gemma-7b": "gemma", "gemma-2-9b": "gemma2",
          "gemma-3-1b": "gemma3_text", "phi-2": "phi", "phi-3-mini": "phi3", "phi-4": "phi3", "gpt2": "gpt2",
          "falcon-7b": "falcon", "gpt-j-6b": "gptj", "pythia-1b": "gpt_neox", "bloom-560m": "bloom", "opt-125m": "opt",
          "mpt-7b": "mpt", "gpt-neo-1.3b": "gpt_neo", "starcoder-15b": "gpt_bigcode", "starcoder2-7b": "starcoder2",
          "olmo-2-7b": "olmo2", "olmoe-1b-7b": "olmoe", "granite-3-2b": "granite", "gpt-oss-20b": "gpt_oss",
          "deepseek-v2-lite": "deepseek_v2", "deepseek-v3": "deepseek_v3", "stablelm-2-1.6b": "stablelm",
          "command-r-35b": "cohere", "smollm3-3b": "smollm3", "seed-oss-36b": "seed_oss", "glm-4.5-air": "glm4_moe",
          "minimax-m2": "minimax_m2", "nemotron-4-15b": "nemotron", "nemotron-h-8b": "nemotron_h",
          "qwen3-next-80b-a3b": "qwen3_next"}
LAYERS = ("LlamaDecoderLayer", "Qwen2DecoderLayer", "Qwen3MoeDecoderLayer", "MistralDecoderLayer", "GPT2Block",
          "GPTNeoXLayer", "Gemma2DecoderLayer", "OPTDecoderLayer", "BloomBlock", "FalconDecoderLayer", "Phi3DecoderLayer")
TARGETS = (["q_proj", "v_proj"], ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
           ["query_key_value"], ["query_key_value", "dense"], ["c_attn", "c_proj"], ["Wqkv", "out_proj"], ["fc1", "fc2"],
           ["qkv_proj", "gate_up_proj"], ["w1", "w2"], ["attn.c_attn", "mlp.c_fc"], ["self_attn.q_proj", "self_attn.v_proj"],
           ["q_porj", "v_porj"], ["q_proj", "v_porj"], ["Q_proj", "V_proj"], ["wq", "wv"], ["lm_head", "embed_tokens"],
           ["lm_head"], ["q_proj"], ["query", "value"], "all-linear", "q_proj", ".*q_proj", "(q|v)_proj")


def model_of(kind: str):
    """Without memory, and with few layers."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(kind)
    # A default that its own class cannot take.
    given = {} if getattr(config, "num_key_value_heads", 1) else {"num_key_value_heads": config.num_attention_heads}
    for name in ("num_hidden_layers", "n_layer", "n_layers", "num_layers"):
        if isinstance(getattr(config, name, None), int):
            with contextlib.suppress(Exception):  # where its lists of layers are as long
                config = AutoConfig.for_model(kind, **given, **{name: min(getattr(config, name), 4)})
            break
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config)


def slipped(word: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(word) - 1)
    return word[:place] + word[place + 1:]


def layers_for(model, chance: random.Random) -> list:
    own = sorted(model._no_split_modules or ())
    return [*LAYERS, *own, *(slipped(one, chance) for one in own), *(one.lower() for one in own), "Linear", "Embedding"]


def targets_for(model, chance: random.Random) -> list:
    import torch
    from transformers.pytorch_utils import Conv1D

    own = sorted({name.rpartition(".")[2] for name, module in model.named_modules()
                  if isinstance(module, (torch.nn.Linear, Conv1D, torch.nn.Embedding))})
    pairs = [chance.sample(own, 2) for _ in range(4)]
    return [*map(copy.copy, TARGETS), own, *pairs, *([slipped(one, chance) for one in pair] for pair in pairs),
            [pairs[0][0], slipped(pairs[0][1], chance)]]


def refused_layer(model, name: str) -> bool:
    from accelerate.utils.dataclasses import get_module_class_from_name

    return get_module_class_from_name(model, name) is None


def refused_targets(kind: str, targets) -> str:
    import peft

    try:
        peft.get_peft_model(model_of(kind), peft.LoraConfig(r=4, target_modules=copy.copy(targets), task_type="CAUSAL_LM"),
                            low_cpu_mem_usage=True)
    except ValueError as fault:
        return str(fault)
    return ""


def as_trl_has_it(targets):
    """ModelConfig makes a text of a list of one."""
    return targets[0] if isinstance(targets, list) and len(targets) == 1 else targets


def files_of_layer(preset: str, layer: str) -> list:
    policy = "TRANSFORMER_BASED_WRAP"
    return [("axolotl", {"base_model": preset, "fsdp_version": 2, "fsdp_config": {
        "auto_wrap_policy": policy, "transformer_layer_cls_to_wrap": layer}}),
            ("trl", {"model_name_or_path": preset, "output_dir": "o", "learning_rate": 1e-4, "fsdp": "full_shard auto_wrap",
                     "fsdp_config": {"transformer_layer_cls_to_wrap": [layer]}}),
            ("accelerate", {"compute_environment": "LOCAL_MACHINE", "distributed_type": "FSDP", "num_processes": 8,
                            "fsdp_config": {"fsdp_version": 2, "fsdp_auto_wrap_policy": policy,
                                            "fsdp_transformer_layer_cls_to_wrap": layer}})]


def files_of_targets(preset: str, targets) -> list:
    """Each with what PEFT gets of it."""
    files = [("axolotl", {"base_model": preset, "adapter": "lora", "lora_r": 8, "lora_target_modules": targets}, targets),
             ("trl", {"model_name_or_path": preset, "output_dir": "o", "learning_rate": 1e-4, "use_peft": True,
                      "lora_target_modules": targets}, as_trl_has_it(targets))]
    if isinstance(targets, list):
        files.append(("llama-factory", {"model_name_or_path": preset, "stage": "sft", "finetuning_type": "lora",
                                        "lora_target": ",".join(targets)}, targets))
    return files


def found(smplan: str, files: list) -> list:
    """Whether each has an error of the two rules."""
    said: dict = {}
    with tempfile.TemporaryDirectory() as folder:
        groups: dict = collections.defaultdict(list)
        for i, (kind, preset, content) in enumerate(files):
            path = pathlib.Path(folder, f"{i:05}.yaml")
            path.write_text(json.dumps(content), encoding="utf-8")
            groups[kind, preset if kind == "accelerate" else ""].append(str(path))
        for (kind, preset), paths in groups.items():
            flags = ["--model", preset] if preset else []
            done = subprocess.run([smplan, "check", *paths, "--kind", kind, "--format", "json", *flags],
                                  capture_output=True, text=True)
            for job in json.loads(done.stdout)["jobs"] if len(paths) > 1 else [json.loads(done.stdout)]:
                said[job["file"]] = [one["message"] for one in job["findings"]
                                     if one["rule"] in ("C232", "C233") and one["severity"] == "error"]
        return [said[str(pathlib.Path(folder, f"{i:05}.yaml"))] for i in range(len(files))]


def main() -> int:
    warnings.simplefilter("ignore")
    smplan = sys.argv[1]
    chance = random.Random(SEED)
    files, truths = [], []
    peft_says: dict = {}
    for preset, kind in MODELS.items():
        model = model_of(kind)
        for layer in layers_for(model, chance):
            refused = "no such class" if refused_layer(model, layer) else ""
            for tool, content in files_of_layer(preset, layer):
                files.append((tool, preset, content))
                truths.append((f"{preset} {tool}: layer {layer}", refused))
        for targets in targets_for(model, chance):
            for tool, content, given in files_of_targets(preset, targets):
                key = kind, json.dumps(given)
                if key not in peft_says:
                    peft_says[key] = refused_targets(kind, given)
                files.append((tool, preset, content))
                truths.append((f"{preset} {tool}: targets {targets}", peft_says[key]))
    count: collections.Counter = collections.Counter()
    for (what, refused), ours in zip(truths, found(smplan, files)):
        count["refused" if refused else "taken"] += 1
        if refused and not ours:
            count["missed"] += 1
            print(f"missed: {what}: {refused[:120]}")
        elif ours and not refused:
            count["false"] += 1
            print(f"false: {what}: {ours[0][:160]}")
    share = 1 - count["missed"] / max(1, count["refused"])
    print(f"{len(MODELS)} models: {count['refused']} refused, {share:.1%} of them found; {count['taken']} taken, "
          f"{count['false']} false")
    return 0 if share >= LEAST_FOUND and not count["false"] and count["refused"] > 500 else 1


if __name__ == "__main__":
    sys.exit(main())
