#!/usr/bin/env python3
"""Correct configurations of tools that fine-tune, each changed in one place: what the tool refuses `smplan check` must
call an error, and what the tool takes it must not. axolotl's schema judges; LLaMA-Factory's parsers, of its file, and of its
command line for texts, which a file's reader hands on unread; TRL's parser, of both; and what `tune validate` asks of
torchtune's components.
Usage: tool_mutations.py SMPLAN axolotl|llama-factory|torchtune|trl, in an environment that has the tool
"""

import collections
import contextlib
import copy
import io
import json
import logging
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import types
import warnings

import stand_in
from spoil import at, misspelt, places, replacements

SEED = 20261128
RANKS = {"trl": 1}  # as the tool counts them here; it matters where it checks its batches
MOST = 600
LEAST_FOUND = 0.9
# Rules about what the tools check themselves; others judge the machines, or the plan.
RULES = {"axolotl": ("C002", "C004", "C132", "C159", "C226"),
         "llama-factory": ("C002", "C004", "C132", "C154", "C159", "C226"), "torchtune": ("C002", "C004", "C159", "C226"),
         "trl": ("C002", "C004", "C132", "C154", "C159", "C226")}
# Taken here, and refused or without any data in what runs next (transformers' Trainer).
LATER = ("learning_rate = ''", "dataset = {}", "eval_steps = 0", "warmup_ratio = 2.5", "warmup_ratio = 1e+30",
         "gradient_accumulation_steps = 0", "gradient_accumulation_steps = -1", "per_device_train_batch_size = 0",
         "per_device_train_batch_size = -1")
