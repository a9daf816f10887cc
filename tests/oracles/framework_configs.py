#!/usr/bin/env python3
"""Every exported strategy file, read by its framework's own configuration classes (DeepSpeed, accelerate, TorchTitan,
Megatron Core), which check names, types and degrees as they do before a training starts. PyTorch is a stand-in:
these classes decide nothing by it. For each framework, files with a planted fault must be refused.
Usage: framework_configs.py CORPUS.json TARGET, in an environment that has the target's framework
"""

import dataclasses
import json
import logging
import pathlib
import sys
import tempfile
import tomllib
import warnings

import stand_in
import yaml
from corpus import Report, changed, exports
from documented import MEGATRON
from strategy_files import megatron_arguments, world

warnings.simplefilter("ignore")
stand_in.torch()


class DeepSpeed:
    """DeepSpeedConfig: unknown keys of zero_optimization, ranges, the batch equation."""

    PLANTED = {"the batch equation": {"train_batch_size": 1},
               "an unknown key": {"zero_optimization": {"overlap_com": True}},
               "a stage that is none": {"zero_optimization": {"stage": 4}}}

    def __init__(self):
        stand_in.deepspeed()
        import deepspeed.runtime.config as module

        self.config = module.DeepSpeedConfig

    def read(self, entry: dict) -> dict:
        return json.loads(entry["files"]["ds_config.json"])

    def judge(self, config: dict, entry: dict) -> None:
        class Ranks:
            @staticmethod
            def get_data_parallel_world_size() -> int:
                return world(entry)

        self.config(config, mpu=Ranks())


class Accelerate:
    """ClusterConfig, and the parallelism and FSDP settings that `accelerate launch` makes of it."""

    PLANTED = {"an unknown key": {"num_gpus": 8},
               "a type that is none": {"distributed_type": "ZERO"},
               "a degree that it does not have": {"parallelism_config": {"parallelism_config_pp_size": 2}}}

    def __init__(self):
        import accelerate.commands.config.config_args as module
        from accelerate.parallelism_config import ParallelismConfig

        self.cluster = module.ClusterConfig
        self.parallelism = ParallelismConfig

    def read(self, entry: dict) -> dict:
        return yaml.safe_load(entry["files"]["accelerate_config.yaml"])

    def judge(self, config: dict, entry: dict) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "config.yaml"
            file.write_text(yaml.safe_dump(config), encoding="utf-8")
            cluster = self.cluster.from_yaml_file(file)
        degrees = cluster.parallelism_config or {}
        sizes = {key.removeprefix("parallelism_config_"): size for key, size in degrees.items()}
        parallel = self.parallelism(**sizes)
        if sizes and parallel.total_size != cluster.num_processes:
            raise ValueError(f"{parallel.total_size} ranks, {cluster.num_processes} processes")


class TorchTitan:
    """ConfigManager and ParallelDims of TorchTitan."""

    PLANTED = {"degrees that do not multiply to the ranks": {"parallelism": {"data_parallel_shard_degree": 1_000_003}},
               "an unknown key": {"training": {"batch_size": 1}},
               "an unknown section": {"paralelism": {}}}

    def __init__(self):
        stand_in.without_init("torchtitan", "torchtitan.distributed")
        from torchtitan.config.manager import ConfigManager
        from torchtitan.distributed.parallel_dims import ParallelDims

        self.manager = ConfigManager
        self.dims = ParallelDims

    def read(self, entry: dict) -> dict:
        return tomllib.loads(entry["files"]["torchtitan.toml"])

    def judge(self, config: dict, entry: dict) -> None:
        manager = self.manager()
        read = manager._dict_to_dataclass(manager.config_cls, config)
        for section, members in config.items():
            known = {f.name: f.type for f in dataclasses.fields(getattr(read, section))}
            unknown = sorted(set(members) - set(known))
            if unknown:
                raise ValueError(f"{section} has no {unknown}")
        p = read.parallelism
        self.dims(dp_replicate=p.data_parallel_replicate_degree, dp_shard=p.data_parallel_shard_degree,
                  cp=p.context_parallel_degree, tp=p.tensor_parallel_degree, pp=p.pipeline_parallel_degree,
                  ep=p.expert_parallel_degree, etp=p.expert_tensor_parallel_degree, world_size=world(entry))


