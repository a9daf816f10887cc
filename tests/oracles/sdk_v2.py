#!/usr/bin/env python3
"""Runs every exported launch.py against the real SageMaker Python SDK 2, without a network.

The script builds the estimator and calls fit(); what the SDK would send is caught, validated by botocore, and
compared with the CreateTrainingJob request exported for the same plan. Of a recipe, which no request of ours can
start, the SDK's request must launch it.
Usage: sdk_v2.py CORPUS.json
"""

import json
import pathlib
import sys

import offline
import sagemaker.pytorch.estimator
from corpus import Report, exports
from sdk_requests import differences, run_launch_script, without_defaults

# Defaults that the SDK states and the service has too: our request leaves them out.
SDK_DEFAULTS = {
    ("EnableNetworkIsolation",): False,
    ("EnableInterContainerTrafficEncryption",): False,
    ("ResourceConfig", "VolumeSizeInGB"): 30,
}


def starts_every_process(entry: dict, request: dict) -> list[str]:
    """Without one of these the container starts one Python process a node."""
    hyper = request["HyperParameters"]
    count = request["ResourceConfig"]["InstanceCount"]
    faults = []
    if hyper.get("sagemaker_mpi_enabled") == "true":
        per_node = int(hyper["sagemaker_mpi_num_of_processes_per_host"])
    elif "true" in (hyper.get("sagemaker_torch_distributed_enabled"), hyper.get("sagemaker_distributed_dataparallel_enabled")):
        per_node = entry["devices"]  # one a device, by the container
        if json.loads(hyper["sagemaker_instance_type"]) != entry["instance_type"]:
            faults.append(f"sagemaker_instance_type is {hyper['sagemaker_instance_type']}")
    else:
        return ["no launcher: one process a node would start"]
    p = entry["parallel"]
    world = p["data"] * p["tensor"] * p["pipeline"] * p["context"]
    if per_node * count != world:
        faults.append(f"{count} x {per_node} processes for a plan of {world}")
    return faults


def adapter_repository(_url: str, folder: str) -> None:
    """What the SDK clones to start a recipe, with empty training scripts."""
    for script in ("llama/llama_pretrain.py", "mistral/mistral_pretrain.py", "mixtral/mixtral_pretrain.py",
                   "deepseek/deepseek_pretrain.py", "custom_model/custom_pretrain.py"):
        file = pathlib.Path(folder, "examples", script)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def recipe_faults(sent: dict) -> list[str]:
    """Hydra finds the resolved recipe beside the adapter's script, in the image of the model parallel library."""
    hyper = sent["HyperParameters"]
    faults = []
    if not json.loads(hyper["config-name"]).startswith("recipe_") or hyper["config-path"] != '"."':
        faults.append(f"config-name is {hyper['config-name']}, config-path {hyper['config-path']}")
    if not json.loads(hyper["sagemaker_program"]).endswith("_pretrain.py"):
        faults.append(f"the script is {hyper['sagemaker_program']}")
    if "smdistributed-modelparallel" not in sent["AlgorithmSpecification"]["TrainingImage"]:
        faults.append(f"the image is {sent['AlgorithmSpecification']['TrainingImage']}")
    return faults


def main() -> int:
    sagemaker.pytorch.estimator._run_clone_command = adapter_repository
    requests = offline.answer({"CreateTrainingJob": {"TrainingJobArn": "arn"}, "PutObject": {}, "HeadBucket": {},
                               "GetCallerIdentity": {"Account": "111122223333"}})
    offline.silence("sagemaker.telemetry.telemetry_logging")
    shape = offline.create_training_job_shape()
    exported = {e["plan_id"]: json.loads(e["files"]["create_training_job.json"]) for e in exports("create-training-job")}
    report = Report("SageMaker SDK 2")
    for entry in exports("sagemaker-sdk-v2"):
        requests.clear()
        report.judged += 1
        try:
            arguments = json.loads(entry["files"]["estimator.json"])
            run_launch_script(entry, arguments.get("entry_point", "unused.py"))
        except Exception as fault:  # whatever the SDK raises is the finding
            report.fault(entry, f"{type(fault).__name__}: {fault}")
            continue
        if len(requests) != 1:
            report.fault(entry, f"{len(requests)} requests were sent")
            continue
        sent = requests[0]
        for text in offline.botocore_faults(sent, shape):
            report.fault(entry, text)
        if "training_recipe" in arguments:
            for text in recipe_faults(sent) + starts_every_process(entry, sent):
                report.fault(entry, text)
            continue
        ours = exported[entry["plan_id"]]
        name = sent["TrainingJobName"]
        if not name.startswith(ours["TrainingJobName"]):
            report.fault(entry, f"the job is named {name}, ours {ours['TrainingJobName']}")
        found = differences({**without_defaults(sent, SDK_DEFAULTS), "TrainingJobName": ""}, {**ours, "TrainingJobName": ""})
        for text in found + starts_every_process(entry, sent) + starts_every_process(entry, ours):
            report.fault(entry, text)
    return report.finish(least=300)


if __name__ == "__main__":
    sys.exit(main())
