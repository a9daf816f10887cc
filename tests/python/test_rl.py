"""rl(): the rows of `smplan rl`."""

import inspect
import json
import pickle
from pathlib import Path

import pytest
import smplan
from smplan import _core

WORK = {"model": "llama-3.1-8b", "prompts": 64, "samples": 8, "instances": "ml.p5.48xlarge", "count": [1, 2]}
FLAGS = ["llama-3.1-8b", "--prompts", "64", "--samples", "8", "--instances", "ml.p5.48xlarge", "--count", "1,2"]
JOB = Path(__file__).parents[1] / "data/jobs/verl/grpo.sh"


@pytest.fixture(scope="module")
def plans():
    return smplan.rl(**WORK)


def test_says_what_the_command_says(plans, cli):
    shown = cli("rl", *FLAGS, "--format", "json")
    assert plans.to_dict() == json.loads(shown.stdout) and len(plans) > 1
    assert f"not measured: {plans.caveat}" in shown.stderr
    assert "; ".join(plans.assumptions) in " ".join(cli("rl", *FLAGS).stdout.split())


def test_is_a_sequence_of_views(plans):
    assert plans.best == plans[0] and [plan.rank for plan in plans] == list(range(1, len(plans) + 1))
    assert pickle.loads(pickle.dumps(plans)) == plans and hash(plans) == hash(pickle.loads(pickle.dumps(plans)))
    assert repr(plans) == f"RlPlanSet({len(plans)} plans)"
    assert "ml.p5.48xlarge" in repr(plans[0]) and "colocated" in plans._repr_html_()
    assert list(plans.to_pandas()["step_s"]) == [plan.step_s for plan in plans]
    assert sum(plans[0].parts_s.values()) == pytest.approx(plans[0].step_s)
    with pytest.raises(AttributeError):
        plans[0].step_s = 1


def test_takes_every_flag_of_the_command():
    own = set(inspect.signature(smplan.rl).parameters) - {"job", "catalog", "request"}
    assert own == set(_core.rl_keywords)


def test_starts_from_a_job(cli):
    plans = smplan.rl(job=JOB, instances="ml.p5.48xlarge")
    shown = cli("rl", "--from", str(JOB), "--instances", "ml.p5.48xlarge", "--format", "json")
    assert plans.to_dict() == json.loads(shown.stdout)
    assert smplan.rl(job=str(JOB), instances="ml.p5.48xlarge", prompts=64) != plans


def test_an_empty_set_says_why(cli):
    plans = smplan.rl(model="llama-3.1-405b", instances="ml.g5.xlarge", count=1)
    shown = cli("rl", "llama-3.1-405b", "--instances", "ml.g5.xlarge", "--count", "1", "--format", "json")
    assert len(plans) == 0 and plans.best is None and shown.returncode == 1
    assert plans.why_not in shown.stderr and plans.why_not in repr(plans)
    assert pickle.loads(pickle.dumps(plans)) == plans


@pytest.mark.parametrize("wrong, where", [
    ({"algorithm": "sarsa"}, "--algorithm"), ({"samples": 0}, "--samples"), ({"critic": "gpt2"}, "--critic"),
    ({"placement": ["split", "apart"]}, "--placement"), ({"seq_len": 4096}, "seq_len"), ({"promts": 3}, "promts"),
    ({"job": "/nowhere.yaml"}, "/nowhere.yaml"), ({"prompts": object()}, "prompts"),
    ({"response_limit": 3}, "--response-limit")])
def test_refuses(wrong, where):
    with pytest.raises(smplan.InputError) as error:
        smplan.rl(**{**WORK, **wrong})
    assert where in str(error.value)


def test_exports_what_the_command_exports(cli, tmp_path):
    plans = smplan.rl(**WORK, framework="verl")
    job = plans.export("verl", path=tmp_path / "mine")
    shown = cli("rl", *FLAGS, "--export", "verl", "--output", str(tmp_path / "theirs"))
    assert shown.returncode == 0, shown.stderr
    for name in ("verl_rl.yaml", "start_verl.py", "requirements.txt", "NOTES.md"):
        assert (tmp_path / "mine" / name).read_text() == (tmp_path / "theirs" / name).read_text()
    again = smplan.rl(job=tmp_path / "mine" / "verl_rl.yaml")
    assert again.best.step_s == plans.best.step_s and again.best.training_plan == plans.best.training_plan
    assert pickle.loads(pickle.dumps(plans)).export("verl") == job
    request = plans.export("create-training-job", rank=2, bucket="mine", job_name="first")
    assert json.loads(str(request))["TrainingJobName"] == "first"


@pytest.mark.parametrize("wrong, where", [
    ({"target": "trl"}, "trl"), ({"target": "verl", "rank": 99}, "rank"),
    ({"target": "verl", "script": "a.py"}, "script"),
    ({"target": "create-training-job", "role": "me"}, "role")])
def test_refuses_exports(plans, wrong, where):
    with pytest.raises(smplan.InputError) as error:
        smplan.rl(**WORK, framework="verl").export(wrong.pop("target"), **wrong)
    assert where in str(error.value)


def test_what_verl_has_no_words_for_is_refused():
    plans = smplan.rl(**WORK, finetune="qlora", stack="fsdp")
    with pytest.raises(smplan.InputError, match="quantizes no base"):
        plans.export("verl")
