"""Has scripts/wheel make and prove the wheel of this Python, then looks at what is in it, and runs what the hook and
the action run of it.

usage: wheel.py SOURCE WORK VERSION    (what WORK keeps makes a second run quick)
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import yaml

SAMPLES = Path(__file__).resolve().parents[1] / "data/jobs/samples"


def run(*command, expected=0, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))} ends with {done.returncode}, not {expected}:\n{done.stdout}")
    return done.stdout


def faults_of_sdist(names):
    needed = {"pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "PKG-INFO", "bindings/smplan/_core.pyi",
              "catalogs/data/instances.json", "planner/report/vendor/uPlot-LICENSE.txt", "scripts/check_files"}
    strangers = {name for name in names if name.startswith(("tests/", "build/", ".ci/", "notebooks/")) or
                 name.endswith((".so", ".o", ".pyc"))}
    return [*(f"{name} is missing" for name in needed - names), *(f"{name} does not belong" for name in strangers)]


def faults_of_wheel(names, version):
    info, data = f"smplan-{version}.dist-info", f"smplan-{version}.data"
    needed = {"smplan/py.typed", "smplan/_core.pyi", "smplan/bin/smplan", f"{info}/entry_points.txt",
              f"{data}/scripts/smplan-check-files", f"{info}/licenses/LICENSE", f"{info}/licenses/cmake/package/copyright"}
    strangers = [name for name in names if not name.startswith(("smplan/", f"{info}/", f"{data}/"))]
    return [*(f"{name} is missing" for name in needed - names), *(f"{name} does not belong" for name in strangers)]


def faults_of_platform(wheel, shown):
    """The name promises what auditwheel found: the wheel needs nothing but what every such system has."""
    tag = re.search(r"manylinux_2_\d+_x86_64", wheel.name)
    faults = [] if tag and f'"{tag.group()}"' in shown else [f"{wheel.name}: auditwheel says {shown}"]
    return faults + [f"{name} is needed from outside" for name in ("libfmt", "libpcre2", "libutf8proc", "libyaml-cpp") if name in shown]


def hook(source, folder):
    """The entry of .pre-commit-hooks.yaml, where the wheel is installed and no SMPLAN is named."""
    (entry,) = [hook["entry"] for hook in yaml.safe_load((source / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))]
    environment = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    wanted = [("20c_seed002_ps.json", 0, "warning C120"), ("20a_seed000.json", 1, "C046")]
    for name, status, words in wanted:
        said = run(folder / "bin" / entry, SAMPLES / name, expected=status, env=environment)
        if words not in said:
            sys.exit(f"{entry} {name} says nothing of {words}:\n{said}")


def prebuilt(source, wheel, folder, version):
    """scripts/prebuilt, which the action has install a wheel; python3 is the one that the wheel is for."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    said = run(source / "scripts/prebuilt", wheel, folder, env={"PATH": path, "LC_ALL": "C.UTF-8"})
    program = folder / "venv/bin/smplan"
    if said.splitlines()[-1] != str(program) or run(program, "--version") != f"smplan {version}\n":
        sys.exit(f"scripts/prebuilt says {said}")


def refusal(source, work):
    """Without the programs that it needs, the script names them and what installs them, and downloads nothing."""
    said = run(sys.executable, "-B", source / "scripts/wheel", "--work", work, expected=1, env={"PATH": str(work)})
    if "cannot find g++, curl, ar, tar, xz, sha256sum; on Debian: apt install g++ curl binutils" not in said:
        sys.exit(f"scripts/wheel without programs says {said}")


def main():
    source, work, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    refusal(source, work / "nothing")
    said = run(sys.executable, "-B", source / "scripts/wheel", "--quick", "--work", work)
    wheel = Path(said.splitlines()[-1])
    made = work / f"cp{sys.version_info[0]}{sys.version_info[1]}"
    with tarfile.open(made / f"raw/smplan-{version}.tar.gz") as sdist:
        faults = faults_of_sdist({name.split("/", 1)[1] for name in sdist.getnames()})
    faults += faults_of_wheel(set(zipfile.ZipFile(wheel).namelist()), version)
    faults += faults_of_platform(wheel, run(made / "tools/bin/auditwheel", "show", wheel))
    if faults:
        sys.exit("\n".join(faults))
    hook(source, made / "clean/venv")
    prebuilt(source, wheel, made / "prebuilt", version)
    print(said)


if __name__ == "__main__":
    main()
