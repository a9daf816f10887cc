#!/usr/bin/env python3
"""catalogs/data/sagemaker/sdk_calls.json against the SDK that is installed: what Python says that its classes, functions
and methods take, and what its modules hold. Usage: sdk_calls.py REPOSITORY
"""

import importlib
import inspect
import json
import os
import pathlib
import sys
import warnings


def parameters(made) -> list:
    own = ("self", "cls")
    return [one for one in inspect.signature(made).parameters.values() if one.name not in own]


def faults_of(path: str, row: dict, made) -> list[str]:
    """A table that lacks a name, or asks for one that has a default, would refuse what the SDK takes."""
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    taken = {one.name: one.default is one.empty for one in parameters(made) if one.kind in plain}
    if row.get("open") and not row["arguments"]:
        return []
    out = [f"{path} takes {name}, which the table lacks" for name in taken if name not in row["arguments"]
           and not name.startswith("_")]
    out += [f"{path} does not need {name}" for name in row.get("required", []) if not taken.get(name, True)]
    any_other = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters(made))
    # What **kwargs passes on to a constructor above, the table names.
    if any_other and not row.get("open") and set(row["arguments"]) == set(taken):
        out.append(f"{path} takes other names too")
    return out


def main() -> int:
    warnings.simplefilter("ignore")
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")  # some modules look for an endpoint as they are imported
    table = json.loads(pathlib.Path(sys.argv[1], "catalogs/data/sagemaker/sdk_calls.json").read_text(encoding="utf-8"))
    faults, read = [], 0
    for row in table["sdk_callables"]:
        for path in row["paths"]:
            module, _, name = path.rpartition(".")
            try:
                made = getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError):  # of the other SDK
                continue
            read += 1
            if row.get("open") and "methods" not in row:
                continue
            faults += faults_of(path, row, made)
            for method in row.get("methods", []):
                if not method["name"].startswith("model_"):
                    faults += faults_of(f"{path}.{method['name']}", method, getattr(made, method["name"]))
    for row in table["sdk_modules"]:
        if row["name"].count(".") == 0:  # a package of several distributions
            continue
        try:
            module = importlib.import_module(row["name"])
        except ImportError:
            continue
        faults += [f"{row['name']} has {name}, which the table lacks" for name in dir(module)
                   if not name.startswith("_") and name not in row["names"]]
    print("".join(f"{fault}\n" for fault in faults), end="")
    print(f"{read} classes and functions are as the table says" if not faults else f"{len(faults)} differ")
    return int(bool(faults) or read < 50)


if __name__ == "__main__":
    sys.exit(main())