BASES = {
    "axolotl": [
        {"base_model": "meta-llama/Llama-3.1-8B", "datasets": [{"path": "a.jsonl", "type": "chat_template", "split": "train"}],
         "adapter": "qlora", "load_in_4bit": True, "lora_r": 32, "lora_alpha": 16, "lora_dropout": 0.05,
         "lora_target_linear": True, "sequence_len": 4096, "sample_packing": True, "pad_to_sequence_len": True,
         "micro_batch_size": 2, "gradient_accumulation_steps": 4, "num_epochs": 3, "optimizer": "adamw_torch_fused",
         "lr_scheduler": "cosine", "learning_rate": 0.0002, "bf16": "auto", "gradient_checkpointing": True,
         "gradient_checkpointing_kwargs": {"use_reentrant": True}, "attn_implementation": "flash_attention_2",
         "warmup_ratio": 0.1, "weight_decay": 0.0, "val_set_size": 0.05, "evals_per_epoch": 4, "saves_per_epoch": 1,
         "output_dir": "./out", "logging_steps": 1, "special_tokens": {"pad_token": "<pad>"}},
        {"base_model": "Qwen/Qwen2.5-32B", "datasets": [{"path": "a.jsonl", "type": "completion", "field": "text"}],
         "sequence_len": 8192, "micro_batch_size": 1, "gradient_accumulation_steps": 2, "max_steps": 500,
         "num_epochs": 1, "save_steps": 100, "optimizer": "adamw_torch_fused", "bf16": True, "fp16": False, "tf32": True,
         "learning_rate": 1e-5, "attn_implementation": "sdpa", "fsdp_version": 2, "dp_shard_size": 8,
         "dp_replicate_size": 2, "context_parallel_size": 1, "tensor_parallel_size": 1, "seed": 42,
         "fsdp_config": {"offload_params": True, "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
                         "transformer_layer_cls_to_wrap": "Qwen2DecoderLayer", "reshard_after_forward": True,
                         "state_dict_type": "FULL_STATE_DICT", "activation_checkpointing": True}},
        {"base_model": "Qwen/Qwen2.5-1.5B-Instruct", "rl": "grpo", "learning_rate": 1e-6, "sequence_len": 1024,
         "trl": {"use_vllm": True, "num_generations": 4, "max_completion_length": 512, "beta": 0.001,
                 "reward_funcs": ["rewards.length"], "loss_type": "grpo", "scale_rewards": True},
         "vllm": {"tensor_parallel_size": 2, "gpu_memory_utilization": 0.8, "dtype": "auto", "host": "0.0.0.0"},
         "datasets": [{"path": "a.jsonl", "type": "rewards.transform"}], "micro_batch_size": 4,
         "gradient_accumulation_steps": 2, "num_epochs": 1, "adapter": "lora", "lora_r": 16, "lora_alpha": 32,
         "lora_target_modules": ["q_proj", "v_proj"], "peft_use_dora": False},
    ],
    "llama-factory": [
        {"model_name_or_path": "meta-llama/Llama-3.1-8B", "stage": "sft", "do_train": True, "finetuning_type": "lora",
         "lora_rank": 8, "lora_target": "all", "lora_dropout": 0.1, "dataset": "identity", "template": "llama3",
         "cutoff_len": 2048, "max_samples": 1000, "preprocessing_num_workers": 4, "output_dir": "out",
         "logging_steps": 10, "save_steps": 500, "plot_loss": False, "overwrite_cache": True, "flash_attn": "auto",
         "per_device_train_batch_size": 1, "gradient_accumulation_steps": 8, "learning_rate": 1e-4,
         "num_train_epochs": 3.0, "lr_scheduler_type": "cosine", "warmup_ratio": 0.1, "bf16": True,
         "val_size": 0.1, "eval_strategy": "steps", "eval_steps": 500, "report_to": "none", "packing": False,
         "quantization_bit": 4, "double_quantization": True, "optim": "adamw_torch", "seed": 42},
        {"model_name_or_path": "Qwen/Qwen2.5-7B", "stage": "dpo", "do_train": True, "finetuning_type": "full",
         "pref_beta": 0.1, "pref_loss": "sigmoid", "dataset": "pairs", "template": "qwen", "cutoff_len": 4096,
         "output_dir": "out", "per_device_train_batch_size": 1, "gradient_accumulation_steps": 4,
         "learning_rate": 5e-6, "num_train_epochs": 1.0, "max_grad_norm": 1.0, "weight_decay": 0.01, "bf16": True,
         "save_strategy": "epoch", "save_total_limit": 2, "disable_gradient_checkpointing": False,
         "enable_liger_kernel": True, "logging_steps": 5, "report_to": "none", "mix_strategy": "concat"},
    ],
    "torchtune": [
        {"output_dir": "/tmp/out", "model": {"_component_": "torchtune.models.llama3_1.lora_llama3_1_8b",
                                             "lora_attn_modules": ["q_proj", "v_proj"], "apply_lora_to_mlp": True,
                                             "apply_lora_to_output": False, "lora_rank": 8, "lora_alpha": 16,
                                             "lora_dropout": 0.0},
         "tokenizer": {"_component_": "torchtune.models.llama3.llama3_tokenizer", "path": "/tmp/tokenizer.model",
                       "max_seq_len": 2048},
         "checkpointer": {"_component_": "torchtune.training.FullModelHFCheckpointer", "checkpoint_dir": "/tmp/m",
                          "checkpoint_files": ["a.safetensors"], "recipe_checkpoint": None, "output_dir": "/tmp/out",
                          "model_type": "LLAMA3"},
         "dataset": {"_component_": "torchtune.datasets.alpaca_cleaned_dataset", "packed": False},
         "optimizer": {"_component_": "torch.optim.AdamW", "fused": True, "weight_decay": 0.01, "lr": 2e-5},
         "lr_scheduler": {"_component_": "torchtune.training.lr_schedulers.get_cosine_schedule_with_warmup",
                          "num_warmup_steps": 100},
         "loss": {"_component_": "torchtune.modules.loss.CEWithChunkedOutputLoss", "num_output_chunks": 8},
         "metric_logger": {"_component_": "torchtune.training.metric_logging.DiskLogger", "log_dir": "/tmp/logs"},
         "profiler": {"_component_": "torchtune.training.setup_torch_profiler", "enabled": False, "cpu": True,
                      "cuda": True, "wait_steps": 5},
         "epochs": 1, "batch_size": 2, "gradient_accumulation_steps": 8, "dtype": "bf16"},
        {"model": {"_component_": "torchtune.models.qwen2_5.qwen2_5_7b_base"},
         "tokenizer": {"_component_": "torchtune.models.qwen2_5.qwen2_5_tokenizer", "path": "/tmp/vocab.json",
                       "merges_file": "/tmp/merges.txt", "max_seq_len": 4096},
         "dataset": {"_component_": "torchtune.datasets.chat_dataset", "source": "json", "conversation_column": "c",
                     "conversation_style": "sharegpt", "train_on_input": False},
         "optimizer": {"_component_": "bitsandbytes.optim.PagedAdamW8bit", "lr": 2e-5, "weight_decay": 0.0},
         "loss": {"_component_": "torchtune.rlhf.loss.DPOLoss", "beta": 0.1, "label_smoothing": 0},
         "metric_logger": {"_component_": "torchtune.training.metric_logging.WandBLogger", "project": "p", "log_dir": "x"},
         "checkpointer": {"_component_": "torchtune.training.FullModelMetaCheckpointer", "checkpoint_dir": "/tmp/m",
                          "checkpoint_files": ["a.pth"], "model_type": "LLAMA2", "output_dir": "/tmp/o"},
         "epochs": 1, "batch_size": 2, "dtype": "bf16"},
    ],
}
BASES["trl"] = [
    {"model_name_or_path": "Qwen/Qwen2.5-7B", "dataset_name": "data/answers", "output_dir": "out", "use_peft": True,
     "lora_r": 16, "lora_alpha": 32, "lora_dropout": 0.05, "lora_target_modules": ["q_proj", "v_proj"],
     "load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "max_length": 2048, "packing": True, "assistant_only_loss": False,
     "per_device_train_batch_size": 4, "gradient_accumulation_steps": 2, "num_train_epochs": 1.0, "learning_rate": 1e-4,
     "lr_scheduler_type": "cosine", "warmup_steps": 10, "weight_decay": 0.01, "optim": "adamw_torch_fused", "bf16": True,
     "save_strategy": "steps", "save_steps": 50, "eval_strategy": "no", "logging_steps": 10, "report_to": "none",
     "gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": True}, "seed": 42,
     "attn_implementation": "sdpa", "dtype": "bfloat16", "completion_only_loss": False, "max_grad_norm": 1.0},
    {"model_name_or_path": "meta-llama/Llama-3.1-8B-Instruct", "dataset_name": "data/pairs",
     "beta": 0.1, "max_length": 1024, "max_steps": 100, "per_device_train_batch_size": 2, "learning_rate": 5e-7,
     "precompute_ref_log_probs": False, "label_smoothing": 0.0, "bf16": True, "logging_strategy": "steps", "tf32": True,
     "logging_steps": 5, "torch_compile": False, "gradient_accumulation_steps": 8, "save_total_limit": 2},
    {"model_name_or_path": "Qwen/Qwen2.5-1.5B", "dataset_name": "data/questions",
     "num_generations": 8, "max_completion_length": 1024, "per_device_train_batch_size": 8, "beta": 0.0, "use_vllm": True,
     "vllm_mode": "colocate", "vllm_gpu_memory_utilization": 0.4, "vllm_tensor_parallel_size": 1, "temperature": 1.0,
     "top_p": 1.0, "epsilon": 0.2, "num_iterations": 1, "scale_rewards": "group", "mask_truncated_completions": True,
     "learning_rate": 1e-6, "bf16": True, "steps_per_generation": 4, "loss_type": "dapo", "log_completions": False},
]
# Settings to be added to a base, one at a time: switches that exclude others, and old ones.
ADDED = {
    "axolotl": {"load_in_8bit": [True], "fp16": [True], "bf16": [True, False], "max_packed_sequence_len": [2048],
                "sample_packing": [True, False], "relora": [True], "rl": ["dpo", "kto", "simpo", "ppo"],
                "adapter": ["lora", "qlora", "lore"], "evaluation_strategy": ["steps"], "eval_steps": [10],
                "save_steps": [10, 0.5], "save_strategy": ["no", "steps"], "eval_strategy": ["steps", "no"],
                "unsloth_lora_mlp": [True], "lora_mlp_kernel": [True], "batch_size": [8], "tensor_parallel_size": [2],
                "context_parallel_size": [2], "deepspeed": ["zero3.json"], "lora_r": [0, 16], "group_by_length": [True],
                "neftune_noise_alpha": [5], "warmup_steps": [10], "warmup_ratio": [0.1], "optimizer": ["adamw_8bit"],
                "pretraining_dataset": [[{"path": "x"}]], "reward_model": [True], "flash_attention": [True],
                "torch_compile": ["auto", "maybe"], "gradient_checkpointing": ["offload", "other"], "qat": [{}],
                "early_stopping_patience": [3], "load_best_model_at_end": [True], "dataset_processes": [4]},
    "llama-factory": {"fp16": [True], "pure_bf16": [True], "streaming": [True], "max_steps": [10], "neat_packing": [True],
                      "packing": [True], "use_galore": [True], "use_badam": [True], "use_dora": [True],
                      "use_rslora": [True], "pissa_init": [True], "loraplus_lr_ratio": [16.0],
                      "train_on_prompt": [True], "mask_history": [True], "predict_with_generate": [True],
                      "do_predict": [True], "do_eval": [True], "eval_dataset": ["x"], "interleave_probs": ["0.5,0.5"],
                      "mix_strategy": ["interleave_under", "mixed"], "load_best_model_at_end": [True],
                      "evaluation_strategy": ["steps"], "finetuning_type": ["full", "freeze", "lorra"],
                      "stage": ["rm", "ppo", "kto", "pretrain"], "quantization_bit": [8, 5, 3, 16], "fp8": [True],
                      "use_llama_pro": [True], "resize_vocab": [True], "create_new_adapter": [True],
                      "adapter_name_or_path": ["a"], "dpo_label_smoothing": [0.1], "reward_model": ["r"],
                      "quantization_device_map": ["auto"], "compute_accuracy": [True], "shift_attn": [True],
                      "template": ["qwen", "chatml", "lama3", "llamma3", "gemmma", "default"],
                      "report_to": ["wandb", "tensorboard", "none", "tensorbord", "wandbb", ["wandb", "mlflow"], ["wandb", "wb"]],
                      "quantization_method": ["hqq", "eetq", "bnb", "bnbb"],
                      "pref_loss": ["orpo", "sigmoyd"], "lora_target": ["q_proj,v_proj"], "deepspeeed": ["x"]},
}


