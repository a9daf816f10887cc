#!/usr/bin/env python3
"""How the command behaves towards shells, pipes, files and terminals: what a golden file cannot show.

Usage: behaviour_check.py SMPLAN_BINARY
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

BINARY = ""
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


def smplan(*arguments, stdin=b"", **environment):
    return subprocess.run([BINARY, *arguments], input=stdin, capture_output=True, timeout=120,
                          env={**ENVIRONMENT, **environment})


def on_terminal(*arguments, columns=0, **environment) -> str:
    """Standard output as a terminal of so many columns received it; of 0 it does not know its size."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 50, columns, 0, 0))
    process = subprocess.Popen([BINARY, *arguments], stdout=follower, stderr=subprocess.DEVNULL,
                               env={**ENVIRONMENT, "TERM": "xterm", **environment})
    os.close(follower)
    received = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        received += chunk
    process.wait()
    os.close(leader)
    return received.decode()


class Streams(unittest.TestCase):
    def test_a_reader_that_leaves_early_is_no_fault(self):
        process = subprocess.Popen([BINARY, "models", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=ENVIRONMENT)
        process.stdout.close()
        self.assertEqual(process.wait(), 0)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()

    def test_a_full_disk_is_reported(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BINARY, "catalog", "list"], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"standard output: cannot be written", done.stderr)

    def test_data_and_diagnostics_do_not_mix(self):
        done = smplan("plan", "--params", "13B", "--tp", "zero")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertTrue(done.stderr.startswith(b"smplan: error: --tp:"))

    def test_quiet_drops_notes_but_not_the_answer(self):
        request = ("estimate", "--model", "llama-13b", "--instances", "ml.p4d.24xlarge", "--count", "8", "--stack", "ddp")
        loud, quiet = smplan(*request), smplan(*request, "--quiet")
        self.assertEqual((loud.returncode, quiet.returncode), (1, 1))
        self.assertIn(b"out of memory", loud.stderr)
        self.assertEqual(quiet.stderr, b"")
        self.assertEqual(loud.stdout, quiet.stdout)

    def test_a_config_comes_from_standard_input(self):
        config = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
                  "num_key_value_heads": 32, "intermediate_size": 11008, "vocab_size": 32000,
                  "max_position_embeddings": 4096, "tie_word_embeddings": False}
        done = smplan("models", "show", "--hf-config", "-", "--format", "json", stdin=json.dumps(config).encode())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)[0]["parameters"], 6738415616)


class Files(unittest.TestCase):
    def test_output_is_what_standard_output_would_be(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "models.csv")
            done = smplan("models", "list", "--format", "csv", "--output", str(path))
            self.assertEqual((done.returncode, done.stdout), (0, b""))
            self.assertEqual(path.read_bytes(), smplan("models", "list", "--format", "csv").stdout)
            self.assertEqual(os.listdir(folder), ["models.csv"])

    def test_a_refused_request_leaves_the_old_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "plan.json")
            path.write_text("old")
            self.assertEqual(smplan("plan", "--params", "-1", "--output", str(path)).returncode, 2)
            self.assertEqual(path.read_text(), "old")

    def test_an_unwritable_place_is_bad_input(self):
        done = smplan("models", "list", "--output", "/nowhere/models.txt")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"/nowhere/models.txt", done.stderr)

    def test_an_overlay_changes_a_price(self):
        overlay = {"schema": "smplan.catalog/1",
                   "prices": [{"instance": "ml.p4d.24xlarge", "region": "us-east-1", "market": "on-demand",
                               "usd_per_hour": 1.25, "basis": "measured", "source": "a contract", "as_of": "2026-11-01"}]}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(overlay, file)
            file.flush()
            done = smplan("catalog", "list", "prices", "--region", "us-east-1", "--format", "json", "--catalog", file.name)
        prices = [p["usd_per_hour"] for p in json.loads(done.stdout)
                  if p["instance"] == "ml.p4d.24xlarge" and p["market"] == "on-demand"]
        self.assertEqual(prices, [1.25])


