#!/usr/bin/env python3
"""scripts/refresh on libraries that are made up here: it must name whatever moved, and end with its status. No network.

Usage: refresh_test.py SOURCE
"""

import enum
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path()
TYPES = {"boolean": "bool", "integer": "int", "number": "float", "string": "str", "list": "list", "object": "dict",
         "null": "None"}


def annotation(row: dict) -> str:
    if row.get("values") and not row.get("items") and not row.get("own"):
        words = [int(word) if "integer" in row["types"] else word for word in row["values"]]
        return f"Literal[{', '.join(map(repr, words))}]" + (" | None" if "null" in row["types"] else "")
    kinds = []
    for kind in row["types"]:
        inside = " | ".join(TYPES[item] for item in row.get("items", []))
        if kind == "list" and row.get("values"):
            inside = f"Literal[{', '.join(map(repr, row['values']))}]"
        kinds.append(f"list[{inside}]" if kind == "list" and inside else TYPES.get(kind, "Any"))
    return " | ".join(kinds)


def class_of(path: str) -> str:
    return "JobConfig" if not path else "".join(word.title().replace("_", "") for word in path.split("."))


def job_config(table: dict) -> str:
    """TorchTitan's module of a table: a dataclass for each section, the innermost first."""
    out = ["from dataclasses import dataclass, field", "from typing import Any, Literal"]
    for section in sorted(table["sections"], key=lambda one: -len(one["path"].split(".")) if one["path"] else 1):
        rows = [row for row in section["fields"] if "last" not in row]
        if section["path"] and not rows or ":" in section["path"]:  # a model's own, which no class has
            continue
        out += ["", "", "@dataclass", f"class {class_of(section['path'])}:"]
        for row in rows or [{}]:
            if not row:
                out.append("    pass")
            elif "section" in row:
                made = class_of(row["section"])
                out.append(f"    {row['name']}: {made} = field(default_factory={made})")
            else:
                out.append(f"    {row['name']}: {annotation(row)} = field(default_factory=lambda: {row.get('default')!r})")
    return "\n".join(out) + "\n"


