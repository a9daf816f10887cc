#!/usr/bin/env python3
"""What the real SageMaker Python SDK 2 refuses, drops or lets pass, against what `smplan check` says of the same job.

The SDK builds and fits each estimator without a network; replay.py says how a row is judged.
Usage: sdk_refusals.py SMPLAN CONFIGURATIONS.json
"""

import contextlib
import copy
import importlib
import io
import re
import sys

import offline
from replay import replay

MODULES = {"PyTorch": "sagemaker.pytorch", "HuggingFace": "sagemaker.huggingface", "TensorFlow": "sagemaker.tensorflow"}
REGION = "us-east-1"  # of a configuration that names none


class Sdk:
    """Builds estimators from their arguments in JSON, and keeps the request that fit() would send."""

    def __init__(self):
        self.requests = offline.answer({"CreateTrainingJob": {"TrainingJobArn": "arn"}, "HeadBucket": {},
                                        "GetCallerIdentity": {"Account": "111122223333"}})
        offline.silence("sagemaker.telemetry.telemetry_logging")
        self.sessions: dict = {}

    def session(self, region: str):
        import boto3
        from sagemaker.session import Session

        if region not in self.sessions:
            self.sessions[region] = Session(boto3.Session(region_name=region))
        return self.sessions[region]

    def estimator(self, job: dict) -> tuple:
        """The SDK's own object and what its fit() takes; raises what the SDK raises."""
        from sagemaker.inputs import TrainingInput
        from sagemaker.instance_group import InstanceGroup

        arguments = copy.deepcopy(job)
        module, _, name = arguments.pop("class").rpartition(".")
        module = module or MODULES[name]
        inputs = arguments.pop("inputs", None)
        if isinstance(inputs, dict):
            inputs = {k: TrainingInput(**v) if isinstance(v, dict) else v for k, v in inputs.items()}
        groups = [InstanceGroup(**group) for group in arguments.pop("instance_groups", [])]
        if groups:
            arguments["instance_groups"] = groups
        named = arguments.get("distribution", {}).get("instance_groups")
        if named is not None:
            known = {group.instance_group_name: group for group in groups}
            arguments["distribution"]["instance_groups"] = [known.get(n, InstanceGroup(n)) for n in named]
        compiler = arguments.get("compiler_config", {})
        if "class" in compiler:
            arguments["compiler_config"] = getattr(importlib.import_module(module), compiler.pop("class"))(**compiler)
        arguments["sagemaker_session"] = self.session(arguments.pop("region", REGION))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return getattr(importlib.import_module(module), name)(**arguments), inputs

    def launch(self, job: dict) -> dict:
        """The request of the job; raises what the SDK raises."""
        estimator, inputs = self.estimator(job)
        self.requests.clear()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            estimator.fit(inputs, wait=False)
        (request,) = self.requests
        return request

    @staticmethod
    def launchers(request: dict) -> list[str]:
        """Hyperparameters by which the container starts more than one process a node."""
        switched_on = {k for k, v in request["HyperParameters"].items() if re.fullmatch(r"sagemaker_\w+_enabled", k) and v == "true"}
        return sorted(switched_on - {"sagemaker_training_compiler_enabled"})


def main() -> int:
    smplan, path = sys.argv[1:]
    return replay("SageMaker SDK 2 and smplan check", smplan, path, Sdk(), "estimator", least=180)


if __name__ == "__main__":
    sys.exit(main())
