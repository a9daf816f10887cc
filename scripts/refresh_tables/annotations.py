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
    """A value of an enumeration as its text; the member's name where the value is an object of a library."""
    if isinstance(value, enum.Enum) and not isinstance(value.value, (str, int, float, type(None))):
        return value.name
    value = value.value if isinstance(value, enum.Enum) else value
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def described(annotation) -> dict:
    """Types, the types of a list's entries, the values of an enumeration, and the types that these do not bind."""
    kinds, values, items, free = [], [], [], []
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
            kind = "object" if hasattr(part, "model_fields") else WORDS.get(origin or part, "any")
            kinds.append(kind)
            free.append(kind)
    kinds, free = list(dict.fromkeys(kinds)), [kind for kind in dict.fromkeys(free) if kind != "null"]
    if {"string", "any"} & set(free):
        values = values if items and values else []
    if not values or items:
        free = []
    return {"types": kinds, "items": list(dict.fromkeys(items)), "values": list(dict.fromkeys(values)), "free": free}


LIMITS = (("min", "ge"), ("max", "le"), ("above", "gt"), ("below", "lt"))


def limits_of(annotation) -> dict:
    """Limits that annotations put on a number, wherever they stand in a union."""
    found = {}
    if typing.get_origin(annotation) is typing.Annotated:
        for one in annotation.__metadata__:
            found.update({key: getattr(one, attribute) for key, attribute in LIMITS
                          if getattr(one, attribute, None) is not None})
    for part in typing.get_args(annotation):
        if typing.get_origin(annotation) not in (list, dict, typing.Literal):
            found.update(limits_of(part))
    return found
