#!/usr/bin/env python3
"""Trains models with Hugging Face's Trainer on one device for some steps each, and writes a table of measured runs.

    python3 scripts/measure_trainer.py --seconds 500 --output runs.csv

It needs PyTorch, transformers, accelerate and peft. Weights are random and tokens too, so that nothing is downloaded;
speed and memory do not depend on them. Columns are those of docs/validation.md, and behind them what the table of
`smplan validate` has no column for. Each case starts in empty device memory. Cases that the time does not suffice for
are left out, and named. `--quick` replaces the models by tiny ones, for a test on the CPU.

With --limits a case runs again with so much memory above its own peak, the least first, until it runs: how much of the
allocator's reserve a run can do without.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import gc
import json
import sys
import tempfile
import time

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoModelForImageClassification, AutoModelForMaskedLM, Trainer

GIB = 1 << 30
LLAMA = {"rms_norm_eps": 1e-5, "hidden_act": "silu"}

# Widths as the models' published configurations state them: layers, hidden, ffn, heads, key-value heads, vocabulary.
DECODERS = {
    "tinyllama-1.1b": ("llama", 22, 2048, 5632, 32, 4, 32000),
    "llama-3.2-1b": ("llama", 16, 2048, 8192, 32, 8, 128256),
    "llama-3.2-3b": ("llama", 28, 3072, 8192, 24, 8, 128256),
    "llama-3.1-8b": ("llama", 32, 4096, 14336, 32, 8, 128256),
    "llama-2-7b": ("llama", 32, 4096, 11008, 32, 32, 32000),
    "qwen2.5-0.5b": ("qwen2", 24, 896, 4864, 14, 2, 151936),
    "qwen2.5-1.5b": ("qwen2", 28, 1536, 8960, 12, 2, 151936),
    "qwen2.5-7b": ("qwen2", 28, 3584, 18944, 28, 4, 152064),
    "mistral-7b": ("mistral", 32, 4096, 14336, 32, 8, 32768),
}
TIED = {"llama-3.2-1b", "llama-3.2-3b", "qwen2.5-0.5b", "qwen2.5-1.5b"}
GPT2 = {"gpt2": (12, 768, 12), "gpt2-medium": (24, 1024, 16), "gpt2-large": (36, 1280, 20), "gpt2-xl": (48, 1600, 25)}
# A mixture of experts of our own: layers, hidden, ffn of an expert, heads, key-value heads, experts, chosen ones.
MOE = (6, 2048, 768, 32, 4, 128, 8)
TARGETS = {"all": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
           "query-value": ["q_proj", "v_proj"]}


@dataclasses.dataclass
class Case:
    """One run. `pure` holds weights and moments in 16 bits."""

    model: str
    micro_batch: int
    seq_len: int
    method: str = "full"
    dtype: str = "bf16"
    recompute: bool = False
    attention: str = "sdpa"
    pure: bool = False
    optimizer: str = "adamw_torch_fused"
    grad_accum: int = 1
    rank: int = 16
    targets: str = "all"
    compile: bool = False

    @property
    def id(self) -> str:
        parts = [self.model, f"b{self.micro_batch}", f"s{self.seq_len}", self.method, self.dtype]
        if self.method == "lora":
            parts.append(f"r{self.rank}{'' if self.targets == 'all' else '-qv'}")
        flags = {"pure": self.pure, "recompute": self.recompute, "eager": self.attention == "eager",
                 "compile": self.compile, f"ga{self.grad_accum}": self.grad_accum > 1,
                 self.optimizer: self.optimizer != "adamw_torch_fused"}
        return "-".join(parts + [word for word, on in flags.items() if on])


def cases() -> list[Case]:
    """In order of what they tell; the last are the first to be left out."""
    out = [Case("qwen2.5-0.5b", 1, 512)]  # the first run pays for the start of the libraries
    # Adapters beside 16-bit weights, which most users train.
    for length, batch in ((512, 1), (2048, 1), (2048, 4), (8192, 1)):
        out.append(Case("llama-3.1-8b", batch, length, "lora", pure=True, recompute=True))
    out += [Case("llama-3.1-8b", 1, 2048, "lora", pure=True), Case("llama-3.1-8b", 1, 512, "lora", pure=True),
            Case("llama-3.1-8b", 1, 2048, "lora", pure=True, attention="eager"),
            Case("llama-3.1-8b", 2, 1024, "lora", pure=True, recompute=True, targets="query-value", rank=8),
            Case("llama-2-7b", 2, 2048, "lora", pure=True, recompute=True, rank=64),
            Case("llama-2-7b", 1, 2048, "lora", pure=True),
            Case("mistral-7b", 1, 4096, "lora", pure=True, recompute=True, grad_accum=4),
            Case("qwen2.5-7b", 1, 2048, "lora", pure=True, recompute=True)]
    # Full training in mixed precision: fp32 weights under autocast.
    for batch, recompute in ((1, False), (4, False), (4, True), (16, True)):
        out.append(Case("tinyllama-1.1b", batch, 2048, recompute=recompute))
    out += [Case("tinyllama-1.1b", 2, 2048, attention="eager"), Case("tinyllama-1.1b", 2, 2048, compile=True),
            Case("tinyllama-1.1b", 1, 8192, recompute=True), Case("tinyllama-1.1b", 4, 512),
            Case("tinyllama-1.1b", 2, 2048, grad_accum=4),
            Case("qwen2.5-0.5b", 4, 1024), Case("qwen2.5-0.5b", 1, 4096, recompute=True),
            Case("qwen2.5-1.5b", 2, 2048), Case("qwen2.5-1.5b", 4, 1024, recompute=True),
            Case("llama-3.2-1b", 2, 2048), Case("llama-3.2-1b", 8, 1024, recompute=True),
            Case("llama-3.2-3b", 1, 2048), Case("llama-3.2-3b", 4, 1024, recompute=True)]
    # Weights and moments in 16 bits.
    out += [Case("llama-3.2-3b", 1, 2048, pure=True), Case("llama-3.2-3b", 2, 4096, pure=True, recompute=True),
            Case("llama-3.1-8b", 1, 2048, pure=True, recompute=True), Case("llama-2-7b", 1, 2048, pure=True),
            Case("qwen2.5-7b", 2, 2048, pure=True, recompute=True),
            Case("tinyllama-1.1b", 8, 2048, pure=True), Case("tinyllama-1.1b", 8, 2048, pure=True, recompute=True)]
    # GPT-2, encoders and images.
    for dtype in ("bf16", "fp16", "tf32", "fp32"):
        out.append(Case("gpt2-medium", 4, 1024, dtype=dtype))
    out += [Case("gpt2", 16, 1024), Case("gpt2", 16, 1024, attention="eager"), Case("gpt2-large", 4, 1024),
            Case("gpt2-xl", 2, 1024), Case("gpt2-xl", 4, 1024, recompute=True), Case("gpt2", 16, 1024, compile=True)]
    for batch, length, dtype in ((32, 512, "bf16"), (64, 128, "bf16"), (16, 512, "fp32"), (16, 512, "fp16")):
        out.append(Case("bert-large", batch, length, dtype=dtype))
    out += [Case("vit-b-16", 128, 197), Case("vit-b-16", 256, 197, dtype="fp16"), Case("vit-b-16", 128, 197, dtype="tf32"),
            Case("vit-b-16", 256, 197, recompute=True)]
    # Experts, other optimizers, long sequences.
    out += [Case("moe-4b", 1, 2048, pure=True), Case("moe-4b", 1, 8192, pure=True, recompute=True),
            Case("moe-4b", 1, 4096, "lora", pure=True, recompute=True),
            Case("tinyllama-1.1b", 4, 2048, recompute=True, optimizer="adafactor"),
            Case("tinyllama-1.1b", 4, 2048, recompute=True, optimizer="adamw_torch"),
            Case("llama-3.1-8b", 1, 16384, "lora", pure=True, recompute=True),
            Case("llama-3.1-8b", 8, 512, "lora", pure=True, recompute=True),
            Case("llama-3.1-8b", 8, 2048, "lora", pure=True, recompute=True),
            Case("mistral-7b", 8, 1024, "lora", pure=True), Case("llama-2-7b", 16, 512, "lora", pure=True),
            Case("qwen2.5-1.5b", 16, 2048, pure=True, recompute=True),
            Case("llama-3.2-1b", 1, 16384, pure=True, recompute=True),
            Case("qwen2.5-7b", 1, 8192, "lora", pure=True, recompute=True)]
    return out


def configuration(case: Case, quick: bool):
    name = case.model
    if name in DECODERS:
        kind, layers, hidden, ffn, heads, groups, vocab = DECODERS[name]
        if quick:
            layers, hidden, ffn, heads, groups, vocab = 2, 64, 128, 4, 2, 512
        return transformers.AutoConfig.for_model(
            kind, num_hidden_layers=layers, hidden_size=hidden, intermediate_size=ffn, num_attention_heads=heads,
            num_key_value_heads=groups, vocab_size=vocab, max_position_embeddings=32768, use_cache=False,
            tie_word_embeddings=name in TIED)
    if name in GPT2:
        layers, hidden, heads = (2, 64, 4) if quick else GPT2[name]
        return transformers.GPT2Config(n_layer=layers, n_embd=hidden, n_head=heads, use_cache=False,
                                       vocab_size=512 if quick else 50257)
    if name == "bert-large":
        layers, hidden, heads = (2, 64, 4) if quick else (24, 1024, 16)
        return transformers.BertConfig(num_hidden_layers=layers, hidden_size=hidden, num_attention_heads=heads,
                                       intermediate_size=4 * hidden)
    if name == "vit-b-16":
        layers, hidden, heads = (2, 64, 4) if quick else (12, 768, 12)
        return transformers.ViTConfig(num_hidden_layers=layers, hidden_size=hidden, num_attention_heads=heads,
                                      intermediate_size=4 * hidden, num_labels=1000)
    layers, hidden, ffn, heads, groups, experts, chosen = (2, 64, 32, 4, 2, 8, 2) if quick else MOE
    return transformers.AutoConfig.for_model(
        "qwen3_moe", num_hidden_layers=layers, hidden_size=hidden, moe_intermediate_size=ffn, intermediate_size=4 * ffn,
        num_attention_heads=heads, num_key_value_heads=groups, head_dim=128 if not quick else 16, num_experts=experts,
        num_experts_per_tok=chosen, norm_topk_prob=True, vocab_size=512 if quick else 151936, use_cache=False)


class Samples(torch.utils.data.Dataset):
    def __init__(self, case: Case, config, quick: bool):
        self.item: dict[str, torch.Tensor | int]
        if case.model == "vit-b-16":
            self.item = {"pixel_values": torch.randn(3, 224, 224), "labels": 7}
        else:
            tokens = torch.randint(config.vocab_size, (32 if quick else case.seq_len,))
            self.item = {"input_ids": tokens, "labels": tokens}

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, index: int):
        return dict(self.item)


class Clock(transformers.TrainerCallback):
    """Times optimizer steps behind the warm-up, and stops when there are enough."""

    def __init__(self, device: torch.device, warm_up: int, least: int, seconds: float):
        self.device, self.warm_up, self.least, self.seconds = device, warm_up, least, seconds
        self.times: list[float] = []
        self.last = time.perf_counter()
        self.first_peak = 0

    def on_step_end(self, args, state, control, **rest):
        if self.device.type == "cuda":
            torch.cuda.synchronize()
            if state.global_step == 1:
                self.first_peak = torch.cuda.max_memory_allocated()
        now = time.perf_counter()
        if state.global_step > self.warm_up:
            self.times.append(now - self.last)
        self.last = now
        if len(self.times) >= self.least and sum(self.times) >= self.seconds:
            control.should_training_stop = True
        return control


def build(case: Case, device: torch.device, quick: bool):
    config = configuration(case, quick)
    maker = {"bert-large": AutoModelForMaskedLM, "vit-b-16": AutoModelForImageClassification}
    with device:
        model = maker.get(case.model, AutoModelForCausalLM).from_config(
            config, dtype=torch.bfloat16 if case.pure else torch.float32, attn_implementation=case.attention)
    if case.method == "lora":
        import peft  # only these cases need it

        if case.recompute:
            model.enable_input_require_grads()
        model = peft.get_peft_model(model, peft.LoraConfig(
            r=case.rank, lora_alpha=2 * case.rank, lora_dropout=0.0, target_modules=TARGETS[case.targets],
            task_type="CAUSAL_LM"))
    return model, config


def measure(case: Case, device: torch.device, quick: bool, seconds: float) -> dict:
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = case.dtype == "tf32"
    model, config = build(case, device, quick)
    parameters = sum(p.numel() for p in model.parameters())
    loaded = torch.cuda.memory_allocated() if device.type == "cuda" else 0
    clock = Clock(device, 2, 2, 0 if quick else seconds)
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder, per_device_train_batch_size=case.micro_batch, max_steps=400,
            gradient_accumulation_steps=case.grad_accum, bf16=case.dtype == "bf16", fp16=case.dtype == "fp16",
            tf32=(case.dtype == "tf32") if device.type == "cuda" else None, optim=case.optimizer,
            gradient_checkpointing=case.recompute, gradient_checkpointing_kwargs={"use_reentrant": False},
            torch_compile=case.compile, save_strategy="no", logging_steps=10 ** 6, report_to=[], disable_tqdm=True,
            use_cpu=device.type == "cpu", dataloader_num_workers=4 if case.model == "vit-b-16" and not quick else 0)
        Trainer(model=model, args=arguments, train_dataset=Samples(case, config, quick), callbacks=[clock]).train()
    ordered = sorted(clock.times)
    result = {"step_time_s": ordered[len(ordered) // 2], "parameters": parameters, "steps": len(ordered),
              "loaded_gib": loaded / GIB, "oom": 0}
    if device.type == "cuda":
        free, total = torch.cuda.mem_get_info()
        result |= {"first_step_gib": clock.first_peak / GIB, "allocated_gib": torch.cuda.max_memory_allocated() / GIB,
                   "reserved_gib": torch.cuda.max_memory_reserved() / GIB, "device_gib": (total - free) / GIB}
    return result


def clear(device: torch.device) -> None:
    torch._dynamo.reset()
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def attempt(case: Case, device: torch.device, quick: bool, seconds: float) -> dict:
    clear(device)
    try:
        return measure(case, device, quick, seconds)
    except torch.OutOfMemoryError:
        return {"oom": 1}
    except Exception as error:  # a case that this version refuses says so in the table; the others go on
        return {"error": " ".join(f"{type(error).__name__}: {error}".split())[:200]}


def row_of(case: Case, gpu: str, result: dict) -> dict:
    moe = {}
    if case.model == "moe-4b":
        layers, hidden, ffn, heads, groups, experts, chosen = MOE
        moe = {"n_layers": layers, "hidden": hidden, "ffn_hidden": 4 * ffn, "expert_ffn_hidden": ffn, "n_heads": heads,
               "n_kv_heads": groups, "head_dim": 128, "n_experts": experts, "top_k": chosen, "vocab": 151936,
               "mlp": "swiglu"}
    lora = {"lora_rank": case.rank, "lora_targets": case.targets} if case.method == "lora" else {}
    return {"id": case.id, "model": "" if moe else case.model, "gpu": gpu, "n_gpus": 1, "gpus_per_node": 1,
            "stack": "hf-trainer", "dtype": "fp32-ieee" if case.dtype == "fp32" else case.dtype,
            "pure_half": "on" if case.pure and case.method == "full" else "", "optimizer": case.optimizer,
            "seq_len": case.seq_len, "micro_batch": case.micro_batch, "grad_accum": case.grad_accum,
            "recompute": "full" if case.recompute else "none",
            "flash_attention": "off" if case.attention == "eager" else "sdpa",
            "compile": "on" if case.compile else "off", "method": case.method, "mem_kind": "allocated",
            "peak_mem_gib_per_gpu": result.get("allocated_gib", ""), **moe, **lora, **result}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=500, help="for all cases together [500]")
    parser.add_argument("--output", required=True, help="the table; it grows with each case")
    parser.add_argument("--quick", action="store_true", help="tiny models, for a test")
    parser.add_argument("--only", default="", help="ids of cases, with commas between them [all]")
    parser.add_argument("--limits", default="", help="percent of memory above a case's own peak, with commas [none]")
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    start = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    gpu = torch.cuda.get_device_name() if device.type == "cuda" else "cpu"
    total = torch.cuda.mem_get_info()[1] if device.type == "cuda" else 0
    print(json.dumps({"gpu": gpu, "torch": torch.__version__, "transformers": transformers.__version__,
                      "gib": total / GIB}), flush=True)
    fields = [*row_of(Case("moe-4b", 1, 1, "lora"), gpu, {}), "limit_pct", "step_time_s", "oom", "parameters", "steps",
              "loaded_gib", "first_step_gib", "allocated_gib", "reserved_gib", "device_gib", "error"]
    left_out = []
    only = [name for name in arguments.only.split(",") if name]
    limits = [float(limit) for limit in arguments.limits.split(",") if limit]
    with open(arguments.output, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, fields)
        table.writeheader()
        for case in cases():
            if only and case.id not in only:
                continue
            if time.monotonic() - start > arguments.seconds:
                left_out.append(case.id)
                continue
            result = attempt(case, device, arguments.quick, 1.5)
            trials = [({}, result)]
            for limit in limits if result.get("allocated_gib") else ():
                torch.cuda.set_per_process_memory_fraction(result["allocated_gib"] * GIB * (1 + limit / 100) / total)
                trials.append(({"limit_pct": limit}, attempt(case, device, arguments.quick, 0)))
                torch.cuda.set_per_process_memory_fraction(1.0)
                if trials[-1][1].get("oom") == 0:
                    break
            for limit, found in trials:
                table.writerow({**row_of(case, gpu, found), **limit})
                print(f"{time.monotonic() - start:6.1f} {case.id} {limit}", {
                    name: round(value, 4) if isinstance(value, float) else value for name, value in found.items()},
                    flush=True)
            file.flush()
    if left_out:
        print("left out for want of time: " + ", ".join(left_out), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
