"""Megatron-LM's arguments: calls of add_argument in megatron/training/arguments.py, and the dataclasses that its
ArgumentGroupFactory makes options of. torchrun's options stand in the same command lines and come from PyTorch."""

import ast
import os
import pathlib
import re
import sys

from refresh_tables.sources import MISSING, Sources, calls, keywords, last_name, literal, parsed, text
from refresh_tables.table import Section, Table

FILE = "megatron/training/arguments.py"
KINDS = {"int": "integer", "float": "number", "str": "string"}
# Options that a script of Megatron-LM adds: pretrain_*.py and what they import.
SCRIPTS = ("pretrain_*.py", "*_builders.py", "train_rl.py", "examples/**/*.py", "megatron/post_training/arguments.py",
           "megatron/rl/**/*.py", "megatron/legacy/**/*.py", "tools/**/*.py", "tasks/**/*.py")


def root_of_sources() -> pathlib.Path:
    for entry in sys.path:
        if pathlib.Path(entry or os.getcwd(), FILE).exists():
            return pathlib.Path(entry or os.getcwd())
    raise ImportError(f"no sources of Megatron-LM are on the path ({FILE})")


def version_of(root: pathlib.Path) -> str:
    words = dict(re.findall(r"^(MAJOR|MINOR|PATCH) = (\d+)", (root / "megatron/core/package_info.py").read_text(
        encoding="utf-8"), re.MULTILINE))
    return ".".join(words.get(word, "0") for word in ("MAJOR", "MINOR", "PATCH"))


def dashed(name: str) -> str:
    return name.replace("_", "-")


def nargs_of(value) -> str | None:
    return {"*": "any", "+": "many", "?": "optional"}.get(value, "many" if isinstance(value, int) else None)


def of_call(call: ast.Call, sources: Sources) -> dict | None:
    """A row of one add_argument(); its first long name is the row's, the others stand in `also`."""
    names = [literal(word) for word in call.args]
    names = [dashed(name[2:]) for name in names if isinstance(name, str) and name.startswith("--")]
    if not names:
        return None
    named = keywords(call)
    action = literal(named["action"]) if "action" in named else None
    if action in ("store_true", "store_false", "store_const"):
        return {"name": names[0], "also": names[1:], "types": ["boolean"], "nargs": "none"}
    row = {"name": names[0], "also": names[1:]}
    if "BooleanOptional" in ast.dump(named.get("action", ast.Constant(None))):
        return {**row, "also": [*names[1:], *(f"no-{name}" for name in names)], "types": ["boolean"], "nargs": "none"}
    kind = last_name(named["type"]) if "type" in named else "str"
    row["types"] = [KINDS.get(kind, "any")]
    choices = literal(named["choices"]) if "choices" in named else None
    row["values"] = [text(one) for one in choices] if choices else []
    row["default"] = literal(named["default"]) if "default" in named else None
    row["required"] = True if "required" in named and literal(named["required"]) else None
    row["nargs"] = nargs_of(literal(named["nargs"])) if "nargs" in named else None
    told = str(literal(named["help"])) if "help" in named else ""
    # In small letters further on, one word of the option is, or its older spelling.
    if "DEPRECATED" in told or told.lower().lstrip("[(* ").startswith("deprecated"):
        row["deprecated"] = True
    return row


def excluded(call: ast.Call, function: ast.FunctionDef) -> list:
    value = keywords(call).get("exclude") or (call.args[1] if len(call.args) > 1 else None)
    if isinstance(value, ast.Name):
        assigned = [one.value for one in ast.walk(function) if isinstance(one, ast.Assign)
                    and any(last_name(target) == value.id for target in one.targets)]
        value = assigned[-1] if assigned else None
    return literal(value) or [] if value is not None else []


