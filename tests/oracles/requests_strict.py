#!/usr/bin/env python3
"""Every exported CreateTrainingJob request against the current botocore: its own validator, and the maxima, patterns
and enumerations of its service model, which the validator skips; and a few sums that no schema knows.
Usage: requests_strict.py CORPUS.json
"""

import json
import re
import sys

import botocore
import offline
from corpus import Report, exports

MAX_RUN_S = 28 * 86400
MAX_WAIT_S = 30 * 86400


def strict(shape, value, path: str) -> list[str]:
    """Limits of the service model that botocore's validator does not enforce."""
    limits = shape.metadata
    most = limits.get("max")
    if shape.type_name == "structure":
        return [t for k, v in value.items() for t in strict(shape.members[k], v, f"{path}/{k}")]
    if shape.type_name == "list":
        out = [f"{path}: {len(value)} items, at most {most}"] if most is not None and len(value) > most else []
        return out + [t for i, v in enumerate(value) for t in strict(shape.member, v, f"{path}/{i}")]
    if shape.type_name == "map":
        out = [f"{path}: {len(value)} entries, at most {most}"] if most is not None and len(value) > most else []
        for k, v in value.items():
            out += strict(shape.key, k, f"{path}/{k} (name)") + strict(shape.value, v, f"{path}/{k}")
        return out
    if shape.type_name == "string":
        if most is not None and len(value) > most:
            return [f"{path}: {len(value)} characters, at most {most}"]
        if shape.enum and value not in shape.enum:
            return [f"{path}: {value!r} is none of {len(shape.enum)} values"]
        pattern = limits.get("pattern", "")
        if pattern and "\\p{" not in pattern and not re.fullmatch(pattern, value):
            return [f"{path}: {value!r} does not match {pattern}"]
    if shape.type_name in ("integer", "long") and most is not None and value > most:
        return [f"{path}: {value} is over {most}"]
    return []


def sums(request: dict) -> list[str]:
    out = []
    stop = request["StoppingCondition"]
    spot = request.get("EnableManagedSpotTraining", False)
    wait = stop.get("MaxWaitTimeInSeconds")
    if not 1 <= stop["MaxRuntimeInSeconds"] <= MAX_RUN_S:
        out.append(f"MaxRuntimeInSeconds {stop['MaxRuntimeInSeconds']}")
    if spot != (wait is not None):
        out.append("MaxWaitTimeInSeconds goes with spot, and only with it")
    if wait is not None and not stop["MaxRuntimeInSeconds"] <= wait <= MAX_WAIT_S:
        out.append(f"MaxWaitTimeInSeconds {wait}")
    if spot and "CheckpointConfig" not in request:
        out.append("spot without checkpoints")
    if spot and request["ResourceConfig"].get("KeepAlivePeriodInSeconds"):
        out.append("spot with a warm pool")
    return out


def placeholders(entry: dict) -> list[str]:
    """Everything to be replaced is listed, and everything listed is there."""
    text = "".join(content for path, content in entry["files"].items() if path != "NOTES.md")
    out = [f"{p!r} is listed and nowhere in the files" for p in entry["placeholders"] if p not in text]
    for found in set(re.findall(r"[\w./:-]*REPLACE-ME[\w./-]*", text)):
        if not any(p in found or found in p for p in entry["placeholders"]):
            out.append(f"{found!r} is not listed")
    return out


def main() -> int:
    shape = offline.create_training_job_shape()
    report = Report(f"botocore {botocore.__version__}")
    for entry in exports("create-training-job"):
        report.judged += 1
        request = json.loads(entry["files"]["create_training_job.json"])
        faults = offline.botocore_faults(request, shape) or strict(shape, request, "")
        for text in faults + sums(request) + placeholders(entry):
            report.fault(entry, text)
    return report.finish(least=300)


if __name__ == "__main__":
    sys.exit(main())
