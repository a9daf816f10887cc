#!/usr/bin/env python3
"""Command lines of `trl NAME`, each with one option of any command, or one misspelt or shortened: what the command's own
parser leaves over `smplan check` must call an error, and what it takes it must not. What is left over goes to `accelerate
launch`, whose parser is asked too.
Usage: trl_commands.py SMPLAN, in scripts/training's environment
"""

import collections
import contextlib
import importlib
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

from spoil import misspelt

SEED = 20261128
COMMANDS = ("sft", "dpo", "grpo", "kto", "reward", "rloo", "distillation")
# smplan's warning is enough: of an option that only older versions have, nobody knows which command had it.
BASE = ["--model_name_or_path", "m", "--dataset_name", "d", "--output_dir", "o", "--learning_rate", "1e-4"]


def options_of(parser) -> dict:
    """By name without hyphens, the words of a value that its type takes."""
    found = {}
    for action in parser._actions:
        name = next((one[2:] for one in action.option_strings if one.startswith("--") and "-" not in one[2:]), "")
        if not name or name == "help":
            continue
        if action.choices:
            words = [str(list(action.choices)[0])]
        else:
            made = getattr(action.type, "__name__", "str")
            words = {"int": ["4"], "float": ["0.5"], "string_to_bool": ["True"], "str": ["x"], "loads": ["{}"],
                     "dict": ["{}"]}.get(made, ["x"])
        found[name] = [] if action.nargs == 0 else words
    return found


def left_over(parser, launcher, line: list) -> list:
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            _, rest = parser.parse_known_args(line)
            if rest:
                _, rest = launcher.parse_known_args([*rest, "train.py"])
        except SystemExit:
            return ["refused"]
    return rest


def main() -> int:
    warnings.simplefilter("ignore")
    smplan = sys.argv[1]
    chance = random.Random(SEED)
    from accelerate.commands.launch import launch_command_parser

    parsers = {name: importlib.import_module(f"trl.scripts.{name}").make_parser(prog=f"trl {name}") for name in COMMANDS}
    pool: dict = {}
    for parser in parsers.values():
        pool.update({name: words for name, words in options_of(parser).items() if name not in pool})
    lines, truths = [], []
    for command, parser in parsers.items():
        own = options_of(parser)
        extras = [(name, words) for name, words in pool.items() if f"--{name}" not in BASE]
        extras += [(misspelt(name, chance), words) for name, words in chance.sample(sorted(own.items()), 30)]
        extras += [(name[:-2], words) for name, words in chance.sample(sorted(own.items()), 20) if len(name) > 8]
        for name, words in extras:
            line = [*BASE, f"--{name}", *words]
            rest = left_over(parser, launch_command_parser(), line)
            lines.append(f"trl {command} " + " ".join(f"'{word}'" if "{" in word else word for word in line))
            truths.append(rest)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, line in enumerate(lines):
            files.append(pathlib.Path(folder, f"{i:05}.sh"))
            files[-1].write_text(line + "\n", encoding="utf-8")
        done = subprocess.run([smplan, "check", *map(str, files), "--kind", "trl", "--format", "json"], capture_output=True,
                              text=True)
        said = {job["file"]: [one["message"] for one in job["findings"] if one["rule"] == "C159" and
                              one["severity"] == "error"] for job in json.loads(done.stdout)["jobs"]}
        ours = [said[str(file)] for file in files]
    count: collections.Counter = collections.Counter()
    for line, rest, found in zip(lines, truths, ours):
        if rest == ["refused"]:  # its value, which other rules judge
            continue
        count["refused" if rest else "taken"] += 1
        if rest and not found:
            count["missed"] += 1
            print(f"missed: {line[90:]}: {rest}")
        elif found and not rest:
            count["false"] += 1
            print(f"false: {line}: {found[0]}")
    share = 1 - count["missed"] / max(1, count["refused"])
    print(f"{len(COMMANDS)} commands: {count['refused']} refused, {share:.1%} of them found; {count['taken']} taken, "
          f"{count['false']} false")
    return 0 if share >= 0.95 and not count["false"] and count["refused"] > 200 else 1


if __name__ == "__main__":
    sys.exit(main())
