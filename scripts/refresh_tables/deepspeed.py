"""DeepSpeed's ds_config.json: its pydantic models, the plain sections by what DeepSpeedConfig looks up in them, and the
signatures of its schedulers and optimizers."""

import copy
import importlib.metadata
import inspect
import logging
import pathlib
import re
import sys

from refresh_tables.annotations import described, members_of
from refresh_tables.table import Section, Table, shipped

# Of torch.optim and torch.optim.lr_scheduler: read where PyTorch is, left as they are without.
OF_TORCH = ("optimizer", "scheduler", "optimizer.params:adam", "optimizer.params:adamw")

# What the code asserts of plain values (runtime/config.py: _batch_assertion, get_communication_data_type).
COUNT = {"types": ["integer", "null"], "min": 1}
TYPES_OF_DATA = {"types": ["string", "null"], "values": ["fp16", "bf16", "fp32"]}
ASSERTED = {
    "train_batch_size": COUNT, "train_micro_batch_size_per_gpu": COUNT, "gradient_accumulation_steps": COUNT,
    "communication_data_type": TYPES_OF_DATA,
    "seq_parallel_communication_data_type": TYPES_OF_DATA,
    "gradient_clipping": {"types": ["number"], "min": 0},
    "optimizer": {"types": ["object", "null"], "section": "optimizer"},
    "scheduler": {"types": ["object", "null"], "section": "scheduler"},
    "zero_optimization": {"types": ["object", "boolean"], "section": "zero_optimization"},
    "vocabulary_size": {"types": ["integer", "null"]},
}
# Read outside of DeepSpeedConfig: runtime/engine.py, elasticity, launcher and transformers' integration.
ELSEWHERE = ("sequence_parallel_size", "mesh_param", "ds_config", "local_rank", "data_parallel_size", "version",
             "zero_force_ds_cpu_optimizer", "curriculum_learning", "elasticity", "quantize_training", "ddp_bf16")
# Handed on to what is no part of DeepSpeedConfig, or looked up by a mode: other keys may be right.
OPEN = ("amp", "autotuning", "compression_training", "curriculum_learning", "data_efficiency", "datastates",
        "eigenvalue", "elasticity", "expert_parallel", "pipeline", "progressive_layer_drop", "quantize_training", "sparse_attention")
PROBE = "smplan probe"
# A setting that is refused with the same words whatever it holds has been removed.
ANYTHING = ({}, {PROBE: 1}, [], None, True, 1, "text")


class Noted(dict):
    """A dictionary that notes what is looked up in it, with the default."""

    def __init__(self, *arguments, seen=None):
        super().__init__(*arguments)
        self.seen = {} if seen is None else seen

    def get(self, key, default=None):
        self.seen.setdefault(key, default)
        return super().get(key, default)

    def __contains__(self, key):
        self.seen.setdefault(key, None)
        return super().__contains__(key)

    def __getitem__(self, key):
        self.seen.setdefault(key, None)
        return super().__getitem__(key)

    def keys(self):
        return self  # `KEY in param_dict.keys()` is a look-up too

    def __copy__(self):
        return Noted(self, seen=self.seen)

    def __deepcopy__(self, memo):
        return Noted({key: copy.deepcopy(value, memo) for key, value in dict.items(self)}, seen=self.seen)


class Ranks:
    """What stands for the ranks of a run: one."""

    @staticmethod
    def get_data_parallel_world_size() -> int:
        return 1


def looked_up(config_class, path: tuple, inner: dict) -> tuple[dict, Exception | None]:
    """Keys that DeepSpeedConfig looks up in the section at `path`, and what it says against `inner` there."""
    section = Noted(inner)
    config = Noted({"train_batch_size": 1})
    at = config
    for name in path[:-1]:
        dict.__setitem__(at, name, Noted())
        at = dict.__getitem__(at, name)
    if path:
        dict.__setitem__(at, path[-1], section)
    else:
        section = config
    try:
        config_class(config, mpu=Ranks())
    except Exception as fault:  # whatever it says: what it looked up until then counts
        return section.seen, fault
    return section.seen, None


def refusal(config_class, path: tuple, members: dict) -> str:
    """What DeepSpeedConfig says against a section of these members; empty where it takes it."""
    config: dict = {"train_batch_size": 1}
    at = config
    for name in path:
        at = at.setdefault(name, {})
    at.update(members)
    try:
        config_class(config, mpu=Ranks())
    except Exception as fault:  # whatever it says is a refusal
        return f"{type(fault).__name__}: {fault}"
    return ""


