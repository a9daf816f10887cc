"""TorchTitan's TOML: the dataclasses of JobConfig. The module is read by itself, so that PyTorch is not needed."""

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
    version = version_of(file)
    return Table("torchtitan", version, f"TorchTitan v{version}, {'/'.join(file.parts[-2:])}", sections)
