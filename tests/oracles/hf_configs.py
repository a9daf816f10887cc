"""Writes tests/data/hf_oracle.json: what Hugging Face's own classes make of configurations that smplan reads.

    python tests/oracles/hf_configs.py tests/data/hf tests/data/hf_oracle.json

Needs torch, transformers and peft (the newest of PyPI). Each class is built on torch's meta device, which holds no weights,
and its parameters are counted, and those of LoRA's adapters; of the published files under tests/data/hf the file is kept that transformers writes
after it has loaded them. HfOracle (tests/catalogs/hf_oracle_test.cpp) reads the result: run this again for a new
version, and look at what differs. It takes about two minutes.
"""

from __future__ import annotations

import copy
import datetime
import json
import os
import pathlib
import sys
from typing import Any, Dict, Iterator, List, Tuple

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import peft
import torch
import transformers
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForImageTextToText, AutoModelForSeq2SeqLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

TARGETS = pathlib.Path(__file__).resolve().parents[2] / "catalogs/data/finetuning/adapted_layers.json"
RANK = 8
# Keys that decide no width, in every file.
NOISE = {"attention_dropout", "architectures", "bos_token_id", "eos_token_id", "pad_token_id", "initializer_range",
         "use_cache", "transformers_version", "rms_norm_eps", "rope_parameters", "router_aux_loss_coef", "dtype",
         "output_router_logits", "hidden_dropout", "layer_norm_eps", "layer_norm_epsilon", "rope_scaling", "rope_theta",
         "resid_pdrop", "embd_pdrop", "attn_pdrop", "label2id", "return_dict", "output_attentions", "problem_type",
         "output_hidden_states", "chunk_size_feed_forward", "is_encoder_decoder", "_name_or_path"}
# Switches that a class has and does not obey: without a head, or with one that it never ties.
IDLE = {("distilbert", "tie_word_embeddings"), ("nemotron_h", "tie_word_embeddings")}
# Each switch that a class has is turned once.
SWITCHES = ("tie_word_embeddings", "attention_bias", "mlp_bias", "use_qk_norm", "qk_layernorm", "use_bias",
            "use_qkv_bias", "use_parallel_residual", "lm_head_bias", "multi_query", "use_post_norm", "enable_bias",
            "bias", "attention_out_bias", "qkv_bias", "parallel_attn")
TYPES = """arcee cohere cohere2 cwm ernie4_5 exaone exaone4 glm glm4 granite granite_swa granitemoe granitemoe_swa
granitemoeshared helium hunyuan_v1_dense hyperclovax internlm3 iquestcoder jais2 mellum minicpm3 ministral ministral3 olmo3
persimmon phimoe sarvam_mla sarvam_moe stablelm vaultgemma youtu dbrx olmo olmoe gpt_bigcode gpt_neo distilbert mt5
deepseek_v2 deepseek_v3 gemma gemma2 gemma3_text gemma4_text gpt_oss glm4_moe llama llama4_text minimax_m2 mistral mixtral nemotron
olmo2 phi3 qwen2 qwen2_moe qwen3 qwen3_moe seed_oss smollm3 bloom falcon gpt2 gpt_neox gptj mpt opt phi starcoder2 t5
nemotron_h qwen3_5_text qwen3_5_moe_text qwen3_next""".split()
# What a class needs beside its defaults, or what makes a case of it.
SETTINGS: Dict[str, List[Dict[str, Any]]] = {
    "dbrx": [{"attn_config": {"kv_n_heads": 8, "rope_theta": 5e5}, "ffn_config": {"ffn_hidden_size": 10752,
              "moe_num_experts": 16, "moe_top_k": 4, "hidden_size": 6144}, "d_model": 6144, "n_heads": 48,
              "n_layers": 40, "vocab_size": 100352}],
    "deepseek_v2": [{"num_experts_per_tok": 6}],
    "hunyuan_v1_dense": [{"head_dim": 128}],
    "ministral": [{"head_dim": 128}],
    "nemotron": [{"num_key_value_heads": 8}],
    "granitemoeshared": [{"shared_intermediate_size": 1024}],
    "granitemoe_swa": [{"shared_intermediate_size": 1024}],
    "gemma3_text": [{"layer_types": ["full_attention"] * 26}],
    # The 31B, 26B-A4B, E4B and E2B, and one without windows.
    "gemma4_text": [
        {"hidden_size": 5376, "intermediate_size": 21504, "num_hidden_layers": 60, "num_attention_heads": 32,
         "num_key_value_heads": 16, "num_global_key_value_heads": 4, "attention_k_eq_v": True,
         "hidden_size_per_layer_input": 0, "sliding_window": 1024},
        {"hidden_size": 2816, "intermediate_size": 2112, "num_attention_heads": 16, "num_key_value_heads": 8,
         "num_global_key_value_heads": 2, "attention_k_eq_v": True, "hidden_size_per_layer_input": 0,
         "enable_moe_block": True, "num_experts": 128, "top_k_experts": 8, "moe_intermediate_size": 704,
         "sliding_window": 1024},
        {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 42, "num_key_value_heads": 2,
         "num_kv_shared_layers": 18},
        {"hidden_size": 1536, "intermediate_size": 6144, "num_hidden_layers": 35, "num_key_value_heads": 1,
         "num_kv_shared_layers": 20, "use_double_wide_mlp": True,
         "layer_types": (["sliding_attention"] * 4 + ["full_attention"]) * 7},
        {"layer_types": ["full_attention"] * 30},
    ],
    "gpt_oss": [{"layer_types": ["full_attention"] * 36}],
    "cohere2": [{"layer_types": ["sliding_attention"] * 40}],
}
COMPOSITES: List[Tuple[str, Dict[str, Any]]] = [
    ("qwen3_vl", {}), ("qwen3_5", {}), ("qwen3_5", {"tie_word_embeddings": True}), ("gemma3", {}), ("llama4", {}),
    ("qwen2_5_vl", {}), ("mistral3", {}), ("llava", {}),
]


