"""The same work in other regions and markets: regions()."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple

from smplan import _core, _html
from smplan._request import Request, arguments_of, takes_request
from smplan._rows import Rows
from smplan._usual_catalog import usual_catalog
from smplan._views import View

if TYPE_CHECKING:
    from typing_extensions import Unpack


class RegionPlan(View):
    """The best plan of one region and market; `instance_type` and what follows from it are None where there is none,
    and `why_not` says why. Money in USD, times in seconds. `types_priced` of `types_orderable` types were compared.

    >>> import smplan
    >>> here = smplan.regions(model="gpt2", instances="ml.g5.xlarge", region="us-east-1", market="on-demand").best
    >>> here.region, here.instance_type
    ('us-east-1', 'ml.g5.xlarge')
    """

    __slots__ = ()
    region: str
    market: str
    types_priced: int
    types_orderable: int
    instance_type: Optional[str]
    instance_count: Optional[int]
    stack: Optional[str]
    strategy: Optional[str]
    time_to_train_s: Optional[float]
    total_usd: Optional[float]
    total_usd_p10: Optional[float]
    total_usd_p90: Optional[float]
    hourly_usd: Optional[float]
    price_basis: Optional[str]
    price_as_of: Optional[str]
    why_not: Optional[str]


class Regions(Rows[RegionPlan]):
    """A row a region and market, the cheapest region first. `best` is the cheapest of all, None if none has a plan.

    >>> import smplan
    >>> smplan.regions(model="gpt2", instances="ml.g5.xlarge", region=["us-east-1", "us-west-2"], market="on-demand")
    Regions(2 of 2 with a plan)
    """

    def __init__(self, text: str, unpriced: Sequence[str] = ()) -> None:
        super().__init__(text, RegionPlan)
        #: Regions of AWS that the catalog has no price of.
        self.unpriced = tuple(unpriced)

    @property
    def best(self) -> Optional[RegionPlan]:
        """The cheapest plan."""
        there = [row for row in self if row.total_usd is not None]
        return min(there, key=lambda row: row.total_usd or 0.0) if there else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Regions):
            return NotImplemented
        return (self._text, self.unpriced) == (other._text, other.unpriced)

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Regions, (self._text, self.unpriced)

    def __repr__(self) -> str:
        return f"Regions({sum(row.instance_type is not None for row in self)} of {len(self)} with a plan)"

    def _repr_html_(self) -> str:
        rows = []
        for row in self:
            answer = ([str(row.why_not), "", "", ""] if row.instance_type is None else
                      [f"{row.instance_count} x {row.instance_type}", str(row.stack),
                       _html.days(row.time_to_train_s or 0.0), _html.dollars(row.total_usd)])
            rows.append([row.region, row.market, *answer])
        return _html.table(["region", "market", "instances", "stack", "time", "cost"], rows, repr(self), len(rows))


@takes_request
def regions(*, catalog: Optional[_core.Catalog] = None, **request: Unpack[Request]) -> Regions:
    """Plans the same work in each region and market: where it costs least.

    Keywords are the flags of `smplan regions`, which are those of plan(). `region` is one, a list, or "all" (the
    default); `market` likewise, by default all that anything is sold in. Of each pair only the best plan is kept.
    Raises InputError with every fault of the request. Ctrl-C is obeyed.

    >>> import smplan
    >>> answer = smplan.regions(model="gpt2", instances="ml.g5.xlarge", region="us-east-1",
    ...                         market=["on-demand", "spot"])
    >>> [row.market for row in answer], answer.best.total_usd > 0
    (['on-demand', 'spot'], True)
    """
    with arguments_of(request) as arguments:
        return Regions(*_core.regions(usual_catalog(catalog), arguments, _core.now()))
