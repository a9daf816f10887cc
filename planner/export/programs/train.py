"""Trains the model of a plan with PyTorch: DDP, FSDP or DeepSpeed, as the plan says.

    torchrun ... train.py --model model/config.json --data FOLDER --seq_len 4096 ...

launch.sh or the job gives the settings; smplan_run.py names them all, smplan_data.py the data. The state is saved every
--save_interval steps and when the job is asked to stop (SIGTERM), and a new start goes on from there. At the end the
model lies in --output_dir and what was measured in smplan_run.csv beside it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import pathlib
import shutil
import sys
from functools import partial
from typing import Any, Callable

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from smplan_data import Blocks, StepSampler
from smplan_model import add_adapters, build_model, layers_of, load_tokenizer, place_of
from smplan_run import Record, StopRequest, device_type, job_facts, keep_batch, settings, text_config
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_state_dict,
)
from torch.utils.data import DataLoader

AUTOCAST = {"bf16": torch.bfloat16, "fp16": torch.float16}
KEPT = 2  # checkpoints


# The model


def recompute(model: nn.Module, args: Any, layer_class: str) -> None:
    """Layers run again in the backward pass, all of them or the first so many."""
    if args.activation_checkpointing == "none":
        return
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
        CheckpointImpl,
        apply_activation_checkpointing,
        checkpoint_wrapper,
    )

    chosen = layers_of(model, layer_class)[: args.activation_checkpointing_layers or None]
    reentrant = args.reentrant_checkpoint == "on"
    wrapper = partial(checkpoint_wrapper,
                      checkpoint_impl=CheckpointImpl.REENTRANT if reentrant else CheckpointImpl.NO_REENTRANT)
    apply_activation_checkpointing(model, checkpoint_wrapper_fn=wrapper, check_fn=lambda module: module in chosen)


def load_sharded(args: Any, job: dict[str, Any], device: torch.device, shard: Callable[[Any], Any]) -> nn.Module:
    """The first rank has the whole model in host memory and hands the others their shards. A 4-bit base is small: every
    rank reads it."""
    from accelerate import init_empty_weights

    if args.finetune == "qlora":
        model = build_model(args, job, half_weights=False, device=torch.device("cpu"))
        return shard(add_adapters(model, args, keep_type=True))

    whole = dist.get_rank() == 0
    with contextlib.nullcontext() if whole else init_empty_weights(include_buffers=False):
        model = build_model(args, job, half_weights=False, empty=not whole)
        if args.finetune != "full":
            model = add_adapters(model, args, keep_type=True)  # FSDP shards weights of one type together
    state = model.state_dict() if whole else {}
    model = shard(model)
    on_host = job["offloads_parameters"]
    if not whole:
        buffers = dict(model.named_buffers())
        model.to_empty(device="cpu" if on_host else device)
        with torch.no_grad():
            for name, buffer in model.named_buffers():
                buffer.copy_(buffers[name])
    set_model_state_dict(model, state, options=StateDictOptions(
        full_state_dict=True, broadcast_from_rank0=True, cpu_offload=on_host))
    for buffer in model.buffers():
        buffer.data = buffer.data.to(device)
    return model


# The optimizer


def build_optimizer(model: nn.Module, args: Any, on_host: bool = False) -> torch.optim.Optimizer:
    """Matrices decay, vectors do not."""
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [{"params": [p for p in trained if p.dim() > 1], "weight_decay": args.weight_decay},
              {"params": [p for p in trained if p.dim() <= 1], "weight_decay": 0.0}]
    groups = [group for group in groups if group["params"]]
    rate, name = args.learning_rate, args.optimizer
    if on_host:
        from deepspeed.ops.adam import DeepSpeedCPUAdam

        return DeepSpeedCPUAdam(groups, lr=rate, betas=(0.9, 0.95))
    if name in ("adam8bit", "lion") or args.paged_optimizer == "on":
        import bitsandbytes

        maker = {"adamw": "AdamW", "adam8bit": "AdamW8bit", "lion": "Lion"}[name]
        paged = "Paged" if args.paged_optimizer == "on" else ""
        return getattr(bitsandbytes.optim, paged + maker)(groups, lr=rate)
    if name == "adamw":
        return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95), fused=args.fused_optimizer == "on")
    if name == "sgd-momentum":
        return torch.optim.SGD(groups, lr=rate, momentum=0.9)
    if name == "adafactor":
        return torch.optim.Adafactor(groups, lr=rate)
    raise SystemExit(f"--optimizer {name}: this program has adamw, adam8bit, adafactor, lion and sgd-momentum")


def rate_at(step: int, args: Any) -> float:
    """Part of the learning rate in a step, the first of which is 0: linear warm-up, then a cosine down to a tenth."""
    if step < args.warmup_steps:
        return (step + 1) / args.warmup_steps
    done = (step - args.warmup_steps) / max(1, args.max_steps - args.warmup_steps)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, done)))


# Engines: how the ranks share the work


class TorchEngine:
    """DDP or FSDP. Every rank holds or shards the model; gradients are averaged over the ranks."""

    def __init__(self, args: Any, job: dict[str, Any], device: torch.device) -> None:
        self.args, self.device = args, device
        self.fsdp = job["strategy"] == "fsdp"
        self.context: Callable[[], Any] = contextlib.nullcontext
        if self.fsdp:
            import fsdp_strategy

            self.model = self.step = load_sharded(args, job, device, fsdp_strategy.apply)
            self.context = getattr(fsdp_strategy, "forward_context", contextlib.nullcontext)
        else:
            model = build_model(args, job, half_weights=False, device=device)
            if args.finetune != "full":
                model = add_adapters(model, args)
            recompute(model, args, job["layer_class"])
            self.model = self.step = model if args.finetune == "qlora" else model.to(device)
            if args.compile == "layers":
                for layer in layers_of(model, job["layer_class"]):
                    layer.compile()
            if dist.get_world_size() > 1:
                self.step = nn.parallel.DistributedDataParallel(
                    model, device_ids=[device.index] if device.type == "cuda" else None, gradient_as_bucket_view=True)
        self.optimizer = build_optimizer(self.step, args)
        # FSDP casts what it gathers; weights in 16 bits need no cast.
        casts = not self.fsdp and args.dtype in AUTOCAST and args.pure_half != "on"
        self.autocast = partial(torch.autocast, device.type, AUTOCAST[args.dtype]) if casts else contextlib.nullcontext
        self.scaler = torch.amp.GradScaler(device.type, enabled=args.dtype == "fp16")
        adapters = args.finetune != "full"
        self.options = StateDictOptions(ignore_frozen_params=adapters, strict=not adapters)

    def forward(self, batch: dict[str, torch.Tensor], last: bool) -> torch.Tensor:
        if isinstance(self.step, nn.parallel.DistributedDataParallel):
            # Gradients are reduced once a step. FSDP reduces them in every pass: whole ones would not fit.
            self.step.require_backward_grad_sync = last
        with self.context(), self.autocast():
            return self.step(**batch).loss / self.args.gradient_accumulation

    def backward(self, loss: torch.Tensor, last: bool) -> None:
        self.scaler.scale(loss).backward()

    def update(self, number: int) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.args.learning_rate * rate_at(number, self.args)
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_([p for p in self.step.parameters() if p.grad is not None], self.args.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)

    def save(self, folder: pathlib.Path) -> None:
        model, optimizer = get_state_dict(self.model, self.optimizer, options=self.options)
        dcp.save({"model": model, "optimizer": optimizer}, checkpoint_id=str(folder))

    def load(self, folder: pathlib.Path) -> None:
        model, optimizer = get_state_dict(self.model, self.optimizer, options=self.options)
        state = {"model": model, "optimizer": optimizer}
        dcp.load(state, checkpoint_id=str(folder))
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"],
                       optim_state_dict=state["optimizer"], options=self.options)

    def export(self, output: pathlib.Path) -> None:
        """The model as transformers or PEFT saves it, by the first rank."""
        options = StateDictOptions(full_state_dict=True, cpu_offload=True, ignore_frozen_params=self.options.ignore_frozen_params)
        state = get_model_state_dict(self.model, options=options)
        if dist.get_rank() == 0:
            self.model.save_pretrained(output, state_dict=state)


class DeepSpeedEngine:
    """ZeRO, as the configuration says."""

    def __init__(self, args: Any, job: dict[str, Any], device: torch.device) -> None:
        import deepspeed

        self.args = args
        config = json.loads(pathlib.Path(place_of(args.deepspeed_config)).read_text(encoding="utf-8"))
        zero = config["zero_optimization"]
        deepspeed.init_distributed(auto_mpi_discovery=False)
        third = zero["stage"] == 3
        if third:
            # transformers then makes or loads weights straight into their shards.
            from transformers.integrations import HfDeepSpeedConfig

            self.keep = HfDeepSpeedConfig(config)
        model = build_model(args, job, half_weights=True)  # DeepSpeed keeps its own fp32 masters
        if args.finetune != "full":
            model = add_adapters(model, args, keep_type=True)
        recompute(model, args, job["layer_class"])
        optimizer = build_optimizer(model, args, on_host="offload_optimizer" in zero)
        self.step, self.optimizer, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=config)
        self.third, self.model = third, model

    def forward(self, batch: dict[str, torch.Tensor], last: bool) -> torch.Tensor:
        return self.step(**batch).loss

    def backward(self, loss: torch.Tensor, last: bool) -> None:
        self.step.backward(loss)  # divides by the accumulation itself
        if not last:
            self.step.step()  # counts passes; the update comes with the last

    def update(self, number: int) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.args.learning_rate * rate_at(number, self.args)
        self.step.step()

    def save(self, folder: pathlib.Path) -> None:
        self.step.save_checkpoint(str(folder.parent), tag=folder.name, save_latest=False,
                                  exclude_frozen_parameters=self.args.finetune != "full")

    def load(self, folder: pathlib.Path) -> None:
        found, _ = self.step.load_checkpoint(str(folder.parent), tag=folder.name,
                                             load_module_strict=self.args.finetune == "full")
        if found is None:
            raise SystemExit(f"{folder}: DeepSpeed finds no checkpoint there")

    def export(self, output: pathlib.Path) -> None:
        if self.third:
            state = self.step._zero3_consolidated_16bit_state_dict(exclude_frozen_parameters=self.args.finetune != "full")
        else:
            state = self.step.module.state_dict()
        if dist.get_rank() == 0:
            # DeepSpeed gathers by modules, of which those that run again are wrapped.
            state = {name.replace("_checkpoint_wrapped_module.", ""): weight for name, weight in state.items()}
            self.step.module.save_pretrained(output, state_dict=state)


# Checkpoints: step-00000100/, whole once COMPLETE lists its files


def checkpoints(folder: pathlib.Path) -> list[pathlib.Path]:
    """Those that are whole on this machine, the newest first."""
    out = []
    for place in sorted(folder.glob("step-*"), reverse=True):
        try:
            files = json.loads((place / "COMPLETE").read_text(encoding="utf-8"))
            if all((place / name).stat().st_size == size for name, size in files.items()):
                out.append(place)
        except (OSError, ValueError):
            continue
    return out


def newest(folder: pathlib.Path) -> pathlib.Path | None:
    """The newest that every rank has."""
    mine = [place.name for place in checkpoints(folder)]
    everybody: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(everybody, mine)
    common = [name for name in mine if all(name in theirs for theirs in everybody)]
    return folder / common[0] if common else None


def save(engine: Any, folder: pathlib.Path, number: int) -> None:
    """Each machine keeps the files of its own ranks, and SageMaker brings all together in S3; or all share a folder."""
    place = folder / f"step-{number:08d}"
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if local == 0:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
    dist.barrier()
    engine.save(place)
    dist.barrier()
    mine = {str(f.relative_to(place)): f.stat().st_size for f in place.rglob("*") if f.is_file()} if local == 0 else {}
    everybody: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(everybody, mine)
    files = {name: size for theirs in everybody for name, size in theirs.items()}
    if local == 0:
        part = place / f"COMPLETE.{dist.get_rank()}.part"
        part.write_text(json.dumps(files), encoding="utf-8")
        part.replace(place / "COMPLETE")
        for old in sorted(folder.glob("step-*"), reverse=True)[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
    dist.barrier()


# The run


def train(args: Any, job: dict[str, Any], device: torch.device, stop: StopRequest, record: Record) -> int:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    engine = (DeepSpeedEngine if job["strategy"] == "deepspeed" else TorchEngine)(args, job, device)
    model = engine.model
    tokenizer = load_tokenizer(args)
    blocks = Blocks(args, job["kind"], text_config(model.config), tokenizer, int(os.environ.get("LOCAL_RANK", "0")))
    folder = pathlib.Path(args.checkpoint_dir)
    done, place = 0, newest(folder)
    if place is not None:
        engine.load(place)
        done = int(place.name.removeprefix("step-"))
        if rank == 0:
            print(f"goes on behind step {done}", flush=True)
    loader = iter(DataLoader(blocks, args.micro_batch, sampler=StepSampler(len(blocks), args, rank, ranks, done),
                             num_workers=args.workers, pin_memory=device.type == "cuda", persistent_workers=False))
    model.train()
    saved = done
    with record.paused():  # what comes before the first step is no part of it
        pass
    while done < args.max_steps:
        loss = torch.zeros((), device=device)
        for number in range(args.gradient_accumulation):
            if stop.agreed():
                break
            record.mark("data")
            batch = {name: value.to(device, non_blocking=True) for name, value in next(loader).items()}
            record.mark("forward")
            last = number + 1 == args.gradient_accumulation
            part = engine.forward(batch, last)
            record.mark("backward")
            engine.backward(part, last)
            loss += part.detach()
        else:
            record.mark("optimizer")
            engine.update(done)
            if args.empty_cache == "on" and device.type == "cuda":
                torch.cuda.empty_cache()
            record.mark("other")
            done += 1
            record.end_step(done, loss if job["strategy"] != "deepspeed" else loss / args.gradient_accumulation)
            if done % args.save_interval == 0 and done < args.max_steps:
                with record.paused():
                    save(engine, folder, done)
                saved = done
            continue
        # The passes of an unfinished step are given up: its update did not happen.
        if done > saved:
            save(engine, folder, done)
        if rank == 0:
            print(f"asked to stop: step {done} is saved", flush=True)
        return done
    record.write(pathlib.Path(args.output_dir) / "smplan_run.csv")
    if done > saved:
        save(engine, folder, done)
    engine.export(pathlib.Path(args.output_dir))
    if tokenizer is not None and rank == 0:
        tokenizer.save_pretrained(args.output_dir)
    dist.barrier()
    return done


def main() -> int:
    args, job = settings(), job_facts()
    stop = StopRequest()
    kind = device_type()
    local = int(os.environ.get("LOCAL_RANK", "0"))
    device = torch.device(kind, local) if kind != "cpu" else torch.device(kind)
    if kind == "cuda":
        torch.cuda.set_device(device)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.dtype != "fp32"
    os.environ.setdefault("RANK", "0")
    os.environ.setdefault("WORLD_SIZE", "1")
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    dist.init_process_group("cpu:gloo,cuda:nccl" if kind == "cuda" else "gloo")
    keep_batch(args, dist.get_world_size())
    tokens = args.seq_len * args.micro_batch * args.gradient_accumulation * dist.get_world_size()
    record = Record(args, job, tokens)
    try:
        train(args, job, device, stop, record)
    except torch.OutOfMemoryError:
        record.write(pathlib.Path(args.output_dir) / "smplan_run.csv", ran_out=True)
        raise
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