class Catalog(unittest.TestCase):
    PRICE = {"instance": "ml.p5.48xlarge", "region": "us-west-2", "market": "on-demand", "usd_per_hour": 60,
             "basis": "measured", "source": "a contract", "as_of": "2026-11-01"}

    def verified(self, as_of):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"schema": "smplan.catalog/1", "prices": [self.PRICE]}, file)
            file.flush()
            return smplan("catalog", "verify", "--format", "json", "--as-of", as_of, "--catalog", file.name)

    def test_a_price_of_tomorrow_is_a_fault(self):
        self.assertEqual(self.verified("2026-11-01").returncode, 0)
        done = self.verified("2026-10-31")
        self.assertEqual(done.returncode, 1)
        self.assertEqual([(f["code"], f["location"]) for f in json.loads(done.stdout)],
                         [("future-price", "prices/ml.p5.48xlarge us-west-2 on-demand")])

    def test_a_flag_that_an_action_would_ignore_is_refused(self):
        for arguments in (("import", "x.json", "--market", "spot"), ("diff", "x.json", "--region", "us-east-1"),
                          ("verify", "--savings-plan-years", "3"), ("list", "--max-age", "90d")):
            done = smplan("catalog", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(f"says nothing to `catalog {arguments[0]}`".encode(), done.stderr)


class Terminal(unittest.TestCase):
    def test_colour_is_for_terminals(self):
        self.assertNotIn(b"\x1b", smplan("catalog", "list").stdout)
        self.assertIn("\x1b[1m", on_terminal("catalog", "list"))

    def test_no_color_is_obeyed_unless_colour_is_asked_for(self):
        self.assertNotIn("\x1b", on_terminal("catalog", "list", NO_COLOR="1"))
        self.assertNotIn("\x1b", on_terminal("catalog", "list", TERM="dumb"))
        self.assertNotIn("\x1b", on_terminal("catalog", "list", "--color", "never"))
        self.assertIn(b"\x1b[1m", smplan("catalog", "list", "--color", "always", NO_COLOR="1").stdout)

    def test_tables_keep_to_the_width(self):
        for width in (80, 100, 140):
            text = on_terminal("plan", "--params", "13B", "--instances", "ml.p4d.24xlarge", COLUMNS=str(width))
            plain = re.sub(r"\x1b\[\d+m", "", text).replace("\r", "")
            self.assertLessEqual(max(len(line) for line in plain.splitlines()), width)

    def test_the_terminal_gives_the_width_where_columns_does_not(self):
        listed = ("catalog", "list", "instances", "--color", "never")

        def width(**terminal):
            return max(len(line) for line in on_terminal(*listed, **terminal).replace("\r", "").splitlines())
        self.assertLessEqual(width(columns=90), 90)
        self.assertGreater(width(columns=120, COLUMNS="200"), 120)
        self.assertGreater(width(), 200)

    def test_output_is_ascii(self):
        self.assertTrue(smplan("plan", "--params", "13B").stdout.isascii())


class Requests(unittest.TestCase):
    def test_the_bare_form_is_plan(self):
        seconds = re.compile(rb'"seconds": [-+.\de]+')
        bare = smplan("--params", "1B", "--format", "json").stdout
        named = smplan("plan", "--params", "1B", "--format", "json").stdout
        self.assertEqual(seconds.sub(b"", bare), seconds.sub(b"", named))

    def test_plan_exports_the_best_plan_that_the_target_has_words_for(self):
        asked = ("plan", "--model", "llama-2-7b", "--instances", "ml.p4d.24xlarge", "--count", "2")
        done = smplan(*asked, "--stack", "megatron,fsdp", "--top", "60", "--export", "fsdp")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rb"^smplan: this is plan 1: [^\n]* fsdp ")
        self.assertIn(b"fully_shard", done.stdout)
        done = smplan(*asked, "--stack", "megatron", "--export", "fsdp")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, b"")

    def test_region_comes_from_the_environment_unless_given(self):
        def region(*arguments, **environment):
            done = smplan("plan", "--params", "1B", "--format", "json", *arguments, **environment)
            return json.loads(done.stdout)["request"]["region"]
        self.assertEqual(region(), "us-east-1")
        self.assertEqual(region(AWS_DEFAULT_REGION="us-west-2"), "us-west-2")
        self.assertEqual(region(AWS_REGION="us-east-2", AWS_DEFAULT_REGION="us-west-2"), "us-east-2")
        self.assertEqual(region("--region", "us-west-2", AWS_REGION="us-east-2"), "us-west-2")

    def test_help_and_version_are_words_too(self):
        for asked, same in ((("help",), ("--help",)), (("help", "plan"), ("plan", "--help")),
                            (("version",), ("--version",)), (("-V",), ("--version",)),
                            (("version", "--json"), ("--version", "--json"))):
            done, meant = smplan(*asked), smplan(*same)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, meant.stdout, meant.stderr), asked)
        self.assertIn(b"unknown command 'plam' (did you mean plan?)", smplan("help", "plam").stderr)
        self.assertIn(b"(known: plan, estimate,", smplan("reconnoitre").stderr)

    def test_words_of_other_tools_are_hinted_at(self):
        for flag, hint in (("--epochs", b"give --tokens"), ("--batch-size", b"give --global-batch"),
                           ("--gpus", b"give --count"), ("--spot", b"give --market spot")):
            done = smplan("plan", "--params", "1B", flag, "3")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"unknown flag '{flag}' (".encode() + hint, done.stderr)
        done = smplan("compare", "params=1B instances=ml.p5.48xlarge,count=4", "params=1B")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"write blanks between words: 'instances=ml.p5.48xlarge count=4'", done.stderr)

    def test_names_are_taken_in_any_case(self):
        for command in (("catalog", "show", "P5.48XLARGE"), ("catalog", "show", "h100-80gb"),
                        ("catalog", "show", "pytorch-fsdp"), ("models", "list", "--format", "JSON"),
                        ("catalog", "list", "prices", "--region", "US-EAST-1", "--market", "Spot"),
                        ("estimate", "--params", "1b", "--instances", "P4D", "--stack", "pytorch fsdp")):
            done = smplan(*command)
            self.assertEqual(done.returncode, 0, (command, done.stderr))
            self.assertNotEqual(done.stdout, b"")


