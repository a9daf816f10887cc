"""What both training programs share: settings, the request to stop, and the record of the run.

The settings are the hyperparameters of the job, `--name value`. `smplan_job.json` holds what the plan knows of the
model and the device. The record is `smplan_run.csv`, one row in the columns of `smplan validate`.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import pathlib
import signal
import statistics
import sys
import time
from typing import Any, Iterator

import torch
import torch.distributed as dist

GIB = 1 << 30
PARTS = ("data", "forward", "backward", "optimizer")
# Kinds of adapters that are virtual tokens, and PEFT's configuration of each.
PROMPTS = {"prompt_tuning": "PromptTuningConfig", "ptuning": "PromptEncoderConfig", "prefixtuning": "PrefixTuningConfig"}
HERE = pathlib.Path(__file__).resolve().parent


def job_facts() -> dict[str, Any]:
    return json.loads((HERE / "smplan_job.json").read_text(encoding="utf-8"))


def settings(argv: list[str] | None = None) -> argparse.Namespace:
    """The hyperparameters. A name that this program does not know ends it: a misspelt one would train another model."""
    folder = os.environ.get
    p = argparse.ArgumentParser(allow_abbrev=False)
    p.add_argument("--model", required=True, help="a config.json, a folder of weights, or a name on the hub [the channel model]")
    p.add_argument("--tokenizer", default="", help="folder or name [the model's]")
    p.add_argument("--data", default=folder("SM_CHANNEL_TRAIN", ""), help="files as smplan_data.py reads, or synthetic")
    p.add_argument("--output_dir", default=folder("SM_MODEL_DIR", "output"), help="where the trained model goes")
    p.add_argument("--checkpoint_dir", default="checkpoints")
    p.add_argument("--seq_len", type=int, required=True)
    p.add_argument("--micro_batch", type=int, required=True, help="sequences of a rank in one pass")
    p.add_argument("--gradient_accumulation", type=int, required=True)
    p.add_argument("--planned_ranks", type=int, default=0, help="that gradient_accumulation is for [those that run]")
    p.add_argument("--max_steps", type=int, required=True)
    p.add_argument("--save_interval", type=int, required=True, help="steps from one checkpoint to the next")
    p.add_argument("--dtype", default="bf16", choices=["bf16", "fp16", "fp8", "tf32", "fp32"])
    p.add_argument("--optimizer", default="adamw")
    p.add_argument("--learning_rate", type=float, default=3e-4)
    p.add_argument("--warmup_steps", type=int, default=0)
    p.add_argument("--weight_decay", type=float, default=0.1)
    p.add_argument("--clip", type=float, default=1.0, help="largest norm of the gradients")
    p.add_argument("--loss", default="sft", choices=["sft", "dpo"], help="train_hf.py: dpo learns from pairs")
    p.add_argument("--reference", default="copy", choices=["copy", "adapters", "precomputed"], help="of dpo")
    p.add_argument("--packing", default="on", choices=["on", "off"], help="train_hf.py: off pads each example")
    p.add_argument("--finetune", default="full", choices=["full", "lora", "qlora"])
    p.add_argument("--adapters", default="lora", choices=["lora", "rslora", "pissa", "dora", *PROMPTS])
    p.add_argument("--lora_rank", type=int, default=16)
    p.add_argument("--lora_targets", default="all-linear", help="names of linear layers, with commas between them")
    p.add_argument("--lora_embeddings", default="off")
    p.add_argument("--virtual_tokens", type=int, default=20, help="of prompt_tuning, ptuning and prefixtuning")
    p.add_argument("--trained_layers", default="all", help="of --finetune full: last:8, first:8, 16-23, embedding, head, "
                   "or several as in last:8+head; the rest is frozen")
    p.add_argument("--activation_checkpointing", default="none", choices=["none", "selective", "full"])
    p.add_argument("--activation_checkpointing_layers", type=int, default=0, help="so many of them [all]")
    p.add_argument("--pure_half", default="off", choices=["on", "off"], help="weights and moments in the 16-bit format")
    p.add_argument("--base_format", default="", help="of the weights under adapters: fp32, int8 [the 16-bit format]")
    p.add_argument("--compile", default="off", choices=["off", "layers"])
    p.add_argument("--loss_kernel", default="plain", choices=["plain", "linear"])
    p.add_argument("--liger_kernels", default="off", choices=["on", "off"])
    p.add_argument("--flash_attention", default="on", help="off: attention stores its scores")
    p.add_argument("--fused_optimizer", default="on", choices=["on", "off"])
    p.add_argument("--paged_optimizer", default="off", choices=["on", "off"], help="moments move to the host, if need be")
    p.add_argument("--empty_cache", default="off", choices=["on", "off"])
    p.add_argument("--reentrant_checkpoint", default="off", choices=["on", "off"])
    p.add_argument("--deepspeed_config", default="")
    p.add_argument("--double_quantization", default="on", choices=["on", "off"], help="scales of a 4-bit base too")
    p.add_argument("--unsharded_gradients", default="off", choices=["on", "off"], help="Trainer under FSDP: whole ones")
    # What the environment and the requirements decided.
    p.add_argument("--host_threads", default="")
    p.add_argument("--software_release", default="")
    p.add_argument("--workers", type=int, default=2, help="processes of a rank that read data")
    p.add_argument("--log_interval", type=int, default=10)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args(argv)
    # A channel of that name brings the model's files.
    args.model = folder("SM_CHANNEL_MODEL", args.model)
    return args


def trains_prompt(args: argparse.Namespace) -> bool:
    return args.finetune != "full" and args.adapters in PROMPTS


def mean_over_ranks(loss: torch.Tensor) -> float:
    """All ranks must call it together."""
    total = loss.detach().float().clone()
    if dist.is_initialized():
        dist.all_reduce(total)
        total /= dist.get_world_size()
    return float(total)


def keep_batch(args: argparse.Namespace, ranks: int) -> None:
    """An elastic job may run with fewer ranks than planned: each accumulates more, so that a step stays what it was."""
    passes = args.gradient_accumulation * (args.planned_ranks or ranks)
    if passes % ranks:
        raise SystemExit(f"--planned_ranks {args.planned_ranks}: {passes} passes of a step do not divide over {ranks} ranks")
    args.gradient_accumulation = passes // ranks


def device_type() -> str:
    return torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"


class StopRequest:
    """Set by SIGTERM: SageMaker sends it before it takes a spot instance back, and when a job is stopped."""

    def __init__(self) -> None:
        self.asked = False
        self.group: Any = None
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, *_: Any) -> None:
        self.asked = True

    def agreed(self) -> bool:
        """Whether any rank was asked. All ranks must call it together; it waits for no device."""
        flag = torch.tensor(int(self.asked))
        if dist.is_initialized():
            if self.group is None:
                self.group = dist.new_group(backend="gloo")  # NCCL, which others start, has no tensors of the host
            dist.all_reduce(flag, dist.ReduceOp.MAX, group=self.group)
        return bool(flag)


def text_config(config: Any) -> Any:
    return config.get_text_config() if hasattr(config, "get_text_config") else config


class Record:
    """Times of the parts of each step, logged and written as one row.

    On a device the parts are timed by events in its queue, which are read when a line is logged: no step waits for it.
    The first steps are left out of the row: they compile, allocate and tune.
    """

    WARM_UP = 3

    def __init__(self, args: argparse.Namespace, job: dict[str, Any], tokens_a_step: int) -> None:
        self.args, self.job, self.tokens = args, job, tokens_a_step
        self.cuda = device_type() == "cuda"
        self.world = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))
        self.marks: list[tuple[str, Any]] = []
        self.parts: dict[str, float] = {}  # seconds of all measured steps
        self.times: list[float] = []  # of each measured step
        self.steps = 0
        self.pending = 0  # steps whose times are not read yet
        self.last = time.perf_counter()
        self.counted = self.sequences = 0  # tokens with their padding, of this rank, where lengths differ

    @property
    def computed(self) -> float:
        """Tokens of a step, with padding."""
        return self.tokens * self.counted / (self.sequences * self.args.seq_len) if self.sequences else self.tokens

    def count(self, shape: Any) -> None:
        """A batch of sequences, padded to the longest of them."""
        self.sequences += shape[0]
        self.counted += shape[0] * shape[1]

    def mark(self, part: str) -> None:
        """The part begins here and ends with the next mark. "data" is the time that the loader makes a step wait."""
        if self.cuda:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.marks.append((part, event))
        else:
            self.marks.append((part, time.perf_counter()))

    def end_step(self, step: int, loss: Any = None) -> None:
        """After the optimizer's update of `step`, the first of which is 1. Without a loss nothing is logged."""
        self.steps += 1
        self.pending += 1
        if self.steps <= self.WARM_UP:
            self._read(keep=False)
        elif step % self.args.log_interval == 0 or step == self.args.max_steps:
            self._read(keep=True)
        else:
            return
        if loss is not None:
            self.log(step, mean_over_ranks(loss))

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """What happens inside is no part of a step: a checkpoint."""
        self._read(keep=self.steps > self.WARM_UP)
        yield
        self._read(keep=False)

    def _read(self, keep: bool) -> None:
        if self.cuda:
            torch.cuda.synchronize()
        now = time.perf_counter()
        if keep and self.pending:
            self.times += [(now - self.last) / self.pending] * self.pending
            for (part, begin), (_, end) in zip(self.marks, self.marks[1:]):
                taken = begin.elapsed_time(end) / 1000 if self.cuda else end - begin
                self.parts[part] = self.parts.get(part, 0.0) + taken
        self.marks.clear()
        self.pending, self.last = 0, now

    def step_time_s(self) -> float | None:
        return statistics.median(self.times) if self.times else None

    def peak_gib(self) -> float | None:
        """Of the rank with the most."""
        if not self.cuda:
            return None
        peak = torch.tensor(torch.cuda.max_memory_allocated() / GIB, dtype=torch.float64, device="cuda")
        if dist.is_initialized():
            dist.all_reduce(peak, dist.ReduceOp.MAX)
        return float(peak)

    def log(self, step: int, loss: float) -> None:
        seconds = self.times[-1] if self.times else None
        words = [f"step {step}/{self.args.max_steps}", f"loss {loss:.4f}"]
        if seconds:
            words += [f"{seconds:.3f} s", f"{self.computed / seconds:,.0f} tokens/s", f"MFU {100 * self.mfu(seconds):.1f} %"]
        if self.cuda:
            words.append(f"peak {torch.cuda.max_memory_allocated() / GIB:.1f} GiB")
        if self.rank == 0:
            # In one write: launchers start Python unbuffered, where print() would write the end of the line alone.
            sys.stdout.write(", ".join(words) + "\n")
            sys.stdout.flush()

    def mfu(self, seconds: float) -> float:
        """FLOPs of the model over those that the plan's devices could do; activations that are computed again do not
        count."""
        return self.computed * self.job["flops_per_token"] / (seconds * self.world * self.job["peak_flops_per_s"])

    def write(self, path: pathlib.Path, ran_out: bool = False) -> None:
        """One row for `smplan validate`. All ranks must call it, unless one of them ran out of memory."""
        args = self.args
        peak = None if ran_out else self.peak_gib()
        if self.rank != 0 and not ran_out:
            return
        steps = max(1, len(self.times))
        parts = {f"{part}_s": f"{self.parts.get(part, 0) / steps:.6f}" for part in PARTS}
        seconds = self.step_time_s()
        row = {
            **self.job["row"],
            "gpu": torch.cuda.get_device_name() if self.cuda else "cpu",
            "instance": os.environ.get("SM_CURRENT_INSTANCE_TYPE", ""),
            "n_gpus": self.world,
            "gpus_per_node": int(os.environ.get("LOCAL_WORLD_SIZE", "1")),
            "framework": f"torch {torch.__version__}",
            "seq_len": args.seq_len,
            **({"packing": "no", "mean_seq_len": round(self.counted / self.sequences)} if self.sequences else {}),
            **({"loss": args.loss, "reference": args.reference} if args.loss != "sft" else {}),
            "micro_batch": args.micro_batch,
            "grad_accum": args.gradient_accumulation,
            "dtype": args.dtype,
            "optimizer": args.optimizer,
            "method": args.finetune if args.finetune != "lora" else args.adapters,
            **({"trained_layers": args.trained_layers} if args.trained_layers != "all" else {}),
            **({"virtual_tokens": args.virtual_tokens} if trains_prompt(args) else {}),
            "lora_rank": "" if args.finetune == "full" or trains_prompt(args) else args.lora_rank,
            "recompute": args.activation_checkpointing,
            "mem_kind": "allocated",
            "step_time_s": "" if ran_out or seconds is None else f"{seconds:.6f}",
            "peak_mem_gib_per_gpu": "" if peak is None else f"{peak:.4f}",
            "oom": int(ran_out),
            **({} if ran_out else parts),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.{self.rank}.part")
        with open(partial, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(row))
            table.writeheader()
            table.writerow(row)
        os.replace(partial, path)
        print(f"wrote {path}: smplan validate {path.name} compares it with the prediction", file=sys.stderr, flush=True)
