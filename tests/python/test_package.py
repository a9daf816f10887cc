"""The package as it is imported, typed, documented and started."""

import doctest
import importlib
import importlib.util
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import smplan
from conftest import ROOT

PACKAGE = Path(smplan.__file__).parent
MODULES = [name for _, name, _ in pkgutil.iter_modules([str(PACKAGE)]) if name not in ("__main__", "_core")]
EXTRAS = ("numpy", "pandas", "matplotlib", "tqdm", "dask", "sagemaker", "boto3")


def python(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=300, check=False, **options)


def test_import_is_quick_and_brings_no_extra():
    # What an import costs in time differs by machine and neighbours, so the test counts what it loads: no extra, and none
    # of the standard library's heavy parts. The time itself is far from a second, on any machine.
    heavy = ("asyncio", "concurrent.futures", "email", "http", "logging", "multiprocessing", "socket", "ssl", "unittest",
             "urllib.request", "xml")
    program = ("import sys, time; before = set(sys.modules); begin = time.process_time(); import smplan; "
               "print(time.process_time() - begin, *sorted(set(sys.modules) - before))")
    spent, *loaded = python("-I", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {program}").stdout.split()
    assert "smplan._core" in loaded
    assert not {*EXTRAS, *heavy} & set(loaded)
    assert len(loaded) < 120, loaded
    assert float(spent) < 1


def test_everything_public_is_documented():
    for name in smplan.__all__:
        thing = getattr(smplan, name)
        if name in ("__version__", "export_targets", "rl_export_targets"):
            continue
        assert ">>> " in (inspect.getdoc(thing) or ""), f"{name} has no example"
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if member.startswith("_") or not (callable(value) or isinstance(value, property)):
                continue
            assert inspect.getdoc(value), f"{name}.{member}"


@pytest.mark.parametrize("name", [*MODULES, ""])
def test_examples_in_docstrings_hold(name):
    module = importlib.import_module(f"smplan.{name}" if name else "smplan")
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_examples_of_the_native_module_hold():
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    tests = [test for test in finder.find(smplan.Catalog, "Catalog", module=False) if test.examples]
    assert len(tests) >= 2
    for test in tests:
        assert runner.run(test).failed == 0


def test_package_is_typed_to_the_last_line():
    """mypy --strict over the package as it lies in the source tree."""
    checked = python("-m", "mypy", "--strict", "--cache-dir", os.devnull, "-p", "smplan", cwd=ROOT,
                     env={**os.environ, "MYPYPATH": str(ROOT / "bindings"), "PYTHONPATH": ""})
    assert checked.returncode == 0, checked.stdout + checked.stderr


def python_of_pages():
    """Page to its Python blocks, as tests/docs/run.py runs them: one session a page."""
    spec = importlib.util.spec_from_file_location("docs_run", ROOT / "tests/docs/run.py")
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    pages = {}
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        blocks = reader.blocks_of(page.read_text(encoding="utf-8").splitlines())
        lines = [line for block in blocks if block.kind == "python" for line in block.lines]
        if lines:
            pages[page.stem] = "\n".join(lines) + "\n"
    return pages


def test_python_of_the_pages_is_typed(tmp_path):
    """mypy --strict as whoever copies from a page would run it: what the package imports is not judged again."""
    pages = python_of_pages()
    assert "smplan.plan(" in pages["README"]
    for name, text in pages.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    checked = python("-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", os.devnull, "--config-file=", ".",
                     cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT / "bindings"), "PYTHONPATH": ""})
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_stubs_of_the_native_module_are_true():
    checked = python("-m", "mypy.stubtest", "smplan._core", "--ignore-missing-stub", "--ignore-unused-allowlist", "--allowlist",
                     str(ROOT / "tests/python/stub_allowlist.txt"), cwd=ROOT,
                     env={**os.environ, "MYPY_CACHE_DIR": os.devnull})
    assert checked.returncode == 0, checked.stdout + checked.stderr
    native = {name for name in vars(smplan._core) if not name.startswith("_")}
    stub = (PACKAGE / "_core.pyi").read_text(encoding="utf-8")
    assert all(f"def {name}(" in stub or f"class {name}:" in stub or f"\n{name}: " in stub for name in native), native


def test_module_is_the_command_line(cli):
    for arguments in (["--version"], ["plan", "--help"], ["plan", "--params", "x"], ["nonsense"]):
        ours, theirs = python("-m", "smplan", *arguments), cli(*arguments)
        assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_module_checks_launch_scripts(tmp_path):
    script = tmp_path / "launch.py"
    script.write_text("from sagemaker.pytorch import PyTorch\n"
                      "job = PyTorch(entry_point='train.py', role='r', instance_type='ml.p4d.24xlarge',\n"
                      "              instance_count=2, use_spot_instances=True,\n"
                      "              max_run=3600, max_wait=60)\n", encoding="utf-8")
    checked = python("-m", "smplan", "check", str(script))
    assert checked.returncode == 1 and "launch.py:4" in checked.stdout


def test_package_has_its_marker():
    assert (PACKAGE / "py.typed").is_file()
