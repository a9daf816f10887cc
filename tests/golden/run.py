#!/usr/bin/env python3
"""Runs one golden case: `cmd` in the case's folder, its output against `stdout`, `stderr` and `exit`.

Text must agree exactly, numbers to 1e-9 relative. SMPLAN_UPDATE_GOLDEN=1 writes what is found instead.
Usage: run.py SMPLAN_BINARY CASE_FOLDER [SECONDS]
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
RELATIVE_TOLERANCE = 1e-9
# Of a sweep's line: changes with every source.
IDENTITY = re.compile(r'"identity":"[0-9a-f]{16}"')
# Ages of prices are counted to this day.
TODAY = "1795219200"  # 2026-11-21


def run(binary: str, case: pathlib.Path, seconds: float) -> dict[str, str]:
    words = shlex.split((case / "cmd").read_text())
    if words[0] != "smplan":
        raise SystemExit(f"{case}/cmd: must start with smplan")
    given = case / "stdin"
    process = subprocess.run(
        [binary, *words[1:]],
        cwd=case,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "SOURCE_DATE_EPOCH": TODAY, **environment(case)},
        input=given.read_bytes() if given.exists() else b"",
        capture_output=True,
        timeout=seconds,
    )
    return {
        "stdout": IDENTITY.sub('"identity":"(by the build)"', process.stdout.decode()),
        "stderr": process.stderr.decode(),
        "exit": f"{process.returncode}\n",
    }


def environment(case: pathlib.Path) -> dict[str, str]:
    path = case / "env"
    if not path.exists():
        return {}
    return dict(line.split("=", 1) for line in path.read_text().splitlines() if line)


def differs(expected: str, found: str) -> bool:
    if NUMBER.sub("#", expected) != NUMBER.sub("#", found):
        return True
    for a, b in zip(NUMBER.findall(expected), NUMBER.findall(found)):
        x, y = float(a), float(b)
        if abs(x - y) > RELATIVE_TOLERANCE * max(abs(x), abs(y)):
            return True
    return False


def main() -> int:
    binary, case = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    found = run(binary, case, float(sys.argv[3]) if len(sys.argv) > 3 else 120)
    if os.environ.get("SMPLAN_UPDATE_GOLDEN") == "1":
        for name, text in found.items():
            (case / name).write_text(text)
        return 0
    failed = False
    for name, text in found.items():
        path = case / name
        expected = path.read_text() if path.exists() else ""
        expected_lines, found_lines = expected.splitlines(), text.splitlines()
        for i in range(max(len(expected_lines), len(found_lines))):
            a = expected_lines[i] if i < len(expected_lines) else "(nothing)"
            b = found_lines[i] if i < len(found_lines) else "(nothing)"
            if differs(a, b):
                print(f"{case.name}/{name}:{i + 1}\n  expected: {a}\n  found:    {b}")
                failed = True
    if failed:
        print("SMPLAN_UPDATE_GOLDEN=1 rewrites the expectation; read the diff before committing it.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
