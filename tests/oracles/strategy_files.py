#!/usr/bin/env python3
"""Every exported file that a training script reads, by the reference parser of its format, against the documented
keys of its framework and the world-size equation of the plan. Usage: strategy_files.py CORPUS.json
"""

import ast
import json
import math
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib

import yaml
from corpus import Report, exports, unpack
from documented import ACCELERATE, DEEPSPEED, DEEPSPEED_ZERO, FSDP_CONFIG, MEGATRON, NEURONX, RECIPE_MODEL, SMP_V1, SMP_V2, TORCHTITAN


def world(entry: dict) -> int:
    p = entry["parallel"]
    return p["data"] * p["tensor"] * p["pipeline"] * p["context"]


def replicas(entry: dict) -> int:
    return entry["parallel"]["data"] * entry["parallel"]["context"]


def unknown(keys, known, where: str) -> list[str]:
    return [f"{where}: {key} is not documented" for key in keys if key not in known]


def equal(what: str, found, expected) -> list[str]:
    return [] if found == expected else [f"{what} is {found}, the plan says {expected}"]


def no_null(value, where: str = "") -> list[str]:
    """A null that slipped in reads as a setting."""
    if isinstance(value, dict):
        return [t for k, v in value.items() for t in no_null(v, f"{where}/{k}")]
    return [f"{where} is null"] if value is None and not where.endswith("/virtual_pipeline_model_parallel_size") else []


def deepspeed(entry: dict) -> list[str]:
    c = json.loads(entry["files"]["ds_config.json"])
    zero = c["zero_optimization"]
    out = unknown(c, DEEPSPEED, "ds_config") + unknown(zero, DEEPSPEED_ZERO, "zero_optimization") + no_null(c)
    out += equal("train_batch_size", c["train_batch_size"],
                 c["train_micro_batch_size_per_gpu"] * c["gradient_accumulation_steps"] * world(entry))
    out += equal("train_batch_size", c["train_batch_size"], entry["global_batch"])
    stage = {"none": 0, "zero1": 1, "zero2": 2, "zero3": 3}[entry["sharding"]["strategy"]]
    out += equal("stage", zero["stage"], stage)
    if "offload_param" in zero and stage != 3:
        out.append("offload_param below stage 3")
    if "bf16" in c and "fp16" in c:
        out.append("bf16 and fp16")
    if "auto" in json.dumps(c):
        out.append("an 'auto' that only Hugging Face's Trainer understands")
    return out


def accelerate(entry: dict) -> list[str]:
    c = yaml.safe_load(entry["files"]["accelerate_config.yaml"])
    out = unknown(c, ACCELERATE, "accelerate") + no_null(c)
    out += equal("num_processes", c["num_processes"], world(entry))
    out += equal("num_machines", c["num_machines"], entry["instance_count"])
    if c["distributed_type"] == "FSDP":
        out += unknown(c["fsdp_config"], FSDP_CONFIG, "fsdp_config")
        out += equal("parallelism_config", math.prod(c["parallelism_config"].values()), world(entry))
        out += equal("dp_shard", c["parallelism_config"]["parallelism_config_dp_shard_size"], entry["sharding"]["degree"])
    if c["distributed_type"] == "DEEPSPEED":
        out += deepspeed(entry)
        launcher = c["deepspeed_config"].get("deepspeed_multinode_launcher")
        out += equal("launcher", launcher, "standard" if c["num_machines"] > 1 else None)
    return out


def torchtitan(entry: dict) -> list[str]:
    c = tomllib.loads(entry["files"]["torchtitan.toml"])
    out = unknown(c, TORCHTITAN, "torchtitan")
    for section, members in c.items():
        out += unknown(members, TORCHTITAN.get(section, ()), section)
    p, t = c["parallelism"], c["training"]
    product = math.prod(p[f"{d}_degree"] for d in ("data_parallel_replicate", "data_parallel_shard", "tensor_parallel",
                                                   "context_parallel", "pipeline_parallel"))
    out += equal("product of the degrees", product, world(entry))
    out += equal("checkpoint interval", c["checkpoint"]["interval"], entry["save_steps"])
    out += equal("data set", (t.get("dataset"), t.get("dataset_path")), ("c4_test", "/opt/ml/input/data/train"))
    ranks = p["data_parallel_replicate_degree"] * p["data_parallel_shard_degree"]
    out += equal("data ranks", ranks, entry["parallel"]["data"])
    if t["global_batch_size"] % (t["local_batch_size"] * ranks) != 0:
        out.append(f"global batch {t['global_batch_size']} % {t['local_batch_size']} x {ranks}")
    ep = p["expert_parallel_degree"]
    if ep > 1:  # as parallel_dims.py asserts in v0.2.2
        tp, cp, shard = p["tensor_parallel_degree"], p["context_parallel_degree"], p["data_parallel_shard_degree"]
        etp = p["expert_tensor_parallel_degree"]
        fits = ep % cp == 0 and shard * cp % ep == 0 if etp == tp else ep % (cp * tp) == 0 and shard * cp * tp % ep == 0
        out += [] if etp in (1, tp) and fits else [f"experts {ep} over shard {shard}, cp {cp}, tp {tp}, etp {etp}"]
    return out


