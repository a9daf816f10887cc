"""Figures with matplotlib, which is imported when one is asked for. Colours are Okabe and Ito's (2008)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from smplan._errors import Error
from smplan._views import FrontierPoint, Memory, StepTime, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        raise Error("plots need matplotlib: pip install 'matplotlib>=3.6'") from None
    made: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return made


def _hide_spines(ax: Axes) -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def name_of(plan: View) -> str:
    """`4 x p4d.24xlarge` of a plan or a point of the frontier."""
    return f"{plan.instance_count} x {plan.instance_type.removeprefix('ml.')}"


def pareto(model: str, frontier: Iterable[FrontierPoint], plans: Iterable[Tuple[float, Optional[float]]],
           ax: Optional[Axes]) -> Axes:
    """`plans`: seconds and dollars of each listed one."""
    ax = _axes(ax)
    line = sorted((p.time_to_train_s / 86400, p.total_usd, name_of(p)) for p in frontier if p.total_usd is not None)
    listed = [(seconds / 86400, dollars) for seconds, dollars in plans if dollars is not None]
    if line:
        ax.step([x for x, _, _ in line], [y for _, y, _ in line], where="post", color=BLUE, lw=1, alpha=0.5)
        ax.plot([x for x, _, _ in line], [y for _, y, _ in line], "o", color=BLUE, label="frontier")
        if line[-1][0] > 20 * line[0][0]:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if listed:
        ax.plot(*zip(*listed), "o", mfc="none", mec=VERMILION, ms=9, label="listed plans")
    ax.margins(x=0.06, y=0.08)
    cents = 2 if max((y for _, y in listed), default=100.0) < 100 else 0
    ax.yaxis.set_major_formatter(lambda value, _: f"${value:,.{cents}f}")
    ax.set(xlabel="days to train", ylabel="cost of the run", title=f"{model}: what more money buys in time")
    ax.legend(frameon=False)
    _hide_spines(ax)
    _name_points(ax, line, listed)
    return ax


def _name_points(ax: Axes, points: Sequence[Tuple[float, float, str]], others: Sequence[Tuple[float, float]]) -> None:
    """Names as many points as there is room for, the ends first: names keep clear of all points and of each other.

    Above and right of a point the frontier has passed; in the last fifth of the axes names end at their point.
    """
    ax.figure.canvas.draw()  # the layout decides where points lie
    to_pixels = ax.transData.transform
    width, height = ax.bbox.width, ax.bbox.height
    marks = [(float(x), float(y)) for x, y in map(to_pixels, [*(point[:2] for point in points), *others])]
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in marks]
    for x, y, name in sorted(points, key=lambda point: point not in (points[0], points[-1])):
        px, py = to_pixels((x, y))
        ends = px > ax.bbox.x0 + 0.8 * width
        length, line = 0.62 * 8 * len(name) * ax.figure.dpi / 72, 10 * ax.figure.dpi / 72
        left, bottom = (px - length if ends else px), py + 6
        box = (left, bottom, left + length, bottom + line)
        clear = not any(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken)
        if clear and box[3] < ax.bbox.y0 + 1.06 * height:
            taken.append(box)
            ax.annotate(name, (x, y), xytext=(0 if ends else 2, 5), textcoords="offset points", fontsize=8,
                        ha="right" if ends else "left")


def memory(plans: Sequence[Tuple[str, Memory]], ax: Optional[Axes]) -> Axes:
    """`plans`: label and memory of each."""
    ax = _axes(ax, 8, 1.2 + 0.45 * len(plans))
    for row, (_, peak) in enumerate(plans):
        left = 0.0
        for part, size in peak.components_gib.items():
            ax.barh(row, size, left=left, height=0.7, color=MEMORY_COLOURS.get(part, GREY), label=part if row == 0 else None)
            left += size
        limit = peak.limit_gib
        ax.plot([limit, limit], [row - 0.45, row + 0.45], color="black", lw=2, label="device limit" if row == 0 else None)
    ax.set_yticks(range(len(plans)), [label for label, _ in plans], fontsize=8)
    ax.invert_yaxis()
    ax.set(xlabel="GiB on the busiest device", title="Device memory")
    ax.legend(frameon=False, fontsize=8, ncols=1, loc="center left", bbox_to_anchor=(1, 0.5))
    _hide_spines(ax)
    return ax


def waterfall(plan: str, step_time: StepTime, mfu: float, ax: Optional[Axes]) -> Axes:
    ax = _axes(ax)
    step = step_time.seconds
    parts = sorted(((k, v) for k, v in step_time.components_s.items() if v > 0.001 * step),
                   key=lambda part: (part[0] not in WORK, -part[1]))
    left = 0.0
    labelled = set()
    for row, (name, seconds) in enumerate(parts):
        colour, kind = (BLUE, "work") if name in WORK else (ORANGE, "communication and waiting")
        ax.barh(row, seconds, left=left, color=colour, label=None if kind in labelled else kind)
        labelled.add(kind)
        # Late bars have their number in front of them, where the axes are empty.
        late = left > 0.5 * step
        ax.text(left if late else left + seconds, row, f" {seconds:.3g} s ", va="center", ha="right" if late else "left", fontsize=8)
        left += seconds
    low, high = step_time.interval_s
    ax.barh(len(parts), step, color=GREY)
    ax.errorbar(step, len(parts), xerr=[[step - low], [high - step]], color="black", capsize=4, lw=1, label="P10 to P90")
    ax.text(0, len(parts), f" {step:.3g} s", va="center", fontsize=8)
    ax.set_yticks(range(len(parts) + 1), [*(name.replace("_", " ") for name, _ in parts), "step"])
    ax.invert_yaxis()
    ax.set(xlabel="seconds", xlim=(0, None), title=f"One step of {plan}: {step:.3g} s at {100 * mfu:.0f} % MFU")
    # The corner that the bars leave free, above the last one.
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1.3 / (len(parts) + 1)))
    _hide_spines(ax)
    return ax


def timeline(plan: str, trace: str, step_time_s: float, ax: Optional[Axes]) -> Axes:
    events = [e for e in json.loads(trace)["traceEvents"] if e["ph"] == "X"]
    ranks = 1 + max(e["pid"] for e in events)
    ax = _axes(ax, 10, 1.4 + 0.3 * ranks)
    passes = {"forward": SKY, "backward": ORANGE, "input gradient": ORANGE, "weight gradient": GREEN, "end of step": PURPLE}
    spans: Dict[Tuple[int, str], List[Tuple[float, float]]] = {}
    for e in events:
        if e["cat"] != "pipeline_bubble":
            spans.setdefault((e["pid"], e["args"]["pass"]), []).append((e["ts"] / 1e6, e["dur"] / 1e6))
    merged = {key: _merged(boxes) for key, boxes in spans.items()}
    begin, end = _steady_state(merged, ranks, step_time_s)
    gap = end - begin
    for name, colour in passes.items():
        for rank in range(ranks):
            boxes = merged.get((rank, name), [])
            shown = [(start if start < begin else start - gap, length) for start, length in boxes
                     if start + length <= begin or start >= end]
            if shown:
                ax.broken_barh(shown, (rank - 0.4, 0.8), facecolors=colour, label=name if rank == 0 else None)
    if gap > 0:
        ax.axvline(begin, color="white", lw=8)
        ax.axvline(begin, color=GREY, lw=1, ls=":")
        ax.annotate(f"{gap:.3g} s more of the same", (begin, 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                    textcoords="offset points", ha="center", fontsize=8)
    shown_end = step_time_s - gap
    ticks = [t for t in ax.get_xticks() if 0 <= t < begin - 0.05 * shown_end or (t > begin + 0.05 * shown_end and t <= shown_end)]
    ax.set_xticks(ticks, [f"{t if t < begin else t + gap:.3g}" for t in ticks])
    ax.set_yticks(range(ranks), [f"rank {rank}" for rank in range(ranks)])
    ax.invert_yaxis()
    ax.set(xlabel="seconds", xlim=(0, shown_end))
    ax.set_title(f"One pipeline of {plan}", pad=18 if gap > 0 else 6)
    ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    _hide_spines(ax)
    return ax


def _steady_state(spans: Dict[Tuple[int, str], List[Tuple[float, float]]], ranks: int, step: float) -> Tuple[float, float]:
    """Seconds in the middle of a step that repeat what comes before: hundreds of passes would be a blur.

    What is left at both ends holds filling and draining of the pipeline and some passes of each rank beside.
    """
    forward = spans.get((0, "forward"), [])
    if len(forward) < 3 * (ranks + 6):
        return step, step
    period = (forward[-1][0] - forward[0][0]) / (len(forward) - 1)
    edge = (ranks + 4) * period
    last = max(start + length for (_, name), boxes in spans.items() if name != "end of step" for start, length in boxes)
    return edge, last - edge


def _merged(boxes: List[Tuple[float, float]]) -> List[Tuple[float, float]]:
    """Neighbours as one: thousands of boxes are slow to draw and look the same."""
    merged: List[Tuple[float, float]] = []
    for start, length in sorted(boxes):
        if merged and start - sum(merged[-1]) < 1e-7:
            merged[-1] = (merged[-1][0], start + length - merged[-1][0])
        else:
            merged.append((start, length))
    return merged


def scaling(plans: Iterable[Tuple[int, float, float]], ax: Optional[Axes]) -> Axes:
    """`plans`: devices, tokens a second and MFU of each."""
    ordered = sorted(plans, key=lambda plan: plan[0])
    if not ordered:
        raise Error("there is no plan to draw")
    ax = _axes(ax)
    devices = [count for count, _, _ in ordered]
    rates = [rate for _, rate, _ in ordered]
    ax.plot(devices, [rates[0] * n / devices[0] for n in devices], "--", color=GREY, label="perfect scaling")
    ax.plot(devices, rates, "o-", color=BLUE, label="predicted")
    for count, rate, mfu in ordered:
        ax.annotate(f"{100 * mfu:.0f} %", (count, rate), xytext=(5, -12), textcoords="offset points", fontsize=8)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.yaxis.set_major_formatter(lambda value, _: _with_si_prefix(value))
    ax.margins(0.08)
    ax.set(xlabel="devices", ylabel="tokens a second", title="Scaling, with MFU at each point")
    ax.legend(frameon=False)
    _hide_spines(ax)
    return ax


def _with_si_prefix(count: float) -> str:
    """`131k`, `1.05M`."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{letter}"
    return f"{count:.3g}"


