"""A sweep on many machines: each request is one task of dask.distributed.

Dask moves the tasks of a worker that dies to the others; this module adds what a sweep needs beyond that: equal
requests are one task, a line is written as soon as its plan is there, and lines written before are not made again.

>>> from dask.distributed import Client
>>> from smplan.dask_sweep import grid, sweep
>>> with Client("scheduler:8786") as client:  # doctest: +SKIP
...     lines = sweep(grid(params=["7B", "13B"], region=["us-east-1", "eu-west-1"]), client, "sweep.jsonl")
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Dict, Iterable, List, Optional, Union

import smplan
from smplan._files import whole_lines
from smplan._keywords import to_text

if TYPE_CHECKING:
    from types import TracebackType

    from dask.distributed import Client

__all__ = ["grid", "sweep"]

Texts = Dict[str, str]
Line = Dict[str, Any]


def grid(**axes: Any) -> List[Dict[str, Any]]:
    """Every combination of the axes as requests, the last axis fastest. A value that is no list is the same in all.

    A value that is itself a list goes into a list of its own: `instances=[["ml.p4d*", "ml.p5*"]]`.
    """
    values = [value if isinstance(value, (list, tuple)) else [value] for value in axes.values()]
    return [dict(zip(axes, combination)) for combination in itertools.product(*values)]


def sweep(requests: Iterable[Dict[str, Any]], client: Client,
          output: Union[str, os.PathLike[str], None] = None) -> List[Line]:
    """Plan the requests on the client's workers; one dict each, in the order of the requests.

    `output` names a file of JSON lines: lines of this version of smplan that it already has are taken from there,
    new ones are added as they come. After an interruption the same call goes on where it was.
    """
    requests = list(requests)
    wanted: Dict[str, Texts] = {}
    for request in requests:
        texts = {name: to_text(name, value) for name, value in sorted(request.items()) if value is not None}
        wanted.setdefault(_identity(texts), texts)
    done = _known(output, wanted)
    missing = {key: texts for key, texts in wanted.items() if key not in done}
    _plan_missing(missing, client, output, done)
    order = [_identity({name: to_text(name, value) for name, value in sorted(request.items()) if value is not None})
             for request in requests]
    return [done[key] for key in order]


def _plan_missing(missing: Dict[str, Texts], client: Client, output: Union[str, os.PathLike[str], None],
                  done: Dict[str, Line]) -> None:
    from dask.distributed import as_completed

    # A key names a task: two clients that ask the same of one scheduler share the answer.
    futures = [client.submit(_line, texts, key="smplan-" + key, retries=2) for key, texts in missing.items()]
    with _appender(output) as write:
        for future in as_completed(futures):  # type: ignore[no-untyped-call, unused-ignore]
            line = future.result()
            key = _identity(line["request"])
            if key not in done:
                done[key] = line
                write(line)


def _line(texts: Texts) -> Line:
    """What a worker does: one request, whatever it comes to, as one line."""
    line: Line = {"request": texts, "smplan_version": smplan.__version__, "status": "planned", "message": "", "plan": None}
    try:
        answer = smplan.plan(**{**texts, "top": "1"})  # type: ignore[arg-type, unused-ignore]
    except smplan.InputError as error:
        return {**line, "status": "invalid", "message": str(error)}
    if not answer["plans"]:
        reason = answer["nearest_miss"]["reason"] if answer["nearest_miss"] else "no candidate is valid"
        return {**line, "status": "no_plan", "message": f"nothing fits: {reason}"}
    return {**line, "plan": answer["plans"][0]}


def _identity(texts: Texts) -> str:
    text = json.dumps([smplan.__version__, texts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _known(output: Union[str, os.PathLike[str], None], wanted: Dict[str, Texts]) -> Dict[str, Line]:
    """Lines of the file that answer one of the requests. A last line that was cut short is dropped from the file."""
    done: Dict[str, Line] = {}
    for raw in whole_lines(output):
        line = json.loads(raw)
        key = _identity(line["request"])
        if key in wanted and line["smplan_version"] == smplan.__version__:
            done[key] = line
    return done


class _appender:
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
