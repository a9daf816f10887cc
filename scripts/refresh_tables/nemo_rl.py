"""NeMo-RL's configuration: the classes that pydantic makes of a whole file, one for each program, with what its modules
ask for later. A section is named by its path, a colon and the program's algorithm: `policy.dtensor_cfg:grpo`. The
classes are imported from the sources beside stand-ins for PyTorch and what needs it; everything else is read as text."""

import ast
import importlib
import os
import pathlib
import sys
import typing

import stand_in
from refresh_tables import annotations, words
from refresh_tables.sources import Sources, last_name, literal, parsed, unique
from refresh_tables.table import Section, Table

# The module with the class of the whole file, by the name of its variant. Source: NeMo-RL 0.6.0, examples/run_*.py.
PROGRAMS = {"grpo": "algorithms.grpo", "ppo": "algorithms.ppo", "dpo": "algorithms.dpo", "sft": "algorithms.sft",
            "rm": "algorithms.rm", "distillation": "algorithms.distillation",
            "x_token": "algorithms.xtoken_off_policy_distillation",
            "single_controller": "algorithms.single_controller_utils", "eval": "evals.eval"}
# Classes that stand for another one where a backend is chosen: made, or asked for their keys, after the start.
BACKENDS = {"GenerationConfig": ("vllm.config.VllmConfig", "sglang.config.SGLangConfig", "trtllm.config.TrtllmConfig",
                                 "megatron.config.MCoreGenerationConfig")}
SWITCH = "enabled"
# Keys of these sections are handed on to datasets and environments of any kind.
OPEN = ("data",)


def root_of_sources() -> pathlib.Path:
    for entry in sys.path:
        if pathlib.Path(entry or os.getcwd(), "nemo_rl/package_info.py").exists():
            return pathlib.Path(entry or os.getcwd())
    raise ImportError("no nemo_rl is on the path")


def version_of(root: pathlib.Path) -> str:
    found = {name: literal(words.assigned(root / "nemo_rl/package_info.py", name)) for name in ("MAJOR", "MINOR", "PATCH")}
    return ".".join(str(part) for part in found.values())


def is_typed(part) -> bool:
    """A dictionary with named keys."""
    return isinstance(part, type) and typing.is_typeddict(part) or hasattr(part, "__required_keys__")


def is_class(part) -> bool:
    return is_typed(part) or isinstance(part, type) and hasattr(part, "model_fields")


def bare(annotation):
    """Without what says that a key may be missing."""
    while getattr(typing.get_origin(annotation), "_name", "") in ("NotRequired", "Required"):
        annotation = typing.get_args(annotation)[0]
    return annotation


def is_optional(hint) -> bool:
    return getattr(typing.get_origin(hint), "_name", "") == "NotRequired"


class Field(typing.NamedTuple):
    annotation: object
    required: bool
    default: object = None


def fields_of(made) -> dict:
    if not is_typed(made):
        return {name: Field(typing.Annotated[(one.annotation, *one.metadata)] if one.metadata else one.annotation,
                            one.is_required(), None if one.is_required() else one.get_default())
                for name, one in made.model_fields.items()}
    hints = typing.get_type_hints(made, include_extras=True)
    return {name: Field(bare(hint), name in made.__required_keys__ and not is_optional(hint))
            for name, hint in hints.items()}


def is_off(made) -> bool:
    """A class for the part that is switched off: it asks for nothing else."""
    fields = fields_of(made)
    return list(fields) == [SWITCH] and typing.get_args(fields[SWITCH].annotation) == (False,)


def refuses(made) -> bool:
    return not is_typed(made) and made.model_config.get("extra") == "forbid"


def classes_of(annotation) -> list:
    """Of a union, and of the entries of a list in it."""
    found = []
    for part in annotations.members_of(bare(annotation)):
        if is_class(part):
            found.append(part)
        elif typing.get_origin(part) is list:
            found += [one for one in annotations.members_of(typing.get_args(part)[0]) if is_class(one)]
    return found


def described(annotation) -> dict:
    """Types, words and limits; a class is an object, a path a text."""
    plain, found = [], []
    for part in annotations.members_of(bare(annotation)):
        if is_class(part):
            found.append("object")
        elif getattr(part, "__name__", "") == "PathLike":
            found.append("string")
        else:
            plain.append(part)
    row = annotations.described(typing.Union[tuple(plain)]) if plain else {"types": [], "items": [], "values": []}
    if any(is_class(one) for part in plain for one in annotations.members_of((typing.get_args(part) or (None,))[0])):
        row["items"] = [kind if kind != "any" else "object" for kind in row["items"]]
    row["types"] = unique([*row["types"], *found])
    return {**row, **annotations.limits_of(annotation)}


