#!/usr/bin/env python3
"""smplan.check() and smplan.guard() on ModelTrainers of the real SageMaker Python SDK 3, without a network.

Exported launch.py files make the objects. What the rules find in a live object is what they find in the exported
arguments; a guarded one is sent by train(); with a fault in its compute it is not.
Usage: live_trainers.py CORPUS.json    (smplan on PYTHONPATH)
"""

import json
import sys
from unittest import mock

import offline
import smplan
from corpus import Report, exports
from sagemaker.train import ModelTrainer
from sdk_requests import run_launch_script
from sdk_v3 import ANSWERS, Sent

# Making an object takes half a second: every thirtieth plan is enough to see each stack.
STRIDE = 30


def rules(found) -> set:
    return {(finding.rule, finding.severity) for finding in found if finding.severity != "info"}


def was_sent(trainer, given: dict, requests: list) -> bool:
    """Whether the guarded train() sent its one request; it was CheckFailed that kept it from that."""
    requests.clear()
    try:
        trainer.train(**given)
    except Sent:
        return len(requests) == 1
    except smplan.CheckFailed:
        return False
    raise AssertionError("train() came back without a request")


def faults_of_object(trainer, given: dict, arguments: dict, requests: list) -> list[str]:
    out = []
    of_arguments, of_object = rules(smplan.check(arguments, kind="model-trainer")), rules(smplan.check(trainer))
    if of_object != of_arguments:
        out.append(f"check of the object finds {sorted(of_object)}, of its arguments {sorted(of_arguments)}")
    smplan.guard(trainer)
    # A plan for a region where its type is not offered is an error that only the object's session shows.
    wrong = any(severity == "error" for _, severity in of_object)
    if was_sent(trainer, given, requests) == wrong:
        out.append(f"a guarded job sent {len(requests)} requests: {smplan.check(trainer)!r}")
    # A job that lists types has none of its own.
    choice = trainer.compute if trainer.compute.instance_type else trainer.compute.instance_preferences[0]
    choice.instance_type = choice.instance_type.removeprefix("ml.")
    if was_sent(trainer, given, requests) or requests:
        out.append("a guarded job with an error was sent")
    return out


def faults_of(entry: dict, requests: list) -> list[str]:
    """Judged where the script calls train(): its folder is there as long as it runs."""
    real, out = ModelTrainer.train, []
    arguments = json.loads(entry["files"]["model_trainer.json"])

    def judge(trainer, *_, **given):
        ModelTrainer.train = real
        out.append(faults_of_object(trainer, given, arguments, requests))

    with mock.patch.object(ModelTrainer, "train", judge):
        run_launch_script(entry, arguments["source_code"]["entry_script"])
    (faults,) = out
    return faults


def main() -> int:
    requests = offline.answer(ANSWERS)
    offline.silence("sagemaker.core.telemetry.telemetry_logging")
    report = Report("smplan.check() and guard() on objects of the SageMaker SDK 3")
    for entry in exports("sagemaker-sdk-v3")[::STRIDE]:
        report.judged += 1
        try:
            faults = faults_of(entry, requests)
        except Exception as fault:  # whatever is raised is the finding
            faults = [f"{type(fault).__name__}: {fault}"[:300]]
        for text in faults:
            report.fault(entry, text)
    return report.finish(least=8)


if __name__ == "__main__":
    sys.exit(main())
