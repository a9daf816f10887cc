#!/usr/bin/env python3
"""Runs every exported launch.py against the real SageMaker Python SDK 3, without a network.

ModelTrainer is built from the exported arguments and train() called; what it would send is caught, validated by
botocore, and held against the CreateTrainingJob request exported for the same plan in what both decide. The SDK 3
starts processes by a driver of its own, in the container's entry point, and not by hyperparameters.
Usage: sdk_v3.py CORPUS.json
"""

import contextlib
import io
import json
import logging
import os
import pathlib
import runpy
import sys
import tempfile
import warnings

from corpus import Report, exports, unpack
from sdk_requests import differences

os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", SAGEMAKER_ADMIN_CONFIG_OVERRIDE="/dev/null",
                  SAGEMAKER_USER_CONFIG_OVERRIDE="/dev/null")
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

import botocore.client  # noqa: E402
import botocore.session  # noqa: E402
import botocore.validate  # noqa: E402

# Decided by our request and in another way, or not at all, by the SDK.
NOT_COMPARED = {"TrainingJobName", "HyperParameters", "InputDataConfig", "AlgorithmSpecification", "ProfilerConfig"}
SDK_DEFAULTS = {("EnableNetworkIsolation",): False, ("EnableInterContainerTrafficEncryption",): False,
                ("ResourceConfig", "VolumeSizeInGB"): 30, ("EnableManagedSpotTraining",): False}


class Caught(Exception):
    """The SDK called a service that a launch does not need."""


class Sent(Exception):
    """The request has been caught: what follows would wait for the job."""


def catch_requests(requests: list) -> None:
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}]}
    answers = {"GetCallerIdentity": {"Account": "111122223333", "Arn": "arn:aws:iam::111122223333:user/none"},
               "GetRole": {"Role": {"Arn": "", "AssumeRolePolicyDocument": trust}}}
    storage = {"PutObject", "HeadBucket", "HeadObject"}

    def call(self, operation, parameters):
        if operation == "CreateTrainingJob":
            requests.append(parameters)
            raise Sent
        if operation not in answers and operation not in storage:
            raise Caught(operation)
        return answers.get(operation, {})

    botocore.client.BaseClient._make_api_call = call


def launch(entry: dict) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        unpack(entry, folder)
        script = folder / "src" / json.loads(entry["files"]["model_trainer.json"])["source_code"]["entry_script"]
        script.parent.mkdir(exist_ok=True)
        script.touch()
        os.environ["AWS_DEFAULT_REGION"] = entry["region"]
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                runpy.run_path("launch.py", run_name="__main__")
            except Sent:
                pass


def decided(request: dict) -> dict:
    request = json.loads(json.dumps({k: v for k, v in request.items() if k not in NOT_COMPARED}))
    for path, default in SDK_DEFAULTS.items():
        at = request
        for key in path[:-1]:
            at = at.get(key, {})
        if at.get(path[-1]) == default:
            del at[path[-1]]
    return request


def compare(sent: dict, ours: dict) -> list[str]:
    out = differences(decided(sent), decided(ours))
    for field in ("TrainingImage", "TrainingInputMode"):
        out += differences(sent["AlgorithmSpecification"].get(field), ours["AlgorithmSpecification"].get(field), field)
    ours_hyper = {k: v for k, v in ours["HyperParameters"].items() if not k.startswith("sagemaker_") and k != "mp_parameters"}
    hyper = {k: v for k, v in sent["HyperParameters"].items() if k in ours_hyper}
    out += differences({k: json.loads(v) for k, v in hyper.items()}, {k: json.loads(v) for k, v in ours_hyper.items()},
                       "HyperParameters")
    channels = {c["ChannelName"]: c["DataSource"] for c in sent["InputDataConfig"]}
    for channel in ours["InputDataConfig"]:
        out += differences(channels.get(channel["ChannelName"]), channel["DataSource"], "InputDataConfig")
    return out


def main() -> int:
    requests: list = []
    catch_requests(requests)
    shape = botocore.session.get_session().get_service_model("sagemaker").operation_model("CreateTrainingJob").input_shape
    exported = {e["plan_id"]: json.loads(e["files"]["create_training_job.json"]) for e in exports("create-training-job")}
    report = Report("SageMaker SDK 3")
    for entry in exports("sagemaker-sdk-v3")[:: int(os.environ.get("SMPLAN_ORACLE_STRIDE", "1"))]:
        requests.clear()
        report.judged += 1
        try:
            launch(entry)
        except Exception as fault:  # whatever the SDK raises is the finding
            report.fault(entry, f"{type(fault).__name__}: {fault}")
            continue
        if len(requests) != 1:
            report.fault(entry, f"{len(requests)} requests were sent")
            continue
        checked = botocore.validate.ParamValidator().validate(requests[0], shape)
        if checked.has_errors():
            report.fault(entry, f"botocore: {checked.generate_report()}")
        for text in compare(requests[0], exported[entry["plan_id"]]):
            report.fault(entry, text)
    return report.finish(least=100)


if __name__ == "__main__":
    sys.exit(main())
