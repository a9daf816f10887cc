"""What launch scripts call of the SageMaker Python SDKs: classes, functions and methods with their parameters, and the
names that modules have. Read from the sources of SDK 2 and SDK 3, which nothing imports."""

import ast
import datetime
import functools
import json
import pathlib
from typing import NamedTuple, Optional

from refresh_tables.sdk import DATA, differing, folder_of

FILE = DATA / "sagemaker/sdk_calls.json"
# Modules that launch scripts import from, by a folder that only the SDK has.
MODULES = {
    "sagemaker/image_uri_config": (
        "sagemaker", "sagemaker.estimator", "sagemaker.inputs", "sagemaker.instance_group", "sagemaker.debugger",
        "sagemaker.pytorch", "sagemaker.pytorch.estimator", "sagemaker.huggingface", "sagemaker.huggingface.estimator",
        "sagemaker.tensorflow", "sagemaker.tensorflow.estimator", "sagemaker.image_uris",
        "sagemaker.modules.train", "sagemaker.modules.configs", "sagemaker.modules.distributed"),
    "sagemaker/train": (
        "sagemaker.train", "sagemaker.train.model_trainer", "sagemaker.train.configs", "sagemaker.train.distributed",
        "sagemaker.train.common", "sagemaker.train.sft_trainer", "sagemaker.train.dpo_trainer",
        "sagemaker.train.cpt_trainer", "sagemaker.train.rlvr_trainer", "sagemaker.train.rlaif_trainer",
        "sagemaker.train.multi_turn_rl_trainer", "sagemaker.core.training.configs", "sagemaker.core.image_uris"),
}
# Methods of other classes are not what submits a job.
SUBMITTING = ("fit", "train")
# What configurations of SDK 3 are made of.
SHAPES = ("sagemaker.core.shapes", "sagemaker_core")
BUILT_IN = ("BaseModel", "ABC", "with_metaclass", "object", "Enum", "dict", "str", "Exception", "NamedTuple")


class Signature(NamedTuple):
    names: tuple
    required: tuple
    is_open: bool
    returns: str = ""


class Place(NamedTuple):
    """A definition and the module that it stands in."""
    module: str
    node: ast.AST


class Import(NamedTuple):
    module: str
    name: str


