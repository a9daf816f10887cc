"""Reads a table, makes each row typed, writes the columns that are filled."""

import collections
import csv
import dataclasses
import io
import os
import pathlib
import sys
import tempfile

import execution
import hardware
import model
import recipes
import software
from phrases import Phrases
from row import MEASURED, OTHER_NAMES, STATED, WORDS, Row

SHOWN = 12
CELL_SHOWN = 60


class TableError(Exception):
    """A table that cannot be read or written; names the file and the fault."""


@dataclasses.dataclass
class Table:
    name: str
    rows: list[dict[str, str]]
    left_out: list[str]  # columns that nothing knows


@dataclasses.dataclass
class Normalised:
    columns: list[str]
    rows: list[dict[str, str]]
    left_out: list[str]
    not_understood: collections.Counter[tuple[str, str]]
    unused: collections.Counter[str]

    def report(self) -> list[str]:
        """What nothing used, most frequent first."""
        lines = [f"column {_shown(column)} is not known and left out" for column in self.left_out]
        for (column, cell), n in self.not_understood.most_common():
            lines.append(f"{column} {_shown(cell)} is not understood ({n} rows)")
        for words, n in self.unused.most_common():
            lines.append(f"not used of notes: {_shown(words)} ({n} rows)")
        if len(lines) > SHOWN:
            lines = [*lines[:SHOWN], f"and {len(lines) - SHOWN} more"]
        return lines


def _shown(text: str) -> str:
    """Short, and without control characters."""
    cut = text if len(text) <= CELL_SHOWN else text[:CELL_SHOWN] + "..."
    return repr(cut)


def read(path: str) -> Table:
    name = "standard input" if path == "-" else path
    csv.field_size_limit(1 << 24)
    try:
        raw = sys.stdin.buffer.read() if path == "-" else pathlib.Path(path).read_bytes()
        lines = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True))
    except OSError as error:
        raise TableError(f"{name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TableError(f"{name}: byte {error.start} is no UTF-8; save the table as UTF-8") from error
    except csv.Error as error:
        raise TableError(f"{name}: no table of comma-separated values: {error}") from error
    header = [column.strip().lower() for column in lines[0]] if lines else []
    if "id" not in header:
        raise TableError(f"{name}: there is no column 'id'; the first line must name the columns")
    rows = []
    for number, cells in enumerate(lines[1:], 2):
        if not any(cells):
            continue
        if len(cells) > len(header):
            raise TableError(f"{name}: row {number} has {len(cells)} cells, the header names {len(header)}")
        rows.append(dict(zip(header, (cell.strip() for cell in cells))))
    known = {*STATED, *MEASURED, *WORDS, *OTHER_NAMES}
    return Table(name, rows, [column for column in dict.fromkeys(header) if column and column not in known])


def under_known_names(cells: dict[str, str]) -> dict[str, str]:
    """Under the names of the typed columns; a column's own name counts more than another name of it."""
    named = {OTHER_NAMES[c]: cell for c, cell in reversed(cells.items()) if c in OTHER_NAMES and cell}
    named.update({column: cell for column, cell in cells.items() if column not in OTHER_NAMES and cell})
    return named


def typed_row(stated: dict[str, str]) -> Row:
    """From the stated cells alone; the measured ones are not here."""
    row = Row(stated)
    row.notes = Phrases(stated.get("notes", ""))
    row.program = row.framework if row.cell("framework") else row.notes
    for column in ("id", "source", "source_ref"):
        row.put(column, row.cell(column))
    hardware.read(row)
    model.read(row)
    software.read_stack(row)
    software.read_formats(row)
    software.read_method(row)
    software.read_sharding(row)
    software.read_strategy(row)
    software.read_batch(row)
    software.read_kinds(row)
    if row.is_typed:
        execution.read_columns(row)
    else:
        execution.read(row)
        recipes.follow(row)
    return row


def normalise(source: Table) -> Normalised:
    rows: list[dict[str, str]] = []
    not_understood: collections.Counter[tuple[str, str]] = collections.Counter()
    unused: collections.Counter[str] = collections.Counter()
    for cells in source.rows:
        named = under_known_names(cells)
        measured = {column: named[column] for column in MEASURED if column in named}
        row = typed_row({column: cell for column, cell in named.items() if column not in MEASURED})
        not_understood.update(set(row.not_understood))
        unused.update(set(row.notes.unused()))
        rows.append({column: cell for column, cell in {**row.typed, **measured}.items() if cell})
    filled = {column for row in rows for column in row}
    columns = [column for column in [*STATED, *MEASURED] if column in filled or column == "id"]
    return Normalised(columns, rows, source.left_out, not_understood, unused)


def text(table: Normalised) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow([row.get(column, "") for column in table.columns])
    return out.getvalue()


def write(table: Normalised, path: str) -> None:
    """Whole or not at all: a file takes its name when it is complete."""
    if path == "-":
        sys.stdout.write(text(table))
        return
    target = pathlib.Path(path)
    try:
        handle, part = tempfile.mkstemp(dir=target.parent, prefix=target.name)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text(table))
        pathlib.Path(part).chmod(0o644)
        os.replace(part, target)
    except OSError as error:
        raise TableError(f"{path}: {error.strerror}") from error
