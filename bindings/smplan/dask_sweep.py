"""A sweep on many machines: each request is one task of dask.distributed.

Dask moves the tasks of a worker that dies to the others; this module adds what a sweep needs beyond that: equal
requests are one task, a line is written as soon as its plan is there, and lines written before are not made again.

>>> from dask.distributed import Client
>>> from smplan.dask_sweep import grid, sweep
>>> with Client("scheduler:8786") as client:  # doctest: +SKIP
...     lines = sweep(grid(params=["7B", "13B"], region=["us-east-1", "eu-west-1"]), client, "sweep.jsonl")
"""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Dict, Iterable, List, Optional, Tuple, Union

import smplan
from smplan import _core
from smplan._files import sweep_lines
from smplan._keywords import to_text
from smplan._request import environment_region
from smplan._usual_catalog import shipped_catalog, usual_catalog

if TYPE_CHECKING:
    from types import TracebackType

    from dask.distributed import Client

__all__ = ["grid", "sweep"]

Texts = Dict[str, str]
Line = Dict[str, Any]
Context = Tuple[Optional[str], int]
"""Region of the environment and time of the client: workers may have others."""
NO_TRIALS = (None, None, None)


def grid(**axes: Any) -> List[Dict[str, Any]]:
    """Every combination of the axes as requests, the last axis fastest. A value that is no list is the same in all.

    A value that is itself a list goes into a list of its own: `instances=[["ml.p4d*", "ml.p5*"]]`.
    """
    values = [value if isinstance(value, (list, tuple)) else [value] for value in axes.values()]
    return [dict(zip(axes, combination)) for combination in itertools.product(*values)]


def sweep(requests: Iterable[Dict[str, Any]], client: Client,
          output: Union[str, os.PathLike[str], None] = None, *, catalog: Optional[smplan.Catalog] = None) -> List[Line]:
    """Plan the requests on the client's workers; one dict each, in the order of the requests.

    `catalog`: facts and calibrations laid over the shipped ones, as in smplan.sweep(). `output` names a file of JSON
    lines: those that rest on the same request, catalog, region, date and build are taken from there, new ones are added
    as they come. After an interruption the same call goes on where it was. Raises InputError for a request of unknown
    kinds and a file that holds something else, RuntimeError for a worker whose smplan or files differ from these here.
    """
    context = (environment_region(), _core.now())
    held = usual_catalog(catalog)
    order: List[str] = []
    wanted: Dict[str, Texts] = {}
    for request in requests:
        texts = {name: to_text(name, value) for name, value in request.items() if value is not None}
        order.append(_core.SweepQuestion(held, texts, NO_TRIALS, *context).identity)
        wanted.setdefault(order[-1], texts)
    done = _known(output, wanted)
    missing = {key: texts for key, texts in wanted.items() if key not in done}
    _plan_missing(missing, client, output, done, held, context)
    return [done[key] for key in order]


def _plan_missing(missing: Dict[str, Texts], client: Client, output: Union[str, os.PathLike[str], None],
                  done: Dict[str, Line], catalog: smplan.Catalog, context: Context) -> None:
    from dask.distributed import as_completed

    if not missing:
        return
    # The facts of this process, whatever the worker's machine has refreshed. Every worker has them then, so that one that
    # dies takes nothing along. The shipped ones need no sending.
    shared = None
    if catalog.overlays:
        shared = client.scatter(catalog, broadcast=True)  # type: ignore[no-untyped-call, unused-ignore]
    # A key names a task: two clients that ask the same of one scheduler share the answer.
    futures = {client.submit(_line, shared, texts, context, key="smplan-" + key, retries=2): key
               for key, texts in missing.items()}
    with _LineAppender(output) as write:
        for future in as_completed(futures):  # type: ignore[no-untyped-call, unused-ignore]
            key, line = futures[future], future.result()
            if line["identity"] != key:
                raise RuntimeError("a worker answers another question: its smplan, or a file that the request names, "
                                   "differs from the one here")
            done[key] = line
            write(line)


def _line(catalog: Optional[smplan.Catalog], texts: Texts, context: Context) -> Line:
    """What a worker does: one request, whatever it comes to, as one line."""
    held = catalog if catalog is not None else shipped_catalog()
    line: Line = json.loads(_core.SweepQuestion(held, texts, NO_TRIALS, *context).line())
    return line


def _known(output: Union[str, os.PathLike[str], None], wanted: Dict[str, Texts]) -> Dict[str, Line]:
    """Lines of the file that answer one of the requests. A last line that was cut short is dropped from the file."""
    done: Dict[str, Line] = {}
    for raw in sweep_lines(output):
        key = _core.sweep_line_identity(raw.decode("utf-8", errors="replace"))
        if key in wanted:
            done[key] = json.loads(raw)
    return done


class _LineAppender:
    """Writes whole lines to the end of a file, or nowhere."""

    def __init__(self, output: Union[str, os.PathLike[str], None]) -> None:
        self.file: Optional[BinaryIO] = None if output is None else open(output, "ab")

    def __enter__(self) -> Callable[[Line], None]:
        return self.write

    def __exit__(self, kind: Optional[type], fault: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if self.file is not None:
            self.file.close()

    def write(self, line: Line) -> None:
        if self.file is not None:
            self.file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self.file.flush()
