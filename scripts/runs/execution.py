"""What software was told, from the general words of notes and framework; columns of the execution count more."""

import catalog
import cells
from phrases import Phrases
from row import EXECUTION, Row


# Norms and gates as one kernel each, whosever.
FUSED_LAYERS = ("fused norms", "fused rms norm", "fused rmsnorm", "fused rms_norm", "fused swiglu")


def _loss(row: Row) -> str | None:
    liger = row.says("liger")
    if liger or row.says("fused-linear", "cut cross", "fused loss", "chunked loss", "chunked cross"):
        return "linear"
    fused = row.says("fused cross-entropy", "fused cross entropy", "cross-entropy-loss-fusion")
    return "fused" if fused else None


def _compile(row: Row, words: Phrases) -> str | None:
    """A list of techniques says what ran; "no compile" may speak of the row beside it. torchtitan compiles the loss too
    since 2025 (components/loss.py), beside PyTorch 2.7 and later."""
    if words.say("+ compile", "+compile", "compile +", "torch.compile"):
        return "layers+loss" if (words.number_after("pytorch 2.") or 0) >= 7 else "layers"
    off = words.say("no compile") or words.deny("torch.compile") or words.deny("compile") or words.say("eager")
    return "off" if off else None


def read(row: Row) -> None:
    # Notes and framework as one text: a version in one belongs to a word in the other.
    words = Phrases(row.notes.text + " " + row.framework.text)
    found: dict[str, str | None] = {
        "compile": _compile(row, words),
        "loss_kernel": _loss(row),
        "liger_kernels": "on" if row.says("liger", *FUSED_LAYERS) else None,
        "context_exchange": "all-to-all" if row.says("cp a2a") else None,
    }
    if row.says("no tp-comm overlap", "no tp comm overlap", "no tp overlap"):
        found["tensor_overlap"] = "off"
    if row.says("asynctp", "async tp", "async-tp"):
        found["tensor_overlap"] = "async"
    if row.is_moe:
        dispatcher = "deepep" if row.says("dispatcher=flex", "deepep", "hybridep") else None
        found["moe_dispatcher"] = dispatcher or ("all-to-all" if row.says("dispatcher=alltoall") else None)
        overlap_off = row.says("ep-a2a overlap=off")
        found["expert_overlap"] = "off" if overlap_off else "on" if row.says("ep-a2a overlap=on") else None
    for column, value in found.items():
        if value:
            row.put(column, value)
    row.notes.used += [(b, e) for b, e in words.used if e <= len(row.notes.text)]
    read_columns(row)


def _value(column: str, cell: str) -> str | None:
    """A name as plan files have it, any word for on and off, a number, modules."""
    if column == "recompute_modules":
        return "+".join(cells.modules(cell)) or None
    if column == "flash_attention":
        return cells.flash_attention(cell)
    names = catalog.execution_values()[column]
    if not names:
        return cell  # a number, which the product judges
    if cell.lower() in names:
        return cell.lower()
    on = cells.switch(cell) == "1"
    if cells.switch(cell) is None:
        return None
    return next((name for name in (("on", "layers") if on else ("off",)) if name in names), None)


def read_columns(row: Row) -> None:
    for column in EXECUTION:
        cell = row.cell(column)
        if not cell or cells.is_blank(cell):
            continue
        value = _value(column, cell)
        if value is None:
            row.not_understood.append((column, cell))
        elif value.lower() != "default":
            row.put(column, value)
