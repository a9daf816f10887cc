"""plan() and estimate()."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional

from smplan import _core
from smplan._plans import PlanSet, Question
from smplan._progress import ProgressBar
from smplan._request import Request, arguments_of, environment_region, takes_request
from smplan._usual_catalog import usual_catalog

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes_request
def plan(*, catalog: Optional[_core.Catalog] = None, **request: Unpack[Request]) -> PlanSet:
    """Searches instance types, counts and strategies; the ranked plans.

    Keywords are the flags of `smplan plan` with `_` for `-`. A value is text as on the command line ("13B", "7d"), a
    number, a bool, or a list of them; None means not given. The set is empty if nothing fits: `rejected` and
    `nearest_miss` say why. Raises InputError with every fault of the request. Ctrl-C is obeyed; a search of more than
    half a second shows its progress with tqdm if that is installed.

    >>> import smplan
    >>> plans = smplan.plan(model="llama-2-7b", instances=["ml.p4d.24xlarge"], count=[1, 2], top=3)
    >>> len(plans), plans.best.memory.fits
    (3, True)
    """
    return _ask(False, catalog, request)


@takes_request
def estimate(*, catalog: Optional[_core.Catalog] = None, **request: Unpack[Request]) -> PlanSet:
    """Predicts one exact configuration: a set of one plan, which may not fit in memory.

    Keywords as of plan(); one instance type and one count. Degrees that are not given are 1, dp takes what is left.

    >>> import smplan
    >>> ddp = smplan.estimate(model="llama-2-13b", instances="ml.p4d.24xlarge", count=8, stack="ddp").best
    >>> ddp.memory.fits
    False
    """
    return _ask(True, catalog, request)


def _ask(one: bool, catalog: Optional[_core.Catalog], request: Mapping[str, Any]) -> PlanSet:
    with arguments_of(request) as arguments:
        question = Question(one, arguments, environment_region(), usual_catalog(catalog))
        with ProgressBar("plan") as bar:
            answer = question.ask(bar)
    return PlanSet(answer.to_json(), question, answer)
