#!/usr/bin/env python3
"""Every exported CreateTrainingJob request under the TypeScript compiler, as the input of the AWS SDK for JavaScript.

Its types know every member, kind and enumeration of the newest service model. Usage: typescript.py CORPUS.json NPM_FOLDER
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from corpus import Report, exports

COMPILE = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "--moduleResolution",
           "nodenext", "--types", ""]
HEAD = 'import type { CreateTrainingJobCommandInput } from "@aws-sdk/client-sagemaker";\n'
FAULT = re.compile(r"^requests\.ts\((\d+),\d+\): error (.*)$", re.MULTILINE)


def compile_requests(requests: list[str], npm: pathlib.Path) -> dict[int, str]:
    """First error of each request, by its place; one line a request, so that the line of an error names it."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "node_modules").symlink_to(npm / "node_modules")
        (folder / "package.json").write_text('{"type": "module"}')
        lines = [f"export const r{i}: CreateTrainingJobCommandInput = {text};\n" for i, text in enumerate(requests)]
        (folder / "requests.ts").write_text(HEAD + "".join(lines))
        done = subprocess.run([npm / "node_modules/.bin/tsc", *COMPILE, "requests.ts"], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    found: dict[int, str] = {}
    for line, text in FAULT.findall(done.stdout):
        found.setdefault(int(line) - 2, text)
    if done.returncode != 0 and not found:
        sys.exit(f"tsc: {done.stdout}")
    return found


def faulty_requests(request: dict) -> list[dict]:
    """What the compiler must refuse, or it judges nothing."""
    resources = request["ResourceConfig"]
    return [{**request, "UseSpot": True}, {**request, "ResourceConfig": {**resources, "InstanceType": "ml.p6.48xlarge"}},
            {**request, "ResourceConfig": {**resources, "InstanceCount": "2"}},
            {k: v for k, v in request.items() if k != "OutputDataConfig"}]


def main() -> int:
    npm = pathlib.Path(sys.argv[2]).resolve()
    os.environ["PATH"] = f"{npm.parent / 'node' / 'bin'}:{os.environ['PATH']}"
    entries = exports("create-training-job")
    texts = [json.dumps(json.loads(e["files"]["create_training_job.json"])) for e in entries]
    planted = [json.dumps(r) for r in faulty_requests(json.loads(texts[0]))]
    found = compile_requests(texts + planted, npm)
    missed = [i for i in range(len(planted)) if len(texts) + i not in found]
    if missed:
        print(f"the compiler let planted faults pass: {missed}")
        return 1
    report = Report("TypeScript")
    report.judged = len(texts)
    for i, entry in enumerate(entries):
        if i in found:
            report.fault(entry, found[i])
    return report.finish(least=300)


if __name__ == "__main__":
    sys.exit(main())
