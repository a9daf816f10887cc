"""The newest versions of the libraries, from PyPI: downloaded by pip into a temporary folder, unpacked, never installed."""

import os
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What is read, and the packages that it stands in. Megatron-LM's arguments are in no package, nor is NeMo-RL.
PACKAGES = {
    "deepspeed": ("deepspeed",),
    "deepspeed-launch": ("deepspeed",),
    "sagemaker": ("botocore",),
    # The tables of versions are those of SDK 2; the trainers and the registries are of the packages of SDK 3.
    # SDK 2 takes classes over from the first sagemaker-core, whose package has another name.
    "sdk": ("sagemaker<3", "sagemaker-core<2", "sagemaker-core", "sagemaker-train"),
    "accelerate": ("accelerate",),
    "accelerate-launch": ("accelerate",),
    # 0.3 has no TOML: its configurations are Python functions.
    "torchtitan": ("torchtitan<0.3",),
    "trl": ("trl", "transformers"),
    "transformers": ("transformers",),
    "axolotl": ("axolotl",),
    "hyp-pytorch-job": ("hyperpod-pytorch-job-template",),
    "hyperpod-job": ("sagemaker-hyperpod",),
    # It takes no newer transformers (its METADATA).
    "llama-factory": ("llamafactory", "transformers<=5.6.0"),
    "torchtune": ("torchtune",),
    "verl": ("verl",),
}
# Where the modules are that a reader imports beside its library, the best place first: scripts/training, scripts/oracles.
PLACES = {"sagemaker": ("oracles/sdk_v3", "oracles/sdk_v2"), "accelerate": ("oracles/accelerate", "training"),
          "accelerate-launch": ("oracles/accelerate", "training"),
          "axolotl": ("oracles/axolotl",), "hyp-pytorch-job": ("oracles/hyperpod",),
          "hyperpod-job": ("oracles/hyperpod",), "torchtune": ("oracles/accelerate", "training"),
          "deepspeed": ("training", "oracles/deepspeed_newest"),
          "deepspeed-launch": ("training", "oracles/deepspeed_newest"), "verl": ("oracles/verl",)}


# What pip says where there is no way to the index.
NO_WAY = ("name resolution", "Connection", "Max retries", "timed out", "from versions: none", "getaddrinfo")


class Offline(OSError):
    """PyPI cannot be reached."""


def interpreter(name: str) -> str:
    for place in PLACES.get(name, ()):
        home = os.environ.get(f"SMPLAN_{place.partition('/')[0].upper()}") or ROOT / "build" / place.partition("/")[0]
        found = pathlib.Path(home, place.partition("/")[2], "bin/python")
        if found.exists():
            return str(found)
    return sys.executable


def download(packages: tuple, folder: pathlib.Path) -> None:
    """Raises OSError with pip's last words."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps",
           "--retries", "1", "--timeout", "15", "--dest", str(folder), *packages]
    done = subprocess.run(pip, capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        return
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()] or ["pip failed"]
    if any(words in done.stderr for words in NO_WAY):
        raise Offline("PyPI cannot be reached")
    raise OSError(f"pip download {' '.join(packages)}: {said[-1]}")


def stays_inside(name: str) -> bool:
    path = pathlib.PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
        return
    with tarfile.open(archive) as file:
        inside = archive.with_suffix("")
        # Python 3.11.2 has no filters yet: neither links nor what leads out of the folder.
        file.extractall(inside, [one for one in file.getmembers() if (one.isfile() or one.isdir()) and stays_inside(one.name)])
        for entry in next(inside.iterdir()).iterdir():  # below the folder of its name and version
            os.replace(entry, folder / entry.name)


def in_order(archives: list, packages: tuple) -> list:
    """The first package last, so that its files are those that stay: the SDK's three all have sagemaker/__init__.py."""
    def place(archive: pathlib.Path) -> int:
        project = re.split(r"-\d", archive.name)[0].lower().replace("-", "_")
        named = [re.split(r"[<>=]", package)[0].lower().replace("-", "_") for package in packages]
        return named.index(project) if project in named else len(named)

    return sorted(archives, key=place, reverse=True)


def fetch(name: str, folder: pathlib.Path) -> None:
    """Puts all packages of a name into folder/sources; raises OSError."""
    archives, sources = folder / "archives", folder / "sources"
    archives.mkdir(parents=True)
    sources.mkdir()
    try:
        for package in PACKAGES[name]:  # pip takes one version of each at a time
            download((package,), archives)
        for archive in in_order(list(archives.iterdir()), PACKAGES[name]):
            unpack(archive, sources)
    except (ValueError, subprocess.TimeoutExpired, tarfile.TarError, zipfile.BadZipFile) as fault:
        raise OSError(str(fault)) from fault
