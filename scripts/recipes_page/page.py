"""docs/recipes.md from the verdicts."""

from collections import Counter

from . import compare, mapping
from .compare import SAME_TIME, Verdict

HEAD = """# Published configurations

Written by `scripts/recipes`; do not edit. {rows} configurations that AWS publishes (tests/data/recipes.csv, each with
its source) against smplan's models. Each one that states its degrees is predicted as it stands, exported to the format
that it is written in, and compared with smplan's own fastest plan for the same model, instances, batch and number
format. Times are predictions on both sides.

Taken as stated, with these readings: where several instance types are allowed, ml.p5.48xlarge if it is among them, else
the first; training that states no recomputation recomputes in full; DPO counts as training of its method, without the
frozen reference model; SMP v2 configurations without tensor, context or expert parallelism are FSDP; several instances of a
distributed optimizer count as one.

"""


def percent(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})" if whole else "none"


def summary(found: list[Verdict]) -> str:
    asked = [v for v in found if v.plan]
    comparable = [v for v in asked if v.fits and v.best]
    text = "| question | answer |\n| --- | --- |\n"
    text += f"| fits in memory | {percent(sum(v.fits for v in asked), len(asked))} |\n"
    text += f"| has words in its own format | {percent(sum(v.expressible for v in asked), len(asked))} |\n"
    agree = sum(v.agrees for v in comparable)
    text += f"| our fastest plan is not faster by more than {SAME_TIME:.0%} | {percent(agree, len(comparable))} |\n"
    ratios = sorted(v.speedup for v in comparable)
    if ratios:
        text += f"| median of their step time over ours | {ratios[len(ratios) // 2]:.2f} |\n"
    slower = sum(v.speedup < 1 - SAME_TIME for v in comparable)
    text += f"| our fastest plan is slower by more than {SAME_TIME:.0%} | {percent(slower, len(comparable))} |\n"
    return text + "\n"


def left_out(found: list[Verdict]) -> str:
    counts = Counter(v.unmapped for v in found if v.unmapped)
    text = "## Not asked about\n"
    for reason, n in counts.most_common():
        text += f"- {n}: {reason}\n"
    for v in found:
        if v.refused:
            text += f"- {v.row['id']} ({title(v)}): {v.refused}\n"
    return text + "\n"


def title(v: Verdict) -> str:
    return v.row["path"].rsplit("/", 1)[-1].removesuffix(".yaml").removesuffix(".html").removesuffix(".ipynb")


def misfits(found: list[Verdict]) -> str:
    text = "## Said not to fit\n"
    over = [v for v in found if v.plan and not v.fits]
    if not over:
        return text + "None.\n\n"
    text += ("Likelier to run out of memory than not, while the allocator can still give back what it caches: a shipped "
             "configuration that a memory model refuses is a fault of the model until shown otherwise.\n\n")
    text += "| id | configuration | strategy | peak GiB | limit GiB | chance to run out | largest parts, GiB |\n| --- | --- | --- | ---: | ---: | ---: | --- |\n"
    for v in over:
        m = v.plan["memory"]
        parts = sorted(m["components_gib"].items(), key=lambda p: -p[1])[:3]
        text += (f"| {v.row['id']} | {title(v)} | {compare.shape(v.plan)} | {m['peak_gib']:.1f} | {m['limit_gib']:.1f} | {m['out_of_memory_probability']:.0%} | "
                 + ", ".join(f"{k} {g:.1f}" for k, g in parts) + " |\n")
    return text + "\n"


def readings(found: list[Verdict]) -> str:
    text = "## Read with what they leave open\n"
    read = [v for v in found if v.fits and v.reading]
    if not read:
        return text + "None.\n\n"
    text += "These fit only with something that neither they nor their source says, and that their software can do.\n\n"
    text += "| id | configuration | strategy | read with | peak GiB | chance to run out |\n| --- | --- | --- | --- | ---: | ---: |\n"
    for v in read:
        m = v.plan["memory"]
        text += (f"| {v.row['id']} | {title(v)} | {compare.shape(v.plan)} | {v.reading} | {m['peak_gib']:.1f} | "
                 f"{m['out_of_memory_probability']:.0%} |\n")
    return text + "\n"


def unexpressed(found: list[Verdict]) -> str:
    text = "## No words in its own format\n"
    lost = [v for v in found if v.plan and not v.expressible]
    if not lost:
        return text + "None.\n\n"
    for v in lost:
        text += f"- {v.row['id']} ({title(v)}): {v.why_not}\n"
    return text + "\n"


def comparison(found: list[Verdict]) -> str:
    text = ("## Theirs and ours\nStep times in seconds, peak in GiB. `why` names the parts of the step that the difference "
            "comes from.\n\n| id | configuration | on | theirs | step | peak | ours | step | theirs / ours | why |\n"
            "| --- | --- | --- | --- | ---: | ---: | --- | ---: | ---: | --- |\n")
    for v in found:
        if not (v.fits and v.best):
            continue
        why = "agree" if v.agrees else "; ".join(compare.reasons(v)) or "many small parts"
        on = f"{v.plan['instance_count']} x {v.plan['instance_type'].removeprefix('ml.')}"
        text += (f"| {v.row['id']} | {title(v)} | {on} | {compare.shape(v.plan)} | {v.plan['step_time_s']:.3g} | "
                 f"{v.plan['memory']['peak_gib']:.1f} | {compare.shape(v.best)} | {v.best['step_time_s']:.3g} | "
                 f"{v.speedup:.2f} | {why} |\n")
    return text + "\n"


def habits(found: list[Verdict]) -> str:
    """Where the disagreements come from, by what our plan does otherwise."""
    differ = [v for v in found if v.fits and v.best and not v.agrees and v.speedup > 1]
    counts = Counter()
    for v in differ:
        theirs, ours = v.plan, v.best
        if theirs["recompute"] == "full" and ours["recompute"] != "full":
            counts["we recompute less: the activations fit"] += 1
        if ours["stack"] == "megatron" and theirs["stack"] != "megatron":
            counts["we take Megatron where they take FSDP"] += 1
        if ours["micro_batch"] > theirs["micro_batch"]:
            counts["we take a larger micro-batch"] += 1
        if theirs["offload"] != "none" and ours["offload"] == "none":
            counts["we offload nothing"] += 1
        if theirs["sharding"]["degree"] > ours["sharding"]["degree"]:
            counts["we shard over fewer ranks"] += 1
        if mapping.finetune(v.row) != "full":
            counts["adapters: the published choice is one for all types of the list"] += 1
    text = f"## Where we differ\nOf the {len(differ)} where ours is predicted to be faster (several may hold for one):\n"
    for reason, n in counts.most_common():
        text += f"- {n}: {reason}\n"
    return text + "\n"


def render(found: list[Verdict]) -> str:
    return (HEAD.format(rows=len(found)) + summary(found) + habits(found) + misfits(found) + readings(found) + unexpressed(found) + left_out(found)
            + comparison(found)).rstrip() + "\n"
