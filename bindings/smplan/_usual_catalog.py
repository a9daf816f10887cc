"""The catalog of a call that names none."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from typing import Optional

from smplan import _core
from smplan._errors import InputError


def usual_catalog(given: Optional[_core.Catalog] = None) -> _core.Catalog:
    """The given one, else the shipped one under what `smplan catalog refresh` wrote."""
    if given is not None:
        return given
    file = _core.refreshed_file()
    if file is None:
        return shipped_catalog()
    state = os.stat(file)
    return _refreshed(file, state.st_mtime_ns, state.st_size, state.st_ino)


@functools.lru_cache(maxsize=1)
def shipped_catalog() -> _core.Catalog:
    return _core.Catalog.shipped()


@functools.lru_cache(maxsize=2)
def _refreshed(file: str, *state: int) -> _core.Catalog:
    """Read once for each state of the file: a call that comes after a refresh sees its prices."""
    try:
        catalog = _core.Catalog.refreshed()
    except InputError as error:
        warnings.warn(str(error), stacklevel=_level_of_the_caller())
        return shipped_catalog()
    import logging  # not needed by who has refreshed nothing

    logging.getLogger("smplan").info("facts refreshed on %s are used, from %s (SMPLAN_NO_CACHE=1 leaves them out)",
                                     catalog.refreshed_on, file)
    return catalog


def _level_of_the_caller() -> int:
    """How far up the first frame outside the package is, as warn() counts from the function that calls this."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").partition(".")[0] == "smplan":
        level += 1
    return level
