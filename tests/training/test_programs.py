"""The reference programs train, shard, stop, go on and report, under every launcher that smplan writes."""

from __future__ import annotations

import json
import math
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import SEQ_LEN, SMPLAN, STEPS, Job, losses, steps

FSDP_ON_CPU = str(pathlib.Path(__file__).with_name("fsdp_on_cpu"))
LONG = pytest.mark.skipif("SMPLAN_TRAINING_ALL" not in os.environ, reason="SMPLAN_TRAINING_ALL=1 runs it")
# A learning rate for so small a model; the rest of the job is as exported.
FAST = ("--data", "synthetic", "--learning_rate", "0.01")


def check_trained(job: Job, log: str, drop: float = 0.3) -> None:
    found = losses(log)
    assert 1 in found and STEPS in found, log
    assert found[1] - found[STEPS] > drop, log[-4000:]
    row = job.row()
    assert float(row["step_time_s"]) > 0 and row["n_gpus"] == str(job.machines)
    parts = sum(float(row[f"{part}_s"]) for part in ("data", "forward", "backward", "optimizer"))
    assert 0.3 * float(row["step_time_s"]) < parts < 1.7 * float(row["step_time_s"])


def sizes(job: Job, pattern: str) -> list[int]:
    return [path.stat().st_size for path in job.find(pattern)]


def test_ddp_trains_stops_and_goes_on_with_fewer(exported):
    whole = exported("llama", "ddp", "torchrun")
    log = whole.run(*FAST, "--log_interval", "1")
    check_trained(whole, log)
    expected = losses(log)

    job = Job(whole.home.rename(whole.home.with_name("again")), 2)
    stopped = job.run_and_stop(8, *FAST)
    assert "asked to stop: step " in stopped, stopped[-4000:]
    job.sync("src/checkpoints")
    log = job.alone().run(*FAST, "--log_interval", "1", "--planned_ranks", "2")
    first = min(steps(log))
    assert f"goes on behind step {first - 1}" in log and first > 8
    # The data, the moments and the learning rate go on where they were: the losses are those of the whole run.
    for step, loss in losses(log).items():
        assert math.isclose(loss, expected[step], abs_tol=2e-3), (step, loss, expected[step])


def test_fsdp_shards_stops_and_goes_on(exported):
    job = exported("llama", "fsdp", "fsdp", "--recompute", "full", "--sharding", "fsdp-full", "--platform", "hyperpod-eks",
                   "--recovery", "elastic")
    job.run_and_stop(6, *FAST)
    mine, other = sizes(job, "*.distcp")
    assert 0.8 < mine / other < 1.25  # each rank saves its half of weights and moments
    job.sync("checkpoints")
    job = job.alone()
    log = job.run(*FAST, "--planned_ranks", "2")
    assert "goes on behind step " in log and STEPS in steps(log)
    import torch
    import transformers

    (folder,) = {path.parent for path in job.find("model.safetensors")}
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    assert all(torch.isfinite(p).all() for p in model.parameters())


@pytest.mark.parametrize("stage", [1, pytest.param(2, marks=LONG), 3])
def test_deepspeed_shards(exported, stage):
    job = exported("llama", "deepspeed", "deepspeed", "--zero-stage", str(stage))
    log = job.run(*FAST)
    check_trained(job, log)
    # Optimizer states lie in halves on both ranks, the weights of stage 3 too.
    states = sizes(job, "*optim_states.pt")
    assert len(states) == 2 and 0.8 < states[0] / states[1] < 1.25
    assert len(job.find("*model_states.pt")) == (2 if stage == 3 else 1)


@LONG
def test_deepspeed_goes_on(exported):
    job = exported("llama", "deepspeed", "torchrun", "--zero-stage", "3", "--recompute", "full")
    job.run_and_stop(5, *FAST)
    job.sync("src/checkpoints")
    log = job.run(*FAST)
    assert "goes on behind step " in log and STEPS in steps(log)


@pytest.mark.parametrize("stack", ["deepspeed", pytest.param("ddp", marks=LONG)])
def test_accelerate_meets_its_peer(exported, stack):
    job = exported("llama", stack, "accelerate", *(("--zero-stage", "2") if stack == "deepspeed" else ()))
    log = job.run(*FAST, "--log_interval", "1")
    check_trained(job, log)
    if stack == "deepspeed":
        assert len(job.find("*optim_states.pt")) == 2


