"""Prices and facts from files that AWS writes: import_catalog()."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from smplan import _core, _html
from smplan._errors import Diagnostic, InputError
from smplan._files import write_text
from smplan._request import as_date
from smplan._usual_catalog import usual_catalog

if TYPE_CHECKING:
    import pandas

Path = Union[str, "os.PathLike[str]"]


class CatalogImport:
    """Facts that files of AWS hold: an overlay for every command and every function here.

    >>> import smplan
    >>> smplan.CatalogImport('{"schema": "smplan.catalog/1"}', ["a note"], {"prices": 2}, smplan.Catalog.shipped())
    CatalogImport(2 prices, 0 facts change)
    """

    def __init__(self, overlay: str, notes: Sequence[str], counts: Dict[str, int], base: _core.Catalog) -> None:
        #: JSON text, byte for byte what `smplan catalog import` writes.
        self.overlay = overlay
        #: What a reader should look at.
        self.notes: Tuple[str, ...] = tuple(notes)
        #: How many prices, instances, interruption_rates were taken; other_entries, unknown_instances were passed over.
        self.counts = dict(counts)
        self._base = base

    @property
    def catalog(self) -> _core.Catalog:
        """The catalog with the facts in place: plan(catalog=imported.catalog, ...)."""
        return self._base.with_overlay_text("import", self.overlay)

    @property
    def changes(self) -> List[Dict[str, Any]]:
        """Facts that change: `fact`, `before`, `after` as text, `ratio` of numbers (after over before)."""
        return self.catalog.changes(self._base)

    def to_pandas(self) -> pandas.DataFrame:
        """The changes, one row each. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.changes, columns=["fact", "before", "after", "ratio"])

    def save(self, path: Path) -> None:
        """Writes the overlay: `smplan plan --catalog FILE`."""
        write_text(path, self.overlay)

    def __eq__(self, other: object) -> bool:
        return ((self.overlay, self._base) == (other.overlay, other._base) if isinstance(other, CatalogImport)
                else NotImplemented)

    def __hash__(self) -> int:
        return hash(self.overlay)

    def __reduce__(self) -> Tuple[Any, ...]:
        return CatalogImport, (self.overlay, self.notes, self.counts, self._base)

    def __repr__(self) -> str:
        taken = ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in self.counts.items()
                          if n and what in ("prices", "instances", "interruption_rates"))
        return f"CatalogImport({taken}, {len(self.changes)} facts change)"

    def _repr_html_(self) -> str:
        rows = [(c["fact"], c["before"] or "new", c["after"] or "gone",
                 "" if c["ratio"] is None else f"{100 * (c['ratio'] - 1):+.1f} %") for c in self.changes]
        return (_html.table(["fact", "before", "after", "change"], rows, repr(self))
                + _html.sentence_list(self.notes))


def import_catalog(files: Union[Path, Sequence[Path]], *, catalog: Optional[_core.Catalog] = None,
                   region: Optional[str] = None, as_of: Optional[str] = None,
                   savings_plan_years: int = 1) -> CatalogImport:
    """Reads what AWS writes of prices, capacity and instance types; `smplan catalog import` in Python.

    `files`: price lists of SageMaker (JSON or CSV) and of its savings plans, `aws ec2 describe-spot-price-history`,
    `describe-instance-types`, `describe-capacity-block-offerings`, the data of Spot Instance Advisor, in any order;
    they are told apart by what they hold. Prices are in USD an instance hour. `region`: facts of this region only.
    `as_of`: YYYY-MM-DD of facts that carry no date, today if None. Raises InputError with the file and place of what
    cannot be read, and if nothing can be taken. Ctrl-C is obeyed.

    >>> import json, os, smplan, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "spot.json")
    >>> history = [{"InstanceType": "p4d.24xlarge", "ProductDescription": "Linux/UNIX", "SpotPrice": "12.5",
    ...             "AvailabilityZone": "us-east-1a", "Timestamp": "2026-11-01T00:00:00Z"}]
    >>> _ = open(path, "w").write(json.dumps({"SpotPriceHistory": history}))
    >>> imported = smplan.import_catalog(path)
    >>> imported.counts["prices"], imported.catalog.price("ml.p4d.24xlarge", market="spot")["as_of"]
    (1, '2026-11-01')
    """
    if savings_plan_years not in (1, 3):
        raise InputError([Diagnostic("out-of-range", "savings_plan_years", f"is {savings_plan_years}",
                                     "savings plans are of 1 or 3 years")])
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    if not paths:
        raise InputError([Diagnostic("missing-name", "files", "names no file", "give a path or a list of paths")])
    base = usual_catalog(catalog)
    overlay, notes, counts = _core.import_catalog(base, [os.fspath(path) for path in paths], region, as_date(as_of),
                                                  savings_plan_years)
    return CatalogImport(overlay, notes, counts, base)
