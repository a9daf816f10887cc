"""Figures beside those that plans and sets draw themselves. Needs matplotlib: `pip install 'matplotlib>=3.6'`."""

from smplan._plots import scaling

__all__ = ["scaling"]
