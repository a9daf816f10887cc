#!/usr/bin/env python3
"""Runs the commands of a transcript and compares what they print with what stands there.

    # what the case is about, where that is worth saying
    $ NAME=value smplan check - < inputs/file
    standard output as it is
    ! a line of standard error
    exit 2

Behind `exit N` and an empty line the next command may follow, with comments of its own. A command runs in the folder of
the transcript, without a shell. Output that ends in the middle of a line is followed by the line
`\\ no newline at the end`. Text must agree exactly, numbers to 1e-9 relative.

Usage: run.py PROGRAM TRANSCRIPT [SECONDS]     (SMPLAN_UPDATE_GOLDEN=1 writes what is found; comments stay)
"""

import dataclasses
import itertools
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
VARIABLE = re.compile(r"[A-Z_]+=")
EXIT = re.compile(r"exit -?\d+")
NO_NEWLINE = "\\ no newline at the end"


@dataclasses.dataclass
class Step:
    comments: list[str]
    command: str  # without the `$ `
    first: int  # number of the line behind it
    shown: list[str]  # up to `exit N`

    def lines(self, printed: list[str]) -> list[str]:
        return [*self.comments, f"$ {self.command}", *printed]


def steps_of(name: str, text: str) -> list[Step]:
    steps, lines, at = [], text.removesuffix("\n").split("\n"), 0
    while at < len(lines):
        start = at
        while at < len(lines) and lines[at].startswith("#"):
            at += 1
        if at == len(lines) or not lines[at].startswith("$ "):
            raise SystemExit(f"{name}:{at + 1}: must be a comment or a `$ command`")
        end = next((i for i in range(at + 1, len(lines)) if EXIT.fullmatch(lines[i])), len(lines) - 1) + 1
        steps.append(Step(lines[start:at], lines[at][2:], at + 2, lines[at + 1 : end]))
        if end < len(lines) and lines[end] != "":
            raise SystemExit(f"{name}:{end + 1}: must be empty, behind `{lines[end - 1]}`")
        at = end + 1
    return steps


def run(program: str, command: str, folder: pathlib.Path, seconds: float) -> list[str]:
    """What a command prints and how it ends, as a transcript shows it."""
    words, variables = shlex.split(command), {}
    while words and VARIABLE.match(words[0]):
        name, variables[name] = words.pop(0).split("=", 1)
    if not words or words[0] != "smplan":
        raise SystemExit(f"`{command}` must run smplan")
    given = b""
    if len(words) > 2 and words[-2] == "<":
        given = (folder / words[-1]).read_bytes()
        words = words[:-2]
    process = subprocess.run(
        [program, *words[1:]],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "SOURCE_DATE_EPOCH": TODAY, **variables},
        input=given,
        capture_output=True,
        timeout=seconds,
    )
    out = IDENTITY.sub('"identity":"(by the build)"', process.stdout.decode())
    errors = (f"! {line}" if line else "!" for line in lines_of(process.stderr.decode()))
    return [*output_lines(command, out), *errors, f"exit {process.returncode}"]


def lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [*lines, last, NO_NEWLINE] if last else lines


def output_lines(command: str, text: str) -> list[str]:
    for line in text.split("\n"):
        if line == "!" or line.startswith("! ") or line == NO_NEWLINE or EXIT.fullmatch(line):
            raise SystemExit(f"`{command}` prints {line!r}, which means something else in a transcript")
    return lines_of(text)


def differs(expected: str, found: str) -> bool:
    if NUMBER.sub("#", expected) != NUMBER.sub("#", found):
        return True
    for a, b in zip(NUMBER.findall(expected), NUMBER.findall(found)):
        x, y = float(a), float(b)
        if abs(x - y) > RELATIVE_TOLERANCE * max(abs(x), abs(y)):
            return True
    return False


def faults_of(name: str, step: Step, printed: list[str]) -> list[str]:
    pairs = itertools.zip_longest(step.shown, printed, fillvalue="(nothing)")
    return [
        f"{name}:{number}\n  expected: {expected}\n  found:    {found}"
        for number, (expected, found) in enumerate(pairs, step.first)
        if differs(expected, found)
    ]


def main() -> int:
    program, path = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 120
    steps = steps_of(path.name, path.read_bytes().decode())
    printed = [run(program, step.command, path.parent, seconds) for step in steps]
    if os.environ.get("SMPLAN_UPDATE_GOLDEN") == "1":
        parts = ("".join(f"{line}\n" for line in step.lines(found)) for step, found in zip(steps, printed))
        path.write_bytes("\n".join(parts).encode())
        return 0
    faults = [fault for step, found in zip(steps, printed) for fault in faults_of(path.name, step, found)]
    if faults:
        print(*faults, "SMPLAN_UPDATE_GOLDEN=1 rewrites the transcript; read the diff before committing it.", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
