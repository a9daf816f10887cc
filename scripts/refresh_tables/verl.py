"""verl's configurations as Hydra composes them, with the dataclasses that verl makes of their parts. A variant is a
configuration and its engine, `ppo_trainer/megatron`; a section of it is named by its path, a colon and the variant.
The sources are read, not imported: PyTorch is not needed, Hydra is."""

import ast
import os
import pathlib
import sys

from refresh_tables import table
from refresh_tables.sources import MISSING, Sources, calls, last_name, literal, parsed, unique
from refresh_tables.table import Section, Table, numbers

FOLDER = "verl/trainer/config"
EXPERIMENTAL = "verl/experimental/*/config/*trainer.yaml"
# Of versions before 0.9, whose Megatron configuration was one of its own, and of their first supervised trainer.
ALSO = {"ppo_trainer/megatron": ("ppo_megatron_trainer",), "sft_trainer_engine": ("sft_trainer",),
        "sft_trainer_engine/fsdp": ("sft_trainer",)}
# A default says no more of a number than that it is one, and nothing of a text: lists and numbers may stand for it.
OF_DEFAULT = {bool: "boolean", int: "number", float: "number"}
JUDGED = {"boolean", "integer", "number"}
OF_ENGINE = ("actor", "ref", "critic", "engine", "optim")
# Numbers of steps, for which the supervised trainer has a word too.
MOMENTS = ("save_freq", "test_freq")
LIMITS = {ast.Gt: "above", ast.GtE: "min", ast.Lt: "below", ast.LtE: "max"}
OPPOSITE = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.NotIn: ast.In, ast.NotEq: ast.Eq}
MIRRORED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


def root_of_sources() -> pathlib.Path:
    for entry in sys.path:
        if pathlib.Path(entry or os.getcwd(), FOLDER, "ppo_trainer.yaml").exists():
            return pathlib.Path(entry or os.getcwd())
    raise ImportError(f"no verl is on the path ({FOLDER})")


def version_of(root: pathlib.Path) -> str:
    return (root / "verl/version/version").read_text(encoding="utf-8").strip()


def composed(folder: pathlib.Path, name: str, overrides: list, root: pathlib.Path) -> dict:
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    base = root / FOLDER
    with initialize_config_dir(str(folder), version_base=None):
        found = [] if folder == base else [f"hydra.searchpath=[file://{base}]"]
        return OmegaConf.to_container(compose(name, overrides=[*found, *overrides]))


def options_of(folder: pathlib.Path, group: str) -> list:
    return sorted(file.stem for file in (folder / group).glob("*.yaml"))


def configurations(root: pathlib.Path) -> dict:
    """Each variant's tree. One without an engine's name has the configuration's own."""
    base = root / FOLDER
    files = [*base.glob("*trainer*.yaml"), *root.glob(EXPERIMENTAL)]
    trees: dict = {}
    for file in sorted(file for file in files if not file.name.startswith("_")):
        name, folder = file.stem, file.parent
        trees[name] = composed(folder, name, [], root)
        if "model_engine" in trees[name] and name == "ppo_trainer":
            engines = {one: [f"model_engine={one}"] for one in options_of(base, "model_engine")}
        elif "engine@engine" in file.read_text(encoding="utf-8"):
            engines = {one: [f"engine={one}", *([f"optim={one}"] if one in options_of(base, "optim") else [])]
                       for one in options_of(base, "engine")}
        else:
            engines = {}
        for engine, overrides in engines.items():
            trees[f"{name}/{engine}"] = composed(folder, name, overrides, root)
    if "ppo_trainer/dp" not in trees:
        trees["ppo_trainer/dp"] = trees["ppo_trainer"]
    return trees


def over(first: dict, second: dict) -> dict:
    """Both trees; of what both have, the first's."""
    out = dict(second)
    for key, value in first.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = over(value, out[key]) if both else value
    return out


def as_shipped(trees: dict, version: str) -> dict:
    """Of a version older than the file's, the file's variants. One that it had not yet has the parts that no engine
    decides."""
    old = table.shipped("verl")
    if old is None or numbers(version) >= numbers(old["version"]):
        return trees
    sections = table.expanded(old["sections"])
    variants = [section["path"][1:] for section in sections if section["path"].startswith(":")]
    return {variant: trees[variant] if variant in trees else without_engine(trees, variant) for variant in variants}


