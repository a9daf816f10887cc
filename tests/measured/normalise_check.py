"""Words of tables become typed columns: scripts/runs/normalise.

Usage: normalise_check.py PROJECT [TEST...]
"""

import csv
import io
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
from typing import Any

PROJECT = pathlib.Path(sys.argv[1]).resolve()
SCRIPT = PROJECT / "scripts/runs/normalise"
sys.path.insert(0, str(SCRIPT.parent))
sys.dont_write_bytecode = True

import catalog  # noqa: E402
import cells  # noqa: E402
import hardware  # noqa: E402
import phrases  # noqa: E402
import software  # noqa: E402
import table  # noqa: E402
from row import EXECUTION, MEASURED, STATED, STRATEGY, Row  # noqa: E402

BASE = dict(id="a", model="gpt2", gpu="H100", n_gpus="8", framework="PyTorch FSDP", seq_len="1024", micro_batch="1")


def typed(**stated: Any) -> dict[str, str]:
    """The typed cells of a row that states these, beside those of BASE."""
    cells_ = {column: str(cell) for column, cell in {**BASE, **stated}.items() if cell != ""}
    return table.typed_row(table.under_known_names(cells_)).typed


def experts(model: str, gpu: str, framework: str = "Megatron-Bridge", notes: str = "", **more: Any) -> dict[str, str]:
    """A mixture of experts on 64 devices."""
    row = dict(model=model, gpu=gpu, framework=framework, notes=notes, n_gpus=64, dtype="bf16", seq_len=4096, tp=1, pp=1)
    return typed(**{**row, "ep": 8, "global_batch": 256, **more})


class Cells(unittest.TestCase):
    def check(self, parse: Any, expected: dict[Any, list[str]]) -> None:
        for value, words in expected.items():
            for word in words:
                with self.subTest(word):
                    self.assertEqual(parse(word), value)

    def test_shardings_are_called_by_stage_strategy_or_program(self) -> None:
        expected = {
            "none": ["none", "NO_SHARD", "DDP", "0", "not sharded", "no sharding"],
            "zero1": ["zero1 dp2", "ZeRO-1", "distributed optimizer", "use_distributed_optimizer", "ddp + zero1"],
            "zero2": ["stage 2", "zero2+offload", "DeepSpeed ZeRO-2"],
            "zero3": ["ZeRO stage-3", "3"],
            "fsdp-full": ["fsdp", "FSDP2", "FULL_SHARD", "fully_shard"],
            "fsdp-grad-op": ["SHARD_GRAD_OP", "fsdp-grad-op", "FSDP SHARD_GRAD_OP", "ShardingStrategy.SHARD_GRAD_OP"],
            "fsdp-hybrid": ["hsdp", "FSDP (HYBRID_SHARD)", "fsdp hsdp", "fsdp-hybrid"],
            None: ["_HYBRID_SHARD_ZERO2", "zero2/3 (see the script)", "zero4", ""],
        }
        self.check(cells.sharding, expected)
        self.check(cells.zero_stage, {"zero1": ["HF + DeepSpeed ZeRO-1"], "zero2": ["DeepSpeed (zero 2)"], None: ["ZeRO"]})

    def test_recomputation_is_a_switch_a_kind_or_a_list_of_modules(self) -> None:
        expected = {
            "none": ["none", "0", "False", "no recompute", "none (0 layers)", "AC off", "checkpointing: disabled"],
            "full": ["full (uniform, 1)", "yes", "1", "block", "activation checkpointing", "yes (unsloth)", "AC"],
            "selective": ["selective-op", "Selective (core attn)", "mla_up_proj,mlp", "per-op SAC", "attention"],
            None: ["", "flash", "10 layers"],
        }
        self.check(cells.recompute, expected)
        listed = {"mlp": "mlp", "['layernorm', 'moe_act']": "layernorm moe_act", "shared_experts moe moe_act": "moe"}
        for words, modules in listed.items():
            self.assertEqual(cells.modules(words), modules.split())

    def test_attention_is_a_switch_or_a_kernel(self) -> None:
        expected = {
            "on": ["FA2", "FlashAttention-3", "flash-attn 2.5", "sdpa", "cuDNN", "xformers", "fa", "2", "TE", "1"],
            "off": ["eager", "unfused", "sdpa (math)", "no flash", "flash: off", "0"],
            None: ["maybe", "10", "fab", "ring"],
        }
        self.check(cells.flash_attention, expected)

    def test_other_cells_are_read_in_any_case(self) -> None:
        self.check(cells.optimizer, {"adam8bit": ["paged_adamw_8bit"], "adamw": ["DistributedFusedAdam"], None: ["Shampoo"]})
        fp8 = ["MXFP8", "bf16 + float8"]
        bf16 = ["bfloat16", "bf16-mixed", "bf16, no fp8", "bf16 (no float8)", "BF16, FP8 off"]
        self.check(cells.precision, {"fp8": fp8, "bf16": bf16, "fp16": ["amp", "16-mixed"], None: ["int8"]})
        self.check(cells.schedule, {"1f1b": ["1F1B"], "interleaved": ["Interleaved1F1B"], "zero-bubble": ["Zero Bubble"]})
        self.check(cells.offload, {"optimizer": ["cpu", "zero-offload"], "params": ["params (CPU)"], "none": ["0", "no"]})
        self.check(cells.offload, {"optimizer+nvme": ["optimizer+nvme"], "params": ["parameters"], None: ["nvme", "params+params"]})
        self.check(cells.model_kind, {"encoder-decoder": ["Encoder Decoder"], "vision": ["vision"], None: ["resnet"]})
        self.check(cells.collectives, {"smddp": ["SMDDP 2.0"], "nccl": ["NCCL"], None: ["gloo"]})
        self.check(cells.adapter_dtype, {"fp32": ["float32"], None: ["bf16"]})
        self.check(cells.host_beside, {True: ["AdamW (CPU offload)", "zero2+offload"], False: ["AdamW", "no offload"]})
        allocated = ["torch.cuda.max_memory_allocated", "active (torchtune peak memory active)"]
        kinds = {"allocated": allocated, "reserved": ["max_reserved"], "device": ["nvidia-smi"], None: ["heap", "unknown"]}
        self.check(cells.memory_kind, kinds)
        self.check(cells.flops_kind, {"hardware": ["HFU"], "model": ["model"], None: ["model or hardware"]})
        self.check(cells.four_bits, {True: ["bnb.nf4-dq", "int4 (GPTQ)", "fp4"], False: ["none", "bf16"], None: ["int8"]})
        self.check(cells.is_pure_half, {True: ["bf16-true", "pure bf16"], False: ["bf16-mixed", "32-true", ""]})

    def test_targets_of_adapters(self) -> None:
        expected = {
            "query-value": ["query+value", "q,v"],
            "v_proj+q_proj": [],
            "q_proj+v_proj": ["v_proj+q_proj", "q_proj v_proj"],
            "all": ["query+key+value+projection+mlp+head", "all linear incl. output", "all-linear", "all"],
            "attention": ["qkv", "self_attn", "attention"],
            "o_proj+gate_proj": ["gate_proj+o_proj"],
        }
        self.check(cells.lora_targets, expected)


