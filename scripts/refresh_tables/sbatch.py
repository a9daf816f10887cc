"""Slurm's sbatch: the options of its manual page, which a script may have as directives.

The page stands in Debian's package slurm-client: `apt-get download slurm-client && dpkg-deb -x slurm-client_*.deb FOLDER`,
then `scripts/refresh sbatch=FOLDER`.
"""

import gzip
import pathlib
import re
import sys

from refresh_tables.table import Section, Table

PAGE = "usr/share/man/man1/sbatch.1.gz"
CHANGES = "usr/share/doc/slurm-client/changelog.Debian.gz"
# "minutes", "minutes:seconds", "hours:minutes:seconds", "days-hours", "days-hours:minutes", "days-hours:minutes:seconds".
TIME = r"^(\d+(:\d+){0,2}|\d+-\d+(:\d+){0,2}|(?i:infinite|unlimited))$"
FORMS = {"time": TIME, "time-min": TIME}


def text_of(path: str) -> str:
    for folder in (*sys.path, "/"):
        file = pathlib.Path(folder or ".", path)
        if file.exists():
            return gzip.open(file, "rt", encoding="utf-8", errors="replace").read()
    raise ImportError(f"no {path}: unpack Debian's slurm-client, and name the folder")


def headings(page: str) -> list:
    """Each option's heading, without the marks of roff."""
    lines = page.splitlines()
    found = []
    for before, line in zip(lines, lines[1:]):
        plain = re.sub(r"\\f[BIR]", "", line).replace("\\-", "-")
        if before.startswith((".TP", ".HP")) and plain.startswith("-"):
            found.append(plain)
    return found


def read() -> Table:
    version = re.match(r"\S+ \(([\d.]+)", text_of(CHANGES))[1]
    section = Section("", "argparse", "refused")
    for heading in headings(text_of(PAGE)):
        long = re.search(r"--([a-z][a-z0-9-]*)", heading)
        if long is None:
            continue
        letters = re.findall(r"(?<![\w-])-(\w)\b", heading)
        takes = "optional" if "[=" in heading else "one" if "=" in heading else "none"
        # What the shell of the job's cluster fills in, or another plug-in reads, has no type.
        section.add(long[1], also=letters, types=["boolean"] if takes == "none" else ["string"],
                    nargs=None if takes == "one" else takes, pattern=FORMS.get(long[1]))
    return Table("sbatch", version, f"Slurm {version}, sbatch(1) of Debian's slurm-client", [section])
