"""Asks smplan about every published configuration, and for its own best plan of the same work."""

import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
from dataclasses import dataclass, field

from . import mapping

# Predictions of two strategies on one machine are worth comparing down to about this much.
SAME_TIME = 0.05


@dataclass
class Verdict:
    row: dict
    unmapped: str | None = None
    reading: str = ""  # of what the row leaves open, where it decides whether it fits
    refused: str | None = None  # an invalid configuration in smplan's eyes
    plan: dict | None = None  # as estimated
    expressible: bool = False
    why_not: str = ""
    best: dict | None = None

    @property
    def fits(self) -> bool:
        return self.plan is not None and self.plan["memory"]["fits"]

    @property
    def speedup(self) -> float | None:
        """Their predicted step time over ours; None where there is nothing to compare."""
        if not self.best or not self.plan:
            return None
        return self.plan["step_time_s"] / self.best["step_time_s"]

    @property
    def agrees(self) -> bool:
        return self.fits and self.speedup is not None and self.speedup <= 1 + SAME_TIME


@dataclass
class Smplan:
    binary: pathlib.Path
    searches: bool = True  # our own plan too
    environment: dict = field(default_factory=lambda: {"PATH": os.environ["PATH"], "LC_ALL": "C"})

    def run(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess:
        return subprocess.run([self.binary, *arguments, "--quiet"], input=given, capture_output=True, text=True, timeout=600,
                              env=self.environment)

    def judge(self, row: dict) -> Verdict:
        verdict = Verdict(row, unmapped=mapping.unmapped(row))
        if verdict.unmapped:
            return verdict
        work = mapping.work(row)
        for verdict.reading, flags in mapping.readings(row):
            estimate = self.run("estimate", *work, *overridden(mapping.strategy(row), flags), "--min-headroom", "0", "--format", "json")
            if estimate.returncode == 2:
                verdict.refused = estimate.stderr.strip().removeprefix("smplan: error: ").splitlines()[0]
                return verdict
            verdict.plan = json.loads(estimate.stdout)["plans"][0]
            if verdict.fits:
                break
        export = self.run("export", "--plan", "-", "--target", mapping.target(row), given=estimate.stdout)
        verdict.expressible = export.returncode == 0
        if not verdict.expressible:
            verdict.why_not = export.stderr.strip().removeprefix("smplan: error: --target: ").splitlines()[0]
        if not self.searches:
            return verdict
        best = self.run("plan", *work, "--objective", "time", "--top", "1", "--format", "json")
        if best.returncode == 0:
            verdict.best = json.loads(best.stdout)["plans"][0]
        return verdict


def overridden(flags: list[str], later: list[str]) -> list[str]:
    """Flags with values, the later in place of the earlier."""
    values = dict(zip(flags[::2], flags[1::2], strict=True)) | dict(zip(later[::2], later[1::2], strict=True))
    return [word for pair in values.items() for word in pair]


def verdicts(binary: pathlib.Path, table: pathlib.Path, searches: bool = True) -> list[Verdict]:
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    smplan = Smplan(binary, searches)
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(smplan.judge, rows))


def shape(plan: dict) -> str:
    """`fsdp, shard 8, mb 2, full`: what differs from one and none."""
    p = plan["parallel"]
    words = [plan["stack"]]
    words += [f"{short}{p[name]}" for short, name in (("tp", "tensor"), ("pp", "pipeline"), ("cp", "context"), ("ep", "expert"))
              if p[name] > 1]
    if "expert_tensor" in p:
        words.append(f"etp{p['expert_tensor']}")
    sharding = plan["sharding"]
    if sharding["strategy"] != "none":
        words.append(f"{sharding['strategy']} {sharding['degree']}")
    words.append(f"mb{plan['micro_batch']}")
    if plan["recompute"] != "none":
        words.append(f"recompute {plan['recompute']}")
    if plan["offload"] != "none":
        words.append(f"offload {plan['offload']}")
    return ", ".join(words)


def reasons(verdict: Verdict) -> list[str]:
    """What our plan does otherwise, the parts of the step that it saves first."""
    theirs, ours = verdict.plan, verdict.best
    saved = {k: theirs["step_components_s"][k] - v for k, v in ours["step_components_s"].items()}
    total = theirs["step_time_s"] - ours["step_time_s"]
    largest = sorted(saved, key=lambda k: -saved[k])[:2]
    words = [f"{k.replace('_', ' ')} {saved[k] / total:.0%}" for k in largest if total > 0 and saved[k] > 0.15 * total]
    return words