def test_trainer_stops_and_goes_on(exported):
    job = exported("llama", "hf-trainer", "torchrun")
    stopped = job.run_and_stop(6, *FAST)
    assert "asked to stop: step " in stopped, stopped[-4000:]
    job.sync("src/checkpoints")
    log = job.run(*FAST, "--log_interval", "1")
    assert "goes on behind step " in log and STEPS in steps(log)


@pytest.mark.parametrize("stack", [pytest.param("fsdp", marks=LONG), "hf-trainer", pytest.param("deepspeed", marks=LONG)])
def test_adapters_train_on_text(exported, pretrained, sentences, stack):
    flags = ("--finetune", "lora", "--lora-rank", "4", "--recompute", "full")
    job = exported("llama", stack, "torchrun", *flags, *(("--zero-stage", "3") if stack == "deepspeed" else ()))
    log = job.run("--learning_rate", "0.02", "--log_interval", "1", SM_CHANNEL_TRAIN=str(sentences), SM_CHANNEL_MODEL=str(pretrained))
    check_trained(job, log, drop=0.1)  # adapters of rank 4 on random weights learn little
    (adapter,) = job.find("output/adapter_model.safetensors")
    assert adapter.stat().st_size < (pretrained / "model.safetensors").stat().st_size
    assert job.row()["method"] == "lora" and job.row()["lora_rank"] == "4"


@pytest.mark.parametrize("stack, trained", [
    ("ddp", "last:1"), pytest.param("ddp", "last:1+head", marks=LONG), pytest.param("hf-trainer", "first:1", marks=LONG),
    pytest.param("fsdp", "last:1", marks=LONG), pytest.param("fsdp", "last:1+embedding+head", marks=LONG),
    pytest.param("deepspeed", "1-1", marks=LONG)])
def test_frozen_layers_stay_as_they_are(exported, pretrained, sentences, stack, trained):
    import safetensors.torch
    import torch

    flags = ("--finetune", "full", "--trained-layers", trained, "--recompute", "full")
    job = exported("llama", stack, "torchrun", *flags, *(("--zero-stage", "3") if stack == "deepspeed" else ()))
    log = job.run("--learning_rate", "0.02", "--log_interval", "1", SM_CHANNEL_TRAIN=str(sentences), SM_CHANNEL_MODEL=str(pretrained))
    check_trained(job, log, drop=0.05)
    (output,) = job.find("output/model.safetensors")
    before, after = (safetensors.torch.load_file(path) for path in (pretrained / "model.safetensors", output))
    half = torch.bfloat16  # what is frozen is held in it
    moved = {name for name, weight in before.items() if not torch.equal(weight.to(half), after[name].to(half))}
    block = "model.layers.0." if trained.startswith("first") else "model.layers.1."
    ends = {"model.embed_tokens.weight"} if "embedding" in trained else set()
    ends |= {"lm_head.weight"} if "head" in trained else set()
    assert moved - ends and all(name.startswith(block) for name in moved - ends) and ends <= moved, moved
    assert job.row()["trained_layers"] == ("last:1" if trained == "1-1" else trained)


@pytest.mark.parametrize("kind", ["dora", pytest.param("rslora", marks=LONG), pytest.param("pissa", marks=LONG)])
def test_other_adapters_train(exported, pretrained, sentences, kind):
    flags = ("--finetune", "lora", "--lora-rank", "4", "--adapters", kind)
    job = exported("llama", "hf-trainer", "torchrun", *flags)
    log = job.run("--learning_rate", "0.02", "--log_interval", "1", SM_CHANNEL_TRAIN=str(sentences), SM_CHANNEL_MODEL=str(pretrained))
    check_trained(job, log, drop=0.1)
    (config,) = job.find("output/adapter_config.json")
    made = json.loads(config.read_text())
    assert (made["use_dora"], made["use_rslora"]) == (kind == "dora", kind == "rslora")
    assert job.row()["method"] == kind


@pytest.mark.parametrize("kind, stack, loss, saved", [
    ("prompt_tuning", "hf-trainer", "linear", 8 * 64), ("prefixtuning", "ddp", "default", 8 * 2 * 2 * 32),
    pytest.param("prefixtuning", "hf-trainer", "linear", 8 * 2 * 2 * 32, marks=LONG),
    pytest.param("ptuning", "ddp", "linear", 8 * 64, marks=LONG),
    pytest.param("prompt_tuning", "ddp", "default", 8 * 64, marks=LONG)])
