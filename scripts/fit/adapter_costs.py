#!/usr/bin/env -S python3 -P
"""What each method of PEFT keeps for the backward pass, and what it moves through memory, counted on the CPU.

Needs torch, transformers and peft (tried with 2.15, 5.24 and 0.21.2). A small Llama in bf16 is adapted on one kind of
linear layer at a time. What a third layer adds to two is a layer's. Kept: tensors that autograd still holds once the
forward pass has ended, less those of a frozen layer. Moved: what the operations of the forward and of the backward pass
read and write, views left out, less what LoRA's of the same rank do. Launches: operations of the forward pass beside
those of the frozen layer. Layers of four shapes, and two ranks, tell the
bytes per token of inputs, outputs and rank, and those of weights (inputs x outputs) and of pairs of inputs, which stand
whatever the tokens. The figures stand in catalogs/data/finetuning/adapter_methods.json. HRA keeps a matrix of pairs for
each of its ranks, more than most machines hold: it runs only where it is named.

    scripts/fit/adapter_costs.py [METHOD ...]
    scripts/fit/adapter_costs.py prompts: what virtual tokens train, and keep in a layer beyond a frozen one
"""
import copy
import gc
import inspect
import sys
import warnings
import weakref

import numpy
import torch
from peft import get_peft_model
from peft.mapping import PEFT_TYPE_TO_CONFIG_MAPPING
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten
from transformers import LlamaConfig, LlamaForCausalLM

HIDDEN, INNER, HEADS, KV_HEADS, HEAD_DIM, VOCAB = 768, 2048, 24, 8, 32, 512
SHAPES = {
    "v_proj": (HIDDEN, KV_HEADS * HEAD_DIM),
    "q_proj": (HIDDEN, HIDDEN),
    "gate_proj": (HIDDEN, INNER),
    "down_proj": (INNER, HIDDEN),
}
RANKS = (32, 64)
TOKENS = (64, 128)
VARIANTS = {"DORA": "LORA"}
SETTINGS = {
    "ADALORA": {"total_step": 5000},
    "BOFT": {"boft_block_size": 4, "boft_n_butterfly_factor": 1},
    "C3A": {"block_size": 64},
    "DORA": {"use_dora": True},
    "FOURIERFT": {"n_frequency": 1000},
    "IA3": {"feedforward_modules": []},  # of layers in that list it keeps inputs, 4 bytes, instead of outputs
    "PSOFT": {"ab_svd_init": "psoft_init"},
    "VBLORA": {"num_vectors": 256, "vector_length": 256},
    "WAVEFT": {"n_frequency": 2592},
}


def llama(layers):
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        num_hidden_layers=layers,
        vocab_size=VOCAB,
        head_dim=HEAD_DIM,
        tie_word_embeddings=True,
    )
    return LlamaForCausalLM(config).to(torch.bfloat16)


def frozen(layers):
    model = llama(layers)
    model.requires_grad_(False)
    model.enable_input_require_grads()
    return model


class Held:
    """A saved tensor: autograd alone refers to it, so it goes when autograd lets go."""

    def __init__(self, tensor):
        self.tensor = tensor


class Traffic(TorchDispatchMode):
    """Counts operations and the bytes that they read and write; what returns an argument's memory is a view: none."""

    def __init__(self):
        super().__init__()
        self.bytes = self.launches = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        read = [t for t in tree_flatten((args, kwargs))[0] if isinstance(t, torch.Tensor)]
        written = [t for t in tree_flatten(result)[0] if isinstance(t, torch.Tensor)]
        places = {t.untyped_storage().data_ptr() for t in read}
        in_place = func._schema.name.endswith("_")
        if in_place or all(t.untyped_storage().data_ptr() not in places for t in written):
            self.bytes += sum(t.nbytes for t in read + written)
            self.launches += 1
        return result


