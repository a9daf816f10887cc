"""The file of a framework's settings: what is in it, how a newer reading is laid over it, and what has moved."""

import dataclasses
import datetime
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "catalogs/data/frameworks"
SCHEMA = "smplan.framework/1"
# Of a row, in the order in which it is written.
KEYS = ("name", "also", "types", "items", "values", "free", "range", "open_with", "refused", "unless", "grows", "own", "min", "max", "above", "below", "pattern", "keys", "distinct", "case", "separated", "nargs", "required",
        "section", "section_of", "unlisted", "default", "filled", "deprecated", "replaced_by", "older", "after", "last")


def is_repr(word) -> bool:
    """Whether it is how Python shows an object (`<module 'torch.int4'>`), which no file holds."""
    return re.search(r"<[^<>]+ [^<>]+>", str(word)) is not None


@dataclasses.dataclass
class Section:
    """An object of the file. `reader`: how the library takes values; `unknown`: what it does with other keys."""
    path: str
    reader: str
    unknown: str
    fields: list = dataclasses.field(default_factory=list)
    auto: bool = False  # "auto" stands for a value that is filled in, or left out
    when: list = dataclasses.field(default_factory=list)  # of the whole file, where it has one of these keys
    same: list = dataclasses.field(default_factory=list)  # other paths that it is the section of
    sharing: bool = False  # with others of its kind that are equal
    open_when: list = dataclasses.field(default_factory=list)  # other keys may be right, where it has one of these
    like: str | None = None  # the section whose rows it shares
    off: str | None = None  # the switch in it that, where it is false, lets every other value pass

    def add(self, name: str, **members) -> None:
        if any(is_repr(word) for word in members.get("values") or ()):
            raise ValueError(f"a word of {name} is an object of Python: {members['values']}")
        row = {"name": name, **{key: list(value) if isinstance(value, tuple) else value
                                for key, value in members.items() if value is not None and value not in ([], (), "")}}
        if "default" in row and not plain(row["default"]):
            del row["default"]
        self.fields.append(row)


@dataclasses.dataclass
class Table:
    framework: str
    version: str
    source: str
    sections: list
    dated: bool = False  # rows say the newest version that did not list them yet: `after`


def plain(value) -> bool:
    """Whether JSON has it, and it is short enough to be told."""
    if isinstance(value, (list, tuple)):
        return all(plain(item) for item in value) and len(value) < 9
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    # Paths of the machine that reads are no defaults.
    return value is None or isinstance(value, (bool, int)) or isinstance(value, str) and "/" not in value


def numbers(version: str) -> tuple:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:4])


def shipped(framework: str) -> dict | None:
    file = FOLDER / f"{framework}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def sorted_row(row: dict) -> dict:
    return {key: row[key] for key in KEYS if key in row}


def words_gone(row: dict) -> dict:
    """Words that the newest version no longer takes, and the version that took each last."""
    return {one["word"]: one["last"] for one in row.get("older", [])}


def either(new: dict, old: dict, last: str | None) -> dict:
    """A row of two versions: the newer one, with the words that only the older one took, and what took them last."""
    if "after" in old and "after" not in new:
        new = sorted_row({**new, "after": old["after"]})
    if "values" not in new or "values" not in old:
        return new
    words = list(dict.fromkeys([*new["values"], *old["values"]]))
    if set(words) == set(old["values"]):
        words = old["values"]  # another order is no movement
    lasts = {**words_gone(old), **words_gone(new)}
    newest = set(new["values"]) - words_gone(new).keys()
    for word in set(old["values"]) - words_gone(old).keys() - newest:
        lasts[word] = max(lasts.get(word), last, key=lambda version: numbers(version or "0"))
    older = [{"word": word, "last": lasts[word]} for word in words if word not in newest and lasts.get(word)]
    row = {key: value for key, value in new.items() if key != "older"}
    return sorted_row({**row, "values": words, **({"older": older} if older else {})})


def came_later(rows: dict, older: dict, version: str) -> None:
    """Marks what an older version did not list."""
    for name, row in rows.items():
        lacks = name not in older or older[name].get("unlisted")
        if lacks and "unlisted" not in row and "last" not in row and numbers(row.get("after", "0")) < numbers(version):
            rows[name] = sorted_row({**row, "after": version})


