"""torchrun's own options, which stand before the script: the parser of torch.distributed.run, and what the launcher asks of
their values once they are parsed. Two more launchers add options to that parser: torch.distributed.launch, and HyperPod's
hyperpodrun, whose source is read and not imported."""

import argparse
import ast
import importlib.metadata
import importlib.util
import inspect
import pathlib
import re

from refresh_tables.launchers import options_of
from refresh_tables.sources import calls, literal
from refresh_tables.table import Section, Table


def refused(function, *words) -> bool:
    """Whether the library refuses what it is called with."""
    try:
        function(*words)
    except (AssertionError, ValueError, RuntimeError):
        return True
    return False


def device_words(run) -> list:
    """Words that stand for a number of processes: what the value is compared with."""
    tree = ast.parse(inspect.getsource(run.determine_local_world_size))
    return sorted(side.value for node in ast.walk(tree) if isinstance(node, ast.Compare) for side in node.comparators
                  if isinstance(side, ast.Constant) and isinstance(side.value, str))


def limits(run) -> dict:
    """By the option's name, what the launcher's own configuration and its agent refuse of a number."""
    from torch.distributed.elastic.agent.server import WorkerSpec

    def configured(*words) -> None:
        run.config_from_args(run.get_args_parser().parse_args([*words, "train.py"]))

    def made(**members) -> None:
        WorkerSpec(**{"role": "default", "local_world_size": 1, "rdzv_handler": None, "entrypoint": "train.py", **members})

    found = {}
    if refused(configured, "--nnodes", "0") and not refused(configured, "--nnodes", "1"):
        found["nnodes"] = {"min": 1}
    if refused(configured, "--max-restarts", "-1") and not refused(configured, "--max-restarts", "0"):
        found["max-restarts"] = {"min": 0}
    if refused(lambda: made(local_world_size=0)) and not refused(made):
        found["nproc-per-node"] = {"min": 1}
    if refused(lambda: made(monitor_interval=0)):
        found["monitor-interval"] = {"above": 0}
    return found


def others(run) -> dict:
    """By the option's name, words and forms that the parser leaves to the launcher."""
    from torch.distributed.elastic.rendezvous import rendezvous_handler_registry

    whole = {"types": ["integer"]}
    ranged = not refused(run.parse_min_max_nnodes, "1:2") and refused(run.parse_min_max_nnodes, "1:2:3")
    return {"nnodes": {**whole, "range": True} if ranged else whole,
            # The device of a backend of its own has a word too.
            "nproc-per-node": {"types": ["integer", "string"], "values": device_words(run), "free": ["integer"],
                               "grows": True},
            "rdzv-backend": {"values": sorted(rendezvous_handler_registry._registry), "grows": True}}


AGENT = "hyperpod-elastic-agent"


def added(source: str) -> argparse.ArgumentParser:
    """The options that a source adds to a parser that it got elsewhere."""
    parser = argparse.ArgumentParser(add_help=False)
    for call in calls(ast.parse(source), "add_argument"):
        words = {word.arg: kind_of(word.value) for word in call.keywords if word.arg in ("action", "choices", "type")}
        parser.add_argument(*map(literal, call.args), **words)
    return parser


def kind_of(node):
    return {"int": int, "float": float, "str": str}[node.id] if isinstance(node, ast.Name) else literal(node)


def agent_source() -> str:
    found = importlib.util.find_spec("hyperpod_elastic_agent")
    if found is None:
        raise ImportError(f"{AGENT} is not installed, and its options belong to the file")
    return pathlib.Path(found.submodule_search_locations[0], "run.py").read_text(encoding="utf-8")


def like_torchrun(path: str, own: Section, source: str) -> Section:
    section = Section(path, "argparse", "refused", like="")
    section.fields = [dict(row) for row in (*own.fields, *options_of(added(source)).fields)]
    backends = [literal(call.args[0]) for call in calls(ast.parse(source), "register") if call.args]
    for row in section.fields:
        if row["name"] == "rdzv-backend":
            row["values"] = sorted({*row["values"], *filter(None, backends)})
    return section


def read() -> Table:
    from torch.distributed import launch, run

    told = others(run)
    for name, row in limits(run).items():
        told[name] = {**told.get(name, {}), **row}
    version = re.match(r"[\d.]+", importlib.metadata.version("torch")).group()
    own = options_of(run.get_args_parser(), told)
    sections = [own, like_torchrun(":launch", own, inspect.getsource(launch)),
                like_torchrun(":hyperpodrun", own, agent_source())]
    return Table("torchrun", version, f"PyTorch {version}, torch/distributed/run.py, launch.py and elastic/agent/server/api.py; "
                 f"{AGENT} {importlib.metadata.version(AGENT)}, run.py", sections)
