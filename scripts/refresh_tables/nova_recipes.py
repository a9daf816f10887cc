"""Values that the recipes of Nova models list in the comments of their settings, and beside them those that the launcher
lets SageMaker's page choose; of all recipes of a model together."""

import datetime
import json
import pathlib
import re

from refresh_tables.hyperpod_recipe import commit_of, repository

FILE = pathlib.Path(__file__).resolve().parents[2] / "catalogs/data/hyperpod/nova_recipes.json"
ROWS = "nova_recipes"
FOLDERS = ("recipes_collection/recipes/fine-tuning/nova", "recipes_collection/recipes/training/nova")
TEMPLATES = "launcher/recipe_templatization/nova/nova_recipe_template_parameters.json"
SETTING = re.compile(r"^( *)([a-z_]+):\s*([^#\s]*)\s*(?:#(.*))?$")
# `{2, 4, 8}`, `allowed values are 16, 32 and 64`, `(options: 32, 64)`, `(16/32/64)`.
LISTED = re.compile(r"\{([\d, ]+)\}|[Aa]llowed values? (?:are|is) ([\d, and]+)|\(options: ([\d, ]+)\)|\(([\d/]+)\)")


def settings_of(text: str):
    """Path, value and comment of each line that has all three."""
    above: list[tuple[int, str]] = []
    for indent, name, value, comment in (found.groups() for found in map(SETTING.match, text.splitlines()) if found):
        above = [(depth, key) for depth, key in above if depth < len(indent)] + [(len(indent), name)]
        if value and comment:
            yield ".".join(key for _, key in above), value, comment


def limits_of(template: dict, parameters: dict, path: str = ""):
    """Path and limits of each setting of a template, whose values are names of parameters: `{{replicas}}`."""
    for name, value in template.items():
        where = f"{path}.{name}" if path else name
        if isinstance(value, dict):
            yield from limits_of(value, parameters, where)
        else:
            yield where, parameters.get(value.strip("{}"), {})


def allowed(limits: dict, variants: list[str], models: dict[str, str]):
    """Models and the values that a limit allows them: by the recipe's name, by the model's, or for all of a template."""
    conditions = limits.get("conditional_constraints", {}).get("enum", {})
    for key in ("Name", "Model_ID"):
        if key in conditions:
            return [(models[name], values) for name, values in conditions[key].items() if name in models]
    return [(models[name], limits.get("enum", [])) for name in variants if name in models]


def read(root: pathlib.Path) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], set[int]] = {}
    models = {"nova-textgeneration-lite-v2": "nova-2-lite"}
    for file in sorted(one for folder in FOLDERS for one in (root / folder).rglob("*.yaml")):
        text = file.read_text(encoding="utf-8")
        named = re.search(r"model_type: \S*?amazon\.(nova-(?:\d-)?[a-z]+)", text)
        if not named:
            continue
        models[file.stem] = named[1]
        models.setdefault(named[1].replace("nova-", "nova-textgeneration-"), named[1])
        for path, value, comment in settings_of(text):
            listed = LISTED.search(comment)
            if listed and value.isdigit():
                numbers = re.findall(r"\d+", next(one for one in listed.groups() if one))
                found.setdefault((named[1], path), set()).update(map(int, [value, *numbers]))
    for template in json.loads((root / TEMPLATES).read_text(encoding="utf-8"))["templates"].values():
        variants = list(template["recipe_metadata_helpers"].get("model_variants", {}))
        for path, limits in limits_of(template["recipe_template"], template["recipe_override_parameters"]):
            for model, values in allowed(limits, variants, models):
                if (model, path) in found:
                    found[model, path].update(values)
    return {key: sorted(values) for key, values in sorted(found.items())}


def refreshed(check: bool) -> tuple[str, list[str]]:
    """The commit that was read, and what has moved."""
    root = repository(FOLDERS[0])
    rows, version = read(root), commit_of(root)
    old = json.loads(FILE.read_text(encoding="utf-8"))[ROWS] if FILE.exists() else []
    before = {(row["model"], row["setting"]): row["values"] for row in old}
    lines = [f"{'+' if key not in before else '-' if key not in rows else '~'} {key[0]}: {key[1]}: {rows.get(key)}"
             for key in sorted(before.keys() | rows.keys()) if before.get(key) != rows.get(key)]
    if lines and not check:
        head = {"schema": "smplan.hyperpod/1",
                "source": f"aws/sagemaker-hyperpod-recipes ({version}), comments of recipes/fine-tuning/nova and "
                          f"recipes/training/nova, and {TEMPLATES}",
                "as_of": datetime.date.today().isoformat(),
                "note": "Values that Nova's recipes list for a setting, of all recipes of a model together: which of them "
                        "holds depends on the technique and the instances. Written by scripts/refresh."}
        body = ",\n".join("    " + json.dumps({"model": model, "setting": setting, "values": values})
                          for (model, setting), values in rows.items())
        FILE.write_text(f'{json.dumps(head, indent=2)[:-2]},\n  "{ROWS}": [\n{body}\n  ]\n}}\n', encoding="utf-8")
    return version, lines