def one_pass(model, tokens):
    """Bytes held after the forward pass, moved by it and by the backward pass; launches of the forward pass."""
    own = {t.untyped_storage().data_ptr() for t in (*model.parameters(), *model.buffers()) if t.layout == torch.strided}
    held = []

    def pack(tensor):
        holder = Held(tensor)
        held.append(weakref.ref(holder))
        return holder

    ids = torch.randint(0, VOCAB, (2, tokens // 2))
    model.train()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda holder: holder.tensor):
        with Traffic() as forward:
            logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        gc.collect()
        storages = {}
        for tensor in (holder.tensor for holder in (ref() for ref in held) if holder is not None):
            dense = tensor if tensor.layout == torch.strided else tensor.coalesce().values()
            storages[dense.untyped_storage().data_ptr()] = dense.untyped_storage().nbytes()
        gradient = torch.ones_like(logits)
        with Traffic() as backward:
            logits.backward(gradient)
    keeps = sum(size for place, size in storages.items() if place not in own)
    return numpy.array([keeps, forward.bytes, backward.bytes, forward.launches])


def one_layer(make):
    """Bytes per token, and bytes beside, of one more layer: two rows of what one_pass() gives."""
    few, many = (one_pass(make(3), tokens) - one_pass(make(2), tokens) for tokens in TOKENS)
    per_token = (many - few) / (TOKENS[1] - TOKENS[0])
    return numpy.array([per_token, few - TOKENS[0] * per_token])


def adapted(name, target, rank, layers):
    kind = VARIANTS.get(name, name)
    parameters = inspect.signature(PEFT_TYPE_TO_CONFIG_MAPPING[kind]).parameters
    settings = dict(SETTINGS.get(name, {}))
    settings.update({key: rank for key in ("r", "init_r", "rank") if key in parameters})
    if kind == "OFT":
        settings.update(r=RANKS[0], oft_block_size=0)
    settings["target_modules"] = [target]
    return get_peft_model(llama(layers), PEFT_TYPE_TO_CONFIG_MAPPING[kind](**settings))


def coefficients(rows, beyond):
    """Of inputs, outputs and rank per token, and of weights and pairs of inputs, that explain what the rows cost."""
    tokens = numpy.linalg.lstsq(numpy.array(rows, float), beyond[:, 0], rcond=None)[0]
    pairs = numpy.array([(i * o, i * i) for i, o, _ in rows], float)
    return (*tokens, *numpy.linalg.lstsq(pairs, beyond[:, 1], rcond=None)[0])


def main(names):
    warnings.filterwarnings("ignore")
    frozen_layer = one_layer(frozen)
    shapes = [(target, rank) for target in SHAPES for rank in RANKS]
    lora = {(t, r): one_layer(lambda layers: adapted("LORA", t, r, layers)) for t, r in shapes}  # noqa: B023
    rows = [(*SHAPES[target], rank) for target, rank in shapes]
    kinds = names or [
        kind.value
        for kind, config in PEFT_TYPE_TO_CONFIG_MAPPING.items()
        if "target_modules" in inspect.signature(config).parameters and kind.value != "HRA"
    ] + list(VARIANTS)
    print(f"{'method':16}{'':9}" + "".join(f"{name:>9}" for name in ("input", "output", "rank", "weight", "square")))
    for kind in kinds:
        try:
            costs = [one_layer(lambda layers: adapted(kind, t, r, layers)) for t, r in shapes]  # noqa: B023
        except Exception as error:  # methods ask for settings of their own; the table says which were counted
            print(f"{kind.lower():16} not counted: {str(error).splitlines()[0][:90]}")
            continue
        for column, what in enumerate(("keeps", "forward", "backward")):
            beyond = numpy.array([
                (cost - (frozen_layer if column == 0 else lora[shape]))[:, column]
                for cost, shape in zip(costs, shapes)
            ])
            print(f"{kind.lower():16}{what:9}" + "".join(f"{x:9.2f}" for x in coefficients(rows, beyond)), flush=True)
        launches = [(cost - frozen_layer)[1, 3] for cost in costs]
        print(f"{kind.lower():16}launches {sum(launches) / len(launches):9.1f}", flush=True)


def prompts():
    """Parameters of a model of two layers; bytes of one more layer, of two sequences of half the tokens each."""
    for kind in ("PROMPT_TUNING", "P_TUNING", "PREFIX_TUNING"):
        config = PEFT_TYPE_TO_CONFIG_MAPPING[kind](task_type="CAUSAL_LM", num_virtual_tokens=16)
        make = lambda layers: get_peft_model(llama(layers), copy.deepcopy(config))  # noqa: E731, B023
        trained = sum(p.numel() for p in make(2).parameters() if p.requires_grad)
        kept = [int(sum((one_pass(m(3), t) - one_pass(m(2), t))[0] * sign for m, sign in ((make, 1), (frozen, -1))))
                for t in TOKENS]
        print(f"{kind.lower():16}trains {trained}; keeps {kept} of {TOKENS} tokens")


if __name__ == "__main__":
    prompts() if sys.argv[1:] == ["prompts"] else main([name.upper() for name in sys.argv[1:]])
