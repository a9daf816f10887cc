#!/usr/bin/env python3
"""Every export of some plans, checked with `smplan check` with and without the model, has no errors.

Usage: round_trip_check.py SMPLAN_BINARY
"""

import json
import pathlib
import subprocess
import sys
import tempfile

PLANS = [
    ["--model", "llama-2-7b", "--instances", "ml.p4d.24xlarge", "--count", "2..4", "--stack", "fsdp"],
    ["--model", "llama-2-7b", "--instances", "ml.p5.48xlarge", "--stack", "deepspeed"],
    ["--model", "llama-2-70b", "--instances", "ml.p5.48xlarge", "--stack", "megatron"],
    ["--model", "llama-2-70b", "--instances", "ml.p5.48xlarge", "--stack", "torchtitan"],
    ["--model", "llama-2-13b", "--instances", "ml.p4d.24xlarge", "--stack", "smp-v2"],
    ["--model", "llama-2-7b", "--instances", "ml.p4d.24xlarge", "--stack", "smp-v1"],
    ["--model", "llama-2-7b", "--instances", "ml.trn1.32xlarge", "--stack", "neuron"],
    ["--model", "mixtral-8x7b", "--instances", "ml.p5.48xlarge", "--stack", "megatron"],
    # 126 and 61 layers over stages that do not divide them
    ["--model", "llama-3.1-405b", "--instances", "ml.p6-b200.48xlarge", "--count", "32", "--stack", "megatron", "--pp", "16"],
    ["--model", "deepseek-v3", "--instances", "ml.p5en.48xlarge", "--count", "64", "--stack", "megatron", "--pp", "8"],
    ["--params", "1B", "--instances", "ml.p4d.24xlarge", "--stack", "ddp"],
    # What only the script says: hybrid sharding with offload, DeepSpeed's file, Horovod, a vision model
    ["--model", "llama-2-7b", "--instances", "ml.g5.48xlarge", "--count", "2", "--stack", "fsdp", "--tokens", "1B"],
    ["--model", "llama-2-7b", "--instances", "ml.p4d.24xlarge", "--count", "4", "--stack", "fsdp", "--collectives", "smddp"],
    ["--model", "llama-2-7b", "--instances", "ml.g5.12xlarge", "--count", "1", "--stack", "deepspeed", "--finetune", "lora",
     "--tokens", "10M"],
    ["--model", "bert-large", "--instances", "ml.g5.12xlarge", "--count", "2", "--stack", "horovod", "--tokens", "1B"],
    ["--model", "vit-l-16", "--instances", "ml.g5.12xlarge", "--count", "1", "--stack", "hf-trainer", "--tokens", "1B"],
]
# What each exported file is, by its name; other files are scripts and notes for people.
KINDS = {
    "estimator.json": "estimator",
    "model_trainer.json": "model-trainer",
    "create_training_job.json": "create-training-job",
    "recipe.yaml": "hyperpod-recipe",
    "ds_config.json": "deepspeed",
    "accelerate_config.yaml": "accelerate",
    "megatron_args.txt": "megatron",
    "torchtitan.toml": "torchtitan",
    "smp_parameters.json": "smp",
}
TARGETS = ["sagemaker-sdk-v2", "sagemaker-sdk-v3", "create-training-job", "hyperpod-recipe", "deepspeed", "accelerate",
           "megatron", "torchtitan", "smp-v2", "smp-v1"]


def main() -> int:
    binary = sys.argv[1]
    seen, faults = set(), []

    def run(*arguments):
        return subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=120, check=False)

    with tempfile.TemporaryDirectory() as folder:
        for number, flags in enumerate(PLANS):
            plan = pathlib.Path(folder, f"{number}.json")
            made = run("plan", *flags, "--top", "1", "--format", "json", "--quiet", "--output", str(plan))
            if made.returncode != 0:
                faults.append(f"plan {' '.join(flags)}: {made.stderr}")
                continue
            for target in TARGETS:
                out = pathlib.Path(folder, f"{number}-{target}")
                # A target that cannot express the plan refuses it by name, which is not this test's matter.
                if run("export", "--plan", str(plan), "--target", target, "--output", str(out), "--quiet").returncode != 0:
                    continue
                for file in sorted(out.rglob("*")):
                    kind = KINDS.get(file.name)
                    if kind is None:
                        continue
                    for model in [], flags[:2]:  # --model NAME or --params SIZE
                        checked = run("check", str(file), *model, "--format", "json")
                        answer = json.loads(checked.stdout) if checked.stdout else {"kind": None, "findings": []}
                        errors = [f for f in answer["findings"] if f["severity"] == "error"]
                        if checked.returncode != 0 or errors or answer["kind"] != kind:
                            said = "; ".join(f"{f['rule']} {f['message']}" for f in errors)
                            faults.append(f"{' '.join(flags)} -> {target}/{file.name} ({answer['kind']}) "
                                          f"{' '.join(model)}: {checked.stderr}{said}")
                    seen.add(kind)
    missing = set(KINDS.values()) - seen
    if missing:
        faults.append(f"no plan was exported as {sorted(missing)}")
    print("\n".join(faults) if faults else f"{len(seen)} kinds of export pass the checks")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