class Sources:
    """The modules below the folder of one SDK."""

    def __init__(self, top: pathlib.Path):
        self.top = top

    def file(self, module: str) -> Optional[pathlib.Path]:
        below = self.top.joinpath(*module.split("."))
        return next((file for file in (below.with_suffix(".py"), below / "__init__.py") if file.is_file()), None)

    @functools.lru_cache(maxsize=None)
    def body(self, module: str) -> tuple:
        file = self.file(module)
        return tuple(ast.parse(file.read_text(encoding="utf-8")).body) if file else ()

    def absolute(self, module: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        file = self.file(module)
        above = module.split(".") if file and file.stem == "__init__" else module.split(".")[:-1]
        return ".".join([*above[:len(above) - node.level + 1], *([node.module] if node.module else [])])

    @functools.lru_cache(maxsize=None)
    def names(self, module: str) -> dict:
        """Each name that can be imported, and where it is made: a place, an import, or None for no class or function."""
        found: dict = {}
        if not module.startswith("sagemaker") or not self.file(module):
            return found
        folder = self.top.joinpath(*module.split("."))
        if folder.is_dir():
            found.update({one.stem: None for one in folder.glob("*.py") if one.stem != "__init__"})
            found.update({one.name: None for one in folder.iterdir() if one.is_dir() and any(one.glob("*.py"))})
        for node in statements(self.body(module)):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found[node.name] = Place(module, node)
            elif isinstance(node, ast.ImportFrom):
                found.update(self.imported(module, node))
            elif isinstance(node, ast.Import):
                found.update({one.asname or one.name.partition(".")[0]: None for one in node.names})
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = None
            elif isinstance(node, ast.Assign):
                alias = node.value.id if isinstance(node.value, ast.Name) else None
                found.update({target.id: found.get(alias) for target in node.targets if isinstance(target, ast.Name)})
        return found

    def imported(self, module: str, node: ast.ImportFrom) -> dict:
        source = self.absolute(module, node)
        if any(one.name == "*" for one in node.names):
            return {name: Import(source, name) for name in self.names(source) if not name.startswith("_")}
        return {one.asname or one.name: Import(source, one.name) for one in node.names}

    def place(self, module: str, name: str, steps: int = 8) -> Optional[Place]:
        """Where a name of a module is made in the end; None for what is no class or function of the SDK."""
        found = self.names(module).get(name)
        if isinstance(found, Import):
            return self.place(found.module, found.name, steps - 1) if steps else None
        return found

    def bases(self, place: Place) -> list:
        """The class and those above it, in the order in which Python looks; None for one that is not read."""
        line: list = [place]
        for base in place.node.bases:
            words = ast.unparse(base).split("[")[0].split("(")[0].split(".")
            if words[-1] in BUILT_IN:
                continue
            found = self.of_module_alias(place.module, words) if len(words) > 1 else self.place(place.module, words[0])
            above = self.bases(found) if found is not None and isinstance(found.node, ast.ClassDef) else [None]
            line += [one for one in above if one not in line]
        return line

    def of_module_alias(self, module: str, words: list) -> Optional[Place]:
        for node in self.body(module):
            if isinstance(node, ast.Import):
                for one in node.names:
                    if one.asname == words[0]:
                        return self.place(one.name, words[-1])
            elif isinstance(node, ast.ImportFrom):
                for one in node.names:
                    if (one.asname or one.name) == words[0]:
                        return self.place(f"{self.absolute(module, node)}.{one.name}", words[-1])
        return None


def statements(body: tuple) -> list:
    """Of a module, with what it tries, what a condition guards, and what __getattr__ imports when it is asked."""
    out: list = []
    for node in body:
        out.append(node)
        if isinstance(node, ast.Try):
            out += statements((*node.body, *node.orelse))
        elif isinstance(node, ast.If):
            out += statements((*node.body, *node.orelse))
        elif isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
            out += [one for one in ast.walk(node) if isinstance(one, ast.ImportFrom)]
    return out


def signature(node: ast.FunctionDef, bound: bool) -> Signature:
    positional = [one.arg for one in (*node.args.posonlyargs, *node.args.args)][1 if bound else 0:]
    plain = positional[:max(len(positional) - len(node.args.defaults), 0)]
    plain += [one.arg for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults) if default is None]
    names = (*positional, *(one.arg for one in node.args.kwonlyargs))
    returns = ast.unparse(node.returns).strip("'\"") if node.returns else ""
    return Signature(names, tuple(plain), node.args.kwarg is not None or node.args.vararg is not None, returns)


def fields(line: list) -> Signature:
    """Of pydantic's models and dataclasses: annotated members. pydantic drops others unless it is told to refuse them."""
    refuses, known, required = False, {}, {}
    for place in reversed(line):
        for node in place.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
                if name.startswith("_") or "ClassVar" in ast.unparse(node.annotation):
                    continue
                known[name] = None
                required[name] = node.value is None
            elif isinstance(node, ast.Assign) and "extra='forbid'" in ast.unparse(node.value):
                refuses = True
        refuses = refuses or any("dataclass" in ast.unparse(one) for one in place.node.decorator_list)
    return Signature(tuple(known), tuple(name for name in known if required[name]), not refuses)


