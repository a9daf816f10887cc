"""check() takes files, mappings and live objects; guard() keeps bad jobs from being submitted."""

import json
import pickle

import pytest

import smplan

BAD = {"class": "PyTorch", "entry_point": "train.py", "role": "arn:aws:iam::111122223333:role/r",
       "instance_type": "ml.p4d.24xlarge", "instance_count": 2, "framework_version": "2.8.0", "py_version": "py312",
       "distribution": {"torch_distributed": {"enabled": True}}, "use_spot_instances": True, "max_run": 3600, "max_wait": 60}
GOOD = {**BAD, "max_wait": 7200, "checkpoint_s3_uri": "s3://bucket/checkpoints"}


class EstimatorBase:
    """Keeps its arguments as the SDK's estimators do: one under another name, and things beside them."""

    def __init__(self, role=None, instance_type=None, instance_count=None, use_spot_instances=False, max_run=86400,
                 max_wait=None, hyperparameters=None, checkpoint_s3_uri=None, sagemaker_session=None):
        self._hyperparameters = hyperparameters
        self.role, self.instance_type, self.instance_count = role, instance_type, instance_count
        self.use_spot_instances, self.max_run, self.max_wait = use_spot_instances, max_run, max_wait
        self.checkpoint_s3_uri, self.sagemaker_session = checkpoint_s3_uri, object()
        self.submitted = []

    def fit(self, inputs=None, wait=True):
        self.submitted.append(inputs)
        return "submitted"


class PyTorch(EstimatorBase):
    def __init__(self, entry_point=None, framework_version=None, py_version=None, distribution=None, **kwargs):
        super().__init__(**kwargs)
        self.entry_point, self.framework_version = entry_point, framework_version
        self.py_version, self.distribution = py_version, distribution


def live(arguments):
    return PyTorch(**{name: value for name, value in arguments.items() if name != "class"})


def test_findings_are_those_of_the_command_line(cli, tmp_path):
    path = tmp_path / "job.json"
    path.write_text(json.dumps(BAD), encoding="utf-8")
    shown = cli("check", str(path), "--kind", "estimator", "--format", "json")
    found = smplan.check(path, kind="estimator")
    assert found.to_dict() == json.loads(shown.stdout)
    assert [f.rule for f in found] == [f["rule"] for f in json.loads(shown.stdout)["findings"]]
    assert json.loads(found.to_sarif())["version"] == "2.1.0"


def test_errors_name_the_place_and_the_fix():
    found = smplan.check(BAD)
    assert not found.ok and found.errors
    spot = [f for f in found.errors if "max_wait" in f.path]
    assert spot and spot[0].fix and spot[0].source
    assert smplan.check(BAD, ignore=[spot[0].rule]).errors != found.errors
    assert smplan.check(GOOD).ok
    assert spot[0].rule in repr(found) and spot[0].rule in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)) == found


def test_live_estimators_are_read_by_their_attributes():
    of_mapping, of_object = smplan.check(BAD), smplan.check(live(BAD))
    assert {(f.rule, f.path) for f in of_mapping.errors} == {(f.rule, f.path) for f in of_object.errors}
    assert smplan.check(live(GOOD)).ok
    with pytest.raises(smplan.InputError, match="is no job"):
        smplan.check(object())


def test_launch_scripts_are_read_not_run(tmp_path):
    script = tmp_path / "launch.py"
    script.write_text("raise SystemExit('was run')\nfrom sagemaker.pytorch import PyTorch\n"
                      f"PyTorch({', '.join(f'{k}={v!r}' for k, v in BAD.items() if k != 'class')})\n", encoding="utf-8")
    assert {f.rule for f in smplan.check(script).errors} >= {f.rule for f in smplan.check(BAD).errors}


