"""axolotl's YAML: its pydantic schema, and the settings of integrations that `plugins` brings. Unknown keys are dropped."""

import ast
import importlib.metadata
import importlib.util
import inspect
import logging
import os
import pathlib
import sys
import typing

from refresh_tables import words
from refresh_tables.annotations import LIMITS, described, limits_of, members_of
from refresh_tables.sources import calls, parsed
from refresh_tables.table import Section, Table

# Modules of integrations whose classes become part of the schema (get_input_args of their plugins).
INTEGRATIONS = "axolotl/integrations/*/args.py"
# Its validators look these up and refuse them (check_deprecated_unsloth_fields); the schema has no field for them.
REFUSED = ("unsloth_cross_entropy_loss", "unsloth_lora_mlp", "unsloth_lora_qkv", "unsloth_lora_o", "unsloth_rms_norm",
           "unsloth_rope")
# AxolotlInputConfig's fields of other keys' making, which no file holds.
INTERNAL = ("is_falcon_derived_model", "is_llama_derived_model", "is_mistral_derived_model", "is_qwen_derived_model")


def asserted(root: pathlib.Path) -> dict:
    """What its validators ask of a value beside its type; attention may be a kernel of a hub, by its path."""
    from axolotl.utils.schemas.enums import CANONICAL_ATTN_IMPLS

    from axolotl.utils.schemas.enums import ChatTemplate, CustomSupportedOptimizers

    template = {"values": [one.value for one in ChatTemplate], "open_with": "tokenizer_default_fallback_"}
    optimizers = words.row_of("trl", "", "optim")["values"]
    schedulers = words.row_of("trl", "", "lr_scheduler_type")["values"]
    own = root / "axolotl/core/builders/base.py"
    # A plugin may bring others.
    start = {key: value for key, value in words.row_of("trl", "peft", "init_lora_weights").items() if key != "name"}
    return {"chat_template": template, "peft_init_lora_weights": start,
            "optimizer": {"values": [*optimizers, *(one.value for one in CustomSupportedOptimizers)], "unless": ["plugins"]},
            "lr_scheduler": {"values": [*schedulers, *words.listed(own, "lr_scheduler")], "unless": ["plugins"]},
            "attn_implementation": {"values": sorted(CANONICAL_ATTN_IMPLS), "open_with": "/"},
            "learning_rate": {"types": ["number"]}, "fsdp_version": {"types": ["any"]}, "neftune_noise_alpha": {"above": 0}}


def data_words(section: Section, row: dict, root: pathlib.Path, checked: dict) -> dict:
    """Of a data set: its template, and the strategy that reads it: a module of axolotl's, one by its path, or one of its
    own names, with or without a style behind a colon."""
    if section.path not in ("datasets", "test_datasets"):
        return {}
    if row["name"] == "chat_template":
        return checked["chat_template"]
    if row["name"] != "type":
        return {}
    strategies = root / "axolotl/prompt_strategies"
    modules = [file.stem for file in sorted(strategies.rglob("*.py")) if not file.stem.startswith("_")]
    folders = [one.name for one in sorted(strategies.iterdir()) if one.is_dir() and not one.name.startswith("_")]
    handlers = words.keys_of(root / "axolotl/utils/data/wrappers.py", "DATASET_HANDLERS")
    # Without one the data are tokens already; preferences and rewards have loaders of their own.
    return {"values": list(dict.fromkeys(["", *modules, *folders, *handlers])), "open_with": [".", ":"], "grows": True,
            "unless": ["rl", "reward_model", "process_reward_model", "plugins"],
            **({"refused": refused_types(root)} if section.path == "datasets" else {})}


def refused_types(root: pathlib.Path) -> list:
    """Beginnings of a data set's type over which a validator of the data sets raises."""
    made = next(node for node in ast.walk(parsed(root / "axolotl/utils/schemas/validation.py"))
                if isinstance(node, ast.ClassDef) and node.name == "DatasetValidationMixin")
    tests = [node.test for node in ast.walk(made) if isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise)]
    asked = [one for test in tests for one in calls(test, "startswith")]
    return [one.args[0].value for one in asked if isinstance(one.args[0], ast.Constant)]


def quantized_types() -> list:
    """Words for torchao's types: those that its validator compares a value with."""
    from axolotl.utils.schemas.quantization import validate_ao_dtype

    source = ast.parse(inspect.getsource(validate_ao_dtype))
    compared = (one for one in ast.walk(source) if isinstance(one, ast.Compare))
    return [word.value for one in compared for word in ast.walk(one)
            if isinstance(word, ast.Constant) and isinstance(word.value, str)]


