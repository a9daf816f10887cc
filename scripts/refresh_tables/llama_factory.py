"""LLaMA-Factory's arguments: the dataclasses of its hparams and those of transformers below them, read from their
sources. HfArgumentParser refuses keys that none of them has."""

import pathlib

from refresh_tables import words
from refresh_tables.sources import Sources, literal
from refresh_tables.table import Section, Table
from refresh_tables.trl import OF_TRANSFORMERS, add, as_options, folder_of, is_arguments, version_of

# With USE_MCA=1 the arguments of mcore_adapter, which is on no index, count too. These keys of a file show it.
OF_MCA = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size",
          "context_parallel_size", "virtual_pipeline_model_parallel_size", "sequence_parallel")
# Trainer v1 reads a file of another form, whose keys change between releases.
OF_V1 = ("model_class", "dist_config", "peft_config", "quant_config", "kernel_config", "init_config", "optim_config")


def fields(sources: Sources, classes: list, path: str, unknown: str, when: tuple = ()) -> Section:
    section = Section(path, "argparse", unknown, when=list(when))
    for made in classes:
        add(section, sources, made)
    as_options(section)
    return section


def read() -> Table:
    package, transformers = folder_of("llamafactory"), folder_of("transformers")
    # Its TrainingArguments derive from those of transformers, which have the same name.
    own = Sources([*sorted((package / "hparams").glob("*_args.py")), package / "extras/constants.py"])
    below = Sources([transformers / name for name in OF_TRANSFORMERS])
    section = fields(own, [one for one in sorted(own.classes) if is_arguments(one)], "", "refused")
    names = {row["name"] for row in section.fields}
    section.fields += [row for row in fields(below, ["TrainingArguments", "Seq2SeqTrainingArguments"], "", "").fields
                       if row["name"] not in names]
    section.open_when = list(OF_MCA)
    words.of_trainer(section.fields, transformers)
    rows = {row["name"]: row for row in section.fields}
    rows["template"].update(values=words.registered(package / "data/template.py", "register_template", "name"), grows=True)
    rows["fsdp_config"].update(section="fsdp_config")
    fsdp_config = Section("fsdp_config", "text", "open")
    words.fsdp_rows(fsdp_config)
    sections = [section, fsdp_config]
    v1 = package / "v1/config"
    if v1.is_dir():
        arguments = Sources(sorted(v1.glob("*.py")))
        sections.append(fields(arguments, [one for one in sorted(arguments.classes) if is_arguments(one)], ":v1",
                               "open", OF_V1))
    version = version_of_package(package)
    return Table("llama-factory", version, f"LLaMA-Factory {version}, hparams and v1/config, and transformers "
                 f"{version_of(transformers)}, training_args.py", sections)


def version_of_package(package: pathlib.Path) -> str:
    stated = sorted(package.parent.glob("llamafactory-*.dist-info"))
    if stated:
        return stated[0].name.split("-")[1].removesuffix(".dist")
    own = literal(words.assigned(package / "extras/env.py", "VERSION"))
    return own if isinstance(own, str) else version_of(package)
