#!/usr/bin/env python3
"""JSON answers of the command agree with the shipped schema and with themselves.

Usage: schema_check.py SMPLAN_BINARY PLAN_SCHEMA
"""

import json
import math
import shlex
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    sys.exit("jsonschema is missing: run scripts/test, which installs tests/python/requirements.txt, "
             "or point -DSMPLAN_TEST_PYTHON at a Python that has it")

REQUESTS = [
    ("plan --params 13B", 0),
    ("plan --model mixtral-8x7b --instances 'ml.p5*' --tokens 100B --objective time --top 3", 0),
    ("plan --model llama-3-8b --instances ml.g5.48xlarge --finetune lora --tokens 100M --objective pareto", 0),
    ("plan --model llama-2-70b --instances ml.g5.xlarge --count 1", 1),
    ("plan --params 13B --budget 1", 1),
    ("estimate --model llama-2-70b --instances ml.p4d.24xlarge --count 32 --stack fsdp --shard-degree 256", 0),
    ("estimate --model llama-13b --instances ml.p4d.24xlarge --count 8 --stack ddp --zero-stage 0", 1),
    ("estimate --params 7B --instances ml.p5.48xlarge --count 2 --stack megatron --tp 2 --pp 2 --dp 4", 0),
    ("plan --params 7B --market spot --region us-west-2 --instances ml.p4d.24xlarge --deadline 40d --confidence 80%", 0),
    ("plan --params 7B --market spot --instances ml.p5.48xlarge --count 1 --checkpoint-storage none", 1),
    ("plan --params 7B --market on-demand,spot,capacity-block --instances ml.p5.48xlarge --count 1..4 --dataset 5TB "
     "--sample-size 20MB --max-oom-probability 1%", 0),
    ("estimate --params 7B --instances ml.p4d.24xlarge --count 4 --stack fsdp --market training-plan --dataset 500GB "
     "--dataset-files 10M --checkpoint-storage fsx-lustre --jobs 3 --job-gap 5m --warm-pool on", 0),
    ("plan --params 7B --tokens 10B --instances ml.p5.48xlarge --count 4 --platform hyperpod-eks --checkpoint-storage memory "
     "--spare-instances 1 --preempted-every 2d --preempted-for 3h", 0),
    ("plan --params 7B --instances ml.p5.48xlarge --count 4 --platform hyperpod-eks --recovery elastic --dataset 1TB", 0),
    ("plan --params 7B --instances ml.p5.48xlarge --count 4 --platform hyperpod-slurm", 0),
]


def answer(binary: str, request: str, code: int) -> dict:
    done = subprocess.run([binary, *shlex.split(request), "--format", "json"], capture_output=True, timeout=120)
    assert done.returncode == code, f"exit {done.returncode}, expected {code}: {done.stderr.decode()}"
    # Python reads NaN and Infinity, JSON has neither.
    return json.loads(done.stdout, parse_constant=lambda name: sys.exit(f"{request}: {name} in JSON"))


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def check_plan(plan: dict) -> None:
    p = plan["parallel"]
    assert p["data"] * p["tensor"] * p["pipeline"] * p["context"] == plan["n_gpus"], "degrees do not multiply up"
    assert (p["data"] * p["context"]) % p["expert"] == 0, "expert does not divide data x context"
    assert plan["micro_batch"] * plan["gradient_accumulation"] * p["data"] == plan["global_batch"], "batch"
    assert close(sum(plan["step_components_s"].values()), plan["step_time_s"]), "step components do not sum"
    low, high = plan["step_time_interval_s"]
    assert low <= plan["step_time_s"] <= high, "step time outside its interval"
    memory = plan["memory"]
    assert close(sum(memory["components_gib"].values()), memory["peak_gib"]), "memory components do not sum"
    low, high = memory["peak_interval_gib"]
    assert low <= memory["peak_gib"] <= high, "peak memory outside its interval"
    time = plan["time_components_s"]
    assert close(sum(time.values()), plan["time_to_train_s"]), "time components do not sum"
    assert close(sum(plan["lost_components_s"].values()), time["lost"]), "lost time does not sum"
    assert close(time["productive"] / plan["time_to_train_s"], plan["goodput"]), "goodput"
    early, late = plan["time_to_train_interval_s"]
    assert early <= plan["time_to_train_s"] <= late, "time to train outside its interval"
    cost = plan["cost"]
    if cost["total_usd"] is not None:
        low, high = cost["total_interval_usd"]
        assert low - 1e-9 <= cost["total_usd"] <= high + 1e-9, "cost outside its interval"
    if cost["total_usd"] is not None:
        assert close(sum(cost["components_usd"].values()), cost["total_usd"]), "cost components do not sum"


def main() -> int:
    binary, schema_path = sys.argv[1:3]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    failures = 0
    for request, code in REQUESTS:
        try:
            document = answer(binary, request, code)
            faults = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]
            assert not faults, "; ".join(faults)
            for plan in document["plans"]:
                check_plan(plan)
            assert document["pareto"] == sorted(set(document["pareto"])), "pareto ranks"
        except AssertionError as fault:
            print(f"smplan {request}\n  {fault}")
            failures += 1
    print(f"{len(REQUESTS) - failures} of {len(REQUESTS)} answers agree with the schema")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