def of_field(name: str, annotation, default, call, sources: Sources) -> dict | None:
    """As ArgumentGroupFactory: --no-x and --disable-x of what is on, else --x; `argparse_meta` counts before."""
    meta = {}
    if call is not None:
        told = keywords(call)
        if told.get("init") is not None and literal(told["init"]) is False:
            return None
        given = told.get("metadata")
        if isinstance(given, ast.Dict):
            inner = dict(zip((literal(key) for key in given.keys), given.values)).get("argparse_meta")
            if isinstance(inner, ast.Dict):
                meta = dict(zip((literal(key) for key in inner.keys), inner.values))
    told_names = [dashed(one.lstrip("-")) for one in literal(meta.get("arg_names", ast.Constant(None))) or []]
    said = sources.described(annotation)
    kinds = [kind for kind in said["types"] if kind != "null"]
    if "action" in meta or kinds == ["boolean"] and "type" not in meta:
        on = default is True and "action" not in meta
        names = told_names or ([f"no-{dashed(name)}", f"disable-{dashed(name)}"] if on else [dashed(name)])
        return {"name": names[0], "also": names[1:], "types": ["boolean"], "nargs": "none"}
    names = told_names or [dashed(name)]
    row = {"name": names[0], "also": names[1:], "values": said.get("values", []),
           "default": None if default is MISSING else default}
    members = [one for part in ast.walk(annotation) for one in sources.members(last_name(part))]
    if members:  # written by its name
        row["values"], kinds = members, ["string"]
    if "list" in kinds:
        kinds, row["nargs"] = said.get("items") or ["any"], "many"
    if "type" in meta:
        kinds = [KINDS.get(last_name(meta["type"]), "any")]
        row["values"] = []
    if "choices" in meta:
        row["values"] = [text(one) for one in literal(meta["choices"]) or []]
    if "nargs" in meta:
        row["nargs"] = nargs_of(literal(meta["nargs"]))
    kinds = [kind for kind in kinds if kind != "null"]
    row["types"] = kinds if len(kinds) == 1 else ["any"]
    return row


def add_row(section: Section, row: dict | None) -> None:
    if row is None:
        return
    known = next((one for one in section.fields if one["name"] == row["name"]), None)
    if known is None:
        section.add(**row)
    elif set(known["types"]) != set(row["types"]) or known.get("values") != (row.get("values") or None):
        known["types"] = ["any"]  # scripts differ
        known.pop("values", None)


def torchrun(section: Section) -> None:
    """PyTorch's launcher, whose options stand before the script."""
    from torch.distributed.run import get_args_parser

    for action in get_args_parser()._actions:
        names = [dashed(name[2:]) for name in action.option_strings if name.startswith("--")]
        if names and "help" not in names and not any(row["name"] == names[0] for row in section.fields):
            flag = action.nargs == 0
            section.add(names[0], also=[name for name in dict.fromkeys(names[1:]) if name != names[0]],
                        types=["boolean"] if flag else [{int: "integer", float: "number"}.get(action.type, "any")],
                        nargs="none" if flag else None)


def read() -> Table:
    root = root_of_sources()
    tree = parsed(root / FILE)
    sources = Sources(sorted((root / "megatron").rglob("*.py")))
    section = Section("", "argparse", "open")
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for function in functions:
        factories = {}
        for call in calls(function, "ArgumentGroupFactory"):
            factories[last_name(call.args[0])] = excluded(call, function)
        for made, without in factories.items():
            for name, (annotation, default, call) in sources.fields(made).items():
                if name not in without:
                    add_row(section, of_field(name, annotation, default, call, sources))
        for call in calls(function, "add_argument"):
            add_row(section, of_call(call, sources))
    own = {row["name"] for row in section.fields}
    for pattern in SCRIPTS:
        for file in sorted(file for file in root.glob(pattern) if not file.name.endswith("_converter.py")):
            for call in calls(parsed(file), "add_argument"):
                row = of_call(call, sources)
                if row is not None and row["name"] not in own:
                    # Scripts give one name several meanings.
                    add_row(section, {"name": row["name"], "also": row["also"], "types": ["any"], "nargs": "any"})
    torchrun(section)
    version = version_of(root)
    return Table("megatron", version, f"Megatron-LM core {version}, {FILE} and the scripts beside it; PyTorch, "
                 "distributed/run.py", [section])
