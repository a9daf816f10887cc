"""Bars for long work, with tqdm where it is installed; nothing is shown otherwise."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional, TypeVar

if TYPE_CHECKING:
    from types import TracebackType

_DELAY_S = 0.5  # work that is done by then shows no bar
Item = TypeVar("Item")


def _tqdm_bar(what: str, total: int, done: int = 0) -> Optional[Any]:
    """A bar of tqdm's, hidden where standard error is a file; None without tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, initial=done, desc=what, disable=None, leave=False)


class ProgressBar:
    """A bar that native work calls now and then with how far it is; hidden until the delay is over."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begin = time.monotonic()
        self._shown = False
        self._bar: Optional[Any] = None

    def __call__(self, done: int, total: int) -> None:
        if not self._shown and time.monotonic() - self._begin > _DELAY_S:
            self._shown = True
            self._bar = _tqdm_bar(self._what, total, done)
        if self._bar is not None:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, kind: Optional[type], fault: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if self._bar is not None:
            self._bar.close()


def with_progress_bar(items: Iterable[Item], what: str, total: int) -> Iterator[Item]:
    """The items, with a bar that moves as they are taken."""
    with ProgressBar(what) as bar:
        for done, item in enumerate(items):
            bar(done, total)
            yield item
        bar(total, total)
