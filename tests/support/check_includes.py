"""Fails if an #include points up or sideways, or brings a third party where it does not belong.

The order is base <- catalogs <- models <- planner <- {cli, bindings}; see docs/architecture.md.
"""

import re
import sys
from pathlib import Path

RANK = {"base": 0, "catalogs": 1, "models": 2, "planner": 3, "cli": 4, "bindings": 4}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
# Where each third party may be included, as patterns of paths from the root. tl::expected may be everywhere.
THIRD_PARTY = {
    "nlohmann/": r"base/json_(reader|stream)\.cpp|catalogs/import/overlay\.cpp|planner/.*\.cpp|cli/.*|bindings/.*",
    "boost/": r"models/(topology|pipeline)\.cpp",
    "Eigen/": r"models/calibration\.cpp",
    "CLI/": r"cli/.*\.cpp",
    "pybind11/": r"bindings/.*",
    "yaml-cpp/": r"planner/preflight/.*\.cpp",
    "toml++/": r"planner/preflight/.*\.cpp",
    "fmt/": r".*\.cpp|cli/.*",
}


def faults_of(root: Path, file: Path) -> list[str]:
    path = file.relative_to(root).as_posix()
    folder = path.split("/")[0]
    faults = []
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".hpp" and not text.startswith("#pragma once"):
        faults.append(f"{path}:1: a header starts with #pragma once")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        system, own = match.groups()
        where = f"{path}:{number}: "
        if own:
            target = own.split("/")[0]
            if target not in RANK or not (root / own).is_file():
                faults.append(where + f"{own} is no path from the root of the repository")
            elif target != folder and RANK[target] >= RANK[folder]:
                faults.append(where + f"{folder} must not include {target} ({own})")
        else:
            for prefix, allowed in THIRD_PARTY.items():
                if system.startswith(prefix) and not re.fullmatch(allowed, path):
                    faults.append(where + f"<{system}> does not belong here")
    return faults


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    files = sorted(file for folder in RANK for file in (root / folder).rglob("*.[ch]pp"))
    faults = [fault for file in files for fault in faults_of(root, file)]
    print("\n".join(faults) if faults else f"{len(files)} files, all includes point down")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