def without_engine(trees: dict, variant: str) -> dict:
    name = variant.partition("/")[0]
    tree = trees.get(name, trees["ppo_trainer"] if name.endswith("ppo_trainer") else {})
    policy = {key: value for key, value in tree.get("actor_rollout_ref", {}).items() if key not in OF_ENGINE}
    rest = {key: value for key, value in tree.items() if key not in OF_ENGINE}
    return {**rest, "actor_rollout_ref": policy} if policy else rest


class Checks:
    """What the class refuses of one field, by the conditions at the top of __post_init__: words and limits."""

    def __init__(self, sources: Sources, modules: dict):
        self.sources, self.modules = sources, modules

    def of(self, name: str) -> dict:
        found: dict = {}
        for node in self.sources.bases(name):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__post_init__":
                    self.take(method.body, {**self.modules.get(node.name, {})}, found)
        return found

    def take(self, body: list, lists: dict, found: dict) -> None:
        for one in body:
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
                lists[one.targets[0].id] = one.value
            elif isinstance(one, ast.If) and isinstance(one.body[-1], ast.Return):
                return  # what follows is asked of a part that is switched on
            elif isinstance(one, ast.Assert):
                self.condition(one.test, True, lists, found)
            elif isinstance(one, ast.If) and any(isinstance(inner, ast.Raise) for inner in one.body):
                self.condition(one.test, False, lists, found)
            elif isinstance(one, ast.If) and is_there(one.test):
                self.take(one.body, dict(lists), found)

    def condition(self, test, holds: bool, lists: dict, found: dict) -> None:
        """That it has to hold, or must not."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.condition(test.operand, not holds, lists, found)
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == holds:
                parts = test.values
            else:  # `self.x is not None and self.x < 0` must not hold
                parts = [part for part in test.values if not (is_there(part) and not holds)]
                parts = parts if len(parts) == 1 else []
            for part in parts:
                self.condition(part, holds, lists, found)
            return None
        if not isinstance(test, ast.Compare) or (len(test.ops) > 1 and not holds):
            return None
        sides = [test.left, *test.comparators]
        for left, op, right in zip(sides, test.ops, sides[1:]):
            kind = type(op) if holds else OPPOSITE.get(type(op))
            if member(left) is None:
                left, right, kind = right, left, MIRRORED.get(kind)
            self.one(member(left), kind, lists.get(last_name(right), right), found)
        return None

    @staticmethod
    def one(name, kind, right, found: dict) -> None:
        value = literal(right)
        if name is None or value is None:
            return
        if kind is ast.Eq and isinstance(value, int):
            found.setdefault(name, {}).update(min=value, max=value)
        if kind in LIMITS and isinstance(value, (int, float)):
            found.setdefault(name, {})[LIMITS[kind]] = value
        words = [value] if kind is ast.Eq else list(value) if kind is ast.In and not isinstance(value, str) else []
        if words and all(isinstance(word, str) for word in words):
            found.setdefault(name, {})["values"] = unique(words) if not isinstance(value, set) else sorted(words)


def member(node) -> str | None:
    alone = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if alone else None


def is_there(test) -> bool:
    """`self.x is not None`."""
    return (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot)
            and member(test.left) is not None)


def constants(tree: ast.Module) -> dict:
    return {one.targets[0].id: one.value for one in tree.body
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)}


def trees_in(root: pathlib.Path, *patterns: str) -> list:
    return [parsed(file) for pattern in patterns for file in sorted((root / "verl").glob(pattern))]


def registered(trees: list, function: str) -> list:
    """First arguments of a decorator or call, and all `names` that stand in them."""
    words = []
    for call in (call for tree in trees for call in calls(tree, function)):
        for one in call.args[:1]:
            words += [literal(one)] if isinstance(one, ast.Constant) else []
            words += [word for word in ast.walk(one) if isinstance(word, ast.keyword) and word.arg == "names"]
    return [word for entry in words
            for word in (literal(entry.value) or [] if isinstance(entry, ast.keyword) else [entry])
            if isinstance(word, str)]


def compared(trees: list, names: tuple, refused: bool = False) -> list:
    """Words that something of such a name is compared with, but for those that only an error follows."""
    words = []
    for tree in trees:
        for node in ast.walk(tree):
            tests = [node.test] if isinstance(node, (ast.If, ast.Assert, ast.IfExp)) else []
            if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise) and not refused:
                tests = []
            for test in (one for each in tests for one in ast.walk(each) if isinstance(one, ast.Compare)):
                if last_name(test.left) in names and isinstance(test.ops[0], (ast.Eq, ast.In)):
                    value = literal(test.comparators[0])
                    words += [value] if isinstance(value, str) else list(value or ())
    return [word for word in words if isinstance(word, str)]


def functions(trees: list, name: str) -> list:
    return [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]


def words_of(root: pathlib.Path, sources: Sources) -> dict:
    """Words by the end of a setting's path, of registries and of the functions that end in an error otherwise."""
    algorithms = trees_in(root, "trainer/ppo/core_algos.py")
    workers = trees_in(root, "workers/*.py", "workers/rollout/*.py", "workers/sharding_manager/*.py")
    tables = [constants(tree).get("_ROLLOUT_REGISTRY") for tree in trees_in(root, "workers/rollout/base.py")]
    engines = [literal(key)[0] for node in tables if isinstance(node, ast.Dict) for key in node.keys]
    penalty = functions(algorithms, "kl_penalty_forward") or functions(algorithms, "kl_penalty")
    penalties = compared(penalty, ("kl_penalty",))
    if any("endswith" in ast.dump(tree) for tree in functions(algorithms, "kl_penalty")):
        penalties += [word + "+" for word in penalties]
    truncations = compared(functions(trees_in(root, "utils/torch_functional.py"), "postprocess_data"), ("truncation",))
    distillation = trees_in(root, "trainer/distillation/**/*.py")
    found = {
        "algorithm.adv_estimator": [*(sources.enumeration("AdvantageEstimator") or ()),
                                    *registered(algorithms, "register_adv_est")],
        "policy_loss.loss_mode": registered(algorithms, "register_policy_loss"),
        "distillation_loss.loss_mode": registered(distillation, "register_distillation_loss"),
        "algorithm.kl_penalty": penalties,
        "actor.kl_loss_type": penalties,
        "actor_rollout_ref.rollout.name": [*engines, *compared(workers, ("rollout_name",), True)],
        "kl_ctrl.type": compared(functions(algorithms, "get_kl_controller"), ("type",)),
        "data.truncation": truncations,
        "model_engine": options_of(root / FOLDER, "model_engine"),
        "v1.trainer_mode": registered(trees_in(root, "trainer/ppo/v1/*.py"), "register_trainer"),
    }
    return {path: unique(words) for path, words in found.items()}


