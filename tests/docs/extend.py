#!/usr/bin/env python3
"""Copies the files that the diffs of docs/extending.md change, and applies the diffs to the copies.

The copies of catalogs/data are of tests/data/frozen, whose figures the page shows. The diffs must apply to the sources
of this version too, which is what a reader has.

usage: extend.py ROOT OUT FILE...     (FILEs are copied whether they change or not; a diff of another file is a fault)
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def shipped(name: str) -> str:
    return name


def frozen(name: str) -> str:
    return name.replace("catalogs/data/", "tests/data/frozen/")


def copy(root: pathlib.Path, out: pathlib.Path, files: list, original) -> None:
    for name in files:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / original(name), out / name)


def apply(diff: str, folder: pathlib.Path, original) -> None:
    name = name_of(diff)
    done = subprocess.run(["patch", "--strip=1", "--fuzz=2", "--batch", "--no-backup-if-mismatch"], cwd=folder,
                          input=diff.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"docs/extending.md: the diff of {name} does not apply to {original(name)} (let its lines of context be some"
                 f" that the shipped file and the frozen one share):\n{done.stdout.decode()}")


def name_of(diff: str) -> str:
    return re.match(r"--- a/(\S+)\n", diff).group(1)


def main() -> int:
    root, out, files = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    page = (root / "docs/extending.md").read_text(encoding="utf-8")
    diffs = re.findall(r"^```diff\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    rules = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "planner/preflight/rules").glob("*.cpp")))
    for diff in diffs:
        for rule in re.findall(r'^\+ *\{"(C\d+)"', diff, re.MULTILINE):
            if f'{{"{rule}"' in rules:
                sys.exit(f"docs/extending.md adds the rule {rule}, which there is already: take the next free number")
        if name_of(diff) not in files:
            sys.exit(f"docs/extending.md changes {name_of(diff)}, which tests/docs/CMakeLists.txt does not build")
    with tempfile.TemporaryDirectory() as scratch:
        for folder, original in ((pathlib.Path(scratch), shipped), (out, frozen)):
            copy(root, folder, files, original)
            for diff in diffs:
                apply(diff, folder, original)
    return 0


if __name__ == "__main__":
    sys.exit(main())
