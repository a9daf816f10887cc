"""Compiles one mutant, links it into the test programs of a finished build and lets them judge it."""

import dataclasses
import json
import pathlib
import resource
import shlex
import subprocess
import sys
import tempfile
import threading

from .changes import Mutant

# The tests that can see a folder (and those below it, but for folders with a line of their own), nearest first; the
# command line comes last.
PROGRAMS = {
    "base": ("base", "catalogs", "net", "preflight"),
    "catalogs": ("catalogs", "net", "models", "preflight"),
    "models": ("net", "models", "planner", "measured"),
    "planner": ("net", "planner", "measured", "export", "preflight"),
    "planner/preflight": ("preflight", "net", "export"),
    "planner/export": ("net", "export", "preflight"),
    "planner/calibration": ("planner", "measured"),
    "planner/validation": ("net", "planner", "measured"),
    "cli": ("cli",),
}
# The command line as CTest runs it: on the shipped catalog and on the frozen one (tests/data/frozen).
COMMAND_LINES = {"smplan": "smplan", "smplan_frozen": "tests/data/frozen/smplan_frozen"}
# By label of CTest, in this order: what a test may cost to be among them.
SLOWEST_COMMAND_LINE_S = {"golden": 1.0, "docs": 15.0, "measured": 10.0, "oracle": 10.0, "cli": 15.0}
# Tests that take longer wait until all others of every program have passed: most mutants are dead by then.
SLOW_TEST_S = 0.5
MEMORY_LIMIT = 4 << 30
# Processor time shows a loop without end on a busy machine too; the clock is for a program that waits for ever.
WALL_LIMIT_S = 1800


def folder_of(path: str) -> str:
    """The line of PROGRAMS that a file is under."""
    return max((name for name in PROGRAMS if path.startswith(name + "/")), key=len)


