"""Measured runs against predictions: validate() and calibrate()."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from smplan import _core, _html, _plots
from smplan._errors import Diagnostic, InputError
from smplan._files import write_text
from smplan._progress import ProgressBar
from smplan._request import as_date
from smplan._table import Runs, tables_of
from smplan._usual_catalog import usual_catalog
from smplan._views import View

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


class Validation:
    """Predictions of measured runs and their errors.

    >>> import smplan, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "runs.csv")
    >>> head = "id,model,gpu,n_gpus,gpus_per_node,framework,dtype,seq_len,micro_batch,global_batch,step_time_s"
    >>> _ = open(path, "w").write(head + "\\nmine,llama-2-7b,A100-80GB,8,8,FSDP,bf16,4096,1,64,9.5\\n")
    >>> len(smplan.validate(path)), smplan.validate(path).summary["n"]
    (1, 1)
    """

    def __init__(self, csv_text: str, json_text: str) -> None:
        self._csv = csv_text
        self._json = json_text

    @property
    def rows(self) -> List[Dict[str, str]]:
        """One dictionary a run, as text: the columns of `smplan validate --format csv`."""
        import csv
        import io

        return list(csv.DictReader(io.StringIO(self._csv)))

    @property
    def runs(self) -> List[Dict[str, Any]]:
        """One dictionary a run, numbers as numbers, with the measured step time where there is one."""
        return list(self.to_dict()["runs"])

    @property
    def summary(self) -> Dict[str, float]:
        """Errors of the step time over all runs: `n`, `mape`, `bias`, `interval_coverage` ... as fractions."""
        groups = self.to_dict()["step_time"]["all"]
        return dict(groups[0]) if groups else {"n": 0}

    def to_csv(self) -> str:
        """What `smplan validate --format csv` prints."""
        return self._csv

    def to_json(self) -> str:
        """What `smplan validate --format json` prints: errors by source, model, accelerator ..."""
        return self._json

    def to_dict(self) -> Dict[str, Any]:
        """The same as a dictionary."""
        report: Dict[str, Any] = json.loads(self._json)
        return report

    def to_pandas(self) -> pandas.DataFrame:
        """The `runs`, one row each, nested keys joined by a dot. Needs pandas."""
        import pandas

        return pandas.json_normalize(self.runs)

    def plot(self, ax: Optional[Axes] = None) -> Axes:
        """Predicted against measured step time, with P10 to P90. Needs matplotlib."""
        return _plots.predicted_against_measured(self.runs, self.summary, ax)

    def __len__(self) -> int:
        return int(self.to_dict()["counts"]["rows"])

    def __eq__(self, other: object) -> bool:
        return (self._csv, self._json) == (other._csv, other._json) if isinstance(other, Validation) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._csv)

    def __repr__(self) -> str:
        counts, errors = self.to_dict()["counts"], self.summary
        mape = f", mean error {100 * errors['mape']:.1f} % of {errors['n']:.0f} timed" if errors["n"] else ""
        return f"Validation({counts['predicted']} of {counts['rows']} runs predicted{mape})"

    def _repr_html_(self) -> str:
        rows = [(group["name"], str(group["n"]), f"{100 * group['mape']:.1f} %", f"{100 * group['bias']:+.1f} %",
                 f"{100 * group['interval_coverage']:.0f} %") for group in self.to_dict()["step_time"]["source"]]
        return _html.table(["source", "runs", "mean error", "bias", "inside P10-P90"], rows, repr(self))


class Calibration:
    """Profiles fitted to measured runs: an overlay that every command and every function here accepts.

    >>> import smplan
    >>> smplan.Calibration("{}", '{"runs": 3, "mape_before": 0.2, "mape_after": 0.1}', smplan.Catalog.shipped())
    Calibration(3 runs, mean error 20.0 % before, 10.0 % after)
    """

    def __init__(self, overlay: str, report: str, base: _core.Catalog) -> None:
        self.overlay = overlay
        self._report = report
        self._base = base

    @property
    def catalog(self) -> _core.Catalog:
        """The catalog with the fitted profiles: plan(catalog=calibration.catalog, ...)."""
        return self._base.with_overlay_text("calibration", self.overlay)

    @property
    def mape_before(self) -> float:
        """Mean error of the step time under the catalog's own profiles, as a fraction."""
        return float(self.to_dict()["mape_before"])

    @property
    def mape_after(self) -> float:
        """The same under the fitted ones: on the runs that they were fitted to."""
        return float(self.to_dict()["mape_after"])

    @property
    def left_out(self) -> Optional[View]:
        """Errors of each group of runs under a fit without it: `by`, `all`, `groups`, `runs`, shares as fractions.

        None unless `cross_validate` was given. This is how the fit does on what it has not seen.
        """
        report = self.to_dict().get("left_out")
        return None if report is None else View(report)

    def to_json(self) -> str:
        """What `smplan calibrate --fit-report --format json` prints beside the overlay."""
        return self._report

    def to_dict(self) -> Dict[str, Any]:
        """What the fit found: every number before and after, with its spread."""
        report: Dict[str, Any] = json.loads(self._report)
        return report

    def to_pandas(self) -> pandas.DataFrame:
        """One row a fitted number. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.to_dict()["parameters"])

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the overlay: `smplan plan --calibration FILE`."""
        write_text(path, self.overlay)

    def __eq__(self, other: object) -> bool:
        return self.overlay == other.overlay if isinstance(other, Calibration) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.overlay)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Calibration, (self.overlay, self._report, self._base)

    def __repr__(self) -> str:
        runs = self.to_dict()["runs"]
        left_out = "" if self.left_out is None else f", {100 * self.left_out.all.mape:.1f} % left out"
        return (f"Calibration({runs} runs, mean error {100 * self.mape_before:.1f} % before, "
                f"{100 * self.mape_after:.1f} % after{left_out})")

    def _repr_html_(self) -> str:
        moved = [p for p in self.to_dict()["parameters"] if p["runs"]]
        rows = [(p["owner"], p["meaning"], f"{p['prior']:.3g}", f"{p['value']:.3g}", f"{p['spread']:.2g}", str(p["runs"]))
                for p in moved]
        fitted = _html.table(["of", "number", "before", "after", "+-", "runs"], rows, repr(self))
        left_out = self.left_out
        if left_out is None:
            return fitted
        groups = [(g["name"], str(g["n"]), f"{100 * g['mape']:.1f} %", f"{100 * g['bias']:+.1f} %") for g in left_out.groups]
        return fitted + _html.table([left_out.by, "runs", "mean error", "bias"], groups, "each predicted by a fit without it")


