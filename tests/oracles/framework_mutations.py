#!/usr/bin/env python3
"""Correct configurations, each changed in one place: what the framework refuses `smplan check` must call an error, and
what the framework takes it must not. The framework's own configuration classes judge (framework_configs.py).
Changes stand where those classes check; what fails later, in an engine, is not judged here. TorchTitan's check names and
degrees. Those of Megatron Core see what the arguments come to, not the arguments: what we find beyond is not judged.
Usage: framework_mutations.py SMPLAN deepspeed|accelerate|torchtitan|megatron, in an environment that has the framework
"""

import collections
import copy
import json
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

import framework_configs
import yaml
from spoil import at, misspelt, places, replacements

RANKS = 8
SEED = 20261128
MOST = 400
LEAST_FOUND = 0.95
BASES = {
    "deepspeed": [
        {"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4,
         "bf16": {"enabled": True}, "fp16": {"enabled": False, "loss_scale": 0, "loss_scale_window": 1000,
                                             "initial_scale_power": 16, "hysteresis": 2, "min_loss_scale": 1},
         "zero_optimization": {"stage": 3, "overlap_comm": True, "contiguous_gradients": True, "sub_group_size": 1e9,
                               "reduce_bucket_size": 5e8, "stage3_prefetch_bucket_size": 5e7,
                               "stage3_param_persistence_threshold": 1e5, "stage3_max_live_parameters": 1e9,
                               "stage3_max_reuse_distance": 1e9, "stage3_gather_16bit_weights_on_model_save": True,
                               "offload_optimizer": {"device": "cpu", "pin_memory": True, "ratio": 0.5},
                               "offload_param": {"device": "nvme", "nvme_path": "/tmp/x", "buffer_count": 5,
                                                 "buffer_size": 1e8, "max_in_cpu": 1e9}},
         "tensorboard": {"enabled": False, "output_path": "x", "job_name": "y"},
         "comms_logger": {"enabled": False, "verbose": False, "prof_all": True, "debug": False}},
        {"train_micro_batch_size_per_gpu": 4, "fp16": {"enabled": True, "loss_scale": 128.0},
         "zero_optimization": {"stage": 2, "allgather_partitions": True, "allgather_bucket_size": 2e8,
                               "reduce_scatter": True, "round_robin_gradients": True},
         "wandb": {"enabled": False, "project": "p"}, "hybrid_engine": {"enabled": False, "max_out_tokens": 512},
         "compile": {"deepcompile": False}, "timers": {"throughput": {"enabled": True, "synchronized": False}}},
    ],
    "accelerate": [
        {"compute_environment": "LOCAL_MACHINE", "distributed_type": "FSDP", "num_machines": 1, "num_processes": 8,
         "machine_rank": 0, "mixed_precision": "bf16", "use_cpu": False, "debug": False,
         "main_training_function": "main",
         "rdzv_backend": "static", "same_network": True, "downcast_bf16": "no", "enable_cpu_affinity": False,
         "fsdp_config": {"fsdp_version": 2, "fsdp_state_dict_type": "SHARDED_STATE_DICT"}},
        {"compute_environment": "AMAZON_SAGEMAKER", "distributed_type": "DATA_PARALLEL", "ec2_instance_type": "ml.p4d.24xlarge",
         "iam_role_name": "Training", "num_machines": 1, "mixed_precision": "fp16", "region": "us-east-1",
         "pytorch_version": "2.8.0", "transformers_version": "4.56.2", "py_version": "py312"},
    ],
    "torchtitan": [
        {"job": {"dump_folder": "out", "description": "a run"}, "model": {"name": "llama3", "flavor": "8B"},
         "optimizer": {"name": "AdamW", "lr": 3e-4, "eps": 1e-8}, "lr_scheduler": {"warmup_steps": 200},
         "training": {"local_batch_size": 1, "seq_len": 8192, "max_norm": 1.0, "steps": 1000, "dataset": "c4"},
         "parallelism": {"data_parallel_replicate_degree": 1, "data_parallel_shard_degree": -1, "tensor_parallel_degree": 2,
                         "pipeline_parallel_degree": 1, "context_parallel_degree": 1, "expert_parallel_degree": 1},
         "checkpoint": {"enable": True, "folder": "checkpoint", "interval": 500}, "compile": {"enable": True},
         "activation_checkpoint": {"mode": "selective", "selective_ac_option": "op"}, "metrics": {"log_freq": 10},
         "validation": {"enable": False, "steps": 10}, "profiling": {"enable_profiling": False}},
        {"model": {"name": "qwen3", "flavor": "30B-A3B"}, "training": {"local_batch_size": 2, "seq_len": 4096},
         "parallelism": {"data_parallel_replicate_degree": 2, "data_parallel_shard_degree": 2, "tensor_parallel_degree": 2,
                         "expert_parallel_degree": 4, "expert_tensor_parallel_degree": 1},
         "quantize": {"linear": {"float8": {"enable_fsdp_float8_all_gather": True}}}},
    ],
    "megatron": [
        {"num-layers": "32", "hidden-size": "4096", "ffn-hidden-size": "14336", "num-attention-heads": "32",
         "group-query-attention": True, "num-query-groups": "8", "seq-length": "4096", "max-position-embeddings": "4096",
         "micro-batch-size": "1", "global-batch-size": "16", "train-iters": "100", "lr": "1e-4", "bf16": True, "swiglu": True,
         "disable-bias-linear": True, "normalization": "RMSNorm", "position-embedding-type": "rope",
         "tensor-model-parallel-size": "2", "pipeline-model-parallel-size": "2", "context-parallel-size": "1",
         "sequence-parallel": True, "recompute-granularity": "full", "recompute-method": "uniform",
         "recompute-num-layers": "1", "use-distributed-optimizer": True, "transformer-impl": "transformer_engine"},
        {"num-layers": "24", "hidden-size": "2048", "num-attention-heads": "16", "num-experts": "8", "moe-router-topk": "2",
         "moe-ffn-hidden-size": "1408", "moe-grouped-gemm": True, "moe-token-dispatcher-type": "alltoall", "bf16": True,
         "expert-model-parallel-size": "4", "tensor-model-parallel-size": "1", "seq-length": "2048",
         "max-position-embeddings": "2048", "micro-batch-size": "1", "global-batch-size": "8", "train-iters": "10",
         "lr": "1e-4", "moe-shared-expert-intermediate-size": "1408", "transformer-impl": "transformer_engine"},
    ],
}
FILES = {"deepspeed": "ds_config.json", "accelerate": "accelerate.yaml", "torchtitan": "config.toml",
         "megatron": "megatron_args.txt"}
