#!/usr/bin/env python3
"""Jobs that `smplan rl` and `smplan` export to verl, judged by verl itself: Hydra composes its configuration with ours
on top, every key of ours is one of verl's, its dataclasses take the values, and its own validation and the asserts of
its trainers pass. PyTorch, Ray and engines are stand-ins: nothing of that asks them. Planted faults must be refused.
Usage: verl_jobs.py SMPLAN, in an environment that has verl
"""

import contextlib
import copy
import io
import pathlib
import subprocess
import sys
import tempfile
import types
import warnings

import stand_in
import yaml
from corpus import Report

warnings.simplefilter("ignore")
stand_in.torch()
stand_in.replace("ray", "transformers", "tensordict", "codetiming", "transfer_queue", "vllm", "verl.checkpoint_engine",
                 "verl.utils.device", "verl.utils.fs", "verl.utils.model", "verl.utils.debug", "verl.single_controller",
                 "verl.trainer.distillation", "verl.experimental", "verl.workers.rollout")
stand_in.without_init("verl", "verl.utils", "verl.utils.profiler", "verl.trainer", "verl.trainer.ppo",
                      "verl.trainer.ppo.v1", "verl.workers")
vars(sys.modules["verl.utils"]).update(hf_processor=None, hf_tokenizer=None)

import verl.utils.profiler.config as profiler  # noqa: E402

vars(sys.modules["verl.utils.profiler"]).update({k: v for k, v in vars(profiler).items() if not k.startswith("__")})

import verl.workers.config as workers  # noqa: E402
from hydra import compose, initialize_config_dir  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from verl.utils.config import omega_conf_to_dataclass, validate_config  # noqa: E402

# It would load the model and its tokenizer.
workers.HFModelConfig.__post_init__ = lambda self: None
ADVANTAGES = types.SimpleNamespace(GAE="gae")


class Built(Exception):
    """The asserts of a trainer were passed."""


def trainers() -> dict:
    """The classes of verl's modes, whose base does nothing."""
    base = types.ModuleType("verl.trainer.ppo.v1.trainer_base")

    class PPOTrainer:
        def __init__(self, config):
            raise Built

    base.PPOTrainer = PPOTrainer
    base.register_trainer = lambda name: lambda made: made
    sys.modules[base.__name__] = base
    utils = types.ModuleType("verl.trainer.ppo.utils")
    utils.Role = object
    utils.need_reward_model = lambda config: config.reward.reward_model.enable
    sys.modules[utils.__name__] = utils
    from verl.trainer.ppo.v1.trainer_separate_async import PPOTrainerSeparateAsync
    from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

    return {"sync": PPOTrainerSync, "separate_async": PPOTrainerSeparateAsync}


