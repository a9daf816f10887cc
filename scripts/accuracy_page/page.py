"""The page's text: weak spots first, then everything."""

import math

from .figures import Figures

WEAK_ERROR = 0.15  # mean error of a group that the page warns of
ENOUGH = 5  # runs of a group that can be called weak or strong


def percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"


def signed(fraction: float) -> str:
    return f"{100 * fraction:+.1f} %"


def table(header: list[str], rows: list[list[str]], texts: int = 1) -> str:
    """Markdown table; the first `texts` columns are words, the rest figures."""
    rule = ["---"] * texts + ["---:"] * (len(header) - texts)
    lines = [header, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def error_cells(s: dict) -> list[str]:
    return [
        str(s["n"]),
        percent(s["mape"]),
        percent(s["median"]),
        percent(s["p90"]),
        percent(s["max"]),
        signed(s["bias"]),
    ]


ERRORS = ["runs", "mean", "median", "P90", "max", "bias"]


def mean_of(groups: list[dict]) -> float:
    """Over sources, so that one with many runs counts no more than another."""
    return sum(g["mape"] for g in groups) / len(groups)


def peaks_by_source(validation: dict) -> dict[str, list[float]]:
    errors: dict[str, list[float]] = {}
    for run in validation["runs"]:
        if "measured_peak_mem_gib" in run:
            error = abs(run["predicted_peak_mem_gib"] / run["measured_peak_mem_gib"] - 1)
            errors.setdefault(run["source"], []).append(error)
    return errors


def headline(found: Figures) -> str:
    """What a stranger may expect: the runs of users come before those of vendors."""
    report = found.users
    time, sources = report["step_time"]["all"][0], report["step_time"]["source"]
    peaks = list(peaks_by_source(report).values())
    peak = sum(sum(errors) / len(errors) for errors in peaks) / len(peaks)
    verdicts = report["out_of_memory"][0]
    return (
        f"Expect of a program of your own a step time that is off by **{percent(time['median'])}** (median of "
        f"{time['n']} runs that users of {len(sources)} projects reported; mean over the projects "
        f"{percent(mean_of(sources))}), and a peak of memory that is off by {percent(peak)} (mean over {len(peaks)} "
        f"projects). P10 to P90 holds {percent(time['interval_coverage'])} of these steps. Of "
        f"{verdicts['ran_out']} runs that ran out of memory {verdicts['recognised']} are recognised; of "
        f"{verdicts['ran']} that ran {verdicts['false_alarms']} are called too large. No profile was fitted on these "
        "runs, but the physics was mended with them in sight. Tuned recipes, as vendors publish them, are "
        "predicted better; they come second."
    )


def users(found: Figures) -> str:
    report = found.users
    peaks = peaks_by_source(report)
    projects = [
        [s["name"], *error_cells(s), percent(s["interval_coverage"])] for s in report["step_time"]["source"]
    ]
    weighed = [
        [name, str(len(errors)), percent(sum(errors) / len(errors)), percent(max(errors))]
        for name, errors in sorted(peaks.items(), key=lambda item: -len(item[1]))
    ]
    verdicts = [
        [v["name"], str(v["ran_out"]), str(v["recognised"]), str(v["ran"]), str(v["false_alarms"])]
        for v in report["out_of_memory"]
    ]
    return "\n\n".join(
        [
            "The reports are in [tests/measured/users](../tests/measured/users), each with its source: ordinary "
            "programs on ordinary clusters, and settings that a report does not state are guessed as they would be for "
            "you.",
            "After `smplan calibrate` with one run of a program its other runs are off by "
            f"{percent(found.bounds['users']['step_time']['after_one_run'])} (mean over the programs of three timed runs "
            "or more, tests/measured/accuracy_test.cpp).",
            "### Step time by project\n\n" + table(["project", *ERRORS, "in P10-P90"], projects),
            "### Peak memory by project\n\n" + table(["project", "runs", "mean", "max"], weighed),
            "### Verdicts by stack\n\nA run is called too large where its chance to run out is over one half.\n\n"
            + table(["stack", "ran out", "recognised", "ran", "false alarms"], verdicts),
        ]
    )


def tuned(found: Figures) -> str:
    s, counts, left_out = found.all, found.validation["counts"], found.left_out["source"]
    verdicts = found.validation["out_of_memory"][0]
    return (
        f"Vendors and benchmarks publish what they tuned. Of {counts['rows']} published runs in {len(found.tables)} tables, {counts['predicted']} can be predicted and "
        f"{counts['timed']} of those state a speed. Their step time is predicted with a median error of "
        f"{percent(s['median'])} (mean {percent(s['mape'])}, P90 {percent(s['p90'])}, bias {signed(s['bias'])}). "
        f"{verdicts['false_alarms']} of {verdicts['ran']} that ran are called too large for their device. "
        "The profiles were fitted on these very runs, so the figure to expect of another tuned recipe is the next "
        f"one: under a fit without the source in question, the mean error is "
        f"**{percent(left_out['mean_of_groups_of_ten_or_more'])}** over the {left_out['groups_of_ten_or_more']} sources "
        f"of ten runs or more, and {percent(left_out['worst_of_groups_of_ten_or_more'])} for the worst of them."
    )


def weak_groups(found: Figures) -> list[str]:
    """Sources and stacks with large errors, worst first."""
    lines = []
    for by in ("source", "stack", "accelerator"):
        weak = [s for s in found.summary(by) if s["n"] >= ENOUGH and s["mape"] > WEAK_ERROR]
        for s in sorted(weak, key=lambda s: -s["mape"]):
            direction = "too slow" if s["bias"] > 0 else "too fast"
            lines.append(
                f"- {by} **{s['name']}**: mean error {percent(s['mape'])} over {s['n']} runs, "
                f"on average {percent(abs(s['bias']))} {direction}"
            )
    return lines


def weak_generalisation(found: Figures) -> list[str]:
    lines = []
    for by, noun in (("source", "source"), ("gpu", "accelerator family"), ("stack", "stack")):
        groups = [g for g in found.left_out[by]["groups"] if g["n"] >= 10]
        if not groups:
            continue
        worst = max(groups, key=lambda g: g["mape"])
        lines.append(
            f"- the {noun} that is predicted worst when no run of its own was fitted on: **{worst['name']}**, "
            f"mean error {percent(worst['mape'])} over {worst['n']} runs"
        )
    return lines


def weak_rest(found: Figures) -> list[str]:
    lines = []
    coverage = found.all["interval_coverage"]
    if not 0.76 <= coverage <= 0.84:
        kind = "too narrow" if coverage < 0.8 else "too wide"
        lines.append(f"- the P10-P90 interval holds {percent(coverage)} of the runs where 80 % would be right: {kind}")
    memory = found.validation["peak_memory"]
    if memory:
        lines.append(
            f"- peak memory is predicted more than 5 % too low in {percent(memory[0]['under_by_5_percent'])} of "
            f"{memory[0]['n']} runs"
        )
    counts = found.validation["counts"]
    refused = counts["unsupported"] + counts["invalid"]
    if refused:
        lines.append(
            f"- {refused} of {counts['rows']} rows are refused, most often because they do not say enough (below)"
        )
    return lines


def weak_spots(found: Figures) -> str:
    return "\n".join([*weak_groups(found), *weak_generalisation(found), *weak_rest(found)])


def step_time(found: Figures) -> str:
    parts = [
        "![Predicted against measured step time](accuracy/step_time.svg)",
        "![Errors by source](accuracy/errors.svg)",
    ]
    for by in ("source", "stack", "accelerator", "parallelism", "precision"):
        rows = [
            [s["name"], *error_cells(s), percent(s["interval_coverage"])]
            for s in [*found.summary("all"), *found.summary(by)]
        ]
        parts.append(f"### By {by}\n\n" + table([by, *ERRORS, "in P10-P90"], rows))
    return "\n\n".join(parts)


def large_group_errors(runs: list[dict]) -> list[float]:
    """Mean errors of the groups of ten runs or more."""
    groups: dict[str, list[float]] = {}
    for run in runs:
        groups.setdefault(run["group"], []).append(abs(run["predicted_over_measured"] - 1))
    return [sum(errors) / len(errors) for errors in groups.values() if len(errors) >= 10]


def without_doubtful(report: dict) -> list[str]:
    """Groups, mean and worst of what is left where no doubtful run counts."""
    errors = large_group_errors([run for run in report["runs"] if run["fitted"]])
    return [str(len(errors)), percent(sum(errors) / max(len(errors), 1)), percent(max(errors, default=0))]


def left_out(found: Figures) -> str:
    parts = [
        "Each group is predicted under a fit to all other runs that starts from the rough figures of "
        "[priors.json](../scripts/fit/priors.json), which no fit has touched; the few that were set when the runs were "
        "known say so there.",
        "![Errors by left-out source](accuracy/left_out.svg)",
    ]
    rows = []
    for by, report in found.left_out.items():
        rows.append(
            [
                by,
                str(report["groups_of_ten_or_more"]),
                percent(report["mean_of_groups_of_ten_or_more"]),
                percent(report["worst_of_groups_of_ten_or_more"]),
                *without_doubtful(report),
                percent(report["all"]["median"]),
                signed(report["all"]["bias"]),
                percent(sum(run["in_interval"] for run in report["runs"]) / len(report["runs"])),
            ]
        )
    parts.append(
        table(
            [
                "left out",
                "groups of ten runs or more",
                "mean over them",
                "worst of them",
                "groups without doubtful runs",
                "mean over them",
                "worst of them",
                "median of all runs",
                "bias of all runs",
                "in P10-P90",
            ],
            rows,
        )
    )
    doubtful = sum(not run["fitted"] for run in found.left_out["source"]["runs"])
    parts.append(
        f"Doubtful runs are the {doubtful} timed ones of [doubtful.csv](../tests/measured/doubtful.csv); no fit sees them. "
        "*In P10-P90* asks of each left-out run for the interval that the errors of the other groups on its stack would "
        "have given, wider by what none of their runs had. *stack-gpu* leaves out a stack on one accelerator "
        "family: where other runs had the stack elsewhere, what to expect of a plan for a pair that none had."
    )
    for by, noun in (("source", "source"), ("gpu", "accelerator family"), ("stack-gpu", "pair")):
        groups = [[g["name"], *error_cells(g)] for g in found.left_out[by]["groups"]]
        parts.append(f"### By left-out {noun}\n\n" + table([noun, *ERRORS], groups))
    return "\n\n".join(parts)


def ranking(found: Figures) -> str:
    rows = [
        [
            s["name"],
            str(s["comparable_groups"]),
            f"{s['kendall_tau']:.2f}",
            f"{s['mean_group_tau']:.2f}",
            percent(s["top1_regret"]),
            percent(s["top3_regret"]),
        ]
        for s in [*found.summary("all"), *found.summary("source")]
        if s["comparable_groups"] > 0
    ]
    return (
        "Runs that do the same work on the same machine with the same software, split differently, are alternatives. "
        "Kendall's tau is over all their pairs, and averaged by group; regret is the time lost by taking our first "
        "choice, or the best of our first three, instead of the fastest.\n\n"
        + table(["source", "groups", "tau", "tau by group", "first choice", "first three"], rows)
    )


def memory(found: Figures) -> str:
    rows = [
        [s["name"], *error_cells(s), percent(s["interval_coverage"]), percent(s["under_by_5_percent"])]
        for s in found.validation["peak_memory"]
    ]
    return (
        "Each row is compared with the figure that its `mem_kind` names.\n\n"
        "![Predicted against measured peak memory](accuracy/memory.svg)\n\n"
        + table(["kind and source", *ERRORS, "in P10-P90", "under by > 5 %"], rows)
    )


def worst(found: Figures) -> str:
    runs = {run["id"]: run for run in found.validation["runs"]}
    rows = []
    for name in found.validation["worst"]:
        run = runs[name]
        parts = sorted(run["step_components_s"].items(), key=lambda part: -part[1])[:3]
        share = ", ".join(
            f"{key.replace('_', ' ')} {100 * value / run['predicted_step_time_s']:.0f} %" for key, value in parts
        )
        ratio = run["predicted_step_time_s"] / run["measured_step_time_s"]
        rows.append(
            [
                name,
                run["model"],
                run["stack"],
                share,
                f"{run['measured_step_time_s']:.3g}",
                f"{run['predicted_step_time_s']:.3g}",
                f"{ratio:.2f}",
            ]
        )
    return table(["run", "model", "stack", "predicted step", "measured s", "predicted s", "ratio"], rows, texts=4)


def refused(found: Figures) -> str:
    rows = [[r["message"], r["status"], str(r["rows"])] for r in found.validation["refused"]]
    return table(["reason", "status", "rows"], rows, texts=2)


def mean_error(runs: list[dict], predicted: str, measured: str) -> str:
    if not runs:
        return "none"
    return percent(sum(abs(run[predicted] / run[measured] - 1) for run in runs) / len(runs))


def weight_of_doubtful(found: Figures) -> list[list[str]]:
    """Mean errors of all runs and of the groups that have doubtful ones, with and without these."""
    names = {row["id"] for row in found.doubtful}
    figures = (
        ("step time", found.timed, "source", "predicted_step_time_s", "measured_step_time_s"),
        ("peak memory", found.weighed, "mem_kind", "predicted_peak_mem_gib", "measured_peak_mem_gib"),
    )
    rows = []
    for what, runs, key, predicted, measured in figures:
        touched = sorted({run[key] for run in runs if run["id"] in names})
        for group in ["", *touched]:
            members = [run for run in runs if group in ("", run[key])]
            clean = [run for run in members if run["id"] not in names]
            means = [mean_error(chosen, predicted, measured) for chosen in (members, clean)]
            rows.append([f"{what}, {group or 'all'}", str(len(members)), means[0], str(len(clean)), means[1]])
    return rows


def doubtful(found: Figures) -> str:
    rows = [[row["id"], row["reason"]] for row in found.doubtful]
    return (
        f"Nothing is fitted on {len(rows)} runs, {percent(len(rows) / found.validation['counts']['rows'])} of all; their "
        "errors are in every figure above. What they weigh:\n\n"
        + table(["figure", "runs", "mean", "runs without them", "mean"], weight_of_doubtful(found))
        + "\n\n"
        + table(["run", "why"], rows, texts=2)
    )


def ships(found: Figures, parameter: dict) -> bool:
    """Whether the shipped profile says what the fit says: a stack of few runs takes another's figures instead."""
    profile = found.shipped.get(parameter["owner"])
    return profile is None or math.isclose(profile[parameter["key"]], parameter["value"], rel_tol=1e-3)


def parameters(found: Figures) -> str:
    narrowed = [p for p in found.fit["parameters"] if p["determined"]]
    told = [p for p in narrowed if ships(found, p)]
    unshipped = sorted({p["owner"] for p in narrowed if not ships(found, p)})
    rows = [
        [
            p["owner"],
            f"`{p['key']}`",
            p["meaning"],
            f"{p['prior']:.4g} ± {p['prior_spread']:.2g}",
            f"{p['value']:.4g} ± {p['spread']:.2g}",
            str(p["runs"]),
        ]
        for p in told
    ]
    by_hand = [[c["meaning"], f"`{c['file']}`", c["prior"], c["value"], c["spread"], c["told_by"]] for c in found.chosen]
    return (
        f"{len(told) + len(by_hand)} numbers are told by training runs: {len(told)} that the fit moves and "
        f"{len(by_hand)} chosen by hand. None belongs to a run, a model or a source. The fit frees what the runs narrow "
        f"by 12 % or more; the other {len(found.fit['parameters']) - len(narrowed)} numbers keep their priors "
        f"(scripts/fit/priors.json), and {len(narrowed) - len(told)} that it frees do not ship, since their stacks have "
        f"too few runs and take another's figures ({', '.join(unshipped)}). What an accelerator reaches of its data sheet in a kernel, and a link in a "
        "collective, was fitted on kernel timings and collective sweeps and no training run: see "
        "[models.md](models.md#where-parameters-come-from).\n\n"
        + table(["profile", "number", "meaning", "prior", "fitted", "runs"], rows, texts=3)
        + "\n\nChosen by hand, with all sources in sight, so that left-out errors are a little too kind to them:\n\n"
        + table(["meaning", "in", "prior", "value", "as good", "told by"], by_hand, texts=6)
    )


HOW = """\
```
scripts/calibrate YYYY-MM-DD   # fits catalogs/data/stack_profiles.json to tests/measured/runs, from the priors
scripts/build
scripts/accuracy               # writes this page
```

The tables are in [tests/measured/runs](../tests/measured/runs) and [tests/measured/users](../tests/measured/users), each
row with its source;
[validation.md](validation.md) explains the columns and figures. A test fails when an error rises above
[bounds.json](../tests/measured/bounds.json)."""


def render(found: Figures) -> str:
    sections = [
        ("How far off the predictions are", headline(found)),
        ("What users reported", users(found)),
        ("Tuned recipes", tuned(found)),
        ("Weak spots", weak_spots(found)),
        ("What was not fitted on", left_out(found)),
        ("Step time", step_time(found)),
        ("Choosing among alternatives", ranking(found)),
        ("Peak memory", memory(found)),
        ("Worst runs", worst(found)),
        ("Refused rows", refused(found)),
        ("Doubtful runs", doubtful(found)),
        ("What was fitted", parameters(found)),
        ("How this page is made", HOW),
    ]
    title, first = sections[0]
    text = f"# {title}\n\nMade by `scripts/accuracy`; not edited by hand.\n\n{first}\n"
    for heading, body in sections[1:]:
        text += f"\n## {heading}\n\n{body}\n"
    return text
