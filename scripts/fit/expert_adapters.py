#!/usr/bin/env -S python3 -P
"""What LoRA of PEFT trains of each kind of experts: catalogs/data/finetuning/expert_adapters.json.

Needs torch, transformers and peft (tried with 2.15, 5.24 and 0.21.2). Each type of the file is built with two layers on
the meta device, which holds no weights, and adapted on all linear layers. What is trained of its routed experts is
compared with `fused` (gate and up as one matrix of twice the rank), `separate` (a matrix for each projection of each
expert) and `none`. Rows that differ are printed; ends with 1 where there are some.

    scripts/fit/expert_adapters.py
"""
import json
import os
import pathlib
import sys
import warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.simplefilter("ignore")

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

FILE = pathlib.Path(__file__).resolve().parents[2] / "catalogs/data/finetuning/expert_adapters.json"
RANK = 8


def is_routed(name: str) -> bool:
    return "expert" in name and "shared" not in name


def kind_of(model_type: str) -> str:
    config = CONFIG_MAPPING[model_type]()
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
        base = {name: tuple(p.shape) for name, p in model.named_parameters() if is_routed(name) and p.dim() == 3}
        adapted = get_peft_model(model, LoraConfig(r=RANK, target_modules="all-linear", task_type="CAUSAL_LM"))
    trained = sum(p.numel() for name, p in adapted.named_parameters() if p.requires_grad and is_routed(name))
    if trained == 0:
        return "none"
    fused = separate = 0
    for name, (experts, rows, columns) in base.items():
        gated = "gate_up" in name  # two projections of the same input
        fused += experts * (2 if gated else 1) * RANK * (rows + columns)
        separate += experts * RANK * (rows + columns + (config.hidden_size if gated else 0))
    return {fused: "fused", separate: "separate"}.get(trained, f"unknown: {trained} is neither {fused} nor {separate}")


def main() -> int:
    rows = json.loads(FILE.read_text(encoding="utf-8"))["expert_adapters"]
    moved = 0
    for row in rows:
        found = kind_of(row["name"])
        if found != row["experts"]:
            print(f"{row['name']}: {found}, the file has {row['experts']}")
            moved += 1
    print(f"{len(rows)} types, {moved} differ")
    return 1 if moved else 0


if __name__ == "__main__":
    sys.exit(main())