class Refresh(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name, "project")
        for name in ("scripts", "catalogs/data"):
            shutil.copytree(SOURCE / name, self.root / name, ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / "tests/oracles").mkdir(parents=True)
        shutil.copy(SOURCE / "tests/oracles/stand_in.py", self.root / "tests/oracles")
        self.file = self.root / "catalogs/data/frameworks/torchtitan.json"
        self.table = json.loads(self.file.read_text())
        for section in self.table["sections"]:  # what older versions had is no part of a reading
            section["fields"] = [row for row in section["fields"] if "last" not in row]
        self.file.write_text(json.dumps(self.table))
        self.library = pathlib.Path(folder.name, "library")
        (self.library / "torchtitan/config").mkdir(parents=True)
        (self.library / "assets").mkdir()

    def section(self, path: str) -> list:
        return next(one["fields"] for one in self.table["sections"] if one["path"] == path)

    def row(self, path: str, name: str) -> dict:
        return next(row for row in self.section(path) if row["name"] == name)

    def refresh(self, *arguments, version="0.2.2"):
        (self.library / "torchtitan/config/job_config.py").write_text(job_config(self.table))
        (self.library / "assets/version.txt").write_text(version)
        self.write_models()
        done = subprocess.run([sys.executable, "-B", self.root / "scripts/refresh", *arguments], capture_output=True,
                              text=True, timeout=120, env={**os.environ, "PYTHONPATH": ""})
        return done.returncode, done.stdout.splitlines(), done.stderr

    def write_models(self):
        models = {section["path"].partition(":")[2]: section for section in self.table["sections"] if ":" in section["path"]}
        experiments = [word for word in self.row("model", "name")["values"] if word not in models]
        for folder, name, words in (("models", "_supported_models", list(models)),
                                    ("experiments", "_supported_experiments", experiments)):
            (self.library / "torchtitan" / folder).mkdir(exist_ok=True)
            (self.library / "torchtitan" / folder / "__init__.py").write_text(f"{name} = frozenset({words})\n")
        for path, name, words in (("components/optimizer.py", "optimizer_classes", self.row("optimizer", "name")["values"]),
                                  ("hf_datasets/text_datasets.py", "DATASETS", self.row("training", "dataset")["values"])):
            file = self.library / "torchtitan" / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"{name} = {{{', '.join(f'{word!r}: 1' for word in words)}}}\n")
        for name, section in models.items():
            flavors = next(row for row in section["fields"] if row["name"] == "flavor").get("values", [])
            folder = self.library / "torchtitan/models" / name
            folder.mkdir(exist_ok=True)
            (folder / "__init__.py").write_text(f"{name}_args = {{{', '.join(f'{word!r}: 1' for word in flavors)}}}\n")

    def test_says_nothing_of_what_is_the_same(self):
        status, lines, said = self.refresh("--check", f"torchtitan={self.library}")
        self.assertEqual((status, lines), (0, ["torchtitan: read of version 0.2.2, nothing has moved"]), said)

    def test_names_all_that_moved_and_writes_it(self):
        self.section("training").append({"name": "warp_speed", "types": ["integer"], "default": 9})
        self.section("training")[:] = [row for row in self.section("training") if row["name"] != "seq_len"]
        mode = self.row("activation_checkpoint", "mode")
        gone = mode["values"].pop(0)
        mode["values"].append("psychic")
        self.row("optimizer", "lr")["default"] = 0.5
        self.row("metrics", "log_freq")["types"] = ["string"]
        before = self.file.read_text()
        wanted = [
            "torchtitan: read of version 0.2.3, 6 moved",
            f'  ~ activation_checkpoint.mode: values {json.dumps([gone, *mode["values"][:-1]])} -> '
            f'{json.dumps([*mode["values"], gone])}',
            f'  ~ activation_checkpoint.mode: older null -> [{{"word": "{gone}", "last": "0.2.2"}}]',
            '  ~ metrics.log_freq: types ["integer"] -> ["string"]',
            "  ~ optimizer.lr: default 0.0008 -> 0.5",
            '  ~ training.seq_len: last null -> "0.2.2"',
            '  + training.warp_speed {"name": "warp_speed", "types": ["integer"], "default": 9}',
        ]
        status, lines, said = self.refresh("--check", f"torchtitan={self.library}", version="0.2.3")
        self.assertEqual((status, lines), (1, wanted), said)
        self.assertEqual(self.file.read_text(), before)
        status, lines, said = self.refresh(f"torchtitan={self.library}", version="0.2.3")
        self.assertEqual((status, lines), (0, wanted), said)
        status, lines, said = self.refresh("--check", f"torchtitan={self.library}", version="0.2.3")
        self.assertEqual((status, lines), (0, ["torchtitan: read of version 0.2.3, nothing has moved"]), said)

    def test_says_what_it_cannot_read(self):
        for name, text in (("none", None), ("broken", "class JobConfig(:\n"), ("other", "class Config:\n    pass\n")):
            folder = pathlib.Path(self.library.parent, name)
            (folder / "torchtitan/config").mkdir(parents=True)
            if text is not None:
                (folder / "torchtitan/config/job_config.py").write_text(text)
            with self.subTest(name):
                status, lines, said = self.refresh("--check", f"torchtitan={folder}")
                self.assertEqual(status, 2, said)
                self.assertRegex(lines[0], "^torchtitan: not read, .+: its file stays as it is$")

    def test_refuses_what_it_does_not_know(self):
        for words in (["everything"], ["--newest", "torchtitan=."], ["--newest", "megatron"], ["torchtitan=/nowhere"]):
            with self.subTest(words):
                status, _, said = self.refresh(*words)
                self.assertEqual(status, 2)
                self.assertIn("Usage", said)

    def test_names_limits_of_the_api_that_moved(self):
        import import_api
        from refresh_tables import table

        before = [{"path": "A", "type": "string", "min": 1, "max": 63}, {"path": "B", "type": "list"}]
        after = [{"path": "A", "type": "string", "min": 1, "max": 64, "values": ["x"]}, {"path": "C", "type": "map"}]
        self.assertEqual(import_api.moved(before, after), [
            "~ A: max 63 -> 64", '~ A: values null -> ["x"]', "- B", '+ C {"path": "C", "type": "map"}'])
        old, new = ({"sections": [{"path": "s", "fields": [{"name": "n", "types": ["integer"], **limits}]}]}
                    for limits in ({"min": 0, "below": 2}, {"above": 0, "below": 2}))
        self.assertEqual(table.moved(old, new), ["~ s.n: min 0 -> null", "~ s.n: above null -> 0"])

    def test_takes_no_word_that_is_an_object_of_python(self):
        from refresh_tables import annotations, table

        section = table.Section("", "plain", "refused")
        for word in ("<module 'torch.int4'>", "<class 'int'>", "<function f at 0x7f>", "<Color.red: 1>"):
            with self.subTest(word), self.assertRaises(ValueError):
                section.add("mode", types=["string"], values=["a", word])
        section.add("token", types=["string"], values=["<fim_middle>", "<|endoftext|>"])
        kinds = enum.Enum("Kinds", {"int4": os, "named": "nvfp4"})
        self.assertEqual(annotations.described(kinds)["values"], ["int4", "nvfp4"])

    def test_ships_no_word_that_is_an_object_of_python(self):
        from refresh_tables import table

        def words(value):
            inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            return [value] if isinstance(value, str) else [word for one in inside for word in words(one)]

        files = [file for name in ("frameworks", "combinations")
                 for file in sorted((SOURCE / "catalogs/data" / name).glob("*.json"))]
        self.assertGreater(len(files), 10)
        for file in files:
            shown = [word for word in words(json.loads(file.read_text())) if table.is_repr(word)]
            self.assertEqual(shown, [], file.name)

    def test_reads_modules_of_a_model(self):
        from refresh_tables import modules

        source = """
class WideEmbedding(nn.Embedding):
    pass
class SmallMLP(nn.Module):
    def __init__(self, config):
        self.up = nn.Linear(1, 2)
        self.act = ACT[config.act]
        self.width = int(config.width)
        self.maybe = make(config) if config.wide else None
        self.parts = nn.ModuleDict({"down": nn.Linear(2, 1)})
class SmallLayer(GradientCheckpointingLayer):
    def __init__(self, config):
        self.mlp = SmallMLP(config)
        self.rotary = SmallRotaryEmbedding(config)
class SmallForCausalLM(PreTrainedModel):
    _no_split_modules = ["SmallLayer"]
    def __init__(self, config):
        self.embed = WideEmbedding(1)
        self.head = nn.Linear(1, 2)
"""
        folder = self.library / "transformers/models/small"
        folder.mkdir(parents=True)
        (folder / "modeling_small.py").write_text(source)
        (self.library / "transformers/modeling_layers.py").write_text("")
        row = modules.row_of(folder / "modeling_small.py", self.library / "transformers/modeling_layers.py")
        self.assertEqual(row, {"classes": ["SmallForCausalLM", "SmallLayer", "SmallMLP", "WideEmbedding"],
                               "layers": ["SmallLayer"], "names": ["down", "embed", "head", "maybe", "up"],
                               "heads": ["embed", "head"], "open": False})
        old = {"version": "1.0", "families": [{**row, "types": ["small"], "names": ["older"]}]}
        new = {"schema": modules.SCHEMA, "version": "2.0", "as_of": "d", "source": "s",
               "families": [{**row, "types": ["small"]}]}
        self.assertEqual(modules.laid_over(old, new)["families"][0]["names"], ["down", "embed", "head", "maybe", "older", "up"])

    def test_unpacks_sources_and_nothing_beside_them(self):
        import io
        import tarfile
        import tempfile

        from refresh_tables import newest

        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            archive = folder / "lib-1.0.tar.gz"
            with tarfile.open(archive, "w:gz") as file:
                for name in ("lib-1.0/lib/a.py", "../out.py", "lib-1.0/../../out.py"):
                    entry = tarfile.TarInfo(name)
                    entry.size = 1
                    file.addfile(entry, io.BytesIO(b"x"))
                link = tarfile.TarInfo("lib-1.0/link")
                link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
                file.addfile(link)
            sources = folder / "sources"
            sources.mkdir()
            newest.unpack(archive, sources)
            self.assertEqual([str(path.relative_to(sources)) for path in sorted(sources.rglob("*"))], ["lib", "lib/a.py"])
            wheels = [pathlib.Path(name) for name in ("sagemaker-2.257.7-py3-none-any.whl", "sagemaker_core-2.27.0.whl")]
            for given in (wheels, wheels[::-1]):
                self.assertEqual(newest.in_order(given, ("sagemaker<3", "sagemaker-core")), wheels[::-1])
            self.assertFalse((folder / "out.py").exists() or (folder.parent / "out.py").exists())

    def test_keeps_what_only_older_versions_take(self):
        from refresh_tables import table

        def read(version, words):
            section = table.Section("", "plain", "refused")
            section.add("mode", types=["string"], values=words)
            return table.Table("x", version, "x", [section])

        newest = table.laid_over(None, read("3.0", ["a", "c"]))
        older = table.laid_over(newest, read("2.0", ["a", "b"]))
        oldest = table.laid_over(older, read("1.0", ["z", "b"]))
        newer = table.laid_over(oldest, read("4.0", ["a", "b"]))
        rows = [one["sections"][0]["fields"][0] for one in (older, oldest, newer)]
        self.assertEqual([row["values"] for row in rows],
                         [["a", "c", "b"], ["a", "c", "b", "z"], ["a", "c", "b", "z"]])
        self.assertEqual([{one["word"]: one["last"] for one in row["older"]} for row in rows],
                         [{"b": "2.0"}, {"b": "2.0", "z": "1.0"}, {"c": "3.0", "z": "1.0"}])


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    sys.path.insert(0, str(SOURCE / "scripts"))
    unittest.main()
