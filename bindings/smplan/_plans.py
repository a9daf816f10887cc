"""Plans and sets of plans."""

from __future__ import annotations

import json
import os
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, overload,
)

from smplan import _core, _html, _plots
from smplan._errors import Diagnostic, Error, InputError
from smplan._export import Export
from smplan._files import write_text
from smplan._keywords import to_text
from smplan._usual_catalog import usual_catalog
from smplan._views import Cost, Explanation, FrontierPoint, Memory, StepTime, View

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


class Question(NamedTuple):
    """What was asked, so that an unpickled answer can ask again for what JSON does not hold."""

    estimate: bool
    arguments: Dict[str, str]
    region: Optional[str]
    catalog: _core.Catalog

    def ask(self, progress: Optional[Callable[[int, int], None]] = None) -> _core.Answer:
        ask: Callable[..., _core.Answer] = _core.estimate if self.estimate else _core.plan
        return ask(self.catalog, self.arguments, self.region, progress)


class Plan(View):
    """One plan: attributes are the keys of the JSON, units in their names.

    >>> import smplan
    >>> plan = smplan.estimate(model="llama-2-7b", instances="ml.p4d.24xlarge", count=1, stack="fsdp").best
    >>> plan.n_gpus, plan.stack, plan.parallel.data
    (8, 'fsdp', 8)
    >>> plan.memory.fits
    True
    """

    __slots__ = ("_set",)
    rank: int
    instance_type: str
    instance_count: int
    n_gpus: int
    stack: str
    strategy: str
    parallel: View
    sharding: View
    micro_batch: int
    schedule: Optional[str]
    recompute: str
    recompute_layers: Optional[int]
    offload: str
    collectives: str
    execution: View
    gradient_accumulation: int
    global_batch: int
    dtype: str
    step_time_s: float
    step_time_interval_s: List[float]
    step_components_s: View
    tokens_per_s: float
    tokens_per_s_per_gpu: float
    model_tflops_per_gpu: float
    mfu: float
    hfu: float
    time_to_train_s: float
    time_to_train_interval_s: List[float]
    time_components_s: View
    lost_components_s: View
    operation: View
    deadline_probability: Optional[float]
    budget_probability: Optional[float]
    goodput: float
    bottleneck: str
    quotas: List[Any]
    capacity: Optional[str]
    unmeasured: List[str]
    warnings: List[str]

    def __init__(self, data: Mapping[str, Any], plans: PlanSet) -> None:
        super().__init__(data)
        object.__setattr__(self, "_set", plans)

    @property
    def plans(self) -> PlanSet:
        """The answer that the plan is of: its request, assumptions and neighbours."""
        plans: PlanSet = self._set
        return plans

    @property
    def memory(self) -> Memory:
        """Bytes on the busiest device, by what they are."""
        return Memory(self._data["memory"])

    @property
    def step_time(self) -> StepTime:
        """Seconds of one optimizer step, by where they go."""
        d = self._data
        return StepTime({"seconds": d["step_time_s"], "interval_s": d["step_time_interval_s"],
                         "components_s": d["step_components_s"]})

    @property
    def cost(self) -> Cost:
        """Dollars of the whole run, with the price's date and source."""
        return Cost(self._data["cost"])

    def explain(self) -> Explanation:
        """Why this plan, what bounds it, what its neighbours lose. Raises Error for plans read from a file."""
        return Explanation(self._set._native().explain(self.rank))

    def trace(self, path: Union[str, os.PathLike[str], None] = None) -> str:
        """The simulated step as Chrome trace events (JSON text); written to `path` too if it is given.

        Durations of each pipeline rank sum to `step_time_s`.
        """
        title = f"{self.instance_count} x {self.instance_type}, {self.stack}, {self.strategy}"
        native = self._set._native_or_none()
        if native is not None:
            text = native.trace(self.rank, title)
        else:
            text = _core.trace_of_text(self._set._catalog(), self._set.to_json(), self.rank, title)
        return _written(text, path)

    def export(self, target: str, *, path: Union[str, os.PathLike[str], None] = None, **job: Any) -> Export:
        """The plan in the words of a target: see `smplan.export_targets`. Written into the folder `path` if it is given.

        `job`: role, bucket, script, job_name, input_mode, file_system, warm_pool, as the flags of `smplan export`;
        placeholders stand for what is not given. Raises InputError naming everything that the target cannot express.

        >>> import smplan
        >>> plan = smplan.estimate(model="llama-2-7b", instances="ml.p4d.24xlarge", count=1, stack="deepspeed",
        ...                        zero_stage=2).best
        >>> plan.export("deepspeed").files[0].path
        'ds_config.json'
        """
        known = ("role", "bucket", "script", "job_name", "input_mode", "file_system", "warm_pool")
        unknown = [name for name in job if name not in known]
        if unknown:
            raise InputError([Diagnostic("unknown-name", name, f"unknown keyword '{name}'", f"one of {', '.join(known)}")
                              for name in unknown])
        options = {name: to_text(name, value) for name, value in job.items() if value is not None}
        files, placeholders, notes, plan_id = _core.export_of_text(
            self._set._catalog(), self._set.to_json(), self.rank, target, options)
        exported = Export(target, plan_id, files, placeholders, notes)
        if path is not None:
            exported.write(path)
        return exported

    def to_estimator(self, **job: Any) -> Dict[str, Any]:
        """Keyword arguments of the SageMaker SDK 2 estimator, with the class under "class": pop it first.

        Placeholders (`REPLACE-ME`) stand for role and bucket unless they are given: see export().
        """
        for file in self.export("sagemaker-sdk-v2", **job).files:
            if file.path == "estimator.json":
                estimator: Dict[str, Any] = json.loads(file.content)
                return estimator
        raise Error("the export holds no estimator.json")

    def plot_memory(self, ax: Optional[Axes] = None) -> Axes:
        """What fills the device, against what it offers. Needs matplotlib."""
        return _plots.memory([self._labelled_memory()], ax)

    def plot_step_time(self, ax: Optional[Axes] = None) -> Axes:
        """Where the seconds of a step go, as a waterfall. Needs matplotlib."""
        return _plots.waterfall(_plots.name_of(self), self.step_time, self.mfu, ax)

    def plot_timeline(self, ax: Optional[Axes] = None) -> Axes:
        """One step of one pipeline: a lane a rank. Needs matplotlib."""
        return _plots.timeline(f"{_plots.name_of(self)}, {self.strategy}", self.trace(), self.step_time_s, ax)

    def _labelled_memory(self) -> Tuple[str, Memory]:
        return f"{self.rank}. {_plots.name_of(self)}\n{self.strategy}", self.memory

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if isinstance(other, Plan) else NotImplemented

    __hash__ = View.__hash__

    def __reduce__(self) -> Tuple[Any, ...]:
        return _plan_of, (self._set, self.rank)

    def __repr__(self) -> str:
        days = self.time_to_train_s / 86400
        cost = "no price" if self.cost.total_usd is None else f"${self.cost.total_usd:,.0f}"
        return (f"Plan({self.instance_count} x {self.instance_type}, {self.stack} {self.strategy}, "
                f"{self.step_time_s:.3g} s/step, {days:.3g} d, {cost})")

    def _repr_html_(self) -> str:
        low, high = self.step_time.interval_s
        rows = [("instances", f"{self.instance_count} x {self.instance_type} ({self.n_gpus} devices)"),
                ("stack", self.stack), ("strategy", self.strategy),
                ("step", f"{self.step_time_s:.3g} s (P10 {low:.3g}, P90 {high:.3g}), bound by {self.bottleneck}"),
                ("memory", f"{self.memory.peak_gib:.3g} of {self.memory.limit_gib:.3g} GiB"),
                ("MFU", f"{100 * self.mfu:.1f} %"), ("time to train", _html.days(self.time_to_train_s)),
                ("cost", _html.dollars(self.cost.total_usd)), *(("note", warning) for warning in self.warnings)]
        return _html.table(["", f"plan {self.rank}"], rows)