def predicted_against_measured(runs: Iterable[Mapping[str, Any]], summary: Mapping[str, float], ax: Optional[Axes]) -> Axes:
    ax = _axes(ax, 6, 6)
    points = [run for run in runs if run.get("measured_step_time_s") and run.get("predicted_step_time_s")]
    if not points:
        raise Error("no run has both a prediction and a measured step time")
    measured = [run["measured_step_time_s"] for run in points]
    predicted = [run["predicted_step_time_s"] for run in points]
    below = [run["predicted_step_time_s"] - run["predicted_step_time_interval_s"][0] for run in points]
    above = [run["predicted_step_time_interval_s"][1] - run["predicted_step_time_s"] for run in points]
    ends = [min(measured + predicted) / 1.3, max(measured + predicted) * 1.3]
    ax.plot(ends, ends, "--", color=GREY, label="predicted as measured")
    crowd = len(points) > 200
    ax.errorbar(measured, predicted, yerr=[below, above], fmt="o", ms=2.5 if crowd else 4, alpha=0.6 if crowd else 1, color=BLUE,
                ecolor=SKY, lw=1, label="runs, P10 to P90")
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal", xlabel="measured step time (s)",
           ylabel="predicted step time (s)",
           title=f"{len(points):,} measured runs, mean error {100 * summary['mape']:.1f} %")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.legend(frameon=False, loc="upper left")
    _hide_spines(ax)
    return ax
