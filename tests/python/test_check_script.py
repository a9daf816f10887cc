"""`python -m smplan check launch.py` reads estimator calls by their syntax and never runs the script."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from smplan import InputError
from smplan.__main__ import main
from smplan._launch_script import read_launch_script

SCRIPT = '''\
import os
from sagemaker.pytorch import PyTorch

raise SystemExit("a script that is run ends here")

NODES = 4
common = dict(max_run=24 * 60 * 60, use_spot_instances=True)
estimator = PyTorch(
    entry_point="train.py",
    role=os.environ["ROLE"],
    instance_type="ml.p4d.24xlarge",
    instance_count=NODES,
    framework_version="2.5",
    py_version="py311",
    distribution={
        "pytorchx": {"enabled": True},
    },
    output_path=f"s3://{os.environ['BUCKET']}/out",
    **common,
)
estimator.fit({"train": "data/train"})
'''


def check(tmp_path, capsys, script, *flags):
    path = tmp_path / "launch.py"
    path.write_text(script, encoding="utf-8")
    status = main(["check", str(path), "--format", "json", *flags])
    out = capsys.readouterr()
    return status, json.loads(out.out) if out.out else out.err


def findings(answer):
    return {finding["rule"]: finding for finding in answer["findings"]}


def test_call_is_read_with_the_lines_of_the_script(tmp_path, capsys):
    status, answer = check(tmp_path, capsys, SCRIPT)
    assert status == 1
    found = findings(answer)
    assert found["C046"]["line"] == 16
    assert found["C027"]["line"] == 18  # beside its call: that is where **common stands
    assert found["C007"]["message"].startswith("'data/train'")
    assert "C005" not in found  # what only the environment knows is not judged


def test_arguments_are_the_calls(tmp_path):
    call = read_launch_script(SCRIPT, "launch.py").calls[0]
    arguments = json.loads(call.text)
    assert arguments["instance_count"] == 4
    assert arguments["max_run"] == 86400
    assert arguments["output_path"].startswith("<")
    assert arguments["inputs"] == {"train": "data/train"}
    assert call.kind == "estimator"


def test_a_name_assigned_twice_has_no_value():
    script = "n = 1\nn = 2\nPyTorch(instance_count=n)\n"
    assert json.loads(read_launch_script(script, "launch.py").calls[0].text)["instance_count"] == "<n>"


def test_model_trainer_objects_are_read(tmp_path, capsys):
    script = ("t = ModelTrainer(\n    training_image='123.dkr.ecr.us-east-1.amazonaws.com/mine:1',\n"
              "    distributed=Torchrun(smp=SMP(pipeline_parallel_degree=2)),\n"
              "    compute=Compute(instance_type='ml.p5.48xlarge', instance_count=2),\n"
              "    source_code=SourceCode(command='bash run.sh'),\n    instance_type='ml.p5.48xlarge')\n")
    status, answer = check(tmp_path, capsys, script)
    assert status == 1
    assert answer["kind"] == "model-trainer"
    assert {"C069", "C070", "C102"} <= set(findings(answer))
    assert findings(answer)["C102"]["line"] == 3


def test_invented_import_is_named(tmp_path, capsys):
    status, answer = check(tmp_path, capsys, "from sagemaker.horovod import Horovod\ne = Horovod(entry_point='t.py')\n")
    assert status == 1
    assert "C066" in findings(answer)


def test_clean_script_passes(tmp_path, capsys):
    image = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.10.0-gpu-py313-cu130-ubuntu22.04-sagemaker"
    script = (f"e = PyTorch(entry_point='t.py', role=role, image_uri='{image}', instance_type='ml.p4d.24xlarge',\n"
              "    instance_count=2, distribution={'torch_distributed': {'enabled': True}}, max_run=3600,\n"
              "    debugger_hook_config=False)\n")
    status, answer = check(tmp_path, capsys, script, "--strict")
    assert status == 0, answer["findings"]


def test_flags_reach_the_models(tmp_path, capsys):
    _, answer = check(tmp_path, capsys, SCRIPT, "--model", "llama-2-13b", "--stack", "ddp", "--dtype", "bf16")
    assert "C144" in findings(answer)
    assert answer["prediction"]["fits"] is False


def test_sarif_and_ignore(tmp_path, capsys):
    path = tmp_path / "launch.py"
    path.write_text(SCRIPT, encoding="utf-8")
    main(["check", str(path), "--format", "sarif", "--ignore", "C046"])
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0"
    assert "C046" not in {result["ruleId"] for result in log["runs"][0]["results"]}


@pytest.mark.parametrize("script", ["x = ", "print(1)\n", "f(" * 5000 + ")" * 5000, "PyTorch(a=" + "[" * 150 + "]" * 150 + ")"])
def test_hostile_scripts_are_refused_or_answered(tmp_path, capsys, script):
    path = tmp_path / "launch.py"
    path.write_text(script, encoding="utf-8")
    assert main(["check", str(path)]) in (0, 1, 2)


def test_faults_of_flags_are_refused(tmp_path, capsys):
    status, error = check(tmp_path, capsys, SCRIPT, "--model", "llama-9")
    assert status == 2
    assert "llama-9" in error
    with pytest.raises(InputError):
        read_launch_script("print(1)\n", "launch.py")


def test_module_runs_as_a_program(tmp_path):
    path = tmp_path / "launch.py"
    path.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "smplan", "check", str(path)], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    assert "error C046" in done.stdout
    assert f"{path}:16" in done.stdout
    assert Path(path).read_text(encoding="utf-8") == SCRIPT


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no such signal here")
def test_ends_quietly_when_nobody_reads_on(tmp_path):
    path = tmp_path / "launch.py"
    path.write_text(SCRIPT, encoding="utf-8")
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([sys.executable, "-m", "smplan", "check", str(path)], stdout=write, stderr=subprocess.PIPE, text=True,
                              timeout=120, check=False)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


def test_a_dictionary_is_followed_up_to_the_call():
    script = ('kw = {"instance_count": 2, "max_run": 60}\n'
              'kw["distribution"] = {"torch_distributed": {"enabled": True}}\n'
              'kw.update({"max_run": 3600}, instance_type="ml.p4d.24xlarge")\n'
              'PyTorch("train.py", **kw)\n'
              'kw["instance_count"] = 4\n')
    arguments = json.loads(read_launch_script(script, "launch.py").calls[0].text)
    assert arguments == {"class": "PyTorch", "instance_count": 2, "max_run": 3600, "instance_type": "ml.p4d.24xlarge",
                         "distribution": {"torch_distributed": {"enabled": True}}, "open": True}


@pytest.mark.parametrize("change", ["kw.update(more())", "kw[name()] = 1", "kw.pop('max_run')", "kw = more(kw)", "del kw['a']"])
def test_what_is_not_followed_may_launch(tmp_path, capsys, change):
    script = ('kw = {"instance_type": "ml.p4d.24xlarge", "instance_count": 2, "framework_version": "2.8.0"}\n'
              f'{change}\nPyTorch(entry_point="train.py", role="Training", **kw)\n')
    out = check(tmp_path, capsys, script)
    assert "C048" not in str(out)


V2 = """\
import sagemaker
from sagemaker.inputs import TrainingInput
from sagemaker.pytorch import PyTorch

