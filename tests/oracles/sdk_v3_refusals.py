#!/usr/bin/env python3
"""What the real SageMaker Python SDK 3 refuses or lets pass, against what `smplan check` says of the same job.

The SDK builds each ModelTrainer and trains without a network; replay.py says how a row is judged.
Usage: sdk_v3_refusals.py SMPLAN MODEL_TRAINERS.json
"""

import contextlib
import copy
import io
import os
import pathlib
import re
import sys
import tempfile

import offline
from replay import replay
from sdk_v3 import ANSWERS, Sent

REGION = "us-east-1"


class Sdk:
    """Builds trainers from their arguments in JSON, and keeps the request that train() would send."""

    def __init__(self):
        os.environ["AWS_DEFAULT_REGION"] = REGION
        self.requests = offline.answer(ANSWERS)
        offline.silence("sagemaker.core.telemetry.telemetry_logging")
        self.script = ""  # what the container runs
        self.keep_scripts()

    def keep_scripts(self) -> None:
        from sagemaker.train import ModelTrainer

        write = ModelTrainer._prepare_train_script

        def keep(trainer, tmp_dir, **arguments):
            write(trainer, tmp_dir=tmp_dir, **arguments)
            self.script = (pathlib.Path(tmp_dir.name) / "sm_train.sh").read_text(encoding="utf-8")

        ModelTrainer._prepare_train_script = keep

    def launch(self, job: dict) -> dict:
        """The request of the job; raises what the SDK raises."""
        from sagemaker.train import ModelTrainer, configs, distributed

        arguments = copy.deepcopy(job)
        del arguments["class"]
        for name, made in (("source_code", configs.SourceCode), ("compute", configs.Compute),
                           ("stopping_condition", configs.StoppingCondition), ("networking", configs.Networking),
                           ("checkpoint_config", configs.CheckpointConfig),
                           ("output_data_config", configs.OutputDataConfig)):
            if name in arguments:
                arguments[name] = made(**arguments[name])
        if "distributed" in arguments:
            launcher = arguments["distributed"]
            if "smp" in launcher:
                launcher["smp"] = distributed.SMP(**launcher["smp"])
            arguments["distributed"] = getattr(distributed, launcher.pop("class"))(**launcher)
        if "tags" in arguments:
            arguments["tags"] = [configs.Tag(**tag) for tag in arguments["tags"]]
        inputs = [configs.InputData(**channel) for channel in arguments.pop("input_data_config", [])]
        self.requests.clear()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            script = pathlib.Path("src/train.py")
            script.parent.mkdir()
            script.touch()
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Sent):
                ModelTrainer(**arguments).train(input_data_config=inputs, wait=False)
        (request,) = self.requests
        return request

    def launchers(self, request: dict) -> list[str]:
        """Drivers that the container's script calls and that start more than one process a node."""
        return sorted(set(re.findall(r"(\w+)_driver\.py", self.script)) - {"basic_script"})


def main() -> int:
    smplan, path = sys.argv[1:]
    return replay("SageMaker SDK 3 and smplan check", smplan, path, Sdk(), "model-trainer", least=80)


if __name__ == "__main__":
    sys.exit(main())