class Denials(unittest.TestCase):
    def test_what_is_denied_is_not_said(self) -> None:
        for text in ("no compile", "compile=0", "compile: off", "without compile", "compile disabled", "non-compile"):
            words = phrases.Phrases(text)
            self.assertFalse(words.say("compile"), text)
            self.assertTrue(words.deny("compile"), text)
        for text in ("compile", "no offload, compile", "compile no matter", "compile=1"):
            self.assertTrue(phrases.Phrases(text).say("compile"), text)

    def test_words_begin_where_words_begin(self) -> None:
        self.assertFalse(phrases.Phrases("recompiled").say_word("compile"))
        self.assertFalse(phrases.Phrases("4-bit AdamW").say_word("4-bit", frozenset({"adamw"})))
        self.assertTrue(phrases.Phrases("4-bit base").say_word("4-bit", frozenset({"adamw"})))

    def test_numbers_follow_their_words(self) -> None:
        words = phrases.Phrases("global_batch 32; container 26.04.01; rank=0")
        self.assertEqual(words.number_after("global_batch "), 32)
        self.assertEqual(words.release_after("container "), 2604)
        self.assertIsNone(words.number_after("rank="))
        self.assertEqual(phrases.Phrases("container 25").release_after("container "), 2506)
        self.assertIsNone(phrases.Phrases("container 26.13").release_after("container "))
        self.assertIsNone(phrases.Phrases("batch 99999999999999999999").number_after("batch "))

    def test_what_no_rule_read_is_left(self) -> None:
        words = phrases.Phrases("liger on; a good day, compile=0")
        words.say("liger", "compile")
        self.assertEqual(words.unused(), ["a good day"])


class Hardware(unittest.TestCase):
    def test_accelerators_have_many_spellings(self) -> None:
        spellings = {
            "H100-80GB": "H100|H100-80GB-SXM|H100 SXM5|NVIDIA H100 80GB HBM3|H100 (80G)|H100_80GiB|8xH100|H100 x8|8x H100-SXM",
            "A100-80GB": "A100-SXM4-80GB|A100 80 GB",
            "V100-32GB": "Tesla V100-SXM2-32GB",
            "GB200": "GB200 NVL72",
            "H100-80GB-PCIe": "NVIDIA H100 PCIe|H100-80GB-PCIe",
            "A10G": "A10G PCIe|NVIDIA A10G-24GB",
            "MI300X": "AMD Instinct MI300X OAM|MI300X-192GB",
            "H100-94GB-NVL": "H100 NVL|H100-94GB",
            "B200": "B200-192GB",
            "GH200-96GB": "NVIDIA GH200 480GB",
            "RTX-4090": "GeForce RTX 4090",
        }
        for key, written in spellings.items():
            for gpu in written.split("|"):
                self.assertEqual(typed(gpu=gpu)["gpu"], key, gpu)
        for gpu in ("H20-141GB", "A10G-80GB", "80GB", "Gaudi2"):
            self.assertEqual(typed(gpu=gpu)["gpu"], gpu, "left for the product to refuse")

    def test_instances_and_families_are_named_among_words(self) -> None:
        def instance(**stated: Any) -> str:
            return typed(**{"gpu": "", **stated}).get("instance", "")

        self.assertEqual(instance(instance="4x p6-b300.48xlarge (EFA)", n_gpus=32), "ml.p6-b300.48xlarge")
        self.assertEqual(instance(instance="AWS p4d", n_gpus=16), "ml.p4d.24xlarge")
        self.assertEqual(instance(instance="p5", gpu="H100"), "ml.p5.48xlarge")
        self.assertEqual(typed(instance="p4de.24xlarge", gpu="A100")["gpu"], "A100-80GB")
        self.assertEqual(instance(instance="a cluster of ours", gpu="H100"), "")

    def test_networks_are_named_and_their_rates_are_a_nodes(self) -> None:
        rates = {"100 Gbps": 100, "25GbE": 25, "4x200Gb/s IB": 800, "2 x 100G EFA": 200, "EFA (25 GB/s)": 200}
        for words, gbps in {**rates, "RoCE 3200 Gbps": 3200}.items():
            self.assertEqual(hardware.network_gbps(words), gbps, words)
        for words in ("200G IB", "HDR200", "NVLink 600 GB/s + IB", "0 Gbps IB", "9999999x9999999 Gbps IB"):
            self.assertIsNone(hardware.network_gbps(words), words)
        kinds = {"EFAv2": "efa", "NDR": "infiniband", "RDMA 4x200": "infiniband", "100GbE": "ethernet", "OPA": "omni-path"}
        for words, kind in kinds.items():
            self.assertEqual(hardware.network_kind(words), kind)

    def test_chips_of_trainium_are_counted_as_their_cores(self) -> None:
        def count(**stated: Any) -> tuple[str, str]:
            row = typed(**{"gpu": "Trainium1", "framework": "NeuronX Distributed", "tp": 8, "pp": 1, **stated})
            return row["n_gpus"], row.get("devices_per_gpu", "")

        self.assertEqual(count(n_gpus=64, gpus_per_node=32), ("64", ""))
        for chips in (dict(gpus_per_node=16), dict(gpu="trn1", dp=8), dict(gpu="Trainium chips")):
            self.assertEqual(count(n_gpus=32, **chips), ("64", "2"))
        self.assertEqual(count(instance="trn1.32xlarge", gpu="", n_gpus=16), ("32", "2"))
        self.assertEqual(count(instance="trn1.32xlarge", gpu="", n_gpus=64), ("64", ""))
        self.assertEqual(count(gpu="Trainium2", n_gpus=16, gpus_per_node=16), ("64", "4"))


class Models(unittest.TestCase):
    def test_names_are_read_as_people_write_them(self) -> None:
        names = {
            "llama-3-8b": "Llama 3 8B|meta-llama/Meta-Llama-3-8B|llama3-8b|Llama-3-8B-Instruct|unsloth/llama-3-8b-bnb-4bit",
            "llama-2-7b": "LLaMA-2 7B|Llama2 7B (HF)|meta-llama/Llama-2-7b-chat-hf",
            "llama-3.1-8b": "llama31_8b",
            "llama-3-70b": "Llama3-70B(trunc)",
            "opt-13b": "OPT-13B",
        }
        for preset, written in names.items():
            for name in written.split("|"):
                self.assertEqual(typed(model=name)["model"], preset, name)
        for name in ("Llama 8B", "opt_1_3b", "Command R+"):
            self.assertEqual(typed(model=name)["model"], name, "of which size or release")

    def test_layers_of_encoder_and_decoder_are_counted_together_or_of_one_side(self) -> None:
        def layers(**stated: Any) -> tuple[str, str]:
            row = typed(**stated)
            return row.get("n_encoder_layers", ""), row.get("n_layers", "")

        self.assertEqual(layers(model="flan-t5-xl"), ("", ""))
        self.assertEqual(layers(model="flan-t5-xl", n_layers=48), ("24", "24"))
        self.assertEqual(layers(model="flan-t5-xl", n_layers=24), ("24", "24"))
        self.assertEqual(layers(model="flan-t5-xl", n_layers=12), ("6", "6"))
        self.assertEqual(layers(model="my-T5-large", n_layers=48, hidden=1024), ("24", "24"))
        self.assertEqual(typed(model="my-T5-large", n_layers=48, hidden=1024)["kind"], "encoder-decoder")
        self.assertNotIn("kind", typed(model="gpt5", n_layers=48, hidden=1024))
        self.assertEqual(typed(model="BERT-tiny", n_layers=2, hidden=128)["kind"], "encoder")

    def test_a_vocabulary_that_is_not_stated_is_the_familys(self) -> None:
        def vocabulary(name: str) -> str:
            return typed(model=name, n_layers=12, hidden=1024).get("vocab", "")

        self.assertEqual(vocabulary("Nemotron-3-8B"), "256000")
        self.assertEqual(vocabulary("BERT-tiny"), "30522")
        self.assertEqual(vocabulary("somebody's own"), "")
        self.assertEqual(vocabulary("llama-9"), "", "Llamas have had three vocabularies")

    def test_a_count_with_the_vocabulary_twice_has_a_head_of_its_own(self) -> None:
        self.assertEqual(typed(model="falcon-7b", params_b="7.217")["tied_embeddings"], "0")
        self.assertNotIn("tied_embeddings", typed(model="falcon-7b", params_b="6.92"))


