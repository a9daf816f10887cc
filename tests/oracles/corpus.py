"""The exported corpus, as the oracles read it."""

import json
import pathlib
import sys


def exports(target: str | None = None) -> list[dict]:
    """Exports that were written, of one target or of all; the file is the first argument of the program."""
    with open(sys.argv[1], encoding="utf-8") as file:
        entries = json.load(file)
    return [e for e in entries if "files" in e and target in (None, e["target"])]


def unpack(entry: dict, folder: pathlib.Path) -> None:
    for path, content in entry["files"].items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")


def changed(value, patch):
    """RFC 7396: objects merge, null removes, anything else replaces."""
    if not isinstance(patch, dict):
        return patch
    out = dict(value) if isinstance(value, dict) else {}
    for key, new in patch.items():
        if new is None:
            out.pop(key, None)
        else:
            out[key] = changed(out.get(key), new)
    return out


class Report:
    """Counts what was judged; prints the first faults, and fails the program if there are any."""

    SHOWN = 20

    def __init__(self, what: str, of: str = "exports"):
        self.what = what
        self.of = of
        self.judged = 0
        self.faults: list[str] = []

    def fault(self, entry: dict, text: str) -> None:
        self.faults.append(f"{entry['target']}: {entry['case']}\n    {text}")

    def finish(self, least: int) -> int:
        for fault in self.faults[: self.SHOWN]:
            print(fault)
        if len(self.faults) > self.SHOWN:
            print(f"... and {len(self.faults) - self.SHOWN} more")
        print(f"{self.what}: {self.judged} {self.of}, {len(self.faults)} faults")
        if self.judged < least:
            print(f"only {self.judged} of at least {least} were judged: the corpus has shrunk")
        return 1 if self.faults or self.judged < least else 0
