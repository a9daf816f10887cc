"""What smplan raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, NamedTuple, Sequence, Tuple

from smplan import _core

if TYPE_CHECKING:
    from smplan._check import Findings


def shown(text: str) -> str:
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
        return shown(f"{where}{self.message}" + (f" ({self.hint})" if self.hint else ""))


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


class CheckFailed(Error, ValueError):
    """A guarded job has errors and was not submitted; `findings` lists them.

    >>> import smplan
    >>> failed = smplan.CheckFailed(smplan.check({"class": "PyTorch", "instance_type": "ml.p4d.24xlarge", "max_run": 0}))
    >>> isinstance(failed, ValueError), failed.findings.ok
    (True, False)
    """

    def __init__(self, findings: Findings) -> None:
        super().__init__(f"the job was not submitted\n{findings!r}")
        self.findings = findings

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.findings,)
