"""Reads estimator calls out of a launch script by its syntax tree. The script is never run."""

import ast
import json
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

from smplan._errors import Diagnostic, InputError
from smplan._sdk_calls import Made, SdkCalls

ESTIMATORS = {"PyTorch", "HuggingFace", "TensorFlow", "Estimator", "Horovod", "PyTorchDDP", "DeepSpeed"}
TRAINERS = {"ModelTrainer"}
# Arguments whose absence is a fault; where a dictionary's content is not followed they may be in it.
OPEN = ("distribution", "max_run", "checkpoint_s3_uri", "debugger_hook_config")
OPEN_TRAINER = ("distributed", "compute", "stopping_condition", "checkpoint_config", "training_image")
# Of what submits a job, the arguments that say something of it; the first is the first one without a name too.
DATA = {"fit": ("inputs", "job_name"), "train": ("input_data_config",)}
NOT_SEEN = "not seen"
# Deeper values are no arguments of a job; the limit keeps a hostile script from exhausting the stack.
MAX_DEPTH = 40
MAX_BYTES = 4 << 20


class LaunchCall(NamedTuple):
    """One estimator call: its arguments as JSON text, every one on the line where it stands in the script."""

    name: str
    kind: str
    line: int
    text: str


# A condition or loop and which of its bodies, from the outermost in.
Branch = Tuple[Tuple[int, str], ...]


class Change(NamedTuple):
    """A dictionary's key set after it was made; `key` None: changed in a way that is not followed."""

    line: int
    branch: Branch
    key: Optional[str]
    value: Optional[ast.expr]


class LaunchScript(NamedTuple):
    calls: List[LaunchCall]
    imports: List[str]