ADDED["torchtune"] = {}
ADDED["trl"] = {"fp16": [True], "load_in_8bit": [True], "load_best_model_at_end": [True], "eval_strategy": ["steps", "epoch"],
                "save_strategy": ["no", "epoch", "best"], "optim": ["adamw_8bit", "adamx"], "group_by_length": [True],
                "lr_scheduler_type": ["polynomial", "cosin"], "warmup_ratio": [0.1, 2.0],
                "fsdp": ["full_shard", "full_shard offload", "fullshard"], "gradient_accumulation_steps": [4],
                "packing_strategy": ["bfd", "wrapped", "first"], "eval_packing": [True], "padding_free": [True],
                "torch_compile": [True], "torch_compile_mode": ["default"], "neftune_noise_alpha": [5.0],
                "num_generations": [3, 1], "generation_batch_size": [16, 12], "max_prompt_length": [512],
                "per_device_train_batch_size": [3], "use_dora": [True], "use_rslora": [True], "beta": [0.5, -0.5],
                "hub_strategy": ["end", "all"], "bnb_4bit_quant_type": ["fp4", "nf5"], "truncation_mode": ["keep_start", "keep"],
                "report_to": ["wandb", "tensorboard", "none", "all", "tensorbord", "wb", ["wandb", "mlflow"], ["wandb", "wb"]],
                "attn_implementation": ["eager", "sdpa", "sdpaa", "flash", "flash_attn_2", "flash_attention_2", "xformers",
                                        "fa2", "kernels-community/flash-attn2"],
                "logging_first_step": [True], "metric_for_best_model": ["loss"], "push_to_hub": [True],
                "use_liger_kernel": [True], "include_tokens_per_second": [True], "torch_empty_cache_steps": [4, 0],
                "bf16_full_eval": [True], "fp16_full_eval": [True], "dataloader_num_workers": [0, 4],
                "dataloader_prefetch_factor": [2], "max_steps": [-1, 10], "loss_type": ["nll", "sigmoid", "grpo"]}


