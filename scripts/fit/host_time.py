#!/usr/bin/env python3
"""Measures what the host spends on one pass over a transformer layer in eager PyTorch.

    scripts/fit/host_time.py        (needs torch; Debian: python3-torch)

The layer has the operations of a Llama layer as Hugging Face writes it (RMSNorm in fp32, rotary embedding by slices,
SwiGLU), on tensors so small that a kernel takes no time: what is left is dispatch, which does not depend on where the
kernel runs. A pass is a forward, a recomputation or a backward; the model takes them to cost the host the same. The
starting figure of the `hf-trainer` profile in priors.json is what this prints for bf16 autocast, the mean of with and
without recomputation.
"""
import sys
import time

import torch
import torch.utils.checkpoint
from torch.nn import functional

HIDDEN, HEADS, TOKENS, RANK = 64, 4, 8, 8
LAYERS, STEPS = 24, 40


class RmsNorm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x):
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class Adapted(torch.nn.Module):
    """A frozen linear layer with a low-rank path beside it."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.base = torch.nn.Linear(inputs, outputs, bias=False).requires_grad_(False)
        self.down = torch.nn.Linear(inputs, RANK, bias=False)
        self.up = torch.nn.Linear(RANK, outputs, bias=False)
        self.dropout = torch.nn.Dropout(0.05)

    def forward(self, x):
        return self.base(x) + self.up(self.down(self.dropout(x.to(self.down.weight.dtype)))) * 2.0


def turned(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class Layer(torch.nn.Module):
    def __init__(self, adapters):
        super().__init__()
        linear = Adapted if adapters else lambda inputs, outputs: torch.nn.Linear(inputs, outputs, bias=False)
        self.norms = torch.nn.ModuleList([RmsNorm(), RmsNorm()]).requires_grad_(not adapters)
        self.query, self.key, self.value, self.output = (linear(HIDDEN, HIDDEN) for _ in range(4))
        self.gate, self.up, self.down = linear(HIDDEN, 128), linear(HIDDEN, 128), linear(128, HIDDEN)

    def forward(self, x, cosine, sine, positions):
        batch, tokens, _ = x.shape
        normed = self.norms[0](x)
        query, key, value = (
            project(normed).view(batch, tokens, HEADS, -1).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        cosine, sine = cosine[positions].unsqueeze(1), sine[positions].unsqueeze(1)
        query = query * cosine + turned(query) * sine
        key = key * cosine + turned(key) * sine
        scores = functional.softmax(torch.matmul(query, key.transpose(2, 3)) * 0.25, dim=-1)
        heads = torch.matmul(scores, value).transpose(1, 2).contiguous().reshape(batch, tokens, HIDDEN)
        x = x + self.output(heads)
        normed = self.norms[1](x)
        return x + self.down(functional.silu(self.gate(normed)) * self.up(normed))


def pass_microseconds(adapters, autocast, recompute):
    """Shortest over steps of the time of a pass over one layer: what other work on the machine adds is not meant."""
    layers = torch.nn.ModuleList(Layer(adapters) for _ in range(LAYERS))
    tables = torch.ones(TOKENS, HIDDEN // HEADS), torch.zeros(TOKENS, HIDDEN // HEADS)
    positions = torch.arange(TOKENS).unsqueeze(0)
    times = []
    for _ in range(STEPS):
        x = torch.randn(1, TOKENS, HIDDEN, requires_grad=True)
        start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            for layer in layers:
                call = (layer, x, *tables, positions)
                x = torch.utils.checkpoint.checkpoint(*call) if recompute else call[0](*call[1:])
        x.float().sum().backward()
        times.append(time.perf_counter() - start)
    passes = LAYERS * (3 if recompute else 2)
    return min(times) / passes * 1e6


def main() -> int:
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, microseconds of host time a pass and layer")
    for adapters in (False, True):
        for autocast in (False, True):
            plain, again = (pass_microseconds(adapters, autocast, recompute) for recompute in (False, True))
            what = f"{'low-rank adapters' if adapters else 'all parameters'}, {'bf16 autocast' if autocast else 'fp32'}"
            print(f"{what:34s} {plain:6.0f}  with recomputation {again:6.0f}  mean {(plain + again) / 2:6.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
