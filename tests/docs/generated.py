#!/usr/bin/env python3
"""Pages and schemas that are written from the code agree with it. SMPLAN_UPDATE_GOLDEN=1 writes them.

usage: generated.py SMPLAN ROOT PYTHON PYTHONPATH
"""

import os
import pathlib
import subprocess
import sys
import tempfile


def main() -> int:
    smplan, root, python, pythonpath = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    writers = {"docs/cli.md": [smplan, "manual", "--format", "markdown", "--output"],
               "docs/checks.md": [smplan, "check", "--rules", "--output"]}
    if pathlib.Path(pythonpath).exists():
        writers["docs/python.md"] = [python, str(root / "scripts/python_page")]
        writers["planner/schema/plan.schema.json"] = [python, str(root / "scripts/plan_schema")]
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for name, command in writers.items():
            page = pathlib.Path(folder, "page.md")
            subprocess.run([*command, str(page)], check=True, timeout=120,
                           env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONPATH": pythonpath})
            text = page.read_text(encoding="utf-8")
            if os.environ.get("SMPLAN_UPDATE_GOLDEN") == "1":
                (root / name).write_text(text, encoding="utf-8")
            elif not (root / name).exists() or (root / name).read_text(encoding="utf-8") != text:
                faults.append(f"{name} is stale: write it with `{' '.join(command)} {name}`")
    print("\n".join(faults) if faults else f"{', '.join(writers)} agree with the code")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