def component_changes(base: dict, path: tuple, name: str, chance: random.Random):
    """torchtune judges names: of components, and of their parameters."""
    if len(path) < 2:
        return
    for _ in range(8):
        changed = copy.deepcopy(base)
        holder = at(changed, path)
        if path[-1] == "_component_":
            holder[path[-1]] = misspelt(holder[path[-1]].rpartition(".")[2], chance).join(
                [holder[path[-1]].rpartition(".")[0] + ".", ""])
        else:
            holder[misspelt(path[-1], chance)] = holder.pop(path[-1])
        yield f"{name} misspelt as {changed[path[0]]}", changed
    for value in replacements(at(base, path)[path[-1]])[:4] if path[-1] != "_component_" else ():
        changed = copy.deepcopy(base)
        at(changed, path)[path[-1]] = value
        yield f"{name} = {value!r}", changed
    for other in ("lora_rank", "max_seq_len", "packed", "beta", "filename", "fused", "amsgrad", "momentum"):
        changed = copy.deepcopy(base)
        changed[path[0]][other] = 1
        yield f"{path[0]}.{other} added", changed


def changes(base: dict, tool: str, chance: random.Random):
    for path in places(base):
        name = ".".join(map(str, path))
        if tool == "torchtune":
            yield from component_changes(base, path, name, chance)
            continue
        dropped = copy.deepcopy(base)
        del at(dropped, path)[path[-1]]
        yield f"{name} dropped", dropped
        if tool == "llama-factory":  # others drop unknown keys without a word
            renamed = copy.deepcopy(base)
            at(renamed, path)[misspelt(path[-1], chance)] = at(renamed, path).pop(path[-1])
            yield f"{name} misspelt", renamed
        for value in replacements(at(base, path)[path[-1]]):
            changed = copy.deepcopy(base)
            at(changed, path)[path[-1]] = value
            yield f"{name} = {value!r}", changed
    for name, values in ADDED[tool].items():
        for value in values:
            yield f"+ {name} = {value!r}", {**copy.deepcopy(base), name: value}


