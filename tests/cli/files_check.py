#!/usr/bin/env python3
"""What is left in files and told to the shell when a disk is full, a folder closed, a pipe shut or a run stopped.

Usage: files_check.py SMPLAN_BINARY
"""

import concurrent.futures
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = ""
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "1795219200"}
JOB = ["--model", "gpt2", "--instances", "ml.p4d.24xlarge", "--count", "1"]
RUNS = str(pathlib.Path(__file__).parents[1] / "measured/runs/awsome_dense.csv")


def smplan(*arguments, stdin=b"", **options):
    return subprocess.run([BINARY, *arguments], input=stdin, capture_output=True, timeout=120, env=ENVIRONMENT, **options)


def writers(folder: pathlib.Path) -> dict:
    """A command line of every command that writes, less its --output."""
    plan = folder / "plan.json"
    done = smplan("plan", *JOB, "--format", "json", "--output", str(plan))
    assert done.returncode == 0, done.stderr
    prices = folder / "spot.json"
    prices.write_text(json.dumps({"SpotPriceHistory": [
        {"AvailabilityZone": "us-east-1a", "InstanceType": "p4d.24xlarge", "ProductDescription": "Linux/UNIX",
         "SpotPrice": "9.5", "Timestamp": "2026-11-20T00:00:00+00:00"}]}))
    return {
        "plan": ["plan", *JOB],
        "export": ["export", "--plan", str(plan), "--target", "create-training-job"],
        "report": ["report", "--plan", str(plan)],
        "trace": ["trace", "--plan", str(plan)],
        "catalog import": ["catalog", "import", str(prices)],
        "calibrate": ["calibrate", RUNS],
        "sweep": ["sweep", *JOB, "--vary", "tokens=1B|2B"],
    }


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())


