"""scripts/probe.py on the CPU, alone and under torchrun, and the figures that were measured with it.

What needs PyTorch runs in the Python that SMPLAN_TORCH_PYTHON names, else in that of build/oracles/pytorch.
"""

import json
import math
import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT

SCRIPT = ROOT / "scripts/probe.py"
FIGURES = sorted((ROOT / "tests/measured/probes").glob("*.json"))
TORCH = Path(os.environ.get("SMPLAN_TORCH_PYTHON") or ROOT / "build/oracles/pytorch/bin/python")
needs_torch = pytest.mark.skipif(not TORCH.exists(), reason="no Python with PyTorch: scripts/oracles installs one")
SECTIONS = ["gemm", "attention", "memory_bound", "optimizer", "launch", "copies", "compile", "collectives", "layers"]
# nccl-tests' PERFORMANCE.md, of n ranks.
BUS = {"all_reduce": lambda n: 2 * (n - 1) / n, "all_gather": lambda n: (n - 1) / n, "send_receive": lambda n: 1,
       "reduce_scatter": lambda n: (n - 1) / n, "all_to_all": lambda n: (n - 1) / n}


def strict(path):
    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=refuse)


def run(output, *arguments, launcher=()):
    command = [str(TORCH), *launcher, str(SCRIPT), "--output", str(output), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""})


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    output = tmp_path_factory.mktemp("probe") / "probe.json"
    done = run(output, "--quick", "--seconds", "120")
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory):
    output = tmp_path_factory.mktemp("probe") / "probe.json"
    done = run(output, "--quick", "--seconds", "120", "--sections", "collectives,layers",
               launcher=["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"])
    assert done.returncode == 0, done.stderr
    return output


def records(probe, section, name=None):
    return [record for record in probe["sections"][section]["records"] if name in (None, record["name"])]


def check_record(record):
    if "error" in record:
        assert record["error"] and "\n" not in record["error"]
        return
    assert record["repeats"] >= 1
    assert 0 < record["min_s"] <= record["median_s"] <= record["p90_s"]
    for amount, rate, unit in (("flops", "tflop_per_s", 1e12), ("bytes", "bytes_per_s", 1)):
        if amount in record:
            assert record[rate] == pytest.approx(record[amount] / record["median_s"] / unit, rel=2e-3)


def check_file(probe):
    assert probe["probe_version"] == 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", probe["made_at"])
    assert probe["facts"]["torch"] and probe["facts"]["cpu_count"] >= 1
    assert set(probe["sections"]) <= set(SECTIONS)
    for section in probe["sections"].values():
        for record in section["records"]:
            check_record(record)
    for record in records(probe, "gemm") if "gemm" in probe["sections"] else []:
        rows = record["m"] if "m" in record else record["rows"]
        assert record["flops"] == 2 * rows * record["n"] * record["k"]
    for record in records(probe, "attention") if "attention" in probe["sections"] else []:
        forward = 4 * record["batch"] * record["heads"] * record["seq"] ** 2 * record["head_dim"]
        share = (0.5 if record["causal"] else 1) * (1 if record["way"] == "forward" else 2.5)
        assert record["flops"] == forward * share


@needs_torch
def test_every_section_answers_on_a_cpu(alone):
    probe = strict(alone)
    check_file(probe)
    assert set(probe["sections"]) == set(SECTIONS) - {"compile"}  # which --quick leaves out
    for name in set(probe["sections"]) - {"collectives"}:  # which one process has not
        assert any("median_s" in record for record in records(probe, name)), name
    assert {record["dtype"] for record in records(probe, "gemm", "gemm")} >= {"bf16", "fp16", "tf32", "fp32"}
    copy = records(probe, "memory_bound", "copy")[0]
    assert copy["bytes"] == 2 * copy["tensor_bytes"]
    adam = records(probe, "optimizer", "adamw_foreach")[0]
    assert adam["bytes"] == adam["parameters"] * 4 * 7
    layer = records(probe, "layers")[0]
    assert layer["forward_s"] + layer["backward_s"] + layer["optimizer_s"] == pytest.approx(layer["median_s"], rel=0.6)
    assert not list(alone.parent.glob(".probe.*"))  # written to another name and renamed


@needs_torch
def test_a_failure_is_a_record_and_the_run_goes_on(alone):
    attention = records(strict(alone), "attention")
    failed = {record["backend"] for record in attention if "error" in record}
    assert "cudnn" in failed and "math" not in failed
    assert all("/" not in record["error"] for record in attention if "error" in record)  # no folders


@needs_torch
def test_no_name_of_the_host_or_the_user_is_written(alone):
    text = alone.read_text(encoding="utf-8")
    assert os.uname().nodename not in text and str(Path.home()) + "/" not in text