class Clock(unittest.TestCase):
    FRIDAY = ("plan", "--params", "1B", "--tokens", "1B", "--deadline", "Friday", "--format", "json")

    def deadline(self, *arguments, **environment):
        request = json.loads(smplan(*arguments, **environment).stdout)["request"]
        return request["deadline_s"] / 3600, request["deadline_at"]

    def test_friday_is_the_end_of_friday_where_the_user_is(self):
        thursday = {"SMPLAN_NOW": "2026-11-26T17:00:00-08:00"}
        self.assertEqual(self.deadline(*self.FRIDAY, **thursday, TZ="America/Los_Angeles"),
                         (31, "2026-11-28T00:00:00-08:00"))
        self.assertEqual(self.deadline(*self.FRIDAY, **thursday, TZ="Europe/Berlin"), (190, "2026-12-05T00:00:00+01:00"))
        self.assertEqual(self.deadline(*self.FRIDAY[:-3], "36h", "--format", "json"), (36, None))

    def test_a_clock_that_is_set_gives_the_same_bytes_twice(self):
        for clock in ({"SMPLAN_NOW": "2026-11-26T17:00:00-08:00"}, {"SOURCE_DATE_EPOCH": "1795219200"}):
            for command in (self.FRIDAY, ("report", *self.FRIDAY[1:-2]),
                            ("estimate", "--params", "1B", "--instances", "p4d", "--format", "json")):
                first, second = smplan(*command, **clock), smplan(*command, **clock)
                self.assertEqual(first.returncode, 0, first.stderr)
                self.assertEqual(first.stdout, second.stdout, command)
                self.assertNotRegex(first.stdout, rb'"seconds": ?[-+.\de]*[1-9]')

    def test_a_clock_that_is_no_time_is_refused(self):
        for name, value in (("SMPLAN_NOW", "2026-02-30"), ("SMPLAN_NOW", "noon"), ("SOURCE_DATE_EPOCH", "today")):
            done = smplan("plan", "--params", "1B", **{name: value})
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(f"smplan: error: {name}: '{value}'".encode(), done.stderr)


class Help(unittest.TestCase):
    def test_every_command_has_help_with_an_example(self):
        for command in ("plan", "estimate", "explain", "models", "catalog", "validate", "calibrate"):
            done = smplan(command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn(f"Example:\n  smplan {command}".encode(), done.stdout)
            for flag in (b"--format", b"--output", b"--quiet", b"--color", b"--catalog", b"--calibration"):
                self.assertIn(flag, done.stdout)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
