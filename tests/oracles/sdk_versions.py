#!/usr/bin/env python3
"""Every version of the real SageMaker Python SDK 2's own image tables, in full and in short, by every launcher that
has a list of its own: `smplan check` must report an error exactly where the SDK refuses the job.
Usage: sdk_versions.py SMPLAN
"""

import json
import pathlib
import sys

from corpus import Report
from replay import findings
from sdk_refusals import Sdk

LAUNCHERS = {
    "PyTorch": [{"mpi": {"enabled": True, "processes_per_host": 8}}, {"torch_distributed": {"enabled": True}},
                {"smdistributed": {"dataparallel": {"enabled": True}}}],
    "TensorFlow": [{"mpi": {"enabled": True, "processes_per_host": 8}}],
    "HuggingFace": [{"mpi": {"enabled": True, "processes_per_host": 8}}],
}
JOB = {"entry_point": "train.py", "source_dir": "s3://b/code/sourcedir.tar.gz", "max_run": 86400, "output_path": "s3://b/out",
       "role": "arn:aws:iam::111122223333:role/Training", "instance_type": "ml.p4d.24xlarge", "instance_count": 2,
       "debugger_hook_config": False}


def short(version: str) -> str:
    return ".".join(version.split(".")[:2])


def newest_python(entry: dict) -> str:
    return entry.get("py_versions", ["py3"])[-1]


def training(framework: str) -> dict:
    import sagemaker

    file = pathlib.Path(sagemaker.__file__).parent / "image_uri_config" / f"{framework}.json"
    return json.loads(file.read_text(encoding="utf-8"))["training"]


def plain(name: str):
    """Versions of a framework's own class, their short names, and one that never was."""
    table = training(name.lower())
    for version in [*table["versions"], *table["version_aliases"]]:
        entry = table["versions"][table["version_aliases"].get(version, version)]
        yield {"class": name, "framework_version": version, "py_version": newest_python(entry)}
    yield {"class": name, "framework_version": "1.99", "py_version": "py3"}


def pairs():
    """Hugging Face: both versions in full, both in short, and one in short only."""
    full = []
    for transformers, bases in training("huggingface")["versions"].items():
        for base, entry in bases.items():
            framework = base.rstrip("0123456789.")
            if framework in ("pytorch", "tensorflow"):
                full.append((framework, transformers, base.removeprefix(framework), newest_python(entry)))
    full.append(("pytorch", "4.28.1", "2.8.0", "py310"))  # each exists, but not together
    for framework, transformers, version, python in full:
        for a, b in ((transformers, version), (short(transformers), short(version)), (transformers, short(version))):
            yield {"class": "HuggingFace", "transformers_version": a, f"{framework}_version": b, "py_version": python}


def main() -> int:
    smplan = sys.argv[1]
    sdk = Sdk()
    report = Report("Versions of the SageMaker SDK 2 and smplan check", "jobs")
    for versions in [*plain("PyTorch"), *plain("TensorFlow"), *pairs()]:
        for distribution in LAUNCHERS[versions["class"]]:
            job = {**JOB, **versions, "distribution": distribution}
            report.judged += 1
            try:
                sdk.launch(job)
                refusal = ""
            except Exception as fault:  # whatever the SDK raises is its refusal
                refusal = " ".join(str(fault).split())
            errors = sorted(rule for rule, severity in findings(smplan, job, "estimator").items() if severity == "error")
            if bool(refusal) != bool(errors):
                entry = {"target": next(iter(distribution)), "case": " ".join(versions.values())}
                report.fault(entry, f"the SDK: {refusal[:200] or 'accepts'}; check: {errors or 'no error'}")
    return report.finish(least=320)


if __name__ == "__main__":
    sys.exit(main())