# Arguments that Megatron's classes check together with others.
ADDED = {"megatron": {"cpu-offloading-num-layers": ["2", "64"], "recompute-granularity": ["selective", "full"],
                      "recompute-method": ["block", "uniform"], "recompute-num-layers": ["0", "4", "64"],
                      "num-virtual-stages-per-pipeline-rank": ["2", "3"], "num-query-groups": ["3", "5", "64"], "num-attention-heads": ["31", "7", "48"],
                      "tensor-model-parallel-size": ["3", "5", "64"], "moe-router-topk": ["0", "9"],
                      "num-experts": ["3", "6"], "expert-model-parallel-size": ["3", "8"], "hidden-size": ["4097"],
                      "moe-token-dispatcher-type": ["allgather", "flex"], "qk-layernorm": [True], "fp16": [True],
                      "context-parallel-size": ["2"], "pipeline-model-parallel-size": ["3", "5", "7"],
                      "window-size": ["128,0"], "moe-layer-freq": ["2", "[1,0]*16", "[1]*3"], "multi-latent-attention": [True]}}
# Of a framework's file, what its configuration classes check.
CHECKED = {
    "deepspeed": ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps",
                  "zero_optimization", "bf16", "fp16", "tensorboard", "wandb", "comms_logger", "hybrid_engine",
                  "compile",
                  "timers.throughput"),
    "accelerate": ("",),
    "torchtitan": ("",),
    "megatron": ("",),
}
# Rules about what the classes check; others judge the machines, or what an engine makes of the settings.
COMMON = ("C002", "C004", "C132", "C154", "C159", "C160", "C161", "C163", "C167", "C226")
RULES = {"deepspeed": COMMON, "accelerate": COMMON, "torchtitan": (*COMMON, "C131", "C178"), "megatron": None}  # None: all
# Taken by the class and refused by what runs next (DeepSpeedEngine, `accelerate launch`): read in their sources.
LATER = {
    "deepspeed": (),
    "accelerate": (),
    "torchtitan": (("parallelism.expert_parallel_degree", "3"), ("parallelism.expert_parallel_degree", "16")),
    "megatron": (),
}