def is_removed(config_class, path: tuple) -> bool:
    """Whether DeepSpeedConfig refuses the setting by its name alone; an assertion is about the value."""
    *above, name = path
    said = {refusal(config_class, above, {name: value}) for value in ANYTHING}
    return len(said) == 1 and said.pop().startswith("DeepSpeedConfigError: ")


def subclasses(base) -> dict:
    return {made.__name__: made for one in base.__subclasses__() for made in (one, *subclasses(one).values())}


def model_section(path: str, model, base, sections: list) -> None:
    section = Section(path, "pydantic", "refused" if model.model_config.get("extra") == "forbid" else "ignored",
                      auto=True)
    sections.append(section)
    for name, info in model.model_fields.items():
        extra = info.json_schema_extra or {}
        limits = {key: getattr(one, attribute) for one in info.metadata
                  for key, attribute in (("min", "ge"), ("max", "le"), ("above", "gt"), ("below", "lt"))
                  if getattr(one, attribute, None) is not None}
        row = described(info.annotation)
        inner = [one for one in members_of(info.annotation) if isinstance(one, type) and issubclass(one, base)]
        if inner:
            row["types"] = ["object" if kind == "any" else kind for kind in row["types"]]
            row["section"] = f"{path}.{info.alias or name}"
            model_section(row["section"], inner[0], base, sections)
        alias = info.alias and info.alias != name
        section.add(info.alias if alias else name, also=[name] if alias else [], **row, **limits,
                    required=info.is_required() or None, default=info.default,
                    deprecated=extra.get("deprecated") or None, replaced_by=extra.get("new_param")
                    if extra.get("deprecated") else None)


def of_default(default) -> list:
    if isinstance(default, bool):
        return ["boolean"]
    if isinstance(default, (int, float)):
        return ["number"]
    return ["string"] if isinstance(default, str) else ["list"] if isinstance(default, (list, tuple)) else ["any"]


def walk(config_class, base, path: tuple, section_path: str, sections: list) -> None:
    seen, _ = looked_up(config_class, path, {})
    open_to_others = section_path.partition(".")[0] in OPEN
    section = Section(section_path, "plain", "open" if open_to_others else "ignored", auto=True)
    sections.append(section)
    models = subclasses(base)
    names = dict(seen) if path else {**dict.fromkeys(ELSEWHERE), **seen}
    for name, default in names.items():
        if not isinstance(name, str) or name == PROBE or is_removed(config_class, (*path, name)):
            continue
        where = f"{section_path}.{name}" if section_path else name
        inner, fault = looked_up(config_class, (*path, name), {PROBE: 1})
        title = getattr(fault, "title", None)
        model = models.get(title) if title else None
        if model is not None and PROBE in str(fault):
            errors = [error["loc"] for error in fault.errors() if error["loc"][-1] == PROBE]
            for step in errors[0][:-1] if errors else ():
                model = next(one for one in members_of(model.model_fields[step].annotation) if isinstance(one, type))
            model_section(where, model, base, sections)
            null = [] if refusal(config_class, path, {name: None}) else ["null"]
            section.add(name, **{"types": ["object", *null], "section": where, **ASSERTED.get(where, {})})
            continue
        inner.pop(PROBE, None)
        if inner and default in (None, {}, False) and len(path) < 3 and where not in ("optimizer", "scheduler"):
            null = [] if refusal(config_class, path, {name: None}) else ["null"]
            section.add(name, **{"types": ["object", *null], "section": where, **ASSERTED.get(where, {})})
            walk(config_class, base, (*path, name), where, sections)
        else:
            section.add(name, **{"types": of_default(default), "default": default, **ASSERTED.get(where, {})})


def signature_section(path: str, functions: list, unknown: str, sections: list) -> None:
    """Parameters of constructors that the section's members are passed to; of several any."""
    section = Section(path, "plain", unknown, auto=True)
    for function in functions:
        for name, one in inspect.signature(function).parameters.items():
            known = any(row["name"] == name for row in section.fields)
            if known or name in ("self", "params", "optimizer", "model_params", "deepspeed", "comm_backend_name"):
                continue
            if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
                continue
            kinds = described(one.annotation)["types"] if one.annotation is not inspect.Parameter.empty else ["any"]
            if one.default is not inspect.Parameter.empty and one.default is not None:
                kinds = list(dict.fromkeys(of_default(one.default) + [k for k in kinds if k in ("list", "null")]))
            section.add(name, types=["number" if kind == "integer" else kind for kind in kinds],
                        required=one.default is inspect.Parameter.empty or None,
                        default=None if one.default is inspect.Parameter.empty else one.default)
    sections.append(section)


