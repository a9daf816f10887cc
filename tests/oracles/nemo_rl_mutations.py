#!/usr/bin/env python3
"""NeMo-RL's own files, each changed in one place: what NeMo-RL refuses at its start `smplan check` must call an error,
and what NeMo-RL takes it must not. Its reader follows `defaults`, Hydra applies the overrides, and pydantic makes the
configuration of the program. A change stands in a whole file, in one that goes on from NeMo-RL's, or on a command line.
NeMo-RL is in no package: without a folder of its sources this test is skipped.
Usage: nemo_rl_mutations.py SMPLAN [SOURCES [--names FILE]], in an environment of requirements/nemo_rl.txt
--names writes what a test without sources asks: names and values of those files, a few of each kind
"""

import collections
import copy
import importlib
import json
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings

import stand_in
from spoil import misspelt

SEED = 20261128
MOST = 700
LEAST_FOUND = 0.9
SKIPPED = 77
# A file, the program that takes it, and the module of its class.
BASES = [("examples/configs/grpo_math_1B.yaml", "examples/run_grpo.py", "algorithms.grpo"),
         ("examples/configs/sft.yaml", "examples/run_sft.py", "algorithms.sft"),
         ("examples/configs/dpo.yaml", "examples/run_dpo.py", "algorithms.dpo"),
         ("examples/configs/rm.yaml", "examples/run_rm.py", "algorithms.rm"),
         ("examples/configs/ppo_math_1B.yaml", "examples/run_ppo.py", "algorithms.ppo"),
         ("examples/configs/distillation_math.yaml", "examples/run_distillation.py", "algorithms.distillation"),
         ("examples/configs/evals/eval.yaml", "examples/run_eval.py", "evals.eval")]
ODD = ["bogus", "", [], [1], {"a": 1}, 1, 0.5, "2", True, None]
# Keys of these objects are handed on as they are.
OPEN = ("env", "kwargs", "vllm_kwargs", "sglang_kwargs", "trtllm_kwargs", "hf_config_overrides")
# What NeMo-RL asks after its start, or SageMaker and the plan: this oracle has no judge of it.
RULES = ("C002", "C004", "C159", "C234")
# Of parts that nobody converts at the start: what takes their values fails later.
LATER = ("vllm_cfg", "sglang_cfg", "trtllm_cfg", "mcore_generation_config", "refit_cfg")
# Words of registries and tables that it asks after its start.
WORDS = ("precision", "algorithm", "backend", "reference_policy_kl_type", "truncated_importance_sampling_type",
         "reward_model_type", "adv_estimator.name")


def paths_of(tree: dict, before: tuple = (), off: bool = True):
    """`off`: with what stands in parts that are switched off."""
    for key, value in tree.items():
        if key in OPEN or not off and tree.get("enabled") is False and key != "enabled":
            continue
        yield (*before, str(key)), value
        if isinstance(value, dict):
            yield from paths_of(value, (*before, str(key)), off)


def changed(tree: dict, path: tuple, value=None, name: str = "", drop: bool = False) -> dict:
    tree = copy.deepcopy(tree)
    node = tree
    for key in path[:-1]:
        node = node[key]
    old = node.pop(path[-1]) if drop or name else None
    if name:
        node[name] = old
    elif not drop:
        node[path[-1]] = value
    return tree


def nested(path: tuple, value) -> dict:
    for key in reversed(path):
        value = {key: value}
    return value


def word(value) -> str:
    if isinstance(value, str):
        return json.dumps(value) if value == "" or value[0].isdigit() else value
    if isinstance(value, list):
        return "[" + ",".join(word(one) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{word(one)}" for key, one in value.items()) + "}"
    return "null" if value is None else str(value)


