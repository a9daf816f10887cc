"""Measured runs in any form that Python has them: paths, CSV text in a frame, or several of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, List, Sequence, Tuple, Union

from smplan._errors import Diagnostic, InputError

if TYPE_CHECKING:
    import pandas

Runs = Union[str, "os.PathLike[str]", "pandas.DataFrame", Sequence[Union[str, "os.PathLike[str]"]]]
"""A CSV file, a DataFrame with the same columns, or a list of files."""


def tables_of(runs: Any) -> List[Tuple[str, str]]:
    """(name, CSV text) of each table."""
    if hasattr(runs, "to_csv"):
        return [("DataFrame", runs.to_csv(index=False))]
    if isinstance(runs, (str, os.PathLike)):
        return [_read(runs)]
    if isinstance(runs, (list, tuple)) and runs:
        return [_read(path) for path in runs]
    raise InputError([Diagnostic("wrong-kind", "runs", f"cannot be {type(runs).__name__}",
                                 "give a path, a DataFrame, or a list of paths")])


def _read(path: Union[str, os.PathLike[str]]) -> Tuple[str, str]:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return os.path.basename(os.fspath(path)), file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Diagnostic("unreadable", os.fspath(path), str(error), "")]) from None
