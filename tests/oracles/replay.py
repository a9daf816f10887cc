"""A table of job configurations, some right and some wrong, against a real SDK and against `smplan check`.

Each wrong row of a table is a change (a JSON merge patch) to a configuration that is right. The SDK gets both and must
do what the row states; `smplan check` must name the row's rules on the changed job, and neither them nor any error on
the right one: so it is the change that is found, whether or not the SDK says a word.
"""

import json
import pathlib
import subprocess
import tempfile

from corpus import Report, changed

VERDICTS = ("accepted", "dropped", "refused")


def at(request, pointer: str):
    for key in pointer.strip("/").split("/"):
        request = request.get(key) if isinstance(request, dict) else None
    return request


def sent_faults(row: dict, request: dict, launchers: list[str]) -> list[str]:
    """A request that went out, against what the row says of it."""
    out = []
    if launchers != sorted(row["launchers"]):
        out.append(f"the request's launchers are {launchers}, the table's {row['launchers']}")
    text = json.dumps(request)
    out += [f"{word!r} is in the request, and was to be lost" for word in row.get("lost", []) if word in text]
    for pointer, value in row.get("sends", {}).items():
        if at(request, pointer) != value:
            out.append(f"the request has {at(request, pointer)!r} at {pointer}, the table {value!r}")
    return out


def sdk_faults(row: dict, sdk) -> list[str]:
    try:
        request = sdk.launch(row["job"])
    except Exception as fault:  # whatever the SDK raises is its refusal
        said = " ".join(f"{type(fault).__name__}: {fault}".split())
        if row["sdk"] != "refused":
            return [f"the SDK refuses what it is said to have {row['sdk']}: {said[:300]}"]
        return [] if row["says"] in said else [f"the SDK refuses for another reason than {row['says']!r}: {said[:300]}"]
    if row["sdk"] == "refused":
        return [f"the SDK accepts what it is said to refuse; launchers {sdk.launchers(request)}"]
    return sent_faults(row, request, sdk.launchers(request))


def findings(smplan: str, job: dict, kind: str) -> dict[str, str]:
    """Severity by rule; information is no finding that holds a job up."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "job.json"
        file.write_text(json.dumps(job), encoding="utf-8")
        done = subprocess.run([smplan, "check", "--kind", kind, "--format", "json", str(file)],
                              capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"smplan check ends with {done.returncode}: {done.stderr}")
    return {f["rule"]: f["severity"] for f in json.loads(done.stdout)["findings"] if f["severity"] != "info"}


def check_faults(row: dict, found: dict[str, str], of_right: dict[str, str]) -> list[str]:
    out = [f"check does not report {rule}, only {sorted(found)}" for rule in row["rules"] if rule not in found]
    out += [f"check reports {rule} on {row['of']} too" for rule in row["rules"] if rule in of_right]
    errors = sorted(rule for rule, severity in found.items() if severity == "error" and rule not in row["rules"])
    return out + ([f"check reports errors {errors} that the table does not know"] if errors else [])


def replay(title: str, smplan: str, path: str, sdk, kind: str, least: int) -> int:
    """Every row of the table; `sdk` launches a job (its request, or what it raises) and names a request's launchers."""
    table = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    report = Report(title, "configurations")
    counts = dict.fromkeys(VERDICTS, 0)
    of_right = {}
    for row in table["right"]:
        report.judged += 1
        entry = {"target": "right", "case": row["name"]}
        found = of_right[row["name"]] = findings(smplan, row["job"], kind)
        row = {**row, "sdk": "accepted", "rules": [], "of": row["name"]}
        for text in sdk_faults(row, sdk) + check_faults(row, found, {}):
            report.fault(entry, text)
    right = {row["name"]: row for row in table["right"]}
    for row in table["wrong"]:
        report.judged += 1
        counts[row["sdk"]] += 1
        of = right[row["of"]]
        row = {"launchers": of["launchers"], **row, "job": changed(of["job"], row["change"])}
        entry = {"target": row["sdk"], "case": row["name"]}
        if row["sdk"] == "dropped" and row["launchers"] and "lost" not in row:
            report.fault(entry, "the row does not say what is dropped")
        for text in sdk_faults(row, sdk) + check_faults(row, findings(smplan, row["job"], kind), of_right[row["of"]]):
            report.fault(entry, text)
        if not row["rules"]:
            report.fault(entry, "no rule is expected: the row shows nothing")
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()), f"and {len(right)} right")
    return report.finish(least)
