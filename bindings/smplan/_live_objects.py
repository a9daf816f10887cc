"""Objects of the SageMaker SDKs, 2 and 3, as the arguments that they were made with. Neither SDK is imported."""

from __future__ import annotations

import inspect
from enum import Enum
from typing import Any, Dict, FrozenSet, Mapping, Optional

from smplan._errors import Diagnostic, InputError

# Attributes of an estimator that carry another name than the constructor's argument.
_RENAMED = {"_hyperparameters": "hyperparameters", "_enable_network_isolation": "enable_network_isolation"}
# SDK classes whose subclasses and relatives take the arguments of one that the rules know.
_CLASSES = ("PyTorch", "HuggingFace", "TensorFlow", "ModelTrainer", "Estimator")
# What both SDKs keep beside the arguments.
_NOT_ARGUMENTS = ("sagemaker_session", "config_mgr")
# What the SDK 2 fills in where nothing was said, and AWS then ignores on instances with disks of their own.
_SDK_DEFAULTS = {"volume_size": 30}
# Where fit() and train() take the data.
_DATA = {"inputs": "inputs", "input_data_config": "input_data_config"}


def arguments_of_job(job: Any, submitted: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """The keyword arguments of a live estimator or ModelTrainer, with its class under "class".

    `submitted`: arguments of its fit() or train(), of which the data belongs to the job too.
    """
    attributes = {_RENAMED.get(name, name): value for name, value in getattr(job, "__dict__", {}).items()}
    if "instance_type" not in attributes and "compute" not in attributes:
        raise InputError([Diagnostic("wrong-kind", "job", f"{type(job).__name__} is no job",
                                     "give a path, a mapping, or an estimator of the SageMaker SDK")])
    parameters = _parameters(type(job))
    ancestry = [base.__name__ for base in type(job).__mro__]
    arguments: Dict[str, Any] = {"class": next((name for name in _CLASSES if name in ancestry), "Estimator")}
    given = {name: value for name, value in attributes.items()
             if not name.startswith("_") and (not parameters or name in parameters)}
    if "HuggingFace" in ancestry and "framework_version" in attributes:
        # The SDK keeps the version of transformers under the framework's name.
        given["transformers_version"] = given.pop("framework_version", attributes["framework_version"])
    data = {_DATA[name]: value for name, value in (submitted or {}).items() if name in _DATA}
    for name, value in {**given, **data}.items():
        # What was left out is None or empty in the object; but {} stands for a debugger that is switched on.
        empty = value is None or (name != "debugger_hook_config" and isinstance(value, (dict, list)) and not value)
        if name not in _NOT_ARGUMENTS and not empty and _SDK_DEFAULTS.get(name) != value:
            arguments[name] = plain(value)
    if isinstance(arguments.get("distributed"), dict):
        arguments["distributed"] = {"class": type(attributes["distributed"]).__name__, **arguments["distributed"]}
    region = getattr(attributes.get("sagemaker_session"), "boto_region_name", None)
    if isinstance(region, str):
        arguments.setdefault("region", region)
    return arguments


def is_model_trainer(job: Any) -> bool:
    """An object of the SDK 3, which is described by other names than an estimator of the SDK 2."""
    return any(base.__name__ == "ModelTrainer" for base in type(job).__mro__)


def plain(value: Any) -> Any:
    """What JSON can hold. Sessions, pipeline variables and the like become placeholders, which rules do not judge."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    fields = getattr(type(value), "model_fields", None)
    if isinstance(fields, Mapping):  # pydantic: shapes and configurations of the SDK 3
        fields_set = getattr(value, "model_fields_set", fields)
        members = {name: getattr(value, name, None) for name in fields if name in fields_set}
        return {name: plain(member) for name, member in members.items()
                if member is not None and type(member).__name__ != "Unassigned"}
    if hasattr(value, "instance_group_name"):
        return {name: plain(getattr(value, name, None))
                for name in ("instance_group_name", "instance_type", "instance_count")}
    if type(value).__name__ == "TrainingCompilerConfig":
        return {"class": "TrainingCompilerConfig", "enabled": plain(getattr(value, "enabled", None))}
    config = getattr(value, "config", None)
    if isinstance(config, Mapping) and isinstance(config.get("DataSource"), Mapping):
        return _channel(config)
    return f"<{type(value).__name__}>"


def _channel(config: Mapping[str, Any]) -> Dict[str, Any]:
    """A TrainingInput or FileSystemInput of the SDK 2, which keeps its arguments as the request's members."""
    s3 = config["DataSource"].get("S3DataSource", {})
    disk = config["DataSource"].get("FileSystemDataSource", {})
    members = {"s3_data": s3.get("S3Uri"), "s3_data_type": s3.get("S3DataType"),
               "distribution": s3.get("S3DataDistributionType"), "instance_groups": s3.get("InstanceGroupNames"),
               "file_system_id": disk.get("FileSystemId"), "file_system_type": disk.get("FileSystemType"),
               "input_mode": config.get("InputMode")}
    return {name: plain(member) for name, member in members.items() if member is not None}


def _parameters(kind: type) -> FrozenSet[str]:
    """Names that the constructors of a class and its bases take; empty where none is named."""
    names = set(getattr(kind, "model_fields", ()))
    for base in kind.__mro__:
        if "__init__" in vars(base) and base is not object:
            signature = inspect.signature(vars(base)["__init__"])
            names |= {p.name for p in signature.parameters.values()
                      if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    return frozenset(names - {"self"})