def cases_of(base: tuple, tree: dict, chance: random.Random):
    """The kind of job, what was changed, and the whole tree, the child's or the overrides."""
    for path, value in paths_of(tree):
        dotted = ".".join(path)
        if any(part in LATER for part in path):
            continue
        yield base, "file", f"{dotted} dropped", changed(tree, path, drop=True)
        name = misspelt(path[-1], chance)
        yield base, "file", f"{dotted} misspelt as {name}", changed(tree, path, name=name)
        line = ".".join((*path[:-1], name))
        scalar = value if not isinstance(value, (dict, list)) and not str(value).startswith("$") else 1
        for sign in ("", "+", "++"):
            yield base, "command", f"{sign}{line}", [f"{sign}{line}={word(scalar)}"]
            yield base, "command", f"{sign}{dotted}", [f"{sign}{dotted}={word(scalar)}"]
        yield base, "command", f"~{dotted}", [f"~{dotted}"]
        yield base, "command", f"~{line}", [f"~{line}"]
        for other in ODD:
            word_of_later = isinstance(other, str) and dotted.endswith(WORDS)
            if word_of_later or type(other) is type(value) and not isinstance(value, str):
                continue
            kind = chance.choice(("file", "child", "command"))
            what = f"{dotted} = {other!r}"
            if kind == "file":
                yield base, kind, what, changed(tree, path, other)
            elif kind == "child":
                yield base, kind, what, nested(path, other)
            else:
                yield base, kind, what, [f"{dotted}={word(other)}"]


class Nemo:
    def __init__(self, root: pathlib.Path):
        sys.path.insert(0, str(root))
        stand_in.nemo_rl(root)
        self.root = root
        self.config = importlib.import_module("nemo_rl.utils.config")
        self.config.register_omegaconf_resolvers()
        from omegaconf import OmegaConf

        self.omega = OmegaConf

    def tree(self, file: str) -> dict:
        return self.omega.to_container(self.config.load_config(self.root / file))

    def refusal(self, base: tuple, file: pathlib.Path, overrides: list) -> str:
        made = importlib.import_module(f"nemo_rl.{base[2]}").MasterConfig
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                config = self.config.load_config(file)
                if overrides:
                    config = self.config.parse_hydra_overrides(config, overrides)
                made(**self.omega.to_container(config, resolve=True))
        except Exception as fault:  # whatever it raises is its refusal
            return " ".join(f"{type(fault).__name__}: {fault}".split())[:300]
        return ""


