#!/usr/bin/env python3
"""Runs every command of a page and compares what it prints with what the page shows.

Fenced blocks say what they are:
  console  `$ command` lines, each followed by its output; a line `...` stands for any lines
  sh       commands without output; each must succeed (a true negative answer, exit code 1, is an answer)
  python   run in one session for the page
  diff     worked changes, which tests/docs/extend.py applies; and other words (text, json, c++ ...), which are only shown
Commands in backticks in a table column headed `command` are run too.
`<!-- not run: reason -->` before a block says why it is only shown.

The commands run in a folder of their own, with the FILES below, `my_runs.csv` and the folders of the repository to read from. `curl`,
`aws` and `torchrun` are replaced by files of the same shape: nothing reaches the network.

usage: run.py SMPLAN ROOT PAGE PYTHON PYTHONPATH     (SMPLAN_UPDATE_GOLDEN=1 rewrites the outputs in the page)
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TODAY = "1795219200"  # 2026-11-21: ages of prices are counted to this day
FENCE = re.compile(r"^( *)```(.*)$")
SHOWN = {"text", "json", "diff", "c++", "cmake", "yaml", "csv"}
# What a user would have: jobs in several forms, what is known of the account, a model's configuration.
ESTIMATOR = """{"class": "PyTorch", "entry_point": "train.py", "role": "arn:aws:iam::123456789012:role/training",
 "framework_version": "2.5.1", "py_version": "py311", "instance_type": "ml.p4d.24xlarge", "instance_count": 4,
 "distribution": {"torch_distributed": {"enabled": true}}}
"""
FILES = {
    "job.json": ESTIMATOR,
    "estimator.json": ESTIMATOR,
    "agent.yaml": "run: {name: agent, model_type: mtrl}\nbatch: {training_batch_size: 128, group_size: 8}\n"
                  "model: {model_name: openai/gpt-oss-20b, max_sequence_length: 65536, lora_rank: 32}\n"
                  "rl: {advantage_method: group_based, loss_fn: ppo}\nsampling_params: {max_tokens: 4096}\n"
                  "async_config: {max_steps_off_policy: 3}\nrollout: {max_concurrency: 96, rollout_tps: 5}\n"
                  "schedule: {epochs: 1, max_steps: 100}\n",
    "request.json": '{"TrainingJobName": "a-job"}',
    "ds_config.json": '{"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 3}, "bf16": {"enabled": true}}',
    "config.json": '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,'
                   ' "num_key_value_heads": 32, "intermediate_size": 11008, "vocab_size": 32000,'
                   ' "max_position_embeddings": 4096, "tie_word_embeddings": false}',
    "facts.json": '{"schema": "smplan.facts/1"}',
    "launch.py": 'from sagemaker.pytorch import PyTorch\nPyTorch(entry_point="train.py", role="role",'
                 ' framework_version="2.5.1", py_version="py311", instance_type="ml.p4d.24xlarge", instance_count=1,'
                 ' distribution={"torch_distributed": {"enabled": True}}).fit()\n',
}
FOLDERS = ("tests", "notebooks", "docs", "catalogs", "planner")
SECONDS = int(os.environ.get("SMPLAN_DOCS_SECONDS", "240"))  # of one block; programs with a sanitizer need more


class Block:
    def __init__(self, kind: str, first: int, lines: list, reason: str):
        self.kind, self.first, self.lines, self.reason = kind, first, lines, reason


def blocks_of(lines: list) -> list:
    """Fenced blocks; `first` is the index of the line after the fence."""
    blocks, kind, start, reason = [], None, 0, ""
    for at, line in enumerate(lines):
        fence = FENCE.match(line)
        if kind is None and fence:
            kind, start = fence.group(2).strip(), at + 1
            before = lines[at - 1] if at else ""
            reason = before[len("<!-- not run:"):].strip(" ->") if before.startswith("<!-- not run:") else ""
        elif kind is not None and fence:
            blocks.append(Block(kind, start, lines[start:at], reason))
            kind = None
    if kind is not None:
        raise SystemExit(f"line {start}: the block has no end")
    return blocks


def table_commands(lines: list) -> list:
    """(line number, command) of every command in a table column that is headed so."""
    found, column = [], None
    for at, line in enumerate(lines):
        if not line.startswith("|"):
            column = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if "command" in cells:
            column = cells.index("command")
        elif column is not None and column < len(cells):
            found += [(at + 1, code.replace("\\|", "|")) for code in re.findall(r"`(smplan [^`]*)`", cells[column])]
    return found


class Scratch:
    """A folder that looks like a user's."""

    def __init__(self, folder: pathlib.Path, smplan: str, root: pathlib.Path, python: str, pythonpath: str):
        self.folder = folder
        programs = folder / "bin"
        programs.mkdir()
        # In blocks without outputs a true negative answer must not end the block.
        self.program(programs / "smplan", f'{smplan} "$@" || {{ status=$?; [ "$status${{ANY_ANSWER:-}}" = 1yes ] || exit '
                                          '$status; }\n')
        for name in FOLDERS:
            (folder / name).symlink_to(root / name)
        (folder / "scripts").mkdir()
        self.program(folder / "scripts/run", f'[ $# -gt 0 ] || set -- --params 13B\nexec {smplan} "$@"\n')
        for name in ("check_files", "runs"):
            (folder / "scripts" / name).symlink_to(root / "scripts" / name)
        self.program(programs / "curl", f'while [ "$1" != -o ]; do shift; done\ncp {root}/tests/data/aws/AmazonSageMaker-index.json "$2"\n')
        self.program(programs / "aws", f"cat {root}/tests/data/aws/describe-spot-price-history.json\n")
        self.program(programs / "torchrun", f"cp {root}/tests/measured/probes/h100_sxm_80gb.json probe.json\n")
        self.program(programs / "python", f'exec {python} "$@"\n')
        for name in ("my_runs.csv", "their_runs.csv", "runs.csv", "runs/first.csv"):
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(root / "tests/measured/runs/awsome_dense.csv", folder / name)
        shutil.copy(root / "tests/measured/runs/aws_qwen3_pretrain.csv", folder / "runs/second.csv")
        shutil.copy(root / "tests/measured/probes/h100_sxm_80gb.json", folder / "probe.json")
        shutil.copy(root / "tests/fuzz/seeds/nccl_tests/all_reduce_perf.txt", folder)
        for name in (".zfunc", ".config/fish/completions"):
            (folder / name).mkdir(parents=True)
        for name, text in FILES.items():
            (folder / name).write_text(text)
        self.environment = {"PATH": f"{programs}:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "SOURCE_DATE_EPOCH": TODAY,
                            "HOME": str(folder), "PYTHONPATH": pythonpath, "MPLBACKEND": "Agg", "SMPLAN_BINARY": smplan,
                            "SMPLAN": str(programs / "smplan")}

    @staticmethod
    def program(path: pathlib.Path, text: str) -> None:
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def run(self, command: list):
        done = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=SECONDS, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()


