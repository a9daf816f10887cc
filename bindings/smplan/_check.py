"""Checks of a job before it is submitted: check() and guard()."""

from __future__ import annotations

import functools
import inspect
import json
import os
from typing import (
    Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union, overload,
)

from smplan import _core, _html
from smplan._errors import Diagnostic, Error, InputError, printable
from smplan._launch_script import read_launch_script
from smplan._live_objects import arguments_of_job, is_model_trainer, plain
from smplan._request import arguments_of, environment_region
from smplan._usual_catalog import usual_catalog


class Finding(NamedTuple):
    """One fault of a job. `path` is a JSON pointer, `line` None where the job is no file.

    >>> import smplan
    >>> str(smplan.Finding("C001", "error", "/role", None, "is missing", "name one", "the API"))
    'error C001 at /role: is missing (name one)'
    """

    rule: str
    severity: str
    path: str
    line: Optional[int]
    message: str
    fix: str
    source: str

    def __str__(self) -> str:
        place = f"line {self.line}, {self.path}" if self.line else self.path
        return printable(f"{self.severity} {self.rule} at {place}: {self.message} ({self.fix})")


class Findings(Sequence[Finding]):
    """What the rules say of a job, by line. Truthy if there is any finding; `ok` if none is an error.

    >>> import smplan
    >>> found = smplan.check({"class": "PyTorch", "instance_type": "ml.p4d.24xlarge", "instance_count": 0})
    >>> found.ok, found.errors[0].path
    (False, '/instance_count')
    """

    def __init__(self, answers: Sequence[Tuple[str, str]]) -> None:
        self._answers = tuple(answers)
        self._documents = [json.loads(text) for text, _ in self._answers]
        self._findings = tuple(Finding(*(found[name] for name in Finding._fields))
                               for document in self._documents for found in document["findings"])

    def _severity(self, severity: str) -> Tuple[Finding, ...]:
        return tuple(finding for finding in self._findings if finding.severity == severity)

    @property
    def errors(self) -> Tuple[Finding, ...]:
        """What makes the job fail, or waste most of its money."""
        return self._severity("error")

    @property
    def warnings(self) -> Tuple[Finding, ...]:
        """What is probably not meant."""
        return self._severity("warning")

    @property
    def infos(self) -> Tuple[Finding, ...]:
        """What may be worth knowing."""
        return self._severity("info")

    @property
    def ok(self) -> bool:
        """No finding is an error."""
        return not self.errors

    def to_dict(self) -> Dict[str, Any]:
        """What `smplan check --format json` prints; of a launch script with several calls, of the first."""
        document: Dict[str, Any] = json.loads(self._answers[0][0])
        return document

    def to_json(self) -> str:
        """The same as text."""
        return self._answers[0][0]

    def to_sarif(self) -> str:
        """What `smplan check --format sarif` prints, for code scanning."""
        return self._answers[0][1]

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Tuple[Finding, ...]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Finding, Tuple[Finding, ...]]:
        return self._findings[index]

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def __eq__(self, other: object) -> bool:
        return self._answers == other._answers if isinstance(other, Findings) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._answers)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Findings, (self._answers,)

    def __repr__(self) -> str:
        head = f"Findings({len(self.errors)} errors, {len(self.warnings)} warnings, {len(self.infos)} infos)"
        return "\n".join([head, *(f"  {finding}" for finding in self)])

    def _repr_html_(self) -> str:
        rows = [(f.severity, f.rule, f"line {f.line}" if f.line else f.path, f.message, f.fix) for f in self]
        return _html.table(["severity", "rule", "place", "message", "fix"], rows,
                           f"{len(self.errors)} errors, {len(self.warnings)} warnings, {len(self.infos)} infos")


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


Job = Tuple[str, str, Optional[str]]  # name, text, kind


def check(job: Any, *, kind: Optional[str] = None, ignore: Sequence[str] = (),
          facts: Optional[Mapping[str, Any]] = None, catalog: Optional[_core.Catalog] = None,
          **request: Any) -> Findings:
    """Checks a job before it is submitted.

    `job`: a file's path (every format of `smplan check`, and launch scripts: `launch.py` is read, never run), the
    folder of an export, a mapping (a CreateTrainingJob request, the keyword arguments of an estimator with "class"), or a live estimator or
    ModelTrainer of the SageMaker SDK, which is read by its attributes. `kind`: what it is, where the content does not
    tell. `ignore`: rules not to report. `facts`: what only the account knows (a smplan.facts/1 document). The other
    keywords are what the job cannot say: model, seq_len, stack, tokens, budget, region ...; with a model the memory,
    time and money rules apply too. Raises InputError if the job cannot be read.

    >>> import smplan
    >>> found = smplan.check({"class": "PyTorch", "instance_type": "ml.p4d.24xlarge", "instance_count": 2,
    ...                       "use_spot_instances": True, "max_run": 3600, "max_wait": 60})
    >>> found.ok, found.errors[-1].rule, found.errors[-1].path
    (False, 'C028', '/max_wait')
    """
    return _check(_jobs_of(job, kind), ignore, facts, catalog, request)