def read_launch_script(source: str, file: str) -> LaunchScript:
    """Every estimator and ModelTrainer call of a script, and the names that it imports."""
    if len(source.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise InputError([Diagnostic("file-too-large", file, "is larger than the limit of 4194304 bytes", "")])
    try:
        tree = ast.parse(source, filename=file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"{file}:{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else file
        text = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        raise InputError([Diagnostic("python-syntax", where, f"is no Python: {text}", "")]) from None
    reader = _Reader(tree)
    launches = sorted((node for node in reader.sdk.calls if reader.is_launch(node)), key=lambda node: node.lineno)
    # What stands beside the jobs is told once, with the first.
    calls = [reader.launch_call(node, is_first=not i) for i, node in enumerate(launches)]
    if not calls:
        raise InputError([Diagnostic("no-estimator", file, "holds no call of an estimator or a ModelTrainer",
                                     "check the file that launches the job")])
    return LaunchScript(calls, reader.imports)


def _called(node: ast.Call) -> str:
    """`sagemaker.pytorch.PyTorch` of a call, as far as it is written out."""
    parts = []
    function = node.func
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        parts.append(function.id)
    return ".".join(reversed(parts))


class _Reader:
    def __init__(self, tree: ast.Module):
        self.imports: List[str] = []
        self.sdk = SdkCalls(tree)
        self.values: Dict[str, Optional[ast.expr]] = {}
        self.submits: Dict[str, Dict[str, ast.expr]] = {}
        self.targets: Dict[int, str] = {}
        self.changes: Dict[str, List[Change]] = {}
        self.branches: Dict[int, Branch] = {}
        self._note_branches(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self.imports += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                self.imports += [f"{node.module or ''}.{alias.name}".lstrip(".") for alias in node.names]
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._assign(node.targets[0].id, node.value)
            elif isinstance(node, (ast.AugAssign, ast.For)) and isinstance(node.target, ast.Name):
                self.values[node.target.id] = None
            elif isinstance(node, ast.Call):
                self._note_submit(node)
            self._note_change(node)

    def _note_branches(self, tree: ast.AST) -> None:
        """Of every statement and call, the bodies that it stands in and that may not be run."""
        waiting: List[Tuple[ast.AST, Branch]] = [(tree, ())]
        while waiting:
            node, branch = waiting.pop()
            self.branches[id(node)] = branch
            for field, value in ast.iter_fields(node):
                depends = field in ("body", "orelse", "handlers") and isinstance(node, (ast.If, ast.For, ast.While, ast.Try))
                inner = (*branch, (id(node), field)) if depends else branch
                waiting += [(one, inner) for one in (value if isinstance(value, list) else [value])
                            if isinstance(one, ast.AST)]

    def _note_change(self, node: ast.AST) -> None:
        """`name[key] = value` and `name.update(...)`, and that other lines change a dictionary as well."""
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete)):
            targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target]
            for target in targets:
                if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
                    continue
                key = target.slice.value if isinstance(target.slice, ast.Constant) else None
                if isinstance(node, ast.Assign) and len(targets) == 1 and isinstance(key, str):
                    self._change(target.value.id, node, key, node.value)
                else:
                    self._change(target.value.id, node, None, None)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            name = node.func.value.id
            if node.func.attr == "update":
                given: List[Tuple[Optional[str], Optional[ast.expr]]] = [(k.arg, k.value) for k in node.keywords]
                for argument in node.args:
                    given += self._literal_items(argument)
                for key, value in given:
                    self._change(name, node, key, value if key is not None else None)
            elif node.func.attr in ("pop", "popitem", "clear", "setdefault"):
                self._change(name, node, None, None)

    def _change(self, name: str, node: Union[ast.expr, ast.stmt], key: Optional[str], value: Optional[ast.expr]) -> None:
        self.changes.setdefault(name, []).append(Change(node.lineno, self.branches[id(node)], key, value))

    @staticmethod
    def _literal_items(node: ast.expr) -> List[Tuple[Optional[str], Optional[ast.expr]]]:
        """Keys and values of a dictionary as it is written; (None, None) for what is not."""
        if isinstance(node, ast.Dict):
            return [(k.value, v) if isinstance(k, ast.Constant) and isinstance(k.value, str) else (None, None)
                    for k, v in zip(node.keys, node.values)]
        if isinstance(node, ast.Call) and _called(node) == "dict" and not node.args:
            return [(k.arg, k.value if k.arg is not None else None) for k in node.keywords]
        return [(None, None)]

    def _assign(self, name: str, value: ast.expr) -> None:
        # A name that is assigned twice has no one value.
        self.values[name] = None if name in self.values else value
        made: Optional[ast.expr] = value
        while isinstance(made, ast.Call):  # Made(...).with_this(...)
            self.targets[id(made)] = name
            made = made.func.value if isinstance(made.func, ast.Attribute) else None

    def _note_submit(self, node: ast.Call) -> None:
        """What fit() and train() are given belongs to the job too."""
        function = node.func
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return
        if function.attr not in DATA:
            return
        given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg in DATA[function.attr]}
        if node.args and not isinstance(node.args[0], ast.Starred):
            given[DATA[function.attr][0]] = node.args[0]
        self.submits.setdefault(function.value.id, {}).update(given)

    def is_launch(self, node: ast.Call) -> bool:
        made = self.sdk.made(node)
        return bool(made.submits) if made else _called(node).rsplit(".", 1)[-1] in ESTIMATORS | TRAINERS

    def launch_call(self, node: ast.Call, is_first: bool) -> LaunchCall:
        made = self.sdk.made(node)
        short = made.name if made else _called(node).rsplit(".", 1)[-1]
        is_trainer = made.submits == "train" if made else short in TRAINERS
        writer = _LinedJson()
        writer.open("{", node.lineno)
        writer.member("class", node.lineno)
        writer.text(json.dumps(short))
        if made and self.sdk.from_method(node):
            writer.member("made_by", node.lineno)
            writer.text(json.dumps(self.sdk.from_method(node)))
        written = set()
        submitted = self.submits.get(self.targets.get(id(node), ""), {})
        may_be_given = [name for name in (OPEN_TRAINER if is_trainer else OPEN) if not made or name in made.parameters]
        given = self._keywords(node, may_be_given)
        beside = [item for item in submitted.items() if item[0] in DATA["train" if is_trainer else "fit"]]
        for name, value in [*given, *beside]:
            if name in written:
                continue
            written.add(name)
            writer.member(name, getattr(value, "lineno", node.lineno))
            self._write(writer, value, 0)
        if not is_trainer and self._may_be_given_more(node, made):
            writer.member("open", node.lineno)
            writer.text("true")
        calls = self.sdk.described(self._passed_on(), self._value) if is_first else []
        if calls:
            writer.member("calls", node.lineno)
            writer.text(json.dumps(calls))
        writer.close("}")
        return LaunchCall(short, "model-trainer" if is_trainer else "estimator", node.lineno, writer.result())

    def _may_be_given_more(self, node: ast.Call, made: Optional[Made]) -> bool:
        """A class that is not known, or arguments that are not seen."""
        if made is None or self.sdk.from_method(node) or any(isinstance(one, ast.Starred) for one in node.args):
            return True
        return any(name == NOT_SEEN for name, _ in self._keywords(node, (NOT_SEEN,)))

    def _passed_on(self) -> Dict[int, Set[str]]:
        """Of each call with `**name`, the names that it gives by it, where all of them are seen."""
        out: Dict[int, Set[str]] = {}
        for node in self.sdk.calls:
            if any(keyword.arg is None for keyword in node.keywords):
                plain = {keyword.arg for keyword in node.keywords}
                names = {name for name, _ in self._keywords(node, (NOT_SEEN,))}
                if NOT_SEEN not in names:
                    out[id(node)] = names - plain
        return out

    def _positional(self, node: ast.Call) -> Dict[str, ast.expr]:
        """Arguments without a name, by the names that the SDK has for them."""
        made = self.sdk.made(node)
        if made is None or any(isinstance(argument, ast.Starred) for argument in node.args):
            return {}
        return dict(zip(made.parameters, node.args))

    def _keywords(self, node: ast.Call, may_be_given: Sequence[str] = ()) -> List[Tuple[str, ast.expr]]:
        """Named arguments; `**name` of a literal dictionary is written out, with what is put into it up to the call."""
        out = self._positional(node)
        is_open = False
        for keyword in node.keywords:
            if keyword.arg is not None:
                out[keyword.arg] = keyword.value
                continue
            items = self._literal_items(self._resolved(keyword.value))
            if isinstance(keyword.value, ast.Name):
                changes = sorted(self.changes.get(keyword.value.id, []), key=lambda change: change.line)
                here = self.branches[id(node)]
                items += [(change.key, change.value) if here[:len(change.branch)] == change.branch else (None, None)
                          for change in changes if change.line < node.lineno]
            for key, value in items:
                if key is None or value is None:
                    is_open = True
                else:
                    out[key] = value
        if is_open:  # what is not seen may be given: a placeholder is no fault
            spot = ("max_wait",) if "use_spot_instances" in out else ()
            for name in (*may_be_given, *spot):
                out.setdefault(name, ast.copy_location(ast.Name(id="not followed", ctx=ast.Load()), node))
        return list(out.items())

    def _resolved(self, node: ast.expr) -> ast.expr:
        seen: Set[str] = set()
        while isinstance(node, ast.Name) and node.id not in seen:
            seen.add(node.id)
            value = self.values.get(node.id)
            if value is None or self.sdk.stores[node.id] > 1:
                break
            node = value
        return node

    def _write(self, writer: "_LinedJson", node: ast.expr, depth: int) -> None:
        place = getattr(node, "lineno", 0)
        node = self._resolved(node)
        if depth > MAX_DEPTH:
            writer.text(json.dumps("<too deep>"))
        elif isinstance(node, ast.Dict) and all(isinstance(k, ast.Constant) for k in node.keys):
            writer.open("{", place)
            seen = set()
            for key, value in zip(node.keys, node.values):
                if not isinstance(key, ast.Constant) or str(key.value) in seen:
                    continue
                seen.add(str(key.value))
                writer.member(str(key.value), key.lineno)
                self._write(writer, value, depth + 1)
            writer.close("}")
        elif isinstance(node, ast.Call) and self._is_object(node):
            name = _called(node).rsplit(".", 1)[-1]
            writer.open("{", place)
            if name != "dict":
                writer.member("class", place)
                writer.text(json.dumps(name))
            for argument, value in self._keywords(node):
                writer.member(argument, value.lineno)
                self._write(writer, value, depth + 1)
            writer.close("}")
        elif isinstance(node, (ast.List, ast.Tuple)):
            writer.open("[", place)
            for item in node.elts:
                writer.element(item.lineno)
                self._write(writer, item, depth + 1)
            writer.close("]")
        else:
            writer.text(json.dumps(self._constant(node)))

    def _is_object(self, node: ast.Call) -> bool:
        """An object of the SDK (Compute(...), Torchrun()), or a dictionary by dict(...)."""
        name = _called(node).rsplit(".", 1)[-1]
        if node.args and len(self._positional(node)) < len(node.args):
            return False
        # What another module makes, or the SDK's pipelines (ParameterString), may be anything when the job starts.
        return name == "dict" or name[:1].isupper() and (self.sdk.made(node) is not None or not self.sdk.is_imported(node))

    def _value(self, node: ast.expr) -> Any:
        return self._constant(self._resolved(node))

    @staticmethod
    def _constant(node: ast.expr) -> Any:
        try:
            value = eval_arithmetic(node)
        except ValueError:
            return f"<{ast.unparse(node)[:60]}>"
        return value