TRAINERS = trainers()
CONFIGS = pathlib.Path(workers.__file__).parents[2] / "trainer/config"
LACKS = object()
# Where verl takes names that it does not list.
OPEN = ("override_transformer_config.", "override_optimizer_config.", "override_ddp_config.")
COMMON = ["llama-3.1-8b", "--instances", "ml.p5.48xlarge"]
CASES = {
    "grpo, colocated": [*COMMON, "--count", "1", "--placement", "colocated"],
    "grpo by FSDP": [*COMMON, "--count", "2", "--placement", "colocated", "--stack", "fsdp"],
    "grpo, one batch ahead": [*COMMON, "--count", "2", "--placement", "split", "--mini-batches", "4"],
    "grpo, waiting": [*COMMON, "--count", "4", "--placement", "split-sync", "--stack", "fsdp"],
    "ppo": [*COMMON, "--count", "2", "--algorithm", "ppo", "--prompts", "1024", "--stack", "megatron"],
    "ppo by FSDP, a small critic": [*COMMON, "--count", "1", "--algorithm", "ppo", "--prompts", "1024", "--stack",
                                    "fsdp", "--critic", "llama-3.2-1b"],
    "rloo, SGLang, fp8": [*COMMON, "--count", "1", "--algorithm", "rloo", "--engine", "sglang", "--rollout-dtype",
                          "fp8"],
    "dapo": [*COMMON, "--count", "1", "--algorithm", "dapo"],
    "dapo, split": [*COMMON, "--count", "2", "--algorithm", "dapo", "--placement", "split", "--prompts", "256"],
    "adapters": [*COMMON, "--count", "1", "--finetune", "lora", "--lora-rank", "32", "--placement", "colocated"],
    "adapters by Megatron": [*COMMON, "--count", "1", "--finetune", "lora", "--stack", "megatron", "--placement",
                             "colocated"],
    "a reward model": [*COMMON, "--count", "1", "--reward-model", "llama-3.2-1b", "--placement", "colocated"],
    "70B": ["llama-3.1-70b", "--instances", "ml.p5.48xlarge", "--count", "4", "--stack", "megatron"],
    "experts": ["qwen3-30b-a3b", "--instances", "ml.p5.48xlarge", "--count", "2"],
}
TUNED = ["--model", "llama-3.1-8b", "--instances", "ml.p5.48xlarge", "--stack", "fsdp"]
SUPERVISED = {
    "sft, all weights": [*TUNED, "--count", "1", "--finetune", "full"],
    "sft, hybrid shards": [*TUNED, "--count", "2", "--finetune", "full", "--sharding", "fsdp-hybrid", "--shard-degree", "8"],
    "sft, offloaded": [*TUNED, "--count", "1", "--finetune", "full", "--offload", "params", "--recompute", "full"],
    "sft, adapters": [*TUNED, "--count", "1", "--finetune", "lora", "--lora-rank", "32", "--pure-half", "on"],
}
PLANTED_SUPERVISED = {"an unknown key": ["engine.param_ofload=true"],
                      "a strategy that is none": ["engine.strategy=zero3"],
                      "a schedule that is none": ["optim.lr_scheduler_type=linear"]}
PLANTED = {"an unknown key": ["actor_rollout_ref.actor.ppo_mini_batch=3"],
           "a mini-batch above the batch": ["actor_rollout_ref.actor.ppo_mini_batch_size=4096"],
           "no micro-batch": ["actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=null"],
           "a rest of responses": ["data.train_batch_size=33", "actor_rollout_ref.rollout.n=1"],
           "a mode without engines": ["trainer.v1.trainer_mode=separate_async"],
           "a loss that is none": ["actor_rollout_ref.actor.loss_agg_mode=mean"]}