estimator = PyTorch("train.py", role="arn:aws:iam::123456789012:role/SM", framework_version="2.8.0", py_version="py312",
                    instance_type="ml.g5.xlarge", instance_count=1, max_run=3600, debugger_hook_config=False)
train = TrainingInput("s3://bucket/train", input_mode="FastFile")
estimator.fit({"train": train}, wait=False)
"""
V3 = """\
from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute, InputData, SourceCode, StoppingCondition

trainer = ModelTrainer(training_image="123456789012.dkr.ecr.us-west-2.amazonaws.com/mine:1", base_job_name="sft",
                       compute=Compute(instance_type="ml.g5.xlarge", instance_count=1),
                       source_code=SourceCode(source_dir="src", entry_script="train.py"),
                       stopping_condition=StoppingCondition(max_runtime_in_seconds=3600)).with_retry_strategy(retry)
train = InputData(channel_name="train", data_source="s3://bucket/train")
trainer.train(input_data_config=[train], wait=False)
"""
TRAINER = """\
from sagemaker.train.sft_trainer import SFTTrainer

trainer = SFTTrainer(model="meta-textgeneration-llama-3-2-1b-instruct", model_package_group="mine", accept_eula=True)
trainer.train(training_dataset="s3://bucket/train.jsonl", wait=False)
"""
RECIPE = """\
from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute, StoppingCondition