def commands_of(block: Block) -> list:
    """(index in the block, command, lines of output) of a console block. A trailing backslash goes on."""
    found, at = [], 0
    while at < len(block.lines):
        if not block.lines[at].startswith("$ "):
            raise SystemExit(f"line {block.first + at + 1}: output before the first `$ command`")
        start, command = at, block.lines[at][2:]
        while command.endswith("\\"):
            at += 1
            command += "\n" + block.lines[at].removeprefix("> ")
        end = at + 1
        while end < len(block.lines) and not block.lines[end].startswith("$ "):
            end += 1
        found.append((start, command, block.lines[at + 1:end]))
        at = end
    return found


def agrees(shown: list, printed: list) -> bool:
    if "..." not in shown:
        return shown == printed
    cut = shown.index("...")
    rest = shown[cut + 1:]
    if shown[:cut] != printed[:cut]:
        return False
    return any(agrees(rest, printed[at:]) for at in range(cut, len(printed) + 1))


def renewed(shown: list, printed: list) -> list:
    """The same lines of a new output: those before the first `...` and those after the last."""
    if "..." not in shown:
        return printed
    first = shown.index("...")
    last = len(shown) - shown[::-1].index("...")
    tail = len(shown) - last
    return printed[:first] + ["..."] + (printed[-tail:] if tail else [])


class Page:
    def __init__(self, path: pathlib.Path, scratch: Scratch, python: str):
        self.path, self.scratch, self.python = path, scratch, python
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.faults, self.renewals, self.session, self.count = [], [], [], 0

    def fault(self, line: int, text: str) -> None:
        self.faults.append(f"{self.path.name}:{line}: {text}")

    def console(self, block: Block) -> None:
        for at, command, shown in commands_of(block):
            self.count += 1
            status, out, err = self.scratch.run(["bash", "-c", command])
            printed = (out + err).splitlines()
            if status > 1 and not any("error" in line for line in shown):
                self.fault(block.first + at + 1, f"`{command}` ends with {status}: {err}")
            if not agrees(shown, printed):
                start = block.first + at + len(command.splitlines())
                self.renewals.append((start, start + len(shown), renewed(shown, printed)))
                self.fault(block.first + at + 1, f"`{command}` prints something else:\n" + "\n".join(printed))

    def shell(self, block: Block) -> None:
        self.count += 1
        status, _, err = self.scratch.run(["bash", "-e", "-c", "export ANY_ANSWER=yes\n" + "\n".join(block.lines)])
        if status != 0:
            self.fault(block.first, f"the commands end with {status}: {err}")

    def run(self) -> None:
        for block in blocks_of(self.lines):
            if block.reason:
                continue
            if block.kind == "console":
                self.console(block)
            elif block.kind == "sh":
                self.shell(block)
            elif block.kind == "python":
                self.session.append("\n" * (block.first - sum(part.count("\n") for part in self.session)) +
                                    "\n".join(block.lines))
            elif block.kind not in SHOWN:
                self.fault(block.first, f"a block must say what it is; `{block.kind}` is unknown")
        for line, command in table_commands(self.lines):
            self.count += 1
            status, _, err = self.scratch.run(["bash", "-c", command])
            if status > 1:
                self.fault(line, f"`{command}` ends with {status}: {err}")
        if self.session:
            self.count += 1
            status, _, err = self.scratch.run([self.python, "-c", "".join(self.session)])
            if status != 0:
                self.fault(1, f"the Python of the page ends with {status}: {err}")

    def renew(self) -> None:
        for start, end, printed in reversed(self.renewals):
            self.lines[start:end] = printed
        if self.renewals:
            self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")


def main() -> int:
    smplan, root, name, python, pythonpath = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(pathlib.Path(folder), os.path.abspath(smplan), pathlib.Path(root), python, pythonpath)
        page = Page(pathlib.Path(root, name), scratch, python)
        if "one.json" in "".join(page.lines):  # two plans to compare
            for plan in ("one", "two"):
                scratch.run(["smplan", "plan", "--model", "gpt2", "--max-gpus", "8", "--format", "json", "--output", f"{plan}.json"])
        page.run()
    if os.environ.get("SMPLAN_UPDATE_GOLDEN") == "1":
        page.renew()
        page.faults = [fault for fault in page.faults if "prints something else" not in fault]
    print("\n".join(page.faults) if page.faults else f"{name}: {page.count} commands run")
    return 1 if page.faults else 0


if __name__ == "__main__":
    sys.exit(main())
