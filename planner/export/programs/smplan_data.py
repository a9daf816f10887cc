"""Training data as blocks of one length.

    python3 smplan_data.py --tokenizer FOLDER --output tokens.npy files...

Reads JSON lines, Parquet, a Hugging Face data set on disk, or tokens in a NumPy file. A record has "text", or
"messages" or "conversations", or "prompt" and "completion", or "instruction" and "output" (only the answer counts for
the loss), or "input_ids" with or without "labels".
Text becomes tokens once, in a file beside which every process maps it. Documents follow one another, an end token
between them; blocks are cut from that. Large data is best made into tokens.npy before the job, with the line above.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import signal
import tempfile
import time
from typing import Any, Iterator

import numpy as np
import torch
from torch.utils.data import Dataset, Sampler, get_worker_info

IGNORED = -100  # a label that does not count
SUFFIXES = (".npy", ".jsonl", ".json", ".parquet")
ALPACA = {"instruction", "input", "output"}
ROLES = {"human": "user", "gpt": "assistant", "model": "assistant", "bot": "assistant"}  # as ShareGPT's files call them
SYNTHETIC_BLOCKS = 64  # few, so that a model learns them by heart and its loss falls


def files_of(path: str) -> list[pathlib.Path]:
    """The files of a folder that can be read, in order; a saved data set is its folder."""
    place = pathlib.Path(path)
    if place.is_file():
        return [place]
    if (place / "dataset_info.json").exists() or (place / "dataset_dict.json").exists():
        return [place]
    found = sorted(f for f in place.rglob("*") if f.suffix in SUFFIXES and f.is_file())
    if not found:
        raise SystemExit(f"{path}: no data; give .jsonl, .parquet, .npy or a data set saved by save_to_disk")
    return found


def records_of(file: pathlib.Path) -> Iterator[dict[str, Any]]:
    if file.is_dir():
        import datasets  # only saved data sets need it

        saved = datasets.load_from_disk(str(file))
        yield from saved["train"] if isinstance(saved, datasets.DatasetDict) else saved
    elif file.suffix == ".parquet":
        import pyarrow.parquet

        for batch in pyarrow.parquet.ParquetFile(file).iter_batches():
            yield from batch.to_pylist()
    else:
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise SystemExit(f"{file}:{number}: no JSON: {error}") from None
                if not isinstance(record, dict):
                    raise SystemExit(f"{file}:{number}: a record must be an object")
                yield record


def text_data(path: str) -> Any:
    """The records as a Hugging Face data set, for trainers that make tokens themselves."""
    import datasets

    parts = []
    for file in files_of(path) if path and path != "synthetic" else []:
        if file.is_dir():
            saved = datasets.load_from_disk(str(file))
            parts.append(saved["train"] if isinstance(saved, datasets.DatasetDict) else saved)
        elif file.suffix == ".npy":
            raise SystemExit(f"{file}: examples of their own length are text, not tokens in a row")
        else:
            kind = "parquet" if file.suffix == ".parquet" else "json"
            parts.append(datasets.load_dataset(kind, data_files=str(file), split="train"))
    parts = [part.map(prompted, remove_columns=list(ALPACA & set(part.column_names)))
             if {"instruction", "output"} <= set(part.column_names) else part for part in parts]
    if not parts:
        raise SystemExit("no data: give --data FOLDER or the channel train, of .jsonl, .parquet or a saved data set")
    return datasets.concatenate_datasets(parts)


def prompted(record: dict[str, Any]) -> dict[str, Any]:
    """An instruction with its input, and the output, as a prompt and its completion."""
    more = record.get("input")
    return {"prompt": record["instruction"] + (f"\n\n{more}" if more else "") + "\n\n", "completion": record["output"]}


def chat_of(record: dict[str, Any]) -> list[dict[str, str]] | None:
    """Turns of a chat, whatever their keys and roles are called; None for a record that is none."""
    turns = record.get("messages") or record.get("conversations")
    if turns is None and isinstance(record.get("prompt"), list) and isinstance(record.get("completion"), list):
        turns = record["prompt"] + record["completion"]
    if turns is None:
        return None
    roles = [turn.get("role", turn.get("from")) for turn in turns]
    return [{"role": ROLES.get(role, role), "content": turn.get("content", turn.get("value"))}
            for role, turn in zip(roles, turns)]


def tokens_of(record: dict[str, Any], tokenizer: Any, where: str) -> tuple[list[int], list[bool]]:
    """Tokens of a record, and which of them count for the loss."""
    if "input_ids" in record:
        ids = list(record["input_ids"])
        labels = record.get("labels")
        return ids, [True] * len(ids) if labels is None else [label != IGNORED for label in labels]
    if tokenizer is None:
        raise SystemExit(f"{where}: text needs a tokenizer: give --tokenizer FOLDER, or tokens as .npy")
    end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]

    def encode(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    if isinstance(record.get("text"), str):
        ids = encode(record["text"]) + end
        return ids, [True] * len(ids)
    messages = chat_of(record)
    if "instruction" in record and "output" in record:
        record = prompted(record)
    if messages is None and "prompt" in record and "completion" in record:
        prompt, answer = encode(record["prompt"]), encode(record["completion"]) + end
        return prompt + answer, [False] * len(prompt) + [True] * len(answer)
    if messages is not None:
        # What the assistant says counts: the rest up to each of its turns is prompt.
        ids: list[int] = []
        counts: list[bool] = []
        for index, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            for upto, counted in ((index, False), (index + 1, True)):
                text = tokenizer.apply_chat_template(messages[:upto], tokenize=False, add_generation_prompt=not counted)
                whole = encode(text)
                counts += [counted] * (len(whole) - len(ids))
                ids = whole
                counts = counts[: len(ids)]
        return ids, counts
    raise SystemExit(f"{where}: a record has text, messages or conversations, prompt and completion, instruction and "
                     "output, or input_ids; this one has "
                     f"{', '.join(map(repr, sorted(record)))}")


def tokenize(files: list[pathlib.Path], tokenizer: Any, output: pathlib.Path) -> None:
    """Writes all records as one row of tokens. A token that does not count for the loss is stored as -1 - token."""
    with tempfile.NamedTemporaryFile(dir=output.parent, delete=False) as part:
        total = 0
        for file in files:
            for number, record in enumerate(records_of(file), 1):
                ids, counts = tokens_of(record, tokenizer, f"{file}, record {number}")
                row = np.asarray(ids, np.int32)
                part.write(np.where(np.asarray(counts, bool), row, -1 - row).astype(np.int32).tobytes())
                total += len(ids)
    rows = np.memmap(part.name, np.int32, "r") if total else np.zeros(0, np.int32)
    whole = output.with_name(f"{output.name}.{os.getpid()}.part")
    with open(whole, "wb") as file:
        np.save(file, rows)
    os.unlink(part.name)
    os.replace(whole, output)


def token_file(path: str, tokenizer: Any, local_rank: int) -> np.ndarray:
    """All tokens. The first process of each machine makes them of text, the others wait for the file."""
    files = files_of(path)
    if all(file.suffix == ".npy" for file in files):
        rows = [np.load(file, mmap_mode="r") for file in files]
        return rows[0] if len(rows) == 1 else np.concatenate(rows)
    key = hashlib.sha256(repr([(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
                              + [getattr(tokenizer, "name_or_path", "")]).encode()).hexdigest()[:16]
    made = pathlib.Path(tempfile.gettempdir()) / f"smplan-tokens-{key}.npy"
    if local_rank == 0 and not made.exists():
        tokenize(files, tokenizer, made)
    while not made.exists():
        time.sleep(0.2)
    return np.load(made, mmap_mode="r")


def stay_when_asked_to_stop() -> None:
    """torchrun hands SIGTERM to everybody; a process that reads data stays until the last step is saved."""
    if get_worker_info() is not None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


class Blocks(Dataset):
    """Block `index` of the data, as the model's forward pass takes it.

    decoder: input_ids and labels, which the model shifts itself. encoder: 15 % of the tokens are hidden (Devlin et al.
    2018). encoder-decoder: a block, and the next one to predict from it. vision: an image and its class.
    """

    def __init__(self, args: argparse.Namespace, kind: str, config: Any, tokenizer: Any, local_rank: int) -> None:
        self.args, self.kind, self.config = args, kind, config
        self.mask = getattr(tokenizer, "mask_token_id", None)
        self.tokens: Any = None
        self.images: Any = None
        self.ready = False
        if args.data == "synthetic":
            return
        if not args.data:
            raise SystemExit("no data: give --data FOLDER, the channel train, or --data synthetic")
        if kind == "vision":
            self.images = images_of(args.data, config)
            return
        self.tokens = token_file(args.data, tokenizer, local_rank)
        if len(self) == 0:
            raise SystemExit(f"{args.data}: {len(self.tokens)} tokens make no block of {args.seq_len}")

    def __len__(self) -> int:
        if self.images is not None:
            return len(self.images)
        if self.tokens is None:
            return SYNTHETIC_BLOCKS
        return len(self.tokens) // self.args.seq_len - (self.kind == "encoder-decoder")

    def _row(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        length = self.args.seq_len
        if self.tokens is None:
            source = np.random.default_rng([self.args.seed, index])
            row = source.integers(0, self.config.vocab_size, length).astype(np.int64)
        else:
            row = np.asarray(self.tokens[index * length : (index + 1) * length]).astype(np.int64)
        ids = np.where(row < 0, -1 - row, row)
        return torch.from_numpy(ids), torch.from_numpy(np.where(row < 0, IGNORED, row))

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        if not self.ready:
            self.ready = True
            stay_when_asked_to_stop()
        if self.kind == "vision":
            return self._image(index)
        ids, labels = self._row(index)
        if self.kind == "encoder":
            source = torch.Generator().manual_seed(self.args.seed * 1_000_003 + index)
            hidden = torch.rand(ids.shape, generator=source) < 0.15
            mask = self.config.vocab_size - 1 if self.mask is None else self.mask
            return {"input_ids": torch.where(hidden, mask, ids), "labels": torch.where(hidden, labels, IGNORED)}
        if self.kind == "encoder-decoder":
            return {"input_ids": ids, "labels": self._row(index + 1)[1]}
        return {"input_ids": ids, "labels": labels}

    def _image(self, index: int) -> dict[str, torch.Tensor]:
        if self.images is not None:
            pixels, label = self.images[index]
            return {"pixel_values": pixels, "labels": torch.tensor(label)}
        source = torch.Generator().manual_seed(self.args.seed * 1_000_003 + index)
        size = self.config.image_size
        pixels = torch.randn(self.config.num_channels, size, size, generator=source)
        return {"pixel_values": pixels, "labels": torch.tensor(index % self.config.num_labels)}


def images_of(path: str, config: Any) -> Any:
    """Folders of images, one for each class."""
    from torchvision import datasets as folders  # only images need it
    from torchvision import transforms

    size = config.image_size
    return folders.ImageFolder(path, transforms.Compose([
        transforms.RandomResizedCrop(size), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
        transforms.Normalize([0.5] * 3, [0.5] * 3)]))


class StepSampler(Sampler):
    """Blocks of one rank, in the order of the steps. A step's blocks depend on its number alone, so that a run which
    resumes reads what it had not read yet."""

    def __init__(self, blocks: int, args: argparse.Namespace, rank: int, ranks: int, first_step: int) -> None:
        self.blocks, self.args, self.rank, self.ranks, self.first = blocks, args, rank, ranks, first_step

    def __iter__(self) -> Iterator[int]:
        epoch, order = -1, np.zeros(0, np.int64)
        passes = self.args.gradient_accumulation
        for number in range(self.first * passes, self.args.max_steps * passes):
            for sequence in range(self.args.micro_batch):
                position = (number * self.ranks + self.rank) * self.args.micro_batch + sequence
                if position // self.blocks != epoch:
                    epoch = position // self.blocks
                    order = np.random.default_rng([self.args.seed, epoch]).permutation(self.blocks)
                yield int(order[position % self.blocks])

    def __len__(self) -> int:
        return (self.args.max_steps - self.first) * self.args.gradient_accumulation * self.args.micro_batch


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--tokenizer", required=True)
    p.add_argument("--output", required=True)
    args = p.parse_args()
    from transformers import AutoTokenizer

    output = pathlib.Path(args.output)
    if output.suffix != ".npy":
        p.error("--output must end with .npy")
    files = [file for path in args.files for file in files_of(path)]
    tokenize(files, AutoTokenizer.from_pretrained(args.tokenizer), output)
    print(f"{len(np.load(output, mmap_mode='r')):,} tokens in {output}")


if __name__ == "__main__":
    main()
