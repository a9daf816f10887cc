"""Facts of the shipped catalog that the words of a table are compared with."""

import functools
import json
import pathlib
import re
from typing import Any

from phrases import letters_and_digits

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "catalogs/data"
Fact = dict[str, Any]

# Maker, form factor and kind of memory do not tell accelerators apart.
BESIDE = set(
    "nvidia tesla geforce amd instinct aws dgx hgx oam sxm sxm2 sxm3 sxm4 sxm5 sxm6 hbm2 hbm2e hbm3 hbm3e nvl72 "
    "neuroncore core chip chips".split()
)
UNITS = {"gb", "gib", "g"}
# Who publishes weights, how they were trained on and their format never change the widths.
NO_WIDTH = set("instruct it chat base hf sft dpo bf16 pt fp8 thinking preview bnb 4bit".split())


def section(file: str, name: str) -> list[Fact]:
    entries: list[Fact] = json.loads((DATA / file).read_text())[name]
    return entries


@functools.cache
def accelerators() -> list[Fact]:
    return section("accelerators.json", "accelerators")


@functools.cache
def systems() -> list[Fact]:
    return section("instances.json", "instances") + section("reference_systems.json", "instances")


@functools.cache
def stacks() -> list[Fact]:
    return section("stacks.json", "stacks")


@functools.cache
def models() -> list[Fact]:
    return section("models.json", "models")


@functools.cache
def adapter_methods() -> dict[str, Fact]:
    """By the letters and digits of their names."""
    return {letters_and_digits(m["name"]): m for m in section("finetuning/adapter_methods.json", "adapter_methods")}


@functools.cache
def execution_values() -> dict[str, list[str]]:
    """Of each column of the execution the names of its values, none where it is a number: as plan files have them."""
    schema = json.loads((DATA.parent.parent / "planner/schema/plan.schema.json").read_text())
    columns = schema["$defs"]["plan"]["properties"]["execution"]["properties"]
    return {column: [value for value in entry.get("enum", ()) if value] for column, entry in columns.items()}


def stack(name: str) -> Fact | None:
    """By its id or an alias, with any marks between the words."""
    wanted = letters_and_digits(name)
    found = [s for s in stacks() if wanted in map(letters_and_digits, (s["id"], *s.get("aliases", ())))]
    return found[0] if wanted and len(found) == 1 else None


def instance(name: str) -> Fact | None:
    """`ml.p5.48xlarge`, or `p5.48xlarge` as EC2 calls it."""
    wanted = name.lower()
    return next((s for s in systems() if s["name"].lower() in (wanted, "ml." + wanted)), None)


class AcceleratorName:
    """What tells one accelerator's name from another's."""

    def __init__(self, written: str) -> None:
        words = [self._without_count(w) for w in re.split(r"[ \-_(),;/]+", written.lower()) if w]
        kept: list[str] = []
        self.memory: float | None = None
        self.pcie = False
        for word, after in zip(words, [*words[1:], ""]):
            number = re.match(r"[0-9]+", word)
            unit = word[number.end() :] if number else ""
            if number and (unit in UNITS or (not unit and after in UNITS)):
                self.memory = float(number.group())
            elif word == "pcie":
                self.pcie = True
            elif word and word not in UNITS and word not in BESIDE:
                kept.append(word)
        self.words = "-".join(kept)

    @staticmethod
    def _without_count(word: str) -> str:
        """`8x` and `x8` count devices, and so does the beginning of `8xh100`."""
        if re.fullmatch(r"x[0-9]+", word):
            return ""
        return re.sub(r"^[0-9]+x", "", word)


@functools.cache
def accelerator_name(written: str) -> AcceleratorName:
    return AcceleratorName(written)


def _memory_gap(accelerator: Fact, name: AcceleratorName, same_form: bool) -> float | None:
    """How far apart the memory is that a name writes and that the accelerator has; None where the name is another's."""
    same_memory = 0.07  # Some write what the stacks hold, others what they offer: 192 and 180 GB of B200.
    gap = abs(name.memory / accelerator["marketing_memory_gib"] - 1) if name.memory else 0.0
    for written in (accelerator["key"], *accelerator.get("aliases", ())):
        plain = accelerator_name(written)
        near = plain.memory == name.memory or (name.memory is not None and gap < same_memory)
        if plain.words == name.words and near and (not same_form or plain.pcie == name.pcie):
            return gap
    return None


def accelerator(key: str) -> Fact | None:
    return next((a for a in accelerators() if a["key"] == key), None)


def accelerator_named(written: str, of_instance: Fact | None) -> Fact | None:
    """By its name, else that of the instance. A name that leaves the memory open is the instance's."""
    name = accelerator_name(written)
    beside = accelerator(of_instance["accelerator"]) if of_instance else None
    if not name.words:
        return beside
    held = accelerator_name(beside["key"] if beside else "")
    if name.memory is None and held.words == name.words and held.pcie == name.pcie:
        return beside
    for same_form in (True, False):  # Some parts exist as a card only, which their names do not say.
        gaps = [(_memory_gap(a, name, same_form), i) for i, a in enumerate(accelerators())]
        known = [(gap, i) for gap, i in gaps if gap is not None]
        if known:
            return accelerators()[min(known)[1]]
    return None


def plain_model_name(name: str) -> str:
    """`Llama 3.1 8B` and `llama-3.1-8b` are one, `opt-1.3b` and `opt-13b` two (catalogs/model_names.cpp)."""
    plain, between = "", ""
    for i, c in enumerate(name):
        if c == "+" and plain and not name[i + 1 : i + 2].isalnum():
            plain += "plus"
        elif not (c.isascii() and c.isalnum()):
            between = c if not between or c == "." else between
        else:
            if between and plain and plain[-1].isdigit() and c.isdigit():
                plain += "." if between == "." else "-"
            between = ""
            plain += c.lower()
    return plain


def _base_model_name(name: str) -> str:
    words = re.split(r"[-_ ]", name[name.rfind("/") + 1 :])
    return plain_model_name("-".join(w for w in words if w.lower() not in NO_WIDTH and not re.fullmatch("[0-9]{4}", w)))


@functools.cache
def _model_index() -> dict[str, Fact]:
    return {plain_model_name(n): m for m in models() for n in (m["architecture"]["name"], *m.get("aliases", ()))}


def without_brackets(name: str) -> str:
    """`Llama3-70B(trunc)` is `Llama3-70B`."""
    kept, depth = "", 0
    for c in name:
        depth += c == "("
        kept += c if depth == 0 else ""
        depth -= c == ")" and depth > 0
    return kept


@functools.cache
def bare_model_name(name: str) -> str:
    """`Llama3-70B(trunc)` is `llama370b`."""
    return letters_and_digits(plain_model_name(without_brackets(name)))


@functools.cache
def model(name: str) -> Fact | None:
    """The preset of that name; of names without points, as files have them, only where one model is called so."""
    outside = without_brackets(name)
    named = _model_index().get(plain_model_name(outside)) or _model_index().get(_base_model_name(outside))
    wanted = bare_model_name(name)
    if named is not None or not wanted:
        return named
    found = [m for m in models() if wanted in map(bare_model_name, (m["architecture"]["name"], *m.get("aliases", ())))]
    return found[0] if len(found) == 1 else None
