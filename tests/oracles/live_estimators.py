#!/usr/bin/env python3
"""smplan.check() and smplan.guard() on the objects of the real SageMaker Python SDK 2, without a network.

Of each configuration of the table that the SDK's constructor takes, the live object is found to have the errors that
its arguments in JSON have; a guarded one is submitted by fit() if there is none, and not submitted otherwise.
Usage: live_estimators.py CONFIGURATIONS.json    (smplan on PYTHONPATH)
"""

import contextlib
import io
import json
import pathlib
import sys

import smplan
from corpus import Report, changed
from sdk_refusals import REGION, Sdk

def errors(found) -> set:
    return {finding.rule for finding in found.errors}


def submitted(estimator, inputs) -> bool:
    """False if the guard kept the job from being sent; raises what the SDK raises."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            smplan.guard(estimator).fit(inputs, wait=False)
        except smplan.CheckFailed:
            return False
    return True


def faults_of(job: dict, sdk: Sdk) -> list[str]:
    estimator, inputs = sdk.estimator(job)
    job = {"region": REGION, **job}  # the object's session knows it
    expected = errors(smplan.check(job))
    alone = errors(smplan.check({name: value for name, value in job.items() if name != "inputs"}))
    out = []
    found = errors(smplan.check(estimator))
    if found != alone:
        out.append(f"check of the object finds {sorted(found)}, of its arguments {sorted(alone)}")
    sdk.requests.clear()
    sent = submitted(estimator, inputs)
    if sent != (not expected) or len(sdk.requests) != int(sent):
        out.append(f"errors {sorted(expected)}, and {len(sdk.requests)} requests were sent")
    return out


def main() -> int:
    table = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    right = {row["name"]: row["job"] for row in table["right"]}
    jobs = [("right", name, job) for name, job in right.items()]
    jobs += [("wrong", row["name"], changed(right[row["of"]], row["change"])) for row in table["wrong"]]
    sdk = Sdk()
    report = Report("smplan.check() and guard() on objects of the SageMaker SDK 2", "configurations")
    refused = 0
    for kind, name, job in jobs:
        entry = {"target": kind, "case": name}
        try:
            sdk.estimator(job)
        except Exception:  # the SDK says it itself, at construction: nothing is left to guard
            refused += 1
            continue
        report.judged += 1
        try:
            faults = faults_of(job, sdk)
        except Exception as fault:  # what fit() refuses by itself needs no guard, but must not be what the guard lets pass as right
            faults = [] if kind == "wrong" and smplan.check(job).ok else [f"{type(fault).__name__}: {fault}"[:300]]
        for text in faults:
            report.fault(entry, text)
    print(f"{refused} configurations are refused by the constructors")
    return report.finish(least=80)


if __name__ == "__main__":
    sys.exit(main())