class EveryWriter(Case):
    def test_replaces_the_file_whole_and_leaves_nothing_else(self):
        with tempfile.TemporaryDirectory() as inputs:
            for name, command in writers(pathlib.Path(inputs)).items():
                with self.subTest(name):
                    path = self.folder / "answer.out"
                    path.write_text("old" * 1_000_000)
                    with path.open() as before:
                        done = smplan(*command, "--output", str(path))
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertEqual(before.read(3), "old", "written in place, not renamed over")
                    self.assertFalse(path.read_bytes().startswith(b"old"))
                    self.assertEqual(self.names(), ["answer.out"])

    def test_reports_a_folder_that_takes_no_files(self):
        with tempfile.TemporaryDirectory() as inputs:
            for name, command in writers(pathlib.Path(inputs)).items():
                with self.subTest(name):
                    # /proc takes no new files, not even from root.
                    done = smplan(*command, "--output", "/proc/answer.json")
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(b"smplan: error: /proc/answer.json", done.stderr)
                    self.assertIn(b"cannot be written", done.stderr)

    def test_makes_a_folder_of_several_files_unless_the_first_alone_is_named(self):
        with tempfile.TemporaryDirectory() as inputs:
            export = writers(pathlib.Path(inputs))["export"]
            for name in ("job", "job.v2", "job.json"):
                self.assertEqual(smplan(*export, "--output", str(self.folder / name)).returncode, 0)
        for name in ("job", "job.v2"):
            self.assertTrue((self.folder / name / "NOTES.md").is_file(), name)
        self.assertIn("TrainingJobName", json.loads((self.folder / "job.json").read_text()))

    def test_replaces_nothing_that_it_reads(self):
        with tempfile.TemporaryDirectory() as inputs:
            commands = writers(pathlib.Path(inputs))
            config = pathlib.Path(inputs) / "config.json"
            config.write_bytes((pathlib.Path(__file__).parents[1] / "data/hf/gpt2.json").read_bytes())
            commands["plan"] = ["plan", "--hf-config", str(config), *JOB[2:]]
            for name, command in commands.items():
                read = [word for word in command if os.path.isfile(word)]
                if name in ("sweep", "calibrate"):
                    continue  # sweep has no file here; the runs of calibrate are the project's
                with self.subTest(name):
                    before = pathlib.Path(read[0]).read_bytes()
                    link = self.folder / f"{name}.link"
                    os.link(read[0], link)
                    for output in (read[0], str(link)):
                        done = smplan(*command, "--output", output)
                        self.assertEqual(done.returncode, 2)
                        self.assertIn(b"is read by this command", done.stderr)
                    self.assertEqual(pathlib.Path(read[0]).read_bytes(), before)

    def test_leaves_no_other_job_in_a_folder_and_loses_none(self):
        with tempfile.TemporaryDirectory() as inputs:
            plan = writers(pathlib.Path(inputs))["export"][:3]
            job = self.folder / "job"
            first = smplan(*plan, "--target", "sagemaker-sdk-v2", "--output", str(job))
            self.assertEqual(first.returncode, 0, first.stderr)
            self.assertEqual(smplan(*plan, "--target", "create-training-job", "--output", str(job)).returncode, 0)
            self.assertFalse((job / "launch.py").exists(), "the launcher of the job before")
            notes = job / "NOTES.md"
            notes.write_text("mine")
            done = smplan(*plan, "--target", "create-training-job", "--output", str(job))
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"NOTES.md: was changed since smplan wrote it", done.stderr)
            self.assertEqual(notes.read_text(), "mine")
            for script in ("../../x.py", "a/../../x.py", "-c.py", "/x.py"):
                done = smplan(*plan, "--target", "create-training-job", f"--script={script}")
                self.assertEqual(done.returncode, 2, script)
                self.assertIn(b"--script", done.stderr)

    def test_writes_no_job_where_no_plan_fits(self):
        target = self.folder / "none"
        done = smplan("plan", "--model", "llama-3.1-405b", "--instances", "ml.g5.xlarge", "--count", "1",
                      "--export", "sagemaker-sdk-v2", "--output", str(target))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no plan", done.stdout)
        self.assertFalse(target.exists())

    def test_reports_a_full_device(self):
        with tempfile.TemporaryDirectory() as inputs:
            for name, command in writers(pathlib.Path(inputs)).items():
                if name == "sweep":
                    continue  # it makes FILE.part beside the device; sweep_check.py fills its standard output
                with self.subTest(name):
                    done = smplan(*command, "--output", "/dev/full")
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(b"/dev/full: cannot be written: No space left on device", done.stderr)

    def test_reports_a_full_standard_output_and_forgives_a_closed_one(self):
        with tempfile.TemporaryDirectory() as inputs:
            for name, command in writers(pathlib.Path(inputs)).items():
                with self.subTest(name), open("/dev/full", "wb") as full:
                    done = subprocess.run([BINARY, *command], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(b"standard output: cannot be written", done.stderr)
                with self.subTest(name + ", closed"):
                    process = subprocess.Popen([BINARY, *command, "--quiet"], stdout=subprocess.PIPE,
                                               stderr=subprocess.PIPE, env=ENVIRONMENT)
                    process.stdout.close()
                    self.assertEqual(process.wait(), 0)
                    self.assertEqual(process.stderr.read(), b"")
                    process.stderr.close()


class ManyFaults(Case):
    def refused(self, overlay):
        path = self.folder / "overlay.json"
        path.write_text(json.dumps({"schema": "smplan.catalog/1", **overlay}))
        done = smplan("catalog", "verify", "--catalog", str(path))
        self.assertEqual(done.returncode, 2)
        return done.stderr.decode().splitlines()

    def test_the_first_are_named_and_the_others_counted(self):
        lines = self.refused({f"key{n}": 0 for n in range(300_000)})
        self.assertEqual(len(lines), 21)
        self.assertIn("unknown key 'key19'", lines[19])
        self.assertIn("299980 more unknown keys", lines[20])
        lines = self.refused({"prices": ["no price"] * 1000})
        self.assertEqual(len(lines), 51)
        self.assertRegex(lines[50], r"error: and \d{3,} more$")


class SmallMemory(Case):
    """Where memory is short, the program says so or does with less, and never aborts."""

    def test_every_limit_ends_in_an_answer_or_a_sentence(self):
        said = set()
        for mib in (24, 32, 48, 64, 96, 128, 192, 256, 384):
            def limit(mib=mib):
                resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))

            done = smplan("plan", "--params", "13B", preexec_fn=limit)
            if done.returncode == 127:
                continue  # not even the loader has room
            with self.subTest(mib):
                self.assertIn(done.returncode, (0, 3), done.stderr)
                if done.returncode == 3:
                    self.assertIn(b"memory", done.stderr)
            said.add(done.returncode)
        self.assertEqual(said, {0, 3}, "a limit that is too low and one that is not")


