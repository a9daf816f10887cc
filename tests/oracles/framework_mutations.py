#!/usr/bin/env python3
"""Correct configurations, each changed in one place: what the framework refuses `smplan check` must call an error, and
what the framework takes it must not. The framework's own configuration classes judge (framework_configs.py).
Changes stand where those classes check; what fails later, in an engine, is not judged here.
Usage: framework_mutations.py SMPLAN deepspeed|accelerate, in an environment that has the framework
"""

import collections
import copy
import json
import pathlib
import random
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
}
# Of a framework's file, what its configuration classes check.
CHECKED = {
    "deepspeed": ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps",
                  "zero_optimization", "bf16", "fp16", "tensorboard", "wandb", "comms_logger", "hybrid_engine",
                  "compile",
                  "timers.throughput"),
    "accelerate": ("",),
}
# Rules about what the classes check; others judge the machines, or what an engine makes of the settings.
RULES = ("C002", "C004", "C132", "C154", "C159", "C160", "C161", "C163", "C167", "C226")
# Taken by the class and refused by what runs next (DeepSpeedEngine, `accelerate launch`): read in their sources.
LATER = {
    "deepspeed": (),
    "accelerate": (),
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
        if target != "accelerate" or len(path) == 1:  # deeper keys of accelerate's are dropped without a word
            for _ in range(2):
                renamed = copy.deepcopy(base)
                holder = at(renamed, path)
                if len(path) > 1 or target != "deepspeed":  # unknown sections of DeepSpeed's are the user's
                    holder[misspelt(path[-1], chance)] = holder.pop(path[-1])
                    yield f"{name} misspelt", renamed
        if target == "accelerate" and path[-1] not in ("distributed_type", "compute_environment"):
            continue  # its dataclass keeps any value
        for value in replacements(at(base, path)[path[-1]], ("5e8", "auto")):
            if target == "accelerate" and not isinstance(value, str):
                continue
            if (name, str(value)) in LATER[target]:
                continue
            changed = copy.deepcopy(base)
            at(changed, path)[path[-1]] = value
            yield f"{name} = {value!r}", changed


class Judge:
    """The framework's own verdict on a configuration."""

    def __init__(self, target: str):
        self.target = target
        self.framework = framework_configs.FRAMEWORKS[target]()

    def refusal(self, config: dict) -> str:
        config = copy.deepcopy(config)
        if self.target == "deepspeed":
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
    file = pathlib.Path(folder) / ("ds_config.json" if target == "deepspeed" else "accelerate.yaml")
    file.write_text(json.dumps(config) if target == "deepspeed" else yaml.safe_dump(config), encoding="utf-8")
    facts = pathlib.Path(folder) / "facts.json"
    facts.write_text(json.dumps({"schema": "smplan.facts/1", "hugging_face_trainer": False}), encoding="utf-8")
    done = subprocess.run([smplan, "check", str(file), "--kind", target, "--n-gpus", str(RANKS), "--facts", str(facts),
                           "--format", "json"], capture_output=True, text=True)
    if done.returncode == 2:
        return ["refused: " + done.stderr[:200]]
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)["findings"]
    return [f"{one['rule']} {one['message']}" for one in found if one["severity"] == "error" and one["rule"] in RULES]


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
            if said and not refused:
                count["false"] += 1
                print(f"false: {what}: {said[0][:160]}")
    found = 1 - count["missed"] / max(1, count["refused"])
    print(f"{target}: {count['refused']} refused, {found:.1%} of them found; {count['taken']} taken, "
          f"{count['false']} false")
    return 0 if found >= LEAST_FOUND and not count["false"] and count["refused"] > 50 else 1


if __name__ == "__main__":
    sys.exit(main())
