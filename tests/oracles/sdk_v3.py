#!/usr/bin/env python3
"""Runs every exported launch.py against the real SageMaker Python SDK 3, without a network.

ModelTrainer is built from the exported arguments and train() called; what it would send is caught, validated by
botocore, and held against the CreateTrainingJob request exported for the same plan in what both decide. The SDK 3
starts processes by a driver of its own, in the container's entry point, and not by hyperparameters.
Usage: sdk_v3.py CORPUS.json
"""

import json
import sys

import offline
from corpus import Report, exports
from sdk_requests import differences, run_launch_script, without_defaults

# Decided by our request and in another way, or not at all, by the SDK.
NOT_COMPARED = {"TrainingJobName", "HyperParameters", "InputDataConfig", "AlgorithmSpecification", "ProfilerConfig"}
SDK_DEFAULTS = {("EnableNetworkIsolation",): False, ("EnableInterContainerTrafficEncryption",): False,
                ("ResourceConfig", "VolumeSizeInGB"): 30, ("EnableManagedSpotTraining",): False}


class Sent(Exception):
    """The request has been caught: what follows would wait for the job."""


TRUST = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}]}
ANSWERS = {
    "CreateTrainingJob": Sent(), "PutObject": {}, "HeadBucket": {}, "HeadObject": {}, "ListBuckets": {"Buckets": []},
    "GetCallerIdentity": {"Account": "111122223333", "Arn": "arn:aws:iam::111122223333:user/none"},
    "SimulatePrincipalPolicy": {"EvaluationResults": []},
    "GetRole": {"Role": {"Arn": "", "AssumeRolePolicyDocument": TRUST}}}


def decided(request: dict) -> dict:
    return without_defaults({k: v for k, v in request.items() if k not in NOT_COMPARED}, SDK_DEFAULTS)


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
    requests = offline.answer(ANSWERS)
    offline.silence("sagemaker.core.telemetry.telemetry_logging")
    shape = offline.create_training_job_shape()
    exported = {e["plan_id"]: json.loads(e["files"]["create_training_job.json"]) for e in exports("create-training-job")}
    report = Report("SageMaker SDK 3")
    for entry in exports("sagemaker-sdk-v3"):
        requests.clear()
        report.judged += 1
        script = json.loads(entry["files"]["model_trainer.json"])["source_code"]["entry_script"]
        try:
            run_launch_script(entry, script)
        except Sent:
            pass
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
