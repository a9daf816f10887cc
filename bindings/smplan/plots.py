"""Figures beside those that plans and sets draw themselves. Needs matplotlib: `pip install 'smplan[plot]'`."""

from smplan._plots import scaling

__all__ = ["scaling"]