# arguments.py of Megatron-LM, core_transformer_config_from_args: arguments whose setting has another name.
RENAMED = {"num-experts": "num_moe_experts", "swiglu": "gated_linear_unit", "fp8-format": "fp8", "fp4-format": "fp4",
           "num-virtual-stages-per-pipeline-rank": "virtual_pipeline_model_parallel_size"}


class Megatron:
    """TransformerConfig, DistributedDataParallelConfig and OptimizerConfig of Megatron Core, from the arguments."""

    PLANTED = {"heads that tensor parallelism does not divide": {"tensor-model-parallel-size": "7"},
               "offloaded activations in a pipeline": {"cpu-offloading-num-layers": "2", "pipeline-model-parallel-size": "2"},
               "full recomputation without a method": {"recompute-granularity": "full", "recompute-method": None}}

    def __init__(self):
        import megatron.core.transformer.transformer_config as module
        from megatron.core.distributed import DistributedDataParallelConfig
        from megatron.core.optimizer import OptimizerConfig, optimizer_config

        # Transformer Engine is in the job's image, not here.
        optimizer_config.is_te_min_version = lambda version: True
        self.transformer = module
        self.others = (DistributedDataParallelConfig, OptimizerConfig)

    def read(self, entry: dict) -> dict:
        return megatron_arguments(entry["files"]["megatron_args.txt"])

    @staticmethod
    def settings(arguments: dict) -> dict:
        out = {}
        for name, value in arguments.items():
            if MEGATRON.get(name) == "count":
                value = int(value)
            elif name in ("optimizer-offload-fraction", "attention-dropout", "hidden-dropout", "rotary-percent"):
                value = float(value)
            elif name == "window-size":
                value = tuple(int(side) for side in value.split(","))
            elif name == "moe-layer-freq":  # a count, or a list written as Python
                value = eval(value, {"__builtins__": {}})
            out[RENAMED.get(name, name.replace("-", "_"))] = value
        if pattern := out.pop("hybrid_layer_pattern", ""):
            out["num_layers"] = sum(letter in "M*-E" for letter in pattern.split("/")[0])
            out["is_hybrid_model"] = True
        out["add_bias_linear"] = not out.pop("disable_bias_linear", False)
        if out.get("tensor_model_parallel_size", 1) == 1:
            out.pop("sequence_parallel", None)  # validate_args switches it off
        out["cpu_offloading"] = "cpu_offloading_num_layers" in out
        out.pop("attention_backend", None)  # an enumeration of the library
        return out

    def judge(self, arguments: dict, entry: dict) -> None:
        import torch

        settings = self.settings(arguments)
        latent = settings.pop("multi_latent_attention", False)
        config = self.transformer.MLATransformerConfig if latent else self.transformer.TransformerConfig
        for made in (config, *self.others):
            fields = {f.name for f in dataclasses.fields(made)}
            given = {name: value for name, value in settings.items() if name in fields and name != "lr"}
            if made is config:
                given["pipeline_dtype"] = torch.bfloat16
            made(**given)


FRAMEWORKS = {"deepspeed": DeepSpeed, "accelerate": Accelerate, "torchtitan": TorchTitan, "megatron": Megatron}


def refusal(framework, config: dict, entry: dict) -> str:
    """What the framework says against a configuration; empty where it takes it."""
    try:
        framework.judge(config, entry)
    except Exception as fault:  # whatever the framework raises is its refusal
        return " ".join(f"{type(fault).__name__}: {fault}".split())[:300]
    return ""


def unseen(framework, entry: dict) -> list[str]:
    """Planted faults that the framework takes: it would not see ours either."""
    return [f"takes {what}" for what, patch in framework.PLANTED.items()
            if not refusal(framework, changed(framework.read(entry), patch), entry)]


def main() -> int:
    logging.disable(logging.CRITICAL)
    target = sys.argv[2]
    framework = FRAMEWORKS[target]()
    report = Report(f"{target}, by its own configuration classes")
    entries = exports(target)
    for entry in entries:
        report.judged += 1
        said = refusal(framework, framework.read(entry), entry)
        if said:
            report.fault(entry, said)
    for fault in unseen(framework, entries[0]):
        report.fault(entries[0], fault)
    return report.finish(least=90)


if __name__ == "__main__":
    sys.exit(main())