trainer = ModelTrainer.from_recipe(
    "fine-tuning/llama/hf_llama3_8b_seq8k_gpu_lora", compute=Compute(instance_type="ml.p5.48xlarge", instance_count=1),
    recipe_overrides={"trainer": {"max_steps": 10}}, role="arn:aws:iam::123456789012:role/SM",
    stopping_condition=StoppingCondition(max_runtime_in_seconds=3600))
trainer.train()
"""


@pytest.mark.parametrize("script", [V2, V3, TRAINER, RECIPE])
def test_calls_as_the_sdk_takes_them_pass(tmp_path, capsys, script):
    status, answer = check(tmp_path, capsys, script)
    assert status == 0, answer["findings"]


ESTIMATOR = """\
from sagemaker.pytorch import PyTorch

kept = {"volume_size": 200}
estimator = PyTorch(entry_point="train.py", role="role", instance_type="ml.p4d.24xlarge", instance_count=2,
                    framework_version="2.3.0", py_version="py311", distribution={"torch_distributed": {"enabled": True}},
                    max_run=3600, **kept)
estimator.fit("s3://bucket/train")
"""


@pytest.mark.parametrize("left_out, says", [
    ('entry_point="train.py", ', ["entry_point is missing from the arguments"]),
    ('instance_type="ml.p4d.24xlarge", ', ["instance_type is missing from the arguments"]),
    ('instance_type="ml.p4d.24xlarge", instance_count=2,', ["instance_type with instance_count is missing from the arguments"]),
    ('framework_version="2.3.0", ', ["framework_version is missing from the arguments"]),
    (', py_version="py311"', ["py_version is missing from the arguments"]),
    ('role="role", ', []),  # the SDK's own configuration may have it
    ("", []),
])
def test_estimators_without_what_the_sdk_needs_are_told(tmp_path, capsys, left_out, says):
    assert left_out in ESTIMATOR
    _, answer = check(tmp_path, capsys, ESTIMATOR.replace(left_out, "", 1))
    assert [one["message"] for one in answer["findings"] if one["rule"] == "C002"] == says


@pytest.mark.parametrize("old, new", [
    ('kept = {"volume_size": 200}', "kept = load()"),
    ("from sagemaker.pytorch import PyTorch", "from mine import PyTorch"),
    ('PyTorch(entry_point="train.py", ', "PyTorch(*positional, "),
])
def test_estimators_that_may_be_given_more_are_not_told(tmp_path, capsys, old, new):
    assert old in ESTIMATOR
    _, answer = check(tmp_path, capsys, ESTIMATOR.replace(', py_version="py311"', "").replace(old, new, 1))
    assert "C002" not in [one["rule"] for one in answer["findings"]]


@pytest.mark.parametrize("script, old, new, rule, line, says", [
    (V2, "{\"train\": train}, wait", "input={\"train\": train}, wait", "C069", 8, "'input' is no argument of PyTorch.fit()"),
    (V2, "wait=False", "log='All'", "C069", 8, "'log' is no argument of PyTorch.fit()"),
    (V2, "wait=False", "**{'log': 'All'}", "C069", 8, "'log' is no argument of PyTorch.fit()"),
    (V2, ".fit(", ".train(", "C066", 8, "the SDK has no PyTorch.train()"),
    (V2, "wait=False", "job_name='llama_3'", "C005", 8, "'llama_3' is no job name"),
    (V2, "input_mode=", "mode=", "C069", 7, "'mode' is no argument of TrainingInput()"),
    (V2, "FastFile", "Fastfile", "C182", 8, "'Fastfile' is no input mode"),
    (V2, '"s3://bucket/train", ', "", "C002", 7, "s3_data is missing from TrainingInput()"),
    (V2, "sagemaker.pytorch", "sagemaker.huggingface", "C066", 5, "the SDK has no 'sagemaker.huggingface.PyTorch'"),
    (V3, "trainer.train(input_data_config=[train]", "trainer.fit([train]", "C066", 9, "the SDK has no ModelTrainer.fit()"),
    (V3, "input_data_config=", "inputs=", "C069", 9, "'inputs' is no argument of ModelTrainer.train()"),
    (V3, "=[train]", "={'train': 's3://b/train'}", "C004", 9, "input_data_config must be a list"),
    (V3, "channel_name=", "channel=", "C069", 8, "'channel' is no argument of InputData()"),
    (V3, "max_runtime_in_seconds", "max_runtime", "C069", 7, "'max_runtime' is no argument of StoppingCondition()"),
    (V3, "with_retry_strategy", "with_retries", "C066", 4, "the SDK has no ModelTrainer.with_retries()"),
    (V3, "training_image=", "image_uri=", "C069", 4, "'image_uri' is no argument of ModelTrainer"),
    (TRAINER, "model_package_group=", "model_package_group_name=", "C069", 3,
     "'model_package_group_name' is no argument of SFTTrainer()"),
    (TRAINER, "training_dataset=", "dataset=", "C069", 4, "'dataset' is no argument of SFTTrainer.train()"),
    (TRAINER, "model=\"meta-textgeneration-llama-3-2-1b-instruct\", ", "", "C002", 3, "model is missing from SFTTrainer()"),
    (V3, "trainer = ModelTrainer(", "trainer = ModelTrainer(distributed={'torch_distributed': {'enabled': True}}, ", "C004", 4,
     "distributed must be a Torchrun() or MPI()"),
    (TRAINER, "model=", "sequence_length='8192', model=", "C004", 3, "sequence_length must be a number of 1024s with a K"),
    (RECIPE, "recipe_overrides=", "overrides=", "C069", 6, "'overrides' is no argument of ModelTrainer.from_recipe()"),
])
def test_calls_that_the_sdk_refuses_are_named(tmp_path, capsys, script, old, new, rule, line, says):
    assert old in script
    status, answer = check(tmp_path, capsys, script.replace(old, new, 1))
    found = findings(answer)
    assert status == 1 and rule in found, answer["findings"]
    assert found[rule]["message"].startswith(says)
    assert found[rule]["line"] == line


IMAGES = """\
import sagemaker
from sagemaker import image_uris
from sagemaker.estimator import Estimator

