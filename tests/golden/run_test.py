#!/usr/bin/env python3
"""What run.py must find in a transcript, what it must let pass, and how it writes one anew."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = """#!/bin/sh
case $1 in
  price) echo 'total 86700.5 USD'; echo; echo '2 plans'; echo 'old prices' >&2; echo >&2; exit 1 ;;
  repeat) cat ;;
  name) echo "$NAME" "$2" ;;
  cut) printf 'half a line' ;;
  ends) echo 'exit 0' ;;
esac
"""
PRICE = """# A price that is old.
# Two lines of comments.
$ smplan price
total 86700.5 USD

2 plans
! old prices
!
exit 1
"""
OTHERS = """$ smplan repeat < inputs/words
some words
exit 0

# A variable, and a word with a blank.
$ NAME='a name' smplan name 'b c'
a name b c
exit 0

$ smplan cut
half a line
\\ no newline at the end
exit 0
"""


class Transcripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "program").write_text(PROGRAM)
        (self.folder / "program").chmod(0o755)
        (self.folder / "inputs").mkdir()
        (self.folder / "inputs/words").write_text("some words\n")

    def run_transcript(self, text, update="0"):
        """Exit status, what it says, and the transcript afterwards."""
        path = self.folder / "case.txt"
        path.write_text(text)
        done = subprocess.run([sys.executable, "-B", HERE / "run.py", self.folder / "program", path], capture_output=True,
                              text=True, env={**os.environ, "SMPLAN_UPDATE_GOLDEN": update}, check=False)
        return done.returncode, done.stdout + done.stderr, path.read_text()

    def assert_fails(self, text, *said):
        status, output, after = self.run_transcript(text)
        self.assertEqual(status, 1, output)
        for part in said:
            self.assertIn(part, output)
        self.assertEqual(after, text)

    def changed(self, old, new, text=PRICE):
        self.assertEqual(text.count(old), 1)
        return text.replace(old, new)

    def test_what_agrees_passes(self):
        for text in (PRICE, OTHERS, PRICE + "\n" + OTHERS, self.changed("86700.5", "86700.50000001")):
            status, output, _ = self.run_transcript(text)
            self.assertEqual((status, output), (0, ""))

    def test_a_wrong_number_fails(self):
        self.assert_fails(self.changed("86700.5", "86700.6"), "case.txt:4", "86700.6", "86700.5")

    def test_a_wrong_word_fails(self):
        self.assert_fails(self.changed("2 plans", "2 plants"), "case.txt:6")

    def test_a_wrong_exit_status_fails(self):
        self.assert_fails(self.changed("exit 1", "exit 0"), "case.txt:9", "expected: exit 0", "found:    exit 1")

    def test_a_missing_line_fails(self):
        self.assert_fails(self.changed("2 plans\n", ""), "found:    2 plans")
        self.assert_fails(self.changed("! old prices\n", ""), "found:    ! old prices")
        self.assert_fails(self.changed("\nexit 1\n", "\n"), "case.txt:9", "expected: (nothing)", "found:    exit 1")

    def test_an_extra_line_fails(self):
        self.assert_fails(self.changed("!\n", "!\n! one more\n"), "expected: ! one more")
        self.assert_fails(self.changed("2 plans\n", "2 plans\none more\n"), "expected: one more")

    def test_output_on_the_other_stream_fails(self):
        self.assert_fails(self.changed("! old prices", "old prices"), "case.txt:7")

    def test_a_newline_that_is_not_there_fails(self):
        self.assert_fails(self.changed("\\ no newline at the end\n", "", OTHERS), "case.txt:12")

    def test_every_command_of_a_transcript_counts(self):
        self.assert_fails(PRICE + "\n" + self.changed("a name b c", "a name", OTHERS), "case.txt:17")

    def test_what_is_no_transcript_is_refused(self):
        self.assert_fails("", "case.txt:1: must be a comment or a `$ command`")
        self.assert_fails("# only a comment\n", "case.txt:2: must be a comment or a `$ command`")
        self.assert_fails(PRICE + "$ smplan price\n", "case.txt:10: must be empty")
        self.assert_fails("$ ls\nexit 0\n", "must run smplan")
        self.assert_fails("$ smplan ends\nexit 0\n", "prints 'exit 0'")

    def test_update_writes_the_output_and_keeps_the_comments(self):
        wrong = self.changed("86700.5", "1").replace("! old prices\n", "").replace("exit 1", "exit 3")
        self.assertEqual(self.run_transcript(wrong, update="1"), (0, "", PRICE))
        several = PRICE + "\n" + OTHERS
        self.assertEqual(self.run_transcript(several.replace("a name b c", "?"), update="1"), (0, "", several))

    def test_update_completes_a_command_alone(self):
        self.assertEqual(self.run_transcript("# New.\n$ smplan cut\n", update="1"),
                         (0, "", "# New.\n$ smplan cut\nhalf a line\n\\ no newline at the end\nexit 0\n"))


class Inputs(unittest.TestCase):
    def test_every_input_is_read_by_a_transcript(self):
        text = "".join(path.read_text() for path in HERE.glob("*.txt"))
        files = [path.relative_to(HERE) for path in (HERE / "inputs").rglob("*") if path.is_file()]
        self.assertTrue(files)
        self.assertEqual([str(file) for file in files if str(file) not in text], [])


if __name__ == "__main__":
    unittest.main()
