"""Fails if an #include points up or sideways, or brings a third party where it does not belong.

The order is base <- catalogs <- models <- planner <- {cli, bindings}, and that of the rooms of models and planner is
ROOMS; see docs/architecture.md.
"""

import re
import sys
from pathlib import Path

RANK = {"base": 0, "catalogs": 1, "models": 2, "planner": 3, "cli": 4, "bindings": 4}
# What each room may include of the others of its folder, by folder.
ROOMS = {
    "models": {
        "job": set(),
        "machine": {"job"},
        "layers": {"job", "machine"},
        "pipeline": set(),
        "engines": {"job", "layers"},
        "memory": {"job", "machine", "layers", "pipeline", "engines"},
        "step": {"job", "machine", "layers", "pipeline", "engines", "memory"},
        "run": {"job", "machine", "layers", "engines", "step"},
        "rollout": {"job", "machine", "layers", "run"},
    },
    "planner": {
        "export": set(),
        "request": {"export"},  # what can be launched
        "answer": {"request", "export"},
        "search": {"answer", "request"},
        "analysis": {"search", "answer", "request", "export"},
        "rl": {"search", "answer", "request", "export"},
        "trace": {"answer", "export"},
        "report": {"trace", "analysis", "search", "answer"},
        "preflight": {"report", "rl", "export", "search", "answer", "request"},
        "validation": {"answer"},
        "calibration": {"validation", "answer"},
    },
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
# Where each third party may be included, as patterns of paths from the root. tl::expected may be everywhere.
THIRD_PARTY = {
    "nlohmann/": r"base/json_(reader|stream|writer)\.cpp",
    "boost/": r"models/(machine/topology|pipeline/simulation)\.cpp",
    "Eigen/": r"base/least_squares\.cpp",
    "curl/": r"cli/refresh/http_curl\.cpp",
    "CLI/": r"cli/(app|arguments|flags|interface/description)\.cpp",
    "pybind11/": r"bindings/.*",
    "yaml-cpp/": r"planner/preflight/.*\.cpp",
    "toml++/": r"planner/preflight/.*\.cpp",
    "pcre2": r"catalogs/tokenizer/pattern\.cpp",
    "utf8proc": r"catalogs/tokenizer/characters\.cpp",
    "fmt/": r".*\.cpp|cli/.*",
}


def room_of(path: str) -> str:
    """Of planner/export/launch.cpp `export`, of a file that stands in no room nothing."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def crosses_rooms(path: str, own: str) -> bool:
    folder = path.split("/")[0]
    if folder not in ROOMS or not own.startswith(folder + "/"):
        return False
    here, there = room_of(path), room_of(own)
    return there != here and there not in ROOMS[folder].get(here, set())


def unknown_room(path: str) -> bool:
    folder = path.split("/")[0]
    return folder in ROOMS and room_of(path) not in ROOMS[folder]


def faults_of(root: Path, file: Path) -> list[str]:
    path = file.relative_to(root).as_posix()
    folder = path.split("/")[0]
    faults = []
    text = file.read_text(encoding="utf-8")
    if unknown_room(path):
        faults.append(f"{path}:1: {folder} has rooms, and this file stands in none of them")
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
            elif crosses_rooms(path, own):
                faults.append(where + f"{folder}/{room_of(path)} must not include {folder}/{room_of(own)} ({own})")
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