class Software(unittest.TestCase):
    def stack(self, framework: str, **stated: Any) -> str:
        row = typed(**{"framework": framework, **stated})
        return (row["stack"] + " " + row.get("sharding", "")).strip()

    def test_frameworks_are_named_by_whole_words(self) -> None:
        stacks = {
            "fsdp": "NeMo-Automodel|NeMo AutoModel (FSDP2)|PyTorchFSDP|FSDPv2",
            "megatron": "NeMo 2.0|NeMo24.07|MegatronLM",
            "megatron-deepspeed": "megatron_deepspeed",
            "smp-v2": "SageMaker model parallelism library v2",
            "ddp": "PyTorch DDP + compile|PyTorch with compile|Apex ops|ctrl|nonzero",
        }
        for stack, written in stacks.items():
            for framework in written.split("|"):
                self.assertEqual(self.stack(framework, tp=1, pp=1, dtype="bf16").split()[0], stack, framework)

    def test_no_run_on_trainium_is_of_an_nvidia_stack(self) -> None:
        self.assertEqual(self.stack("nemo-megatron", gpu="Trainium1", n_gpus=64, tp=8), "neuron-nemo")
        self.assertEqual(self.stack("NeMo-Megatron", n_gpus=64, tp=8), "megatron")
        self.assertEqual(self.stack("somebody's own", gpu="Trainium1", n_gpus=64, tp=8), "neuron")

    def test_an_unknown_program_shards_what_one_device_cannot_hold(self) -> None:
        self.assertEqual(self.stack("own", model="llama-2-7b", gpu="A100-80GB"), "fsdp")
        self.assertEqual(self.stack("own", model="own", params_b=7, gpu="A100-80GB"), "fsdp")
        self.assertEqual(self.stack("own", model="llama-2-7b", gpu="B200"), "ddp")
        self.assertEqual(self.stack("own", model="llama-2-7b", gpu="A100-80GB", method="lora"), "ddp")
        self.assertEqual(self.stack("own", tp=2), "megatron")
        self.assertEqual(self.stack("own", shard="zero2"), "deepspeed zero2")

    def test_a_launcher_shards_by_the_program_beside_it_or_by_need(self) -> None:
        big = dict(model="llama-2-7b", gpu="A100-80GB")
        self.assertEqual(self.stack("HF Trainer + FSDP", **big), "fsdp fsdp-full")
        self.assertEqual(self.stack("Axolotl (DeepSpeed ZeRO-2)", **big), "deepspeed zero2")
        self.assertEqual(self.stack("LLaMA-Factory", **big), "fsdp")
        self.assertEqual(self.stack("LLaMA-Factory", model="tinyllama-1.1b", gpu="A100-80GB"), "hf-trainer")
        self.assertEqual(self.stack("torchtune", model="tinyllama-1.1b"), "torchtune fsdp-full")
        self.assertEqual(self.stack("HF-Trainer", model="llama-2-70b", method="lora"), "fsdp")
        self.assertEqual(self.stack("HF-Trainer", model="llama-2-70b", method="lora", quant="nf4"), "hf-trainer")

    def test_stages_are_fsdps_strategies_where_it_shards(self) -> None:
        self.assertEqual(self.stack("PyTorch FSDP", shard="zero3"), "fsdp fsdp-full")
        self.assertEqual(self.stack("PyTorch FSDP", shard="zero1"), "deepspeed zero1", "which FSDP has not")
        self.assertEqual(self.stack("HF Accelerate (DeepSpeed ZeRO-2)"), "deepspeed zero2")
        self.assertEqual(self.stack("PyTorch FSDP", shard="DeepSpeed ZeRO-2"), "deepspeed zero2")
        self.assertEqual(self.stack("DeepSpeed", n_gpus=1, shard="none"), "deepspeed zero3")

    def test_notes_name_a_strategy_where_no_column_does(self) -> None:
        self.assertEqual(self.stack("FSDP", notes="SHARD_GRAD_OP; no float8"), "fsdp fsdp-grad-op")
        self.assertEqual(self.stack("FSDP", notes="no HSDP"), "fsdp fsdp-full")
        self.assertEqual(self.stack("torchtitan", notes="HSDP"), "torchtitan fsdp-hybrid")
        self.assertEqual(self.stack("DeepSpeed", notes="ZeRO-2; beside HSDP"), "deepspeed zero2")
        self.assertEqual(self.stack("DeepSpeed", notes="ZeRO-1 and ZeRO-2"), "deepspeed")
        self.assertEqual(self.stack("FSDP", notes="FULL_SHARD against SHARD_GRAD_OP"), "fsdp fsdp-full")
        self.assertEqual(self.stack("FSDP", shard="fsdp-full", notes="HSDP is slower"), "fsdp fsdp-full")

    def test_deepspeed_runs_its_stage_on_one_rank_of_a_model_that_is_cut(self) -> None:
        self.assertEqual(self.stack("DeepSpeed", n_gpus=4, tp=2, pp=2, shard="none"), "deepspeed zero3")
        self.assertEqual(self.stack("DeepSpeed", n_gpus=8, tp=2, pp=2, shard="none"), "deepspeed none")

    def test_a_framework_beside_a_stack_is_a_label(self) -> None:
        self.assertEqual(self.stack("DeepSpeed ZeRO-2", stack="deepspeed"), "deepspeed")
        self.assertEqual(self.stack("DeepSpeed ZeRO-2", shard="zero2/3"), "deepspeed", "the column counts more")

    def test_modules_are_recomputed_only_where_fsdp_does_not_shard(self) -> None:
        cut = dict(recompute="selective (core_attn)", tp=1, pp=1)
        self.assertNotIn("recompute_modules", typed(framework="torchtitan", **cut))
        self.assertEqual(typed(framework="Megatron-LM", **cut)["recompute_modules"], "core_attn")

    def test_early_megatron_trained_in_half_precision(self) -> None:
        for dtype in ("fp16", "float16", "16-mixed"):
            self.assertEqual(self.stack("Megatron-LM", dtype=dtype, tp=1, pp=1), "megatron-2021")
        self.assertEqual(self.stack("Megatron-LM", dtype="bf16", tp=1, pp=1), "megatron")

    def test_methods_count_more_than_words_beside_them(self) -> None:
        def mode(**stated: Any) -> str:
            return software.trained(Row({"framework": "torchtune", **stated}, notes=phrases.Phrases(stated.get("notes", ""))))

        for method in ("full", "Full", "full fine-tuning", "Full-parameter", "SFT", "pretraining"):
            self.assertEqual(mode(method=method, notes="QLoRA"), "full")
        self.assertEqual(mode(method="lora", notes="QLoRA"), "lora")
        self.assertEqual(mode(method="4-bit LoRA"), "qlora")
        self.assertEqual(mode(method="lora", quant="bnb.nf4"), "qlora")
        for notes in ("4-bit base", "load_in_4bit=True", "bnb nf4", "Q-LoRA", "int4 weights"):
            self.assertEqual(mode(lora="1", notes=notes), "qlora", notes)
        for notes in ("no 4-bit", "load_in_4bit=False", "4-bit AdamW", "without QLoRA", "print4", "8-bit"):
            self.assertEqual(mode(lora="1", notes=notes), "lora", notes)
        self.assertEqual(mode(lora="0", notes="slower than QLoRA"), "full")
        self.assertEqual(mode(lora="0", notes="4-bit base"), "qlora", "which nobody trains whole")
        self.assertEqual(mode(lora_rank="16"), "lora")
        self.assertEqual(mode(lora_rank="16", lora="0"), "full")
        self.assertEqual(mode(framework="torchtune LoRA"), "lora")
        self.assertEqual(typed(method="distillation")["method"], "distillation", "left for the product to refuse")
        self.assertEqual(typed(method="LoRA (r=8)")["lora_rank"], "8")
        self.assertEqual(typed(method="lora", notes="lora rank 64")["lora_rank"], "64")
        over_four_bits = typed(method="ia3", quant="nf4", lora_rank=8)
        self.assertEqual([over_four_bits[c] for c in ("method", "lora_rank", "lora_targets")], ["qlora", "1", "query-value"])
        self.assertNotIn("lora_rank", typed(method="dora", quant="nf4"))
        self.assertNotIn("lora_rank", typed(method="full", quant="nf4"))
        self.assertEqual(typed(method="lora+emb/head trainable")["lora_embeddings"], "1")
        self.assertEqual(typed(method="lora", notes="LoRA (emb); grad accumulation 8")["lora_embeddings"], "1")

    def test_batches_and_lengths_stand_in_notes(self) -> None:
        self.assertEqual(typed(n_gpus=1, micro_batch=4, notes="effective minibatch 128")["global_batch"], "128")
        self.assertEqual(typed(n_gpus=4, micro_batch=4, notes="global_batch 8")["global_batch"], "16", "of one device")
        for notes in ("samples are shorter", "variable lengths (max 768)"):
            self.assertEqual((typed(notes=notes)["packing"], typed(notes=notes)["seq_len"]), ("0", "1024"))
        self.assertEqual(typed(notes="packing=0")["packing"], "0")
        self.assertNotIn("seq_len", typed(notes="packing=0"), "a limit that nobody says was reached")
        self.assertNotIn("seq_len", typed(packing=0))
        self.assertEqual(typed(packing=1, notes="packing=0")["packing"], "1", "the column counts more")
        self.assertEqual(typed(packing=1, notes="samples are shorter")["packing"], "0", "than some of the sequences")
        self.assertNotIn("packing", typed(notes="packing=1"))

    def test_formats_stand_in_notes_where_no_column_has_them(self) -> None:
        self.assertEqual(typed(notes="float8")["dtype"], "fp8")
        self.assertNotIn("dtype", typed(notes="no float8"))
        self.assertEqual(typed(dtype="fp8", notes="fp8-rowwise")["dtype"], "bf16")
        self.assertEqual(typed(dtype="fp8", notes="fp8-tensorwise")["dtype"], "fp8")
        self.assertEqual(typed(dtype="bf16-true")["pure_half"], "on")


