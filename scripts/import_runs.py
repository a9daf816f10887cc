#!/usr/bin/env python3
"""Copies tables of measured runs into the project as typed columns: configuration, measurements and citation, no prose.

Usage: scripts/import_runs.py OUTPUT_FOLDER RUNS.csv [MORE.csv...]

Each table goes through scripts/runs/normalise. Tables with a column `trust` hold what users reported of runs of their
own: those of low trust, which leave too much to guess, and of methods that no model takes stay out. All others were published by who tuned them; of tables
of memory among them (with a column `oom`) rows stay out that have no figure, whose method or batch no model takes, or
that an earlier table of the same source has too.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "runs"))
sys.dont_write_bytecode = True

import catalog  # noqa: E402
import table  # noqa: E402

Cells = dict[str, str]
METHODS = {"full", "lora+emb/head trainable", *(method["name"] for method in catalog.adapter_methods().values())}


def measurement(row: Cells) -> tuple[str, ...]:
    """What two tables of one source have in common where they tell of one run."""
    model = re.sub(r"[^a-z0-9]", "", row["model"].lower())
    figure = row.get("step_time_s") or row.get("peak_mem_gib") or row.get("peak_mem_gib_per_gpu") or ""
    return row["source"], model, row["n_gpus"], row["seq_len"], str(float(figure)) if figure else row["id"]


def is_usable(row: Cells) -> bool:
    stated = row["step_time_s"] or row["peak_mem_gib"]
    return bool(stated) and row["method"] in METHODS and (row["batch"] or "1").isdigit()


def marked_as_tuned(stated: table.Table) -> None:
    """Vendors and benchmarks publish what they tuned: their errors are not those of a user's program."""
    if "program" not in stated.columns:
        stated.columns.insert(stated.columns.index("framework") + 1 if "framework" in stated.columns else 0, "program")
    for row in stated.rows:
        row["program"] = "tuned"


def import_reports(stated: table.Table, target: pathlib.Path) -> int:
    stated.rows = [row for row in stated.rows if row["trust"] != "low" and row["method"] in (*METHODS, "")]
    normalised = table.normalise(stated)
    table.write(normalised, str(target))
    return len(normalised.rows)


def import_table(source: pathlib.Path, target: pathlib.Path, told: set[tuple[str, ...]]) -> int:
    stated = table.read(str(source))
    columns = set(stated.rows[0]) if stated.rows else set()
    if "trust" in columns:
        return import_reports(stated, target)
    if "oom" in columns:
        stated.rows = [row for row in stated.rows if is_usable(row) and measurement(row) not in told]
    told.update(measurement(row) for row in stated.rows)
    normalised = table.normalise(stated)
    normalised.columns = [column for column in normalised.columns if column != "oom"]
    marked_as_tuned(normalised)
    table.write(normalised, str(target))
    return len(normalised.rows)


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    told: set[tuple[str, ...]] = set()
    for name in sys.argv[2:]:
        source = pathlib.Path(name)
        target = folder / source.name.removeprefix("runs_")
        try:
            print(f"{target}: {import_table(source, target, told)} runs")
        except table.TableError as error:
            print(f"import_runs.py: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
