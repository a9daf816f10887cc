#!/usr/bin/env python3
"""Correct command lines and files of verl, each changed in one place: what verl refuses `smplan check` must call an
error, and what verl takes it must not. Hydra composes its configuration, its dataclasses are made of the parts, and its
own validation, its registries and the asserts of its trainers judge. Nothing converts a value, so that one of another
kind than the dataclass says, or than verl's own file has where there is no dataclass, fails where it is used.
Usage: verl_mutations.py SMPLAN, in an environment that has verl
"""

import collections
import contextlib
import copy
import importlib.util
import io
import json
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile
import typing
import warnings

import verl_jobs
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from spoil import misspelt

SEED = 20261128
MOST = 400
LEAST_FOUND = 0.9
PROGRAM = "python3 -m verl.trainer.main_ppo"
BY_FSDP = {
    "algorithm.adv_estimator": "grpo", "algorithm.kl_ctrl.kl_coef": 0.001, "data.train_files": "train.parquet",
    "data.train_batch_size": 256, "data.max_prompt_length": 512, "data.max_response_length": 1024,
    "data.truncation": "error", "actor_rollout_ref.model.path": "Qwen/Qwen3-8B",
    "actor_rollout_ref.model.use_remove_padding": True, "actor_rollout_ref.model.lora.rank": 0,
    "actor_rollout_ref.actor.optim.lr": 1e-6, "actor_rollout_ref.actor.optim.lr_scheduler_type": "constant",
    "actor_rollout_ref.actor.ppo_mini_batch_size": 128, "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 8,
    "actor_rollout_ref.actor.use_kl_loss": True, "actor_rollout_ref.actor.kl_loss_type": "low_var_kl",
    "actor_rollout_ref.actor.loss_agg_mode": "token-mean", "actor_rollout_ref.actor.policy_loss.loss_mode": "vanilla",
    "actor_rollout_ref.actor.fsdp_config.param_offload": False, "actor_rollout_ref.actor.strategy": "fsdp2",
    "actor_rollout_ref.actor.fsdp_config.fsdp_size": -1, "actor_rollout_ref.actor.checkpoint.async_save": False,
    "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": 16, "actor_rollout_ref.rollout.name": "vllm",
    "actor_rollout_ref.rollout.tensor_model_parallel_size": 2, "actor_rollout_ref.rollout.n": 8,
    "actor_rollout_ref.rollout.gpu_memory_utilization": 0.6,
    "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu": 16,
    "actor_rollout_ref.rollout.val_kwargs.temperature": 0.7, "actor_rollout_ref.rollout.multi_turn.enable": False,
    "trainer.n_gpus_per_node": 8, "trainer.nnodes": 1, "trainer.total_epochs": 15, "trainer.save_freq": 20,
    "trainer.project_name": "verl", "trainer.logger": ["console"], "trainer.v1.trainer_mode": "sync"}
BY_MEGATRON = {
    "model_engine": "megatron", "algorithm.adv_estimator": "gae", "algorithm.use_kl_in_reward": True,
    "algorithm.kl_penalty": "kl", "data.train_batch_size": 512, "actor_rollout_ref.model.path": "Qwen/Qwen3-30B-A3B",
    "actor_rollout_ref.actor.use_dynamic_bsz": True, "actor_rollout_ref.actor.ppo_max_token_len_per_gpu": 16384,
    "actor_rollout_ref.actor.megatron.tensor_model_parallel_size": 2,
    "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size": 2,
    "actor_rollout_ref.actor.megatron.router_replay.mode": "disabled",
    "actor_rollout_ref.actor.megatron.dtype": "bfloat16", "actor_rollout_ref.actor.clip_ratio": 0.2,
    "actor_rollout_ref.rollout.name": "sglang", "actor_rollout_ref.rollout.expert_parallel_size": 1,
    "actor_rollout_ref.rollout.pipeline_model_parallel_size": 1, "actor_rollout_ref.rollout.temperature": 1.0,
    "critic.enable": True, "critic.ppo_micro_batch_size_per_gpu": 4, "critic.ppo_mini_batch_size": 256,
    "critic.megatron.tensor_model_parallel_size": 2, "critic.cliprange_value": 0.5, "critic.optim.lr": 1e-5,
    "trainer.n_gpus_per_node": 8, "trainer.nnodes": 2, "trainer.critic_warmup": 0, "trainer.resume_mode": "auto"}
