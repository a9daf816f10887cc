#!/usr/bin/env python3
"""What flags take and leave alone, and what the pages made from them say.

Usage: flags_check.py SMPLAN_BINARY
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BINARY = ""
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def smplan(*arguments, **environment):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                          env={**ENVIRONMENT, **environment})


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name: str, content: dict) -> str:
        path = self.folder / name
        path.write_text(json.dumps(content))
        return str(path)


class AFlagTakesOneWord(InAFolder):
    """What stands after it is the command's own."""

    def test_of_catalogs_and_calibrations(self):
        overlay = self.file("overlay.json", {"schema": "smplan.catalog/1"})
        for flag in ("--catalog", "--calibration"):
            done = smplan("catalog", "show", flag, overlay, "ml.p4d.24xlarge")
            self.assertEqual(done.returncode, 0, f"{flag}: {done.stderr}")
            self.assertIn("ml.p4d.24xlarge", done.stdout)

    def test_of_lists(self):
        job = self.file("ds.json", {"train_batch_size": 64, "zero_optimization": {"stage": 3}})
        done = smplan("check", "--instances", "ml.p4d.24xlarge", job)
        self.assertEqual(done.returncode, 0, done.stderr)


class Dates(InAFolder):
    def said(self, date: str) -> str:
        done = smplan("calibrate", str(self.folder / "missing.csv"), "--as-of", date)
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def test_of_the_calendar_are_taken(self):
        for date in ("2026-11-22", "2024-02-29", "2026-01-31"):
            self.assertNotIn("--as-of", self.said(date), date)

    def test_others_are_refused(self):
        for date in ("2026-13-01", "2026-02-29", "2026-11-31", "2026-1-011", "2026-11-2x", "20261-1-22", "2026/11/22", "2026-11-2"):
            self.assertIn("--as-of", self.said(date), date)


class Sweeps(InAFolder):
    ONE = ("sweep", "--model", "llama-2-7b", "--instances", "ml.p4d.24xlarge", "--stack", "fsdp", "--tokens", "1B", "--vary", "count=2")

    def test_follow_the_region_of_the_environment(self):
        here = smplan(*self.ONE, AWS_REGION="us-west-2")
        self.assertEqual(here.returncode, 0, here.stderr)
        self.assertEqual(json.loads(here.stdout)["plan"]["cost"]["region"], "us-west-2")

    def test_write_to_devices(self):
        done = smplan(*self.ONE, "--output", "/dev/null")
        self.assertEqual(done.returncode, 0, done.stderr)


class Pages(InAFolder):
    def test_the_main_page_names_every_command_once_with_commas_between(self):
        self.assertEqual(smplan("manual", "--output", f"{self.folder}/").returncode, 0)
        page = (self.folder / "smplan.1").read_text().split(".SH SEE ALSO\n")[1]
        lines = [line for line in page.splitlines() if line.startswith(".BR")]
        self.assertEqual(len(lines), len(list(self.folder.glob("smplan-*.1"))))
        self.assertEqual([line.endswith(",") for line in lines], [True] * (len(lines) - 1) + [False])

    def test_fish_reads_texts_with_quotes(self):
        script = smplan("completion", "fish").stdout
        self.assertIn("\\'", script, "no text has an apostrophe: the test says nothing")
        for line in script.splitlines():
            if line.startswith("complete"):
                quotes = re.findall(r"\\.|(')", line)
                self.assertEqual(sum(bool(quote) for quote in quotes) % 2, 0, line)


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
