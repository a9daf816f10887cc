"""Packs the Debian packages, installs them into a folder of their own, runs what is in them, and removes them.

The folder gets a copy of this machine's list of installed packages, so that dependencies are judged for real and
nothing of the machine changes. Packing twice must give the same bytes, and lintian must find no fault in them.

usage: package.py BUILD WORK VERSION
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

EPOCH = "1795219200"  # 2026-11-21


def run(*command, **options) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed ({done.returncode}):\n{done.stdout}")
    return done.stdout


def pack(build: Path, out: Path) -> dict:
    """Package name to file."""
    out.mkdir(parents=True)
    run("cpack", "--config", build / "CPackConfig.cmake", "-B", out, cwd=out,
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "LC_ALL": "C"})
    return {deb.name.split("_")[0]: deb for deb in out.glob("*.deb")}


def new_root(folder: Path) -> None:
    admin = folder / "var/lib/dpkg"
    for name in ("info", "updates", "triggers"):
        (admin / name).mkdir(parents=True)
    shutil.copy("/var/lib/dpkg/status", admin)
    (admin / "available").touch()


def files_of(folder: Path) -> list:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if not path.is_dir() and not str(path.relative_to(folder)).startswith("var/"))


def judge(packages: dict) -> None:
    """Debian's own rules, and that the description names the release that the dependencies are of."""
    if not shutil.which("lintian"):
        sys.exit("install lintian first: scripts/bootstrap test does")
    said = run("lintian", "--no-cfg", "--allow-root", "--fail-on", "error,warning", *packages.values())
    assert not said.strip(), said
    for package in packages.values():
        described = run("dpkg-deb", "--field", package, "Description")
        assert "only for it: other releases have no libfmt9" in " ".join(described.split()), described


def documented(root: Path, name: str, version: str) -> None:
    doc = root / "usr/share/doc" / name
    assert "Apache-2.0" in (doc / "copyright").read_text(encoding="utf-8")
    assert gzip.decompress((doc / "changelog.gz").read_bytes()).decode().startswith(f"smplan ({version}) ")


def main() -> None:
    build, work, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    shutil.rmtree(work, ignore_errors=True)
    packages = pack(build, work / "first")
    assert set(packages) == {"smplan", "libsmplan-dev"}, packages
    for name, again in pack(build, work / "second").items():
        assert again.read_bytes() == packages[name].read_bytes(), f"{name}: packing twice gives other bytes"
    judge(packages)

    depends = run("dpkg-deb", "--field", packages["smplan"], "Depends")
    for library in ("libc6", "libcurl4", "libfmt", "libpcre2-8", "libstdc++6", "libutf8proc", "libyaml-cpp"):
        assert library in depends, f"smplan depends on {depends}, not on {library}"

    root = work / "root"
    new_root(root)
    dpkg = ["dpkg", f"--root={root}", "--log=/dev/null", "--force-not-root", "--no-triggers", "--path-include=/usr/*"]
    path = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    run(*dpkg, "--install", packages["smplan"], packages["libsmplan-dev"], env=path)
    files = files_of(root)
    for wanted in ("usr/bin/smplan", "usr/share/man/man1/smplan.1.gz", "usr/share/man/man1/smplan-plan.1.gz",
                   "usr/share/bash-completion/completions/smplan", "usr/share/zsh/vendor-completions/_smplan",
                   "usr/share/fish/vendor_completions.d/smplan.fish", "usr/include/smplan/base/units.hpp",
                   "usr/share/smplan/schema/plan.schema.json", "usr/share/doc/smplan/CHANGELOG.md.gz"):
        assert wanted in files, f"{wanted} is not in the packages:\n" + "\n".join(files)
    for name in packages:
        documented(root, name, version)
    program = root / "usr/bin/smplan"
    assert run(program, "--version") == f"smplan {version}\n"
    assert "Best:" in run(program, "plan", "--params", "1B", "--instances", "ml.p4d.24xlarge", cwd=work)
    # Nothing of the machine that built them may be inside.
    leaks = re.findall(re.escape(str(build)).encode(), program.read_bytes())
    assert not leaks, "the program names the folder that it was built in"
    run(*dpkg, "--purge", "smplan", "libsmplan-dev", env=path)
    left = files_of(root)
    assert not left, f"removal leaves {left}"
    print(", ".join(deb.name for deb in packages.values()))


if __name__ == "__main__":
    main()