def schedulers(sections: list) -> None:
    """Its own schedulers, whose parameters are their constructors'."""
    from deepspeed.runtime import lr_schedules

    for name in lr_schedules.VALID_LR_SCHEDULES:
        signature_section(f"scheduler.params:{name}", [getattr(lr_schedules, name)], "refused", sections)


def named_sections(sections: list) -> None:
    """Optimizers and schedulers, whose parameters hang on their type."""
    import torch
    from deepspeed.runtime import config, lr_schedules

    optimizers = {name: [getattr(torch.optim, found)] for name, found in
                  ((one.lower(), one) for one in dir(torch.optim) if isinstance(getattr(torch.optim, one), type))
                  if name not in ("optimizer",)}
    names = sorted(set(config.DEEPSPEED_OPTIMIZERS) | set(optimizers))
    top = Section("optimizer", "plain", "ignored", auto=True)
    # Its engine lowers the names of its own optimizers and looks the others up in torch.optim as they stand.
    top.add("type", types=["string"], values=names, case="any")
    top.add("params", types=["object", "null"], section_of="type")
    top.add("legacy_fusion", types=["boolean"], default=False)
    sections.append(top)
    top = Section("scheduler", "plain", "ignored", auto=True)
    base = torch.optim.lr_scheduler.LRScheduler
    torch_ones = [name for name, one in vars(torch.optim.lr_scheduler).items()
                  if isinstance(one, type) and issubclass(one, base)]
    top.add("type", types=["string", "null"], values=sorted({*lr_schedules.VALID_LR_SCHEDULES, *torch_ones}))
    top.add("params", types=["object", "null"], section_of="type")
    sections.append(top)
    from deepspeed.ops.adam import DeepSpeedCPUAdam, FusedAdam

    for name in ("adam", "adamw"):
        signature_section(f"optimizer.params:{name}", [FusedAdam, DeepSpeedCPUAdam, torch.optim.AdamW], "refused",
                          sections)
        section = sections[-1]
        section.add("torch_adam", types=["boolean"], default=False)
        if all(row["name"] != "max_grad_norm" for row in section.fields):
            section.add("max_grad_norm", types=["number"])
    section = next(s for s in sections if s.path == "optimizer.params:adam")
    if all(row["name"] != "adam_w_mode" for row in section.fields):
        section.add("adam_w_mode", types=["boolean"], default=True)


def imported():
    """DeepSpeedConfig and its base; without PyTorch a stand-in answers for it."""
    try:
        import torch  # noqa: F401
    except ImportError:
        import stand_in

        stand_in.torch()
        stand_in.deepspeed()
    else:
        import deepspeed

        deepspeed.init_distributed = lambda *arguments, **named: None
    from deepspeed.runtime.config import DeepSpeedConfig
    from deepspeed.runtime.config_utils import DeepSpeedConfigModel

    return DeepSpeedConfig, DeepSpeedConfigModel


def version_of() -> str:
    """By the files beside the package: the module that knows it is made when it is installed."""
    folder = pathlib.Path(sys.modules["deepspeed"].__path__[0])
    for file in (folder.parent / "version.txt", folder / "git_version_info_installed.py"):
        if file.exists():
            return re.search(r"\d+(\.\d+)+", file.read_text(encoding="utf-8")).group()
    return importlib.metadata.version("deepspeed").split("+")[0]


def read() -> Table:
    logging.disable(logging.CRITICAL)
    config_class, base = imported()
    from deepspeed.runtime import constants

    operations = getattr(constants, "GRADIENT_ALLREDUCE_OP_SUPPORTED", None)
    if operations:  # get_gradient_allreduce_op raises
        ASSERTED["gradient_allreduce_op"] = {"types": ["string"], "values": sorted(operations), "case": "any"}
    sections: list = []
    walk(config_class, base, (), "", sections)
    sections = [s for s in sections if s.path not in ("optimizer", "scheduler")]
    if "stand_in" in sys.modules:
        before = shipped("deepspeed") or {"sections": []}
        sections += [Section(path=s["path"], reader=s["reader"], unknown=s["unknown"], fields=s["fields"],
                             auto=s.get("auto", False)) for s in before["sections"] if s["path"] in OF_TORCH]
        schedulers(sections)
    else:
        named_sections(sections)
        schedulers(sections)
    version = version_of()
    return Table("deepspeed", version,
                 f"DeepSpeed {version}, its configuration models, runtime/config.py and lr_schedules.py", sections)
