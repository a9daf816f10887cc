"""What a launch script calls of the SageMaker SDKs, told from its imports. Neither SDK is imported."""

import ast
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set

from smplan import _core


# A path of more steps is no job's; the limit keeps a hostile script from exhausting the stack.
MAX_STEPS = 40
# What finds an image: its arguments say whether there is one.
JUDGED_BY_VALUE = "image_uris.retrieve"


class Made(NamedTuple):
    """A call that makes an object which submits jobs, or a part of one: its class, and its parameters in order."""

    name: str
    parameters: Sequence[str]
    submits: str  #: `fit` or `train`; empty of parts


class SdkCalls:
    """Names of a script that stand for classes, functions and objects of the SDKs."""

    def __init__(self, tree: ast.Module):
        self.stores: Dict[str, int] = {}
        self.paths: Dict[str, str] = {}
        self.objects: Dict[str, ast.Call] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._import(alias.asname or alias.name.partition(".")[0], alias.name if alias.asname else
                                 alias.name.partition(".")[0])
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self._import(alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}")
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self._store(node.id)
            elif isinstance(node, ast.arg):
                self._store(node.arg)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._store(node.name)
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and \
                    isinstance(node.value, ast.Call):
                self.objects[node.targets[0].id] = node.value
        self.calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]

    def _store(self, name: str) -> None:
        self.stores[name] = self.stores.get(name, 0) + 1

    def _import(self, name: str, path: str) -> None:
        if self.paths.setdefault(name, path) != path:  # of two, nobody knows which
            self._store(name)

    def path(self, node: ast.expr, steps: int = MAX_STEPS) -> str:
        """`sagemaker.pytorch.PyTorch().fit` of `estimator.fit`; empty for what is not the SDK's."""
        if not steps:
            return ""
        if isinstance(node, (ast.Attribute, ast.Call)):
            base = self.path(node.value if isinstance(node, ast.Attribute) else node.func, steps - 1)
            return base + (f".{node.attr}" if isinstance(node, ast.Attribute) else "()") if base else ""
        if not isinstance(node, ast.Name):
            return ""
        if node.id in self.paths:
            path = self.paths[node.id]
            return path if node.id not in self.stores and path.partition(".")[0] == "sagemaker" else ""
        # A name with one value alone.
        if node.id in self.objects and self.stores[node.id] == 1:
            return self.path(self.objects[node.id], steps - 1)
        return ""

    def made(self, node: ast.Call) -> Optional[Made]:
        """For `PyTorch(...)`, `ModelTrainer.from_recipe(...)`, `TrainingInput(...)`; None for what is not known."""
        path = self.path(node.func)
        if not path or "()" in path:
            return None
        found = _core.sdk_callable(path)
        if found is None:
            owner, _, method = path.rpartition(".")
            found = _core.sdk_callable(owner)
            if found is None or method not in found[3]:
                return None
            return Made(found[0], found[2][method], _submits(found[2]))
        return Made(found[0], found[1], _submits(found[2]))

    def is_imported(self, node: ast.Call) -> bool:
        function: ast.expr = node.func
        while isinstance(function, ast.Attribute):
            function = function.value
        return isinstance(function, ast.Name) and function.id in self.paths

    def from_method(self, node: ast.Call) -> str:
        """`from_recipe` of `ModelTrainer.from_recipe(...)`."""
        path = self.path(node.func)
        return path.rpartition(".")[2] if _core.sdk_callable(path) is None else ""

    def described(self, passed_on: Dict[int, Set[str]], value_of: Callable[[ast.expr], Any]) -> List[Dict[str, Any]]:
        """Each call of the SDK, in the order of the script; `passed_on`: names that a literal `**name` gives, by call."""
        out = []
        for node in sorted(self.calls, key=lambda call: (call.lineno, call.col_offset)):
            path = self.path(node.func)
            if not path:
                continue
            spread = [keyword for keyword in node.keywords if keyword.arg is None]
            known = passed_on.get(id(node))
            is_open = any(isinstance(argument, ast.Starred) for argument in node.args) or bool(spread) and known is None
            arguments = [{"name": keyword.arg, "line": keyword.value.lineno} for keyword in node.keywords if keyword.arg]
            arguments += [{"name": name, "line": node.lineno} for name in sorted(known or ())]
            call = {"path": path, "line": node.lineno, "positional": len(node.args), "open": is_open, "arguments": arguments}
            if path.endswith(JUDGED_BY_VALUE):
                call["values"] = self._values(node, path, value_of)
            out.append(call)
        return out


    @staticmethod
    def _values(node: ast.Call, path: str, value_of: Callable[[ast.expr], Any]) -> List[Dict[str, Any]]:
        """Arguments of one call with their values, where they are seen."""
        found = _core.sdk_callable(path)
        given = dict(zip(found[1], node.args)) if found else {}
        given.update({keyword.arg: keyword.value for keyword in node.keywords if keyword.arg})
        return [{"name": name, "line": value.lineno, "value": value_of(value)} for name, value in given.items()]


def _submits(methods: Dict[str, List[str]]) -> str:
    return next((name for name in ("fit", "train") if name in methods), "")
