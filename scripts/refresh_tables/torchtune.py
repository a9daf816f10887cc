"""torchtune's recipes: what its configurations hold and its recipes look up, and the parameters of the components that a
`_component_` names, which `tune validate` and the recipes refuse where they are unknown. Read from the sources."""

import ast
import pathlib

import yaml

from refresh_tables.sources import calls, last_name, literal, parsed
from refresh_tables.table import Section, Table
from refresh_tables.trl import folder_of, version_of

# Packages whose public names configurations use as components.
COMPONENTS = ("models", "datasets", "modules", "rlhf", "training", "data", "dev", "generation")
# Packages beside it, whose folder optim configurations take classes of.
OPTIMIZERS = ("torch", "bitsandbytes")
# Of bitsandbytes' optimizers until 0.4x; files do not say which version they are for.
OLDER = ("percentile_clipping", "block_wise")
# What a module assigns and nobody can tell.
ANYTHING = ast.parse("def made(**others): pass").body[0]
KINDS = ((bool, "boolean"), (int, "integer"), (float, "number"))


def statements(body: list) -> list:
    """Of a module, those that it tries or that depend on a condition included."""
    inside = [one for node in body if isinstance(node, (ast.Try, ast.If))
              for part in (node.body, *(handler.body for handler in getattr(node, "handlers", [])), node.orelse)
              for one in statements(part)]
    return [*body, *inside]


def exported(body: list) -> set:
    """Names that a module says are its own, whoever makes them."""
    return {name for node in body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "__all__" for name in literal(node.value) or ()}


def definitions(package: pathlib.Path, below: str = "") -> dict:
    """Functions and classes of every module, and what packages import from below them, by dotted path."""
    found, imported = {}, []
    for file in sorted((package / below).rglob("*.py")):
        module = ".".join(file.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        body = statements(parsed(file).body)
        own = exported(body)
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found[f"{module}.{node.name}"] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = f"{module}.{node.targets[0].id}"
                found[name] = ANYTHING
                if isinstance(node.value, ast.Call) and last_name(node.value.func) == "partial":
                    imported.append((name, f"{module}.{last_name(node.value.args[0])}"))
            elif isinstance(node, ast.ImportFrom):
                above = module.split(".") if file.stem == "__init__" else module.split(".")[:-1]
                base = above[:len(above) - node.level + 1] if node.level else []
                source = ".".join([*base, *([node.module] if node.module else [])])
                names = [(one.asname or one.name, one.name) for one in node.names]
                imported += [(f"{module}.{name}", f"{source}.{made}") for name, made in names]
                if source.partition(".")[0] != package.name:  # another package's, whose parameters are not read
                    found.update({f"{module}.{name}": ANYTHING for name, _ in names if name in own})
    for _ in range(4):  # what is imported from where it is imported
        found.update({name: found[source] for name, source in imported if source in found})
    return found


def parameters(node: ast.AST, known: dict) -> tuple[list, bool]:
    """Names of a function's or a constructor's parameters, and whether it takes others."""
    if isinstance(node, ast.ClassDef):
        made = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
        if made is None:
            above = [one for base in node.bases for path, one in known.items()
                     if path.rpartition(".")[2] == last_name(base) and isinstance(one, ast.ClassDef)]
            fields = [one.target.id for one in node.body if isinstance(one, ast.AnnAssign)]
            return parameters(above[0], known) if above and not fields else (fields, not fields)
        node = made
    words = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs) if one.arg != "self"]
    return words, node.args.kwarg is not None


def without_default(node: ast.AST) -> list:
    """Parameters that a call of a function must have."""
    if not isinstance(node, ast.FunctionDef):
        return []
    positional = [*node.args.posonlyargs, *node.args.args]
    plain = positional[:len(positional) - len(node.args.defaults)]
    return [one.arg for one in plain] + [one.arg for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults)
                                         if default is None]


def enumerations(known: dict) -> dict:
    """Members of each enumeration, by its last name."""
    found = {}
    for path, node in known.items():
        if isinstance(node, ast.ClassDef) and any(last_name(base) == "Enum" for base in node.bases):
            targets = [target for one in node.body if isinstance(one, (ast.Assign, ast.AnnAssign)) and one.value
                       for target in getattr(one, "targets", None) or [one.target]]
            found[path.rpartition(".")[2]] = tuple(one.id for one in targets if isinstance(one, ast.Name))
    return found


def words(node: ast.AST, members: dict) -> dict:
    """Parameters by whose name a member of an enumeration is looked up, `ModelType[model_type]`, and the members."""
    looked = [one for one in ast.walk(node) if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Name)]
    return {one.slice.id: members[last_name(one.value)] for one in looked if last_name(one.value) in members}