def test_guard_submits_only_what_has_no_errors():
    bad = smplan.guard(live(BAD))
    with pytest.raises(smplan.CheckFailed, match="not submitted") as caught:
        bad.fit("s3://bucket/data")
    assert bad.submitted == [] and caught.value.findings.errors
    assert isinstance(caught.value, ValueError)
    bad.max_wait = 7200
    assert bad.fit("s3://bucket/data") == "submitted" and bad.submitted == ["s3://bucket/data"]
    with pytest.raises(smplan.InputError, match="no fit"):
        smplan.guard(object())


def test_guard_may_be_strict():
    warned = {**GOOD, "checkpoint_s3_uri": None}
    assert smplan.check({k: v for k, v in warned.items() if v is not None}).warnings
    with pytest.raises(smplan.CheckFailed):
        smplan.guard(live(warned), strict=True).fit()


@pytest.mark.parametrize("target", smplan.export_targets)
def test_exports_equal_those_of_the_command_line(cli, tmp_path, target):
    plan = plan_for(target)
    path = tmp_path / "plan.json"
    path.write_text(plan.plans.to_json(), encoding="utf-8")
    shown = cli("export", "--plan", str(path), "--target", target, "--format", "json")
    exported = plan.export(target, path=tmp_path / "job")
    document = json.loads(shown.stdout)
    assert [tuple(f) for f in exported.files] == [(f["path"], f["content"]) for f in document["files"]]
    assert exported.placeholders == {p["text"]: p["meaning"] for p in document["placeholders"]}
    for file in exported.files:
        assert (tmp_path / "job" / file.path).read_text(encoding="utf-8") == file.content


def plan_for(target):
    """A small plan that the target can express."""
    plain = {"finetune": "lora", "pure_half": "on", "sharding": "fsdp-full", "recompute": "full", "compile": "off",
             "loss_kernel": "default", "count": 1}
    for stack, instances in (("fsdp", "ml.p4d.24xlarge"), ("megatron", "ml.p4d.24xlarge"), ("deepspeed", "ml.p4d.24xlarge"),
                             ("torchtitan", "ml.p4d.24xlarge"), ("smp-v2", "ml.p4d.24xlarge"), ("smp-v1", "ml.p4d.24xlarge"), ("neuron", "ml.trn1.32xlarge"), ("hf-trainer", "ml.p4d.24xlarge"),
                             ("tuning", "ml.p4d.24xlarge")):
        # Jobs of a cluster are of plans for one.
        cluster = {"hyperpod-job": {"platform": "hyperpod-eks"}, "hyperpod-slurm": {"platform": "hyperpod-slurm"}}.get(target, {})
        tuned = {"finetune": "lora"} if stack == "hf-trainer" else plain if stack == "tuning" else {}
        stack = "fsdp" if stack == "tuning" else stack
        try:
            plan = smplan.plan(model="llama-2-7b", stack=stack, instances=instances, top=1, **tuned, **cluster).best
            plan.export(target)
            return plan
        except smplan.InputError:
            continue
    raise AssertionError(f"no stack's plan can be exported as {target}")


def test_estimator_arguments_have_no_errors():
    plan = smplan.plan(model="llama-2-7b", stack="fsdp", count=1, top=1).best
    arguments = plan.to_estimator(role="arn:aws:iam::111122223333:role/trainer", bucket="my-bucket")
    assert arguments["class"] == "PyTorch" and arguments["instance_type"] == plan.instance_type
    assert smplan.check(arguments).ok
    with pytest.raises(smplan.InputError, match="unknown keyword"):
        plan.to_estimator(rolle="x")
    with pytest.raises(smplan.InputError):
        plan.export("sagemaker-sdk-v9")


def test_no_control_character_of_a_job_is_shown():
    job = {"class": "PyTorch", "instance_type": "ml.\x1b[31m\n::error::x", "hyperparameters": {"a\u202eb\x1b": "c"}}
    shown = repr(smplan.check(job))
    assert "\x1b" not in shown and "\u202e" not in shown and "\n::error" not in shown
    with pytest.raises(smplan.InputError) as refused:
        smplan.Catalog.shipped().with_overlay_text("a\x1b.json", '{"schema": "smplan.catalog/1", "x\\u001b": 1}')
    assert "\x1b" not in str(refused.value)
