"""HyperPodPyTorchJob, the object of Kubernetes that HyperPod's training operator runs: the models of HyperPod's command
line, which follow the operator's definition. kubectl refuses fields that the definition has not."""

import importlib.metadata
import importlib.util
import pathlib
import sys
import typing

from refresh_tables.annotations import described, members_of
from refresh_tables.table import Section, Table

MODELS = "sagemaker/hyperpod/training/config/hyperpod_pytorch_job_unified_config.py"
TOP = "_HyperPodPytorchJob"
# Objects that are described. Deeper in a pod the models have one class for several kinds (affinities of nodes and pods).
DESCRIBED = ("ReplicaSpec", "RunPolicy", "RestartPolicy", "ElasticPolicy", "LogMonitoringConfiguration", "Template", "Spec",
             "Containers", "InitContainers", "Env", "VolumeMounts")
# What every object of Kubernetes has beside its specification.
VERSION, KIND = "sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob"


def models():
    """The module alone: its package needs Kubernetes."""
    path = next(file for entry in sys.path if (file := pathlib.Path(entry or ".", MODELS)).is_file())
    spec = importlib.util.spec_from_file_location("hyperpod_models", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pydantic looks types up there
    spec.loader.exec_module(module)
    return module


def model_in(annotation):
    """The model that a field, or an entry of its list, is; None where it is no model."""
    for part in members_of(annotation):
        if hasattr(part, "model_fields"):
            return part
        if typing.get_origin(part) is list:
            return model_in(typing.get_args(part)[0])
    return None


def sections_below(model, path: str, found: dict) -> None:
    if path in found:
        return
    section = found[path] = Section(path, "plain", "refused")
    for name, field in model.model_fields.items():
        inner = model_in(field.annotation)
        inner = inner if inner and inner.__name__ in DESCRIBED else None
        row = described(field.annotation)
        # Kubernetes takes null for what is left out.
        types = list(dict.fromkeys([*row["types"], "null"]))
        section.add(name, types=types, values=row["values"], section=inner.__name__ if inner else None,
                    required=field.is_required() or None)
        if inner:
            sections_below(inner, inner.__name__, found)


def read() -> Table:
    module = models()
    found: dict = {}
    top = found[""] = Section("", "plain", "refused")
    top.add("apiVersion", types=["string"], values=[VERSION], required=True)
    top.add("kind", types=["string"], values=[KIND], required=True)
    top.add("metadata", types=["object"], required=True)
    top.add("spec", types=["object"], section="spec", required=True)
    top.add("status", types=["any"])
    sections_below(getattr(module, TOP), "spec", found)
    version = importlib.metadata.version("sagemaker-hyperpod")
    return Table("hyperpod-job", version, f"sagemaker-hyperpod {version}, {MODELS.removeprefix('sagemaker/')}",
                 list(found.values()))
