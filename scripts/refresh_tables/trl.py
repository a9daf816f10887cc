"""Arguments of transformers' Trainer and of TRL's trainers: the dataclasses that HfArgumentParser and TrlParser make
options and keys of, read from their sources."""

import ast
import importlib.metadata
import os
import pathlib
import re
import sys

from refresh_tables import words
from refresh_tables.megatron import torchrun
from refresh_tables.sources import MISSING, Sources, calls, keywords, last_name, literal, parsed
from refresh_tables.table import Section, Table

# TRL's modules that hold a dataclass of arguments, and transformers'.
FILES = ("trl/trainer/*config.py", "trl/trainer/utils.py", "trl/scripts/*.py", "trl/commands/*.py",
         "trl/experimental/*/*config.py", "trl/extras/dataset_formatting.py")
OF_TRANSFORMERS = ("training_args.py", "training_args_seq2seq.py", "trainer_utils.py", "debug_utils.py")
# Texts that a trainer compares with its own, and raises over others.
OF_TRAINER = {"loss_type": {}, "importance_sampling_level": {}, "vllm_importance_sampling_mode": {},
              "multi_objective_aggregation": {}}
# What TrlParser itself takes beside the fields.
OF_PARSER = {"config": ["string"], "env": ["object"]}


def folder_of(package: str) -> pathlib.Path:
    for entry in sys.path:
        for base in (pathlib.Path(entry or os.getcwd()), pathlib.Path(entry or os.getcwd(), "src")):
            if (base / package).is_dir():
                return base / package
    raise ImportError(f"{package} is not on the path")


