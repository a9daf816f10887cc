"""What smplan raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, NamedTuple, Sequence, Tuple

if TYPE_CHECKING:
    from smplan._check import Findings


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

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(str(diagnostic) for diagnostic in diagnostics))
        self.diagnostics: List[Diagnostic] = list(diagnostics)

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.diagnostics,)


class CheckFailed(Error, ValueError):
    """A guarded job has errors and was not submitted; `findings` lists them."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(f"the job was not submitted\n{findings!r}")
        self.findings = findings

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.findings,)