def test_virtual_tokens_train(exported, pretrained, sentences, kind, stack, loss, saved):
    import safetensors.torch

    flags = ("--finetune", "lora", "--adapters", kind, "--virtual-tokens", "8", "--loss-kernel", loss)
    job = exported("llama", stack, "torchrun", *flags)
    places = {"SM_CHANNEL_TRAIN": str(sentences), "SM_CHANNEL_MODEL": str(pretrained)}
    log = job.run("--learning_rate", "0.3", "--log_interval", "1", **places)
    check_trained(job, log, drop=0.03)  # a frozen random model learns little from what stands before
    (adapter,) = job.find("output/adapter_model.safetensors")
    assert sum(t.numel() for t in safetensors.torch.load_file(adapter).values()) == saved
    assert (job.row()["method"], job.row()["virtual_tokens"], job.row()["lora_rank"]) == (kind, "8", "")


@pytest.mark.parametrize("stack, reference", [
    ("hf-trainer", "adapters"), ("fsdp", "copy"), pytest.param("hf-trainer", "precomputed", marks=LONG),
    pytest.param("hf-trainer", "copy", marks=LONG), pytest.param("deepspeed", "copy", marks=LONG),
    pytest.param("fsdp", "adapters", marks=LONG)])
def test_pairs_train_by_dpo(exported, pretrained, tmp_path, stack, reference):
    folder = tmp_path / "pairs"
    folder.mkdir()
    with open(folder / "pairs.jsonl", "w", encoding="utf-8") as file:
        for n in range(200):
            file.write(json.dumps({"prompt": f"Say {n % 9}: ", "chosen": "yes" * (1 + n % 4), "rejected": "no, never"}) + "\n")
    tuned = ("full", "copy") if reference == "copy" else ("lora", reference)
    job = exported("llama", stack, "torchrun", "--finetune", tuned[0], "--loss", "dpo", "--reference", reference,
                   "--mean-seq-len", "32")
    log = job.run("--learning_rate", "0.01", "--log_interval", "1", SM_CHANNEL_TRAIN=str(folder), SM_CHANNEL_MODEL=str(pretrained),
                  PYTHONPATH=FSDP_ON_CPU if stack == "fsdp" else "")
    found = losses(log)
    assert abs(found[1] - math.log(2)) < 0.05  # at first both models are one
    check_trained(job, log, drop=0.1)
    row = job.row()
    assert (row["loss"], row["reference"], row["packing"]) == ("dpo", reference, "no")
    assert 10 < int(row["mean_seq_len"]) < 40


@pytest.mark.parametrize("loss", ["sft", "dpo"])
def test_trl_reads_its_file(exported, loss):
    """By TRL's own parser, which refuses settings that it does not know."""
    import trl

    more = ("--loss", "dpo", "--mean-seq-len", "40") if loss == "dpo" else ()
    job = exported("llama", "hf-trainer", "trl", "--finetune", "qlora", "--lora-rank", "4", *more, machines=1)
    kind = trl.DPOConfig if loss == "dpo" else trl.SFTConfig
    parser = trl.TrlParser((trl.ScriptArguments, kind, trl.ModelConfig))
    os.environ["ACCELERATE_USE_CPU"] = "true"
    _, training, model = parser.parse_args_and_config(["--config", str(job.home / "trl.yaml"), "--use_cpu", "true", "--bf16", "false"])
    assert training.max_length == SEQ_LEN and training.gradient_accumulation_steps == 4
    assert training.max_steps == (STEPS if loss == "sft" else math.ceil(STEPS * SEQ_LEN / 40))
    assert training.per_device_train_batch_size == (2 if loss == "dpo" else 4)
    assert (model.use_peft, model.lora_r, model.load_in_4bit) == (True, 4, True)


@LONG
@pytest.mark.parametrize("stack", ["hf-trainer", "fsdp"])
def test_examples_of_their_own_length_train(exported, pretrained, tmp_path, stack):
    folder = tmp_path / "data"
    folder.mkdir()
    rows = [json.dumps({"text": "the cat sat. " * (1 + n % 4)}) + "\n" for n in range(300)]
    (folder / "train.jsonl").write_text("".join(rows), encoding="utf-8")
    job = exported("llama", stack, "torchrun", "--finetune", "full", "--mean-seq-len", "40")
    places = {"SM_CHANNEL_TRAIN": str(folder), "SM_CHANNEL_MODEL": str(pretrained)}
    words = ("--learning_rate", "0.01", "--log_interval", "1")
    if stack == "fsdp":
        places["PYTHONPATH"] = FSDP_ON_CPU
        job.run_and_stop(5, "--learning_rate", "0.01", **places)
        job.sync("src/checkpoints")
    log = job.run(*words, **places)
    if stack == "fsdp":
        assert "goes on behind step " in log
        assert max(losses(log)) >= STEPS
    else:
        check_trained(job, log)
    assert job.row()["packing"] == "no" and 30 < int(job.row()["mean_seq_len"]) < 53


