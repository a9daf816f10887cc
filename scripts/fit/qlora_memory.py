#!/usr/bin/env -S python3 -P
"""What PyTorch's allocator holds under FSDP1 and the loss of transformers 4.3x, counted on the CPU.

Needs torch, transformers and peft (tried with 2.15, 5.24 and 0.21). Llama 2 7B, its widths and tokens a sixteenth and so
its bytes a 256th, trains as Answer.AI's fsdp_qlora does with `--train_type lora`: frozen layers in bf16 over two ranks, of
which the other does not exist, adapters of rank 64 in units of their own, layers recomputed, logits cast to fp32 and kept
through the backward pass, then shifted, which copies them. Printed in GiB at the full size for batches of 2,048 tokens:
the peak, what the allocator would have reserved (in brackets what fsdp_qlora measured), and how many bytes of a logit it
holds beyond the peak and the most that a layer's forward pass holds at once: the idle_logits_bytes of this software.

    scripts/fit/qlora_memory.py
"""
import functools
import gc
import multiprocessing
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "counted"))

import torch
from caching_allocator import Allocations, CachingAllocator
from cpu_streams import tell_streams_apart
from narrow_llama import NARROWER, SCALE, Shape

GIB = 2**30
LENGTH, VOCAB = 2048, 32000
LLAMA2_7B = Shape(4096, 11008, 32, 32, 32, VOCAB).narrow()
STEPS = 3
RANKS = 2
MEASURED = {1: "10.22", 2: "-", 4: "16.14", 6: "21.35"}


def see_units(allocations):
    """FSDP makes and empties flat parameters behind the dispatcher's back."""
    from torch.distributed.fsdp import _flat_param, _runtime_utils

    for module in (_flat_param, _runtime_utils):
        module._no_dispatch_record_stream = lambda *_: None
        for name in ("_alloc_storage", "_free_storage"):
            if hasattr(module, name):
                setattr(module, name, allocations.seen(getattr(module, name)))


def adapted():
    from peft import LoraConfig, get_peft_model
    from small_llama import small_llama

    lora = LoraConfig(r=64 // NARROWER, target_modules="all-linear", lora_dropout=0.1, task_type="CAUSAL_LM")
    return get_peft_model(small_llama(LLAMA2_7B), lora, autocast_adapter_dtype=False)


def sharded(model):
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
        apply_activation_checkpointing,
        checkpoint_wrapper,
    )
    from torch.distributed.fsdp import FullyShardedDataParallel

    def is_layer(module):
        return type(module).__name__ == "LlamaDecoderLayer"

    def unit(module, recurse, nonwrapped_numel):
        weight = getattr(module, "weight", None)
        trained = weight is not None and weight.requires_grad and not list(module.children())
        return recurse or is_layer(module) or trained

    model = FullyShardedDataParallel(model, auto_wrap_policy=unit, device_id=torch.device("cpu"))
    whole = functools.partial(checkpoint_wrapper, preserve_rng_state=False)
    apply_activation_checkpointing(model, checkpoint_wrapper_fn=whole, check_fn=is_layer)
    return model


def loss_of(model, tokens):
    from small_llama import shifted

    output = model(input_ids=tokens)
    output.logits = output.logits.float()
    ahead = shifted(output.logits).view(-1, VOCAB // NARROWER)
    loss = torch.nn.functional.cross_entropy(ahead, tokens.view(-1))
    return output, loss


def count(sequences):
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=RANKS)
    allocations = Allocations()
    tell_streams_apart(allocations)
    torch.cpu.set_device = torch.Tensor.record_stream = lambda *_: None
    see_units(allocations)
    with allocations:
        model = sharded(adapted())
        gc.collect()
        allocations.start_with(t for t in (*model.parameters(), *model.buffers()))
        allocations.watch_layers(next(part for name, part in model.named_modules() if name.endswith("model.norm")))
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
        for _ in range(STEPS):
            allocations.peak = 0
            output, loss = loss_of(model, torch.randint(0, VOCAB // NARROWER, (sequences, LENGTH // NARROWER)))
            loss.backward()
            peak = allocations.peak
            model.clip_grad_norm_(0.3)
            optimizer.step()
            optimizer.zero_grad()
            del output
    reserved = CachingAllocator().replay(allocations.log, SCALE) / GIB
    peak *= SCALE / GIB
    pieces = allocations.pieces * SCALE / GIB
    idle = (reserved - peak - pieces) / (sequences * LENGTH * VOCAB / GIB)
    return f"peak {peak:5.2f}  reserved {reserved:5.2f} ({MEASURED[sequences]})  idle bytes of a logit {idle:4.1f}"


def main():
    for sequences in MEASURED:
        with multiprocessing.get_context("spawn").Pool(1) as alone:
            print(f"{sequences} x {LENGTH}: {alone.apply(count, (sequences,))}", flush=True)


if __name__ == "__main__":
    main()