@dataclasses.dataclass(eq=False)
class Check:
    command: list[str]  # {program} stands for the program under test
    folder: pathlib.Path
    limit_s: int = 600  # of processor time

    def passes(self, program: pathlib.Path) -> bool:
        limits = ["prlimit", f"--as={MEMORY_LIMIT}", f"--cpu={self.limit_s}"]
        command = [word.replace("{program}", str(program)) for word in self.command]
        try:
            done = subprocess.run([*limits, *command], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=WALL_LIMIT_S)  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def cost_s(self, program: pathlib.Path) -> float:
        """Its processor time with a program that is right; sets the limit."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not self.passes(program):
            raise SystemExit(f"scripts/mutation: fails before any change: {shlex.join(self.command)} ({program})")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.limit_s = int(10 + 5 * seconds)
        return seconds


class Workshop:
    """Holds the tests of a build. Each is run once before it judges: when it is first needed, most never are."""

    def __init__(self, root: pathlib.Path, build: pathlib.Path):
        self.root, self.build = root, build
        ninja = ["ninja", "-C", str(build), "-t"]
        database = json.loads(self.output([*ninja, "compdb"]))
        self.compile = {entry["file"]: entry for entry in database if " -c " in entry["command"]}
        self.objects = {}  # of each source: some are in two programs
        for entry in database:
            self.objects.setdefault(entry["file"], set()).add(entry["output"])
        self.programs = {name: build / path for name, path in COMMAND_LINES.items()}
        for name in sorted({name for names in PROGRAMS.values() for name in names}):
            self.programs[name] = next(path for path in build.rglob(f"smplan_{name}_tests") if path.is_file())
        self.link = {}
        for name, program in self.programs.items():
            self.link[name] = self.link_command(self.output([*ninja, "commands", "-s", str(program.relative_to(build))]))
        self.prepared, self.preparing = {}, threading.Lock()
        self.commands, self.prices = None, {}

    def checks(self, name: str) -> tuple[Check, Check]:
        """The quick tests of a program, and the slow ones."""
        with self.preparing:
            if name not in self.prepared:
                self.prepared[name] = self.test_checks(self.programs[name])
            return self.prepared[name]

    def command_line_killer(self, mutant: Mutant, folder: pathlib.Path) -> str:
        """Which command line fails a test; empty where none does."""
        with self.preparing:
            if self.commands is None:
                self.commands = self.command_line_checks()
        mutated = {}
        for slowest, name, check in self.commands:
            with self.preparing:
                if check not in self.prices:
                    self.prices[check] = check.cost_s(self.programs[name])
            if self.prices[check] >= slowest:
                continue
            if name not in mutated:
                mutated[name] = self.program(name, mutant, folder)
            if not check.passes(mutated[name]):
                return name
        return ""

    @staticmethod
    def output(command: list[str]) -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    @staticmethod
    def link_command(commands: str) -> list[str]:
        """The linker's part of what CMake lets Ninja run: `: && c++ ... && <discovery of the tests>`."""
        return shlex.split(commands.split(" && ")[1])

    @staticmethod
    def test_checks(program: pathlib.Path) -> tuple[Check, Check]:
        """The quick tests of a program, and the slow ones."""
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            subprocess.run([program, f"--gtest_output=json:{report.name}"], cwd=program.parent, check=True, capture_output=True)
            suites = json.load(report)["testsuites"]
        times = {
            f"{suite['name']}.{test['name']}": float(test["time"].removesuffix("s"))
            for suite in suites
            for test in suite["testsuite"]
        }
        names = ":".join(name for name, seconds in times.items() if seconds > SLOW_TEST_S)
        command = ["{program}", "--gtest_fail_fast", "--gtest_brief=1"]
        limit_s = int(10 + 5 * sum(times.values()))
        return tuple(Check([*command, f"--gtest_filter={part}"], program.parent, limit_s) for part in (f"*-{names}", names))

    def command_line_checks(self) -> list[tuple[float, str, Check]]:
        """What CTest runs a command line for, with what it may cost: golden cases, then pages and scripts."""
        names, found = {str(self.programs[name]): name for name in COMMAND_LINES}, []
        for label, slowest in SLOWEST_COMMAND_LINE_S.items():
            ctest = ["ctest", "--test-dir", str(self.build), "--show-only=json-v1", "-L", f"^{label}$", "-LE", "slow"]
            for test in json.loads(self.output(ctest))["tests"]:
                program = next((word for word in test["command"] if word in names), None)
                if program is not None:
                    command = ["{program}" if word == program else word for word in test["command"]]
                    found.append((slowest, names[program], Check(command, self.build)))
        return found

    def compiles(self, mutant: Mutant, folder: pathlib.Path) -> bool:
        source = self.root / mutant.path
        (folder / source.name).write_text(mutant.apply(source.read_text()))
        entry = self.compile[str(source)]
        words, kept = shlex.split(entry["command"]), []
        if pathlib.Path(words[0]).name == "ccache":
            words = words[1:]
        while words:
            word = words.pop(0)
            if word in ("-o", "-MT", "-MF", "-c"):
                words.pop(0)
            elif word != "-MD":
                kept.append(word)
        # A return that is gone must not leave a function without one: that is undefined, not wrong.
        kept += ["-O1", "-Werror=return-type", "-c", str(folder / source.name), "-o", str(folder / "mutant.o")]
        return subprocess.run(kept, cwd=entry["directory"], capture_output=True).returncode == 0

    def program(self, name: str, mutant: Mutant, folder: pathlib.Path) -> pathlib.Path:
        """The program with the mutated object before the libraries, whose own is then not taken, or in its place."""
        own = self.objects[str(self.root / mutant.path)]
        command = [word for word in self.link[name] if word not in own]
        output = command.index("-o")
        command[output : output + 2] = [str(folder / "mutant.o"), "-o", str(folder / name)]
        subprocess.run(command, cwd=self.build, check=True, capture_output=True)
        return folder / name

    def killer(self, mutant: Mutant, folder: pathlib.Path) -> str:
        """Which program's tests fail; empty where the mutant survives."""
        names = PROGRAMS[folder_of(mutant.path)]
        programs = {}
        for slow in (0, 1):
            for name in names:
                if name not in programs:
                    programs[name] = self.program(name, mutant, folder)
                if not self.checks(name)[slow].passes(programs[name]):
                    return name
        return self.command_line_killer(mutant, folder)