def changes(base: dict, target: str, chance: random.Random):
    checked = CHECKED[target]
    for path in places(base):
        name = ".".join(path)
        if not any(name == one or name.startswith(one + ".") or not one for one in checked):
            continue
        dropped = copy.deepcopy(base)
        del at(dropped, path)[path[-1]]
        yield f"{name} dropped", dropped
        # Deeper keys of accelerate's are dropped without a word; Megatron's classes see no names of arguments.
        if target not in ("accelerate", "megatron") or target == "accelerate" and len(path) == 1:
            for _ in range(2):
                renamed = copy.deepcopy(base)
                holder = at(renamed, path)
                if len(path) > 1 or target != "deepspeed":  # unknown sections of DeepSpeed's are the user's
                    holder[misspelt(path[-1], chance)] = holder.pop(path[-1])
                    yield f"{name} misspelt", renamed
        if target == "accelerate" and path[-1] not in ("distributed_type", "compute_environment"):
            continue  # its dataclass keeps any value
        if target == "torchtitan":  # so do its dataclasses, of which ParallelDims reads the degrees
            for value in (-2, 0, 1, 2, 3, 4, 8, 16) if path[-1].endswith("_degree") else ():
                if (name, str(value)) in LATER[target]:
                    continue
                changed = copy.deepcopy(base)
                at(changed, path)[path[-1]] = value
                yield f"{name} = {value}", changed
            continue
        if target == "megatron":
            for value in ("0", "1", "2", "3", "16", "2.5", "many") if str(base[name]).isdigit() else ():
                yield f"{name} = {value}", {**base, name: value}
            continue
        for value in replacements(at(base, path)[path[-1]], ("5e8", "auto")):
            if target == "accelerate" and not isinstance(value, str):
                continue
            if (name, str(value)) in LATER[target]:
                continue
            changed = copy.deepcopy(base)
            at(changed, path)[path[-1]] = value
            yield f"{name} = {value!r}", changed
    for name, values in ADDED.get(target, {}).items():
        for value in values:
            yield f"+ {name} = {value}", {**base, name: value}


def toml(config: dict, prefix: str = "") -> str:
    """Texts, numbers, booleans and tables of them."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in config.items() if not isinstance(value, dict)]
    for key, value in config.items():
        if isinstance(value, dict):
            lines += [f"[{prefix}{key}]", toml(value, f"{prefix}{key}.")]
    return "\n".join(lines)


def written(target: str, config: dict) -> str:
    if target == "megatron":
        return " ".join(f"--{name}" if value is True else f"--{name} {shlex.quote(value)}" for name, value in config.items())
    return {"deepspeed": json.dumps, "accelerate": yaml.safe_dump, "torchtitan": toml}[target](config)


class Judge:
    """The framework's own verdict on a configuration."""

    def __init__(self, target: str):
        self.target = target
        self.framework = framework_configs.FRAMEWORKS[target]()

    def refusal(self, config: dict) -> str:
        config = copy.deepcopy(config)
        if self.target != "accelerate":
            framework_configs.world = lambda entry: RANKS
            return framework_configs.refusal(self.framework, config, {})
        try:
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "config.yaml"
                file.write_text(yaml.safe_dump(config), encoding="utf-8")
                from accelerate.commands.config.config_args import load_config_from_file

                load_config_from_file(str(file))
        except Exception as fault:  # whatever the framework raises is its refusal
            return f"{type(fault).__name__}: {fault}"
        return ""


def errors(smplan: str, target: str, config: dict, folder: str) -> list[str]:
    file = pathlib.Path(folder) / FILES[target]
    file.write_text(written(target, config), encoding="utf-8")
    facts = pathlib.Path(folder) / "facts.json"
    facts.write_text(json.dumps({"schema": "smplan.facts/1", "hugging_face_trainer": False}), encoding="utf-8")
    done = subprocess.run([smplan, "check", str(file), "--kind", target, "--n-gpus", str(RANKS), "--facts", str(facts),
                           "--format", "json"], capture_output=True, text=True)
    if done.returncode == 2:
        return ["refused: " + done.stderr[:200]]
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)["findings"]
    return [f"{one['rule']} {one['message']}" for one in found if one["severity"] == "error" and
            (RULES[target] is None or one["rule"] in RULES[target])]


def main() -> int:
    smplan, target = sys.argv[1:3]
    chance = random.Random(SEED)
    judge = Judge(target)
    all_changes = [change for base in BASES[target] for change in changes(base, target, chance)]
    chance.shuffle(all_changes)
    count: collections.Counter = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for base in BASES[target]:
            count["false"] += bool(errors(smplan, target, base, folder)) + bool(judge.refusal(base))
        for what, config in all_changes[:MOST]:
            refused, said = judge.refusal(config), errors(smplan, target, config, folder)
            count["refused" if refused else "taken"] += 1
            if refused and not said:
                count["missed"] += 1
                print(f"missed: {what}: {refused[:160]}")
            if said and not refused and target != "megatron":
                count["false"] += 1
                print(f"false: {what}: {said[0][:160]}")
    found = 1 - count["missed"] / max(1, count["refused"])
    print(f"{target}: {count['refused']} refused, {found:.1%} of them found; {count['taken']} taken, "
          f"{count['false']} false")
    return 0 if found >= LEAST_FOUND and not count["false"] and count["refused"] > 50 else 1


if __name__ == "__main__":
    sys.exit(main())
