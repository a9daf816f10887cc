"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from typing import Iterator, Union

from smplan._errors import Diagnostic, InputError

SWEEP_LINE_START = b'{"identity":"'  # as kSweepLineStart of planner/analysis/sweep.hpp


def write_text(path: Union[str, os.PathLike[str]], text: str) -> None:
    """Writes through a temporary in the same folder and renames it. Raises OSError; nothing is left of a failure."""
    target = os.path.realpath(path)
    # Pipes and devices cannot be renamed over.
    if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        return
    descriptor, temporary = tempfile.mkstemp(prefix=os.path.basename(target) + ".", dir=os.path.dirname(target))
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(file.fileno(), _mode(target))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def sweep_lines(path: Union[str, os.PathLike[str], None]) -> Iterator[bytes]:
    """Lines of a sweep's file, if there is one. A last line that was cut short is taken off it.

    Raises InputError for a file that holds something else: lines would be added to it.
    """
    if path is None or not os.path.exists(path):
        return
    with open(path, "r+b") as file:
        start = file.read(len(SWEEP_LINE_START))
        if start != SWEEP_LINE_START[: len(start)]:
            raise InputError([Diagnostic("in-the-way", os.fspath(path), "holds something else than lines of this sweep",
                                         "move it away, or choose another output")])
        file.seek(0)
        whole = 0
        for raw in file:
            if not raw.endswith(b"\n"):
                file.truncate(whole)
                return
            whole += len(raw)
            yield raw


def _mode(target: str) -> int:
    """Permissions of the file replaced, else those of an ordinary creation."""
    if os.path.exists(target):
        return stat.S_IMODE(os.stat(target).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
