"""What the SageMaker Python SDKs say in their sources, against what is shipped of it: the versions that SDK 2 knows by
name, the accounts of registries, and the arguments of SDK 3's ModelTrainer and of the trainers beside it."""

import ast
import json
import os
import pathlib
import re
import sys

DATA = pathlib.Path(__file__).resolve().parents[2] / "catalogs/data"
# Regions of partitions that no public price list has: AWS opens them to named customers.
ISOLATED = re.compile(r"(us|eu)-iso")


def folder_of(package: str) -> pathlib.Path:
    for entry in sys.path:
        if pathlib.Path(entry or os.getcwd(), package).is_dir():
            return pathlib.Path(entry or os.getcwd(), package)
    raise ImportError(f"{package} is not on the path")


def versions() -> str:
    """Of the packages that are on the path, by their metadata folders."""
    found = []
    for package in ("sagemaker/image_uri_config", "sagemaker/core", "sagemaker/train"):
        top = folder_of(package).parents[1]
        names = {"core": "sagemaker_core", "train": "sagemaker_train"}
        name = names.get(package.rpartition("/")[2], "sagemaker")
        found += [one.name.removesuffix(".dist-info") for one in sorted(top.glob(f"{name}-*.dist-info"))]
    return ", ".join(found)


def document(name: str) -> dict:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def flattened(versions: dict) -> dict:
    """Hugging Face's tables have the version of PyTorch or TensorFlow below their own."""
    flat = {}
    for version, row in versions.items():
        inner = {f"{version}/{key}": one for key, one in row.items()
                 if isinstance(one, dict) and re.fullmatch(r"(pytorch|tensorflow)[\d.]+", key)}
        flat.update(inner or {version: row})
    return flat


def differing(name: str, before: dict, after: dict) -> list[str]:
    """Lines in the words of table.moved()."""
    lines = []
    for key in sorted(before.keys() | after.keys()):
        if key not in before:
            lines.append(f"+ {name} {key} {json.dumps(after[key])}")
        elif key not in after:
            lines.append(f"- {name} {key}")
        elif before[key] != after[key]:
            lines.append(f"~ {name} {key}: {json.dumps(before[key])} -> {json.dumps(after[key])}")
    return lines


def versions_moved() -> list[str]:
    """containers.json, framework_versions, against the tables of SDK 2."""
    folder = folder_of("sagemaker/image_uri_config")
    shipped: dict = {}
    for row in document("containers.json")["framework_versions"]:
        shipped.setdefault(row["table"], {})[row["version"]] = [row["repository"], sorted(row["pythons"])]
    lines = []
    for table, rows in shipped.items():
        file = json.loads((folder / f"{table}.json").read_text(encoding="utf-8"))
        read = {}
        for version, row in flattened(file.get("training", file)["versions"]).items():
            # A table that says no Python leaves the choice to SDK's code.
            pythons = row["py_versions"] if "py_versions" in row else rows.get(version, [0, []])[1]
            read[version] = [row.get("repository", rows.get(version, [""])[0]), sorted(pythons)]
        lines += differing(f"versions of {table}", rows, read)
    return lines


def registries_moved() -> list[str]:
    """containers.json, registries: accounts by region, as the newest version of each table has them."""
    folder = folder_of("sagemaker/core") / "image_uri_config"
    lines = []
    for key, table in (("deep-learning-containers", "pytorch"), ("smp-v2", "pytorch-smp")):
        row = next(one for one in document("containers.json")["registries"] if one["key"] == key)
        shipped = {region: one["account"] for one in row["accounts"] for region in one["regions"]}
        versions = json.loads((folder / f"{table}.json").read_text(encoding="utf-8"))["training"]["versions"]
        read = {region: account for region, account in list(versions.values())[-1]["registries"].items()
                if not ISOLATED.match(region)}
        lines += differing(f"registry of {key}", shipped, read)
    return lines


def class_of(file: pathlib.Path, name: str) -> ast.ClassDef:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return next(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name)


def arguments_of(made: ast.ClassDef) -> set:
    """Of its constructor, where it has one that names them; else its fields. `with_x()` sets what the class keeps as _x."""
    for node in made.body:
        named = isinstance(node, ast.FunctionDef) and node.name == "__init__"
        if named and not (node.args.kwarg and len(node.args.args) < 3):
            return {one.arg for one in (*node.args.args, *node.args.kwonlyargs)} - {"self", "data"}
    fields = [node.target.id for node in made.body if isinstance(node, ast.AnnAssign)]
    return {name for name in fields if not name.isupper() and not name.startswith("_")}


def trainers_moved() -> list[str]:
    """sdk_arguments.json: ModelTrainer, and the classes beside it."""
    folder = folder_of("sagemaker/train")
    shipped = document("sagemaker/sdk_arguments.json")
    trainers = {**{word: None for word in shipped["model_trainer"]}}
    made = class_of(folder / "model_trainer.py", "ModelTrainer")
    read = {word: None for word in arguments_of(made) | set_by_methods(made)}
    lines = differing("ModelTrainer", trainers, read)
    # Files of trainers: sft_trainer.py has SFTTrainer.
    found = {node.name: None for file in sorted(folder.glob("*_trainer.py")) for node in
             ast.parse(file.read_text(encoding="utf-8")).body
             if isinstance(node, ast.ClassDef) and node.name.endswith("Trainer")}
    others = {name: None for name in found if name not in ("ModelTrainer", "BaseTrainer")}
    return lines + differing("trainers", {name: None for name in shipped["sdk3_trainers"]}, others)


def set_by_methods(made: ast.ClassDef) -> set:
    """Private fields that a method `with_...` fills, which the guard of ModelTrainer reads as settings too."""
    kept = {node.target.id.removeprefix("_") for node in made.body
            if isinstance(node, ast.AnnAssign) and node.target.id.startswith("_")}
    methods = [node for node in made.body if isinstance(node, ast.FunctionDef) and node.name.startswith("with_")]
    set_there = {target.attr.removeprefix("_") for method in methods for node in ast.walk(method)
                 if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Attribute)}
    return kept & set_there


def moved() -> list[str]:
    return [*versions_moved(), *registries_moved(), *trainers_moved()]