BASES = [BY_FSDP, BY_MEGATRON]
# Overrides beside those of a base, one at a time: new names with and without a plus, and what excludes something.
ADDED = {
    "+trainer.mine": [1], "trainer.mine": [1], "++trainer.mine": [1], "+actor_rollout_ref.actor.mine": [1],
    "+actor_rollout_ref.model.override_config.dropout": [0.1], "actor_rollout_ref.model.override_config.dropout": [0.1],
    "+actor_rollout_ref.rollout.engine_kwargs.vllm.mine": [1], "actor_rollout_ref.rollout.engine_kwargs.vllm.mine": [1],
    "actor_rollout_ref.rollout.layered_summon": [True, "no"], "+actor_rollout_ref.rollout.layer_name_map": [{"a": 1}],
    "actor_rollout_ref.rollout.layer_name_map": [{}], "+data.seed": [3], "+data.shuffle": [True],
    "actor_rollout_ref.rollout.mode": ["sync", "async"], "actor_rollout_ref.actor.ppo_micro_batch_size": [8, 3, 64],
    "actor_rollout_ref.rollout.log_prob_micro_batch_size": [8], "actor_rollout_ref.ref.log_prob_micro_batch_size": [8],
    "actor_rollout_ref.actor.ulysses_sequence_parallel_size": [2], "critic.ppo_micro_batch_size": [8, 3],
    "actor_rollout_ref.actor.use_dynamic_bsz": [True, False], "actor_rollout_ref.rollout.expert_parallel_size": [2, 4],
    "actor_rollout_ref.rollout.moe_tensor_parallel_size": [2], "actor_rollout_ref.rollout.val_kwargs.do_sample": [True],
    "actor_rollout_ref.rollout.temperature": [0, 0.5], "actor_rollout_ref.rollout.disaggregation.enabled": [True],
    "actor_rollout_ref.rollout.data_parallel_size": [2], "trainer.v1.trainer_mode": ["separate_async", "colocate"],
    "critic.enable": [True, False], "algorithm.adv_estimator": ["gae", "rloo", "grpo_passk", "ppo"],
    "actor_rollout_ref.actor.strategy": ["fsdp", "megatron", "deepspeed"], "critic.strategy": ["fsdp", "megatron"],
    "actor_rollout_ref.actor.fsdp_config.fsdp_size": [4], "actor_rollout_ref.actor.megatron.context_parallel_size": [2],
    "actor_rollout_ref.actor.policy_loss.loss_mode": ["gspo", "gspa", "kl_cov"],     "actor_rollout_ref.actor.kl_loss_type": ["k3", "k3+", "k4"], "algorithm.kl_penalty": ["k1", "full", "kll"],
    "data.train_batch_size": [64, 100, 1024], "actor_rollout_ref.actor.ppo_mini_batch_size": [1024, 512, 64],
    "critic.ppo_mini_batch_size": [2048], "algorithm.use_kl_in_reward": [True, False],
    "actor_rollout_ref.actor.optim.lr_scheduler_type": ["cosine", "linear"], "algorithm.kl_ctrl.type": ["adaptive", "x"],
    "actor_rollout_ref.rollout.name": ["trtllm", "hf", "vlm"], "actor_rollout_ref.rollout.agent.num_workers": [4],
    "actor_rollout_ref.rollout.trace.max_samples_per_step_per_worker": [-1, 2], "algorithm.gdpo_reward_keys": [["a"]],
    "+algorithm.gdpo_reward_keys": [["a"]], "reward.reward_manager.name": ["dapo"], "model_engine": ["dp", "megatrom"],
    "actor_rollout_ref.actor.router_replay.mode": ["R2"], "algorithm.rollout_correction.bypass_mode": [True],
    "actor_rollout_ref.actor.megatron.router_replay.mode": ["R3", "R4"],
    "+actor_rollout_ref.actor.megatron.override_transformer_config.moe_grouped_gemm": [True],
    "+data.train_files": ["other.parquet"], "~trainer.mine": [None], "~trainer.logger": [None], "~data.mine.more": [None],
    "trainer.experiment_name": ["a=b", "a,b", "[a", "{a:1", "a:b", "a b", "a/b-c.d+e", "x{", "'a=b'", '"a,b"', "{a:[1}"],
    "actor_rollout_ref.rollout.gpu_memory_utilization": [1.6, 0, 1.0], "trainer.nnodes": [0, 2, 4],
    "actor_rollout_ref.rollout.tensor_model_parallel_size": [3, 4, 16],
    "actor_rollout_ref.rollout.data_parallel_size": [2, 3],
}
ODD = ["bogus", "", [], [1], {"a": 1}, 1, 0.5, "2", True]
# Rules that warn of what an older version takes.
OLD = ("C164", "C234")
# Words of what only the training looks at, and an old one: verl's registries are asked for the others.
NOT_JUDGED = ("data.truncation",)