def errors(smplan: str, files: list) -> dict:
    done = subprocess.run([smplan, "check", *map(str, files), "--kind", "nemo-rl", "--format", "json"],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(done.stderr)
    return {job["file"]: [f"{one['rule']} {one['message']}" for one in job["findings"]
                          if one["severity"] == "error" and one["rule"] in RULES]
            for job in json.loads(done.stdout)["jobs"]}


def own_files(nemo: Nemo, smplan: str, count: collections.Counter) -> None:
    """NeMo-RL's own files, all of them: none that it takes is in error."""
    modules = {member: module for module, member in
               (("single_controller_utils", "async_rl"), ("xtoken_off_policy_distillation", "teachers"),
                *((one, one) for one in ("grpo", "ppo", "dpo", "sft", "rm", "distillation")))}
    files = [file for file in sorted((nemo.root / "examples/configs").rglob("*.yaml"))]
    said = errors(smplan, files)
    for file in files:
        tree = nemo.tree(str(file.relative_to(nemo.root)))
        module = next((f"algorithms.{modules[member]}" for member in modules if member in tree), "evals.eval")
        theirs = nemo.refusal(("", "", module), file, [])
        count["own files"] += 1
        if said.get(str(file)) and not theirs:
            count["false"] += 1
            print(f"false in {file.name}: {said[str(file)][0][:200]}")


def algorithm_of(tree: dict) -> str:
    special = {"async_rl": "single_controller", "teachers": "x_token"}
    names = ("async_rl", "teachers", "grpo", "ppo", "dpo", "sft", "rm", "distillation", "eval")
    return next((special.get(name, name) for name in names if name in tree), "")


MOST_VALUES = 4


def write_names(nemo: Nemo, file: str) -> None:
    """Of each path of a file a few values of each type; of a list the first entry; of texts short ones."""
    found: dict = {}
    for source in sorted((nemo.root / "examples/configs").rglob("*.yaml")):
        tree = nemo.tree(str(source.relative_to(nemo.root)))
        names = found.setdefault(algorithm_of(tree), {})
        for path, value in paths_of(tree, off=False):
            odd = isinstance(value, str) and (len(value) > 40 or any(c in value for c in "$/?<"))
            values = names.setdefault("/" + "/".join(path), [])
            same = [one for one in values if type(one) is type(value)]
            if not isinstance(value, dict) and value not in same and not odd and len(same) < MOST_VALUES:
                values.append(value)
    for names in found.values():  # a path with paths below it is an object
        for path in [one for one in names if any(other.startswith(one + "/") for other in names)]:
            del names[path]
    document = {"source": "NeMo-RL, examples/configs", "algorithms": {
        name: {path: values for path, values in sorted(names.items()) if values} for name, names in sorted(found.items())}}
    rows = ",\n".join(f"  {json.dumps(name)}: {{\n" + ",\n".join(
        f"    {json.dumps(path)}: {json.dumps(values)}" for path, values in names.items()) + "\n  }"
        for name, names in document["algorithms"].items())
    text = f'{{"source": {json.dumps(document["source"])}, "algorithms": {{\n{rows}\n}}}}\n'
    pathlib.Path(file).write_text(text, encoding="utf-8")


def main() -> int:
    smplan = sys.argv[1]
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("SMPLAN_NEMO_RL_SOURCES") or "none")
    if not (root / "nemo_rl/package_info.py").exists():
        print("skipped: no sources of NeMo-RL (SMPLAN_NEMO_RL_SOURCES)")
        return SKIPPED
    os.environ.setdefault("HF_HOME", "/nowhere")
    nemo = Nemo(root)
    if sys.argv[3:4] == ["--names"]:
        write_names(nemo, sys.argv[4])
        return 0
    chance = random.Random(SEED)
    cases = [case for base in BASES for case in cases_of(base, nemo.tree(base[0]), chance)]
    chance.shuffle(cases)
    cases = [(base, "child", "nothing", {}) for base in BASES] + cases[:MOST]
    count: collections.Counter = collections.Counter()
    own_files(nemo, smplan, count)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / "examples/configs", pathlib.Path(folder, "examples/configs"))
        files = []
        for i, (base, kind, _, what) in enumerate(cases):
            file = pathlib.Path(folder, f"{i:04}.{'sh' if kind == 'command' else 'yaml'}")
            tree = {"defaults": base[0], **what} if kind == "child" else what
            words = [f"uv run {base[1]} --config {base[0]}", *map(shlex.quote, what)] if kind == "command" else []
            file.write_text(" ".join(words) if words else json.dumps(tree), encoding="utf-8")
            files.append(file)
        said = errors(smplan, files)
        for (base, kind, what, change), file in zip(cases, files):
            ours = said.get(str(file), ["not checked"])
            theirs = nemo.refusal(base, root / base[0] if kind == "command" else file, change if kind == "command" else [])
            count["refused" if theirs else "taken"] += 1
            if bool(theirs) == bool(ours):
                continue
            count["missed" if theirs else "false"] += 1
            where = f"{kind} of {pathlib.Path(base[0]).stem}: {what}"
            print(f"missed in a {where}: {theirs[:200]}" if theirs else f"false in a {where}: {ours[0][:200]}")
    found = 1 - count["missed"] / max(1, count["refused"])
    print(f"nemo-rl: {count['own files']} files of its own; {count['refused']} changes refused, {found:.1%} of them found; "
          f"{count['taken']} taken, {count['false']} false")
    return 0 if found >= LEAST_FOUND and not count["false"] and count["refused"] > 50 else 1


if __name__ == "__main__":
    sys.exit(main())
