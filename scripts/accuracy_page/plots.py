"""Plots as plain SVG, no library needed. Colours after Okabe and Ito, readable to the colour-blind."""

import math
from xml.sax.saxutils import escape

from .figures import Figures

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#999900")
REST = "#999999"
FONT = "font-family='sans-serif' font-size='12'"


def svg(width: int, height: int, body: list[str]) -> str:
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' {FONT}>"
    return "\n".join([head, f"<rect width='{width}' height='{height}' fill='white'/>", *body, "</svg>"]) + "\n"


def text(x: float, y: float, label: str, anchor: str = "start", extra: str = "") -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' {extra}>{escape(label)}</text>"


def line(x1: float, y1: float, x2: float, y2: float, colour: str = "#cccccc", extra: str = "") -> str:
    return f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}' {extra}/>"


def short(name: str, most: int = 32) -> str:
    return name if len(name) <= most else name[: most - 2].rstrip() + ".."


def dots(points: list[tuple[float, float]], colour: str, size: float = 4) -> str:
    """Many points as one path: a zero-length line with round ends is a dot."""
    path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in points)
    return f"<path d='{path}' stroke='{colour}' stroke-width='{size}' stroke-linecap='round' stroke-opacity='0.6'/>"


def scatter(title: str, unit: str, groups: dict[str, list[tuple[float, float]]]) -> str:
    """Predicted over measured, both logarithmic, with the diagonal and a band of 10 %."""
    left, top, side = 60, 40, 460
    values = [v for points in groups.values() for pair in points for v in pair]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def at(v: float) -> float:
        return side * (math.log10(v) - low) / (high - low)

    body = [text(left, 22, title, extra="font-size='15' font-weight='bold'")]
    for power in range(low, high + 1):
        tick = at(10.0**power)
        label = f"{10.0**power:g}"
        body += [
            line(left + tick, top, left + tick, top + side),
            line(left, top + side - tick, left + side, top + side - tick),
        ]
        body += [
            text(left + tick, top + side + 16, label, "middle"),
            text(left - 6, top + side - tick + 4, label, "end"),
        ]
    for factor, dash in ((1.0, ""), (1.1, "stroke-dasharray='4 4'"), (1 / 1.1, "stroke-dasharray='4 4'")):
        start, end = 10.0**low * max(1.0, 1 / factor), 10.0**high * min(1.0, 1 / factor)
        body.append(
            line(
                left + at(start),
                top + side - at(start * factor),
                left + at(end),
                top + side - at(end * factor),
                "#555555",
                dash,
            )
        )
    y = top + 10
    for i, (name, points) in enumerate(groups.items()):
        colour = REST if i >= len(COLOURS) else COLOURS[i]
        body.append(dots([(left + at(m), top + side - at(p)) for m, p in points], colour))
        body += [
            dots([(left + side + 20, y)], colour, 8),
            text(left + side + 30, y + 4, f"{short(name)} ({len(points)})"),
        ]
        y += 20
    middle = top + side / 2
    body += [
        text(left + side / 2, top + side + 36, f"measured, {unit}", "middle"),
        text(16, middle, f"predicted, {unit}", "middle", f"transform='rotate(-90 16 {middle})'"),
        text(left + side + 20, y + 14, "dashed: 10 % off", extra="fill='#555555'"),
    ]
    return svg(left + side + 330, top + side + 50, body)


def strips(title: str, rows: list[tuple[str, list[float]]]) -> str:
    """Errors of each group: every run a dot, bar from P10 to P90, tick at the median."""
    left, top, width, step, limit = 300, 60, 480, 24, 0.6

    def at(error: float) -> float:
        return left + width * (max(-limit, min(limit, error)) + limit) / (2 * limit)

    height = top + step * len(rows) + 40
    body = [text(16, 22, title, extra="font-size='15' font-weight='bold'")]
    for percent in range(-60, 61, 20):
        x = at(percent / 100)
        body.append(line(x, top - 10, x, height - 34, "#333333" if percent == 0 else "#cccccc"))
        body.append(text(x, height - 16, f"{percent:+d} %" if percent else "0", "middle"))
    for i, (name, errors) in enumerate(rows):
        y = top + step * i + 4
        ordered = sorted(errors)
        low, middle, high = (quantile(ordered, q) for q in (0.1, 0.5, 0.9))
        body += [
            text(left - 10, y + 4, f"{short(name)} ({len(errors)})", "end"),
            f"<rect x='{at(low):.1f}' y='{y - 6}' width='{max(1.0, at(high) - at(low)):.1f}' height='12' "
            f"fill='{COLOURS[5]}' fill-opacity='0.6'/>",
            dots([(at(e), y) for e in errors], COLOURS[0], 3),
            line(at(middle), y - 8, at(middle), y + 8, COLOURS[3], "stroke-width='3'"),
        ]
    body.append(
        text(16, 42, "dot: a run; bar: P10 to P90; tick: median; beyond 60 % at the edge", extra="fill='#555555'")
    )
    return svg(left + width + 40, height, body)


def quantile(ordered: list[float], q: float) -> float:
    position = q * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def grouped(items: list[dict], key: str, value) -> dict[str, list]:
    """Values by group, largest group first."""
    groups: dict[str, list] = {}
    for item in items:
        groups.setdefault(item[key], []).append(value(item))
    return dict(sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])))


def largest(groups: dict[str, list]) -> dict[str, list]:
    """As many groups as there are colours, the rest as one."""
    names = list(groups)
    shown = {name: groups[name] for name in names[: len(COLOURS)]}
    rest = [point for name in names[len(COLOURS) :] for point in groups[name]]
    return {**shown, "other sources": rest} if rest else shown


def all_plots(found: Figures) -> dict[str, str]:
    times = grouped(found.timed, "source", lambda r: (r["measured_step_time_s"], r["predicted_step_time_s"]))
    memory = grouped(found.weighed, "mem_kind", lambda r: (r["measured_peak_mem_gib"], r["predicted_peak_mem_gib"]))
    left_out = grouped(found.left_out["source"]["runs"], "group", lambda r: r["predicted_over_measured"] - 1)
    plots = {
        "errors.svg": strips(
            "Error of step time by source",
            [(name, [p / m - 1 for m, p in points]) for name, points in times.items()],
        ),
        "left_out.svg": strips(
            "Error of step time by source, none of whose runs was fitted on", list(left_out.items())
        ),
        "step_time.svg": scatter("Step time of measured runs", "s", largest(times)),
    }
    if memory:
        plots["memory.svg"] = scatter("Peak memory of measured runs", "GiB", memory)
    return plots