def _check(read: Tuple[List[Job], List[str]], ignore: Sequence[str], facts: Optional[Mapping[str, Any]],
           catalog: Optional[_core.Catalog], request: Mapping[str, Any]) -> Findings:
    jobs, imports = read
    known: Dict[str, Any] = dict(facts) if facts is not None else {"schema": "smplan.facts/1"}
    if imports:
        known.setdefault("script", {}).setdefault("imports", imports)
    with arguments_of(request) as arguments:
        return Findings([_core.check(usual_catalog(catalog), text, name, kind_of,
                                     arguments, json.dumps(known), list(ignore), environment_region())
                         for name, text, kind_of in jobs])


Estimator = TypeVar("Estimator")


def guard(estimator: Estimator, *, strict: bool = False, **options: Any) -> Estimator:
    """Makes the estimator's fit() check the job first and raise CheckFailed instead of submitting one with errors.

    `strict`: warnings count as well. `options`: keywords of check(). Returns the same object. A ModelTrainer's
    train() is guarded likewise. Data given to fit() or train() is checked with the job. Raises InputError for what has
    neither.

    >>> import smplan
    >>> class PyTorch:
    ...     def __init__(self, instance_type, instance_count, use_spot_instances, max_run, max_wait):
    ...         self.__dict__.update(locals())
    ...     def fit(self, inputs=None):
    ...         return "submitted"
    >>> estimator = smplan.guard(PyTorch("ml.p4d.24xlarge", 2, True, max_run=3600, max_wait=60))
    >>> try:
    ...     estimator.fit()
    ... except smplan.CheckFailed as failure:
    ...     print([finding.rule for finding in failure.findings.errors if finding.path == "/max_wait"])
    ['C028']
    """
    guarded = [name for name in ("fit", "train") if callable(getattr(estimator, name, None))]
    if not guarded:
        raise InputError([Diagnostic("wrong-kind", "estimator", f"{type(estimator).__name__} has no fit() or train()",
                                     "give an estimator or a ModelTrainer of the SageMaker SDK")])
    for name in guarded:
        # Past the SDK 3's own setattr, which takes declared fields only.
        object.__setattr__(estimator, name, _checked(getattr(estimator, name), estimator, strict, options))
    return estimator


def _checked(submit: Any, estimator: Any, strict: bool, options: Mapping[str, Any]) -> Any:
    @functools.wraps(submit)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            submitted = inspect.signature(submit).bind(*args, **kwargs).arguments
        except TypeError:  # not a call that fit() takes: its own message is the better one
            return submit(*args, **kwargs)
        choices = dict(options)
        job = _jobs_of(estimator, choices.pop("kind", None), submitted)
        found = _check(job, choices.pop("ignore", ()), choices.pop("facts", None), choices.pop("catalog", None), choices)
        if found.errors or (strict and found.warnings):
            raise CheckFailed(found)
        return submit(*args, **kwargs)

    return checked


def _jobs_of(job: Any, kind: Optional[str], submitted: Optional[Mapping[str, Any]] = None) -> Tuple[List[Job], List[str]]:
    if isinstance(job, Mapping):
        return [("dict", _json_text(job), kind)], []
    if isinstance(job, (str, os.PathLike)):
        path = _core.job_file(os.fspath(job))
        text = _read(path)
        if not path.endswith(".py"):
            return [(path, text, kind)], []
        script = read_launch_script(text, path)
        return [(path, call.text, call.kind) for call in script.calls], list(script.imports)
    of_class = "model-trainer" if is_model_trainer(job) else "estimator"
    return [(type(job).__name__, _json_text(arguments_of_job(job, submitted)), kind or of_class)], []


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Diagnostic("unreadable", path, str(error), "")]) from None


def _json_text(job: Mapping[str, Any]) -> str:
    return json.dumps(plain(job), indent=1)
