"""Trains the model of a plan with Hugging Face's Trainer, and with TRL's where --loss dpo or --packing off says so.

    accelerate launch --config_file accelerate_config.yaml train.py --model model/config.json ...
    torchrun ... train.py --model meta-llama/Llama-3.1-8B --data FOLDER --finetune lora ...

launch.sh or the job gives the settings; smplan_run.py names them all, smplan_data.py the data. How the ranks share the
work (DDP, FSDP or DeepSpeed) is what accelerate's file beside this program says, whoever starts the ranks; without one
it is DDP. The state is saved every --save_interval steps and when the job is asked to stop (SIGTERM), and a new start
goes on from there. At the end the model lies in --output_dir and what was measured in smplan_run.csv beside it.
"""

from __future__ import annotations

import copy
import os
import pathlib
import sys
from typing import Any

import torch
from smplan_data import Blocks, stay_when_asked_to_stop, text_data
from smplan_model import HALF, add_adapters, build_model, checkpoint_options, layers_of, load_tokenizer
from smplan_run import Record, StopRequest, device_type, job_facts, settings, text_config
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

OPTIMIZERS = {"adamw": "adamw_torch", "adam8bit": "adamw_bnb_8bit", "adafactor": "adafactor", "lion": "lion_32bit",
              "sgd-momentum": "sgd"}
PAGED = {"adamw": "paged_adamw_32bit", "adam8bit": "paged_adamw_8bit", "lion": "paged_lion_32bit"}


def take_accelerate_file(path: pathlib.Path) -> None:
    """Puts into the environment what `accelerate launch` would, where torchrun started the ranks."""
    if "ACCELERATE_MIXED_PRECISION" in os.environ or not path.exists():
        return
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser
    from accelerate.utils.launch import prepare_deepspeed_cmd_env, prepare_multi_gpu_env

    words = ["--config_file", str(path), "--main_process_port", "0", "train.py"]
    launch, _, _ = _validate_launch_command(launch_command_parser().parse_args(words))
    said = prepare_deepspeed_cmd_env(launch)[1] if launch.use_deepspeed else prepare_multi_gpu_env(launch)
    os.environ.update({name: value for name, value in said.items()
                       if name.startswith(("ACCELERATE_", "FSDP_", "PARALLELISM_CONFIG_"))})
    if file := os.environ.get("ACCELERATE_DEEPSPEED_CONFIG_FILE"):
        os.environ["ACCELERATE_DEEPSPEED_CONFIG_FILE"] = str(path.parent / file)


