#!/usr/bin/env python3
"""Copies the files that the diffs of docs/extending.md change, and applies the diffs to the copies.

usage: extend.py ROOT OUT FILE...     (FILEs are copied whether they change or not; a diff of another file is a fault)
"""

import pathlib
import re
import shutil
import subprocess
import sys


def main() -> int:
    root, out, files = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    for name in files:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, out / name)
    page = (root / "docs/extending.md").read_text(encoding="utf-8")
    diffs = re.findall(r"^```diff\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    rules = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "planner/preflight/rules").glob("*.cpp")))
    for diff in diffs:
        for rule in re.findall(r'^\+ *\{"(C\d+)"', diff, re.MULTILINE):
            if f'{{"{rule}"' in rules:
                sys.exit(f"docs/extending.md adds the rule {rule}, which there is already: take the next free number")
        name = re.match(r"--- a/(\S+)\n", diff).group(1)
        if name not in files:
            sys.exit(f"docs/extending.md changes {name}, which tests/docs/CMakeLists.txt does not build")
        done = subprocess.run(["patch", "--strip=1", "--fuzz=2", "--batch", "--no-backup-if-mismatch"], cwd=out,
                              input=diff.encode(), capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"docs/extending.md: the diff of {name} does not apply:\n{done.stdout.decode()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
