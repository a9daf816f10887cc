"""accelerate's YAML: ClusterConfig and SageMakerConfig, whose unknown keys are refused, and the objects in them, whose
keys are options of `accelerate launch` and go on as environment variables."""

import dataclasses
import typing

from refresh_tables.annotations import described
from refresh_tables.table import Section, Table

# Keys of older files that BaseConfig.process_config takes; what it sets where it is missing is not required.
OLDER = {"fp16": {"types": ["boolean"], "deprecated": True, "replaced_by": "mixed_precision"},
         "dynamo_backend": {"types": ["string"], "deprecated": True, "replaced_by": "dynamo_config"}}
SET = ("compute_environment", "mixed_precision", "use_cpu", "debug")
# Made a text or a number where it is used, however it is written.
EITHER = ("main_process_port", "machine_rank", "downcast_bf16")
# Objects of the file, and the group of launch's options that their keys are.
GROUPS = {"fsdp_config": "FSDP", "deepspeed_config": "DeepSpeed", "megatron_lm_config": "Megatron-LM",
          "fp8_config": "FP8", "mpirun_config": "MPI", "parallelism_config": "ParallelismConfig"}
# _validate_launch_command puts these before keys that lack them.
PREFIXES = {"fsdp_config": "fsdp_", "fp8_config": "fp8_", "dynamo_config": "dynamo_"}

# ZeroStageEnum of DeepSpeed 0.19.5, runtime/zero/config.py, which the plugin fills.
LIMITS = {"zero_stage": {"min": 0, "max": 3}}


def of_options(section: Section, actions: list, values: dict) -> None:
    prefix = PREFIXES.get(section.path, "")
    for action in actions:
        name = action.dest
        default = action.default
        kind = {int: ["integer"], float: ["number"]}.get(action.type, ["string"])
        if isinstance(default, str) and default.lower() in ("true", "false") or isinstance(default, bool):
            kind = ["boolean"]
        number = isinstance(default, str) and default.lstrip("-").isdigit()
        if kind == ["string"] and (number or isinstance(default, tuple)):
            kind = ["any"]
        short = name.removeprefix(prefix)
        taken = values.get(name, [str(choice) for choice in action.choices or ()])
        section.add(name, also=[short] if short != name else [], types=[*kind, "null"],
                    values=taken, case="any" if taken else None, default=default, **LIMITS.get(name, {}))


def value_words() -> dict:
    """Words that options take, by their names. They become environment variables, which the plugins judge."""
    from accelerate.utils import constants

    return {"fsdp_auto_wrap_policy": constants.FSDP_AUTO_WRAP_POLICY,
            "fsdp_backward_prefetch": constants.FSDP_BACKWARD_PREFETCH,
            "fsdp_state_dict_type": constants.FSDP_STATE_DICT_TYPE,
            "fsdp_sharding_strategy": [*constants.FSDP_SHARDING_STRATEGY,
                                       *map(str, range(1, len(constants.FSDP_SHARDING_STRATEGY) + 1))],
            "deepspeed_multinode_launcher": constants.DEEPSPEED_MULTINODE_LAUNCHERS,
            "offload_optimizer_device": ["none", "cpu", "nvme"], "offload_param_device": ["none", "cpu", "nvme"],
            "fp8_format": ["HYBRID", "E4M3", "E5M2"]}


def option_sections(parser) -> list:
    """The objects of the YAML whose keys are options of `accelerate launch`."""
    groups = {group.title: group._group_actions for group in parser._action_groups}
    sections = []
    for path, title in GROUPS.items():
        section = Section(path, "text", "ignored", auto=path == "deepspeed_config")
        sections.append(section)
        of_options(section, next(actions for name, actions in groups.items() if name.startswith(title)), value_words())
    return sections


def read() -> Table:
    try:
        import torch  # noqa: F401 - accelerate needs it, or what stands for it
    except ImportError:
        import stand_in

        stand_in.torch()
    import accelerate
    from accelerate.commands.config.config_args import ClusterConfig, SageMakerConfig
    from accelerate.commands.launch import launch_command_parser
    from accelerate.utils import dataclasses as enums

    sections = []
    for made, environment in ((ClusterConfig, ""), (SageMakerConfig, ":AMAZON_SAGEMAKER")):
        section = Section(environment, "plain", "refused")
        sections.append(section)
        types = typing.get_type_hints(made)
        for one in dataclasses.fields(made):
            row = described(types[one.name])
            if one.name == "distributed_type":
                taken = enums.SageMakerDistributedType if environment else enums.DistributedType
                row = {"types": ["string", "boolean"], "values": [str(value.value) for value in taken]}
            elif one.name == "mixed_precision":
                row = {"types": ["string", "null"], "values": list(enums.PrecisionType.list()), "case": "any"}
            elif row["types"] == ["object", "null"] and one.name != "additional_args":
                row["section"] = one.name
            elif one.name in EITHER:
                row = {"types": ["any"]}
            elif row["types"] == ["list"] and one.default is None:
                row["types"] = ["list", "null"]
            required = one.default is dataclasses.MISSING and one.name not in SET
            section.add(one.name, **row, required=required or None,
                        default=None if one.default is dataclasses.MISSING else one.default)
        for name, row in OLDER.items():
            section.add(name, **row)
    parser = launch_command_parser()
    sections += option_sections(parser)
    section = Section("dynamo_config", "text", "ignored")
    sections.append(section)
    everywhere = [action for action in parser._actions if action.dest.startswith("dynamo_")]
    of_options(section, list({action.dest: action for action in everywhere}.values()),
               {"dynamo_backend": enums.DynamoBackend.list()})
    version = accelerate.__version__
    return Table("accelerate", version, f"accelerate {version}, commands/config/config_args.py, commands/launch.py and "
                 "utils/constants.py", sections)


