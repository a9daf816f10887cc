"""The model: a preset by its name, and the widths that tables write in other ways."""

import re

import catalog
import cells
from catalog import Fact
from phrases import plain_words
from row import Row, decimal

WIDTHS = "n_layers hidden ffn_hidden n_heads n_kv_heads head_dim vocab n_experts top_k expert_ffn_hidden".split()
GPT2_VOCABULARY = 50257


def _contradicts(row: Row, architecture: Fact) -> bool:
    """The widths of a preset do not describe a row that states others (models/layers/stated_model.cpp)."""
    experts = architecture.get("moe", {}).get("n_experts", 0)
    return any(
        stated != 0 and stated != int(own)
        for stated, own in (
            (row.count("hidden"), architecture["hidden"]),
            (row.count("n_heads"), architecture["n_heads"]),
            (row.count("n_experts") if row.count("n_experts") > 1 else 0, experts),
        )
    )


def is_t5(name: str) -> bool:
    return any(re.match("t5|mt5|byt5|flant5|ul2", word) for word in plain_words(name))


def _split_layers(row: Row, architecture: Fact) -> None:
    """Tables mostly count the layers of encoder and decoder together; as many as the published decoder alone has are
    those of one side, as its configuration writes them."""
    stated = row.count("n_layers")
    if not stated or row.cell("n_encoder_layers"):
        return
    one_side = stated == architecture.get("n_layers") and stated == architecture.get("n_encoder_layers")
    row.put("n_encoder_layers", stated if one_side else stated // 2)
    row.put("n_layers", stated if one_side else stated - stated // 2)


def _counts_own_head(row: Row, preset: Fact) -> bool:
    """A count of parameters that holds the vocabulary twice tells of a head of its own, where the published model has
    none (LitGPT's Falcon)."""
    architecture = preset["architecture"]
    if not architecture.get("tied_embeddings") or not decimal(row.cell("params_b")):
        return False
    head = float(row.count("vocab") or architecture["vocab"]) * float(architecture["hidden"])
    beyond = decimal(row.cell("params_b")) * 1e9 - float(preset["published_parameters"]) - head
    return abs(beyond) < 0.1 * head


def _family_vocabulary(name: str) -> int | None:
    """The vocabulary of the family that a name begins with, where all its presets share one: Nemotron-3 has
    Nemotron's."""
    wanted = catalog.bare_model_name(name)
    found: set[int] = set()
    for preset in catalog.models():
        family = catalog.bare_model_name(preset["architecture"].get("family", ""))
        if family and wanted.startswith(family):
            found.add(preset["architecture"].get("vocab", 0))
    return found.pop() if len(found) == 1 else None


def read(row: Row) -> None:
    for column in ("params_b", *WIDTHS, "n_encoder_layers"):
        if row.cell(column):
            row.put(column, row.cell(column))
    row.put_read("kind", cells.model_kind)
    row.put_read("mlp", cells.mlp)
    tied = row.read("tied_embeddings", cells.switch)
    if tied:
        row.put("tied_embeddings", tied)
    name = row.cell("model")
    row.preset = catalog.model(name)
    row.is_preset = row.preset is not None and not _contradicts(row, row.preset["architecture"])
    row.put("model", row.preset["architecture"]["name"] if row.is_preset and row.preset else name)
    if row.is_preset and row.preset:
        if row.preset["architecture"].get("kind") == "encoder-decoder":
            _split_layers(row, row.preset["architecture"])
        if not tied and _counts_own_head(row, row.preset):
            row.put("tied_embeddings", 0)
        return
    if is_t5(name):
        row.put_if_open("kind", "encoder-decoder")
        _split_layers(row, {})
    elif "bert" in catalog.bare_model_name(name):
        row.put_if_open("kind", "encoder")
    vocabulary = _family_vocabulary(name)
    if not row.count("vocab") and vocabulary and row.count("hidden") and row.count("n_layers"):
        row.put("vocab", vocabulary)


def vocabulary(row: Row) -> int:
    """As the product will take it."""
    return row.count("vocab") or int(row.architecture.get("vocab", GPT2_VOCABULARY))


def parameters(row: Row) -> float:
    """Roughly: as published, else by the widths."""
    if row.is_preset and row.preset:
        return float(row.preset["published_parameters"])
    by_widths = 12.0 * row.count("n_layers") * row.count("hidden") ** 2 + vocabulary(row) * row.count("hidden")
    return 1e9 * decimal(row.cell("params_b")) or by_widths