def merged(rows: list) -> dict:
    """Of several classes that a value may be of: what any of them takes."""
    out = {"types": unique([kind for row in rows for kind in row["types"]]),
           "items": unique([kind for row in rows for kind in row.get("items", [])]), "values": []}
    if all(row["values"] and not row.get("items") for row in rows):
        out["values"] = unique([word for row in rows for word in row["values"]])
    if len(rows) == 1:
        out = {**rows[0]}
    return out


def later_words(root: pathlib.Path) -> dict:
    """Words by the end of a setting's path, of enumerations, tables and functions that end in an error otherwise."""
    home = root / "nemo_rl"
    precisions = [*words.keys_of(home / "models/automodel/setup.py", "STRING_TO_DTYPE"),
                  *words.keys_of(home / "models/megatron/setup.py", "dtype_map")]
    packers = Sources([home / "data/packing/algorithms.py"]).members("PackingAlgorithm")
    found = {
        "policy.precision": precisions, "value.precision": precisions, "teacher.precision": precisions,
        "sequence_packing.algorithm": [name.lower() for name in packers],
        "loss_fn.reference_policy_kl_type": words.compared(home / "algorithms/utils.py", "kl_type"),
        "grpo.adv_estimator.name": words.compared(home / "algorithms/grpo.py", "adv_estimator_name"),
        "reward_model_cfg.reward_model_type": words.compared(home / "models/automodel/setup.py", "rm_type"),
        "loss_fn.truncated_importance_sampling_type":
            words.compared(home / "algorithms/loss/loss_functions.py", "truncated_importance_sampling_type"),
        "policy.generation.backend": backends(home / "algorithms"),
    }
    return {path: unique(known) for path, known in found.items() if known}


def backends(home: pathlib.Path) -> list:
    """Words that the modules of all algorithms ask the generation's backend for."""
    found = []
    for file in home.rglob("*.py"):
        for node in ast.walk(parsed(file)):
            name = isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.In)) and \
                (last_name(node.left) == "backend" or
                 isinstance(node.left, ast.Subscript) and literal(node.left.slice) == "backend")
            value = literal(node.comparators[0]) if name else None
            found += [value] if isinstance(value, str) else [one for one in value or () if isinstance(one, str)]
    return sorted(set(found))


# What `config` is in modules of these folders.
CONFIGS = {"models/policy": "policy", "models/megatron": "policy", "models/automodel": "policy",
           "models/dtensor": "policy", "models/generation": "generation", "models/value": "value"}


