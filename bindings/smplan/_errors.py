"""What smplan raises, but for CheckFailed, which stands beside its findings."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Sequence, Tuple

from smplan import _core


def printable(text: str) -> str:
    """One line without control characters, whatever a file held; what is no text (a lone surrogate) becomes `?`."""
    return _core.printable(text.encode("utf-8", "replace").decode("utf-8"))


class Diagnostic(NamedTuple):
    """One reason why an input was refused.

    >>> import smplan
    >>> str(smplan.Diagnostic("out-of-range", "--top", "is -1", "give 1 or more"))
    '--top: is -1 (give 1 or more)'
    """

    code: str
    location: str
    message: str
    hint: str

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        return printable(f"{where}{self.message}" + (f" ({self.hint})" if self.hint else ""))


class Error(Exception):
    """Base of everything that smplan raises on purpose.

    >>> import smplan
    >>> issubclass(smplan.InputError, smplan.Error) and issubclass(smplan.CheckFailed, smplan.Error)
    True
    """


class InputError(Error, ValueError):
    """The request or a file is invalid; `diagnostics` lists every fault.

    >>> import smplan
    >>> try:
    ...     smplan.plan(params="13B", deadline="x", objective="chepa")
    ... except smplan.InputError as error:
    ...     print([diagnostic.location for diagnostic in error.diagnostics])
    ['--deadline', '--objective']
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(str(diagnostic) for diagnostic in diagnostics))
        self.diagnostics: List[Diagnostic] = list(diagnostics)

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.diagnostics,)
