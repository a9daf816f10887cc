"""Python values to the text that the command line would have."""

from __future__ import annotations

import os
from enum import Enum
from numbers import Integral, Real
from typing import Any

from smplan._errors import Diagnostic, InputError


def to_text(name: str, value: Any) -> str:
    """`True` -> `true`, `[1, 2]` -> `1,2`, 8 -> `8`; paths, enumerators and strings as they are."""
    if isinstance(value, Enum):
        return to_text(name, value.value)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        # 13e9 is a count to whoever writes it; the command line reads counts without a point.
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, (list, tuple, range)) and len(value) > 0:
        return ",".join(to_text(name, item) for item in value)
    kind = "an empty list" if isinstance(value, (list, tuple, range)) else type(value).__name__
    hint = "give a string, a number, a bool or a list of them"
    raise InputError([Diagnostic("wrong-kind", name, f"cannot be {kind}", hint)])