def module_at(name: str, file: str):
    """A module whose package is a stand-in."""
    spec = importlib.util.spec_from_file_location(name, pathlib.Path(verl_jobs.workers.__file__).parents[2] / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


vars(sys.modules["verl.utils"]).update(as_torch_index=None, group_mean_std=None)
vars(sys.modules["verl"]).update(DataProto=object)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    algorithms = module_at("core_algorithms_of_verl", "trainer/ppo/core_algos.py")
    ROLLOUTS = {name for name, _ in module_at("rollouts_of_verl", "workers/rollout/base.py")._ROLLOUT_REGISTRY}
MODES = {*verl_jobs.TRAINERS, "colocate_async"}


def word(value) -> str:
    """As Hydra reads it on a command line."""
    if isinstance(value, list):
        return "[" + ",".join(word(one) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{word(one)}" for key, one in value.items()) + "}"
    if isinstance(value, str):
        return json.dumps(value) if value == "" or value[0].isdigit() else value
    return "null" if value is None else str(value)


def override(path: str, value) -> str:
    return path if path.startswith("~") else f"{path}={word(value)}"


def nested(flat: dict) -> dict:
    """A file that goes on from verl's; a part that another change has made no object is one change too many."""
    tree: dict = {}
    for path, value in flat.items():
        node = tree
        *parts, last = path.split(".")
        for part in parts:
            node = node.setdefault(part, {})
        node[last] = value
    engine = tree.pop("model_engine", "dp")
    return {"hydra": {"searchpath": [f"file://{verl_jobs.CONFIGS}"]},
            "defaults": ["ppo_trainer", {"override model_engine": engine}, "_self_"], **tree}


def kinds_of(annotation) -> set:
    if typing.get_origin(annotation) is not None:
        return {kind for one in typing.get_args(annotation) for kind in kinds_of(one)} | {typing.get_origin(annotation)}
    return {annotation}


def is_wrong(value, kinds: set) -> bool:
    """Of a number or a switch, a value that is none; text is true, and a number without a fraction is whole."""
    kinds = kinds - {type(None), typing.Union}
    if value is None or not kinds or not kinds <= {int, float, bool}:
        return False
    if isinstance(value, (list, dict)):
        return True
    if isinstance(value, str):
        return bool not in kinds
    return isinstance(value, float) and kinds == {int} and value != int(value)


def judge_kind(base: dict, path: str, value) -> None:
    """Raises for a value of another kind than the dataclass, or verl's own file, has."""
    *parts, last = path.lstrip("+").split(".")
    node = base
    for part in parts:
        node = node.get(part, {}) if isinstance(node, dict) else {}
    target = node.get("_target_", "") if isinstance(node, dict) else ""
    made = getattr(verl_jobs.workers, target.rpartition(".")[2], None)
    hints = getattr(made, "__dataclass_fields__", {})
    kinds = kinds_of(hints[last].type) if last in hints else {type(node[last])} if last in (node or {}) else set()
    if kinds == {int} and last not in hints:
        kinds = {int, float}
    if is_wrong(value, kinds):
        raise TypeError(f"{path} = {value!r}, of {kinds}")
    if isinstance((node or {}).get(last), dict) and node[last] and not isinstance(value, dict) and value is not None:
        raise TypeError(f"{path} = {value!r} in the place of a part")


def judge_words(config) -> None:
    """The registries and functions that are asked for a word."""
    policy = config.actor_rollout_ref
    algorithms.get_adv_estimator_fn(config.algorithm.adv_estimator)
    algorithms.get_policy_loss_fn(policy.actor.policy_loss.loss_mode)
    if policy.rollout.name not in ROLLOUTS:
        raise ValueError(f"no engine {policy.rollout.name}")
    if config.trainer.v1.trainer_mode not in MODES:
        raise ValueError(f"no mode {config.trainer.v1.trainer_mode}")
    algorithms.get_kl_controller(config.algorithm.kl_ctrl)
    for penalty in (config.algorithm.kl_penalty, policy.actor.kl_loss_type):
        with contextlib.suppress(TypeError, AttributeError):
            algorithms.kl_penalty_forward(1.0, 1.0, str(penalty).removesuffix("+"))


def judge_devices(config) -> None:
    """What verl's workers assert of the devices (workers/engine_workers.py), and vLLM of its share (config/cache.py)."""
    rollout = config.actor_rollout_ref.rollout
    devices = len([config.trainer.n_gpus_per_node] * config.trainer.nnodes) * config.trainer.n_gpus_per_node
    engine = rollout.tensor_model_parallel_size * rollout.data_parallel_size * rollout.pipeline_model_parallel_size
    if devices < 1:
        raise ValueError("no devices")
    if config.trainer.v1.trainer_mode == "sync" and not rollout.disaggregation.enabled and devices % engine:
        raise ValueError(f"rollout world_size: {devices} is not divisible by infer_world_size: {engine}")
    if not 0 < rollout.gpu_memory_utilization <= 1:
        raise ValueError("a share of the device")
    if rollout.n < 1:
        raise ValueError("no answers")


def judge(config) -> None:
    """Raises what verl raises."""
    policy = config.actor_rollout_ref
    make = verl_jobs.omega_conf_to_dataclass
    for part in (policy.actor, config.critic):  # the engine is made for the strategy
        engine = next(one for one in part.values() if str(getattr(one, "_target_", "")).endswith("EngineConfig"))
        make({**engine, "strategy": part.strategy})
    for part in (policy.actor, verl_jobs.reference_of(policy), policy.rollout, policy.model, policy.rollout.checkpoint_engine):
        make(part)
    reference = config.algorithm.use_kl_in_reward or policy.actor.use_kl_loss
    critic = config.critic.enable if config.critic.enable is not None else config.algorithm.adv_estimator == "gae"
    with contextlib.redirect_stdout(io.StringIO()):
        verl_jobs.validate_config(config, use_reference_policy=reference, use_critic=bool(critic))
    if config.algorithm.adv_estimator == "gae" and not critic:
        raise ValueError("advantages of a critic without one")
    judge_words(config)
    judge_devices(config)
    with contextlib.suppress(verl_jobs.Built):
        trainer = verl_jobs.TRAINERS.get(config.trainer.v1.trainer_mode)
        trainer and trainer(config=config)


def refusal(kind: str, flat: dict, changed: str) -> str:
    try:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if kind == "file":
                pathlib.Path(folder, "job.yaml").write_text(json.dumps(nested(flat)), encoding="utf-8")
                with initialize_config_dir(folder, version_base=None):
                    config = compose("job")
            else:
                with initialize_config_dir(str(verl_jobs.CONFIGS), version_base=None):
                    config = compose("ppo_trainer", overrides=[override(path, value) for path, value in flat.items()])
            if changed in flat and not changed.startswith("~"):
                judge_kind(defaults_of(config.get("model_engine", "dp")), changed, flat[changed])
            judge(config)
    except Exception as fault:  # whatever verl raises is its refusal
        return " ".join(f"{type(fault).__name__}: {fault}".split())[:300]
    return ""


TREES: dict = {}


def defaults_of(engine: str) -> dict:
    if engine not in TREES:
        with initialize_config_dir(str(verl_jobs.CONFIGS), version_base=None):
            TREES[engine] = OmegaConf.to_container(compose("ppo_trainer", overrides=[f"model_engine={engine}"]))
    return TREES[engine]


def changes(base: dict, chance: random.Random):
    """What was changed, the path of it, and the overrides."""
    for path, value in base.items():
        others = {key: one for key, one in base.items() if key != path}
        yield f"{path} dropped", "", others
        head, _, last = path.rpartition(".")
        for _ in range(2):
            name = (head + "." if head else "") + misspelt(last, chance)
            yield f"{path} misspelt as {name}", name, {**others, name: value}
        yield f"{path} with a plus", "+" + path, {**others, "+" + path: value}
        yield f"{path} with two", "++" + path, {**others, "++" + path: value}
        if path in NOT_JUDGED or path == "model_engine":
            continue
        for other in ODD:
            if type(other) is not type(value) or isinstance(value, str):
                yield f"{path} = {other!r}", path, {**others, path: other}
        if isinstance(value, str):
            yield f"{path} = {value}x", path, {**others, path: value + "x"}
    for path, values in ADDED.items():
        for value in values:
            yield f"added {path} = {value!r}", path, {**{k: v for k, v in base.items() if k != path}, path: value}


def findings(smplan: str, jobs: list) -> list:
    """Errors of `smplan check` for each, and what it warns of that only another version of verl takes."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, (kind, flat) in enumerate(jobs):
            files.append(pathlib.Path(folder, f"{i:04}.{'yaml' if kind == 'file' else 'sh'}"))
            words = [shlex.quote(override(path, value)) for path, value in flat.items()]
            text = json.dumps(nested(flat)) if kind == "file" else " ".join([PROGRAM, *words])
            files[-1].write_text(text, encoding="utf-8")
        done = subprocess.run([smplan, "check", *map(str, files), "--kind", "verl", "--format", "json"],
                              capture_output=True, text=True)
        if done.returncode not in (0, 1, 2):
            raise RuntimeError(done.stderr)
        found = {job["file"]: ([f"{one['rule']} {one['message']}" for one in job["findings"] if one["severity"] == "error"],
                               [one for one in job["findings"] if one["rule"] in OLD])
                 for job in json.loads(done.stdout)["jobs"]}
        return [found.get(str(file), (["not checked"], [])) for file in files]


def main() -> int:
    smplan = sys.argv[1]
    chance = random.Random(SEED)
    cases = [("command", *case) for base in BASES for case in changes(base, chance)]
    cases += [("file", what, path, flat) for base in BASES for what, path, flat in changes(base, chance)
              if not any(key.startswith(("+", "~")) for key in flat)]
    chance.shuffle(cases)
    cases = [(kind, "nothing", "", copy.deepcopy(base)) for kind in ("command", "file") for base in BASES] + cases[:MOST]
    said = findings(smplan, [(kind, flat) for kind, _, _, flat in cases])
    count: collections.Counter = collections.Counter()
    for (kind, what, path, flat), (ours, older) in zip(cases, said):
        theirs = refusal(kind, flat, path)
        count["refused" if theirs else "taken"] += 1
        if what == "nothing" and theirs:
            count["false"] += 1
            print(f"refused by verl unchanged: {theirs}")
        if theirs and not ours and not older:
            count["missed"] += 1
            print(f"missed in a {kind}: {what}: {theirs[:200]}")
        if ours and not theirs:
            count["false"] += 1
            print(f"false in a {kind}: {what}: {ours[0][:200]}")
    found = 1 - count["missed"] / max(1, count["refused"])
    print(f"verl: {count['refused']} refused, {found:.1%} of them found; {count['taken']} taken, {count['false']} false")
    return 0 if found >= LEAST_FOUND and not count["false"] and count["refused"] > 50 else 1


if __name__ == "__main__":
    sys.exit(main())
