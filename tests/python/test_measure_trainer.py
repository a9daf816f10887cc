"""scripts/measure_trainer.py on the CPU with tiny models, and the tables that it made on an H200.

What needs PyTorch, transformers and peft runs in the Python that SMPLAN_TORCH_PYTHON names.
"""

import csv
import os
import subprocess

import pytest

from conftest import ROOT

SCRIPT = ROOT / "scripts/measure_trainer.py"
RUNS = ROOT / "tests/measured/trainer_runs.csv"
LIMITS = ROOT / "tests/measured/trainer_limits.csv"
TORCH = os.environ.get("SMPLAN_TORCH_PYTHON")
needs_torch = pytest.mark.skipif(not TORCH, reason="SMPLAN_TORCH_PYTHON names no Python with transformers and peft")


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_limits_are_of_runs_in_the_table():
    runs = {row["id"] for row in rows(RUNS)}
    limits = rows(LIMITS)
    assert len(runs) == len(rows(RUNS))
    assert {row["id"] for row in limits} <= runs
    for row in limits:
        assert row["oom"] in ("0", "1")
        assert (row["oom"] == "0") == bool(row["allocated_gib"]), row


def test_who_runs_out_runs_with_more():
    tried = {}
    for row in rows(LIMITS):
        if row["limit_pct"]:
            tried.setdefault(row["id"], []).append((float(row["limit_pct"]), row["oom"] == "1"))
    for name, trials in tried.items():
        ran_out = [limit for limit, out in trials if out]
        ran = [limit for limit, out in trials if not out]
        assert not ran or not ran_out or max(ran_out) < min(ran), name


@needs_torch
def test_it_writes_a_table_of_tiny_runs(tmp_path):
    output = tmp_path / "runs.csv"
    cases = "qwen2.5-0.5b-b1-s512-full-bf16,llama-3.1-8b-b1-s512-lora-bf16-r16-pure-recompute"
    done = subprocess.run([TORCH, str(SCRIPT), "--quick", "--seconds", "60", "--only", cases, "--output", str(output)],
                          capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1"})
    assert done.returncode == 0, done.stderr
    table = rows(output)
    assert [row["id"] for row in table] == cases.split(",")
    for row in table:
        assert not row["error"], row
        assert float(row["step_time_s"]) > 0
    assert table[1]["method"] == "lora" and table[1]["recompute"] == "full"


@needs_torch
def test_the_shipped_runs_are_its_cases():
    code = ("import importlib.util; spec = importlib.util.spec_from_file_location('m', __import__('sys').argv[1]); "
            "m = importlib.util.module_from_spec(spec); __import__('sys').modules['m'] = m; "
            "spec.loader.exec_module(m); print('\\n'.join(c.id for c in m.cases()))")
    done = subprocess.run([TORCH, "-c", code, str(SCRIPT)], capture_output=True, text=True, timeout=300, check=True)
    assert {row["id"] for row in rows(RUNS)} == set(done.stdout.split())