def training_arguments(args: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Of TrainingArguments."""
    if args.optimizer not in OPTIMIZERS:
        raise SystemExit(f"--optimizer {args.optimizer}: this program has {', '.join(OPTIMIZERS)}")
    optimizer = (PAGED if args.paged_optimizer == "on" else OPTIMIZERS)[args.optimizer]
    if optimizer == "adamw_torch" and args.fused_optimizer == "on":
        optimizer += "_fused"
    # accelerate's file recomputes under FSDP; both at once would run each layer three times.
    by_accelerate = os.environ.get("FSDP_ACTIVATION_CHECKPOINTING", "false").lower() == "true"
    sharded = job["strategy"] == "fsdp" and args.unsharded_gradients == "off"
    return dict(
        output_dir=args.checkpoint_dir, per_device_train_batch_size=args.micro_batch,
        gradient_accumulation_steps=args.gradient_accumulation, max_steps=args.max_steps,
        save_steps=args.save_interval, save_total_limit=2, logging_steps=args.log_interval,
        learning_rate=args.learning_rate, warmup_steps=args.warmup_steps, weight_decay=args.weight_decay,
        max_grad_norm=args.clip, lr_scheduler_type="cosine", optim=optimizer,
        optim_args="momentum=0.9" if args.optimizer == "sgd-momentum" else None,
        bf16=args.dtype == "bf16" and args.pure_half != "on", fp16=args.dtype == "fp16" and args.pure_half != "on",
        tf32=args.dtype != "fp32" if device_type() == "cuda" else None,
        activation_checkpointing=args.activation_checkpointing == "full" and not by_accelerate,
        activation_checkpointing_kwargs=checkpoint_options(args),
        torch_empty_cache_steps=10 if args.empty_cache == "on" else None,
        # FSDP otherwise keeps whole gradients through the passes of a step.
        accelerator_config={"gradient_accumulation_kwargs": {"sync_each_batch": sharded}},
        ddp_find_unused_parameters=False, dataloader_num_workers=args.workers, dataloader_drop_last=True,
        dataloader_persistent_workers=args.workers > 0,  # short data is read many times
        use_cpu=device_type() == "cpu", seed=args.seed, report_to=[], disable_tqdm=True)


class Collator:
    """One of TRL's, in processes that stay."""

    def __init__(self, collator: Any) -> None:
        self.collator = collator

    def __call__(self, examples: Any) -> Any:
        stay_when_asked_to_stop()
        return self.collator(examples)


class Timed:
    """A trainer that says which part of a step begins."""

    record: Record
    padded = False  # sequences are of different lengths

    def get_batch_samples(self, *args: Any, **kwargs: Any) -> Any:
        self.record.mark("data")
        out = super().get_batch_samples(*args, **kwargs)
        self.record.mark("other")
        return out

    def compute_loss(self, model: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        self.record.mark("forward")
        if self.padded and model.training:
            self.record.count(inputs["input_ids"].shape)
        out = super().compute_loss(model, inputs, *args, **kwargs)
        self.record.mark("backward")
        return out


class Watch(TrainerCallback):
    """Times and logs the steps, and stops when a rank is asked to."""

    def __init__(self, record: Record, stop: StopRequest) -> None:
        self.record, self.stop = record, stop

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step and self.record.rank == 0:
            print(f"goes on behind step {state.global_step}", flush=True)
        with self.record.paused():
            pass

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.record.mark("optimizer")

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.record.mark("other")
        self.record.end_step(state.global_step)
        if self.stop.agreed():
            control.should_save = control.should_training_stop = True

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs and "loss" in logs:
            self.record.log(state.global_step, float(logs["loss"]))

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        with self.record.paused():
            pass


def make_trainer(args: Any, options: dict[str, Any], model: Any, tokenizer: Any, job: dict[str, Any]) -> Any:
    """Trainer on blocks of one length, or a trainer of TRL on examples of their own length."""
    if args.loss == "sft" and args.packing == "on":
        arguments = TrainingArguments(**options)
        blocks = Blocks(args, job["kind"], text_config(model.config), tokenizer, arguments.local_process_index)
        return type("TimedTrainer", (Timed, Trainer), {})(model=model, args=arguments, train_dataset=blocks)
    import trl  # these alone need it

    if tokenizer is None:
        raise SystemExit("examples of their own length are text: give --tokenizer FOLDER and --data FOLDER")
    ends: dict[str, Any] = {"max_length": args.seq_len}
    if args.loss == "dpo":
        # TRL counts pairs, the plan sequences.
        options["per_device_train_batch_size"] = max(1, args.micro_batch // 2)
        ends["precompute_ref_log_probs"] = args.reference == "precomputed"
        kind, config = trl.DPOTrainer, trl.DPOConfig
        # The base without its adapters is the reference of adapters; else it is a copy of what is trained, in 16 bits.
        more = {"ref_model": copy.deepcopy(model).to(HALF.get(args.dtype, torch.float32))} if args.reference == "copy" else {}
    else:
        kind, config, more = trl.SFTTrainer, trl.SFTConfig, {}
    trainer = type("TimedTrainer", (Timed, kind), {"padded": True})(
        model=model, args=config(**options, **ends), train_dataset=text_data(args.data), processing_class=tokenizer, **more)
    trainer.data_collator = Collator(trainer.data_collator)
    return trainer


def newest(folder: pathlib.Path) -> str | None:
    """The newest checkpoint that is whole: Trainer writes its state behind everything else."""
    whole = [place for place in folder.glob("checkpoint-*") if (place / "trainer_state.json").exists()]
    return str(max(whole, key=lambda place: int(place.name.rpartition("-")[2]))) if whole else None


def main() -> int:
    args, job = settings(), job_facts()
    take_accelerate_file(pathlib.Path(__file__).with_name("accelerate_config.yaml"))
    stop = StopRequest()
    options = training_arguments(args, job)
    arguments = TrainingArguments(**options)
    model = build_model(args, job, half_weights=False, device=arguments.device)
    if args.finetune != "full":
        model = add_adapters(model, args)
    if args.compile == "layers":
        for layer in layers_of(model, job["layer_class"]):
            layer.compile()
    tokenizer = load_tokenizer(args)
    tokens = args.seq_len * args.micro_batch * args.gradient_accumulation * arguments.world_size
    record = Record(args, job, tokens)
    trainer = make_trainer(args, options, model, tokenizer, job)
    trainer.record = record
    trainer.add_callback(Watch(record, stop))
    trainer.remove_callback(PrinterCallback)
    report = pathlib.Path(args.output_dir) / "smplan_run.csv"
    try:
        trainer.train(resume_from_checkpoint=newest(pathlib.Path(args.checkpoint_dir)))
    except torch.OutOfMemoryError:
        record.write(report, ran_out=True)
        raise
    if trainer.state.global_step < args.max_steps:
        if record.rank == 0:
            print(f"asked to stop: step {trainer.state.global_step} is saved", flush=True)
        return 0
    record.write(report)
    trainer.save_model(args.output_dir)
    if tokenizer is not None and record.rank == 0:
        tokenizer.save_pretrained(args.output_dir)
    return 0


if __name__ == "__main__":
    sys.exit(main())
