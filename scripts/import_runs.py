#!/usr/bin/env python3
"""Copies tables of measured runs into the project: configuration, measurements and citation, no prose.

Usage: scripts/import_runs.py OUTPUT_FOLDER RUNS.csv [MORE.csv...]

Of the free text in `notes` only those words stay that change a prediction: the string literals of the functions in
planner/validation/run_settings.cpp that look for words, with the figure that follows them or what denies them. So a
prediction is the same from the copy as from the original (`smplan validate --format csv` of both must agree).
"""

import ast
import csv
import pathlib
import re
import sys

COLUMNS = (
    "id source source_ref model params_b n_layers hidden ffn_hidden n_heads n_kv_heads head_dim vocab seq_len mlp "
    "n_experts top_k expert_ffn_hidden gpu instance n_gpus gpus_per_node internode_gbps_per_node network framework "
    "dtype tp pp vpp cp ep dp sequence_parallel shard shard_degree micro_batch global_batch recompute offload "
    "flash_attention optimizer lora step_time_s tokens_per_s_per_gpu samples_per_s tflops_per_gpu tflops_kind mfu_pct "
    "hfu_pct peak_mem_gib_per_gpu mem_kind "
    "method quant batch grad_accum grad_ckpt packing compile lora_rank lora_targets peak_mem_gib"
).split()
# Of tables of fine-tuning memory; no prediction reads them.
UNREAD = set("peak_mem_printed unit_printed tokens_per_s train_time_s oom".split())
VALIDATION = pathlib.Path(__file__).parent.parent / "planner/validation"


def literals(file: str, function: str) -> list[str]:
    """The strings that a function of planner/validation names, without those that only separate."""
    code = (VALIDATION / file).read_text()
    start = code.index(f" {function}(")
    body = code[start : code.index("\n}", start)]
    words = [ast.literal_eval(literal) for literal in re.findall(r'"(?:[^"\\]|\\.)*"', body)]
    return [word for word in words if re.search("[a-z0-9]", word)]


def setting_words() -> list[str]:
    """What a prediction looks for in notes, longest first."""
    readers = ("read_settings", "says_four_bit_format", "says_four_bit_weights")
    words = {word for reader in readers for word in literals("run_settings.cpp", reader)}
    return sorted(words, key=len, reverse=True)


def settings_of(notes: str, words: list[str]) -> str:
    """The recognised words in their order, each with the figure right after it and what denies it (phrases.cpp)."""
    before = r"(?:\b(?:no|not|non|without|w/o)[ -])?"
    after = r"[0-9.]*(?: ?[=:] ?\w+| (?:off|disabled|false)\b)?"
    spans: list[tuple[int, int]] = []
    for word in words:
        for match in re.finditer(before + re.escape(word) + after, notes, re.IGNORECASE):
            spans.append(match.span())
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return "; ".join(notes[begin:end].rstrip(".") for begin, end in merged)


def known_methods() -> set[str]:
    """What a run may train: everything, or the adapters of the table of methods."""
    table = (VALIDATION / "adapter_methods.cpp").read_text()
    return {"full", "lora+emb/head trainable", *re.findall(r'AdapterMethod{\.name = "(\w+)"', table)}


METHODS = known_methods()
Row = dict[str, str]


def measurement(row: Row) -> tuple[str, ...]:
    """What two tables of one source have in common where they tell of one run."""
    model = re.sub(r"[^a-z0-9]", "", row["model"].lower())
    figure = row.get("step_time_s") or row.get("peak_mem_gib") or row.get("peak_mem_gib_per_gpu") or ""
    return row["source"], model, row["n_gpus"], row["seq_len"], str(float(figure)) if figure else row["id"]


def is_usable(row: Row) -> bool:
    stated = row["step_time_s"] or row["peak_mem_gib"]
    return bool(stated) and row["method"] in METHODS and (row["batch"] or "1").isdigit()


def import_table(source: pathlib.Path, target: pathlib.Path, words: list[str], told: set[tuple[str, ...]]) -> int:
    """Rows of a memory table without a figure, of methods or batches that no model takes, or told before are left out."""
    with source.open(newline="", encoding="utf-8") as file:
        rows: list[Row] = list(csv.DictReader(file))
    if rows and "oom" in rows[0]:
        rows = [row for row in rows if is_usable(row) and measurement(row) not in told]
    told.update(measurement(row) for row in rows)
    if rows and (unknown := set(rows[0]) - set(COLUMNS) - UNREAD - {"notes"}):
        raise SystemExit(f"{source}: columns that no reader knows: {', '.join(sorted(unknown))}")
    # A column that a table never fills is left out: absent and empty mean the same.
    filled = [column for column in COLUMNS if any(row.get(column) for row in rows)]
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*filled, "notes"])
        for row in rows:
            writer.writerow([*(row[column] for column in filled), settings_of(row.get("notes") or "", words)])
    return len(rows)


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    words = setting_words()
    told: set[tuple[str, ...]] = set()
    for name in sys.argv[2:]:
        source = pathlib.Path(name)
        target = folder / source.name.removeprefix("runs_")
        print(f"{target}: {import_table(source, target, words, told)} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
