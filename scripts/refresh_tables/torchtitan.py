"""TorchTitan's TOML: the dataclasses of JobConfig. The module is read by itself, so that PyTorch is not needed."""

import ast
import dataclasses
import importlib.metadata
import importlib.util
import os
import pathlib
import sys
import typing

from refresh_tables.annotations import described
from refresh_tables.table import Section, Table

FILES = ("torchtitan/config/job_config.py", "torchtitan/config_manager.py")  # since 0.2.0, before


def source_file() -> pathlib.Path:
    for entry in sys.path:
        for file in FILES:
            found = pathlib.Path(entry or os.getcwd(), file)
            if found.exists():
                return found
    raise ImportError("no torchtitan with a JobConfig is on the path (newer ones read no TOML)")


def version_of(file: pathlib.Path) -> str:
    root = file.parents[2] if file.parent.name == "config" else file.parents[1]
    stated = root / "assets/version.txt"
    if stated.exists():
        return stated.read_text(encoding="utf-8").strip()
    return importlib.metadata.version("torchtitan")


def walk(made, path: str, sections: list) -> None:
    section = Section(path, "plain", "refused")
    sections.append(section)
    types = typing.get_type_hints(made)
    for one in dataclasses.fields(made):
        inner = types[one.name]
        if dataclasses.is_dataclass(inner):
            where = f"{path}.{one.name}" if path else one.name
            section.add(one.name, types=["object"], section=where)
            walk(inner, where, sections)
            continue
        default = one.default
        if default is dataclasses.MISSING:
            default = one.default_factory() if one.default_factory is not dataclasses.MISSING else None
        section.add(one.name, **described(inner), default=default)


def named_words(file: pathlib.Path, ending: str) -> list:
    """Words of the lists, and keys of the dictionaries, that the file gives names with that ending."""
    words = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Assign) or not getattr(node.targets[0], "id", "").endswith(ending):
            continue
        entries = node.value.keys if isinstance(node.value, ast.Dict) else ast.walk(node.value)
        words += [one.value for one in entries if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return words


def add_models(root: pathlib.Path, sections: list) -> None:
    """Names and flavors of the models: of each model its own section, which has its flavors. A program of the user's own
    may register others."""
    models = root / "torchtitan/models"
    listed = sorted(named_words(models / "__init__.py", "_supported_models"))
    experiments = sorted(named_words(root / "torchtitan/experiments/__init__.py", "_supported_experiments"))
    if not listed:
        raise ImportError(f"{models} lists no models")
    by_path = {section.path: section for section in sections}
    next(row for row in by_path[""].fields if row["name"] == "model")["section_of"] = "name"
    for name in listed:
        package = models / name / "__init__.py"
        flavors = named_words(package, "_args") + named_words(package, "_configs")
        rows = [dict(row) for row in by_path["model"].fields]
        own = next(row for row in rows if row["name"] == "flavor")
        if flavors:
            own["values"], own["own"] = flavors, True
        sections.append(Section(f"model:{name}", "plain", "refused", rows))
    optimizer = next(row for row in by_path["optimizer"].fields if row["name"] == "name")
    optimizer["values"] = named_words(root / "torchtitan/components/optimizer.py", "optimizer_classes")
    data = named_words(root / "torchtitan/hf_datasets/text_datasets.py", "DATASETS")
    for path in ("training", "validation"):
        row = next(row for row in by_path[path].fields if row["name"] == "dataset")
        row["values"], row["own"] = [word for word in data if word.isidentifier()], True
    names = next(row for row in by_path["model"].fields if row["name"] == "name")
    names["values"], names["own"] = [*listed, *experiments], True


def read() -> Table:
    import stand_in

    file = source_file()
    try:
        import torch  # noqa: F401
    except ImportError:
        stand_in.torch()
    try:
        import tyro  # noqa: F401
    except ImportError:
        stand_in.replace("tyro")
    root = str(file.parents[2] if file.parent.name == "config" else file.parents[1])
    if root not in sys.path:
        sys.path.insert(0, root)
    stand_in.replace("torchtitan")
    spec = importlib.util.spec_from_file_location("job_config_of_torchtitan", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    sections: list = []
    walk(module.JobConfig, "", sections)
    add_models(pathlib.Path(root), sections)
    version = version_of(file)
    return Table("torchtitan", version, f"TorchTitan v{version}, {'/'.join(file.parts[-2:])}", sections)
