#!/usr/bin/env -S python3 -P
"""Fits what a run needs beside its allocated peak where memory ends, to tests/measured/trainer_limits.csv.

    scripts/fit/limit_memory.py [SMPLAN]        (default: build/smplan)

A run needs a part of the peak (`fragments_at_limit`) and a part of the blocks that lie idle beside it (`idle_at_limit`,
both in models/engines/memory_constants.hpp). The measured need is the middle between the last limit that a run failed at
and the first at which it ran; idle blocks follow from what `smplan validate` wants of the run. Least squares over all
runs, in parts of the peak.
"""
import csv
import io
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONSTANTS = (ROOT / "models/engines/memory_constants.hpp").read_text()
BEYOND = 6  # percent that a run needs beyond the last limit, where it failed at all


def constant(name):
    return float(re.search(rf"{name} = (?:gib\()?([\d.]+)", CONSTANTS).group(1))


def needs():
    trials = {}
    with open(ROOT / "tests/measured/trainer_limits.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["limit_pct"]:
                trials.setdefault(row["id"], []).append((float(row["limit_pct"]), row["oom"] == "1"))
    for name, tried in trials.items():
        failed = max((limit for limit, out in tried if out), default=0)
        ran = min((limit for limit, out in tried if not out), default=failed + BEYOND)
        yield name, (failed + ran) / 200


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/smplan"
    command = [binary, "validate", ROOT / "tests/measured/trainer_runs.csv", "--format", "csv"]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    predicted = {row["id"]: row for row in csv.DictReader(io.StringIO(out))}
    context, fragments, idle = (constant(name) for name in ("context", "fragments_at_limit", "idle_at_limit"))
    points = []
    for name, need in needs():
        peak = float(predicted[name]["predicted_peak_mem_gib"])
        beside = (float(predicted[name]["wanted_mem_gib"]) - context) / peak - 1
        points.append((max(0, (beside - fragments) / idle), need))
    n = len(points)
    x, y = (sum(point[i] for point in points) / n for i in (0, 1))
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    print(f"{n} runs need {y:.1%} beside their peak in the mean; idle blocks are {x:.1%}")
    print(f"fragments_at_limit {y - slope * x:.3f}, idle_at_limit {slope:.2f}")


if __name__ == "__main__":
    main()
