"""What smplan says of the measured runs."""

import csv
import dataclasses
import json
import pathlib
import subprocess

LEFT_OUT = ("source", "gpu", "model", "stack", "stack-gpu")


@dataclasses.dataclass(frozen=True)
class Figures:
    validation: dict  # smplan validate --format json
    users: dict  # the same of runs that users reported
    bounds: dict  # what tests/measured/accuracy_test.cpp found
    left_out: dict[str, dict]  # by source, gpu, ...: errors under a fit without the group
    fit: dict  # smplan calibrate --fit-report --format json
    tables: list[str]  # names of the tables
    doubtful: list[dict]  # runs that nothing is fitted on: id, reason
    shipped: dict[str, dict]  # profiles of the catalog, by stack
    chosen: list[dict]  # constants of the code that runs told: file, text, meaning, prior, value, spread, told_by

    def summary(self, by: str) -> list[dict]:
        return self.validation["step_time"][by]

    @property
    def all(self) -> dict:
        return self.summary("all")[0]

    @property
    def timed(self) -> list[dict]:
        return [run for run in self.validation["runs"] if "measured_step_time_s" in run]

    @property
    def weighed(self) -> list[dict]:
        return [run for run in self.validation["runs"] if "measured_peak_mem_gib" in run]


def doubtful(path: pathlib.Path) -> list[dict]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shipped(root: pathlib.Path) -> dict[str, dict]:
    profiles = json.loads((root / "catalogs/data/stack_profiles.json").read_text(encoding="utf-8"))["stack_profiles"]
    return {profile["stack"]: profile for profile in profiles}


def chosen(root: pathlib.Path) -> list[dict]:
    constants = json.loads((root / "scripts/fit/chosen.json").read_text(encoding="utf-8"))["constants"]
    for constant in constants:
        if constant["text"] not in (root / constant["file"]).read_text(encoding="utf-8"):
            raise SystemExit(f"scripts/fit/chosen.json: {constant['file']} does not say {constant['text']!r}")
    return constants


def collect(binary: pathlib.Path, root: pathlib.Path) -> Figures:
    runs = sorted((root / "tests/measured/runs").glob("*.csv"))
    reports = sorted((root / "tests/measured/users").glob("*.csv"))

    def ask(verb: str, *arguments: str, tables: list[pathlib.Path] = runs) -> dict:
        command = [binary, verb, *tables, *arguments, "--format", "json", "--quiet"]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    # The catalog's profiles were fitted on these runs: what is left out must be unknown to the fit's start too.
    fit = (
        "calibrate",
        "--scope",
        "devices",
        "--calibration",
        str(root / "scripts/fit/priors.json"),
        "--not-fitted",
        str(root / "tests/measured/doubtful.csv"),
    )
    return Figures(
        validation=ask("validate", "--worst", "15"),
        users=ask("validate", tables=reports),
        bounds=json.loads((root / "tests/measured/bounds.json").read_text(encoding="utf-8")),
        left_out={by: ask(*fit, "--cross-validate", by)["left_out"] for by in LEFT_OUT},
        fit=ask(*fit, "--fit-report"),
        tables=[path.name for path in runs],
        doubtful=doubtful(root / "tests/measured/doubtful.csv"),
        shipped=shipped(root),
        chosen=chosen(root),
    )
