"""HyperPod's recipes: the models of the training adapter for NeMo, and the checks of the launcher, which has others for
each kind of recipe. Kinds that SageMaker runs serverless have their limits in the templates of launch.json. The folder of sources holds both repositories. Words that the images take from libraries are read of
accelerate and transformers."""

import ast
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import types

from refresh_tables.annotations import described, members_of
from refresh_tables.table import Section, Table

ADAPTER = "src/hyperpod_nemo_adapter"
LAUNCHER = "launcher/config_validator/schema"
LIMITS = (("min", "ge"), ("max", "le"), ("above", "gt"), ("below", "lt"))
# Kinds of recipe, and the class of the launcher's checks. `hf` is the adapter's.
LAUNCHED = {"llmft": "LLMFTRecipeValidator", "verl": "VerlRecipeValidator", "nova": "NovaRecipeValidator"}
# Kinds of recipe that SageMaker runs serverless, whose limits stand in the templates of launch.json: of open models and of
# Nova's. The file, the template, the recipes.
TEMPLATES = "launcher/recipe_templatization"
TEMPLATED = {"mtrl": ("mtrl/mtrl_recipe_template_parameters.json", "mtrl_lora", "mtrl-*.yaml"),
             "mtrl-nova": ("mtrl/mtrl_recipe_template_parameters.json", "mtrl_nova_lite_lora",
                           "mtrl_nova*.yaml")}
TYPES = {"integer": "integer", "float": "number", "string": "string", "array": "list"}
# Members that the launcher's classes hold as plain objects, and hand on to a class of their own.
HANDED_ON = {("llmft", "training_config"): {"training_args": "LLMFTTrainingArgsValidator"},
             ("nova", "training_config"): "NovaTrainingConfigValidator"}


def repository(inside: str) -> pathlib.Path:
    for entry in sys.path:
        for root in (pathlib.Path(entry or "."), *(one for one in pathlib.Path(entry or ".").glob("*") if one.is_dir())):
            if (root / inside).is_dir():
                return root
    raise FileNotFoundError(inside)


def module_of(name: str, file: pathlib.Path):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def adapter_models(root: pathlib.Path):
    """The module of models, whose package needs NeMo."""
    folder = root / ADAPTER
    for package in ("hyperpod_nemo_adapter", "hyperpod_nemo_adapter.utils", "hyperpod_nemo_adapter.conf"):
        made = sys.modules[package] = types.ModuleType(package)
        made.__path__ = []
    logs = sys.modules["hyperpod_nemo_adapter.utils.log_utils"] = types.ModuleType("log_utils")
    logs.Logger = lambda: types.SimpleNamespace(get_logger=lambda: None)
    constants = module_of("hyperpod_nemo_adapter.constants", folder / "constants.py")
    if (folder / "utils/general_utils.py").exists():
        module_of("hyperpod_nemo_adapter.utils.general_utils", folder / "utils/general_utils.py")
    return module_of("hyperpod_nemo_adapter.conf.config_schemas", folder / "conf/config_schemas.py"), constants


class Walk:
    def __init__(self):
        self.sections: list = []

    def section(self, path: str, kind: str, unknown: str = "open") -> Section:
        section = Section(f"{path}:{kind}", "pydantic", unknown, sharing=True)
        self.sections.append(section)
        return section

    def take(self, model, path: str, kind: str) -> Section:
        """Fields of a class of pydantic's. Recipes leave null what the launcher's command line gives."""
        # The adapter forbids unknown keys of its model; pydantic drops those below it.
        section = self.section(path, kind, "refused" if (path, kind) == ("model", "adapter") else "open")
        for name, info in model.model_fields.items():
            if name == "model_config":
                continue
            where = f"{path}.{name}" if path else name
            row = described(info.annotation)
            limits = {key: getattr(one, attribute) for one in info.metadata for key, attribute in LIMITS
                      if getattr(one, attribute, None) is not None}
            inner = [one for one in members_of(info.annotation) if hasattr(one, "model_fields")]
            inner = [one for one in inner if one.model_fields]
            types_of = list(dict.fromkeys([*row["types"], "null"]))
            required = True if info.is_required() and path == "" and not inner else None
            section.add(name, **{**row, "types": types_of, **limits}, section=where if inner else None,
                        required=required)
            if inner:
                self.take(inner[0], where, kind)
        return section


def set_row(inside: Section, name: str, **members) -> None:
    inside.fields = [row for row in inside.fields if row["name"] != name]
    inside.add(name, **members)


def launched_kinds(root: pathlib.Path) -> tuple[list, list]:
    """Words of `run.model_type` that the launcher asks for, and beginnings of such words."""
    trees = [ast.parse((root / file).read_text(encoding="utf-8")) for file in ("main.py", "launcher/nemo/stages.py")]
    words, starts = [], []
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Compare) and getattr(node.left, "id", "") == "model_type":
            value = ast.literal_eval(node.comparators[0]) if isinstance(
                node.comparators[0], (ast.Constant, ast.List)) else []
            words += [value] if isinstance(value, str) else [word for word in value or [] if isinstance(word, str)]
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "startswith" and \
                "model_type" in ast.dump(node.func):
            starts += [ast.literal_eval(one) for one in node.args]
    return sorted(set(words)), sorted(set(starts))