def folder_of_sources() -> pathlib.Path:
    for entry in sys.path:
        for base in (pathlib.Path(entry or os.getcwd()), pathlib.Path(entry or os.getcwd(), "src")):
            if (base / "axolotl/utils/schemas").is_dir():
                return base
    raise ImportError("no axolotl is on the path")


def version_of(root: pathlib.Path) -> str:
    stated = [file.name.removesuffix(".dist-info").split("-")[1] for file in root.glob("axolotl-*.dist-info")]
    return stated[0] if stated else importlib.metadata.version("axolotl")


def models_in(annotation, base) -> list:
    """The models that a setting may hold, itself or in a list."""
    found = []
    for part in members_of(annotation):
        if isinstance(part, type) and issubclass(part, base):
            found.append(part)
        elif typing.get_origin(part) is list:
            found += models_in(typing.get_args(part)[0], base)
    return found


def other_names(info, name: str) -> list:
    alias = info.validation_alias or info.alias
    names = [one for one in getattr(alias, "choices", [alias]) if isinstance(one, str)]
    return [one for one in names if one != name]


def module_of(file: pathlib.Path):
    """By itself: the package around it imports the integration."""
    spec = importlib.util.spec_from_file_location(f"arguments_of_{file.parent.name}", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def either(known: dict, row: dict) -> None:
    """Of a name that two models of one place have, what either takes."""
    for member in ("types", "items"):
        if known.get(member) or row.get(member):
            known[member] = list(dict.fromkeys([*known.get(member, []), *row.get(member, [])]))
    if known.get("values") and row.get("values"):
        known["values"] = list(dict.fromkeys([*known["values"], *row["values"]]))
    else:
        known.pop("values", None)
    for member in ("min", "max", "above", "below", "required", "default", "free"):
        if known.get(member) != row.get(member):
            known.pop(member, None)


def add_model(section: Section, model, base, sections: list, optional: bool = False) -> None:
    for name, info in model.model_fields.items():
        if not section.path and name in INTERNAL:
            continue
        limits = {key: getattr(one, attribute) for one in info.metadata for key, attribute in LIMITS
                  if getattr(one, attribute, None) is not None}
        row = {**described(info.annotation), **limits_of(info.annotation), **limits}
        if any(getattr(part, "__name__", "") == "TorchAOQuantDType" for part in members_of(info.annotation)):
            row["values"] = quantized_types()
        inner = models_in(info.annotation, base)
        if inner:
            row["section"] = f"{section.path}.{name}" if section.path else name
            if all(one["name"] != name for one in section.fields):
                of_models(row["section"], inner, base, sections)
        row.update(required=None if optional else info.is_required() or None, default=info.default)
        known = next((one for one in section.fields if one["name"] == name), None)
        if known is None:
            section.add(name, also=other_names(info, name), **row)
        else:
            either(known, row)


def of_models(path: str, models: list, base, sections: list) -> Section:
    section = Section(path, "pydantic", "refused" if all(model.model_config.get("extra") == "forbid" for model in models)
                      else "ignored")
    sections.append(section)
    for model in models:
        add_model(section, model, base, sections)
    return section


def read() -> Table:
    import stand_in

    logging.disable(logging.CRITICAL)
    root = folder_of_sources()
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    stand_in.axolotl()
    from axolotl.utils.schemas.config import AxolotlInputConfig
    from axolotl.utils.schemas.deprecated import DeprecatedParameters
    from pydantic import BaseModel

    sections: list = []
    section = of_models("", [AxolotlInputConfig], BaseModel, sections)
    for name in REFUSED:
        section.add(name, types=["any"])
    checked = asserted(root)
    for one in sections:
        for row in one.fields:
            row.update(checked.get(row["name"], {}) if one is section else data_words(one, row, root, checked))
    # check_fsdp_config_kwargs_prefix takes the names of old, which began with fsdp_.
    for row in next(one for one in sections if one.path == "fsdp_config").fields:
        if not row["name"].startswith("fsdp_"):
            row["also"] = [*row.get("also", []), f"fsdp_{row['name']}"]
    for row in section.fields:
        if row["name"] in DeprecatedParameters.model_fields:
            row["deprecated"] = True
    for file in sorted(root.glob(INTEGRATIONS)):
        module = module_of(file)
        for made in vars(module).values():
            if isinstance(made, type) and issubclass(made, BaseModel) and made.__module__ == module.__name__ and \
                    made.__name__.endswith(("Args", "SwanLabConfig")) and \
                    made.__name__ != "CompressionArgs":
                add_model(section, made, BaseModel, sections, optional=True)
    version = version_of(root)
    return Table("axolotl", version, f"axolotl {version}, utils/schemas and the arguments of its integrations", sections)
