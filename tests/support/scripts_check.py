#!/usr/bin/env python3
"""Starts every script of scripts/ in a copy of the sources, far enough to prove that it works at all: a script that
builds is run up to the build, whose targets must exist; another up to what it says of wrong arguments, or to its end.

Usage: scripts_check.py SOURCE SMPLAN_BINARY
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path()
BINARY = ""
BUILDS = 77  # what the stub of cmake ends with, where a script would build

# A script, its arguments, its exit status and what it says. {smplan} is the program, {work} an empty folder.
STARTED = {
    "accuracy": (["/nowhere"], 2, "/nowhere is missing"),
    "build": ([], BUILDS, ""),
    "calibrate": (["2026-13-01", "{smplan}"], 1, "returned non-zero"),
    "check_files": (["tests/data/jobs/samples/20c_seed002_ps.json"], 0, "0 errors"),
    "checks_page": ([], 0, ""),
    "coverage": ([], 1, f"status {BUILDS}"),
    "drills": ([], 1, "a dimension of the strategy (expert_tensor): "),
    "fuzz": (["1"], BUILDS, ""),
    "growth": (["/nowhere"], 1, "| candidates |"),
    "import_api.py": (["everything"], 2, "Usage"),
    "import_runs.py": ([], 2, "Usage"),
    "lint": (["everything"], 2, "usage"),
    "mutation": (["--mutants", "0", "--build", "{work}", "base"], 1, "compdb"),
    "package": ([], BUILDS, ""),
    "plan_schema": (["{work}/schema.json"], 1, "No module named 'smplan'"),
    "prebuilt": (["{smplan}", "{work}/program"], 0, "{work}/program/program"),
    "properties": (["1"], BUILDS, ""),
    "python_page": (["{work}/python.md"], 1, "No module named 'smplan'"),
    "recipe_files": (["/nowhere"], 2, "/nowhere/recipes_collection/recipes is missing"),
    "recipes": (["/nowhere"], 2, "/nowhere is missing"),
    "refresh": (["everything"], 2, "Usage"),
    "reproduce": ([], BUILDS, ""),
    "run": (["--version"], BUILDS, ""),
    "runs/normalise": (["tests/measured/runs/smp_mics.csv", "{work}/typed.csv"], 0, ""),
    "sanitize": (["address"], BUILDS, ""),
    "trust": ([], BUILDS, ""),
    "valgrind": ([], BUILDS, ""),
    "wheel": (["--help"], 0, "usage"),
}
# Run whole by scripts/test, or by a test of their own.
RUN_ELSEWHERE = {"bootstrap": "scripts/test", "oracles": "scripts/test", "test": ".ci/run",
                 "training": "scripts/test",
                 "measure_trainer.py": "tests/python/test_measure_trainer.py", "probe.py": "tests/python/test_probe.py",
                 "venv": "scripts/test", "wheel_dependencies": "scripts/wheel"}

# Configures for real; of a build it asks only whether the targets are there.
CMAKE = """#!/bin/sh
[ "$1" = --build ] || exec {cmake} "$@"
folder=$2
shift 2
targets=
while [ $# -gt 0 ]; do
  case $1 in --target) ;; -*) break ;; *) targets="$targets $1" ;; esac
  shift
done
{ninja} -C "$folder" -n $targets >/dev/null || exit 1
exit {builds}
"""
# What only runs on code that clang built is not started here, so that g++ will do.
CLANG = """#!/bin/sh
for word; do
  shift
  case $word in -fsanitize=*) ;; *) set -- "$@" "$word" ;; esac
done
exec g++ "$@"
"""


def write_stubs(folder: pathlib.Path) -> None:
    stubs = {"cmake": CMAKE.format(cmake=shutil.which("cmake"), ninja=shutil.which("ninja"), builds=BUILDS),
             "dpkg-query": "#!/bin/sh\nprintf installed\n"}  # nothing is to be installed here
    if shutil.which("clang++") is None:
        stubs["clang++"] = CLANG
    for name, text in stubs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


class Scripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = pathlib.Path(cls.folder.name)
        cls.copy = cls.work / "smplan"
        files = subprocess.run(["git", "-c", f"safe.directory={SOURCE}", "ls-files", "-co", "--exclude-standard"], cwd=SOURCE,
                               check=True, capture_output=True, text=True).stdout.splitlines()
        for name in files:
            if (SOURCE / name).is_file():
                (cls.copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(SOURCE / name, cls.copy / name)
        who = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
        for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "A copy"]):
            subprocess.run(["git", *command], cwd=cls.copy, check=True)
        (cls.work / "bin").mkdir()
        write_stubs(cls.work / "bin")

    def start(self, name):
        arguments, status, says = STARTED[name]
        # Scripts configure folders of one tree, and the build folder is that of several: each has its own copy.
        copy = self.work / name / "smplan"
        subprocess.run(["git", "clone", "-q", str(self.copy), str(copy)], check=True)
        # Nothing is installed here: scripts/venv finds its packages there.
        (copy / "build/venv").mkdir(parents=True)
        shutil.copy(copy / "tests/python/requirements.txt", copy / "build/venv/installed.txt")
        places = {"smplan": BINARY, "work": self.work / name}
        environment = {"PATH": f"{self.work}/bin:{os.environ['PATH']}", "HOME": str(self.work), "SMPLAN": BINARY}
        done = subprocess.run([copy / "scripts" / name, *(word.format(**places) for word in arguments)], cwd=copy,
                              env=environment, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
        said = done.stdout + done.stderr
        return name, done.returncode, status, says.format(**places) in said, said[-1500:]

    def test_every_script_starts(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, found, wanted, says, said in pool.map(self.start, STARTED):
                with self.subTest(name):
                    self.assertEqual(found, wanted, said)
                    self.assertTrue(says, said)

    def test_every_script_is_named_here(self):
        scripts = {path.name for path in (SOURCE / "scripts").iterdir() if path.is_file() and path.suffix != ".txt"}
        scripts.add("runs/normalise")
        self.assertEqual(scripts, STARTED.keys() | RUN_ELSEWHERE.keys())
        for name, place in RUN_ELSEWHERE.items():
            self.assertIn(f"scripts/{name}", (SOURCE / place).read_text())

    def test_every_module_compiles(self):
        for path in (SOURCE / "scripts").rglob("*.py"):
            compile(path.read_text(), path, "exec")


if __name__ == "__main__":
    SOURCE, BINARY = pathlib.Path(sys.argv.pop(1)).resolve(), os.path.abspath(sys.argv.pop(1))
    unittest.main()
