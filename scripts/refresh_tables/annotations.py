"""What a Python annotation says of a value, in the words of the tables."""

import enum
import pathlib
import types
import typing

WORDS = {bool: "boolean", int: "integer", float: "number", str: "string", list: "list", tuple: "list", set: "list",
         dict: "object", type(None): "null", pathlib.Path: "string"}


def members_of(annotation) -> list:
    """The alternatives of a union; the annotation itself where it is none."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [member for part in typing.get_args(annotation) for member in members_of(part)]
    if typing.get_origin(annotation) is typing.Annotated:
        return members_of(typing.get_args(annotation)[0])
    return [annotation]


def word(value) -> str:
    """A value of an enumeration as its text."""
    value = value.value if isinstance(value, enum.Enum) else value
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def described(annotation) -> dict:
    """Types, the types of a list's entries, and the values of an enumeration."""
    kinds, values, items = [], [], []
    for part in members_of(annotation):
        origin, arguments = typing.get_origin(part), typing.get_args(part)
        if origin is typing.Literal:
            kinds += [WORDS.get(type(value), "any") for value in arguments]
            values += [word(value) for value in arguments if value is not None]
        elif isinstance(part, type) and issubclass(part, enum.Enum):
            kinds += [WORDS.get(type(value.value), "string") for value in part]
            values += [word(value) for value in part]
        elif origin in (list, tuple, set):
            kinds.append("list")
            if origin is list and arguments:
                inner = described(arguments[0])
                items += inner["types"]
                values += inner.get("values", [])
        else:
            kinds.append(WORDS.get(origin or part, "any"))
    kinds = list(dict.fromkeys(kinds))
    if values and not items and set(kinds) - {"null", "string", "integer", "boolean"}:
        values = []  # one alternative among others: not all that may be
    if values and not items and len({"string", "integer", "boolean"} & set(kinds)) > 1:
        free = [part for part in members_of(annotation) if part in (str, int, bool)]
        values = [] if free else values
    return {"types": kinds, "items": list(dict.fromkeys(items)), "values": list(dict.fromkeys(values))}
