"""Templates of LLaMA-Factory by the models that it lists for each: the calls of register_model_group."""

import ast
import datetime
import json
import pathlib

from refresh_tables.llama_factory import version_of_package
from refresh_tables.sources import calls, literal, parsed
from refresh_tables.trl import folder_of

FILE = pathlib.Path(__file__).resolve().parents[2] / "catalogs/data/finetuning/llama_factory_templates.json"
ROWS = "llama_factory_templates"


def groups(source: pathlib.Path) -> dict[str, list[str]]:
    """Repositories of the hub by their template."""
    found: dict[str, list[str]] = {}
    for call in calls(parsed(source), "register_model_group"):
        words = {word.arg: word.value for word in call.keywords}
        models, template = words.get("models", call.args[0] if call.args else None), literal(words.get("template"))
        if template is None or not isinstance(models, ast.Dict):
            continue
        for places in (place for place in models.values if isinstance(place, ast.Dict)):
            hub = [literal(value) for key, value in zip(places.keys, places.values) if key.attr == "DEFAULT"]
            found.setdefault(template, []).extend(hub)
    return {template: sorted(set(models)) for template, models in sorted(found.items())}


def refreshed(check: bool) -> tuple[str, list[str]]:
    """The version that was read, and what has moved."""
    package = folder_of("llamafactory")
    version, read = version_of_package(package), groups(package / "extras/constants.py")
    old = json.loads(FILE.read_text(encoding="utf-8"))[ROWS] if FILE.exists() else []
    before = {(row["name"], model) for row in old for model in row["models"]}
    # What an earlier reading named stays: it may have been of sources that no release has yet.
    for template, model in before:
        read[template] = sorted({*read.get(template, []), model})
    now = {(template, model) for template, models in read.items() for model in models}
    lines = [f"+ {template}: {model}" for template, model in sorted(now - before)]
    if lines and not check:
        head = {"schema": "smplan.llama-factory-templates/1",
                "source": f"LLaMA-Factory {version}, extras/constants.py, the calls of register_model_group",
                "as_of": datetime.date.today().isoformat(),
                "note": "Repositories of the Hugging Face hub by the template that LLaMA-Factory lists them with. "
                        "Written by scripts/refresh."}
        rows = ",\n".join("    " + json.dumps({"name": name, "models": models}) for name, models in sorted(read.items()))
        start = json.dumps(head, indent=2)[:-2]
        FILE.write_text(f'{start},\n  "{ROWS}": [\n{rows}\n  ]\n}}\n', encoding="utf-8")
    return version, lines