def take_template(walk: Walk, template: dict, limits: dict, path: str, kind: str) -> None:
    """Members of a template, whose values are names of parameters: `{{max_steps}}`."""
    section = walk.section(path, kind)
    for name, value in template.items():
        where = f"{path}.{name}" if path else name
        if isinstance(value, dict):
            section.add(name, types=["object", "null"], section=where)
            take_template(walk, value, limits, where, kind)
            continue
        limit = limits[value.strip("{}")]
        section.add(name, types=[TYPES[limit["type"]], "null"], values=[str(word) for word in limit.get("enum", [])],
                    min=limit.get("min"), max=limit.get("max"))


def take_names(walk: Walk, recipe: dict, path: str, kind: str) -> None:
    """Members that AWS's own recipes have beside those of their template, of any value."""
    section = next((one for one in walk.sections if one.path == f"{path}:{kind}"), None) or walk.section(path, kind)
    for name, value in recipe.items():
        where = f"{path}.{name}" if path else name
        known = next((row for row in section.fields if row["name"] == name), None)
        if not isinstance(value, dict):
            if known is None:
                section.add(name, types=["any"])
            continue
        if known is None:
            section.add(name, types=["object", "null"], section=where)
        take_names(walk, value, where, kind)


def templated(walk: Walk, root: pathlib.Path) -> None:
    import yaml

    for kind, (file, name, recipes) in TEMPLATED.items():
        known = json.loads((root / TEMPLATES / file).read_text(encoding="utf-8"))["templates"][name]
        take_template(walk, known["recipe_template"], known["recipe_override_parameters"], "", kind)
        for recipe in sorted((root / "recipes_collection/recipes/fine-tuning").rglob(recipes)):
            take_names(walk, yaml.safe_load(recipe.read_text(encoding="utf-8")), "", kind)


def launcher(walk: Walk, root: pathlib.Path) -> None:
    folder = root / LAUNCHER
    words, starts = launched_kinds(root)
    for kind, name in LAUNCHED.items():
        module = module_of(f"launcher_{kind}", folder / f"{kind}_schema_validation.py")
        top = walk.take(getattr(module, name), "", kind)
        handed = HANDED_ON.get((kind, "training_config"))
        if not handed:
            continue
        set_row(top, "training_config", types=["object", "null"], section="training_config")
        if isinstance(handed, str):
            walk.take(getattr(module, handed), "training_config", kind)
            continue
        section = walk.section("training_config", kind)
        for member, model in handed.items():
            section.add(member, types=["object", "null"], section=f"training_config.{member}")
            walk.take(getattr(module, model), f"training_config.{member}", kind)
    templated(walk, root)
    walk.section("", "other")
    for section in [one for one in walk.sections if one.path.startswith(":")]:
        kind = section.path[1:]
        set_row(section, "run", types=["object", "null"], section="run")
        run = next((one for one in walk.sections if one.path == f"run:{kind}"), None) or walk.section("run", kind)
        set_row(run, "model_type", types=["string", "null"], values=words, open_with=starts)


def words_of_libraries(walk: Walk) -> str:
    """Of llmft's FSDP, which are those of accelerate's plugin, and its schedules, which are those of transformers."""
    import accelerate
    import transformers
    from accelerate.utils import constants

    arguments = next(one for one in walk.sections if one.path == "training_config.training_args:llmft")
    arguments.add("lr_scheduler", types=["string", "null"],
                  values=[one.value for one in transformers.trainer_utils.SchedulerType], grows=True)
    arguments.add("strategy", types=["object", "null"], section="training_config.training_args.strategy")
    walk.section("training_config.training_args.strategy", "llmft").add(
        "fsdp_config", types=["object", "null"], section="training_config.training_args.strategy.fsdp_config")
    fsdp = walk.section("training_config.training_args.strategy.fsdp_config", "llmft")
    for name, known in (("sharding_strategy", constants.FSDP_SHARDING_STRATEGY),
                        ("auto_wrap_policy", constants.FSDP_AUTO_WRAP_POLICY),
                        ("backward_prefetch", constants.FSDP_BACKWARD_PREFETCH),
                        ("state_dict_type", constants.FSDP_STATE_DICT_TYPE)):
        fsdp.add(name, types=["string", "null"], values=known, case="any")
    for name in ("activation_checkpointing", "cpu_offload", "cpu_ram_efficient_loading", "forward_prefetch",
                 "sync_module_states", "use_orig_params"):
        fsdp.add(name, types=["boolean", "null"])
    return f"accelerate {accelerate.__version__} and transformers {transformers.__version__}"


def commit_of(root: pathlib.Path) -> str:
    said = subprocess.run(["git", "-C", str(root), "log", "-1", "--format=%h, %cs"], stdout=subprocess.PIPE, text=True)
    return said.stdout.strip() or "without a history"


def version_of(root: pathlib.Path) -> str:
    text = (root / ADAPTER / "version/__version__.py").read_text(encoding="utf-8")
    return re.search(r"__version__ = \D+([\d.]+)", text).group(1)


def read() -> Table:
    adapter, recipes = repository(ADAPTER), repository(LAUNCHER)
    models, _ = adapter_models(adapter)
    walk = Walk()
    top = walk.take(models.BaseConfig, "", "adapter")
    walk.take(models.BaseModelConfig, "model", "adapter")
    # The class of the whole holds any model.
    set_row(top, "model", types=["object"], section="model")
    launcher(walk, recipes)
    libraries = words_of_libraries(walk)
    version = version_of(adapter)
    return Table("hyperpod-recipe", version,
                 f"HyperPod training adapter for NeMo {version}, config_schemas.py; checks and templates of the recipes' "
                 f"launcher ({commit_of(recipes)}); {libraries}", walk.sections)
