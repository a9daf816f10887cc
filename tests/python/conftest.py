"""Fixtures of the Python tests. CTest sets SMPLAN_BINARY and PYTHONPATH."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import smplan

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"model": "llama-2-7b", "instances": ["ml.p4d.24xlarge"], "count": [1, 2, 4], "stack": "fsdp", "top": 3}


@pytest.fixture(scope="session")
def plan_schema():
    return json.loads((ROOT / "planner/schema/plan.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def small():
    """Three plans of a small request."""
    return smplan.plan(**SMALL)


@pytest.fixture(scope="session")
def cli():
    """Runs the program; returns the finished process."""
    binary = os.environ["SMPLAN_BINARY"]

    def run(*arguments, **options):
        return subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=120, check=False, **options)

    return run


@pytest.fixture(autouse=True)
def no_region_and_no_cache(monkeypatch):
    monkeypatch.setenv("SMPLAN_NO_CACHE", "1")
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
