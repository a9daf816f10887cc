"""Modules of transformers' language models by family: the classes that its modeling files define, those that FSDP wraps
(`_no_split_modules`), and the names of what may carry adapters. Read from the sources; what only an older version has
is kept, since no file says which version it is for."""

import ast
import datetime
import json
import pathlib
import re

from refresh_tables.sources import last_name, literal, parsed
from refresh_tables.table import numbers
from refresh_tables.trl import folder_of, version_of

FILE = pathlib.Path(__file__).resolve().parents[2] / "catalogs/data/modules/transformers.json"
SCHEMA = "smplan.modules/1"
# What models are loaded by, of those that trainers of language models load.
MAPPINGS = ("MODEL_FOR_CAUSAL_LM_MAPPING_NAMES", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
            "MODEL_FOR_MASKED_LM_MAPPING_NAMES")
# Endings of classes that take adapters: torch.nn's, transformers' and those that are made of them.
TAKING = ("Linear", "Embedding", "Conv1D", "Conv1d", "Conv2d", "Conv3d", "MultiheadAttention")
# Calls that make no module.
PLAIN = ("getattr", "int", "float", "bool", "str", "len", "list", "tuple", "dict", "set", "sum", "max", "min", "range",
         "isinstance", "hasattr", "Parameter", "tensor", "zeros", "ones", "empty", "arange", "full", "sqrt", "Size",
         "Path", "deepcopy")
KEYS = ("classes", "layers", "names", "heads")


def mapping(auto: ast.Module, name: str) -> dict:
    """Of an OrderedDict of pairs."""
    for node in auto.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            pairs = literal(node.value.args[0])
            return {kind: [made] if isinstance(made, str) else list(made) for kind, made in pairs}
    return {}


def files_of(file: pathlib.Path) -> list:
    """The modeling file, and those of other models that it imports classes from."""
    found = [file]
    for node in parsed(file).body:
        if isinstance(node, ast.ImportFrom) and node.level == 2 and node.module and "modeling_" in node.module:
            other = file.parents[1].joinpath(*node.module.split(".")).with_suffix(".py")
            if other.exists() and other not in found and "auto" not in node.module:
                found += [one for one in files_of(other) if one not in found]
    return found


def classes_of(files: list) -> dict:
    return {node.name: node for file in files for node in parsed(file).body if isinstance(node, ast.ClassDef)}


def makes(value: ast.AST) -> list:
    """Names of what an assigned expression calls to make a module; one that is unknown is empty."""
    if isinstance(value, ast.IfExp):
        return makes(value.body) + makes(value.orelse)
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Subscript):
            return [""]
        name = last_name(value.func)
        return [] if name in PLAIN else [name if name[:1].isupper() else ""]
    return []


def takes_adapters(made: str, classes: dict, depth: int = 8) -> bool:
    """Whether PEFT may put adapters on what the class makes; where nobody knows, it may."""
    if not made or made.endswith(TAKING):
        # Rotary positions are called embeddings, and hold no weights.
        return "Rotary" not in made
    node = classes.get(made)
    return node is not None and depth > 0 and any(takes_adapters(last_name(base), classes, depth - 1)
                                                  for base in node.bases if last_name(base) != "Module")


def assigned(node: ast.ClassDef) -> list:
    """Members that a class sets, each with what it is made of."""
    found = []
    for one in ast.walk(node):
        targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
        for target in targets:
            if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self" and one.value is not None:
                found.append((target.attr, one.value))
    return found


def inside(value: ast.AST) -> list:
    """Keys of a ModuleDict, with what they are made of."""
    return [(literal(key), made) for call in ast.walk(value) if isinstance(call, ast.Dict)
            for key, made in zip(call.keys, call.values) if key is not None and isinstance(literal(key), str)]


def is_whole(name: str) -> bool:
    """A model with its head, whose members stand at the top: `lm_head`."""
    return re.search("For[A-Z]|LMHead", name) is not None


