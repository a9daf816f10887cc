"""Frozen views of the answer's JSON: attributes are its keys, units in their names."""

from __future__ import annotations

import copy
import json
from typing import Any, Dict, List, Mapping, NoReturn, Optional, Tuple

from smplan import _html


class View:
    """A JSON object whose members are attributes. Equal if the objects are."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_data", data)

    def to_dict(self) -> Dict[str, Any]:
        """The JSON object, as a copy."""
        data: Dict[str, Any] = copy.deepcopy(dict(self._data))
        return data

    def __getattr__(self, name: str) -> Any:
        if name == "_data" or name not in self._data:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        value = self._data[name]
        return View(value) if isinstance(value, dict) else value

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen; {name!r} cannot be set")

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self._data})

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(json.dumps(self._data, sort_keys=True))

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (dict(self._data),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._data.items())})"

    def _repr_html_(self) -> str:
        return _html.facts_table(self._data, type(self).__name__)


class Memory(View):
    """Bytes on the busiest device at its peak, in GiB, and what the device offers.

    >>> import smplan
    >>> memory = smplan.estimate(model="gpt2", instances="ml.g5.xlarge", count=1, stack="ddp").best.memory
    >>> memory.fits, round(sum(memory.components_gib.values()) - memory.peak_gib, 9)
    (True, 0.0)
    """

    __slots__ = ()
    fits: bool
    peak_gib: float
    limit_gib: float
    peak_allocated_gib: float
    peak_reserved_gib: float
    host_per_node_gib: float
    nvme_per_node_gib: float
    worst_pipeline_rank: int
    out_of_memory_probability: float

    @property
    def peak_interval_gib(self) -> Tuple[float, float]:
        """10th and 90th percentile of `peak_gib`; the latter may lie beyond `limit_gib`."""
        low, high = self._data["peak_interval_gib"]
        return low, high

    @property
    def components_gib(self) -> Dict[str, float]:
        """What the peak consists of; sums to `peak_gib`."""
        return dict(self._data["components_gib"])

    @property
    def headroom_gib(self) -> float:
        """What stays free; negative if the plan does not fit."""
        return float(self._data["limit_gib"] - self._data["peak_gib"])

    def __repr__(self) -> str:
        return f"Memory({self.peak_gib:.3g} of {self.limit_gib:.3g} GiB, {'fits' if self.fits else 'does not fit'})"


class StepTime(View):
    """Seconds of one optimizer step: `float(step_time)`, its P10 to P90 and its parts.

    >>> import smplan
    >>> step = smplan.estimate(model="gpt2", instances="ml.g5.xlarge", count=1, stack="ddp").best.step_time
    >>> step.interval_s[0] < float(step) < step.interval_s[1]
    True
    """

    __slots__ = ()
    seconds: float

    @property
    def interval_s(self) -> Tuple[float, float]:
        """10th and 90th percentile of the prediction."""
        low, high = self._data["interval_s"]
        return low, high

    @property
    def components_s(self) -> Dict[str, float]:
        """What the step consists of; sums to `seconds`."""
        return dict(self._data["components_s"])

    def __float__(self) -> float:
        return float(self._data["seconds"])

    def __repr__(self) -> str:
        low, high = self.interval_s
        return f"StepTime({self.seconds:.3g} s, P10 {low:.3g} s, P90 {high:.3g} s)"


class Cost(View):
    """Dollars of the whole run; None where the instance type has no price.

    >>> import smplan
    >>> cost = smplan.estimate(model="gpt2", instances="ml.g5.xlarge", count=1, stack="ddp").best.cost
    >>> cost.market, cost.region, cost.total_usd > 0
    ('on-demand', 'us-east-1', True)
    """

    __slots__ = ()
    hourly_usd: Optional[float]
    total_usd: Optional[float]
    total_interval_usd: Optional[List[float]]
    saving: Optional[float]
    region: str
    market: str
    price_date: Optional[str]
    price_basis: Optional[str]
    price_source: Optional[str]

    @property
    def components_usd(self) -> Dict[str, Any]:
        """What the total consists of."""
        return dict(self._data["components_usd"])

    def __repr__(self) -> str:
        if self.total_usd is None:
            return "Cost(no price)"
        return f"Cost(${self.total_usd:,.0f}, ${self.hourly_usd:,.2f}/h, {self.market} in {self.region}, {self.price_date})"


class FrontierPoint(View):
    """The cheapest way to be that fast. `rank` is None where the list of plans does not have it.

    >>> import smplan
    >>> point = smplan.plan(model="gpt2", instances="ml.g5.xlarge", count=1).frontier[0]
    >>> point.instance_type, point.rank
    ('ml.g5.xlarge', 1)
    """

    __slots__ = ()
    rank: Optional[int]
    instance_type: str
    instance_count: int
    n_gpus: int
    stack: str
    strategy: str
    market: str
    time_to_train_s: float
    hourly_usd: Optional[float]
    total_usd: Optional[float]


class Explanation(Tuple[str, ...]):
    """Sentences: why a plan won, what bounds it, what its neighbours lose.

    >>> import smplan
    >>> print(smplan.Explanation(["first", "second"]))
    - first
    - second
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(f"- {sentence}" for sentence in self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _html.sentence_list(self)
