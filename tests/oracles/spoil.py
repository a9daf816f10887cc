"""Ways to spoil a configuration in one place, for the oracles that compare our checks with a library's."""

import random


def places(node, path=()):
    """Paths of all members, in lists too."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in pairs:
        if isinstance(node, dict):
            yield (*path, key)
        if isinstance(value, dict) or isinstance(value, list) and value and isinstance(value[0], dict):
            yield from places(value, (*path, key))


def at(document, path: tuple):
    for key in path[:-1]:
        document = document[key]
    return document


def misspelt(word: str, chance: random.Random) -> str:
    if len(word) < 3:
        return word + "x"
    i = chance.randrange(1, len(word) - 1)
    return chance.choice([word[:i] + word[i + 1:], word[:i] + word[i] + word[i:], word[:i] + "x" + word[i + 1:]])


def replacements(value, more=()) -> list:
    """Other values for one: right, odd and wrong."""
    out = ["bogus", "", None, [], {}, [1], {"a": 1}, -1, 0, 1, 2.5, "2", "2.5", "1e3", "true", "no", True, 1e30, *more]
    if isinstance(value, str):
        out += [value.upper(), value.lower(), value + "x", 7]
    return [one for one in out if type(one) is not type(value) or one != value]
