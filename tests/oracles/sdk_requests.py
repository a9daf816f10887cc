"""Runs an exported launch.py, and holds what the SDK sent against the request that smplan exports for the same plan."""

import contextlib
import io
import json
import os
import pathlib
import runpy
import tempfile

from corpus import unpack

# Decided by the SDK at the moment of the call: names with a time stamp, where the code was uploaded.
NAMED_BY_THE_SDK = {"sagemaker_job_name", "sagemaker_submit_directory"}


def differences(sent, exported, path: str = "") -> list[str]:
    """Fields that both decide and decide differently; a field that only one of them has is named too."""
    if isinstance(sent, dict) and isinstance(exported, dict):
        out = []
        for key in sorted(set(sent) | set(exported)):
            if key in NAMED_BY_THE_SDK:
                continue
            if key not in sent:
                out.append(f"{path}/{key}: only in our request: {exported[key]!r}")
            elif key not in exported:
                out.append(f"{path}/{key}: only in the SDK's request: {sent[key]!r}")
            else:
                out += differences(sent[key], exported[key], f"{path}/{key}")
        return out
    if isinstance(sent, list) and isinstance(exported, list) and len(sent) == len(exported):
        return [d for i, (a, b) in enumerate(zip(sent, exported)) for d in differences(a, b, f"{path}/{i}")]
    if path.endswith("/mp_parameters"):  # JSON in a string: spaces do not count
        return differences(json.loads(sent), json.loads(exported), path + "/")
    return [] if sent == exported else [f"{path}: the SDK says {sent!r}, we say {exported!r}"]


def run_launch_script(entry: dict, entry_script: str) -> None:
    """launch.py in a folder with all files of the export and an empty training script."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        unpack(entry, folder)
        script = folder / "src" / entry_script
        script.parent.mkdir(exist_ok=True)
        script.touch()
        os.environ["AWS_DEFAULT_REGION"] = entry["region"]
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            runpy.run_path("launch.py", run_name="__main__")


def without_defaults(request: dict, defaults: dict[tuple, object]) -> dict:
    """A copy without the members that stand at the service's own default."""
    request = json.loads(json.dumps(request))
    for path, default in defaults.items():
        at = request
        for key in path[:-1]:
            at = at.get(key, {})
        if at.get(path[-1]) == default:
            del at[path[-1]]
    return request
