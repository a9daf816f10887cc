"""The modules of the package form layers: no circle of imports, wherever an import stands."""

import ast
import graphlib

import pytest

from conftest import ROOT

# The native module looks up the classes of what it raises when it raises, and its stub names them.
RAISES = ("_core", "_errors")


def imports_of(tree, package, modules):
    """Modules of the package that a syntax tree imports: at the top, inside functions, and for types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(filter(None, [package if node.level else "", node.module]))
            paths = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for parts in (path.split(".") for path in paths):
            if parts[0] == package:
                yield parts[1] if len(parts) > 1 and parts[1] in modules else "__init__"


def graph_of(folder):
    """Each module of a package with the modules that it imports. Stubs stand for native modules."""
    files = {path.stem: path for path in folder.iterdir() if path.suffix in (".py", ".pyi")}
    return {name: set(imports_of(ast.parse(path.read_text(encoding="utf-8")), folder.name, files))
            for name, path in sorted(files.items())}


def circle_of(graph):
    """A circle as `a imports b imports a`; empty if there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return ""


def test_modules_form_layers():
    graph = graph_of(ROOT / "bindings/smplan")
    importer, imported = RAISES
    graph[importer].remove(imported)
    assert len(graph["__init__"]) > 10 and imported in graph["_plans"]
    assert circle_of(graph) == ""


@pytest.mark.parametrize("upwards", [
    "from shop._top import sell",
    "from shop import _top",
    "from . import _top",
    "from ._top import sell",
    "import shop._top",
    "import shop",
    "def f():\n    from shop._top import sell",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shop._top import Sale",
    "",
])
def test_a_circle_is_found(tmp_path, upwards):
    package = tmp_path / "shop"
    package.mkdir()
    for name, text in (("__init__", "from shop._top import sell"), ("_top", "import json\nfrom shop import _low\n"),
                       ("_low", upwards)):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    circle = circle_of(graph_of(package))
    assert bool(circle) == bool(upwards)
    assert not upwards or ("_low imports " in circle and "_top imports _low" in circle), circle
