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
import os
import pathlib
import runpy
import sys
import tempfile

import offline
from corpus import Report, exports, unpack
from sdk_requests import differences

# A launch takes half a second: every sixth plan is enough to see each stack and instance family.
STRIDE = 6

# Decided by our request and in another way, or not at all, by the SDK.
NOT_COMPARED = {"TrainingJobName", "HyperParameters", "InputDataConfig", "AlgorithmSpecification", "ProfilerConfig"}
SDK_DEFAULTS = {("EnableNetworkIsolation",): False, ("EnableInterContainerTrafficEncryption",): False,
                ("ResourceConfig", "VolumeSizeInGB"): 30, ("EnableManagedSpotTraining",): False}


class Sent(Exception):
    """The request has been caught: what follows would wait for the job."""


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


def plain(value: str):
    """The SDK 2 writes strings as JSON, the SDK 3 as they are."""
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def compare(sent: dict, ours: dict) -> list[str]:
    out = differences(decided(sent), decided(ours))
    for field in ("TrainingImage", "TrainingInputMode"):
        out += differences(sent["AlgorithmSpecification"].get(field), ours["AlgorithmSpecification"].get(field), field)
    ours_hyper = {k: v for k, v in ours["HyperParameters"].items() if not k.startswith("sagemaker_") and k != "mp_parameters"}
    hyper = {k: v for k, v in sent["HyperParameters"].items() if k in ours_hyper}
    out += differences({k: plain(v) for k, v in hyper.items()}, {k: plain(v) for k, v in ours_hyper.items()},
                       "HyperParameters")
    channels = {c["ChannelName"]: c["DataSource"] for c in sent["InputDataConfig"]}
    for channel in ours["InputDataConfig"]:
        out += differences(channels.get(channel["ChannelName"]), channel["DataSource"], "InputDataConfig")
    return out


def main() -> int:
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}]}
    requests = offline.answer({
        "CreateTrainingJob": Sent(), "PutObject": {}, "HeadBucket": {}, "HeadObject": {}, "ListBuckets": {"Buckets": []},
        "GetCallerIdentity": {"Account": "111122223333", "Arn": "arn:aws:iam::111122223333:user/none"},
        "SimulatePrincipalPolicy": {"EvaluationResults": []},
        "GetRole": {"Role": {"Arn": "", "AssumeRolePolicyDocument": trust}}})
    offline.silence("sagemaker.core.telemetry.telemetry_logging")
    shape = offline.create_training_job_shape()
    exported = {e["plan_id"]: json.loads(e["files"]["create_training_job.json"]) for e in exports("create-training-job")}
    report = Report("SageMaker SDK 3")
    for entry in exports("sagemaker-sdk-v3")[::STRIDE]:
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
        for text in offline.botocore_faults(requests[0], shape) + compare(requests[0], exported[entry["plan_id"]]):
            report.fault(entry, text)
    return report.finish(least=40)


if __name__ == "__main__":
    sys.exit(main())
