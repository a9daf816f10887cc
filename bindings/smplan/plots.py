"""Figures beside those that plans and sets draw themselves. Needs matplotlib: `pip install 'matplotlib>=3.6'`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Sequence

from smplan import _plots
from smplan._plans import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["scaling"]


def scaling(plans: Sequence[Plan], ax: Optional[Axes] = None) -> Axes:
    """Tokens a second against devices, with the line that perfect scaling from the first plan would take."""
    return _plots.scaling([(p.n_gpus, p.tokens_per_s, p.mfu) for p in plans], ax)
