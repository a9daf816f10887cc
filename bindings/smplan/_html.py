"""Small HTML tables for notebooks: plain elements, no script, text always escaped."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, Mapping, Sequence

MAX_ROWS = 20


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", max_rows: int = MAX_ROWS) -> str:
    cells = [list(row) for row in rows]
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells[:max_rows])
    more = len(cells) - max_rows
    rest = f'<tr><td colspan="{len(head)}">and {more} more</td></tr>' if more > 0 else ""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}{rest}</tbody></table>"


def sentence_list(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def facts_table(data: Mapping[str, Any], caption: str) -> str:
    """Names and values; members of objects are named by both names, what is unknown is left out."""
    rows = []
    for name, value in data.items():
        parts = value.items() if isinstance(value, dict) else [(None, value)]
        rows += [(name if part is None else f"{name}: {part}", _formatted(item)) for part, item in parts if item is not None]
    return table(["", ""], rows, caption, max_rows=len(rows))


def _formatted(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return ", ".join(map(_formatted, value)) if isinstance(value, (list, tuple)) else str(value)


def dollars(amount: float | None) -> str:
    return "no price" if amount is None else f"${amount:,.0f}"


def days(seconds: float) -> str:
    return f"{seconds / 86400:.3g} d"
