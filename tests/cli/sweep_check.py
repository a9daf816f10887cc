#!/usr/bin/env python3
"""A sweep that is killed goes on where it was: nothing is lost, nothing is planned twice.

Usage: sweep_check.py SMPLAN_BINARY
"""

import csv
import io
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
SWEEP = ["sweep", "--model", "gpt2", "--instances", "ml.p4d.24xlarge,ml.g5.12xlarge", "--count", "1..8",
         "--vary", "tokens=" + "|".join(f"{n}B" for n in range(1, 21)), "--vary", "objective=cost|time"]
REQUESTS = 40


GRID = ["sweep", "--model", "gpt2", "--instances", "ml.p4d.24xlarge", "--count", "1", "--vary", "tokens=1B|many", "--vary",
        "objective=cost|time"]
TRIALS = ["sweep", "--model", "gpt2", "--tokens", "1B", "--instances", "ml.p4d.24xlarge", "--count", "1..2", "--trials", "12",
          "--max-hourly", "150"]


def on_a_terminal(*arguments):
    """What a terminal of 100 columns is shown."""
    shown, terminal = pty.openpty()
    process = subprocess.Popen([BINARY, *arguments], stdout=terminal, stderr=subprocess.DEVNULL,
                               env={**ENVIRONMENT, "COLUMNS": "100", "NO_COLOR": "1"})
    os.close(terminal)
    text = b""
    try:
        while piece := os.read(shown, 65536):
            text += piece
    except OSError:  # the end of a terminal
        pass
    os.close(shown)
    process.wait(300)
    return text.decode().replace("\r\n", "\n")