class SmallDisk(Case):
    """A file system of its own, 64 KiB large, where the kernel lets us mount one; elsewhere a limit on file sizes."""

    def test_a_page_that_does_not_fit_leaves_the_old_one(self):
        path = self.folder / "report.html"
        path.write_text("old")
        done = smplan("report", *JOB, "--output", str(path), preexec_fn=limit_files_to_64_kib)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"report.html: cannot be written: File too large", done.stderr)
        self.assertEqual(path.read_text(), "old")
        self.assertEqual(self.names(), ["report.html"])

    def test_the_same_on_a_disk_that_is_full(self):
        script = ('mount -t tmpfs -o size=64k tmpfs "$1" && printf old >"$1/report.html" && shift 2 && "$@"; '
                  'status=$?; cat "$0/report.html"; ls "$0"; exit $status')
        command = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, str(self.folder), str(self.folder), "--",
                   BINARY, "report", *JOB, "--output", str(self.folder / "report.html")]
        done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, timeout=120)
        if b"unshare" in done.stderr or b"mount:" in done.stderr:
            self.skipTest("no file systems may be mounted here: " + done.stderr.decode().strip())
        self.assertIn(b"cannot be written: No space left on device", done.stderr)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, b"oldreport.html\n")


def limit_files_to_64_kib():
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


class Fixing(Case):
    def test_a_fix_that_cannot_be_written_leaves_the_job(self):
        path = self.folder / "estimator.json"
        # The debugger's hook can be switched off safely; blanks make the file larger than the limit.
        text = '{"class": "PyTorch", "framework_version": "2.5.1", "debugger_hook_config": true}' + " " * 70_000
        path.write_text(text)
        done = smplan("check", str(path), "--fix", preexec_fn=limit_files_to_64_kib)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"estimator.json: cannot be written", done.stderr)
        self.assertEqual(path.read_text(), text)
        self.assertEqual(self.names(), ["estimator.json"])


def default_signals():
    """A shell that runs the tests in the background has SIGINT ignored, nohup SIGHUP."""
    for ending in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ending, signal.SIG_DFL)


class Stopping(Case):
    def test_a_run_that_is_stopped_leaves_nothing_and_says_by_what(self):
        """The request takes a second or more, so that a signal after a tenth meets the search."""
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(ending.name):
                process = subprocess.Popen([BINARY, "plan", "--model", "deepseek-v3", "--output", str(self.folder / "plan.txt")],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
                                           preexec_fn=default_signals)
                time.sleep(0.1)
                process.send_signal(ending)
                output, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, -ending, "a shell sees 128 plus the signal's number")
                self.assertEqual((output, errors), (b"", b""))
                self.assertEqual(self.names(), [])


class Together(Case):
    def test_runs_that_write_the_same_file_leave_one_whole_answer(self):
        path = self.folder / "answer.json"
        formats = ["json", "csv", "markdown", "table"]
        whole = {name: smplan("models", "list", "--format", name).stdout for name in formats}

        def run(name):
            return smplan("models", "list", "--format", name, "--output", str(path)).returncode
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(set(pool.map(run, formats * 5)), {0})
        self.assertIn(path.read_bytes(), whole.values())
        self.assertEqual(self.names(), ["answer.json"])

    def test_a_second_sweep_into_the_same_file_is_refused(self):
        output = self.folder / "sweep.jsonl"
        sweep = [BINARY, "sweep", "--model", "llama-2-13b", "--vary", "tokens=" + "|".join(f"{n}B" for n in range(1, 30)),
                 "--output", str(output)]
        first = subprocess.Popen(sweep, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        partial = self.folder / "sweep.jsonl.part"
        while first.poll() is None and not (partial.exists() and partial.stat().st_size > 0):
            time.sleep(0.01)
        second = subprocess.run(sweep, capture_output=True, env=ENVIRONMENT, timeout=60)
        self.assertIsNone(first.poll(), "the first sweep was over before the second began")
        first.kill()
        first.wait()
        self.assertEqual(second.returncode, 2)
        self.assertIn(b"sweep.jsonl.part: another sweep is writing here", second.stderr)
        self.assertGreater(partial.stat().st_size, 0, "the second took away what the first had found")


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
