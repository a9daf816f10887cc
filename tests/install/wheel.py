"""Builds the wheel, installs it into an empty environment and asks it for a plan.

usage: wheel.py SOURCE WORK VERSION    (WORK/build is kept, so that a second run is quick)
"""

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

PROGRAM = """
import sys, smplan
assert smplan.__version__ == sys.argv[1], smplan.__version__
assert smplan.plan(model="llama-2-7b", instances="ml.p5.48xlarge", count=1).best.memory.fits
"""


def run(*command, cwd):
    finished = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if finished.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{finished.stdout}")


def main():
    source, work, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    for name in ("dist", "venv"):
        shutil.rmtree(work / name, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
        "--disable-pip-version-check", "-w", "dist", "--config-settings", f"build-dir={work / 'build'}", source, cwd=work)
    (wheel,) = (work / "dist").glob(f"smplan-{version}-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    strangers = [name for name in names if not name.startswith(("smplan/", f"smplan-{version}.dist-info/"))]
    assert not strangers, strangers
    assert {"smplan/py.typed", "smplan/_core.pyi", "smplan/bin/smplan"} <= set(names), names
    venv.create(work / "venv", with_pip=True)
    python = work / "venv/bin/python"
    run(python, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", wheel, cwd=work)
    run(python, "-I", "-c", PROGRAM, version, cwd=work)
    for program in ([work / "venv/bin/smplan"], [python, "-I", "-m", "smplan"]):
        run(*program, "plan", "--params", "7B", "--count", "1", "--quiet", cwd=work)
    print(wheel.name)


if __name__ == "__main__":
    main()