@pytest.mark.parametrize("stack", ["fsdp", pytest.param("hf-trainer", marks=LONG)])
def test_adapters_train_beside_four_bits(exported, pretrained, stack):
    job = exported("llama", stack, "torchrun", "--finetune", "qlora", "--lora-rank", "4")
    log = job.run(*FAST, "--log_interval", "1", SM_CHANNEL_MODEL=str(pretrained))
    check_trained(job, log, drop=0.1)
    assert job.find("output/adapter_model.safetensors") and job.row()["method"] == "qlora"


@LONG
@pytest.mark.parametrize("model, stack", [("bert", "ddp"), ("mixtral", "fsdp"), ("vit", "hf-trainer"),
                                          ("t5", "hf-trainer")])
def test_other_kinds_train(exported, model, stack):
    job = exported(model, stack, "torchrun", machines=1) if stack != "fsdp" else exported(model, stack, "torchrun")
    check_trained(job, job.run(*FAST, "--log_interval", "1"), drop=0.1)


def test_linear_loss_is_the_loss(exported):
    """Loss and gradients are those of the logits, some labels left out, in more rows than one piece."""
    import torch

    sys.path.insert(0, str(exported("llama", "ddp", "torchrun", machines=1).home / "src"))
    import smplan_model

    torch.manual_seed(0)
    hidden, head = torch.randn(5000, 16, requires_grad=True), torch.randn(40, 16, requires_grad=True)
    labels = torch.randint(40, (5000,))
    labels[::3] = -100
    plain = torch.nn.functional.cross_entropy(hidden @ head.T, labels)
    expected = torch.autograd.grad(plain * 2, (hidden, head))
    loss = smplan_model.LinearCrossEntropy.apply(hidden, head, labels, None)
    found = torch.autograd.grad(loss * 2, (hidden, head))
    torch.testing.assert_close(loss, plain)
    for mine, theirs in zip(found, expected):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-7)


def test_request_as_the_container_starts_it(exported):
    """CreateTrainingJob's hyperparameters become arguments, and torchrun starts what sagemaker_program names."""
    job = exported("llama", "fsdp", "create-training-job")
    request = json.loads((job.home / "create_training_job.json").read_text())
    hyper = {name: json.loads(value) for name, value in request["HyperParameters"].items()}
    assert hyper["sagemaker_torch_distributed_enabled"] is True
    arguments = [word for name, value in hyper.items() if not name.startswith("sagemaker_")
                 for word in (f"--{name}", str(value))]
    command = ["torchrun", f"--nnodes={request['ResourceConfig']['InstanceCount']}", "--nproc_per_node=1",
               "--master_addr=127.0.0.1", "--master_port={port}", "--node_rank={rank}",
               f"{{node}}/src/{hyper['sagemaker_program']}"]
    check_trained(job, job.run(*arguments, *FAST, command=command))
    (path,) = job.find("smplan_run.csv")
    row = job.row()
    assert row["seq_len"] == str(SEQ_LEN) and row["stack"] == "fsdp" and row["gpu"] == "cpu"
    answer = subprocess.run([SMPLAN, "validate", str(path)], capture_output=True, text=True)
    assert "cpu" in answer.stdout + answer.stderr


def test_wrong_settings_end_the_job(exported):
    job = exported("llama", "ddp", "torchrun", machines=1)
    for arguments, words in ((["--learning_rte", "1"], "unrecognized arguments"),
                             (["--data", "/nowhere"], "/nowhere: no data")):
        log = job.wait(job.start(*arguments), expected=1)
        assert words in log, log[-3000:]


@LONG
def test_tokens_are_made_ahead(exported, pretrained, sentences, tmp_path):
    job = exported("llama", "ddp", "torchrun", machines=1)
    made = tmp_path / "tokens.npy"
    subprocess.run([sys.executable, str(job.nodes[0] / "src/smplan_data.py"), "--tokenizer", str(pretrained),
                    "--output", str(made), str(sentences)], check=True)
    log = job.run("--data", str(made), "--learning_rate", "0.01")
    check_trained(job, log)


def test_tested_versions_are_the_exported_ones():
    from importlib import metadata

    lines = (pathlib.Path(__file__).parents[2] / "planner/export/programs/requirements.txt").read_text().split()
    for line in lines:
        name, version = line.split("==")
        if name in ("liger-kernel", "torchao"):  # they run on GPUs alone
            continue
        assert metadata.version(name) == version