def row_of(file: pathlib.Path, generic: pathlib.Path) -> dict:
    files = files_of(file)
    classes = {**{name: node for name, node in classes_of([generic]).items() if name.startswith("Generic")},
               **classes_of(files)}
    layers, names, heads = [], set(), set()
    text = "".join(one.read_text(encoding="utf-8") for one in files)
    # Parts of other models, or members by computed names: what it holds is not all written here.
    open_ = any(f"{word}(" in text for word in ("AutoModel.from_config", "AutoModelForCausalLM.from_config", "setattr",
                                                "add_module", "load_backbone", "AutoBackbone"))
    for name, node in classes.items():
        for one in node.body:
            if isinstance(one, ast.Assign) and getattr(one.targets[0], "id", "") == "_no_split_modules":
                layers += literal(one.value) or []
        for attribute, value in assigned(node):
            members = [(attribute, value), *inside(value)]
            taking = {word for word, made in members if any(takes_adapters(one, classes) for one in makes(made))}
            # What a list is made of has numbers for names.
            names |= taking
            if is_whole(name):
                heads |= taking
    return {"classes": sorted(name for name in classes if not name.startswith("Generic")),
            "layers": sorted(set(layers) & set(classes)), "names": sorted(names), "heads": sorted(heads), "open": open_}


def read() -> dict:
    """Rows by modeling file, with the types that it is for."""
    package = folder_of("transformers")
    auto = parsed(package / "models/auto/modeling_auto.py")
    generic = package / "modeling_layers.py"
    made = {}
    for file in sorted(package.glob("models/*/modeling_*.py")):
        if not file.stem.startswith(("modeling_tf_", "modeling_flax_")):
            for node in parsed(file).body:
                if isinstance(node, ast.ClassDef):
                    made.setdefault(node.name, file)
    types: dict = {}
    for name in MAPPINGS:
        for kind, built in mapping(auto, name).items():
            for one in built:
                if one in made:
                    types.setdefault(made[one], set()).add(kind)
    version = version_of(package)
    rows = [{"types": sorted(kinds), **row_of(file, generic)} for file, kinds in types.items()]
    return {"schema": SCHEMA, "version": version, "as_of": datetime.date.today().isoformat(),
            "source": f"transformers {version}, models/*/modeling_*.py", "families": rows}


def by_type(document: dict | None) -> dict:
    return {kind: {**row, "types": [kind]} for row in (document or {}).get("families", []) for kind in row["types"]}


def laid_over(old: dict | None, new: dict) -> dict:
    """What either version has. Layers are those of the newer one."""
    newer = old is None or numbers(new["version"]) >= numbers(old["version"])
    before, after = by_type(old), by_type(new)
    rows: dict = {}
    for kind in sorted(before.keys() | after.keys()):
        one, two = before.get(kind), after.get(kind)
        row = two if one is None else one if two is None else {
            **{key: sorted({*one[key], *two[key]}) for key in KEYS}, "layers": (two if newer else one)["layers"],
            "open": one["open"] or two["open"]}
        rest = {key: row[key] for key in (*KEYS, "open")}
        rows.setdefault(json.dumps(rest), {"types": [], **rest})["types"].append(kind)
    head = new if newer else old
    return {**{key: head[key] for key in ("schema", "version", "as_of", "source")}, "families": list(rows.values())}


def text_of(document: dict) -> str:
    head = ",\n".join(f"  {json.dumps(key)}: {json.dumps(document[key])}" for key in ("schema", "version", "source", "as_of"))
    rows = ",\n".join("    " + json.dumps({key: value for key, value in row.items() if value})
                      for row in document["families"])
    return f'{{\n{head},\n  "families": [\n{rows}\n  ]\n}}\n'


def shipped() -> dict | None:
    if not FILE.exists():
        return None
    document = json.loads(FILE.read_text(encoding="utf-8"))
    for row in document["families"]:
        row.update({key: row.get(key, []) for key in KEYS}, open=row.get("open", False))
    return document


def moved(old: dict | None, new: dict) -> list[str]:
    before, after = by_type(old), by_type(new)
    lines = [f"+ {kind}" for kind in sorted(after.keys() - before.keys())]
    lines += [f"- {kind}" for kind in sorted(before.keys() - after.keys())]
    for kind in sorted(before.keys() & after.keys()):
        for key in KEYS:
            gone, come = (sorted(set(one[kind][key]) - set(other[kind][key]))
                          for one, other in ((before, after), (after, before)))
            if gone or come:
                lines.append(f"~ {kind}: {key} {' '.join([f'+{one}' for one in come] + [f'-{one}' for one in gone])}")
        if before[kind]["open"] != after[kind]["open"]:
            lines.append(f"~ {kind}: open {after[kind]['open']}")
    return lines
