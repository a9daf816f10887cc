"""The Python module answers as the command line does and refuses with every reason."""

import json
import pickle
import threading
from pathlib import Path

import jsonschema
import pytest

import smplan

SMALL = {"model": "llama-2-7b", "instances": ["ml.p4d.24xlarge"], "count": [1, 2], "stack": "fsdp", "top": 3}


def without_clock(answer):
    answer["search"].pop("seconds")
    return answer


def test_version_is_that_of_the_program(cli):
    assert cli("--version").stdout == f"smplan {smplan.__version__}\n"


def test_catalog_lists_what_is_shipped():
    catalog = smplan.Catalog.shipped()
    assert "ml.p4d.24xlarge" in catalog.instances
    assert "llama-2-13b" in catalog.models
    assert "fsdp" in catalog.stacks
    assert len(catalog.models) >= 40


def test_plan_equals_the_command_line(cli):
    shown = cli("plan", "--model", "llama-2-7b", "--instances", "ml.p4d.24xlarge", "--count", "1,2", "--stack", "fsdp",
                "--top", "3", "--format", "json")
    assert shown.returncode == 0, shown.stderr
    assert without_clock(smplan.plan(**SMALL)) == without_clock(json.loads(shown.stdout))


def test_plan_and_estimate_follow_the_schema(plan_schema):
    jsonschema.validate(smplan.plan(**SMALL), plan_schema)
    estimated = smplan.estimate(model="llama-2-7b", instances="ml.p4d.24xlarge", count=1, stack="fsdp")
    jsonschema.validate(estimated, plan_schema)
    assert len(estimated["plans"]) == 1


def test_plain_data_parallel_of_13b_does_not_fit_an_a100():
    plan = smplan.estimate(model="llama-13b", instances="ml.p4d.24xlarge", count=8, stack="ddp")["plans"][0]
    assert plan["memory"]["peak_gib"] > plan["memory"]["limit_gib"]


def test_nothing_fits_is_an_answer_not_an_error():
    answer = smplan.plan(params="70B", instances="ml.g5.xlarge", count=1)
    assert answer["plans"] == []
    assert sum(answer["rejected"].values()) > 0


def test_values_may_be_numbers_lists_and_flags():
    as_text = smplan.plan(**{**SMALL, "count": "1,2", "tokens": "1e9", "sequence_parallel": "false", "tp": "1"})
    as_values = smplan.plan(**{**SMALL, "tokens": 1e9, "sequence_parallel": False, "tp": 1, "budget": None})
    assert without_clock(as_text) == without_clock(as_values)


def test_every_fault_is_reported_at_once():
    with pytest.raises(smplan.InputError) as caught:
        smplan.plan(params="-13B", deadline="x", objective="chepa")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, smplan.Error)
    assert len(caught.value.diagnostics) == 3
    assert all(d.code and d.message for d in caught.value.diagnostics)
    assert [d.location for d in caught.value.diagnostics] == ["--params", "--deadline", "--objective"]


def test_unknown_names_get_the_nearest_ones():
    with pytest.raises(smplan.InputError, match="did you mean .*llama-2-13b"):
        smplan.plan(model="llama-2-13")
    with pytest.raises(smplan.InputError, match="did you mean seq_len"):
        smplan.plan(params="13B", seqlen=4096)


@pytest.mark.parametrize("value", [{}, [], object(), b"13B", float("nan"), float("inf"), "", "13\0B", "13B" * 10000])
def test_hostile_values_are_refused(value):
    with pytest.raises(smplan.InputError):
        smplan.plan(params=value)


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError):
        smplan.plan("13B")


def test_errors_survive_pickling():
    with pytest.raises(smplan.InputError) as caught:
        smplan.plan()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.diagnostics == caught.value.diagnostics
    assert str(copy) == str(caught.value)


def test_region_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    assert smplan.plan(**SMALL)["plans"][0]["cost"]["region"] == "us-west-2"
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert smplan.plan(**SMALL)["plans"][0]["cost"]["region"] == "us-east-1"


def test_overlay_faults_name_the_file(tmp_path):
    overlay = tmp_path / "overlay.json"
    overlay.write_text('{"schema": 1, "schema": 2}', encoding="utf-8")
    with pytest.raises(smplan.InputError, match="overlay.json:/schema"):
        smplan.Catalog.shipped().with_overlay(str(overlay))


def test_threads_get_the_same_answer():
    catalog = smplan.Catalog.shipped()
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(without_clock(smplan.plan(catalog=catalog, **SMALL))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    assert all(answer == answers[0] for answer in answers)


def test_package_is_typed():
    assert (Path(smplan.__file__).parent / "py.typed").is_file()
