#!/usr/bin/env python3
"""What the real SageMaker Python SDK 2 refuses, drops or lets pass, against what `smplan check` says of the same job.

Each wrong row of the table is a change (a JSON merge patch) to a configuration that is right. The SDK builds and fits
both without a network and must do what the row states; `smplan check` must name the row's rules on the changed job,
and neither them nor any error on the right one: so it is the change that is found, whether or not the SDK says a word.
Usage: sdk_refusals.py SMPLAN CONFIGURATIONS.json
"""

import contextlib
import copy
import importlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import offline
from corpus import Report

MODULES = {"PyTorch": "sagemaker.pytorch", "HuggingFace": "sagemaker.huggingface", "TensorFlow": "sagemaker.tensorflow"}
REGION = "us-east-1"  # of a configuration that names none
VERDICTS = ("accepted", "dropped", "refused")


def changed(value, patch):
    """RFC 7396: objects merge, null removes, anything else replaces."""
    if not isinstance(patch, dict):
        return patch
    out = dict(value) if isinstance(value, dict) else {}
    for key, new in patch.items():
        if new is None:
            out.pop(key, None)
        else:
            out[key] = changed(out.get(key), new)
    return out


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

    def launch(self, job: dict) -> dict:
        """The request of the job; raises what the SDK raises."""
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
        self.requests.clear()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            getattr(importlib.import_module(module), name)(**arguments).fit(inputs, wait=False)
        (request,) = self.requests
        return request


def launchers(request: dict) -> list[str]:
    """Hyperparameters by which the container starts more than one process a node."""
    switched_on = {k for k, v in request["HyperParameters"].items() if re.fullmatch(r"sagemaker_\w+_enabled", k) and v == "true"}
    return sorted(switched_on - {"sagemaker_training_compiler_enabled"})


def at(request, pointer: str):
    for key in pointer.strip("/").split("/"):
        request = request.get(key) if isinstance(request, dict) else None
    return request


def sent_faults(row: dict, request: dict) -> list[str]:
    """A request that went out, against what the row says of it."""
    out = []
    if launchers(request) != sorted(row["launchers"]):
        out.append(f"the request's launchers are {launchers(request)}, the table's {row['launchers']}")
    text = json.dumps(request)
    out += [f"{word!r} is in the request, and was to be lost" for word in row.get("lost", []) if word in text]
    for pointer, value in row.get("sends", {}).items():
        if at(request, pointer) != value:
            out.append(f"the request has {at(request, pointer)!r} at {pointer}, the table {value!r}")
    return out


def sdk_faults(row: dict, sdk: Sdk) -> list[str]:
    try:
        request = sdk.launch(row["job"])
    except Exception as fault:  # whatever the SDK raises is its refusal
        said = " ".join(f"{type(fault).__name__}: {fault}".split())
        if row["sdk"] != "refused":
            return [f"the SDK refuses what it is said to have {row['sdk']}: {said[:300]}"]
        return [] if row["says"] in said else [f"the SDK refuses for another reason than {row['says']!r}: {said[:300]}"]
    if row["sdk"] == "refused":
        return [f"the SDK accepts what it is said to refuse; launchers {launchers(request)}"]
    return sent_faults(row, request)


def findings(smplan: str, job: dict) -> dict[str, str]:
    """Severity by rule; information is no finding that holds a job up."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "estimator.json"
        file.write_text(json.dumps(job), encoding="utf-8")
        done = subprocess.run([smplan, "check", "--kind", "estimator", "--format", "json", str(file)],
                              capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"smplan check ends with {done.returncode}: {done.stderr}")
    return {f["rule"]: f["severity"] for f in json.loads(done.stdout)["findings"] if f["severity"] != "info"}


def check_faults(row: dict, found: dict[str, str], of_right: dict[str, str]) -> list[str]:
    out = [f"check does not report {rule}, only {sorted(found)}" for rule in row["rules"] if rule not in found]
    out += [f"check reports {rule} on {row['of']} too" for rule in row["rules"] if rule in of_right]
    errors = sorted(rule for rule, severity in found.items() if severity == "error" and rule not in row["rules"])
    return out + ([f"check reports errors {errors} that the table does not know"] if errors else [])


def main() -> int:
    smplan, path = sys.argv[1:]
    table = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    sdk = Sdk()
    report = Report("SageMaker SDK 2 and smplan check", "configurations")
    counts = dict.fromkeys(VERDICTS, 0)
    of_right = {}
    for row in table["right"]:
        report.judged += 1
        entry = {"target": "right", "case": row["name"]}
        found = of_right[row["name"]] = findings(smplan, row["job"])
        row = {**row, "sdk": "accepted", "rules": [], "of": row["name"]}
        for text in sdk_faults(row, sdk) + check_faults(row, found, {}):
            report.fault(entry, text)
    right = {row["name"]: row for row in table["right"]}
    for row in table["wrong"]:
        report.judged += 1
        counts[row["sdk"]] += 1
        of = right[row["of"]]
        row = {"launchers": of["launchers"], **row, "job": changed(of["job"], row["change"])}
        entry = {"target": row["sdk"], "case": row["name"]}
        if row["sdk"] == "dropped" and row["launchers"] and "lost" not in row:
            report.fault(entry, "the row does not say what is dropped")
        for text in sdk_faults(row, sdk) + check_faults(row, findings(smplan, row["job"]), of_right[row["of"]]):
            report.fault(entry, text)
        if not row["rules"]:
            report.fault(entry, "no rule is expected: the row shows nothing")
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()), f"and {len(right)} right")
    return report.finish(least=180)


if __name__ == "__main__":
    sys.exit(main())