class Execution(unittest.TestCase):
    def said(self, column: str, notes: str, **stated: Any) -> str:
        return typed(notes=notes, **stated).get(column, "")

    def test_words_switch_software(self) -> None:
        for notes, value in {"FSDP2, torch.compile": "layers", "recompiled": "", "compile=0": "off", "eager": "off"}.items():
            self.assertEqual(self.said("compile", notes), value, notes)
        self.assertEqual(self.said("compile", "NGC PyTorch 2.8.0a0; compile + float8"), "layers+loss")
        self.assertEqual(self.said("compile", "PyTorch 2.6.0; + compile + float8"), "layers")
        self.assertEqual(self.said("loss_kernel", "packing=1, Liger=1"), "linear")
        self.assertEqual(self.said("loss_kernel", "packing=1, Liger=0"), "")
        self.assertEqual(self.said("loss_kernel", "fused cross-entropy"), "fused")
        self.assertEqual(self.said("liger_kernels", "", framework="HF + Liger"), "on")
        self.assertEqual(self.said("liger_kernels", "fused norms and SwiGLU"), "on")
        self.assertEqual(self.said("liger_kernels", "no fused RMS norm"), "")
        self.assertEqual(self.said("loss_kernel", "", framework="unsloth"), "linear")
        self.assertEqual(self.said("loss_kernel", "", framework="unsloth", loss_kernel="whole"), "whole")
        self.assertEqual(self.said("compile", "", framework="nanoGPT", compile="1"), "layers+loss")
        self.assertEqual(self.said("compile", "", framework="nanoGPT", compile="0"), "off")
        self.assertEqual(self.said("tensor_overlap", "async TP"), "async")
        self.assertEqual(self.said("tensor_overlap", "no async TP"), "")
        self.assertEqual(self.said("tensor_overlap", "no TP-comm overlap"), "off")
        self.assertEqual(self.said("context_exchange", "flash attn; CP a2a (Ulysses-style)"), "all-to-all")

    def test_words_say_how_states_are_held(self) -> None:
        for notes in ("weights and optimizer in bf16 (pure bf16)", "whole model in bf16", "pure_bf16", "no fp32 copy"):
            self.assertEqual(self.said("pure_half", notes), "on", notes)
        self.assertEqual(self.said("pure_half", "bf16, no pure bf16"), "")
        self.assertEqual(self.said("half_gradients", "gradients accumulated in bf16"), "on")
        self.assertEqual(self.said("half_moments", "precision-aware optimizer with bf16 moments"), "on")
        self.assertEqual(self.said("base_format", "weights kept in fp32", method="lora"), "fp32")
        self.assertEqual(self.said("base_format", "weights kept in fp32", method="full"), "", "nothing is frozen")

    def test_nemo_rl_recomputes_where_it_is_told_to(self):
        nemo = dict(framework="NeMo-RL (DTensor FSDP2)", gpu="H100")
        self.assertEqual(typed(**nemo)["recompute"], "none")
        self.assertEqual(typed(**nemo, recompute="full")["recompute"], "full")

    def test_words_and_the_column_of_the_switch_name_the_kernel_of_attention(self) -> None:
        self.assertEqual(self.said("attention_kernel", "packed; FlashAttention-3", gpu="H20-96GB"), "vendor")
        self.assertEqual(self.said("attention_kernel", "FA3 on H200, FA4 beta on B200", gpu="B200"), "")
        self.assertEqual(self.said("attention_kernel", "", flash_attention="FA2"), "flash2")
        self.assertEqual(self.said("attention_kernel", "", flash_attention="1"), "")
        self.assertEqual(self.said("attention_kernel", "FA3", gpu="H100", attention_kernel="flash2"), "flash2")
        hopper = dict(framework="prime-rl (PyTorch FSDP2)", gpu="H100", flash_attention="1")
        self.assertEqual(typed(**hopper)["attention_kernel"], "vendor")
        self.assertNotIn("attention_kernel", typed(**{**hopper, "gpu": "A100"}))

    def test_columns_count_more_than_words(self) -> None:
        self.assertEqual(self.said("compile", "eager", compile="1"), "layers")
        self.assertEqual(self.said("moe_dispatcher", "deepep", model="mixtral-8x7b", moe_dispatcher="all-to-all"), "all-to-all")

    def test_a_models_name_is_no_setting(self) -> None:
        widths = dict(n_layers=32, hidden=4096, framework="Megatron-LM", tp=8)
        plain = typed(model="any other", **widths)
        for name in ("Mistral-NeMo-13B", "Nemotron-eager"):
            row = typed(model=name, **widths)
            self.assertEqual({c: row.get(c) for c in EXECUTION}, {c: plain.get(c) for c in EXECUTION})

    def test_other_programs_that_notes_name_change_nothing(self) -> None:
        others = "faster than torchtune, Megatron-LM and NeMo"
        row = typed(framework="torchtitan", notes=others)
        self.assertNotIn("pure_half", row)
        self.assertNotIn("gradient_overlap", row)
        self.assertEqual(typed(framework="torchtune 0.4")["pure_half"], "on")


