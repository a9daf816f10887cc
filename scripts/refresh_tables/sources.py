"""Dataclasses, enumerations and calls of argparse, read from source text: nothing of the library is imported."""

import ast
import functools
import pathlib

TYPES = {"bool": "boolean", "int": "integer", "float": "number", "str": "string", "list": "list", "List": "list",
         "tuple": "list", "Tuple": "list", "Sequence": "list", "dict": "object", "Dict": "object", "None": "null",
         "Path": "string", "PathLike": "string"}
MISSING = object()


class Sources:
    """Python files, and the classes in them by name."""

    def __init__(self, files: list):
        self.classes = {}
        for file in files:
            for node in ast.walk(parsed(file)):
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, node)

    def bases(self, name: str) -> list:
        """The class and what it derives from, the class last."""
        node = self.classes.get(name)
        if node is None:
            return []
        above = [one for base in node.bases for one in self.bases(last_name(base))]
        return [*above, node]

    def enumeration(self, name: str) -> list | None:
        """Values of an enumeration's members; None where it is none."""
        node = self.classes.get(name)
        if node is None or not any("Enum" in last_name(base) for base in node.bases):
            return None
        return [literal(one.value) for one in node.body if isinstance(one, ast.Assign)
                and isinstance(one.value, ast.Constant)]

    def members(self, name: str) -> list:
        """Names of an enumeration's members."""
        node = self.classes.get(name)
        if node is None or not any("Enum" in last_name(base) for base in node.bases):
            return []
        return [one.targets[0].id for one in node.body if isinstance(one, ast.Assign)]

    def fields(self, name: str) -> dict:
        """Fields of a dataclass and its bases: annotation, default (MISSING), the call of field() or None."""
        found = {}
        for node in self.bases(name):
            for one in node.body:
                if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
                    continue
                call = one.value if isinstance(one.value, ast.Call) and last_name(one.value.func) == "field" else None
                default = MISSING if one.value is None else literal(one.value)
                if call is not None:
                    named = {word.arg: word.value for word in call.keywords}
                    default = literal(named["default"]) if "default" in named else (
                        factory(named["default_factory"]) if "default_factory" in named else MISSING)
                found[one.target.id] = (one.annotation, default, call)
        return found

    def described(self, annotation) -> dict:
        """Types, the types of entries and the values that an annotation says."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        if isinstance(annotation, ast.BinOp):
            return merged([self.described(annotation.left), self.described(annotation.right)])
        if isinstance(annotation, ast.Constant) and annotation.value is None:
            return {"types": ["null"]}
        if isinstance(annotation, ast.Subscript):
            name = last_name(annotation.value)
            inside = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            if name == "Optional":
                return merged([self.described(inside[0]), {"types": ["null"]}])
            if name == "Union":
                return merged([self.described(one) for one in inside])
            if name == "Literal":
                words = [one.value for one in inside if isinstance(one, ast.Constant)]
                kinds = [TYPES.get(type(word).__name__, "null") for word in words]
                return {"types": unique(kinds), "values": [text(word) for word in words if word is not None]}
            if TYPES.get(name) == "list":
                items = self.described(inside[0])
                return {"types": ["list"], "items": items["types"], "values": items.get("values", [])}
            return {"types": [TYPES.get(name, "any")]}
        name = last_name(annotation)
        values = self.enumeration(name)
        if values is not None:
            kinds = unique([TYPES.get(type(value).__name__, "string") for value in values]) or ["any"]
            return {"types": kinds, "values": [text(value) for value in values]}
        return {"types": [TYPES.get(name, "any")]}


def merged(parts: list) -> dict:
    """A union. Values hold only where no other alternative is free text of the same type."""
    kinds = unique([kind for part in parts for kind in part["types"]])
    free = {kind for part in parts if not part.get("values") and not part.get("items") for kind in part["types"]}
    named = [part for part in parts if part.get("values")]
    # Union[str, SomeEnum] takes the words of the enumeration alone: the text is how they are written.
    enumerated = [part for part in named if part["types"] == ["string"]]
    values = [value for part in named for value in part["values"]]
    if "any" in free or free - {"null", "string"} or ("string" in free and not enumerated):
        values = [] if free - {"null"} else values
    return {"types": kinds, "values": unique(values),
            "items": unique([kind for part in parts for kind in part.get("items", [])])}


def unique(words: list) -> list:
    return list(dict.fromkeys(words))


def text(value) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def literal(node):
    """A constant's value; None where the source computes it."""
    try:
        return ast.literal_eval(node)
    except (ValueError, SyntaxError):
        return None


def factory(node):
    return literal(node.body) if isinstance(node, ast.Lambda) else {"list": [], "dict": {}}.get(last_name(node))


def last_name(node) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Subscript):
        return last_name(node.value)
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return str(node.value) if isinstance(node, ast.Constant) else ""


@functools.cache
def parsed(file) -> ast.Module:
    return ast.parse(pathlib.Path(file).read_text(encoding="utf-8"))


def calls(tree: ast.AST, method: str) -> list:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and last_name(node.func) == method]


def keywords(call: ast.Call) -> dict:
    return {word.arg: word.value for word in call.keywords if word.arg}