def export(smplan: str, flags: list, folder: str, file: str) -> dict:
    done = subprocess.run([smplan, *flags, "--export", "verl", "--output", folder], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise ValueError(f"was not exported: {done.stderr}")
    return yaml.safe_load((pathlib.Path(folder) / file).read_text(encoding="utf-8"))


def leaves(value, prefix: str = ""):
    for key, item in value.items():
        if isinstance(item, dict) and item:
            yield from leaves(item, f"{prefix}{key}.")
        else:
            yield prefix + key, item


def faults_of(ours: dict):
    """Keys of the file that verl's own configuration has not, and values of another kind than there."""
    chosen = [f"{key.removeprefix('override ')}={item}" for entry in ours["defaults"] if isinstance(entry, dict)
              for key, item in entry.items()]
    with initialize_config_dir(str(CONFIGS), version_base=None):
        base = OmegaConf.to_container(compose(ours["defaults"][0], overrides=chosen))
    own = {key: item for key, item in ours.items() if key not in ("defaults", "hydra", "smplan")}
    for path, value in leaves(own):
        if any(name in path for name in OPEN):
            continue
        node = base
        for part in path.split("."):
            node = node.get(part, LACKS) if isinstance(node, dict) else LACKS
        follows = isinstance(node, str) and (node == "???" or node.startswith("${"))
        numbers = {type(node), type(value)} == {int, float}
        if node is LACKS:
            yield f"verl has no {path}"
        elif None not in (node, value) and type(node) is not type(value) and not follows and not numbers:
            yield f"{path} is {value!r}, verl's is {node!r}"


def reference_of(policy):
    """As verl's workers make a policy's configuration of that of the frozen copy (workers/engine_workers.py)."""
    reference = copy.deepcopy(policy.ref)
    OmegaConf.set_struct(reference, False)
    reference.ppo_mini_batch_size = policy.actor.ppo_mini_batch_size
    for own, theirs in (("micro_batch_size", "ppo_micro_batch_size"),
                        ("micro_batch_size_per_gpu", "ppo_micro_batch_size_per_gpu"), ("use_dynamic_bsz",) * 2,
                        ("max_token_len_per_gpu", "ppo_max_token_len_per_gpu")):
        reference[theirs] = reference.pop(f"log_prob_{own}")
    return reference


def judge(folder: str, overrides: list) -> None:
    """Raises what verl raises."""
    with initialize_config_dir(folder, version_base=None):
        config = compose("verl_rl", overrides=overrides)
    policy = config.actor_rollout_ref
    for part in (policy.actor, reference_of(policy), policy.rollout, config.algorithm):
        omega_conf_to_dataclass(part)
    if config.reward.reward_model.enable:
        omega_conf_to_dataclass(config.reward.reward_model)
    reference = config.algorithm.use_kl_in_reward or policy.actor.use_kl_loss
    with contextlib.redirect_stdout(io.StringIO()):
        validate_config(config, use_reference_policy=reference, use_critic=bool(config.critic.enable))
    if config.critic.enable and config.critic.strategy != policy.actor.strategy:
        raise ValueError("policy and critic by different engines")
    if config.algorithm.adv_estimator == ADVANTAGES.GAE and not config.critic.enable:
        raise ValueError("advantages of a critic without one")
    with contextlib.suppress(Built):
        TRAINERS[config.trainer.v1.trainer_mode](config=config)


def judge_supervised(folder: str, overrides: list) -> None:
    """Raises what verl's supervised trainer raises while it reads its configuration (sft_trainer.py, _build_config)."""
    with initialize_config_dir(folder, version_base=None):
        config = compose("verl_sft", overrides=overrides)
    for part in (config.model, config.engine, config.optim, config.checkpoint, config.profiler):
        omega_conf_to_dataclass(part)
    if config.data.train_batch_size % (config.trainer.nnodes * config.trainer.n_gpus_per_node):
        raise ValueError("ranks take unequal parts of a batch")


def judge_case(report: Report, entry: dict, flags: list, folder: str, file: str, judged) -> dict:
    """Exports the case, and reports what verl does not have or refuses. Returns the file, {} where there is none."""
    ours: dict = {}
    try:
        ours = export(sys.argv[1], flags, folder, file)
        report.judged += 1
        for fault in faults_of(ours):
            report.fault(entry, fault)
        judged(folder, [])
    except Exception as error:  # noqa: BLE001: whatever verl refuses by
        report.fault(entry, f"{type(error).__name__}: {error}")
    return ours


def judge_planted(report: Report, entry: dict, planted: dict, folder: str, judged) -> None:
    for what, overrides in planted.items():
        with contextlib.suppress(Exception):
            judged(folder, overrides)
            report.fault(entry, f"verl takes {what}: this judges nothing")


def main() -> int:
    report = Report("verl's own configuration of exported jobs", "jobs")
    for case, flags in CASES.items():
        entry = {"target": "verl", "case": case}
        with tempfile.TemporaryDirectory() as folder:
            ours = judge_case(report, entry, ["rl", *flags], folder, "verl_rl.yaml", judge)
            if case != "grpo, colocated":
                continue
            ours["data"]["train_batch_size"], ours["trainer"]["nodes"] = "many", 1
            if len(list(faults_of(ours))) != 2:
                report.fault(entry, "a text for a number and an unknown key are not seen: this judges nothing")
            judge_planted(report, entry, PLANTED, folder, judge)
    for case, flags in SUPERVISED.items():
        entry = {"target": "verl", "case": case}
        with tempfile.TemporaryDirectory() as folder:
            judge_case(report, entry, flags, folder, "verl_sft.yaml", judge_supervised)
            judge_planted(report, entry, PLANTED_SUPERVISED, folder, judge_supervised)
    return report.finish(len(CASES) + len(SUPERVISED))


if __name__ == "__main__":
    sys.exit(main())