def _read(runs: Runs) -> List[Tuple[str, str]]:
    """The tables; warns of columns that nothing reads but whose names are near a known one."""
    tables = tables_of(runs)
    for table, column, nearest in _core.unread_columns(tables):
        if nearest:
            warnings.warn(f"{table}: the column '{column}' is not read; did you mean '{nearest}'?", stacklevel=3)
    return tables


def validate(runs: Runs, *, catalog: Optional[_core.Catalog] = None, worst: int = 5) -> Validation:
    """Predicts measured runs and compares. Columns are those of docs/validation.md.

    Measured columns are used for the errors only. Raises InputError with the file and line of what cannot be read, and
    warns (UserWarning) of a column that is not read but named much like one that is.

    >>> import smplan, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "runs.csv")
    >>> _ = open(path, "w").write("id,model,gpu,n_gpus,gpus_per_node,framework,dtype,seq_len,micro_batch,global_batch,"
    ...     "step_time_s\\nmine,llama-2-7b,A100-80GB,8,8,FSDP,bf16,4096,1,64,9.5\\n")
    >>> smplan.validate(path).rows[0]["status"]
    'ok'
    """
    answer = _core.validate(usual_catalog(catalog), _read(runs), worst)
    return Validation(*answer)


def calibrate(runs: Runs, *, catalog: Optional[_core.Catalog] = None, scope: str = "stacks",
              prior_width: Optional[float] = None, not_fitted: Sequence[str] = (),
              cross_validate: Optional[str] = None, intervals: Optional[str] = None,
              as_of: Optional[str] = None) -> Calibration:
    """Fits stack profiles to measured runs, near the shipped ones: few runs move them little.

    `scope`: "stacks", or "devices" for what accelerators sustain too, which moves only what the runs narrow by 12 %.
    `prior_width`: how freely numbers leave the catalog's values (0.3; 1 with devices). `not_fitted`: ids of doubtful
    runs. `cross_validate`: "source", "file", "model", "gpu", "stack" or "stack-gpu" (a stack on accelerators of one
    design): each group of runs is predicted by a fit without it as well, see Calibration.left_out. `intervals`: the same
    names, whose left-out errors then give the width of P10 to P90; the fit's own if None. `as_of`: date that the overlay
    carries, YYYY-MM-DD, today if None. Raises InputError if no run can be predicted and was timed, or if all fall into
    one group. Ctrl-C is obeyed; shows progress with tqdm if that is installed.

    >>> import smplan, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "runs.csv")
    >>> head = "id,model,gpu,n_gpus,gpus_per_node,framework,dtype,seq_len,micro_batch,global_batch,step_time_s"
    >>> _ = open(path, "w").write(head + "\\nmine,llama-2-7b,A100-80GB,8,8,FSDP,bf16,4096,1,64,9.5\\n")
    >>> fitted = smplan.calibrate(path)
    >>> fitted.mape_after < fitted.mape_before, fitted.catalog.overlays[0][0]
    (True, 'calibration')
    """
    if scope not in ("stacks", "devices"):
        raise InputError([Diagnostic("unknown-name", "scope", f"unknown scope '{scope}'", "one of stacks, devices")])
    if prior_width is not None and not 0 < prior_width <= 10:
        raise InputError([Diagnostic("out-of-range", "prior_width", f"is {prior_width}", "a factor above 0, at most 10")])
    for name, grouping in (("cross_validate", cross_validate), ("intervals", intervals)):
        if grouping is not None and grouping not in _core.run_groupings:
            raise InputError([Diagnostic("unknown-name", name, f"unknown grouping '{grouping}'",
                                         f"one of {', '.join(_core.run_groupings)}")])
    date = as_date(as_of)
    base = usual_catalog(catalog)
    tables = _read(runs)
    names = ", ".join(dict.fromkeys(name for name, _ in tables))
    with ProgressBar("calibrate") as bar:
        overlay, report = _core.calibrate(base, tables, scope == "devices", prior_width, list(not_fitted), cross_validate,
                                          intervals, names, date, bar)
    return Calibration(overlay, report, base)