def constructor(line: list) -> Signature:
    """What a class takes; what its own **kwargs passes on, the next one above may refuse."""
    if None in line:
        return Signature((), (), True)
    made = [one for place in line for one in place.node.body
            if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    if not made:
        return fields(line)
    names: dict = {}
    for node in made:
        read = signature(node, bound=True)
        names.update(dict.fromkeys(read.names))
        if not read.is_open:
            break
    return Signature(tuple(names), signature(made[0], bound=True).required, read.is_open)


def methods(line: list) -> Optional[dict]:
    """Of a class that submits jobs, each method, and None for attributes; else None."""
    if None in line:
        return None
    found: dict = {}
    for place in line:
        for node in place.node.body:
            if isinstance(node, ast.FunctionDef):
                words = [ast.unparse(one) for one in node.decorator_list]
                if node.name.startswith("_"):
                    continue
                plain = not any("property" in word or "setter" in word for word in words)
                found.setdefault(node.name, signature(node, "staticmethod" not in words) if plain else None)
        for node in ast.walk(place.node):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
                found.setdefault(node.attr, None)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.setdefault(node.target.id, None)
    return found if any(found.get(name) for name in SUBMITTING) else None


def row_of(name: str, read: Signature) -> dict:
    row: dict = {"name": name, "arguments": list(read.names)}
    if read.required:
        row["required"] = list(read.required)
    if read.is_open:
        row["open"] = True
    return row


def class_row(sources: Sources, place: Place) -> dict:
    line = sources.bases(place)
    row = row_of(place.node.name, constructor(line))
    known = methods(line)
    if known is None:
        return row
    row["methods"] = []
    for name in sorted(name for name, read in known.items() if read):
        one = row_of(name, known[name])
        if known[name].returns == place.node.name:
            one["returns_itself"] = True
        row["methods"].append(one)
    row["attributes"] = sorted(name for name, read in known.items() if not read and not name.startswith("_"))
    return row


def is_called(place: Place, wanted: tuple) -> bool:
    """Classes that are made in these modules or below their packages, and are no enumeration; what finds an image."""
    if not isinstance(place.node, ast.ClassDef):
        return place.module.endswith(".image_uris")
    near = place.module in wanted or place.module.startswith(SHAPES) or \
        place.module.rpartition(".")[0] in wanted and place.module.count(".") > 2
    near = near or place.module.rpartition(".")[0] in ("sagemaker.debugger", "sagemaker.training_compiler")
    return near and not any("Enum" in ast.unparse(base) for base in place.node.bases)


def read_modules() -> tuple[list, list]:
    """Rows of callables, each with the paths that it can be imported by; rows of modules with their names."""
    callables: dict = {}
    modules: list = []
    for package, wanted in MODULES.items():
        sources = Sources(folder_of(package).parents[0].parent)
        for module in wanted:
            names = sources.names(module)
            if not names:
                raise LookupError(f"{module} is not in {sources.top}")
            modules.append({"name": module, "names": sorted(name for name in names if not name.startswith("_"))})
            for name in names:
                place = sources.place(module, name)
                if place is None or name.startswith("_") or not is_called(place, wanted):
                    continue
                key = (str(sources.top), place.module, place.node.name)
                callables.setdefault(key, (sources, place, []))[2].append(f"{module}.{name}")
    rows = []
    for sources, place, paths in callables.values():
        is_class = isinstance(place.node, ast.ClassDef)
        row = class_row(sources, place) if is_class else row_of(place.node.name, signature(place.node, bound=False))
        rows.append({"paths": sorted(paths), **row})
    return sorted(rows, key=lambda row: row["paths"]), sorted(modules, key=lambda row: row["name"])


def flattened(callables: list, modules: list) -> dict:
    """A key for each callable, method and module."""
    flat: dict = {}
    for row in callables:
        plain = {key: value for key, value in row.items() if key != "methods"}
        flat[row["paths"][0]] = plain
        flat.update({f"{row['paths'][0]}.{one['name']}": one for one in row.get("methods", ())})
    return {**flat, **{row["name"]: row["names"] for row in modules}}


def refreshed(versions: str, check: bool) -> list[str]:
    """What moved, in the words of table.moved(); written unless `check`."""
    callables, modules = read_modules()
    old = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"sdk_callables": [], "sdk_modules": []}
    lines = differing("calls", flattened(old["sdk_callables"], old["sdk_modules"]), flattened(callables, modules))
    if lines and not check:
        date = datetime.date.today().isoformat()
        FILE.write_text(text_of(f"the sources of {versions}", date, callables, modules), encoding="utf-8")
    return lines


def lines_of(rows: list) -> str:
    return ",\n".join("    " + json.dumps(row) for row in rows)


def text_of(source: str, date: str, callables: list, modules: list) -> str:
    head = {"schema": "smplan.sagemaker/1",
            "note": "What launch scripts call of the SageMaker Python SDKs 2 and 3, and what they import. `open`: takes "
                    "other arguments too. Made by scripts/refresh sdk.",
            "source": source}
    words = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    return (f'{{\n{words}, "as_of": "{date}",\n  "sdk_callables": [\n{lines_of(callables)}\n  ],\n'
            f'  "sdk_modules": [\n{lines_of(modules)}\n  ]\n}}\n')