def converted(root: pathlib.Path) -> set:
    """Names of parts that verl makes dataclasses of. What is below them is made with them."""
    return {last_name(call.args[0]) for tree in trees_in(root, "**/*.py")
            for call in calls(tree, "omega_conf_to_dataclass") if call.args}


def handed_on(root: pathlib.Path) -> set:
    """Names of parts whose members are the arguments of a call: `ray.init(**config.ray_kwargs.get("ray_init"))`."""
    splats = [word.value for tree in trees_in(root, "**/*.py") for call in ast.walk(tree) if isinstance(call, ast.Call)
              for word in call.keywords if word.arg is None]
    return {literal(get.args[0]) for splat in splats for get in calls(splat, "get") if get.args}


def class_of(field) -> str:
    """The name in an annotation: `Config`, `Optional[Config]`."""
    if field is None:
        return ""
    inside = field[0].slice if isinstance(field[0], ast.Subscript) and last_name(field[0]) == "Optional" else field[0]
    return inside.id if isinstance(inside, ast.Name) else ""


class Walk:
    """Sections of the variants' trees."""

    def __init__(self, root: pathlib.Path, sources: Sources, checks: Checks):
        self.sources, self.checks = sources, checks
        self.words, self.converted, self.handed_on = words_of(root, sources), converted(root), handed_on(root)
        self.moments = sorted(set(compared(trees_in(root, "trainer/*.py"), MOMENTS)))
        self.sections: list = []
        self.variant = ""

    def take(self, tree: dict, path: str = "", strict: bool = False, stated: str = "") -> None:
        """`stated` is the class that the part around it names; it is made where the tree names one alone."""
        named = str(tree.get("_target_", "")).rpartition(".")[2]
        made = named or stated
        strict = strict or path.rpartition(".")[2] in self.converted
        fields = self.sources.fields(made) if made in self.sources.classes else {}
        refuses = strict and named and fields
        unknown = "handed on" if path.rpartition(".")[2] in self.handed_on else "refused" if refuses else "open"
        section = Section(f"{path}:{self.variant}", "plain", unknown, sharing=True)
        self.sections.append(section)
        if fields:
            section.add("_target_", types=["any"])
        checks = self.checks.of(made) if fields else {}
        for key, value in tree.items():
            where = f"{path}.{key}" if path else key
            if key == "_target_":
                continue
            if isinstance(value, dict):
                section.add(str(key), types=["object", "null"], section=where)
                self.take(value, where, strict, class_of(fields.get(key)))
                continue
            row = {**self.typed(fields.get(key), value), **checks.get(key, {})}
            if key == "strategy":
                row["values"] = self.strategies(tree) or row.get("values", [])
            row["values"] = self.of_registry(where) or row.get("values", [])
            if key in MOMENTS and self.moments:
                row.update(types=["number", "string"], values=self.moments, free=["number"])
            if row["values"] and row["types"] == ["any"]:
                row["types"] = ["string"]
            unsaid = value not in (None, MISSING) and not table.plain(value) and not str(value).startswith("${")
            section.add(str(key), **row, default=value, filled=True if unsaid else None)
        for key, field in fields.items():
            if key in tree or key.startswith("_"):
                continue
            row = self.typed(field, None)
            section.add(key, **{**row, **checks.get(key, {})}, unlisted=True)

    def of_registry(self, path: str) -> list:
        return next((words for end, words in self.words.items() if f".{path}".endswith(f".{end}")), [])

    def strategies(self, tree: dict) -> list:
        """Of the part that says how the engine beside it works, which takes the word."""
        words = [self.checks.of(str(one.get("_target_", "")).rpartition(".")[2]).get("strategy", {}).get("values", [])
                 for one in tree.values() if isinstance(one, dict)]
        return [word for one in words for word in one]

    def typed(self, field, default) -> dict:
        """By the dataclass and by the default: neither is asked alone, and a text may stand for much."""
        if isinstance(default, str) and default.startswith("${"):
            default = None  # as another setting
        kinds = [OF_DEFAULT[type(default)]] if type(default) in OF_DEFAULT else []
        values: list = []
        if field is not None:
            said = self.sources.described(field[0])
            stated, values = said["types"], said.get("values", [])
            if not set(stated) - {"null"} <= JUDGED or default not in (None, MISSING) and not kinds:
                return {"types": ["any"], "values": values if set(stated) <= {"string", "null"} else []}
            kinds = unique([*stated, *(kind for kind in kinds if "integer" not in stated or type(default) is not int)])
        return {"types": kinds or ["any"], "values": values}


def read() -> Table:
    root = root_of_sources()
    first = [*sorted((root / "verl/workers/config").glob("*.py")), *sorted((root / FOLDER).glob("*.py"))]
    files = [*first, *(file for file in sorted((root / "verl").rglob("*.py")) if file not in first)]
    sources = Sources(files)
    modules = {node.name: constants(parsed(file)) for file in reversed(files) for node in parsed(file).body
               if isinstance(node, ast.ClassDef)}
    checks = Checks(sources, modules)
    trees = configurations(root)
    for name, others in ALSO.items():
        for other in others:
            if other in trees:
                trees[name] = over(trees.get(name, {}), trees[other])
    version = version_of(root)
    walk = Walk(root, sources, checks)
    for variant, tree in as_shipped(trees, version).items():
        walk.variant = variant
        walk.take(tree)
    return Table("verl", version, f"verl {version}, {FOLDER} and workers/config", walk.sections, dated=True)
