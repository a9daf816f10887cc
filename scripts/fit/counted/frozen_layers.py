#!/usr/bin/env python3
"""What PyTorch trains, keeps and computes of a small Llama of which part is frozen, as the exported program freezes it.

    frozen_layers.py > tests/data/frozen_layers.json

For each --trained-layers: parameters that are trained, bytes that the blocks keep for the backward pass (32 bits, the
angles of the positions left out, which all blocks share), and FLOPs of both passes. tests/models/frozen_layers_test.cpp
holds the formulas against them. Needs torch and transformers; the versions are written too.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys

import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "planner" / "export" / "programs"))
from smplan_model import freeze  # noqa: E402

SIZES = {"hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 6, "num_attention_heads": 4,
         "num_key_value_heads": 4, "vocab_size": 256, "max_position_embeddings": 128, "tie_word_embeddings": False}
BATCH, TOKENS = 2, 32
CASES = ("all", "last:2", "first:2", "2-3", "last:2+head", "last:2+embedding", "head", "embedding", "last:6",
         "first:1+embedding+head")


def small_llama(trained: str) -> torch.nn.Module:
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(
        transformers.AutoConfig.for_model("llama", **SIZES), attn_implementation="sdpa")
    if trained != "all":
        freeze(model, argparse.Namespace(finetune="full", trained_layers=trained),
               {"layer_class": "LlamaDecoderLayer"}, None)
    return model.train()


def kept_bytes(model: torch.nn.Module, ids: torch.Tensor) -> int:
    """Of the blocks: the final norm is left out, and no head follows."""
    model.model.norm = torch.nn.Identity()
    left_out = {p.untyped_storage().data_ptr() for p in model.parameters()}
    angles = []
    model.model.rotary_emb.register_forward_hook(lambda *call: angles.extend(call[2]))
    saved: dict[int, torch.Tensor] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point():
            saved[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
    left_out |= {a.untyped_storage().data_ptr() for a in angles}
    assert hidden.dtype == torch.float32
    return sum(t.untyped_storage().nbytes() for place, t in saved.items() if place not in left_out)


def flops(model: torch.nn.Module, ids: torch.Tensor) -> int:
    with FlopCounterMode(display=False) as counter:
        logits = model(input_ids=ids, use_cache=False).logits
        logits.backward(torch.ones_like(logits))
    return counter.get_total_flops()


def main() -> None:
    ids = torch.randint(0, SIZES["vocab_size"], (BATCH, TOKENS))
    rows = []
    for trained in CASES:
        model = small_llama(trained)
        rows.append({"trained_layers": trained,
                     "trained_parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
                     "flops": flops(model, ids), "kept_bytes": kept_bytes(small_llama(trained), ids)})
    print(json.dumps({"source": "scripts/fit/counted/frozen_layers.py", "torch": torch.__version__.split("+")[0],
                      "transformers": transformers.__version__, "sizes": SIZES, "batch": BATCH, "tokens": TOKENS,
                      "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
