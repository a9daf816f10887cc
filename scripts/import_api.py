#!/usr/bin/env python3
"""Writes what SageMaker's API takes, out of botocore's model: catalogs/data/sagemaker/request_fields.json (the members of
a CreateTrainingJob request), training_types.json (the instance types of training), cluster_types.json (those of
HyperPod's clusters) and regions.json (the regions that have SageMaker, but for those of secret clouds).

Usage: scripts/import_api.py [--check]      with botocore installed: the version found is the source
       --check writes nothing, says which rows differ from the model, and ends with 1 where any does; with 2 where
       botocore cannot be read

Instance types that an earlier source named stay: SDKs of other languages have known some first.
"""

import datetime
import json
import pathlib
import re
import sys

# Enumerations of instance types, and the key of each in its file.
TYPES = {"TrainingInstanceType": "training_types", "ClusterInstanceType": "cluster_types"}
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "catalogs/data/sagemaker"
# Optional in the model, for serverless customization alone.
UNLESS_SERVERLESS = ("AlgorithmSpecification", "ResourceConfig", "StoppingCondition")
ANY_TEXT = (".*", ".+", "[\\s\\S]*", "[\\S\\s]*")
# What DescribeTrainingJob returns in a structure that both share.
READ_ONLY = "isn't accepted in CreateTrainingJob requests"


def numbers_of(shape) -> list:
    """Of a number, the values that its documentation alone lists."""
    text = re.sub("<[^>]*>", "", shape.documentation or "")
    listed = re.search(r"Available values are ([^.]*)", text) if shape.type_name in ("integer", "long") else None
    return re.findall(r"(?<![\w(])\d+\b", listed.group(1)) if listed else []


def row(path: str, shape, required: bool) -> dict:
    limits = shape.metadata
    out = {"path": path, "type": shape.type_name}
    if path in UNLESS_SERVERLESS:
        out["required_unless_serverless"] = True
    elif required:
        out["required"] = True
    out.update({key: limits[key] for key in ("min", "max") if key in limits})
    pattern = limits.get("pattern", ".*").replace("\\p{Alnum}", "a-zA-Z0-9")
    # Other Unicode classes and looking behind are not in ECMAScript.
    if pattern not in ANY_TEXT and "\\p{" not in pattern and "(?<" not in pattern:
        out["pattern"] = pattern
    if getattr(shape, "enum", None) and not path.endswith("InstanceType"):  # those are a list of their own
        out["values"] = list(shape.enum)
    elif numbers_of(shape):
        out["values"] = numbers_of(shape)
    return out


def walk(path: str, shape, required: bool) -> list:
    rows = [row(path, shape, required)]
    if shape.type_name == "structure":
        rows += members(shape, path + ".")
    elif shape.type_name == "list":
        rows += walk(path + "[]", shape.member, False)
    elif shape.type_name == "map":
        rows += walk(path + "<key>", shape.key, False) + walk(path + "<value>", shape.value, False)
    return rows


def members(shape, prefix: str = "") -> list:
    return [r for name, member in shape.members.items() if READ_ONLY not in re.sub("<[^>]*>", "", member.documentation)
            for r in walk(prefix + name, member, name in shape.required_members)]


def lines_of(names: list, width: int = 116) -> str:
    lines, line = [], "   "
    for i, name in enumerate(names):
        word = f' "{name}"' + ("," if i + 1 < len(names) else "")
        if len(line) + len(word) > width:
            lines.append(line)
            line = "   "
        line += word
    return "\n".join(lines + [line])


def fields_text(model: str, old: dict, rows: list, date: str) -> str:
    head = {"schema": old["schema"], "note": old["note"], "source": f"{model}, CreateTrainingJobRequest", "as_of": date}
    body = ",\n".join("    " + json.dumps(r) for r in rows)
    words = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in head.items() if k != "as_of")
    return f'{{\n{words}, "as_of": "{date}",\n  "fields": [\n{body}\n  ]\n}}\n'


def regions_of(session) -> list:
    return sorted(region for partition in session.get_available_partitions() if "-iso" not in partition
                  for region in session.get_available_regions("sagemaker", partition))


def types_text(model: str, shape: str, key: str, names: list, date: str) -> str:
    return (f'{{\n  "schema": "smplan.sagemaker/1",\n  "source": "{model}, {shape}", "as_of": "{date}",\n'
            f'  "{key}": [\n{lines_of(names)}\n  ]\n}}\n')


def moved(before: list, after: list) -> list:
    """A line for each row that came, went or changed."""
    old, new = ({row["path"]: row for row in rows} for rows in (before, after))
    lines = []
    for path in sorted(old.keys() | new.keys()):
        if path not in old:
            lines.append(f"+ {path} {json.dumps(new[path])}")
        elif path not in new:
            lines.append(f"- {path}")
        elif old[path] != new[path]:
            keys = [key for key in {**old[path], **new[path]} if old[path].get(key) != new[path].get(key)]
            lines += [f"~ {path}: {key} {json.dumps(old[path].get(key))} -> {json.dumps(new[path].get(key))}"
                      for key in keys]
    return lines


def main() -> int:
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        import botocore.session

        session = botocore.session.get_session()
        service = session.get_service_model("sagemaker")
        rows = members(service.operation_model("CreateTrainingJob").input_shape)
        listed = {key: set(service.shape_for(shape).enum) for shape, key in TYPES.items()}
        listed["regions"] = set(regions_of(session))
    except Exception as fault:  # whatever a library does that is not as it was
        print(f"sagemaker: not read, {type(fault).__name__}: {fault}: its files stay as they are")
        return 2
    model = f"botocore {botocore.__version__}, sagemaker/2017-07-24/service-2.json"
    fields = FOLDER / "request_fields.json"
    old_fields = json.loads(fields.read_text(encoding="utf-8"))
    old_types = {key: json.loads((FOLDER / f"{key}.json").read_text(encoding="utf-8"))[key] for key in listed}
    drift = [*moved(old_fields["fields"], rows),
             *(f"+ {key} {name}" for key, names in listed.items() for name in sorted(names - set(old_types[key])))]
    print(f"sagemaker: read of botocore {botocore.__version__}, "
          + (f"{len(drift)} moved" if drift else "nothing has moved"))
    print("".join(f"  {line}\n" for line in drift), end="")
    if sys.argv[1:] or not drift:
        return 1 if drift else 0
    date = datetime.date.today().isoformat()
    fields.write_text(fields_text(model, old_fields, rows, date), encoding="utf-8")
    for shape, key in {**TYPES, "SageMaker's regions": "regions"}.items():
        names = sorted(listed[key] | set(old_types[key]))
        (FOLDER / f"{key}.json").write_text(types_text(model, shape, key, names, date), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