VERSION = "1.7-1"
image = image_uris.retrieve("xgboost", sagemaker.Session().boto_region_name, version=VERSION)
estimator = Estimator(image_uri=image, role="arn:aws:iam::123456789012:role/SM", instance_count=1,
                      instance_type="ml.m5.xlarge", max_run=3600)
"""


@pytest.mark.parametrize("old, new, line, says", [
    ("1.7-1", "1.9-1", 6, "'1.9-1' is no version of xgboost"),
    ('"xgboost", ', '"xgbost", ', 6, "'xgbost' is no framework or algorithm of the SDK's"),
    ("sagemaker.Session().boto_region_name", '"us-est-1"', 6, "'us-est-1' has no such image"),
    ("version=VERSION", "version=VERSION, image_scope='train'", 6, "'train' is no scope of xgboost"),
    ("1.7-1", "1.5-1", 0, ""),
    ("import sagemaker\n", "import sagemaker\nVERSION = other()\n", 0, ""),
])
def test_images_that_the_sdk_does_not_find_are_named(tmp_path, capsys, old, new, line, says):
    assert old in IMAGES
    status, answer = check(tmp_path, capsys, IMAGES.replace(old, new, 1))
    found = findings(answer)
    assert ("C239" in found) == bool(says), answer["findings"]
    if says:
        assert status == 1 and found["C239"]["message"] == says and found["C239"]["line"] == line


@pytest.mark.parametrize("change", [
    "from mine import PyTorch",  # another class of the name
    "estimator = other()",
    "def launch(estimator):\n    estimator.submit()",
])
def test_what_may_be_another_object_is_not_judged(tmp_path, capsys, change):
    status, answer = check(tmp_path, capsys, V2.replace("estimator.fit", "estimator.fits") + change + "\n")
    assert status == 0, answer["findings"]


def test_an_argument_that_a_condition_gives_is_not_judged(tmp_path, capsys):
    script = ("from sagemaker.estimator import Estimator\nfrom sagemaker.workflow.parameters import ParameterString\n"
              "kw = {'image_uri': image, 'max_run': 60, 'instance_type': ParameterString(name='T')}\n"
              "if spot:\n    kw['use_spot_instances'] = True\n    kw['max_wait'] = 120\n"
              "else:\n    kw['instance_groups'] = groups\nEstimator(**kw)\n")
    arguments = json.loads(read_launch_script(script, "launch.py").calls[0].text)
    assert "use_spot_instances" not in arguments and "instance_groups" not in arguments
    assert arguments["instance_type"].startswith("<")
    assert check(tmp_path, capsys, script)[0] == 0