def kept(config: Any) -> Any:
    """The file that transformers writes, without what decides no width."""
    labels = config.model_type == "vit"  # of a classifier they are its outputs

    def strip(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {k: strip(v) for k, v in value.items() if k not in NOISE and (labels or k != "id2label")}

    return strip(json.loads(config.to_json_string(use_diff=True)))


def built(config: Any, classes: Tuple[Any, ...]) -> Any:
    with torch.device("meta"):
        for auto in classes:
            if type(config) in auto._model_mapping:
                return auto.from_config(config)
    raise ValueError(f"no class for {config.model_type}")


def count(model: Any) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def targets_of(model_type: str) -> Dict[str, Any]:
    """What smplan writes for each set of layers."""
    rows = json.loads(TARGETS.read_text(encoding="utf-8"))["adapted_layers"]
    row = next((row for row in rows if row["name"] == model_type), {})
    return {"linear": row.get("linear", "all-linear"), "query_value": row.get("query_value", ["q_proj", "v_proj"]),
            "attention": row.get("attention", ["q_proj", "k_proj", "v_proj", "o_proj"])}


def adapters(model: Any) -> Dict[str, int]:
    """Parameters of rank 8 on each set of layers, as PEFT puts them on; 0 where it refuses."""
    counts = {}
    for layers, targets in targets_of(model.config.model_type).items():
        try:
            with torch.device("meta"):
                adapted = peft.get_peft_model(copy.deepcopy(model), peft.LoraConfig(r=RANK, target_modules=targets))
            counts[layers] = sum(parameter.numel() for parameter in adapted.parameters() if parameter.requires_grad)
        except ValueError:
            counts[layers] = 0
    return counts


def variants(model_type: str) -> Iterator[Dict[str, Any]]:
    for settings in [{}, *SETTINGS.get(model_type, [])]:
        yield settings
    base = SETTINGS.get(model_type, [{}])[0]
    defaults = CONFIG_MAPPING[model_type](**base).to_dict()
    for switch in SWITCHES:
        if isinstance(defaults.get(switch), bool) and (model_type, switch) not in IDLE:
            yield {**base, switch: not defaults[switch]}


def cases() -> Iterator[Dict[str, Any]]:
    for model_type in TYPES:
        for change in variants(model_type):
            try:
                config = CONFIG_MAPPING[model_type](**change)
                model = built(config, (AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoModel))
            except Exception as error:  # a class that cannot be built so is none of smplan's cases
                print(f"{model_type} {change}: left out, {str(error).splitlines()[0][:90]}", file=sys.stderr)
                continue
            case = {"of": f"{model_type} {json.dumps(change)[:80]}", "parameters": count(model)}
            case |= {"adapters": adapters(model), "config": kept(config)}
            types = getattr(config, "layer_types", None)
            if types and getattr(config, "sliding_window", None):
                case["windowed"] = sum(t in ("sliding_attention", "chunked_attention") for t in types)
            yield case


def composites() -> Iterator[Dict[str, Any]]:
    for model_type, change in COMPOSITES:
        config = CONFIG_MAPPING[model_type](**change)
        model = built(config, (AutoModelForImageTextToText,))
        text = next(part for name, part in model.named_modules() if name.endswith("language_model"))
        numbers = {id(p): p.numel() for p in (*text.parameters(), *model.get_output_embeddings().parameters())}
        beside = count(model) - sum(numbers.values())
        yield {"of": f"{model_type} {json.dumps(change)}", "parameters": sum(numbers.values()), "beside": beside,
               "config": kept(config)}


def resaved(folder: pathlib.Path) -> Iterator[Dict[str, Any]]:
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text())
        if document["model_type"] not in CONFIG_MAPPING:
            continue
        try:
            yield {"name": path.stem, "config": kept(CONFIG_MAPPING[document["model_type"]].from_dict(document))}
        except KeyError as error:  # a file cut down to what decides widths
            print(f"{path.stem}: left out, {str(error)[:90]}", file=sys.stderr)


def main() -> None:
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    lists = {"cases": list(cases()), "composites": list(composites()), "resaved": list(resaved(folder))}
    packages = f"transformers {transformers.__version__}, peft {peft.__version__}, torch {torch.__version__.split('+')[0]}"
    head = {"source": f"{packages}, meta device",
            "as_of": datetime.date.today().isoformat()}
    lines = [f'"{key}": {json.dumps(value)}' for key, value in head.items()]
    for key, rows in lists.items():
        body = ",\n".join("  " + json.dumps(row) for row in rows)
        lines.append(f'"{key}": [\n{body}\n]')
    out.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