class Reads:
    """Keys that the modules ask an object for, by the object's name: `megatron_cfg["train_iters"]`."""

    def __init__(self, home: pathlib.Path):
        self.keys: dict = {}
        for file in home.rglob("*.py"):
            self.config = CONFIGS.get("/".join(file.relative_to(home).parts[:2]), "")
            for node in ast.walk(parsed(file)):
                if isinstance(node, ast.Subscript):
                    self.take(node.value, literal(node.slice))
                elif isinstance(node, ast.Call) and last_name(node.func) in ("get", "pop", "setdefault") and node.args:
                    self.take(node.func.value if isinstance(node.func, ast.Attribute) else None, literal(node.args[0]))
                elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                    self.take(node.comparators[0], literal(node.left))

    def take(self, node, key) -> None:
        if isinstance(key, str) and key.isidentifier():
            self.keys.setdefault(self.name(node), set()).add(key)

    def name(self, node) -> str:
        """The last key or name that the object is reached by."""
        if isinstance(node, ast.BoolOp):
            node = node.values[0]
        if isinstance(node, ast.Subscript) and isinstance(literal(node.slice), str):
            return literal(node.slice)
        if isinstance(node, ast.Call) and last_name(node.func) == "get" and node.args:
            return str(literal(node.args[0]))
        name = last_name(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        if name in ("config", "cfg"):
            return self.config
        name = {"generation_cfg": "generation", "megatron_config": "megatron_cfg"}.get(name, name)
        return name.removesuffix("_config") if name.endswith(("_config", "_cfg")) else ""

    def of(self, path: str) -> set:
        return self.keys.get(path.rpartition(".")[2], set()) if path else set()


def examples(root: pathlib.Path) -> list:
    """NeMo-RL's own files, each with those that it goes on from."""
    from nemo_rl.utils.config import load_config
    from omegaconf import OmegaConf

    trees = []
    for file in sorted((root / "examples").rglob("*.yaml")):
        tree = OmegaConf.to_container(load_config(file))
        if isinstance(tree, dict) and ("policy" in tree or "eval" in tree):
            trees.append(tree)
    return trees


def objects_at(trees: list, path: str) -> list:
    for name in path.split(".") if path else []:
        found = [tree.get(name) for tree in trees]
        trees = [one for value in found for one in (value if isinstance(value, list) else [value])
                 if isinstance(one, dict)]
    return trees


class Walk:
    """Sections of the variants' classes."""

    def __init__(self, root: pathlib.Path, trees: list):
        self.words, self.reads, self.trees = later_words(root), Reads(root / "nemo_rl"), trees
        self.sections: list = []
        self.homes: dict = {}  # where a variant's classes stood first
        self.variant = ""

    def take(self, classes: list, path: str = "", later: bool = False) -> None:
        """`later`: nothing converts the values, and only some of the classes is asked."""
        ons = [one for one in classes if not is_off(one)]
        several = len(ons) > 1
        open_to = several or path.split(".")[0] in OPEN
        section = Section(f"{path}:{self.variant}", "plain" if later else "pydantic",
                          "refused" if all(refuses(one) for one in ons) else "open" if open_to else "ignored",
                          sharing=True, off=SWITCH if len(ons) < len(classes) else None)
        self.sections.append(section)
        fields = [fields_of(one) for one in ons]
        for name in unique([name for one in fields for name in one]):
            found = [one[name] for one in fields if name in one]
            if len(found) < len(fields):  # for the others it is a key like any other
                section.add(name, types=["any"])
            else:
                self.row(section, path, name, found, not later)
        if not later:
            for extra in self.backends(ons):
                for name, field in fields_of(extra).items():
                    if not any(name in one for one in fields):
                        self.row(section, path, name, [field], False, later=True)
        known = {row["name"] for row in section.fields}
        keys = {str(key) for tree in objects_at(self.trees, path) for key in tree} | self.reads.of(path)
        for name in sorted(keys - known):
            if section.unknown != "refused":
                section.add(name, types=["any"])

    def common(self, wholes: list) -> None:
        """Of a file that does not say its algorithm: what is of one class for all."""
        self.variant = "any"
        section = Section(":any", "pydantic", "open", sharing=True)
        self.sections.append(section)
        for name in sorted({name for one in wholes for name in one}):
            found = [one.get(name) for one in wholes]
            if all(one is not None and one.annotation == found[0].annotation for one in found):
                self.row(section, "", name, found[:1], False)
            else:
                section.add(name, types=["any"])

    @staticmethod
    def backends(classes: list) -> list:
        names = [name for one in classes for name in BACKENDS.get(one.__name__, ())]
        modules = (name.rpartition(".") for name in names)
        return [getattr(importlib.import_module(f"nemo_rl.models.generation.{module}"), name) for module, _, name in modules]

    def row(self, section: Section, path: str, name: str, found: list, everywhere: bool, later: bool = False) -> None:
        if any(row["name"] == name for row in section.fields):
            return
        where = f"{path}.{name}" if path else name
        row = merged([described(one.annotation) for one in found])
        row["values"] = row.get("values") or next(
            (known for end, known in self.words.items() if f".{where}".endswith(f".{end}")), [])
        if name == section.off:
            row["values"] = []
        row["required"] = True if everywhere and all(one.required for one in found) else None
        default = found[0].default
        classes = unique([one for field in found for one in classes_of(field.annotation)])
        inside = classes and not any("list" in described(one.annotation)["types"] and
                                     len(classes_of(one.annotation)) > 3 for one in found)
        later = later or section.reader == "plain"
        home = self.homes.setdefault((self.variant, tuple(classes), later), where) if inside else None
        if later and section.reader != "plain" and home is None:  # whoever takes it looks at it, or nobody
            row = {"types": ["any"]}
        section.add(name, **row, section=home,
                    **({"default": default} if isinstance(default, (bool, int, float, str)) else {}))
        if home == where:
            self.take(classes, where, later)


def read() -> Table:
    root = root_of_sources()
    stand_in.nemo_rl(root)
    walk = Walk(root, examples(root))
    wholes = {variant: importlib.import_module(f"nemo_rl.{module}").MasterConfig for variant, module in PROGRAMS.items()}
    for variant, whole in wholes.items():
        walk.variant = variant
        walk.take([whole])
    walk.common([fields_of(whole) for variant, whole in wholes.items() if variant != "eval"])
    version = version_of(root)
    return Table("nemo-rl", version, f"NeMo-RL {version}, MasterConfig of its algorithms", walk.sections, dated=True)