def megatron_arguments(text: str) -> dict[str, str | bool]:
    words = shlex.split(text, comments=True)
    arguments: dict[str, str | bool] = {}
    for i, word in enumerate(words):
        if word.startswith("--"):
            takes = i + 1 < len(words) and not words[i + 1].startswith("--")
            arguments[word[2:]] = words[i + 1] if takes else True
    return arguments


def megatron(entry: dict) -> list[str]:
    a = megatron_arguments(entry["files"]["megatron_args.txt"])
    out = []
    for name, value in a.items():
        kind = MEGATRON.get(name)
        if kind is None:
            out.append(f"--{name} is not documented")
        elif (kind == "flag") != (value is True):
            out.append(f"--{name} {value}: it is a {kind}")
        elif kind == "count" and not str(value).isdigit():
            out.append(f"--{name} {value} is no count")

    out += equal("save-interval", a["save-interval"], str(entry["save_steps"]))

    def n(name: str, default: int = 1) -> int:
        return int(a.get(name, default))

    tp, pp, cp = n("tensor-model-parallel-size"), n("pipeline-model-parallel-size"), n("context-parallel-size")
    vpp, ep = n("num-virtual-stages-per-pipeline-rank"), n("expert-model-parallel-size")
    pattern = str(a.get("hybrid-layer-pattern", "")).split("/")[0]
    segments = pattern.split("|")
    if pattern:
        vpp = len(segments) // pp
        out += [] if len(segments) == pp * vpp and max(map(len, segments)) - min(map(len, segments)) <= 2 else [f"segments {segments}"]
    p = entry["parallel"]
    out += equal("degrees", (tp, pp, cp, vpp, ep), (p["tensor"], p["pipeline"], p["context"], p["virtual_pipeline"], p["expert"]))
    # arguments.py of d98e8a6: validate_args
    dp = world(entry) // (tp * pp * cp)
    facts = {"world divides": world(entry) % (tp * pp * cp), "layers divide": 0 if pattern else n("num-layers") % (pp * vpp),
             "batch divides": n("global-batch-size") % (n("micro-batch-size") * dp), "heads divide": n("num-attention-heads") % tp,
             "experts divide": n("num-experts", 0) % ep, "tokens divide": n("seq-length") % (2 * cp) if cp > 1 else 0,
             "experts lie in the ranks": world(entry) // pp % ep}
    out += [f"not true: {fact}" for fact, rest in facts.items() if rest != 0]
    if "bf16" in a and "fp16" in a:
        out.append("bf16 and fp16")
    if "overlap-param-gather" in a and not {"use-distributed-optimizer", "overlap-grad-reduce"} <= set(a):
        out.append("overlap-param-gather without the distributed optimizer")
    return out + entry_script(entry, "pretrain_hybrid.py" if pattern else "pretrain_gpt.py", [f"--{k}" for k in a])


def entry_script(entry: dict, name: str, expected: list[str]) -> list[str]:
    """Runs the exported entry with a stand-in for the framework's own, which says what it was given."""
    with tempfile.TemporaryDirectory() as folder:
        unpack(entry, pathlib.Path(folder))
        (pathlib.Path(folder) / name).write_text("import sys\nprint('\\n'.join(sys.argv[1:]))\n")
        done = subprocess.run([sys.executable, "smplan_entry.py", "--seq_len", "1"], cwd=folder, capture_output=True, text=True,
                              timeout=60)
    given = done.stdout.splitlines()
    missing = [word for word in expected if word not in given]
    return [f"{name} did not get {missing}: {done.stderr}"] if missing or done.returncode else []


def recipe(entry: dict) -> list[str]:
    c = yaml.safe_load(entry["files"]["recipe.yaml"])
    out = equal("devices x nodes", c["trainer"]["devices"] * c["trainer"]["num_nodes"], world(entry)) + no_null(c)
    if "training_config" in c:
        t = c["training_config"]["training_args"]
        out += equal("save_steps", t["save_steps"], entry["save_steps"])
        out += equal("train_batch_size", t["train_batch_size"], entry["global_batch"])
        return out + ([] if t["train_batch_size"] % (t["micro_train_batch_size"] * world(entry)) == 0 else ["batch"])
    if "strategy" in c:
        s = c["strategy"]
        out += equal("every_n_train_steps", c["log"]["ckpt"]["every_n_train_steps"], entry["save_steps"])
        product = s["tensor_model_parallel_size"] * s["pipeline_model_parallel_size"] * s["context_parallel_size"]
        return out + ([] if world(entry) % product == 0 else [f"{product} does not divide {world(entry)}"])
    m = c["model"]
    saved = c["exp_manager"]["checkpoint_callback_params"]["every_n_train_steps"]
    out += equal("every_n_train_steps", saved, entry["save_steps"])
    out += unknown(m, RECIPE_MODEL, "model")
    degrees = m["shard_degree"] * m.get("tensor_model_parallel_degree", 1) * m.get("expert_model_parallel_degree", 1)
    if world(entry) % degrees != 0:  # validate_distributed_degrees of the adapter
        out.append(f"shard x tp x ep = {degrees} does not divide {world(entry)}")
    readers = world(entry) // (m.get("tensor_model_parallel_degree", 1) * m.get("context_parallel_degree", 1))
    return out + equal("sequences a step", readers * m["train_batch_size"], entry["global_batch"])


def fsdp(entry: dict) -> list[str]:
    tree = ast.parse(entry["files"]["fsdp_strategy.py"])
    constants = {n.targets[0].id: n.value.value for n in tree.body
                 if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant)}
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    imported = {a.asname or a.name for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}
    out = equal("replicas x shards", constants["REPLICAS"] * constants["SHARD_DEGREE"], replicas(entry))
    batch = constants["MICRO_BATCH"] * constants["GRADIENT_ACCUMULATION"] * entry["parallel"]["data"]
    out += equal("sequences a step", batch, entry["global_batch"])
    out += equal("SAVE_INTERVAL", constants["SAVE_INTERVAL"], entry["save_steps"])
    out += [] if "apply" in functions else ["there is no apply()"]
    idle = {name for name in imported if "." not in name} - used
    return out + ([f"imported and not used: {sorted(idle)}"] if idle else [])


