"""Reads a table, makes each row typed, writes the columns that are filled."""

import collections
import csv
import dataclasses
import io
import os
import pathlib
import re
import sys
import tempfile

import execution
import hardware
import model
import recipes
import software
from phrases import Phrases
from row import IDENTITY, MEASURED, STATED, WORDS, Row, other_names

SHOWN = 12
CELL_SHOWN = 60
CELL_READ = 10_000  # characters that rules read of a cell: people write some hundred


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
        lines = csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
        header = _header(name, next(lines, []))
        rows = [_row(f"{name}:{lines.line_num}", header, cells) for cells in lines if any(cells)]
    except OSError as error:
        raise TableError(f"{name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TableError(f"{name}: byte {error.start} is no UTF-8; save the table as UTF-8") from error
    except csv.Error as error:
        raise TableError(f"{name}: no table of comma-separated values: {error}") from error
    if b"\0" in raw:
        raise TableError(f"{name}: holds a zero byte, which is no text; save the table as UTF-8")
    known = {*STATED, *MEASURED, *WORDS, *other_names(header)}
    return Table(name, rows, [column for column in header if column not in known])


def _header(name: str, cells: list[str]) -> list[str]:
    header = [column.strip().lower() for column in cells]
    if "id" not in header:
        others = len(header) == 1 and re.search(r"[;\t|]", header[0])
        hint = "the columns are not parted by commas" if others else "the first line must name the columns"
        raise TableError(f"{name}: there is no column 'id'; {hint}")
    twice = [column for column, n in collections.Counter(header).items() if n > 1]
    if twice:
        raise TableError(f"{name}: the column {_shown(twice[0])} stands there twice")
    return header


def _row(where: str, header: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(header):
        raise TableError(f"{where}: {len(cells)} cells, the header names {len(header)}; cells with commas need quotes")
    return dict(zip(header, cells))


def under_known_names(cells: dict[str, str]) -> dict[str, str]:
    """Under the names of the typed columns; a column's own name counts more than another name of it."""
    others = other_names(cells)
    named = {others[c]: cell for c, cell in reversed(cells.items()) if c in others and cell.strip()}
    named.update({column: cell for column, cell in cells.items() if column not in others and cell.strip()})
    return named


def split(cells: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """What a row states, and what was measured of it. Rules get the first part alone."""
    named = under_known_names(cells)
    measured = {column: cell for column, cell in named.items() if column in MEASURED}
    return {column: cell.strip() for column, cell in named.items() if column not in MEASURED}, measured


def typed_row(stated: dict[str, str]) -> Row:
    """From the stated cells alone; the measured ones are not here."""
    row = Row(stated)
    for column, cell in stated.items():
        if len(cell) > CELL_READ and column not in IDENTITY:
            row.cells[column] = cell[:CELL_READ]
            row.not_understood.append((column, cell))
    row.notes = Phrases(row.cell("notes"))
    row.program = row.framework if row.cell("framework") else row.notes
    for column in IDENTITY:
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
        stated, measured = split(cells)
        row = typed_row(stated)
        not_understood.update(dict.fromkeys(row.not_understood, 1))
        unused.update(dict.fromkeys(row.notes.unused(), 1))
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
    """A file is whole or not there at all: it takes its name when it is complete."""
    content = text(table).encode()
    target = pathlib.Path(os.path.realpath(path))
    try:
        if path == "-":
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        elif target.exists() and not target.is_file():
            target.write_bytes(content)  # a device or a pipe, which nothing may take the name of
        else:
            _replace(target, content)
    except OSError as error:
        raise TableError(f"{'standard output' if path == '-' else path}: {error.strerror}") from error


def _replace(target: pathlib.Path, content: bytes) -> None:
    handle, part = tempfile.mkstemp(dir=target.parent, prefix=target.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        pathlib.Path(part).chmod(0o644)
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise
