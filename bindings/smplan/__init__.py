"""Strategy planner and cost model for distributed training on Amazon SageMaker.

>>> import smplan
>>> best = smplan.plan(params="13B", instances=["ml.p4d.24xlarge"])["plans"][0]
"""

import json
import os

from smplan import _core
from smplan._core import Catalog
from smplan._errors import Diagnostic, Error, InputError
from smplan._keywords import to_text

__version__ = _core.version
__all__ = ["Catalog", "Diagnostic", "Error", "InputError", "estimate", "plan", "__version__"]


def plan(*, catalog=None, **request):
    """Search instance types, counts and strategies; the ranked plans as `smplan plan --format json` gives them.

    Keywords are the flags of `smplan plan` with `_` for `-`. A value is a string as on the command line
    (`"13B"`, `"7d"`), a number, a bool, or a list of them; None means not given. `plans` is empty if nothing
    fits, `rejected` says why. Raises InputError with every fault of the request.
    """
    return _ask(_core.plan, catalog, request)


def estimate(*, catalog=None, **request):
    """Predict one exact configuration; the same form as plan(), with one plan, which may not fit in memory."""
    return _ask(_core.estimate, catalog, request)


def _ask(question, catalog, request):
    arguments = {name: to_text(name, value) for name, value in request.items() if value is not None}
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return json.loads(question(catalog or Catalog.shipped(), arguments, region))