def smplan(*arguments):
    return subprocess.run([BINARY, *arguments], capture_output=True, timeout=300, env=ENVIRONMENT)


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = pathlib.Path(folder.name) / "sweep.jsonl"
        self.partial = self.output.with_name("sweep.jsonl.part")

    def test_formats_say_the_same(self):
        lines = [json.loads(line) for line in smplan(*GRID).stdout.decode().splitlines()]
        self.assertEqual(json.loads(smplan(*GRID, "--format", "json").stdout), lines)
        rows = list(csv.DictReader(io.StringIO(smplan(*GRID, "--format", "csv").stdout.decode())))
        self.assertEqual([row["status"] for row in rows], [line["status"] for line in lines])
        for row, line in zip(rows, lines, strict=True):
            self.assertEqual((row["request_tokens"], row["request_objective"]),
                             (line["request"]["tokens"], line["request"]["objective"]))
            if line["plan"] is None:
                self.assertEqual((row["total_usd"], row["instance_type"], row["message"]), ("", "", line["message"].strip()))
                continue
            plan = line["plan"]
            self.assertEqual(float(row["total_usd"]), plan["cost"]["total_usd"])
            self.assertEqual([float(row["total_p10_usd"]), float(row["total_p90_usd"])], plan["cost"]["total_interval_usd"])
            self.assertEqual([float(row["time_p10_s"]), float(row["time_p90_s"])], plan["time_to_train_interval_s"])
            self.assertEqual(float(row["out_of_memory_probability"]), plan["memory"]["out_of_memory_probability"])
        for form in ("table", "markdown"):
            text = smplan(*GRID, "--format", form).stdout.decode()
            for word in ("TOKENS", "OBJECTIVE", "WHY NOT", "ml.p4d.24xlarge", "many", "P10-P90", "OOM"):
                self.assertIn(word, text, form)

    def test_lines_for_standard_output_leave_no_file(self):
        done = subprocess.run([BINARY, *GRID], capture_output=True, timeout=300, env=ENVIRONMENT, cwd=self.output.parent)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.output.parent), [])

    def test_people_get_a_table_and_programs_get_lines(self):
        self.assertTrue(smplan(*TRIALS).stdout.startswith(b'{"identity":"'))
        text = on_a_terminal(*TRIALS)
        self.assertRegex(text, r"^Best: 12 trials: \d+ at a time, each on \d x ml\.p4d\.24xlarge; all done in .* for\s+\$")
        self.assertIn("ALL FOR", text)
        self.assertEqual(text, on_a_terminal(*TRIALS, "--format", "table"))
        self.assertTrue(on_a_terminal(*TRIALS, "--format", "jsonl").startswith('{"identity":"'))
        self.assertEqual(smplan(*TRIALS, "--output", str(self.output)).returncode, 0)
        self.assertTrue(self.output.read_text().startswith('{"identity":"'), "a file goes on from its lines")

    def test_an_interrupted_table_goes_on_too(self):
        whole = smplan(*SWEEP, "--format", "csv").stdout
        self.partial.write_bytes(b"".join(smplan(*SWEEP).stdout.splitlines(keepends=True)[:7]))
        done = smplan(*SWEEP, "--format", "csv", "--output", str(self.output))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"7 known from before", done.stderr)
        self.assertEqual(self.output.read_bytes(), whole)
        self.assertFalse(self.partial.exists())

    def test_a_killed_sweep_goes_on(self):
        whole = smplan(*SWEEP)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        process = subprocess.Popen([BINARY, *SWEEP, "--output", str(self.output)], env=ENVIRONMENT,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and not (self.partial.exists() and self.partial.read_bytes().count(b"\n") >= 5):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue(self.partial.exists(), "the sweep was over before it could be killed")
        self.assertFalse(self.output.exists(), "a file of part of the answers")
        # The last line is cut short, as a full disk or a lost power supply leaves it.
        written = self.partial.read_bytes()
        self.partial.write_bytes(written[:-20])
        known = written[:-20].count(b"\n")
        again = smplan(*SWEEP, "--output", str(self.output))
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.output.read_bytes(), whole.stdout)
        self.assertIn(f"{known} known from before".encode(), again.stderr)
        self.assertFalse(self.partial.exists())

    def test_a_larger_sweep_takes_what_a_smaller_one_found(self):
        few = [*SWEEP[:8], "tokens=1B|2B", *SWEEP[9:], "--output", str(self.output)]
        self.assertEqual(smplan(*few).returncode, 0)
        more = smplan(*SWEEP, "--output", str(self.output))
        self.assertIn(b"4 known from before", more.stderr)
        requests = [json.dumps(json.loads(line)["request"]) for line in self.output.read_text().splitlines()]
        self.assertEqual(len(requests), REQUESTS)
        self.assertEqual(len(set(requests)), REQUESTS)

    def test_what_a_line_rests_on_decides_whether_it_is_known(self):
        """Another price, model file, region, date or calibration makes another line; the same of all makes none."""
        folder = self.output.parent
        dear = folder / "dear.json"
        dear.write_text(json.dumps({"schema": "smplan.catalog/1", "prices": [{
            "instance": "ml.p4d.24xlarge", "region": "us-east-1", "market": "on-demand", "usd_per_hour": 1000,
            "basis": "measured", "source": "a test", "as_of": "2026-11-01"}]}))
        config = folder / "config.json"
        shipped = json.loads((ROOT / "tests/data/hf/gpt2.json").read_text())
        config.write_text(json.dumps(shipped))
        sweep = ["sweep", "--hf-config", str(config), "--instances", "ml.p4d.24xlarge", "--count", "1",
                 "--vary", "tokens=1B|2B", "--output", str(self.output)]

        def known(*more, **environment):
            done = subprocess.run([BINARY, *sweep, *more], capture_output=True, timeout=300, env={**ENVIRONMENT, **environment})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.output.read_bytes(), self.fresh(sweep, more, environment), "as if it were the first")
            return b"2 known from before" in done.stderr

        self.assertFalse(known())
        self.assertTrue(known())
        self.assertFalse(known("--catalog", str(dear)))
        self.assertTrue(known("--catalog", str(dear)))
        self.assertFalse(known(AWS_REGION="us-west-2"))
        self.assertFalse(known(SOURCE_DATE_EPOCH="1700000000"))
        config.write_text(json.dumps({**shipped, "n_layer": 6}))
        self.assertFalse(known())

    def fresh(self, sweep, more, environment):
        return subprocess.run([BINARY, *sweep[:-2], *more], capture_output=True, timeout=300,
                              env={**ENVIRONMENT, **environment}).stdout

    def test_a_file_in_the_way_is_left_as_it_is(self):
        self.partial.write_text("my notes\n")
        done = smplan(*SWEEP, "--output", str(self.output))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"sweep.jsonl.part: is no unfinished sweep", done.stderr)
        self.assertEqual(self.partial.read_text(), "my notes\n")
        self.partial.unlink()
        other = self.output.with_name("other")
        other.write_text("")
        self.partial.symlink_to(other)
        done = smplan(*SWEEP, "--output", str(self.output))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is a symbolic link", done.stderr)
        self.assertEqual(other.read_text(), "")

    def test_a_full_disk_is_reported(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BINARY, *SWEEP], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=300)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"standard output: cannot be written", done.stderr)

    def test_a_device_is_written_and_never_read(self):
        self.output.symlink_to("/dev/zero")
        done = smplan(*SWEEP, "--output", str(self.output))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_missing_folder_is_bad_input(self):
        done = smplan(*SWEEP, "--output", str(self.output.parent / "none" / "sweep.jsonl"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"cannot be written", done.stderr)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main()
