"""Small HTML tables for notebooks: plain elements, no script, text always escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

if TYPE_CHECKING:
    from smplan._batch import BatchEstimate
    from smplan._catalog_import import CatalogImport
    from smplan._check import Findings
    from smplan._measured import Calibration, Validation
    from smplan._plans import Plan, PlanSet
    from smplan._sweep import Sweep

MAX_ROWS = 20


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", most: int = MAX_ROWS) -> str:
    cells = [list(row) for row in rows]
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells[:most])
    more = len(cells) - most
    rest = f'<tr><td colspan="{len(head)}">and {more} more</td></tr>' if more > 0 else ""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}{rest}</tbody></table>"


def sentence_list(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def facts_table(data: Mapping[str, Any], caption: str) -> str:
    """Names and values; members of objects are named by both names, what is unknown is left out."""
    rows = []
    for name, value in data.items():
        parts = value.items() if isinstance(value, dict) else [(None, value)]
        rows += [(name if part is None else f"{name}: {part}", _worded(item)) for part, item in parts if item is not None]
    return table(["", ""], rows, caption, most=len(rows))


def _worded(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return ", ".join(map(_worded, value)) if isinstance(value, (list, tuple)) else str(value)


def dollars(amount: float | None) -> str:
    return "no price" if amount is None else f"${amount:,.0f}"


def days(seconds: float) -> str:
    return f"{seconds / 86400:.3g} d"


def plan_table(plans: PlanSet) -> str:
    model = plans.request.model.name
    if not plans:
        return table(["refused for", "candidates"], [(why, str(n)) for why, n in plans.rejected.items() if n],
                     f"{model}: nothing fits")
    rows = [(str(p.rank), f"{p.instance_count} x {p.instance_type}", p.stack, p.strategy, f"{p.step_time_s:.3g} s",
             f"{100 * p.mfu:.1f} %", f"{p.memory.peak_gib:.3g} of {p.memory.limit_gib:.3g} GiB",
             days(p.time_to_train_s), dollars(p.cost.total_usd)) for p in plans]
    return table(["#", "instances", "stack", "strategy", "step", "MFU", "memory", "time", "cost"], rows,
                 f"{model}, {plans.request.objective} first")


def plan_sheet(plan: Plan) -> str:
    low, high = plan.step_time.interval_s
    rows = [("instances", f"{plan.instance_count} x {plan.instance_type} ({plan.n_gpus} devices)"),
            ("stack", plan.stack), ("strategy", plan.strategy),
            ("step", f"{plan.step_time_s:.3g} s (P10 {low:.3g}, P90 {high:.3g}), bound by {plan.bottleneck}"),
            ("memory", f"{plan.memory.peak_gib:.3g} of {plan.memory.limit_gib:.3g} GiB"),
            ("MFU", f"{100 * plan.mfu:.1f} %"), ("time to train", days(plan.time_to_train_s)),
            ("cost", dollars(plan.cost.total_usd)), *(("note", warning) for warning in plan.warnings)]
    return table(["", "plan " + str(plan.rank)], rows)


def error_table(validation: Validation) -> str:
    report = validation.to_dict()
    rows = [(group["name"], str(group["n"]), f"{100 * group['mape']:.1f} %", f"{100 * group['bias']:+.1f} %",
             f"{100 * group['interval_coverage']:.0f} %") for group in report["step_time"]["source"]]
    return table(["source", "runs", "mean error", "bias", "inside P10-P90"], rows, repr(validation))


def fit_tables(calibration: Calibration) -> str:
    moved = [p for p in calibration.to_dict()["parameters"] if p["runs"]]
    rows = [(p["owner"], p["meaning"], f"{p['prior']:.3g}", f"{p['value']:.3g}", f"{p['spread']:.2g}", str(p["runs"]))
            for p in moved]
    fitted = table(["of", "number", "before", "after", "+-", "runs"], rows, repr(calibration))
    left_out = calibration.left_out
    if left_out is None:
        return fitted
    groups = [(g["name"], str(g["n"]), f"{100 * g['mape']:.1f} %", f"{100 * g['bias']:+.1f} %") for g in left_out.groups]
    return fitted + table([left_out.by, "runs", "mean error", "bias"], groups, "each predicted by a fit without it")


def change_table(imported: CatalogImport) -> str:
    rows = [(c["fact"], c["before"] or "new", c["after"] or "gone",
             "" if c["ratio"] is None else f"{100 * (c['ratio'] - 1):+.1f} %") for c in imported.changes]
    return table(["fact", "before", "after", "change"], rows, repr(imported)) + sentence_list(imported.notes)


def sweep_table(sweep: Sweep) -> str:
    rows = []
    for line in sweep:
        given = line.request.to_dict()
        plan = line.plan
        answer = ([line.message, "", "", ""] if plan is None else
                  [f"{plan.instance_count} x {plan.instance_type}", plan.stack, days(plan.time_to_train_s),
                   dollars(plan.cost.total_usd)])
        rows.append([*(str(given.get(name, "")) for name in sweep.varied), line.status, *answer])
    return table([*sweep.varied, "status", "instances", "stack", "time", "cost"], rows, repr(sweep))


def batch_table(batch: BatchEstimate) -> str:
    """The fastest rows that fit, by what was varied."""
    rows = [(*(str(value) for value in given), f"{batch.step_time_s.flat[at]:.3g} s", f"{100 * batch.mfu.flat[at]:.1f} %",
             f"{batch.peak_gib.flat[at]:.3g} of {batch.limit_gib:.3g} GiB") for at, given in batch.fastest(5)]
    return table([*batch.varied, "step", "MFU", "memory"], rows, f"{batch!r}, the fastest of them")


def finding_table(findings: Findings) -> str:
    rows = [(f.severity, f.rule, f"line {f.line}" if f.line else f.path, f.message, f.fix) for f in findings]
    return table(["severity", "rule", "place", "message", "fix"], rows,
                 f"{len(findings.errors)} errors, {len(findings.warnings)} warnings, {len(findings.infos)} infos")
