"""Figures with matplotlib, which is imported when one is asked for. Colours are Okabe and Ito's (2008)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from smplan._errors import Error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from smplan._measured import Validation
    from smplan._plans import Plan, PlanSet

BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, YELLOW, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#999999")
MEMORY_COLOURS = {"weights": BLUE, "gradients": SKY, "optimizer": GREEN, "activations": ORANGE, "logits": YELLOW,
                  "communication": PURPLE, "workspace": VERMILION, "framework": GREY}
WORK = ("compute", "attention", "elementwise", "optimizer")


def _axes(ax: Optional[Axes], width: float = 8, height: float = 4.5) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise Error("plots need matplotlib: pip install 'smplan[plot]'") from None
    made: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return made


def _bare(ax: Axes) -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _name(plan: Any) -> str:
    return f"{plan.instance_count} x {plan.instance_type.removeprefix('ml.')}"


def pareto(plans: PlanSet, ax: Optional[Axes]) -> Axes:
    ax = _axes(ax)
    line = sorted((p.time_to_train_s / 86400, p.total_usd, _name(p)) for p in plans.frontier if p.total_usd is not None)
    listed = [(p.time_to_train_s / 86400, p.cost.total_usd) for p in plans if p.cost.total_usd is not None]
    if line:
        ax.step([x for x, _, _ in line], [y for _, y, _ in line], where="post", color=BLUE, lw=1, alpha=0.5)
        ax.plot([x for x, _, _ in line], [y for _, y, _ in line], "o", color=BLUE, label="frontier")
        # Every second name at most, so that neighbours stay apart.
        for x, y, name in line[:: max(1, len(line) // 5)]:
            ax.annotate(name, (x, y), xytext=(5, 5), textcoords="offset points", fontsize=8)
        if line[-1][0] > 20 * line[0][0]:
            ax.set_xscale("log")
    if listed:
        ax.plot(*zip(*listed), "o", mfc="none", mec=VERMILION, ms=9, label="listed plans")
    ax.yaxis.set_major_formatter(lambda value, _: f"${value:,.0f}")
    ax.set(xlabel="days to train", ylabel="cost of the run", title=f"{plans.request.model.name}: what more money buys in time")
    ax.legend(frameon=False)
    _bare(ax)
    return ax


def memory(plans: Sequence[Plan], ax: Optional[Axes]) -> Axes:
    ax = _axes(ax, 8, 1.2 + 0.45 * len(plans))
    for row, plan in enumerate(plans):
        left = 0.0
        for part, size in plan.memory.components_gib.items():
            ax.barh(row, size, left=left, height=0.7, color=MEMORY_COLOURS.get(part, GREY), label=part if row == 0 else None)
            left += size
        limit = plan.memory.limit_gib
        ax.plot([limit, limit], [row - 0.45, row + 0.45], color="black", lw=2, label="device" if row == 0 else None)
    ax.set_yticks(range(len(plans)), [f"{p.rank}. {_name(p)}\n{p.strategy}" for p in plans], fontsize=8)
    ax.invert_yaxis()
    ax.set(xlabel="GiB on the busiest device", title="Device memory")
    ax.legend(frameon=False, fontsize=8, ncols=1, loc="center left", bbox_to_anchor=(1, 0.5))
    _bare(ax)
    return ax


def waterfall(plan: Plan, ax: Optional[Axes]) -> Axes:
    ax = _axes(ax)
    parts = sorted(((k, v) for k, v in plan.step_time.components_s.items() if v > 0.001 * plan.step_time_s),
                   key=lambda part: (part[0] not in WORK, -part[1]))
    left = 0.0
    for row, (name, seconds) in enumerate(parts):
        ax.barh(row, seconds, left=left, color=BLUE if name in WORK else ORANGE)
        ax.text(left + seconds, row, f" {seconds:.3g} s", va="center", fontsize=8)
        left += seconds
    ax.set_yticks(range(len(parts)), [name.replace("_", " ") for name, _ in parts])
    ax.invert_yaxis()
    low, high = plan.step_time.interval_s
    ax.axvspan(low, high, color=GREY, alpha=0.15, label="P10 to P90")
    ax.axvline(plan.step_time_s, color="black", lw=1)
    ax.set(xlabel="seconds", title=f"One step of {_name(plan)}: {plan.step_time_s:.3g} s at {100 * plan.mfu:.0f} % MFU")
    ax.legend(frameon=False, loc="lower left")
    _bare(ax)
    return ax


def timeline(plan: Plan, ax: Optional[Axes]) -> Axes:
    events = [e for e in json.loads(plan.trace())["traceEvents"] if e["ph"] == "X"]
    ranks = 1 + max(e["pid"] for e in events)
    ax = _axes(ax, 10, 1.2 + 0.3 * ranks)
    colours = {"forward": SKY, "backward": ORANGE, "input gradient": ORANGE, "weight gradient": GREEN, "end of step": PURPLE}
    spans: Dict[Tuple[int, str], List[Tuple[float, float]]] = {}
    for e in events:
        if e["cat"] != "pipeline_bubble":
            spans.setdefault((e["pid"], e["args"]["pass"]), []).append((e["ts"] / 1e6, e["dur"] / 1e6))
    shown = set()
    for (rank, name), boxes in sorted(spans.items()):
        ax.broken_barh(_joined(boxes), (rank - 0.4, 0.8), facecolors=colours[name], label=None if name in shown else name)
        shown.add(name)
    ax.set_yticks(range(ranks), [f"rank {rank}" for rank in range(ranks)])
    ax.invert_yaxis()
    ax.set(xlabel="seconds", xlim=(0, plan.step_time_s), title=f"One pipeline of {_name(plan)}, {plan.strategy}")
    ax.legend(frameon=False, ncols=4, fontsize=8, loc="upper left", bbox_to_anchor=(0, -0.25))
    _bare(ax)
    return ax


def _joined(boxes: List[Tuple[float, float]]) -> List[Tuple[float, float]]:
    """Neighbours as one: thousands of boxes are slow to draw and look the same."""
    joined: List[Tuple[float, float]] = []
    for start, length in sorted(boxes):
        if joined and start - sum(joined[-1]) < 1e-7:
            joined[-1] = (joined[-1][0], start + length - joined[-1][0])
        else:
            joined.append((start, length))
    return joined


def scaling(plans: Sequence[Plan], ax: Optional[Axes] = None) -> Axes:
    """Tokens a second against devices, with the line that perfect scaling from the first plan would take."""
    ordered = sorted(plans, key=lambda plan: plan.n_gpus)
    if not ordered:
        raise Error("there is no plan to draw")
    ax = _axes(ax)
    devices = [p.n_gpus for p in ordered]
    rates = [p.tokens_per_s for p in ordered]
    ax.plot(devices, [rates[0] * n / devices[0] for n in devices], "--", color=GREY, label="perfect scaling")
    ax.plot(devices, rates, "o-", color=BLUE, label="predicted")
    for p in ordered:
        ax.annotate(f"{100 * p.mfu:.0f} %", (p.n_gpus, p.tokens_per_s), xytext=(4, -12), textcoords="offset points", fontsize=8)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set(xlabel="devices", ylabel="tokens a second", title="Scaling, with MFU at each point")
    ax.legend(frameon=False)
    _bare(ax)
    return ax


def predicted_against_measured(validation: Validation, ax: Optional[Axes]) -> Axes:
    ax = _axes(ax, 6, 6)
    points = [run for run in validation.runs if run.get("measured_step_time_s") and run.get("predicted_step_time_s")]
    if not points:
        raise Error("no run has both a prediction and a measured step time")
    measured = [run["measured_step_time_s"] for run in points]
    predicted = [run["predicted_step_time_s"] for run in points]
    below = [run["predicted_step_time_s"] - run["predicted_step_time_interval_s"][0] for run in points]
    above = [run["predicted_step_time_interval_s"][1] - run["predicted_step_time_s"] for run in points]
    ends = [min(measured + predicted), max(measured + predicted)]
    ax.plot(ends, ends, "--", color=GREY, label="as predicted")
    ax.errorbar(measured, predicted, yerr=[below, above], fmt="o", ms=4, color=BLUE, ecolor=SKY, lw=1, label="P10 to P90")
    ax.set(xscale="log", yscale="log", xlabel="measured step time (s)", ylabel="predicted step time (s)", title=repr(validation))
    ax.title.set_fontsize(10)
    ax.legend(frameon=False)
    _bare(ax)
    return ax
