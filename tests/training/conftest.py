"""Jobs as smplan exports them, started as their files say, on the CPU: two machines of one process each.

Each machine has a copy of the exported folder. What SageMaker does between two starts, `sync` does here: every machine
gets the checkpoints of all. No exported file is edited.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

SMPLAN = os.environ["SMPLAN_BINARY"]
TINY = {
    "llama": {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
              "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
              "vocab_size": 256, "max_position_embeddings": 512, "rope_theta": 10000.0},
    "bert": {"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 64, "intermediate_size": 128,
             "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 256, "max_position_embeddings": 128},
    "t5": {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 64, "d_ff": 128, "d_kv": 16,
           "num_layers": 2, "num_decoder_layers": 2, "num_heads": 4, "vocab_size": 256},
    "vit": {"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 64,
            "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32,
            "patch_size": 8},
    "mixtral": {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "hidden_size": 64,
                "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
                "vocab_size": 256, "num_local_experts": 4, "num_experts_per_tok": 2, "max_position_embeddings": 512,
                "rope_theta": 10000.0, "sliding_window": None},
}
STEPS, SEQ_LEN, BATCH = 40, 64, 16
PATIENCE = 300  # seconds; importing the libraries takes most of a run


def stop_with_stacks(started: list[subprocess.Popen]) -> None:
    """Ends what still runs; each Python process first writes into its log where it stands (PYTHONFAULTHANDLER)."""
    family = []
    for process in started:
        if process.poll() is None:
            family += [*psutil.Process(process.pid).children(recursive=True), process]
    for ending in (signal.SIGABRT, signal.SIGKILL):
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(ending)
                time.sleep(0.3)  # else the stacks of several mix
    for process in started:
        process.wait()


class Job:
    """An exported folder, copied to each machine."""

    def __init__(self, home: pathlib.Path, machines: int) -> None:
        self.home, self.machines = home, machines
        self.nodes = [home.with_name(f"{home.name}-{n}") for n in range(machines)]
        for node in self.nodes:
            shutil.copytree(home, node)

    def start(self, *arguments: str, command: list[str] | None = None, **variables: str) -> list[subprocess.Popen]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        started = []
        # Elsewhere than on SageMaker there is no /opt/ml: the folder is the last thing that a job is told.
        for rank, node in enumerate(self.nodes):
            bin_folder = str(pathlib.Path(sys.executable).parent)
            environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "NODE_RANK": str(rank),
                           "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1",
                           "HF_HUB_OFFLINE": "1", "PYTHONFAULTHANDLER": "1", "TOKENIZERS_PARALLELISM": "false", **variables}
            line = command or ["sh", str(node / "launch.sh")]
            line = [word.format(node=node, rank=rank, port=port) for word in line]
            started.append(subprocess.Popen([*line, *arguments, "--checkpoint_dir", "checkpoints"], cwd=node, env=environment, text=True,
                                            stdout=open(node / "log.txt", "w"), stderr=subprocess.STDOUT))
        return started

    def wait(self, started: list[subprocess.Popen], expected: int = 0) -> str:
        """Until every machine has ended; the rest of a job is stopped when one ends wrongly or nobody ends in time."""
        end = time.monotonic() + PATIENCE
        codes: list[int | None] = [None] * self.machines
        try:
            while None in codes and all(code in (None, expected) for code in codes) and time.monotonic() < end:
                time.sleep(0.05)
                codes = [process.poll() for process in started]
            if codes != [expected] * self.machines:
                time.sleep(5)  # the others may say why
        finally:
            stop_with_stacks(started)
        log = self.log()
        assert codes == [expected] * self.machines, f"{codes} after at most {PATIENCE} s\n" + log[-20000:]
        return log

    def run(self, *arguments: str, **more) -> str:
        return self.wait(self.start(*arguments, **more))

    def log(self) -> str:
        return "\n".join((node / "log.txt").read_text() for node in self.nodes)

    def fail(self, started: list[subprocess.Popen], why: str) -> None:
        stop_with_stacks(started)
        pytest.fail(f"{why}\n{self.log()[-20000:]}")

    def run_and_stop(self, behind: int, *arguments: str, **more) -> str:
        """SIGTERM to every machine once a step behind this one is logged."""
        started = self.start("--log_interval", "1", *arguments, **more)
        end = time.monotonic() + PATIENCE
        while max(steps(self.log()), default=0) < behind:
            if time.monotonic() > end or any(p.poll() is not None for p in started):
                self.fail(started, f"no step behind {behind}")
            time.sleep(0.05)
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.fail(started, "does not stop when asked to")
        return self.log()

    def sync(self, folder: str) -> None:
        for source in self.nodes:
            for target in self.nodes:
                if source != target and (source / folder).exists():
                    shutil.copytree(source / folder, target / folder, dirs_exist_ok=True)

    def alone(self) -> Job:
        """The first of two machines, when the other is lost: an elastic job goes on so, and accumulates twice as much."""
        alone = Job(self.nodes[0].rename(self.home.with_name("alone")), 1)
        script = alone.nodes[0] / "launch.sh"
        text = script.read_text(encoding="utf-8")
        assert "--nnodes 2" in text
        script.write_text(text.replace("--nnodes 2", "--nnodes 1"), encoding="utf-8")
        return alone

    def find(self, pattern: str) -> list[pathlib.Path]:
        return [path for node in self.nodes for path in sorted(node.rglob(pattern))]

    def row(self) -> dict[str, str]:
        (path,) = self.find("smplan_run.csv")
        with open(path, newline="", encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
        return row


def losses(log: str) -> dict[int, float]:
    # Another process of the machine may have begun the line.
    return {int(step): float(loss) for step, loss in re.findall(r"\bstep (\d+)/\d+, loss ([\d.]+)", log)}


def steps(log: str) -> list[int]:
    return list(losses(log))


@pytest.fixture
def exported(tmp_path):
    """exported(model, stack, target, flags...) -> Job"""

    def export(model: str, stack: str, target: str, *flags: str, machines: int = 2) -> Job:
        config = tmp_path / f"{model}.json"
        config.write_text(json.dumps(TINY[model]))
        # A ViT's tokens are its patches and the class token.
        length = 17 if model == "vit" else SEQ_LEN
        folder = tmp_path / "job"
        subprocess.run(
            [SMPLAN, "plan", "--hf-config", str(config), "--instances", "ml.g5.xlarge", "--count", str(machines),
             "--stack", stack, "--seq-len", str(length), "--global-batch", str(BATCH), "--micro-batch", "4",
             "--tokens", str(STEPS * BATCH * length), "--export", target, "--output", str(folder), "--quiet",
             "--launchable", "any", *flags], check=True)
        return Job(folder, machines)

    return export


@pytest.fixture(scope="session")
def pretrained(tmp_path_factory) -> pathlib.Path:
    """A folder with a small model's weights and a tokenizer of letters."""
    import tokenizers
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("weights")
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model(**TINY["llama"]))
    model.save_pretrained(folder)
    letters = {chr(code): index for index, code in enumerate(range(32, 127))}
    words = tokenizers.Tokenizer(tokenizers.models.BPE({**letters, "<end>": 95, "<unk>": 96}, [], unk_token="<unk>"))
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<end>", unk_token="<unk>").save_pretrained(folder)
    return folder


@pytest.fixture
def sentences(tmp_path) -> pathlib.Path:
    """JSON lines: text, and prompts with answers."""
    folder = tmp_path / "data"
    folder.mkdir()
    with open(folder / "train.jsonl", "w", encoding="utf-8") as file:
        for n in range(300):
            file.write(json.dumps({"text": f"the {n % 7}th cat sat on mat number {n % 5} and counted to {n % 10}."}) + "\n")
            file.write(json.dumps({"prompt": f"How many cats? {n % 3}: ", "completion": f"{n % 3} cats"}) + "\n")
    return folder