class Recipes(unittest.TestCase):
    def test_megatron_reduces_gradients_after_the_passes_unless_told(self) -> None:
        self.assertEqual(typed(framework="Megatron-LM", tp=1)["gradient_overlap"], "off")
        self.assertNotIn("gradient_overlap", typed(framework="Megatron-LM", tp=1, notes="overlap-grad-reduce"))
        self.assertNotIn("half_gradients", typed(framework="Megatron-LM", tp=1, notes="unlike NeMo"))
        self.assertEqual(typed(framework="NeMo", tp=1)["half_gradients"], "on")

    def test_experts_that_overlap_leave_no_room_to_recompute(self) -> None:
        self.assertNotIn("recompute", experts("kimi-k2", "B300", notes="EP-A2A overlap=on", pp=8))
        self.assertEqual(experts("kimi-k2", "B300", notes="EP-A2A overlap=off", pp=8)["recompute"], "full")
        self.assertNotIn("recompute", experts("kimi-k2", "B300", pp=8))
        self.assertNotIn("recompute", experts("qwen3-235b-a22b", "B300", notes="EP-A2A overlap=off", pp=4))

    def test_nvidias_recipes_recompute_where_memory_is_short(self) -> None:
        def modules(model: str, gpu: str, notes: str = "container 26.02; NeMo") -> str:
            return experts(model, gpu, notes=notes).get("recompute_modules", "")

        self.assertEqual(modules("deepseek-v3", "B200"), "mla_up_proj")
        self.assertEqual(modules("kimi-k2", "GB300"), "mla_up_proj")
        self.assertEqual(modules("gpt-oss-120b", "GB200"), "layernorm+moe_act")
        self.assertEqual(modules("gpt-oss-120b", "GB300"), "")
        self.assertEqual(modules("nemotron-3-nano", "H100-80GB"), "core_attn+layernorm+moe")
        self.assertEqual(modules("qwen3-235b-a22b", "B200"), "")
        self.assertEqual(modules("deepseek-v3", "B200", ""), "", "nobody's recipe")

    def test_nvidias_recipes_send_tokens_once_on_racks_and_later_on_most_nodes(self) -> None:
        cases = [
            ("qwen3-235b-a22b", "GB200", "container 25.09; NeMo", True),
            ("deepseek-v3", "H100-80GB", "container 25.11; NeMo", True),
            ("deepseek-v3", "B200", "container 25.11; NeMo", False),
            ("deepseek-v3", "B200", "container 26.02; NeMo", True),
            ("qwen3-30b-a3b", "H100-80GB", "container 25.11; NeMo", False),
            ("qwen3-30b-a3b", "H100-80GB", "container 26.02; NeMo", True),
            ("qwen3-235b-a22b", "H100-80GB", "container 26.04; NeMo", False),
            ("gpt-oss-120b", "B300", "container 26.04; NeMo", False),
            ("qwen3-235b-a22b", "GB200", "", False),
            ("qwen3-235b-a22b", "H100-80GB", "dispatcher=flex", True),
            ("qwen3-235b-a22b", "GB200", "container 26.04; NeMo; dispatcher=alltoall", False),
        ]
        for model, gpu, notes, once in cases:
            self.assertEqual(experts(model, gpu, notes=notes).get("moe_dispatcher") == "deepep", once, (model, gpu, notes))

    def test_nvidias_recipes_graph_the_routing_of_some_models_on_nodes(self) -> None:
        def graphs(model: str, gpu: str, notes: str = "items/pretrain; label bf16") -> str:
            return experts(model, gpu, notes=notes).get("cuda_graphs", "")

        for model, gpu in (("deepseek-v3", "GB200"), ("qwen3-30b-a3b", "H100"), ("gpt-oss-120b", "B300"), ("nemotron-3-nano", "B200")):
            self.assertEqual(graphs(model, gpu), "router", model)
        for model, gpu in (("deepseek-v3", "B200"), ("qwen3-235b-a22b", "H100"), ("nemotron-3-nano", "H100")):
            self.assertEqual(graphs(model, gpu), "", model)
        self.assertEqual(graphs("qwen3-235b-a22b", "GB200", ""), "", "nobody's recipe")
        self.assertEqual(experts("qwen3-30b-a3b", "B200", notes="container 26.02")["moe_router"], "balanced")
        self.assertEqual(experts("qwen3-30b-a3b", "B200", notes="container 26.02")["fused_routing"], "on")

    def test_mixtures_in_eight_bits_run_as_one_graph_from_the_release_that_brought_it(self) -> None:
        def graphed(model: str, gpu: str, dtype: str, notes: str) -> bool:
            row = experts(model, gpu, notes=notes, n_gpus=8, dtype=dtype, micro_batch=4)
            return row.get("cuda_graphs") == "iteration"

        self.assertTrue(graphed("qwen3-30b-a3b", "GB200", "fp8", "container 26.06; NeMo"))
        self.assertTrue(graphed("qwen3-30b-a3b", "GB300", "fp8", "items/pretrain; label fp8"))
        self.assertTrue(graphed("qwen3-30b-a3b", "B300", "fp8", "container 26.08; NeMo"))
        self.assertFalse(graphed("qwen3-30b-a3b", "GB200", "fp8", "container 26.04; NeMo"))
        self.assertFalse(graphed("qwen3-30b-a3b", "GB200", "fp8", "NeMo"))
        self.assertFalse(graphed("qwen3-30b-a3b", "GB200", "bf16", "container 26.06; NeMo"))
        self.assertFalse(graphed("qwen3-30b-a3b", "B200", "fp8", "container 26.06; NeMo"))
        self.assertFalse(graphed("kimi-k2", "GB300", "fp8", "container 26.06; NeMo"))
        self.assertFalse(graphed("nemotron-3-super", "GB300", "fp8", "container 26.08; NeMo"))

    def test_nemo_graphs_layers_on_blackwell_without_a_pipeline(self) -> None:
        self.assertEqual(experts("mixtral-8x7b", "GB200", "NeMo").get("cuda_graphs"), "layers")
        self.assertNotIn("cuda_graphs", experts("mixtral-8x7b", "GB200", "NeMo", pp=4))
        self.assertNotIn("cuda_graphs", experts("mixtral-8x7b", "H100", "NeMo"))
        self.assertNotIn("cuda_graphs", experts("mixtral-8x7b", "GB200"))

    def test_nodes_of_eight_overlap_the_exchange_of_interleaved_stages(self) -> None:
        def overlap(gpu: str, vpp: int, notes: str) -> str:
            return experts("qwen3-30b-a3b", gpu, notes=notes, n_gpus=16, pp=2, vpp=vpp).get("expert_overlap", "")

        self.assertEqual(overlap("H100", 12, "container 26.02; NeMo"), "on")
        self.assertEqual(overlap("H100", 1, "container 26.02; NeMo"), "")
        self.assertEqual(overlap("H100", 12, "NeMo"), "")
        self.assertEqual(overlap("GB200", 12, "container 26.02; NeMo"), "")
        self.assertEqual(overlap("H100", 12, "container 26.02; EP-A2A overlap=off"), "off")

    def test_megatron_bridge_halves_moments_and_keeps_layers_of_some_models(self) -> None:
        for model in ("moonlight-16b-a3b", "deepseek-v3"):
            self.assertEqual(experts(model, "H100")["half_moments"], "on")
        for model, framework in (("kimi-k2", "Megatron-Bridge"), ("qwen3-30b-a3b", "Megatron-Bridge"), ("deepseek-v3", "Megatron-LM")):
            self.assertNotIn("half_moments", experts(model, "H100", framework))
        self.assertEqual(experts("nemotron-3-super", "GB300", dtype="nvfp4")["half_layers"], "15")
        self.assertNotIn("half_layers", experts("nemotron-3-super", "GB300", dtype="fp8"))

    def test_nvidias_bert_stores_scores_and_bins_its_second_phase(self) -> None:
        bert = dict(model="bert-large", gpu="A100-80GB", framework="PyTorch-DDP", dtype="fp16", seq_len=512)
        self.assertEqual(typed(**bert, optimizer="lamb")["mean_seq_len"], "288")
        self.assertEqual(typed(**bert, optimizer="lamb")["flash_attention"], "off")
        self.assertEqual(typed(**bert, optimizer="lamb", flash_attention="1")["flash_attention"], "on")
        self.assertNotIn("mean_seq_len", typed(**{**bert, "seq_len": 128}, optimizer="lamb"))
        self.assertNotIn("flash_attention", typed(**bert, optimizer="adamw"))

    def test_nvidias_jax_recipes_shard_over_sixteen_nodes(self) -> None:
        def run(framework: str, model: str, devices: int, **stated: Any) -> tuple[str, str, str]:
            row = typed(framework=framework, model=model, n_gpus=devices, seq_len=4096, **stated)
            return row.get("recompute_modules", ""), row.get("sharding", ""), row.get("shard_degree", "")

        all_but_products = "core_attn+layernorm+mlp"
        self.assertEqual(run("MaxText", "llama-2-70b", 128), (all_but_products, "", ""))
        self.assertEqual(run("MaxText", "llama-2-70b", 1024), (all_but_products, "fsdp-hybrid", "128"))
        self.assertEqual(run("MaxText", "llama-2-70b", 1024, shard="fsdp-full"), (all_but_products, "fsdp-full", ""))
        self.assertEqual(run("MaxText", "llama-2-70b", 128, recompute="full"), ("", "", ""))
        self.assertEqual(run("MaxText", "llama-2-70b", 1024, shard="cut"), (all_but_products, "", ""), "it says something")
        self.assertEqual(run("PaxML", "gpt3-175b", 256), (all_but_products, "fsdp-hybrid", "128"))
        self.assertEqual(run("PaxML", "gpt3-6.7b", 64), ("core_attn+layernorm", "fsdp-hybrid", "8"))

    def test_qwens_script_runs_deepspeed_on_one_device_too(self) -> None:
        def run(model: str, lora: str, notes: str = "") -> tuple[str, str, str]:
            stated = dict(model=model, n_gpus=1, lora=lora, notes=notes)
            row = typed(gpu="A100-80GB", framework="HF-Trainer", shard="none", source="QwenLM/Qwen", **stated)
            return row["stack"], row.get("sharding", ""), row.get("reduce_bucket", "")

        self.assertEqual(run("Qwen-1.8B", "0"), ("deepspeed", "zero3", str(2048 * 2048)))
        self.assertEqual(run("Qwen-1.8B", "1", "Q-LoRA"), ("deepspeed", "zero2", "200000000"))
        self.assertEqual(run("Qwen-1.8B", "1")[0], "hf-trainer")
        self.assertEqual(run("Qwen-1.8B", "")[0], "hf-trainer", "not stated whether whole")
        self.assertEqual(run("qwen2.5-1.5b", "0")[0], "hf-trainer", "another script")
        one = dict(model="Qwen-1.8B", gpu="A100-80GB", framework="HF-Trainer", shard="none", lora="0")
        self.assertEqual(typed(**one, n_gpus=1)["stack"], "hf-trainer", "another source")
        several = typed(**one, n_gpus=8, source="QwenLM/Qwen")
        self.assertEqual((several["stack"], several["sharding"]), ("deepspeed", "none"), "as stated")

    def test_trainers_leave_the_bucket_of_stage_three_to_hugging_face(self) -> None:
        def bucket(framework: str, shard: str) -> str:
            return typed(model="llama-2-7b", framework=framework, shard=shard).get("reduce_bucket", "")

        self.assertEqual(bucket("DeepSpeed + HF + Liger", "zero3"), str(4096 * 4096))
        self.assertEqual(bucket("HF-Trainer + DeepSpeed", "zero2"), "")
        self.assertEqual(bucket("DeepSpeed", "zero3"), "")
        self.assertEqual(bucket("OpenRLHF", "zero3"), "", "letters within a word")

    def test_tools_hold_embeddings_beside_four_bits_in_sixteen(self) -> None:
        def held(framework: str, method: str) -> str:
            return typed(model="llama-7b", framework=framework, method=method).get("wide_embeddings", "")

        self.assertEqual(held("axolotl", "qlora"), "off")
        self.assertEqual(held("LLaMA-Factory", "qlora"), "off")
        self.assertEqual(held("axolotl", "lora"), "")
        self.assertEqual(held("TRL", "qlora"), "", "its trainers prepared the model until PR 4704 of 2025-12")

    def test_accelerate_accumulates_without_synchronising(self) -> None:
        def told(framework: str, shard: str = "full_shard") -> str:
            return typed(model="llama-7b", framework=framework, shard=shard).get("unsharded_gradients", "")

        self.assertEqual(told("HF Trainer FSDP"), "on")
        self.assertEqual(told("TRL + FSDP"), "on")
        self.assertEqual(told("PyTorch FSDP"), "")
        self.assertEqual(told("HF Trainer DeepSpeed", "zero3"), "")

    def test_names_of_optimizers_say_that_they_are_fused(self) -> None:
        self.assertEqual(typed(model="gpt2", framework="HF Trainer", optimizer="adamw_torch_fused")["fused_optimizer"], "on")
        self.assertNotIn("fused_optimizer", typed(model="gpt2", framework="HF Trainer", optimizer="adamw"))

    def test_scripts_of_fine_tuning(self) -> None:
        lit = dict(model="llama-2-7b", framework="LitGPT", method="lora", n_gpus=2)
        self.assertEqual(typed(**lit, shard="fsdp")["recompute"], "full")
        self.assertNotIn("recompute", typed(**lit, shard="none"))
        self.assertEqual(typed(**lit, shard="fsdp", grad_ckpt="0").get("recompute", "none"), "none")
        self.assertEqual(typed(**lit, quant="bnb.nf4")["double_quantization"], "off")
        self.assertEqual(typed(**{**lit, "method": "qlora"})["double_quantization"], "off")
        self.assertNotIn("double_quantization", typed(**lit, quant="bnb.nf4-dq"))
        self.assertNotIn("pure_half", typed(**lit, dtype="bf16"), "adapters have states of their own")
        self.assertEqual(typed(**{**lit, "method": "full"}, dtype="bf16")["pure_half"], "on")
        self.assertNotIn("pure_half", typed(**{**lit, "method": "full"}, dtype="fp32"))
        peft = dict(model="llama-3.2-3b", gpu="L40S", n_gpus=1, framework="PEFT method_comparison", dtype="bfloat16")
        lora = typed(**peft, method="lora")
        self.assertEqual((lora["adapter_dtype"], lora["empty_cache"], lora.get("pure_half")), ("fp32", "on", None))
        self.assertEqual(typed(**peft, method="full")["pure_half"], "on")
        self.assertNotIn("adapter_dtype", typed(**{**peft, "framework": "PEFT"}, method="lora"), "may keep 16 bits")
        mosaic = typed(framework="llm-foundry", notes="MP_mode=PURE; tied=1")
        self.assertEqual((mosaic["pure_half"], mosaic["reentrant_checkpoint"], mosaic["tied_embeddings"]), ("on", "on", "1"))
        self.assertNotIn("pure_half", typed(framework="llm-foundry", notes="MP_mode=DEFAULT"))
        self.assertEqual(typed(framework="torchtune", notes="step: +compile")["loss_kernel"], "whole")

    def test_gpt2s_vocabulary_is_not_padded_where_no_tensor_ranks_cut_it(self) -> None:
        self.assertEqual(typed(model="own", n_layers=2, hidden=64)["vocab_multiple"], "1")
        self.assertNotIn("vocab_multiple", typed(model="own", n_layers=2, hidden=64, tp=2))
        self.assertNotIn("vocab_multiple", typed(model="own", n_layers=2, hidden=64, vocab=50257))


