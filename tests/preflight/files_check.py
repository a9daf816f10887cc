#!/usr/bin/env python3
"""scripts/check_files, which the hook and the action run: the worst status of all files, flags for each of them.

Usage: files_check.py SMPLAN_BINARY
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests/data/jobs/samples"
FAULTY = str(SAMPLES / "20a_seed000.json")
WARNED = str(SAMPLES / "20c_seed002_ps.json")


def main() -> int:
    environment = {"PATH": os.environ["PATH"], "SMPLAN": os.path.abspath(sys.argv[1])}
    faults = []

    def expect(status, out, *arguments):
        done = subprocess.run([str(ROOT / "scripts/check_files"), *arguments], capture_output=True, text=True,
                              env=environment, timeout=120, check=False)
        if done.returncode != status or out not in done.stdout + done.stderr:
            faults.append(f"{arguments}: {done.returncode}, {done.stdout}{done.stderr}")

    expect(0, "5 warnings", WARNED)
    expect(1, "C046", WARNED, FAULTY)
    expect(1, "::warning file=", "--strict", "--format=github", "--", WARNED)
    expect(2, "cannot be read", FAULTY, "/nowhere.json")
    with tempfile.TemporaryDirectory() as folder:
        odd = pathlib.Path(folder, "a b;c $(d).json")
        odd.write_text('{"class": "PyTorch", "max_retries": 3}', encoding="utf-8")
        expect(0, "C068", str(odd))
    print("\n".join(faults) if faults else "scripts/check_files behaves")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
