#!/usr/bin/env python3
"""Completions work in the shells themselves, man pages are clean, and both know every flag of the help.

Usage: pages_check.py SMPLAN_BINARY
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = ""
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}


def smplan(*arguments) -> str:
    done = subprocess.run([BINARY, *arguments], capture_output=True, timeout=60, env=ENVIRONMENT, check=True)
    return done.stdout.decode()


def commands() -> list:
    return re.findall(r"^  ([a-z]+) {4,}", smplan("--help").split("Subcommands:")[1], re.MULTILINE)


def flags_of(command: str) -> set:
    return set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", smplan(command, "--help"), re.MULTILINE)) - {"--help"}


class Shell(unittest.TestCase):
    """What each shell offers for a line that ends where the cursor is."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_shell(self, command: list) -> list:
        done = subprocess.run(command, capture_output=True, timeout=120, cwd=self.folder,
                              env={**ENVIRONMENT, "HOME": str(self.folder)}, check=False)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode().split("\n")[:-1]

    def bash(self, line: str) -> list:
        script = self.folder / "smplan.bash"
        script.write_text(smplan("completion", "bash"))
        # Bash cuts words at the equals sign before it asks.
        words = [part for word in line.split(" ")[0:] for part in re.split(r"(=)", word) if part or word == ""]
        if line.endswith("="):
            words.append("")
        asked = " ".join(f"'{word}'" for word in words)
        return self.run_shell(["bash", "--norc", "-c", f"source {script}; COMP_WORDS=({asked}); "
                               "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _smplan; printf '%s\\n' \"${COMPREPLY[@]}\""])

    def fish(self, line: str) -> list:
        script = self.folder / "smplan.fish"
        script.write_text(smplan("completion", "fish"))
        offered = self.run_shell(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"])
        return [entry.split("\t")[0] for entry in offered]


class Bash(Shell):
    def test_commands_and_flags(self):
        self.assertEqual(self.bash("smplan "), commands())
        self.assertEqual(self.bash("smplan swe"), ["sweep"])
        for command in commands():
            self.assertEqual(set(self.bash(f"smplan {command} --")) - {"--help"}, flags_of(command), command)
        self.assertIn("--params", self.bash("smplan --pa"), "flags alone are a request to plan")
        self.assertIn("--version", self.bash("smplan --v"))

    def test_values(self):
        self.assertEqual(self.bash("smplan plan --dtype b"), ["bf16"])
        self.assertEqual(self.bash("smplan plan --format m"), ["markdown"])
        self.assertEqual(self.bash("smplan check --format s"), ["sarif"])
        self.assertEqual(self.bash("smplan plan --format=cs"), ["csv"])
        self.assertEqual(self.bash("smplan plan --format="), ["table", "json", "csv", "markdown"])
        self.assertEqual(self.bash("smplan --model llama-3-7"), ["llama-3-70b"])
        self.assertEqual(self.bash("smplan plan --region us-west-2"), ["us-west-2"])
        self.assertEqual(self.bash("smplan export --target megat"), ["megatron"])
        self.assertEqual(self.bash("smplan plan --instances ml.p4d.24xlarge,ml.p4de"),
                         ["ml.p4d.24xlarge,ml.p4de.24xlarge"])
        self.assertEqual(self.bash("smplan plan --tokens "), [""], "any number goes: nothing is offered")

    def test_positionals_and_files(self):
        self.assertEqual(self.bash("smplan catalog "), ["list", "show", "collectives", "refresh", "import", "diff", "verify"])
        self.assertEqual(self.bash("smplan models show gpt3-17"), ["gpt3-175b"])
        (self.folder / "some runs.csv").touch()
        (self.folder / "overlay.json").touch()
        self.assertEqual(self.bash("smplan plan --catalog ov"), ["overlay.json"])
        self.assertEqual(self.bash("smplan validate some"), ["some runs.csv"])

    def test_a_real_line_editor_takes_it(self):
        """Tab in an interactive bash, through a terminal."""
        import pty

        script = self.folder / "smplan.bash"
        script.write_text(smplan("completion", "bash"))
        process, terminal = pty.fork()
        if process == 0:
            os.execve("/bin/bash", ["bash", "--noprofile", "--norc", "-i"], {**ENVIRONMENT, "TERM": "dumb", "PS1": "$ "})
        os.write(terminal, f"source {script}; bind 'set bell-style none'\n".encode())
        os.write(terminal, b"echo smplan done; smplan() { echo \"got $*\"; }; smplan estim\t--objective=bal\t\nexit\n")
        received = b""
        while True:
            try:
                chunk = os.read(terminal, 4096)
            except OSError:
                break
            if not chunk:
                break
            received += chunk
        os.waitpid(process, 0)
        os.close(terminal)
        self.assertIn(b"got estimate --objective=balanced", received)


@unittest.skipUnless(shutil.which("fish"), "fish is not installed")
class Fish(Shell):
    def test_commands_flags_and_values(self):
        self.assertEqual(sorted(self.fish("smplan ")), sorted(commands()))
        for command in ("plan", "check", "catalog"):
            self.assertEqual({flag for flag in self.fish(f"smplan {command} --") if flag != "--help"}, flags_of(command))
        self.assertEqual(self.fish("smplan plan --dtype b"), ["bf16"])
        self.assertEqual(self.fish("smplan models show gpt3-17"), ["gpt3-175b"])
        self.assertIn("--params", self.fish("smplan --pa"))


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class Zsh(Shell):
    def zsh(self, line: str, wanted: str) -> str:
        """What a terminal shows after Tab, until that is what is wanted or half a minute has passed."""
        (self.folder / "_smplan").write_text(smplan("completion", "zsh"))
        driver = self.folder / "driver.zsh"
        driver.write_text(f"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=({self.folder} \\$fpath); autoload -U compinit; compinit -u -D; PROMPT=; unsetopt beep; zstyle ':completion:*' list-prompt ''; LISTMAX=0; print ready-\\$((40+2))"
zpty -m shell dummy 2>/dev/null
typeset out=''
repeat 400; do zpty -rt shell part && out+=$part; [[ $out == *ready-42* ]] && break; sleep 0.05; done
zpty -wn shell $'{line}\\t'
out=''
repeat 600; do zpty -rt shell part && out+=$part; [[ $out == *"{wanted}"* ]] && break; sleep 0.05; done
print -rn -- $out
zpty -d shell
""")
        done = subprocess.run(["zsh", "-f", str(driver)], capture_output=True, timeout=60, cwd=self.folder,
                              env={**ENVIRONMENT, "HOME": str(self.folder), "TERM": "dumb"}, check=False)
        return done.stdout.decode(errors="replace")

    def test_words_are_completed(self):
        for line, wanted in (("smplan estim", "smplan estimate"), ("smplan plan --objective=bal", "--objective=balanced"),
                             ("smplan models show gpt3-17", "gpt3-175b"), ("smplan plan --max-h", "--max-hourly")):
            self.assertIn(wanted, self.zsh(line, wanted))



class ManPages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        smplan("manual", "--output", folder.name + "/")
        self.pages = sorted(pathlib.Path(folder.name).iterdir())

    def test_there_is_one_for_each_command(self):
        self.assertEqual([page.name for page in self.pages],
                         sorted(["smplan.1", *(f"smplan-{command}.1" for command in commands())]))

    def test_they_name_every_flag(self):
        for page in self.pages:
            text = page.read_text().replace("\\-", "-")
            command = page.stem.partition("-")[2]
            for flag in flags_of(command) if command else {"--version", "--json"}:
                self.assertIn(f"\\fB{flag}\\fR", text, page.name)

    def test_they_render_without_warnings(self):
        for page in self.pages:
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(page)], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""), page.name)
        lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning", *map(str, self.pages)], capture_output=True, check=False)
        self.assertEqual(lint.stdout.decode(), "")


class Version(unittest.TestCase):
    def test_json_names_the_catalogs_date(self):
        version = json.loads(smplan("--version", "--json"))
        self.assertEqual(smplan("--version"), f"smplan {version['smplan_version']}\n")
        self.assertRegex(version["catalog"]["date"], r"^20\d\d-\d\d(-\d\d)?$")
        self.assertLessEqual(version["catalog"]["newest_price"], version["catalog"]["date"])
        self.assertEqual(json.loads(smplan("--json", "--version")), version)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
