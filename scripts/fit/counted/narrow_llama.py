"""Llama as torchtitan writes it (models/llama3/model.py of v0.2), from plain PyTorch operations, with its plans.

One width narrower than the real model's by `NARROWER`, and the tokens as many times fewer: all takes `SCALE` times fewer
bytes. Heads are as many and as much narrower, layers as many.
"""
import dataclasses
from collections import defaultdict

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

NARROWER = 16
SCALE = NARROWER**2


@dataclasses.dataclass
class Shape:
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    vocab: int

    def narrow(self):
        return dataclasses.replace(
            self, hidden=self.hidden // NARROWER, inner=self.inner // NARROWER, vocab=self.vocab // NARROWER
        )


def turned(x, angles):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * angles[: x.shape[1]].view(1, x.shape[1], 1, -1)).flatten(3).type_as(x)


def repeated(x, times):
    rows, length, heads, width = x.shape
    return x[:, :, :, None, :].expand(rows, length, heads, times, width).reshape(rows, length, heads * times, width)


class Attention(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.width = shape.hidden // shape.heads
        self.wq = nn.Linear(shape.hidden, shape.hidden, bias=False)
        self.wk = nn.Linear(shape.hidden, shape.kv_heads * self.width, bias=False)
        self.wv = nn.Linear(shape.hidden, shape.kv_heads * self.width, bias=False)
        self.wo = nn.Linear(shape.hidden, shape.hidden, bias=False)

    def forward(self, x, angles):
        rows, length, _ = x.shape
        query, key, value = (w(x).view(rows, length, -1, self.width) for w in (self.wq, self.wk, self.wv))
        query, key = turned(query, angles), turned(key, angles)
        times = query.shape[2] // key.shape[2]
        heads = (t.transpose(1, 2) for t in (query, repeated(key, times), repeated(value, times)))
        out = functional.scaled_dot_product_attention(*heads, is_causal=True)
        return self.wo(out.transpose(1, 2).contiguous().view(rows, length, -1))


class FeedForward(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.w1 = nn.Linear(shape.hidden, shape.inner, bias=False)
        self.w2 = nn.Linear(shape.inner, shape.hidden, bias=False)
        self.w3 = nn.Linear(shape.hidden, shape.inner, bias=False)

    def forward(self, x):
        return self.w2(functional.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.attention = Attention(shape)
        self.feed_forward = FeedForward(shape)
        self.attention_norm = nn.RMSNorm(shape.hidden)
        self.ffn_norm = nn.RMSNorm(shape.hidden)

    def forward(self, x, angles):
        x = x + self.attention(self.attention_norm(x), angles)
        return x + self.feed_forward(self.ffn_norm(x))


class NarrowLlama(nn.Module):
    def __init__(self, shape, length):
        super().__init__()
        self.tok_embeddings = nn.Embedding(shape.vocab, shape.hidden)
        self.layers = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.hidden)
        self.output = nn.Linear(shape.hidden, shape.vocab, bias=False)
        width = shape.hidden // shape.heads
        turns = torch.outer(torch.arange(length), 500000 ** -(torch.arange(0, width, 2).float() / width))
        self.register_buffer("angles", torch.polar(torch.ones_like(turns), turns))

    def forward(self, tokens):
        x = self.tok_embeddings(tokens)
        for layer in self.layers:
            x = layer(x, self.angles)
        return self.output(self.norm(x))


def every_second_product():
    """torchtitan's per-operation policy: attention and every second product are kept."""
    kept = {torch.ops.aten.mm.default, torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default}

    def contexts():
        products = defaultdict(int)

        def policy(context, operation, *args, **kwargs):
            if operation == torch.ops.aten.mm.default:
                products[context.is_recompute] += 1
                if products[context.is_recompute] % 2 == 0:
                    return CheckpointPolicy.PREFER_RECOMPUTE
            return CheckpointPolicy.MUST_SAVE if operation in kept else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    return contexts


def split_over(model, mesh):
    """torchtitan's plan of tensor and sequence parallelism, the loss in slices of the vocabulary."""
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        PrepareModuleInput,
        RowwiseParallel,
        SequenceParallel,
        parallelize_module,
    )

    slices, whole = Shard(1), Replicate()
    edges = {
        "tok_embeddings": RowwiseParallel(input_layouts=whole, output_layouts=slices),
        "norm": SequenceParallel(),
        "output": ColwiseParallel(input_layouts=slices, output_layouts=Shard(-1), use_local_output=False),
    }
    layer = {
        "attention_norm": SequenceParallel(),
        "attention": PrepareModuleInput(input_layouts=(slices, None), desired_input_layouts=(whole, None)),
        "attention.wq": ColwiseParallel(),
        "attention.wk": ColwiseParallel(),
        "attention.wv": ColwiseParallel(),
        "attention.wo": RowwiseParallel(output_layouts=slices),
        "ffn_norm": SequenceParallel(),
        "feed_forward": PrepareModuleInput(input_layouts=(slices,), desired_input_layouts=(whole,)),
        "feed_forward.w1": ColwiseParallel(),
        "feed_forward.w2": RowwiseParallel(output_layouts=slices),
        "feed_forward.w3": ColwiseParallel(),
    }
    parallelize_module(model, mesh, edges)
    for block in model.layers:
        parallelize_module(block, mesh, layer)