def laid_over(old: dict | None, table: Table) -> dict:
    """The reading over the shipped file. What only an older version has stays, with the last version that had it."""
    newer = old is None or numbers(table.version) >= numbers(old["version"])
    version = table.version if newer else old["version"]
    sections = {path: {"path": path, "reader": s.reader, "unknown": s.unknown, "auto": s.auto, "when": s.when,
                       "open_when": s.open_when, **({} if s.like is None else {"like": s.like}),
                       **({} if s.off is None else {"off": s.off}),
                       "sharing": s.sharing, "fields": {row["name"]: sorted_row(row) for row in s.fields}}
                for s in table.sections for path in (s.path, *s.same)}
    for section in expanded((old or {}).get("sections", [])):
        rows = {row["name"]: row for row in section["fields"]}
        read = sections.get(section["path"])
        if read is None:
            sections[section["path"]] = {**section, "fields": rows}
            continue
        if newer:
            gone = old["version"] if old["version"] != table.version else None
            kept = {name: sorted_row({**row, "last": row.get("last", gone)}) for name, row in rows.items()
                    if name not in read["fields"] and row.get("last", gone)}
            same = {name: either(row, rows[name], gone) for name, row in read["fields"].items() if name in rows}
            read["fields"] = {**read["fields"], **same, **kept}
            if table.dated and gone:
                came_later(read["fields"], rows, gone)
        else:
            added = {name: sorted_row({**row, "last": table.version}) for name, row in read["fields"].items()
                     if name not in rows or (rows[name].get("last") and
                                             numbers(rows[name]["last"]) < numbers(table.version))}
            same = {name: either(row, read["fields"][name], table.version) for name, row in rows.items()
                    if name in read["fields"]}
            sections[section["path"]] = {**section, "fields": {**rows, **same, **added}}
            if table.dated:
                came_later(sections[section["path"]]["fields"], read["fields"], table.version)
    return {"schema": SCHEMA, "framework": table.framework, "version": version,
            "source": table.source if newer else old["source"],
            "as_of": datetime.date.today().isoformat(),
            "sections": likened(shared([{**section, "fields": sorted(section["fields"].values(), key=lambda row: row["name"])}
                                        for _, section in sorted(sections.items())]))}


def text_of(document: dict) -> str:
    head = ",\n".join(f"  {json.dumps(key)}: {json.dumps(document[key])}"
                      for key in ("schema", "framework", "version", "source", "as_of"))
    sections = []
    for section in document["sections"]:
        members = {key: section[key] for key in ("path", "reader", "unknown")}
        if section.get("auto"):
            members["auto"] = True
        members.update({key: section[key] for key in ("sharing", "same", "when", "open_when") if section.get(key)})
        members.update({key: section[key] for key in ("like", "names", "off") if key in section})
        start = json.dumps(members)[:-1]
        rows = ",\n".join("      " + json.dumps(row) for row in section["fields"])
        sections.append(f'    {start}, "fields": [\n{rows}\n    ]}}')
    body = ",\n".join(sections)
    return f'{{\n{head},\n  "sections": [\n{body}\n  ]\n}}\n'


def likened(sections: list) -> list:
    """Rows that stand in the section which another is like are only named there."""
    by_path = {section["path"]: {row["name"]: row for row in section["fields"]} for section in sections}
    out = []
    for section in sections:
        rows = by_path.get(section.get("like"))
        if rows is None:
            out.append(section)
            continue
        same = [row["name"] for row in section["fields"] if rows.get(row["name"]) == row]
        out.append({**section, "names": same, "fields": [row for row in section["fields"] if row["name"] not in same]})
    return out


def in_full(sections: list) -> list:
    """With the rows of the sections that they are like."""
    by_path = {section["path"]: {row["name"]: row for row in section["fields"]} for section in sections}
    return [section if section.get("like") is None else
            {**section, "fields": [*section["fields"], *(by_path[section["like"]][name] for name in section["names"])]}
            for section in sections]


def expanded(sections: list) -> list:
    """A section for each path: some share theirs."""
    return [{key: value for key, value in {**section, "path": path, "same": []}.items() if key != "names"}
            for section in in_full(sections) for path in (section["path"], *section.get("same", []))]


def shared(sections: list) -> list:
    """Of those that are equal but for their path after a colon, the first, with the others' paths."""
    found: dict = {}
    for section in sections:
        space = section["path"].partition(":")[0]
        rest = {key: value for key, value in section.items() if key not in ("path", "same")}
        alone = ":" not in section["path"] or not section.get("sharing")
        key = section["path"] if alone else f"{space}:{json.dumps(rest)}"
        if key in found:
            found[key]["same"].append(section["path"])
        else:
            found[key] = {**section, "same": []}
    return list(found.values())


def rows_of(document: dict | None) -> dict:
    return {(section["path"], row["name"]): row for section in expanded((document or {}).get("sections", []))
            for row in section["fields"]}


def moved(old: dict | None, new: dict) -> list[str]:
    """What differs between two files, a line each: settings added, gone or changed, with what changed of them."""
    before, after = rows_of(old), rows_of(new)
    unknown, now = ({section["path"]: section["unknown"] for section in expanded((document or {}).get("sections", []))
                     if "unknown" in section} for document in (old, new))
    lines = [f"~ {path or 'the file'}: unknown {unknown[path]} -> {now[path]}"
             for path in sorted(unknown.keys() & now.keys()) if unknown[path] != now[path]]
    for key in sorted(before.keys() | after.keys()):
        name = ".".join(part for part in key if part)
        if key not in before:
            lines.append(f"+ {name} {json.dumps(after[key])}")
        elif key not in after:
            lines.append(f"- {name}")
        else:
            pairs = ((member, before[key].get(member), after[key].get(member)) for member in KEYS)
            lines += [f"~ {name}: {member} {json.dumps(old_value)} -> {json.dumps(new_value)}"
                      for member, old_value, new_value in pairs if old_value != new_value]
    return lines