# axolotl/utils/data/wrappers.py, DATASET_HANDLERS.
HANDLERS = ("alpaca", "explainchoice", "concisechoice", "summarizetldr", "jeopardy", "oasst", "gpteacher", "reflection")


def words_of_transformers() -> dict:
    """Of the environment that has transformers; empty without it."""
    python = pathlib.Path(sys.argv[1]).resolve().parent / "training/bin/python"
    if not python.exists():
        return {}
    asked = ("import json; from transformers.training_args import OptimizerNames as o, SchedulerType as s; "
             "print(json.dumps({'optimizer': [x.value for x in o], 'lr_scheduler': [x.value for x in s]}))")
    done = subprocess.run([python, "-W", "ignore", "-c", asked], capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}


class Axolotl:
    """Its schema, and all validators of it; words that transformers and the loader of data look up later."""

    def __init__(self):
        stand_in.axolotl()
        from axolotl.utils.config import validate_config
        from axolotl.utils.dict import DictDefault

        import axolotl
        from axolotl.utils.schemas.enums import CustomSupportedOptimizers

        self.validate, self.made = validate_config, DictDefault
        self.strategies = pathlib.Path(axolotl.__path__[0], "prompt_strategies")
        self.optimizers = {one.value for one in CustomSupportedOptimizers}
        self.of_transformers = words_of_transformers()

    def judge(self, config: dict) -> None:
        self.validate(self.made(copy.deepcopy(config)))
        # What the Trainer's arguments refuse later, and the loader of data.
        for name, others in (("optimizer", self.optimizers), ("lr_scheduler", {"one_cycle", "rex"})):
            word = config.get(name)
            empty = (None, "") if name == "lr_scheduler" else (None,)
            if self.of_transformers and word not in (*empty, *others, *self.of_transformers[name]):
                raise ValueError(f"{word} is no {name}")
        for data in config.get("datasets") or () if not config.get("rl") else ():
            kind = data.get("type")
            if isinstance(kind, str) and "." not in kind and not (self.strategies / kind).is_dir() and \
                    not (self.strategies / f"{kind.partition(':')[0]}.py").exists() and \
                    kind.partition(":")[0] not in HANDLERS:
                raise ValueError(f"unhandled prompt tokenization strategy: {kind}")


