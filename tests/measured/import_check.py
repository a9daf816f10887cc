"""Imported tables of measured runs are predicted as the tables they came from.

Usage: import_check.py SMPLAN PROJECT
"""

import pathlib
import subprocess
import sys
import tempfile


def predictions(smplan: str, folder: pathlib.Path) -> list[str]:
    tables = sorted(str(table) for table in folder.glob("*.csv"))
    command = [smplan, "validate", *tables, "--format", "csv", "--quiet"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> int:
    smplan, project = sys.argv[1], pathlib.Path(sys.argv[2])
    runs = project / "tests/measured/runs"
    with tempfile.TemporaryDirectory() as copy:
        script = [sys.executable, "-B", str(project / "scripts/import_runs.py"), copy]
        subprocess.run([*script, *sorted(map(str, runs.glob("*.csv")))], check=True, capture_output=True)
        shipped, imported = predictions(smplan, runs), predictions(smplan, pathlib.Path(copy))
    if len(shipped) < 1000:
        print(f"only {len(shipped)} lines were predicted")
        return 1
    differing = [pair for pair in zip(shipped, imported) if pair[0] != pair[1]]
    for before, after in differing[:5]:
        print(f"shipped:  {before}\nimported: {after}")
    return 1 if differing or len(shipped) != len(imported) else 0


if __name__ == "__main__":
    sys.exit(main())
