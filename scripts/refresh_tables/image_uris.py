"""Images that the SageMaker Python SDKs find by name: versions, Pythons, processors and the accounts of regions. SDK 3's
tables are laid over those of SDK 2: what one of them has is found."""

import datetime
import json
import pathlib
import re

from refresh_tables.sdk import DATA, ISOLATED, differing, folder_of

FILE = DATA / "images/image_uris.json"
FOLDERS = ("sagemaker/image_uri_config", "sagemaker/core/image_uri_config")
# Tables of other things than images.
NO_IMAGES = ("instance_gpu_info",)


def accounts_of(registries: dict) -> tuple:
    """Accounts with their regions, in a form that can be compared."""
    by_account: dict = {}
    for region, account in sorted(registries.items()):
        if not ISOLATED.match(region):
            by_account.setdefault(account, []).append(region)
    return tuple((account, tuple(regions)) for account, regions in sorted(by_account.items()))


def rows_of(version: str, found: dict, processors: list) -> list:
    """One version; Hugging Face has one for each version of its base below it, others one for each Python."""
    if "repository" in found:
        return [{"version": version, "pythons": found.get("py_versions", []), "repository": found["repository"],
                 "accounts": accounts_of(found["registries"]),
                 "processors": processors or found.get("processors", []), "tag": found.get("tag_prefix", "")}]
    inner = {name: one for name, one in found.items() if isinstance(one, dict) and name != "version_aliases"}
    if all(re.fullmatch(r"(pytorch|tensorflow)[\d.]+", name) for name in inner):
        aliases = found.get("version_aliases", {})
        return [{**row, "base": base, "base_aliases": sorted(key for key, full in aliases.items() if full == base)}
                for base, one in inner.items() for row in rows_of(version, one, processors)]
    return [{**row, "pythons": [python]} for python, one in inner.items() for row in rows_of(version, one, processors)]


def scopes_of(document: dict) -> list:
    """Each table of versions with the scopes that it is for."""
    if "versions" in document:
        return [(document.get("scope", []), document)]
    return [([scope], one) for scope, one in document.items() if isinstance(one, dict) and "versions" in one]


def read() -> dict:
    """By framework and scope: aliases, and rows by version, base and Python."""
    found: dict = {}
    for folder in FOLDERS:
        for file in sorted((folder_of(folder.rpartition("/")[0]) / "image_uri_config").glob("*.json")):
            if file.stem in NO_IMAGES:
                continue
            for scopes, one in scopes_of(json.loads(file.read_text(encoding="utf-8"))):
                table = found.setdefault((file.stem, " ".join(scopes)), {"aliases": {}, "rows": {}})
                table["aliases"].update(one.get("version_aliases", {}))
                for version, row in one["versions"].items():
                    for each in rows_of(version, row, one.get("processors", [])):
                        table["rows"][version, each.get("base", ""), " ".join(each["pythons"])] = each
    return found


def text_of(found: dict, source: str) -> str:
    accounts = sorted({row["accounts"] for table in found.values() for row in table["rows"].values()})
    places = {one: i for i, one in enumerate(accounts)}
    registries = ",\n".join("    " + json.dumps([{"account": account, "regions": list(regions)}
                                                for account, regions in one]) for one in accounts)
    tables = []
    for (framework, scopes), table in sorted(found.items()):
        rows = []
        for row in table["rows"].values():
            members = {key: row[key] for key in ("base", "base_aliases", "pythons", "processors", "tag", "repository")
                       if row.get(key)}
            rows.append("      " + json.dumps({"version": row["version"], **members, "registry": places[row["accounts"]]}))
        head = {"framework": framework, "scopes": scopes.split(), "aliases": table["aliases"]}
        tables.append(f'    {json.dumps(head)[:-1]}, "versions": [\n' + ",\n".join(rows) + "\n    ]}")
    head = {"schema": "smplan.images/1",
            "note": "What image_uris.retrieve() of the SageMaker Python SDKs 2 and 3 finds. `registry`: which of the "
                    "accounts above. Made by scripts/refresh sdk.",
            "source": source}
    words = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    return (f'{{\n{words}, "as_of": "{datetime.date.today().isoformat()}",\n  "registries": [\n{registries}\n  ],\n'
            '  "images": [\n' + ",\n".join(tables) + "\n  ]\n}\n")


def flat(document: dict) -> dict:
    out = {}
    for table in document["images"]:
        name = f"{table['framework']} {' '.join(table['scopes'])}"
        out[f"{name} aliases"] = table["aliases"]
        for row in table["versions"]:
            key = " ".join([name, row["version"], row.get("base", ""), *row.get("pythons", [])])
            out[key] = {**row, "registry": document["registries"][row["registry"]]}
    return out


def refreshed(versions: str, check: bool) -> list[str]:
    """What moved, in the words of table.moved(); written unless `check`."""
    text = text_of(read(), f"image_uri_config of {versions}")
    old = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"registries": [], "images": []}
    lines = differing("images", flat(old), flat(json.loads(text)))
    if lines and not check:
        pathlib.Path(FILE).parent.mkdir(exist_ok=True)
        FILE.write_text(text, encoding="utf-8")
    return lines