@needs_torch
def test_two_processes_measure_collectives_and_sharded_layers(two_ranks):
    probe = strict(two_ranks)
    check_file(probe)
    assert probe["facts"]["world_size"] == 2 and probe["facts"]["collectives_backend"] == "gloo"
    assert {record["name"] for record in records(probe, "collectives")} == set(BUS)
    for record in records(probe, "collectives"):
        assert "error" not in record, record
        assert record["algorithm_bytes_per_s"] == pytest.approx(record["bytes"] / record["median_s"], rel=2e-3)
        wanted = record["algorithm_bytes_per_s"] * BUS[record["name"]](record["ranks"])
        assert record["bus_bytes_per_s"] == pytest.approx(wanted, rel=2e-3)
    assert {record["parallel"] for record in records(probe, "layers")} == {"none", "ddp", "fsdp", "fully_shard"}
    assert any(record["parallel"] == "ddp" and "median_s" in record for record in records(probe, "layers"))


@needs_torch
def test_the_time_limit_holds_and_what_it_cost_is_named(tmp_path):
    done = run(tmp_path / "probe.json", "--cpu", "--seconds", "2", "--sections", "launch,optimizer")
    assert done.returncode == 0, done.stderr
    probe = strict(tmp_path / "probe.json")
    assert probe["seconds"] < 30  # one case may be under way when the time ends; all of them take minutes
    skipped = probe["sections"]["optimizer"]["skipped"]
    assert any(label.startswith("adamw_fused") for label in skipped)
    assert len(skipped) + len(probe["sections"]["optimizer"]["records"]) == 25


@needs_torch
def test_wrong_arguments_are_named(tmp_path):
    done = run(tmp_path / "probe.json", "--sections", "gem")
    assert done.returncode == 2 and "'gem' is no section: " in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_program_prints_the_script(cli, tmp_path):
    done = cli("probe", "--output", str(tmp_path / "probe.py"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "probe.py").read_bytes() == SCRIPT.read_bytes()


@needs_torch
def test_a_probe_of_a_processor_calibrates_nothing(cli, alone, tmp_path):
    done = cli("calibrate", "--probe", str(alone), "--output", str(tmp_path / "mine.json"))
    assert done.returncode == 2 and "is no accelerator" in done.stderr
    assert not list(tmp_path.iterdir())


@needs_torch
def test_collectives_of_two_processes_calibrate_the_wires_of_a_node(cli, two_ranks, tmp_path):
    """As if gloo's figures were those of two devices: the file is the script's own, from end to end."""
    probe = strict(two_ranks)
    probe["facts"] |= {"device_type": "cuda", "device": "NVIDIA A100-SXM4-80GB"}
    for record in records(probe, "collectives"):
        record["bytes"] *= 10**5
        record["median_s"] *= 10**5
    (tmp_path / "probe.json").write_text(json.dumps(probe))
    done = cli("calibrate", "--probe", str(tmp_path / "probe.json"), "--instances", "ml.p4de.24xlarge")
    assert done.returncode == 0, done.stderr
    overlay = json.loads(done.stdout)
    assert [entry["fabric"] for entry in overlay["fabric_profiles"]] == ["nvswitch-a100"]
    assert "rings and trees" in done.stderr


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_shipped_figures_calibrate_their_device(cli, path):
    done = cli("calibrate", "--probe", str(path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accelerator_profiles"][0]["accelerator"] == strict(path)["accelerator"]


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_shipped_figures_are_within_the_data_sheet(path):
    probe = strict(path)
    check_file(probe)
    assert probe["source"] and probe["facts"]["device"] and probe["facts"]["cuda"]
    assert path.stat().st_size < 500_000
    catalog = json.loads((ROOT / "catalogs/data/accelerators.json").read_text(encoding="utf-8"))["accelerators"]
    device = next(entry for entry in catalog if entry["key"] == probe["accelerator"])
    peaks = device["peak_tflops"]
    for record in records(probe, "gemm"):
        assert record["tflop_per_s"] < peaks[record["dtype"].split("_")[0]], record
    for record in records(probe, "memory_bound"):
        if record.get("tensor_bytes", 0) >= 1 << 30:  # what no cache holds
            assert record["bytes_per_s"] < device["memory_bandwidth_gb_per_s"] * 1e9, record
    assert math.isclose(probe["facts"]["memory_total_bytes"] / 2**20, device["device_memory_mib"], rel_tol=0.002)


def test_figures_of_both_devices_ship():
    assert {path.name for path in FIGURES} == {"h100_sxm_80gb.json", "h200_sxm_141gb.json"}