class LlamaFactory:
    """get_train_args of a file, and the types of its options for texts, lists, objects and words of an enumeration; what it
    looks up in its templates, its quantizations and transformers' integrations."""

    # What hangs on this machine, or on packages that are not here.
    NOT_JUDGED = ("check_version", "bf16/gpu", "device does not support")

    def __init__(self):
        os.environ.update(DISABLE_VERSION_CHECK="1", WANDB_DISABLED="true", TRANSFORMERS_VERBOSITY="error")
        import transformers
        from llamafactory.hparams import parser

        transformers.training_args.is_torch_bf16_gpu_available = lambda: True
        parser.is_torch_bf16_gpu_available = lambda: True
        parser._check_extra_dependencies = lambda *arguments: None
        self.read = parser.get_train_args
        stand_in.replace("torchaudio")
        from llamafactory.data.template import TEMPLATES
        from llamafactory.model.model_utils.quantization import configure_quantization
        from transformers.integrations.integration_utils import get_reporting_integration_callbacks

        self.templates, self.quantize, self.callbacks = TEMPLATES, configure_quantization, get_reporting_integration_callbacks
        self.options = transformers.HfArgumentParser(parser._TRAIN_ARGS)
        self.options.error = self.refuse
        self.actions = {action.dest: action for action in self.options._actions}

    @staticmethod
    def refuse(said: str):
        raise ValueError(said)

    def judge(self, config: dict) -> None:
        words = []
        for name, value in config.items():
            action = self.actions.get(name)
            if action is None or value is None or isinstance(value, list) and action.nargs in ("+", "*"):
                continue
            if isinstance(value, (str, list, dict)) or action.choices:
                words += [f"--{name}", str(value) or " "]
        self.options.parse_known_args(words)
        model, data, training, *_ = self.read(copy.deepcopy(config))
        self.callbacks(training.report_to)
        if data.template is not None and data.template not in self.templates:
            raise ValueError(f"Template {data.template} does not exist.")
        with contextlib.suppress(ImportError):
            self.quantize(types.SimpleNamespace(), None, model, True, {})


class Torchtune:
    """torchtune.config.validate, which binds each component's parameters to its signature; then the type of a model, which
    every checkpointer looks up (torchtune/training/checkpointing/_checkpointer.py)."""

    def __init__(self):
        stand_in.replace("torchao", "datasets", "kagglehub", "sentencepiece", "tiktoken", "blobfile")
        import torch

        import bitsandbytes.optim  # noqa: F401 - it asks for the version too

        torch.__version__ = "2.6.0"  # it needs no newer one, and PyTorch has moved what it imports
        from omegaconf import OmegaConf
        from torchtune.config import validate
        from torchtune.training.checkpointing import ModelType

        self.validate, self.made, self.types = validate, OmegaConf.create, ModelType

    def judge(self, config: dict) -> None:
        self.validate(self.made(config))
        checkpointer = config.get("checkpointer")
        if isinstance(checkpointer, dict) and "_component_" in checkpointer:
            name = checkpointer.get("model_type")
            if not isinstance(name, str) or name not in self.types.__members__:
                raise KeyError(name)


class Trl:
    """TrlParser of `trl sft|dpo|grpo --config`: texts as argparse reads them, and what the dataclasses refuse; then what
    transformers looks up: its integrations, and attention of a small model; and words over which the trainers raise.

    A value that is no text goes into the dataclass unread. What the command line would refuse of those fails later, or
    does not, so it is not judged.
    """

    LISTS = ("lora_target_modules",)
    OBJECTS = ("gradient_checkpointing_kwargs",)
    # By what tells the method: trl/trainer/grpo_trainer.py, trl/generation/vllm_generation.py, trl/trainer/dpo_trainer.py.
    OF_TRAINERS = {
        "num_generations": {"loss_type": ("grpo", "bnpo", "dr_grpo", "dapo", "luspo", "cispo", "sapo", "vespo"),
                            "vllm_mode": ("server", "colocate")},
        "precompute_ref_log_probs": {"loss_type": (
            "sigmoid", "hinge", "ipo", "exo_pair", "nca_pair", "robust", "bco_pair", "sppo_hard", "aot", "aot_unpaired",
            "apo_zero", "apo_down", "discopop", "sft", "sigmoid_norm")}}

    def __init__(self):
        os.environ.update(TRANSFORMERS_VERBOSITY="error", WANDB_DISABLED="true")
        import transformers
        import trl

        transformers.training_args.is_torch_bf16_gpu_available = lambda: True
        transformers.training_args.is_torch_tf32_available = lambda: True
        self.parser = trl.TrlParser
        # What tells the method; an experiment may lack it, the base does not.
        self.configs = {"num_generations": trl.GRPOConfig, "max_completion_length": trl.GRPOConfig,
                        "completion_only_loss": trl.SFTConfig, "packing": trl.SFTConfig, "beta": trl.DPOConfig,
                        "precompute_ref_log_probs": trl.DPOConfig}
        self.others = trl.ScriptArguments, trl.ModelConfig
        from transformers.integrations.integration_utils import get_reporting_integration_callbacks

        self.callbacks = get_reporting_integration_callbacks
        self.build = transformers.AutoModelForCausalLM.from_config
        self.small = transformers.LlamaConfig(hidden_size=16, intermediate_size=16, num_hidden_layers=1, vocab_size=16,
                                              num_attention_heads=2, num_key_value_heads=2)

    def parsed(self, config: dict, words: list) -> None:
        """Words that it does not know are the script's."""
        made = next(made for name, made in self.configs.items() if name in config)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                _, training, model = self.parser((self.others[0], made, self.others[1])).parse_args_and_config(
                    words, fail_with_unknown_args=False)
            except SystemExit:
                raise ValueError(said.getvalue().strip().rpartition("error: ")[2]) from None
        method = next((name for name in self.OF_TRAINERS if name in config), "")
        for name, known in self.OF_TRAINERS.get(method, {}).items():
            value = getattr(training, name)
            if not all(word in known for word in (value if isinstance(value, list) else [value])):
                raise ValueError(f"{name} is none of {known}")
        self.callbacks(training.report_to)
        if model.attn_implementation is not None:
            with contextlib.suppress(ImportError):  # a kernel that is not installed here
                self.build(self.small, attn_implementation=model.attn_implementation)

    def judge(self, config: dict) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(config, file)
            file.flush()
            self.parsed(config, ["--config", file.name])

    def open(self, config: dict) -> bool:
        """The command line refuses what the file's reader takes; a list or an object it cannot be told."""
        words = []
        for name, value in config.items():
            if isinstance(value, list) and name not in self.LISTS or isinstance(value, dict) and name not in self.OBJECTS:
                return True
            if value is not None:
                words += [f"--{name}", *(map(str, value) if isinstance(value, list) else [
                    json.dumps(value) if isinstance(value, dict) else str(value)])]
        try:
            self.parsed(config, words)
        except Exception:  # whatever it raises is its refusal
            return True
        return False


