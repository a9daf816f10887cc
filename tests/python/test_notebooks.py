"""Every notebook runs from top to bottom, and none is committed with outputs."""

import ast
import json
import pathlib

import pytest

matplotlib = pytest.importorskip("matplotlib")
NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def code_cells(notebook):
    return [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def run_cell(source, scope):
    """As a notebook runs it: the value of a last expression is shown, as HTML where it can be."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), scope)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), scope)
    return value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 9


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(notebook):
    for cell in code_cells(notebook):
        assert cell["outputs"] == [] and cell["execution_count"] is None


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_tells_its_story(notebook, capsys, monkeypatch):
    matplotlib.use("Agg")
    monkeypatch.chdir(notebook.parent)
    scope, shown = {}, []
    for cell in code_cells(notebook):
        shown.append(run_cell("".join(cell["source"]), scope))
    printed = capsys.readouterr().out
    assert printed or any(shown)
    assert "nan" not in printed.lower().split()
    assert "None" not in printed.split(), "a missing value was printed"
    from matplotlib import pyplot

    pyplot.close("all")
