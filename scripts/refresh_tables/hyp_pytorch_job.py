"""The configuration of HyperPod's command line (`hyp init hyp-pytorch-job`): the model of its newest template, which
refuses other keys. The package around it, which needs Kubernetes, never runs."""

import ast
import importlib
import importlib.metadata
import json
import pathlib
import re
import typing

from refresh_tables.annotations import LIMITS, described, limits_of, members_of
from refresh_tables.table import Section, Table

PACKAGE = "hyperpod_pytorch_job_template"
# What its validators take beside the text of a number.
TASKS = ["auto", "cpu", "gpu"]
# The field is a text; the pod that it becomes takes these (Kubernetes API, Container.imagePullPolicy).
POLICIES = ["Always", "IfNotPresent", "Never"]


def limits(field) -> dict:
    """Of the field itself, or of the number that it may hold."""
    own = {key: getattr(one, attribute) for one in field.metadata for key, attribute in LIMITS
           if getattr(one, attribute, None) is not None}
    return {**limits_of(field.annotation), **own}


def words_of(schema: dict, name: str) -> list:
    """The words that the schema beside the model has, where that asks a validator."""
    row = schema["properties"].get(name, {})
    named = schema["$defs"].get(row.get("$ref", "").rpartition("/")[2], {})
    return row.get("enum") or named.get("enum") or []


def values_of(annotation) -> list:
    """The types of the values of an object with any keys."""
    return [kind for part in members_of(annotation) if typing.get_origin(part) is dict
            for kind in described(typing.get_args(part)[1])["types"]]


def patterns_of(field) -> dict:
    """Of a text: its pattern, with what bounds its length. An empty text is refused where it has to be there."""
    own = {name: value for one in field.metadata for name in ("pattern", "min_length", "max_length")
           if (value := getattr(one, name, None)) is not None}
    pattern = own.get("pattern", r"^[\s\S]*$" if own else "")
    if "max_length" in own:
        pattern = pattern.replace("^", f"^(?=.{{{own.get('min_length', 0)},{own['max_length']}}}$)", 1)
    elif own.get("min_length") and "pattern" not in own:
        pattern = r"^[\s\S]+$"
    return {"pattern": pattern} if pattern else {}


def validated_keys(file: pathlib.Path) -> dict:
    """Patterns of the names in an object, by its field: the only one that a field's validator compiles."""
    found = {}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef):
            continue
        fields = [word.value for made in node.decorator_list for word in ast.walk(made) if isinstance(word, ast.Constant)]
        patterns = [call.args[0].value for call in ast.walk(node) if isinstance(call, ast.Call)
                    and getattr(call.func, "attr", "") == "compile" and isinstance(call.args[0], ast.Constant)]
        if len(patterns) == 1:
            found.update({field: patterns[0] for field in fields})
    return found


# validate_no_duplicates of the same model.
DISTINCT = {"volume": ["name", "mount_path"]}
# paths_must_be_absolute of VolumeConfig.
ABSOLUTE = {"mount_path": "^/", "path": "^(/|$)"}


def add_model(section: Section, model, schema: dict, keys: dict) -> None:
    for name, field in model.model_fields.items():
        row = described(field.annotation)
        row["values"] = row["values"] or words_of(schema, name)
        row["items"] = row["items"] or values_of(field.annotation)
        if name == "tasks_per_node":
            row |= {"types": [*row["types"], "integer"], "values": TASKS, "free": ["integer"], "case": "any"}
        if name == "pull_policy":
            row["values"] = POLICIES
        inner = "volume" if name == "volume" else None
        old = re.search(r"\[DEPRECATED\].*Use (\w+) instead", field.description or "")
        text = patterns_of(field) if "string" in row["types"] else {}
        if model.__name__ == "VolumeConfig" and name in ABSOLUTE:
            text = {"pattern": ABSOLUTE[name]}
        section.add(name, **row, **limits(field), **text, keys=keys.get(name), distinct=DISTINCT.get(name), section=inner, required=field.is_required() or None,
                    deprecated=bool(old) or None, replaced_by=old and old[1])


def read() -> Table:
    import stand_in

    stand_in.replace("sagemaker", "click")
    importlib.import_module("sagemaker.hyperpod.cli.type_handler_utils").DEFAULT_TYPE_HANDLER = {}
    registry = importlib.import_module(f"{PACKAGE}.registry").SCHEMA_REGISTRY
    newest = max(registry, key=lambda version: [int(part) for part in version.split(".")])
    model = registry[newest]
    module = importlib.import_module(model.__module__)
    file = pathlib.Path(module.__file__)
    schema = json.loads(file.with_name("schema.json").read_text(encoding="utf-8"))
    top = Section("", "pydantic", "refused")
    # The command line's own, beside the model's.
    top.add("template", types=["string"], values=["hyp-pytorch-job"])
    top.add("version", types=["string", "number"], values=sorted(registry))
    add_model(top, model, schema, validated_keys(file))
    volume = Section("volume", "pydantic", "refused")
    add_model(volume, module.VolumeConfig, {"properties": {}, "$defs": {}}, {})
    version = importlib.metadata.version(PACKAGE.replace("_", "-"))
    return Table("hyp-pytorch-job", version, f"{PACKAGE.replace('_', '-')} {version}, {model.__module__.replace('.', '/')}.py",
                 [top, volume])
