#!/usr/bin/env -S python3 -P
"""What PyTorch's allocator holds beyond the peak of adapters under Hugging Face's Trainer, counted on the CPU.

Needs torch, transformers and peft (tried with 2.15, 5.24 and 0.21). A Llama of a sixteenth of the widths and tokens of a
real one, and so of a 256th of its bytes, is trained as Trainer does it: adapters of rank 64 on all linear layers, layers
recomputed, products under autocast, outputs cast to fp32 and let go of before the backward pass, gradients of eight
micro-batches, torch's `foreach` AdamW. Printed for lengths of 256 to 8192 tokens: the peak at the full size, what the
caching allocator would have reserved, and its ratio to what models/memory/memory.cpp makes of the peak: that of the step, or of
the passes with the 16-bit logits and the most that a layer's forward pass holds at once, which lie idle when the loss peaks.

    scripts/fit/trainer_memory.py [--embeddings]
"""
import argparse
import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model

sys.path.append(str(Path(__file__).resolve().parent / "counted"))
from caching_allocator import Allocations, CachingAllocator
from narrow_llama import NARROWER, SCALE
from small_llama import QWEN_1B8, shifted, small_llama

VOCAB = QWEN_1B8.vocab
RANK = 64 // NARROWER
MICRO_BATCHES = 8
STEPS = 3
GIB = 2**30


def adapted(embeddings):
    beside = ["embed_tokens", "lm_head"] if embeddings else None
    lora = LoraConfig(r=RANK, target_modules="all-linear", lora_dropout=0.05, modules_to_save=beside, task_type="CAUSAL_LM")
    model = get_peft_model(small_llama(QWEN_1B8), lora, autocast_adapter_dtype=False)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    model.enable_input_require_grads()
    return model


def loss_of(model, tokens):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(input_ids=tokens).logits
        loss = torch.nn.functional.cross_entropy(shifted(logits).view(-1, VOCAB), tokens.view(-1))
    logits.float()  # what Accelerate hands back
    return loss


def count(tokens, embeddings):
    allocations = Allocations()
    with allocations:
        model = adapted(embeddings)
        allocations.forget()
        allocations.watch_layers(next(part for name, part in model.named_modules() if name.endswith("model.norm")))
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], foreach=True)
        for _ in range(STEPS):
            passes = 0
            for _ in range(MICRO_BATCHES):
                allocations.peak = 0
                loss_of(model, torch.randint(0, VOCAB, (1, tokens // NARROWER))).backward()
                passes = max(passes, allocations.peak)
            allocations.peak = 0
            optimizer.step()
            step = allocations.peak
            optimizer.zero_grad(set_to_none=True)
    idle = 2 * tokens // NARROWER * VOCAB + allocations.pieces
    held = max(passes + idle, step) * SCALE
    return max(passes, step) * SCALE, held, CachingAllocator().replay(allocations.log, SCALE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embeddings", action="store_true", help="embedding and head are trained too")
    embeddings = parser.parse_args().embeddings
    for tokens in (256, 512, 1024, 2048, 4096, 8192):
        peak, held, reserved = count(tokens, embeddings)
        print(f"{tokens} tokens: peak {peak / GIB:.2f} GiB, reserved {reserved / GIB:.2f} GiB, {reserved / held:.3f}")


if __name__ == "__main__":
    main()
