#!/usr/bin/env -S python3 -P
"""What each method of PEFT keeps for the backward pass, counted on the CPU.

Needs torch, transformers and peft (tried with 2.15, 5.24 and huggingface/peft 5d602fd, 0.21). A small Llama in bf16 is
adapted on one kind of linear layer at a time, a forward pass is run, and the tensors that autograd saves are summed;
what a third layer adds to two, less what it adds frozen, is the method's own. Layers of four shapes, and two ranks, tell
the bytes per token of inputs, outputs and rank, and those of weights (inputs x outputs) and of pairs of inputs, which
stand whatever the tokens. The figures stand in catalogs/data/finetuning/adapter_methods.json. HRA keeps a matrix of
pairs for each of its ranks, more than most machines hold: it runs only where it is named.

    scripts/fit/adapter_memory.py [METHOD ...]
"""
import inspect
import sys
import warnings

import numpy
import torch
from peft import get_peft_model
from peft.mapping import PEFT_TYPE_TO_CONFIG_MAPPING
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


def saved_bytes(model, tokens):
    held = (*model.parameters(), *model.buffers())
    own = {t.untyped_storage().data_ptr() for t in held if t.layout == torch.strided}
    storages = {}

    def pack(tensor):
        dense = tensor if tensor.layout == torch.strided else tensor.coalesce().values()
        storage = dense.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = (storage.nbytes(), dense)  # held, so that no address is used twice
        return tensor

    ids = torch.randint(0, VOCAB, (2, tokens // 2))
    model.train()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model(input_ids=ids, attention_mask=torch.ones_like(ids))
    return sum(size for size, _ in storages.values())


def one_layer(make):
    """Bytes per token, and bytes beside, that one more layer saves."""
    few, many = (saved_bytes(make(3), tokens) - saved_bytes(make(2), tokens) for tokens in TOKENS)
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


def main(names):
    warnings.filterwarnings("ignore")
    plain = one_layer(frozen)
    kinds = names or [
        kind.value
        for kind, config in PEFT_TYPE_TO_CONFIG_MAPPING.items()
        if "target_modules" in inspect.signature(config).parameters and kind.value != "HRA"
    ] + list(VARIANTS)
    print(f"{'method':16}" + "".join(f"{name:>9}" for name in ("input", "output", "rank", "weight", "square")))
    for kind in kinds:
        rows, per_token, standing = [], [], []
        try:
            for target, (inputs, outputs) in SHAPES.items():
                for rank in RANKS:
                    extra = one_layer(lambda layers: adapted(kind, target, rank, layers)) - plain  # noqa: B023
                    rows.append((inputs, outputs, rank))
                    per_token.append(extra[0])
                    standing.append(extra[1])
        except Exception as error:  # methods ask for settings of their own; the table says which were counted
            print(f"{kind.lower():16} not counted: {str(error).splitlines()[0][:90]}")
            continue
        tokens = numpy.linalg.lstsq(numpy.array(rows, float), numpy.array(per_token), rcond=None)[0]
        pairs = numpy.array([(i * o, i * i) for i, o, _ in rows], float)
        weights = numpy.linalg.lstsq(pairs, numpy.array(standing), rcond=None)[0]
        print(f"{kind.lower():16}" + "".join(f"{x:9.2f}" for x in (*tokens, *weights)), flush=True)


if __name__ == "__main__":
    main([name.upper() for name in sys.argv[1:]])
