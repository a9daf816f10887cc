"""What smplan raises."""

from typing import List, NamedTuple


class Diagnostic(NamedTuple):
    """One reason why an input was refused."""

    code: str
    location: str
    message: str
    hint: str

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        return f"{where}{self.message}" + (f" ({self.hint})" if self.hint else "")


class Error(Exception):
    """Base of everything that smplan raises on purpose."""


class InputError(Error, ValueError):
    """The request or a file is invalid; `diagnostics` lists every fault."""

    def __init__(self, diagnostics: List[Diagnostic]):
        super().__init__("\n".join(str(diagnostic) for diagnostic in diagnostics))
        self.diagnostics = list(diagnostics)

    def __reduce__(self):
        return type(self), (self.diagnostics,)
