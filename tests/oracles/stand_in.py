"""Lets configuration classes of training frameworks be imported where PyTorch is not installed.

Their modules import torch for types and constants, and check settings in plain Python. A stand-in answers every
import and every attribute of the packages that it is given, and computes nothing.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import pathlib
import sys
import types
import typing

TORCH = "2.10.0"  # as in the newest container of the catalog


class StandIn(types.ModuleType):
    """A module whose attributes are further stand-ins: classes where the name looks like one."""

    __path__: list[str] = []
    __version__ = TORCH

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        if name[0].isupper():
            made = type(name, (), {"__module__": self.__name__})
        else:
            made = sys.modules.setdefault(f"{self.__name__}.{name}", StandIn(f"{self.__name__}.{name}"))
        setattr(self, name, made)
        return made

    def __call__(self, *arguments, **named):
        """As a decorator it leaves what it decorates."""
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) and not named else self


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages: tuple[str, ...]):
        self.packages = packages

    def find_spec(self, name, path=None, target=None):
        if any(name == package or name.startswith(package + ".") for package in self.packages):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        pass


def replace(*packages: str) -> None:
    """From now on these packages, and all inside them, are stand-ins."""
    sys.meta_path.insert(0, Finder(packages))


def without_init(*packages: str) -> None:
    """The packages' modules can be imported, and their own __init__ never runs."""
    for name in packages:
        module = types.ModuleType(name)
        folders = (os.path.join(entry, *name.split(".")) for entry in sys.path)
        module.__path__ = [folder for folder in folders if os.path.isdir(folder)]
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)


def torch() -> None:
    replace("torch", "triton")
    version = importlib.metadata.version
    importlib.metadata.version = lambda name: TORCH if name == "torch" else version(name)


def deepspeed() -> None:
    """DeepSpeed's configuration without its kernels, inference engines and what puts kernels into modules."""
    replace("deepspeed.ops", "deepspeed.moe", "deepspeed.inference.v2", "deepspeed.git_version_info")
    without_init("deepspeed", "deepspeed.comm", "deepspeed.runtime", "deepspeed.runtime.zero", "deepspeed.module_inject")
    sys.modules["deepspeed"].HAS_TRITON = False
    vars(sys.modules["deepspeed.comm"]).update(get_rank=lambda: 0, ProcessGroup=object)


class NoPlugins:
    """axolotl's manager where a file names no plugin."""

    @classmethod
    def get_instance(cls):
        return cls()

    def supports_adapter(self, name: str) -> bool:
        return False

    adapter_supports_relora = supports_adapter


def axolotl() -> None:
    """axolotl's schemas and validators without what loads and trains models."""
    torch()
    replace("transformers", "accelerate", "peft", "axolotl.loaders", "axolotl.model_support", "axolotl.monkeypatch",
            "axolotl.utils.distributed", "axolotl.utils.bench", "axolotl.integrations.base")
    without_init("axolotl", "axolotl.integrations")
    sys.modules["axolotl.integrations.base"] = plugins = StandIn("axolotl.integrations.base")
    plugins.PluginManager = NoPlugins
    from transformers.utils import import_utils

    import_utils.is_torch_npu_available = lambda: False


class Plain(ast.NodeTransformer):
    """A module's imports, classes, functions and values without what it runs at once, and functions without annotations
    and defaults: those speak of packages that are stand-ins. What still fails is left out."""

    KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)

    def visit_Module(self, node):
        node.body = [self.guarded(self.visit(one)) for one in node.body if isinstance(one, self.KEPT)]
        return node

    def visit_FunctionDef(self, node):
        arguments = node.args
        rest = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]:
            one.annotation = None
        arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
        arguments.kw_defaults = [default and ast.Constant(None) for default in arguments.kw_defaults]
        node.returns = None
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    @staticmethod
    def guarded(node):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return node
        passed = ast.ExceptHandler(type=ast.Name("Exception", ast.Load()), name=None, body=[ast.Pass()])
        return ast.Try(body=[node], handlers=[passed], orelse=[], finalbody=[])


class PlainLoader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data, path, *, _optimize=-1):
        return compile(ast.fix_missing_locations(Plain().visit(ast.parse(data))), path, "exec", dont_inherit=True)


class PlainFinder(importlib.abc.MetaPathFinder):
    """Finds a package's modules in its sources, and loads them plain."""

    def __init__(self, root: pathlib.Path, package: str):
        self.root, self.package = root, package

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != self.package:
            return None
        file = self.root.joinpath(*name.split("."))
        file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
        if not file.exists():
            return None
        return importlib.util.spec_from_file_location(name, file, loader=PlainLoader(name, str(file)))


def imported_by(folder: pathlib.Path) -> set:
    """Names of all packages that the modules of a folder import."""
    found = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            found |= {name.split(".")[0] for name in names}
    return found


def nemo_rl(root: pathlib.Path) -> None:
    """NeMo-RL's configuration classes from its sources. Pydantic, which checks by them, and the readers of YAML are real;
    before Python 3.12 pydantic wants the dictionaries of typing_extensions."""
    import hydra  # noqa: F401 - imported before their dependencies may be stand-ins
    import omegaconf  # noqa: F401
    import pydantic  # noqa: F401
    import typing_extensions

    for name in ("TypedDict", "NotRequired", "Required"):
        setattr(typing, name, getattr(typing_extensions, name))
    real = {"nemo_rl", "hydra", "omegaconf", "pydantic", "typing_extensions", "yaml", *sys.stdlib_module_names}
    replace(*(imported_by(root / "nemo_rl") - real))
    sys.meta_path.insert(0, PlainFinder(root, "nemo_rl"))