def aliases(package: pathlib.Path) -> dict:
    """Words of every `NAME = Literal[...]`."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        for node in parsed(file).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript) and \
                    last_name(node.value.value) == "Literal" and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = tuple(one.value for one in ast.walk(node.value.slice)
                                                  if isinstance(one, ast.Constant))
    return found


def listed_words(node: ast.AST, known: dict) -> dict:
    """Parameters that are lists of such words: `List[LORA_ATTN_MODULES]`."""
    if not isinstance(node, ast.FunctionDef):
        return {}
    found = {}
    for one in [*node.args.args, *node.args.kwonlyargs]:
        listed = isinstance(one.annotation, ast.Subscript) and last_name(one.annotation.value) in ("List", "list")
        name = last_name(one.annotation.slice) if listed else None
        if name in known:
            found[one.arg] = known[name]
    return found


def optimizers() -> dict:
    """Classes of the packages whose optimizers configurations name, by the paths that configurations write."""
    found = {}
    for name in OPTIMIZERS:
        try:
            package = folder_of(name)
        except ImportError:
            continue
        known = definitions(package, "optim")
        found.update({path: (node, known) for path, node in known.items()
                      if isinstance(node, ast.ClassDef) and path.count(".") == 2 and path.startswith(f"{name}.optim.")})
    return found


def is_public(path: str) -> bool:
    words = path.split(".")
    return words[1] in COMPONENTS and not any(word.startswith("_") for word in words)


def component_sections(package: pathlib.Path) -> list:
    """A section for each set of parameters; components that share one stand in `same`."""
    known = definitions(package)
    members = enumerations(known)
    named = aliases(package)
    by_parameters: dict = {}
    made = {path: (node, known) for path, node in known.items() if is_public(path)} | optimizers()
    for path, (node, around) in sorted(made.items()):
        names, others = parameters(node, around)
        names = [*names, *(name for name in OLDER if path.startswith("bitsandbytes.") and name not in names)]
        # Recipes give models and tokenizers nothing beside what the file has; to plans for a model the model.
        needed = without_default(node) if path.startswith("torchtune.models.") else []
        needed = [] if "model" in needed else needed
        chosen = tuple((name, values) for name, values in words(node, members).items() if name in names)
        lists = tuple((name, values) for name, values in listed_words(node, named).items() if name in names)
        by_parameters.setdefault((tuple(names), others, tuple(needed), chosen, lists), []).append(f"components:{path}")
    sections = []
    for (names, others, needed, chosen, lists), paths in by_parameters.items():
        section = Section(paths[0], "plain", "open" if others else "refused", same=paths[1:], sharing=True)
        for name in (*names, "_component_"):
            values = dict(chosen).get(name) or dict(lists).get(name)
            listed = ["string"] if name in dict(lists) else None
            section.add(name, types=["list" if listed else "string" if values else "any"], items=listed,
                        required=name in needed or None, values=values)
        sections.append(section)
    top = Section("components", "plain", "open")
    top.add("_component_", types=["string"])
    return [top, *sections]


def objects_of(tree: ast.AST) -> set:
    """Settings that a recipe takes as an object too: `x = cfg.get("setting")`, and `isinstance(x, DictConfig)`."""
    asked = {one.args[0].id for one in calls(tree, "isinstance")
             if isinstance(one.args[0], ast.Name) and last_name(one.args[1]) == "DictConfig"}
    return {literal(one.value.args[0]) for one in ast.walk(tree) if isinstance(one, ast.Assign)
            and getattr(one.targets[0], "id", "") in asked and isinstance(one.value, ast.Call) and one.value.args}


def add_settings(section: Section, recipes: pathlib.Path) -> None:
    """Types of what every configuration writes alike; anything for what recipes look up besides."""
    seen: dict = {}
    objects = {name for file in sorted(recipes.glob("*.py")) for name in objects_of(parsed(file))}
    for file in sorted((recipes / "configs").rglob("*.yaml")):
        for name, value in yaml.safe_load(file.read_text(encoding="utf-8")).items():
            seen.setdefault(name, []).append(value)
    for file in sorted(recipes.glob("*.py")):
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "cfg":
                seen.setdefault(node.attr, [])
            elif isinstance(node, ast.Call) and last_name(node.func) == "get" and node.args and \
                    isinstance(node.func, ast.Attribute) and last_name(node.func.value) == "cfg":
                name = literal(node.args[0])
                if isinstance(name, str):
                    seen.setdefault(name, [])
    for name in sorted(seen.keys() - {"get", "pop", "items"}):
        values = [value for value in seen[name] if value is not None]
        if any(isinstance(value, dict) and "_component_" in value for value in values):
            section.add(name, types=["any"], section="components", section_of="_component_")
            continue
        kinds = {next((word for made, word in KINDS if type(value) is made), "any") for value in values}
        kinds = {"number"} if kinds == {"integer", "number"} else kinds
        types = [*kinds, *(["object"] if name in objects else []), "null"]
        section.add(name, types=types if len(kinds) == 1 and kinds != {"any"} else ["any"])


def read() -> Table:
    package = folder_of("torchtune")
    recipes = package.parent / "recipes"
    if not (recipes / "configs").is_dir():
        raise ImportError("torchtune's recipes are not beside it")
    section = Section("", "plain", "open")
    add_settings(section, recipes)
    stated = [file.name.removesuffix(".dist-info").split("-")[1] for file in package.parent.glob("torchtune-*.dist-info")]
    version = stated[0] if stated else version_of(package)
    return Table("torchtune", version, f"torchtune {version}, recipes and recipes/configs, and its public functions and "
                 "classes; optimizers of PyTorch and bitsandbytes", [section, *component_sections(package)])