def version_of(package: pathlib.Path) -> str:
    stated = re.search(r'^__version__ = "([^"]+)"', (package / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)
    if stated:
        return stated.group(1)
    for file in (package / "VERSION", package.parent / "VERSION", package.parent / "version.txt"):
        if file.exists():
            return file.read_text(encoding="utf-8").strip()
    return importlib.metadata.version(package.name)


def is_arguments(name: str) -> bool:
    return name.endswith("Config") or name.endswith("Arguments")


def add(section: Section, sources: Sources, made: str, of_all: frozenset = frozenset()) -> None:
    """Fields of one class. Of a name that two classes have, either's types will do, unless all trainers share it."""
    for name, (annotation, default, call) in sources.fields(made).items():
        init = keywords(call).get("init") if call is not None else None
        if (init is not None and literal(init) is False) or name.startswith("_"):
            continue
        row = sources.described(annotation)
        if not row.get("values") and call is not None and set(row["types"]) <= {"string", "null"}:
            row["values"] = literal(metadata_of(call).get("choices", ast.Constant(None))) or []
        known = next((one for one in section.fields if one["name"] == name), None)
        old = deprecation("" if call is None else str(literal(help_of(call))))
        if known is not None and not old:  # a trainer's own field takes the place of an old one
            known.pop("deprecated", None)
            known.pop("replaced_by", None)
        if known is None:
            section.add(name, **row, default=None if default is MISSING else default, **old)
        elif name not in of_all and (known["types"] != row["types"] or
                                      known.get("values", []) != row.get("values", [])):
            known["types"] = list(dict.fromkeys([*known["types"], *row["types"]]))
            if "list" in known["types"]:
                known["items"] = list(dict.fromkeys([*known.get("items", []), *row.get("items", [])]))
            known.pop("values", None)
            if known.get("default") != default:
                known.pop("default", None)


def deprecation(told: str) -> dict:
    """What the help of a field says of its age."""
    if not re.match(r"\W*(this (argument|parameter|option) is )?deprecated", told, re.IGNORECASE):
        return {}
    new = re.search(r"(?:alias of|use) `-{0,2}([a-z0-9_]+)`", told, re.IGNORECASE)
    return {"deprecated": True, **({"replaced_by": new.group(1)} if new else {})}


def metadata_of(call) -> dict:
    given = keywords(call).get("metadata")
    return dict(zip((literal(key) for key in given.keys), given.values)) if isinstance(given, ast.Dict) else {}


def help_of(call):
    return metadata_of(call).get("help", ast.Constant(""))


def launchers() -> Section:
    """Options of torchrun, `accelerate launch` and `deepspeed`, which stand before the script in the same line."""
    section = Section("launcher", "argparse", "open")
    torchrun(section)
    from accelerate.commands.launch import launch_command_parser

    for action in launch_command_parser()._actions:
        if action.dest not in ("help", "training_script", "training_script_args"):
            if all(row["name"] != action.dest.replace("_", "-") for row in section.fields):
                section.add(action.dest.replace("_", "-"), types=["any"])
    runner = folder_of("deepspeed") / "launcher/runner.py"
    for call in calls(parsed(runner), "add_argument"):
        for name in (literal(word) for word in call.args):
            if isinstance(name, str) and name.startswith("--"):
                if all(row["name"] != name[2:].replace("_", "-") for row in section.fields):
                    section.add(name[2:].replace("_", "-"), types=["any"])
    # `trl sft` hands on what its classes lack, and looks up one option before.
    if (folder_of("trl") / "cli/accelerate_config.py").exists():
        section.add("accelerate-config", types=["any"])
    for row in section.fields:
        row.update({"types": ["any"]})
    return section


def fsdp_words(section: Section, trainer_utils: pathlib.Path) -> None:
    """TrainingArguments.fsdp: a switch, or words of FSDPOption with blanks between them."""
    options = next(node for node in parsed(trainer_utils).body if getattr(node, "name", "") == "FSDPOption")
    options = [literal(node.value) for node in options.body if isinstance(node, ast.Assign)]
    row = next(row for row in section.fields if row["name"] == "fsdp")
    row.update({"types": ["string", "boolean", "null"], "values": options, "free": ["boolean"], "separated": True,
                "nargs": "optional"})


def as_options(section: Section) -> None:
    """HfArgumentParser: a switch with or without a word, and --no_x of what is on."""
    for row in section.fields:
        if row["types"] in (["boolean"], ["boolean", "null"]):
            row.update({"nargs": "optional", **({"also": [f"no_{row['name']}"]} if row.get("default") is True else {})})
        elif "list" in row["types"]:
            row["nargs"] = "many"


def parsed_classes(script: pathlib.Path) -> list:
    """Names of the dataclasses that a script's parser is made of."""
    for node in ast.walk(parsed(script)):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "dataclass_types":
            return [last_name(one) for one in getattr(node.value, "elts", [])]
    for call in calls(parsed(script), "TrlParser"):
        if call.args and isinstance(call.args[0], ast.Tuple):
            return [last_name(one) for one in call.args[0].elts]
    return []


def commands(trl: pathlib.Path, sources: Sources) -> list:
    """A section for each command that trains: `trl sft` takes the fields of its own classes alone."""
    sections = []
    for script in sorted((trl / "scripts").glob("*.py")):
        classes = parsed_classes(script)
        if not any("TrainingArguments" in [node.name for node in sources.bases(made)] for made in classes):
            continue
        section = Section(f":{script.stem}", "argparse", "refused", like="")
        for made in classes:
            add(section, sources, made)
        for name, types in OF_PARSER.items():
            section.add(name, types=types)
        trainer = trl / f"trainer/{script.stem}_trainer.py"
        for row in section.fields if trainer.exists() else ():
            if row["name"] in OF_TRAINER and not row.get("values"):
                row.update({"values": words.compared(trainer, row["name"]), **OF_TRAINER[row["name"]]})
        sections.append(section)
    return sections


def of_peft(lora: pathlib.Path) -> Section:
    """Words of PEFT's LoraConfig, for tools that hand them on: no section of a file's own."""
    section = Section("peft", "plain", "open")
    annotation = Sources([lora / "config.py"]).fields("LoraConfig")["init_lora_weights"][0]
    written = [one.value for one in ast.walk(annotation) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    known = [*written, *words.compared(lora / "layer.py", "init_lora_weights")]
    section.add("init_lora_weights", types=["boolean", "string", "null"], free=["boolean"], open_with="_niter_", case="any",
                values=list(dict.fromkeys(word for word in known if "[" not in word)))
    return section


def read() -> Table:
    trl, transformers = folder_of("trl"), folder_of("transformers")
    files = sorted({file for pattern in FILES for file in trl.parent.glob(pattern)})
    sources = Sources([transformers / name for name in OF_TRANSFORMERS] + files)
    section = Section("", "argparse", "open")
    for made in ("TrainingArguments", "Seq2SeqTrainingArguments"):
        add(section, sources, made)
    of_all = frozenset(row["name"] for row in section.fields)
    for made in sorted(sources.classes):
        if is_arguments(made) and not made.startswith("_"):
            add(section, sources, made, of_all)
    for name, types in OF_PARSER.items():
        section.add(name, types=types)
    sections = [section, *commands(trl, sources)]
    # The engine's own module raises over other modes.
    modes = words.compared(trl / "generation/vllm_generation.py", "mode") if (trl / "generation").is_dir() else []
    for row in (row for one in sections for row in one.fields if row["name"] == "vllm_mode" and modes):
        row["values"] = modes
    for one in sections:
        as_options(one)
        words.of_trainer(one.fields, transformers)
        next(row for row in one.fields if row["name"] == "fsdp_config").update(section="fsdp_config")
        fsdp_words(one, transformers / "trainer_utils.py")
    fsdp_config = Section("fsdp_config", "text", "open")
    words.fsdp_rows(fsdp_config)
    sections.append(fsdp_config)
    if (trl.parent / "peft").is_dir():
        sections.append(of_peft(trl.parent / "peft/tuners/lora"))
    if (trl.parent / "deepspeed").is_dir():  # an environment, not the sources of one version
        sections.append(launchers())
    version = version_of(trl)
    return Table("trl", version, f"TRL {version} and transformers {version_of(transformers)}, their dataclasses of "
                 "arguments; the launchers of PyTorch, accelerate and DeepSpeed", sections)