def _plan_of(plans: PlanSet, rank: int) -> Plan:
    return plans[rank - 1]


class PlanSet(Sequence[Plan]):
    """Ranked plans, best first, with what was asked, assumed and refused. A sequence of Plan.

    >>> import smplan
    >>> plans = smplan.plan(model="gpt2", instances="ml.g5.xlarge", count=[1, 2], top=2)
    >>> len(plans), plans[0] is plans.best, smplan.PlanSet.from_dict(plans.to_dict()) == plans
    (2, True, True)
    """

    __slots__ = ("_answer", "_data", "_plans", "_question", "_text")

    def __init__(self, text: str, question: Optional[Question] = None, answer: Optional[_core.Answer] = None) -> None:
        self._text = text
        self._data: Dict[str, Any] = json.loads(text)
        self._question = question
        self._answer = answer
        try:
            self._plans = tuple(Plan(data, self) for data in self._data["plans"])
        except (KeyError, TypeError):
            raise InputError([Diagnostic("no-plan-file", "plans", "is missing: this is no answer of plan()",
                                         "write it with `smplan plan --format json`")]) from None

    @classmethod
    def from_json(cls, text: str) -> PlanSet:
        """From what `smplan plan --format json` or to_json() wrote.

        Such plans cannot explain() themselves: that takes the search.
        """
        return cls(text)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PlanSet:
        """From what to_dict() gave."""
        return cls(_core.normal_json(json.dumps(data)))

    def to_json(self) -> str:
        """Byte for byte what `smplan plan --format json` prints (but for the seconds that the search took)."""
        return self._text

    def to_dict(self) -> Dict[str, Any]:
        """The same as a dictionary."""
        data: Dict[str, Any] = json.loads(self._text)
        return data

    @property
    def request(self) -> View:
        """The request with every default filled in."""
        return View(self._data["request"])

    @property
    def assumptions(self) -> Tuple[str, ...]:
        """What was assumed because the request did not say."""
        return tuple(self._data["request"]["assumptions"])

    @property
    def best(self) -> Optional[Plan]:
        """The first plan; None if nothing fits."""
        return self._plans[0] if self._plans else None

    @property
    def pareto(self) -> Tuple[Plan, ...]:
        """The plans of the list that lie on the frontier of time and cost."""
        return tuple(self._plans[rank - 1] for rank in self._data["pareto"])

    @property
    def frontier(self) -> Tuple[FrontierPoint, ...]:
        """The whole frontier, cheapest first, listed or not."""
        return tuple(FrontierPoint(point) for point in self._data.get("frontier", []))

    @property
    def rejected(self) -> Dict[str, int]:
        """How many candidates were refused, by reason."""
        return dict(self._data["rejected"])

    @property
    def nearest_miss(self) -> Optional[View]:
        """If nothing fits: the candidate that came nearest, and what it lacks."""
        miss = self._data.get("nearest_miss")
        return None if miss is None else View(miss)

    @property
    def search(self) -> View:
        """How large the space was and how it was covered."""
        return View(self._data["search"])

    def explain(self, rank: int = 1) -> Explanation:
        """Why this plan; if nothing fits, why not."""
        return Explanation(self._native().explain(rank))

    def sensitivity(self) -> Explanation:
        """What would change the answer: an instance more or less; prices, network, speed ... by a fifth, then by half.

        >>> import smplan
        >>> plans = smplan.plan(model="llama-2-7b", instances="ml.p4d.24xlarge", count=2, stack="fsdp", top=1)
        >>> [sentence.split(":")[0] for sentence in plans.sensitivity() if sentence.startswith("one instance")]
        ['one instance less (1)', 'one instance more (3)']
        """
        return Explanation(self._native().sensitivity())

    def to_pandas(self) -> pandas.DataFrame:
        """One row a plan, nested keys joined by a dot. Needs pandas."""
        import pandas

        return pandas.json_normalize(self._data["plans"])

    def to_csv(self) -> str:
        """What `smplan plan --format csv` prints."""
        return self._native().to_csv()

    def report(self, path: Union[str, os.PathLike[str], None] = None) -> str:
        """One self-contained HTML page, as `smplan report` writes it; written to `path` too if it is given."""
        native = self._native_or_none()
        text = native.report() if native is not None else _core.report_of_text(self._catalog(), self._text)
        return _written(text, path)

    def plot_pareto(self, ax: Optional[Axes] = None) -> Axes:
        """Cost against time: the frontier and the listed plans. Needs matplotlib."""
        plans = [(plan.time_to_train_s, plan.cost.total_usd) for plan in self]
        return _plots.pareto(self.request.model.name, self.frontier, plans, ax)

    def plot_memory(self, ax: Optional[Axes] = None) -> Axes:
        """What fills the devices of each plan, against what they offer. Needs matplotlib."""
        return _plots.memory([plan._labelled_memory() for plan in self], ax)

    def _native_or_none(self) -> Optional[_core.Answer]:
        if self._answer is None and self._question is not None:
            self._answer = self._question.ask()
        return self._answer

    def _native(self) -> _core.Answer:
        native = self._native_or_none()
        if native is None:
            raise Error("these plans were read from a file: ask smplan.plan() with their request for what only the "
                        "search knows")
        return native

    def _catalog(self) -> _core.Catalog:
        return self._question.catalog if self._question is not None else usual_catalog()

    def __len__(self) -> int:
        return len(self._plans)

    @overload
    def __getitem__(self, index: int) -> Plan: ...
    @overload
    def __getitem__(self, index: slice) -> Tuple[Plan, ...]: ...
    @overload
    def __getitem__(self, index: str) -> Any: ...
    def __getitem__(self, index: Union[int, slice, str]) -> Union[Plan, Tuple[Plan, ...], Any]:
        # A name is a key of the JSON: answers were dictionaries once.
        return self.to_dict()[index] if isinstance(index, str) else self._plans[index]

    def __iter__(self) -> Iterator[Plan]:
        return iter(self._plans)

    def _without_search_time(self) -> Dict[str, Any]:
        return {**self._data, "search": {**self._data["search"], "seconds": 0}}

    def __eq__(self, other: object) -> bool:
        return self._without_search_time() == other._without_search_time() if isinstance(other, PlanSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._plans)

    def __reduce__(self) -> Tuple[Any, ...]:
        return PlanSet, (self._text, self._question)

    def __repr__(self) -> str:
        if not self._plans:
            refused = ", ".join(f"{n} {why}" for why, n in self.rejected.items() if n)
            return f"PlanSet(nothing fits: {refused})"
        return "\n".join([f"PlanSet of {len(self)}, {self.request.model.name}, {self.request.objective} first:",
                          *(f"  {plan.rank}. {plan!r}" for plan in self)])

    def _repr_html_(self) -> str:
        model = self.request.model.name
        if not self:
            return _html.table(["refused for", "candidates"], [(why, str(n)) for why, n in self.rejected.items() if n],
                               f"{model}: nothing fits")
        rows = [(str(p.rank), f"{p.instance_count} x {p.instance_type}", p.stack, p.strategy, f"{p.step_time_s:.3g} s",
                 f"{100 * p.mfu:.1f} %", f"{p.memory.peak_gib:.3g} of {p.memory.limit_gib:.3g} GiB",
                 _html.days(p.time_to_train_s), _html.dollars(p.cost.total_usd)) for p in self]
        return _html.table(["#", "instances", "stack", "strategy", "step", "MFU", "memory", "time", "cost"], rows,
                           f"{model}, {self.request.objective} first")


def _written(text: str, path: Union[str, os.PathLike[str], None]) -> str:
    if path is not None:
        write_text(path, text)
    return text