def eval_arithmetic(node: ast.expr) -> Any:
    """A literal, or whole-number arithmetic of literals such as 24 * 60 * 60. ValueError for all else."""
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, (str, bool, int, float))):
        if isinstance(node.value, float) and node.value - node.value != 0:
            raise ValueError("not finite")
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = eval_arithmetic(node.operand)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return -value
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Add, ast.Sub)):
        left, right = eval_arithmetic(node.left), eval_arithmetic(node.right)
        if type(left) is int and type(right) is int and max(abs(left), abs(right)) < 2**40:
            if isinstance(node.op, ast.Mult):
                return left * right
            return left + right if isinstance(node.op, ast.Add) else left - right
    raise ValueError("no literal")


class _LinedJson:
    """JSON text whose keys stand on given lines, so that findings name the lines of the script."""

    def __init__(self) -> None:
        self._parts: List[str] = []
        self._line = 1
        self._first = [True]

    def _advance(self, line: int) -> None:
        if line > self._line:
            self._parts.append("\n" * (line - self._line))
            self._line = line

    def _separate(self) -> None:
        if not self._first[-1]:
            self._parts.append(", ")
        self._first[-1] = False

    def open(self, bracket: str, line: int) -> None:
        self._advance(line)
        self._parts.append(bracket)
        self._first.append(True)

    def close(self, bracket: str) -> None:
        self._parts.append(bracket)
        self._first.pop()

    def member(self, key: str, line: int) -> None:
        self._separate()
        self._advance(line)
        self._parts.append(json.dumps(key) + ": ")

    def element(self, line: int) -> None:
        self._separate()
        self._advance(line)

    def text(self, value: str) -> None:
        self._parts.append(value)

    def result(self) -> str:
        return "".join(self._parts) + "\n"
