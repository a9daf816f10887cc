"""What can be changed in a C++ source: one operator, constant or statement at a time.

Works on text: clang-format puts spaces around binary operators and none inside template brackets, which tells them
apart without a parser. A change that does not compile is no mutant; the compiler decides.
"""

import dataclasses
import hashlib
import re

# Longest first: what is no code of its own is blanked before operators are looked for.
NOT_MUTATED = re.compile(
    r'R"(?P<tag>\w*)\(.*?\)(?P=tag)"'  # raw strings
    r"|//[^\n]*|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![\w'])'(?:\\.|[^'\\\n])+'"  # characters; 1'000 holds none
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"  # preprocessor
    r"|\b(?:static_assert|SMPLAN_ASSERT)\([^;]*\);",
    re.DOTALL | re.MULTILINE,
)

SWAPPED = {
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
    " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " % ": " / ",
    " += ": " -= ", " -= ": " += ", " *= ": " /= ", " /= ": " *= ",
    " && ": " || ", " || ": " && ",
}  # fmt: skip
OPERATOR = re.compile("|".join(re.escape(word) for word in SWAPPED) + r"|std::(?:min|max)\b")
BOOLEAN = re.compile(r"\b(?:true|false)\b")
NEGATION = re.compile(r"(?<=[ (])!(?=[\w(])")
# Not a part of a name, not hexadecimal, not the last argument of a template.
NUMBER = re.compile(r"(?<![\w.'])\d[\d']*(?:\.\d+)?(?:e[-+]?\d+)?(?![\d.'xX>])")
# A limit: what a constant is declared to be, and what something is compared with.
DECLARED = re.compile(r"\bconstexpr [\w:]+ k\w+ = (?P<value>[^;{]*);")
COMPARED = re.compile(r" (?:[<>]=?|[!=]=) (?P<value>[\d'.e]+)\b")
STATEMENT = re.compile(
    r"^ +(?:if \(.*\) |else )?"
    r"(?P<body>continue;|break;|return\b[^;]*;|[\w.\[\]]+(?:->[\w.\[\]]+)* [-+*/]?= [^;]*;|[\w.:]+(?:->[\w.]+)*\([^;]*\);)$",
    re.MULTILINE,
)


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    line: int
    was: str  # the line, without indentation
    becomes: str
    start: int  # of what is replaced, in the file
    end: int
    replacement: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.replacement + text[self.end :]

    def is_listed_as(self, entry: dict[str, str]) -> bool:
        """Whether an entry of equivalent.toml is about it: without `becomes`, about every change of the line."""
        same_line = (entry["file"], entry["was"]) == (self.path, self.was)
        return same_line and entry.get("becomes", self.becomes) == self.becomes


def code_only(text: str) -> str:
    """The text with everything that must not change blanked, each character at its place."""
    return NOT_MUTATED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def other_number(number: str) -> str:
    if "." in number or "e" in number:
        value = float(number.replace("'", ""))
        return repr(2 * value) if value else "1.0"
    return str(int(number.replace("'", "")) + 1)


def tenfold(code: str):
    """(start, end, replacement) for every limit ten times as large, and a tenth of it."""
    for limit in (*DECLARED.finditer(code), *COMPARED.finditer(code)):
        for match in NUMBER.finditer(code, *limit.span("value")):
            value = float(match[0].replace("'", ""))
            if limit.re is COMPARED and value < 2:
                continue
            for factor in (10, 0.1):
                scaled = value * factor
                yield match.start(), match.end(), repr(scaled) if "." in match[0] or "e" in match[0] else str(int(scaled))


def replacements(code: str):
    """(start, end, replacement) for every change."""
    for match in OPERATOR.finditer(code):
        yield match.start(), match.end(), SWAPPED.get(match[0]) or ("std::max" if match[0] == "std::min" else "std::min")
    for match in BOOLEAN.finditer(code):
        yield match.start(), match.end(), "false" if match[0] == "true" else "true"
    for match in NEGATION.finditer(code):
        yield match.start(), match.end(), ""
    for match in NUMBER.finditer(code):
        yield match.start(), match.end(), other_number(match[0])
    for match in STATEMENT.finditer(code):
        before = code[: match.start()].rstrip()
        last = code.startswith("\n}\n", match.end()) and match["body"].startswith("return ")  # never compiles
        if before.endswith((";", "{", "}", ":")) and not last:  # else the line ends a longer statement
            yield match.start("body"), match.end("body"), ";"


def mutants_of(path: str, text: str, changes=replacements) -> list[Mutant]:
    found = []
    for start, end, replacement in changes(code_only(text)):
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end)
        becomes = text[first:start] + replacement + text[end:last]
        line = text.count("\n", 0, start) + 1
        found.append(Mutant(path, line, text[first:last].strip(), becomes.strip(), start, end, replacement))
    return found


def shuffled(mutants: list[Mutant], seed: int) -> list[Mutant]:
    """In an order that the seed decides and that an edit elsewhere does not disturb."""

    def key(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.path} {mutant.was} {mutant.becomes}".encode()).digest()

    return sorted(mutants, key=lambda mutant: (key(mutant), mutant.start))
