"""Exported plans."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Sequence, Tuple, Union

from smplan import _core

if TYPE_CHECKING:
    from pathlib import Path


class ExportFile(NamedTuple):
    """One file of an export; `path` is relative to its folder.

    >>> import smplan
    >>> smplan.ExportFile("ds_config.json", "{}").path
    'ds_config.json'
    """

    path: str
    content: str


class Export:
    """A plan in the words of a target. `str(export)` is the file that stands for the whole.

    >>> import smplan
    >>> job = smplan.estimate(model="gpt2", instances="ml.g5.xlarge", count=1, stack="ddp").best.export("create-training-job", bucket="mine")
    >>> job.target, job.files[0].path
    ('create-training-job', 'create_training_job.json')
    """

    def __init__(self, target: str, plan_id: str, files: Sequence[Tuple[str, str]],
                 placeholders: Sequence[Tuple[str, str]], notes: Sequence[str]) -> None:
        self.target = target
        self.plan_id = plan_id
        self.files = tuple(ExportFile(*file) for file in files)
        #: Text in the files that must be replaced, with what it stands for.
        self.placeholders = dict(placeholders)
        #: What to know before the job is started.
        self.notes = tuple(notes)

    def write(self, folder: Union[str, os.PathLike[str]]) -> Path:
        """Writes every file, whole or not at all, into a folder, which is made if it is missing.

        Files that an earlier export left there and this one has not are removed. Raises InputError, and changes nothing,
        where a file stands in the way that no export wrote or that was changed since, or the folder takes no files.
        """
        from pathlib import Path

        _core.write_export(os.fspath(folder), list(self.files))
        return Path(folder)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Export):
            return NotImplemented
        return (self.target, self.files, self.notes) == (other.target, other.files, other.notes)

    def __hash__(self) -> int:
        return hash((self.target, self.plan_id))

    def __str__(self) -> str:
        return self.files[0].content

    def __repr__(self) -> str:
        return f"Export({self.target!r}, {', '.join(file.path for file in self.files)})"
