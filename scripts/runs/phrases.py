"""Search for words in text, aware of what is denied: `no compile`, `packing=0`, `4-bit off`."""

import re

NO = {"no", "not", "non", "without", "w/o"}
# After a blank these speak of what stands before them; `no` would speak of what follows.
OFF = {"off", "disabled", "false"}
OFF_VALUES = OFF | {"0", "no", "none"}
WINDOW = 64  # characters beside a phrase that may deny it; no denial is so long
FIRST_DENIALS = {"no", "not", "non", "without", "none", "off", "disabled", "false"}


def letters_and_digits(text: str) -> str:
    """ASCII letters and digits alone, in lower case: `FULL_SHARD` is `fullshard`."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def plain_words(text: str) -> list[str]:
    """Runs of ASCII letters and digits, in lower case."""
    return re.findall(r"[a-z0-9]+", text.lower())


def denies(cell: str) -> bool:
    """Whether a cell says no: `none`, `AC off`, `no recompute`."""
    words = plain_words(cell)
    return bool(words) and (words[0] in FIRST_DENIALS or words[-1] in OFF)


class Phrases:
    """A text that remembers which of its parts were understood."""

    def __init__(self, text: str) -> None:
        self.text = text.lower()
        self.used: list[tuple[int, int]] = []

    def _denied(self, begin: int, end: int) -> bool:
        before = self.text[max(0, begin - WINDOW) : begin]
        if before.endswith((" ", "-")):
            if re.split(r"[ ,;(]", before[:-1])[-1] in NO:
                return True
        after = self.text[end : end + WINDOW]
        if after.startswith(" "):
            if re.match(r"[a-z0-9]*", after[1:]).group() in OFF:  # type: ignore[union-attr]
                return True
            after = after[1:]
        if not after.startswith(("=", ":")):
            return False
        value = after.lstrip("=: '\"")
        return re.match(r"[a-z0-9]*", value).group() in OFF_VALUES  # type: ignore[union-attr]

    def _places(self, phrase: str) -> list[int]:
        return [match.start() for match in re.finditer(f"(?={re.escape(phrase)})", self.text)]

    def _finds(self, begin: int, end: int) -> bool:
        self.used.append((begin, end))
        return not self._denied(begin, end)

    def say(self, *phrases: str) -> bool:
        """Whether one of them stands somewhere and is not denied."""
        found = [self._finds(at, at + len(p)) for p in phrases for at in self._places(p)]
        return any(found)

    def deny(self, phrase: str) -> bool:
        """Whether it stands somewhere, and everywhere denied."""
        return phrase in self.text and not self.say(phrase)

    def say_word(self, phrase: str, not_before: frozenset[str] = frozenset()) -> bool:
        """The same of a phrase that begins as a word of its own and that none of these words follows."""
        found = False
        for at in self._places(phrase):
            end = at + len(phrase)
            if at > 0 and re.match(r"[a-z0-9]", self.text[at - 1]):
                continue
            after = self.text[end : end + WINDOW].lstrip(" -_")
            follows = re.match(r"[a-z0-9]*", after).group()  # type: ignore[union-attr]
            if follows not in not_before and self._finds(at, end):
                found = True
        return found

    def number_after(self, phrase: str) -> int | None:
        """The whole number right after the first place of a phrase."""
        at = self.text.find(phrase)
        if at < 0:
            return None
        match = re.match(r"[0-9]+", self.text[at + len(phrase) : at + len(phrase) + WINDOW])
        if match is None or not 0 < int(match.group()) < 2**63:
            return None
        self.used.append((at, at + len(phrase) + match.end()))
        return int(match.group())

    def release_after(self, phrase: str) -> int | None:
        """`26.04` right after a phrase as 2604; the middle of the year where no month follows."""
        year = self.number_after(phrase)
        if year is None or not 20 <= year <= 60:
            return None
        month = self.number_after(f"{phrase}{year}.0") or self.number_after(f"{phrase}{year}.") or 6
        return None if month > 12 else 100 * year + month

    def unused(self) -> list[str]:
        """Phrases between marks of which no rule read a word."""
        read = bytearray(len(self.text))
        for begin, end in self.used:
            read[begin:end] = b"\1" * (end - begin)
        parts = re.finditer(r"[^;,]+", self.text)
        return [part.group().strip() for part in parts if part.group().strip() and not any(read[slice(*part.span())])]
