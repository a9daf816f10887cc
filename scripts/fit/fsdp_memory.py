#!/usr/bin/env -S python3 -P
"""What PyTorch's allocator holds under FSDP2, counted on the CPU.

Needs torch (tried with 2.15). A Llama of a sixteenth of the widths and tokens of a real one, and so of a 256th of its
bytes, trains for three steps as torchtitan does it: units are layers and the rest, products in bf16, gradients reduced in
fp32, AdamW with `foreach`. It is rank 0 of a process group whose others do not exist. FSDP's streams are told apart, so
that each has its own pool. Printed in GiB at the full size: the peak, what the allocator would have reserved, and what
models/memory/memory.cpp makes of the peak. To that it adds

- the 16-bit logits: no fp32 tensor of the loss fits their block,
- the most that a layer's forward pass holds at once: in pieces that are smaller than logits,
- the rank's gradients: they come from the stream of the reduction, whose pool nothing else uses,
- the buffers of the gather: one of the root and one of a layer, in a stream's pool of their own.

The last column, reserved over that, less one, is the allocator_slack of FSDP.

    scripts/fit/fsdp_memory.py
"""
import contextlib
import multiprocessing
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "counted"))

import torch
from caching_allocator import Allocations, CachingAllocator
from cpu_streams import tell_streams_apart
from narrow_llama import NARROWER, SCALE, NarrowLlama, Shape, every_second_product, split_over

STEPS = 3
GIB = 2**30
LLAMA3_1B = Shape(2048, 8192, 16, 32, 8, 128256)
LLAMA3_8B = Shape(4096, 14336, 32, 32, 8, 128256)
LLAMA3_70B = Shape(8192, 28672, 80, 64, 8, 128256)
LLAMA2_7B = Shape(4096, 11008, 32, 32, 32, 32000)
LLAMA2_13B = Shape(5120, 13824, 40, 40, 40, 32000)
# shape, ranks, of them tensor, sequences, their length, recomputation; in brackets what torchtitan measured
CASES = {
    "8B, 8 ranks, 2 x 8k, selective (82.4)": (LLAMA3_8B, 8, 1, 2, 8192, "selective"),
    "8B, 128 ranks, 2 x 8k, selective (67.0)": (LLAMA3_8B, 128, 1, 2, 8192, "selective"),
    "8B, 32 ranks, 2 x 8k, selective": (LLAMA3_8B, 32, 1, 2, 8192, "selective"),
    "8B, 32 ranks, 1 x 8k, selective": (LLAMA3_8B, 32, 1, 1, 8192, "selective"),
    "8B, 8 ranks, 2 x 8k, full": (LLAMA3_8B, 8, 1, 2, 8192, "full"),
    "8B, 8 ranks, 1 x 8k, none": (LLAMA3_8B, 8, 1, 1, 8192, "none"),
    "8B, 8 ranks, 1 x 32k, full": (LLAMA3_8B, 8, 1, 1, 32768, "full"),
    "1B, 8 ranks, 4 x 4k, none": (LLAMA3_1B, 8, 1, 4, 4096, "none"),
    "Llama 2 7B, 8 ranks, 4 x 2k, full": (LLAMA2_7B, 8, 1, 4, 2048, "full"),
    "Llama 2 7B, 16 ranks, 2 x 4k, none": (LLAMA2_7B, 16, 1, 2, 4096, "none"),
    "Llama 2 13B, 32 ranks, 4 x 4k, full": (LLAMA2_13B, 32, 1, 4, 4096, "full"),
    "70B, 256 ranks, 8 of them tensor, 16 x 8k, full (71.9)": (LLAMA3_70B, 256, 8, 16, 8192, "full"),
}


def see_units(allocations):
    """FSDP makes and empties the storages of gathered parameters behind the dispatcher's back."""
    from torch.distributed.fsdp._fully_shard import _fsdp_param

    for name in ("alloc_storage", "free_storage"):
        setattr(_fsdp_param, name, allocations.seen(getattr(_fsdp_param, name)))


def sharded(shape, ranks, tensor, length, recompute):
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = init_device_mesh("cpu", (ranks // tensor, tensor), mesh_dim_names=("data", "tensor"))
    model = NarrowLlama(shape, length)
    if tensor > 1:
        split_over(model, mesh["tensor"])
    how = {"context_fn": every_second_product()} if recompute == "selective" else {}
    formats = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for at, layer in enumerate(model.layers):
        if recompute != "none":
            model.layers[at] = checkpoint_wrapper(layer, preserve_rng_state=False, **how)
        fully_shard(model.layers[at], mesh=mesh["data"], mp_policy=formats)
    fully_shard(model, mesh=mesh["data"], mp_policy=formats)
    return model


def count(shape, ranks, tensor, sequences, length, recompute):
    import torch.distributed as dist
    from torch.distributed.tensor.parallel import loss_parallel
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=ranks)
    allocations = Allocations()
    tell_streams_apart(allocations)
    see_units(allocations)
    narrow = shape.narrow()
    with allocations, loss_parallel() if tensor > 1 else contextlib.nullcontext():
        model = sharded(narrow, ranks, tensor, length // NARROWER, recompute)
        allocations.forget()
        allocations.watch_layers(model.norm)
        optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
        for _ in range(STEPS):
            tokens = torch.randint(0, narrow.vocab, (sequences, length // NARROWER))
            allocations.peak = 0
            logits = model(tokens)
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())
            del logits
            loss.backward()
            peak = allocations.peak
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    layer = sum(p.numel() for p in model.layers[0].parameters()) / tensor
    root = sum(p.numel() for p in model.parameters()) / tensor - narrow.layers * layer
    idle = (2 * sequences * length * shape.vocab / tensor + allocations.pieces * SCALE) / GIB
    pools = (4 * (narrow.layers * layer + root) * tensor / ranks + 2 * (root + layer)) * SCALE / GIB
    reserved = CachingAllocator().replay(allocations.log, SCALE) / GIB
    peak *= SCALE / GIB
    return f"peak {peak:6.2f}  reserved {reserved:6.2f}  rule {peak + idle + pools:6.2f}  {reserved / (peak + idle + pools) - 1:+.3f}"


def main():
    for name, case in CASES.items():
        with multiprocessing.get_context("spawn").Pool(1) as alone:
            print(f"{name:55s} {alone.apply(count, case)}", flush=True)


if __name__ == "__main__":
    main()