def smp_v2(entry: dict) -> list[str]:
    c = json.loads(entry["files"]["smp_parameters.json"])
    out = unknown(c, SMP_V2, "smp-v2")
    product = c["hybrid_shard_degree"] * c["tensor_parallel_degree"] * c["expert_parallel_degree"]
    out += [] if world(entry) % product == 0 else [f"{product} does not divide {world(entry)}"]
    cp = c["context_parallel_degree"]
    return out + ([] if cp == 1 or c["hybrid_shard_degree"] % cp == 0 else ["cp does not divide the shard degree"])


def smp_v1(entry: dict) -> list[str]:
    c = json.loads(entry["files"]["smp_parameters.json"])
    out = unknown(c, SMP_V1, "smp-v1")
    ranks = c["partitions"] * c["tensor_parallel_degree"]
    data = world(entry) // ranks
    return out + ([] if world(entry) % ranks == 0 and data % c.get("sharded_data_parallel_degree", 1) == 0 else ["degrees"])


def neuronx(entry: dict) -> list[str]:
    c = json.loads(entry["files"]["neuronx_config.json"])
    product = c["tensor_parallel_size"] * c["pipeline_parallel_size"] * c["context_parallel_size"]
    return unknown(c, NEURONX, "neuronx") + ([] if world(entry) % product == 0 else [f"{product} does not divide the cores"])


def torchrun(entry: dict) -> list[str]:
    text = entry["files"]["launch.sh"]
    done = subprocess.run(["sh", "-n"], input=text, capture_output=True, text=True)
    nodes, processes = (int(re.search(rf"--{name} (\d+)", text).group(1)) for name in ("nnodes", "nproc_per_node"))
    return equal("nodes x processes", nodes * processes, world(entry)) + ([done.stderr] if done.returncode else [])


CHECKS = {"deepspeed": deepspeed, "accelerate": accelerate, "torchtitan": torchtitan, "megatron": megatron,
          "hyperpod-recipe": recipe, "fsdp": fsdp, "smp-v2": smp_v2, "smp-v1": smp_v1, "neuronx": neuronx, "torchrun": torchrun}


def listed(entry: dict) -> list[str]:
    text = "".join(content for path, content in entry["files"].items() if path != "NOTES.md")
    return [f"{p!r} is not listed" for p in set(re.findall(r"REPLACE-ME[\w-]*", text))
            if not any(p in listed for listed in entry["placeholders"])]


def requirements(entry: dict) -> list[str]:
    """What NOTES.md says is installed is in a file that pip reads."""
    files = [content for path, content in entry["files"].items() if path.endswith("requirements.txt")]
    named = "requirements.txt" in entry["files"]["NOTES.md"]
    lines = [line for content in files for line in content.splitlines()]
    odd = [line for line in lines if not re.fullmatch(r"[a-z][a-z0-9-]*(==[0-9.]+)?", line)]
    return (["NOTES.md names a requirements.txt that is not there"] if named and not files else []) + \
        [f"{line!r} is no requirement" for line in odd] + ([] if len(set(lines)) == len(lines) else ["a package twice"])


def python_files(entry: dict) -> list[str]:
    for path, content in entry["files"].items():
        if path.endswith(".py"):
            compile(content, path, "exec")
    return []


def main() -> int:
    status = 0
    for target, check in CHECKS.items():
        report = Report(target)
        for entry in exports(target):
            report.judged += 1
            for text in check(entry) + listed(entry) + requirements(entry) + python_files(entry):
                report.fault(entry, text)
        status |= report.finish(least=10)
    return status


if __name__ == "__main__":
    sys.exit(main())
