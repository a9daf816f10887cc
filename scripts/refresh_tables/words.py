"""Words that a library looks up when it runs, though its settings are plain texts: registries, lists and comparisons in
its sources. Nothing is imported."""

import ast
import json
import pathlib

from refresh_tables.sources import calls, keywords, last_name, literal, parsed

TABLES = pathlib.Path(__file__).resolve().parents[2] / "catalogs/data/frameworks"


def assigned(file: pathlib.Path, name: str) -> ast.AST | None:
    """What a module, or a class of it, assigns to a name."""
    for node in ast.walk(parsed(file)):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if last_name(target) == name and getattr(node, "value", None) is not None:
            return node.value
    return None


def keys_of(file: pathlib.Path, name: str) -> list:
    """Keys of a dictionary that is assigned to a name."""
    value = assigned(file, name)
    return [literal(key) for key in value.keys if key is not None] if isinstance(value, ast.Dict) else []


def compared(file: pathlib.Path, name: str) -> list:
    """Texts that a module compares a variable or a member of this name with; none where it does not raise over others."""
    raised = [one for node in ast.walk(parsed(file)) if isinstance(node, ast.Raise) for one in ast.walk(node)
              if isinstance(one, ast.FormattedValue) and last_name(one.value) == name]
    if not raised:
        return []
    found: dict = {}
    for node in ast.walk(parsed(file)):
        asked = isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.In, ast.NotIn))
        if asked and last_name(node.left) == name:
            words = literal(node.comparators[0])
            found.update({word: None for word in ([words] if isinstance(words, str) else words or ())
                          if isinstance(word, str)})
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In) and last_name(node.comparators[0]) == name:
            word = literal(node.left)
            found.update({word: None} if isinstance(word, str) else {})
    return list(found)


def listed(file: pathlib.Path, name: str) -> list:
    """Texts of lists that a module looks a variable or a member of this name up in."""
    found = [literal(node.comparators[0]) for node in ast.walk(parsed(file)) if isinstance(node, ast.Compare)
             and last_name(node.left) == name and isinstance(node.ops[0], ast.In)]
    return list(dict.fromkeys(word for words in found for word in words or () if isinstance(word, str)))


def registered(file: pathlib.Path, function: str, argument: str) -> list:
    """What calls of a function give for an argument, in order."""
    given = (keywords(call).get(argument) for call in calls(parsed(file), function))
    return [literal(value) for value in given if isinstance(literal(value), str)]


def attention(transformers: pathlib.Path) -> list:
    """transformers' registry, and what stands beside it."""
    words = keys_of(transformers / "modeling_utils.py", "_global_mapping")
    plain = [word for word in words if "|" not in word]
    return ["eager", *plain, *(f"paged|{word}" for word in ("eager", *plain))] if words else []


def reporters(transformers: pathlib.Path) -> list:
    words = keys_of(transformers / "integrations/integration_utils.py", "INTEGRATION_TO_CALLBACK")
    return [*words, "all", "none"] if words else []


def row_of(framework: str, section: str, name: str) -> dict:
    """Of a table that is there already: words of a library that another one hands on to it."""
    document = json.loads((TABLES / f"{framework}.json").read_text(encoding="utf-8"))
    rows = next(one["fields"] for one in document["sections"] if one["path"] == section)
    return next(row for row in rows if row["name"] == name)


def fsdp_rows(section) -> None:
    """Of TrainingArguments.fsdp_config, words that accelerate takes."""
    for name in ("auto_wrap_policy", "backward_prefetch", "state_dict_type"):
        row = row_of("accelerate", "fsdp_config", f"fsdp_{name}")
        section.add(name, also=[f"fsdp_{name}"], types=row["types"], values=row["values"], case=row["case"])


def of_trainer(rows: list, transformers: pathlib.Path) -> None:
    """TrainingArguments' texts, and the model's, that transformers looks up."""
    words = {"attn_implementation": {"values": attention(transformers), "open_with": "/"},
             "report_to": {"values": reporters(transformers)}}
    for row in rows:
        given = words.get(row["name"], {})
        if given.get("values"):
            row.update(given)
