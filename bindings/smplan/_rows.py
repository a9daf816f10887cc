"""Answers that are rows of views: what they share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Sequence, Tuple, TypeVar, Union, overload

from smplan._views import View

if TYPE_CHECKING:
    import pandas

Row = TypeVar("Row", bound=View)


class Rows(Sequence[Row]):
    """A sequence of views over the JSON that the command line prints, an array of objects."""

    def __init__(self, text: str, row: type[Row]) -> None:
        self._text = text
        self._rows = tuple(row(data) for data in json.loads(text))

    def to_json(self) -> str:
        """What the command prints with `--format json`, on one line."""
        return self._text

    def to_dict(self) -> List[Dict[str, Any]]:
        """The same as dictionaries."""
        rows: List[Dict[str, Any]] = json.loads(self._text)
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """One row each. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Tuple[Row, ...]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Row, Tuple[Row, ...]]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)