def normalise(text: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(SCRIPT), *(arguments or ("-", "-"))]
    return subprocess.run(command, input=text, capture_output=True, text=True)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


class Program(unittest.TestCase):
    def test_a_typed_table_stays_as_it_is(self) -> None:
        for path in sorted((PROJECT / "tests/measured/runs").glob("*.csv")):
            with self.subTest(path.name):
                again = table.normalise(table.read(str(path)))
                self.assertEqual(table.text(again), path.read_text())
                self.assertEqual(again.report(), [])

    def test_measured_columns_change_nothing_else(self) -> None:
        head = "id,model,gpu,n_gpus,framework,seq_len,batch,tokens_per_s_per_gpu,peak_mem_gib,oom\n"
        with_figures = rows(normalise(head + "a,gpt2,H100,8,FSDP,1024,1,9e3,x y,0\n").stdout)[0]
        without = rows(normalise(head + "a,gpt2,H100,8,FSDP,1024,1,,,\n").stdout)[0]
        self.assertEqual({c: v for c, v in with_figures.items() if c not in MEASURED}, without)
        self.assertEqual(with_figures["tokens_per_s_per_gpu"], "9e3")
        self.assertEqual(with_figures["peak_mem_gib_per_gpu"], "x y", "copied as it is")

    def test_no_rule_gets_a_measured_cell(self) -> None:
        """Figures of one row beside the settings of another, blanks about them too, change nothing else."""
        source = random.Random(3)
        for path in sorted((PROJECT / "tests/measured/runs").glob("*.csv")):
            shuffled = table.read(str(path))
            measured = [{c: f" {cell} " for c, cell in row.items() if c in MEASURED} for row in shuffled.rows]
            source.shuffle(measured)
            for row, figures in zip(shuffled.rows, measured):
                row.update(figures)
            after = table.normalise(shuffled).rows
            for before, row, figures in zip(table.normalise(table.read(str(path))).rows, after, measured):
                self.assertEqual({c: v for c, v in before.items() if c not in MEASURED},
                                 {c: v for c, v in row.items() if c not in MEASURED})
                self.assertEqual({c: v for c, v in figures.items() if v.strip()},
                                 {c: v for c, v in row.items() if c in MEASURED}, "byte for byte")

    def test_what_nothing_used_is_told(self) -> None:
        out = normalise("id,model,framework,notes,colour\na,gpt2,my own,\"liger; fine weather\",red\n")
        self.assertEqual(out.returncode, 0)
        for told in ("column 'colour' is not known", "framework 'my own' is not understood", "'fine weather' (1 rows)"):
            self.assertIn(told, out.stderr)
        self.assertNotIn("liger", out.stderr)
        self.assertNotIn("colour", out.stdout)
        flags = "lora packing sequence_parallel tied_embeddings kind collectives flash_attention compile".split()
        out = normalise(f"id,{','.join(flags)},internode_gbps_per_node,gpu\na{',perhaps' * len(flags)},fast,A10G\n")
        for column in flags:
            self.assertIn(f"{column} 'perhaps' is not understood (1 rows)", out.stderr)
            self.assertNotIn(column, out.stdout)
        self.assertIn("fast", out.stdout, "which the product refuses")

    def test_wrong_use_and_wrong_files_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            missing, target = f"{folder}/none.csv", f"{folder}/out.csv"
            more = (
                ("", "no column 'id'"),
                ("id;model\na;b\n", "not parted by commas"),
                ("id,model\na\n", ":2: 1 cells, the header names 2"),
                ("id,model,Model\na,b,c\n", "'model' stands there twice"),
                ("id\na\0b\n", "zero byte"),
            )
            for text, told in (("model\nx\n", "no column 'id'"), ("id\na,b\n", ":2: 2 cells, the header names 1"), *more):
                out = normalise(text, "-", target)
                self.assertEqual((out.returncode, pathlib.Path(target).exists()), (2, False))
                self.assertIn(told, out.stderr)
            self.assertIn("none.csv: No such file", normalise("", missing, target).stderr)
            pathlib.Path(missing).write_bytes(b"id\n\xff\n")
            self.assertIn("is no UTF-8", normalise("", missing, target).stderr)
            self.assertEqual(normalise("", "one").returncode, 2)
            self.assertEqual(normalise("id\na\n", "-", f"{folder}/no/such.csv").returncode, 2)
            self.assertEqual(list(pathlib.Path(folder).glob("*.csv*")), [pathlib.Path(missing)], "nothing half-written")

    def test_hostile_cells_reach_no_terminal(self) -> None:
        cell = "\x1b[31m\u202e::error::" + "x" * 1000000
        out = normalise(f'id,framework,notes\n=1+1,"{cell}","a\n{cell}"\n')
        self.assertEqual(out.returncode, 0)
        self.assertFalse([c for c in out.stderr if c != "\n" and not c.isprintable()])
        self.assertLess(len(out.stderr), 2000)

    def test_long_cells_take_no_longer(self) -> None:
        columns = "framework notes method instance model recompute lora_targets network quant".split()
        for words in ("no liger ", "lora ", "a,", "(", "zero2 zero3 ", "9", "1x"):
            text = "id," + ",".join(columns) + "\na" + f',"{words * (1_000_000 // len(words))}"' * len(columns) + "\n"
            command = [sys.executable, str(SCRIPT), "-", "-"]
            self.assertEqual(subprocess.run(command, input=text.encode(), capture_output=True, timeout=120).returncode, 0)

    def test_one_table_makes_the_same_bytes_and_report_every_time(self) -> None:
        text = "id,framework,notes,dtype,optimizer\na,own,\"x;y;z;w\",int3,Shampoo\nb,their,\"u;v;z\",int2,own\n"
        runs = [
            subprocess.run([sys.executable, str(SCRIPT), "-", "-"], input=text, capture_output=True, text=True, env=env)
            for env in ({**os.environ, "PYTHONHASHSEED": str(seed)} for seed in range(4))
        ]
        self.assertEqual(len({(run.stdout, run.stderr) for run in runs}), 1)

    def test_text_of_any_language_is_utf8_whatever_the_locale(self) -> None:
        out = subprocess.run(
            [sys.executable, str(SCRIPT), "-", "-"],
            input="id,source\na,é漢\n".encode(),
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )
        self.assertIn("a,é漢,", out.stdout.decode(), out.stderr)

    def test_what_is_no_file_keeps_its_name(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            pipe, link, real = f"{folder}/pipe", f"{folder}/link.csv", f"{folder}/real.csv"
            os.mkfifo(pipe)
            reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
            self.assertEqual(normalise("id\na\n", "-", pipe).returncode, 0)
            written = reader.communicate(timeout=60)[0]
            self.assertEqual(rows(written)[0]["id"], "a")
            self.assertTrue(pathlib.Path(pipe).is_fifo())
            pathlib.Path(real).touch()
            os.symlink(real, link)
            self.assertEqual(normalise("id\na\n", "-", link).returncode, 0)
            self.assertTrue(pathlib.Path(link).is_symlink())
            self.assertEqual(pathlib.Path(real).read_text(), written)
            self.assertEqual(normalise("id\na\n", "-", folder).returncode, 2)
            self.assertEqual(len(list(pathlib.Path(folder).iterdir())), 3, "nothing left behind")

    def test_a_plan_is_a_table_too(self) -> None:
        plan = "id,model,seq_len,instance_type,n_gpus,stack,tensor,pipeline,data,expert_tensor,sequence\n"
        row = rows(normalise(plan + "a,gpt2,1024,ml.p5.48xlarge,16,megatron,2,2,4,1,on\n").stdout)[0]
        self.assertEqual([row[c] for c in "tp pp dp etp sequence_parallel".split()], ["2", "2", "4", "1", "1"])
        out = normalise("id,data\na,Alpaca\n")
        self.assertNotIn("Alpaca", out.stdout)
        self.assertIn("column 'data' is not known", out.stderr)

    def test_random_words_make_known_values_only(self) -> None:
        """The product refuses a value that it does not know, so none may come out of here."""
        values = {
            "stack": {s["id"] for s in catalog.stacks()},
            "dtype": {"bf16", "fp16", "fp8", "fp4", "fp32", "tf32"},
            "optimizer": set(cells.OPTIMIZERS.values()),
            "network": {"efa", "infiniband", "roce", "omni-path", "ethernet"},
            "sharding": set(cells.SHARDINGS.values()),
            "recompute": set(cells.RECOMPUTES.values()),
            "schedule": set(cells.SCHEDULES.values()),
            "mem_kind": set(cells.MEMORY_KINDS.values()),
            "tflops_kind": set(cells.FLOPS_KINDS.values()),
            "packing": {"0", "1"},
            "sequence_parallel": {"0", "1"},
            "compile": {"off", "layers", "layers+loss"},
            "flash_attention": {"on", "off"},
            "loss_kernel": {"whole", "fused", "linear"},
            "cuda_graphs": {"router", "layers", "iteration"},
            "kind": set(cells.MODEL_KINDS),
            "mlp": {"gelu", "relu", "silu", "swiglu", "geglu", "reglu"},
            "collectives": set(cells.COLLECTIVES),
            "adapter_dtype": {"fp32"},
            "tied_embeddings": {"0", "1"},
            "lora_embeddings": {"0", "1"},
            **{column: set(names) - {"default"} for column, names in catalog.execution_values().items() if names},
        }
        words = (
            "Megatron-LM NeMo FSDP DeepSpeed ZeRO-3 zero2/3 bf16 fp8 -true mixed none no off 1 8 Adam 8-bit lamb IB EFA "
            "100GbE SAC full selective AC mlp,moe 1f1b interleaved reserved allocated nvidia-smi model hardware liger "
            "compile= torch.compile container 26.06 deepep mixtral-8x7b llama-2-7b bert-large H100 GB200 ; , ( ) LoRA nf4"
        ).split()
        columns = "model gpu n_gpus network framework dtype optimizer shard recompute schedule mem_kind tflops_kind packing"
        columns += " sequence_parallel notes quant method lora vpp pp tp ep kind mlp collectives adapter_dtype "
        columns += " tied_embeddings lora_embeddings lora_rank internode_gbps_per_node params_b instance lora_targets "
        columns += " ".join(c for c, names in catalog.execution_values().items() if names)
        source = random.Random(7)
        seen: set[str] = set()
        for _ in range(2000):
            stated = {c: " ".join(source.sample(words, source.randint(1, 3))) for c in columns.split() if source.random() < 0.6}
            row = table.typed_row({"id": "a", **{("sharding" if c == "shard" else c): v for c, v in stated.items()}}).typed
            for column, known in values.items():
                cell = row.get(column, "")
                self.assertTrue(not cell or cell in known, (column, cell, stated))
                seen.add(f"{column}={cell}")
            self.assertLessEqual(set(row), {*STATED, *STRATEGY})
        self.assertGreater(len(seen), 45, "or the words are not understood")


class Import(unittest.TestCase):
    def test_of_tables_of_memory_rows_stay_out_that_tell_nothing_new(self) -> None:
        speed = "id,source,model,gpu,n_gpus,seq_len,framework,batch,step_time_s\nr,s,gpt2,A10G,1,512,PEFT,1,0.5\n"
        memory = (
            "id,source,model,gpu,n_gpus,seq_len,framework,batch,method,step_time_s,peak_mem_gib,oom,notes\n"
            "kept,s,gpt2,A10G,1,512,PEFT,1,lora,,7.5,0,a fine day\n"
            "told before,s,GPT-2,A10G,1,512,PEFT,1,lora,0.50,,0,\n"
            "no figure,s,gpt2,A10G,1,512,PEFT,1,lora,,,1,\n"
            "no such method,s,gpt2,A10G,1,512,PEFT,1,magic,,8,0,\n"
            "no number,s,gpt2,A10G,1,512,PEFT,8 / 4,lora,,9,0,\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("runs_a.csv", speed), ("b.csv", memory)):
                pathlib.Path(folder, name).write_text(text)
            command = [sys.executable, str(PROJECT / "scripts/import_runs.py"), f"{folder}/out"]
            subprocess.run([*command, f"{folder}/runs_a.csv", f"{folder}/b.csv"], check=True, capture_output=True)
            self.assertEqual([r["id"] for r in rows(pathlib.Path(folder, "out/a.csv").read_text())], ["r"])
            imported = pathlib.Path(folder, "out/b.csv").read_text()
        self.assertEqual([(r["id"], r["peak_mem_gib_per_gpu"]) for r in rows(imported)], [("kept", "7.5")])
        for gone in ("oom", "notes", "fine"):
            self.assertNotIn(gone, imported)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
