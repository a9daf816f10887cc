"""Many requests on this machine: sweep()."""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

from smplan import _core, _html
from smplan._errors import Diagnostic, InputError
from smplan._files import sweep_lines
from smplan._keywords import to_text
from smplan._progress import with_progress_bar
from smplan._request import arguments_of, environment_region
from smplan._usual_catalog import usual_catalog
from smplan._views import View

if TYPE_CHECKING:
    import pandas

MAX_REQUESTS = 100_000  # as many as the command line takes


class SweepLine(View):
    """One request and what came of it. `status` is planned, no_plan or invalid; `plan` is None unless planned.

    >>> import smplan
    >>> line = smplan.sweep(model="gpt2", instances="ml.g5.xlarge", count=1, tokens="1B")[0]
    >>> line.status, line.plan.instance_type
    ('planned', 'ml.g5.xlarge')
    """

    __slots__ = ()
    identity: str
    request: View
    smplan_version: str
    status: str
    message: str
    plan: Optional[View]
    trials: Optional[View]


class Sweep(Sequence[SweepLine]):
    """Lines of a sweep in the order of its requests.

    >>> import smplan
    >>> smplan.sweep({"tokens": ["1B", "many"]}, model="gpt2", instances="ml.g5.xlarge", count=1)
    Sweep(2 requests: 1 planned, 1 invalid)
    """

    def __init__(self, texts: Sequence[str], varied: Sequence[str] = ()) -> None:
        self._texts = tuple(texts)
        self._varied = tuple(varied)
        self._lines = tuple(SweepLine(json.loads(text)) for text in self._texts)

    @property
    def varied(self) -> Tuple[str, ...]:
        """Names of the members of the request that differ."""
        return self._varied

    def to_json(self) -> str:
        """JSON lines: byte for byte what `smplan sweep` prints."""
        return "".join(self._texts)

    def to_dict(self) -> List[Dict[str, Any]]:
        """The same as dictionaries."""
        return [json.loads(text) for text in self._texts]

    def to_pandas(self) -> pandas.DataFrame:
        """One row a request, nested keys joined by a dot. Needs pandas."""
        import pandas

        return pandas.json_normalize(self.to_dict())

    @overload
    def __getitem__(self, index: int) -> SweepLine: ...
    @overload
    def __getitem__(self, index: slice) -> Tuple[SweepLine, ...]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[SweepLine, Tuple[SweepLine, ...]]:
        return self._lines[index]

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[SweepLine]:
        return iter(self._lines)

    def __eq__(self, other: object) -> bool:
        return self._texts == other._texts if isinstance(other, Sweep) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._texts)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Sweep, (self._texts, self._varied)

    def __repr__(self) -> str:
        counts = {status: sum(line.status == status for line in self) for status in ("planned", "no_plan", "invalid")}
        return f"Sweep({len(self)} requests: " + ", ".join(f"{n} {status}" for status, n in counts.items() if n) + ")"

    def _repr_html_(self) -> str:
        rows = []
        for line in self:
            given = line.request.to_dict()
            plan = line.plan
            answer = ([line.message, "", "", ""] if plan is None else
                      [f"{plan.instance_count} x {plan.instance_type}", plan.stack, _html.days(plan.time_to_train_s),
                       _html.dollars(plan.cost.total_usd)])
            rows.append([*(str(given.get(name, "")) for name in self.varied), line.status, *answer])
        return _html.table([*self.varied, "status", "instances", "stack", "time", "cost"], rows, repr(self))


def sweep(vary: Optional[Mapping[str, Sequence[Any]]] = None, *, trials: Union[int, str, None] = None,
          at_once: Union[int, str, None] = None, early_stopping: Union[int, str, None] = None,
          output: Union[str, os.PathLike[str], None] = None, catalog: Optional[_core.Catalog] = None,
          **request: Any) -> Sweep:
    """Plans every combination of values, the last name fastest; the best plan of each.

    `vary`: names of the request and their values. `trials`: independent runs of each request, such as those of a
    hyperparameter search, `at_once` of them at a time; with `early_stopping` N one in N goes on at each rung; budget,
    deadline and hourly limit are then those of all trials together. `output`: a file of JSON lines; lines that it has
    already are taken from there, new ones are added as they come, so that an interrupted sweep goes on where it was; a
    line that rests on another catalog, date, region or build is made again.
    The other keywords are those of plan(). A request that is invalid or has no plan is a line that says so. Raises
    InputError for unknown names. Ctrl-C is obeyed; shows progress with tqdm if that is installed.

    >>> import smplan
    >>> answer = smplan.sweep({"model": ["gpt2", "llama-2-7b"]}, instances="ml.p4d.24xlarge", count=1, tokens="1B")
    >>> [(line.request.model, line.status, line.plan.instance_count) for line in answer]
    [('gpt2', 'planned', 1), ('llama-2-7b', 'planned', 1)]
    """
    axes = {name: list(values) for name, values in (vary or {}).items()}
    requests = _combinations(axes, request)
    words = tuple(None if word is None else to_text("trials", word) for word in (trials, at_once, early_stopping))
    held = usual_catalog(catalog)
    done = _known(output)
    texts: List[str] = []
    now = _core.now()  # one moment for all lines
    for one in with_progress_bar(requests, "sweep", len(requests)):
        with arguments_of(one) as arguments:
            question = _core.SweepQuestion(held, arguments, words, environment_region(), now)
            if question.identity not in done:
                done[question.identity] = question.line()
                _append(output, done[question.identity])
        texts.append(done[question.identity])
    return Sweep(texts, list(axes))


def _combinations(axes: Dict[str, List[Any]], request: Dict[str, Any]) -> List[Dict[str, Any]]:
    faults = [Diagnostic("empty", name, "has no values", "give one or more") for name, values in axes.items() if not values]
    faults += [Diagnostic("conflict", name, "is varied and given", "choose one") for name in axes if name in request]
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > MAX_REQUESTS:
        faults.append(Diagnostic("out-of-range", "vary", f"has {count:,} combinations", f"at most {MAX_REQUESTS:,}"))
    if faults:
        raise InputError(faults)
    return [{**request, **dict(zip(axes, values))} for values in itertools.product(*axes.values())]


def _known(output: Union[str, os.PathLike[str], None]) -> Dict[str, str]:
    """Lines of the file by what they answer. A last line that was cut short is taken off the file."""
    done: Dict[str, str] = {}
    for raw in sweep_lines(output):
        text = raw.decode("utf-8", errors="replace")
        identity = _core.sweep_line_identity(text)
        if identity is not None:
            done[identity] = text
    return done


def _append(output: Union[str, os.PathLike[str], None], text: str) -> None:
    if output is not None:
        with open(output, "ab") as file:
            file.write(text.encode())
