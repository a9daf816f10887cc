"""Builds the sdist, the wheel out of it, installs that into an empty environment and asks it for a plan.

usage: wheel.py SOURCE WORK VERSION    (WORK/sdist and its build are kept, so that a second run is quick)
"""

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

SDIST = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"


def run(*command, cwd, **variables):
    finished = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              env={**os.environ, **variables})
    if finished.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{finished.stdout}")
    return finished.stdout


def unpack(sdist, tree):
    """Files of an sdist all have one date: those that are the same stay as they are, so that only others are compiled."""
    kept = set()
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            path = tree.joinpath(*Path(member.name).parts[1:])
            if not member.isfile():
                continue
            kept.add(path)
            content = archive.extractfile(member).read()
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                path.chmod(member.mode)
    build = tree / "build"
    for path in [path for path in tree.rglob("*") if path.is_file() and build not in path.parents and path not in kept]:
        path.unlink()
    return {path.relative_to(tree).as_posix() for path in kept}


def faults_of_sdist(names):
    needed = {"pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "PKG-INFO", "bindings/smplan/_core.pyi",
              "catalogs/data/instances.json", "planner/report/vendor/uPlot-LICENSE.txt"}
    strangers = {name for name in names if name.startswith(("tests/", "build/", ".ci/", "notebooks/")) or
                 name.endswith((".so", ".o", ".pyc"))}
    return [*(f"{name} is missing" for name in needed - names), *(f"{name} does not belong" for name in strangers)]


def faults_of_wheel(names, version):
    needed = {"smplan/py.typed", "smplan/_core.pyi", "smplan/bin/smplan", f"smplan-{version}.dist-info/entry_points.txt"}
    strangers = [name for name in names if not name.startswith(("smplan/", f"smplan-{version}.dist-info/"))]
    return [*(f"{name} is missing" for name in needed - names), *(f"{name} does not belong" for name in strangers)]


def main():
    source, work, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    for name in ("dist", "venv"):
        shutil.rmtree(work / name, ignore_errors=True)
    (work / "dist").mkdir(parents=True)
    run(sys.executable, "-c", SDIST, work / "dist", cwd=source)
    (sdist,) = (work / "dist").glob(f"smplan-{version}.tar.gz")
    faults = faults_of_sdist(unpack(sdist, work / "sdist"))
    # The compiler's time is most of this test's: a cache is used where there is one, and little is optimised.
    quick = {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
        "--disable-pip-version-check", "-w", "dist", "--config-settings", f"build-dir={work / 'sdist' / 'build'}",
        "--config-settings", "cmake.args=-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", work / "sdist", cwd=work, **quick)
    (wheel,) = (work / "dist").glob(f"smplan-{version}-*.whl")
    faults += faults_of_wheel(set(zipfile.ZipFile(wheel).namelist()), version)
    if faults:
        sys.exit("\n".join(faults))
    venv.create(work / "venv", with_pip=True)
    python = work / "venv/bin/python"
    run(python, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", wheel, cwd=work)
    print(sdist.name, wheel.name, run(python, "-I", Path(__file__).with_name("installed.py"), cwd=work), sep="\n")


if __name__ == "__main__":
    main()