TOOLS = {"axolotl": Axolotl, "llama-factory": LlamaFactory, "torchtune": Torchtune, "trl": Trl}


def refusal(tool, config: dict) -> str:
    try:
        tool.judge(copy.deepcopy(config))
    except Exception as fault:  # whatever the tool raises is its refusal
        return " ".join(f"{type(fault).__name__}: {fault}".split())[:400]
    return ""


def errors(smplan: str, kind: str, configs: list) -> list:
    """What `smplan check` says against each, all of them in one run."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, config in enumerate(configs):
            files.append(pathlib.Path(folder, f"{i:04}.yaml"))
            files[-1].write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML, and quotes what looks like a number
        done = subprocess.run([smplan, "check", *map(str, files), "--kind", kind, "--n-gpus", str(RANKS.get(kind, 16)), "--format", "json"],
                              capture_output=True, text=True)
        if done.returncode not in (0, 1, 2):
            raise RuntimeError(done.stderr)
        answer = json.loads(done.stdout)
        found = {job["file"]: [f"{one['rule']} {one['message']}" for one in job["findings"]
                               if one["severity"] == "error" and one["rule"] in RULES[kind]] for job in answer["jobs"]}
        return [found.get(str(file), ["not checked"]) for file in files]


def main() -> int:
    warnings.simplefilter("ignore")
    smplan, kind = sys.argv[1:3]
    logging.disable(logging.CRITICAL)
    chance = random.Random(SEED)
    tool = TOOLS[kind]()
    changed = [change for base in BASES[kind] for change in changes(base, kind, chance)]
    changed = [(what, config) for what, config in changed if what not in LATER]
    chance.shuffle(changed)
    cases = [("a base", base) for base in BASES[kind]] + changed[:int(os.environ.get("SMPLAN_MUTATIONS", MOST))]
    said = errors(smplan, kind, [config for _, config in cases])
    count: collections.Counter = collections.Counter()
    for (what, config), ours in zip(cases, said):
        refused = refusal(tool, config)
        count["refused" if refused else "taken"] += 1
        if what == "a base" and (refused or ours):
            count["false"] += 1
            print(f"a base is refused: {refused} {ours}")
        elif refused and not ours:
            count["missed"] += 1
            print(f"missed: {what}: {refused[:230]}")
        elif ours and not refused and not (hasattr(tool, "open") and tool.open(config)):
            count["false"] += 1
            print(f"false: {what}: {ours[0][:160]}")
    found = 1 - count["missed"] / max(1, count["refused"])
    print(f"{kind}: {count['refused']} refused, {found:.1%} of them found; {count['taken']} taken, {count['false']} false")
    return 0 if found >= LEAST_FOUND and not count["false"] and count["refused"] > 50 else 1


if __name__ == "__main__":
    sys.exit(main())
