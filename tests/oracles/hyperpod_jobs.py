#!/usr/bin/env python3
"""Exported HyperPodPyTorchJob manifests against the pydantic models of HyperPod's own command line (sagemaker-hyperpod),
which refuse unknown fields, and against what a manifest must add up to. Usage: hyperpod_jobs.py SMPLAN
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

import yaml

MODELS = "sagemaker/hyperpod/training/config/hyperpod_pytorch_job_unified_config.py"
WORK = ["--tokens", "10B", "--global-batch", "512", "--top", "1", "--platform", "hyperpod-eks"]
REQUESTS = {
    "fsdp": ["--model", "llama-3.1-8b", "--instances", "ml.p5.48xlarge", "--count", "4", "--stack", "fsdp"],
    "ddp": ["--model", "bert-large", "--instances", "ml.g5.12xlarge", "--count", "2", "--stack", "ddp"],
    "deepspeed": ["--model", "llama-3.1-8b", "--instances", "ml.p4d.24xlarge", "--count", "2", "--stack", "deepspeed"],
    "megatron": ["--params", "70B", "--instances", "ml.p5.48xlarge", "--count", "16", "--stack", "megatron"],
    "neuron": ["--params", "7B", "--instances", "ml.trn1.32xlarge", "--count", "4", "--stack", "neuron"],
    "lora": ["--model", "llama-3.1-8b", "--instances", "ml.g5.48xlarge", "--count", "2", "--finetune", "lora",
             "--stack", "fsdp"],
    "spares": ["--model", "llama-3.1-8b", "--instances", "ml.p5.48xlarge", "--count", "4", "--stack", "fsdp",
               "--spare-instances", "2"],
    "elastic": ["--model", "llama-3.1-8b", "--instances", "ml.p5.48xlarge", "--count", "4", "--stack", "fsdp",
                "--recovery", "elastic"],
    "governed": ["--model", "llama-3.1-8b", "--instances", "ml.p5.48xlarge", "--count", "4", "--stack", "fsdp",
                 "--preempted-every", "2d", "--preempted-for", "3h"],
}


def models():
    """The module alone: its package needs Kubernetes."""
    path = pathlib.Path(sysconfig.get_paths()["purelib"], MODELS)
    spec = importlib.util.spec_from_file_location("hyperpod_models", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pydantic looks types up there
    spec.loader.exec_module(module)
    return module


def faults_of(manifest: dict, plan: dict, module) -> list[str]:
    out = []
    if (manifest["apiVersion"], manifest["kind"]) != ("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob"):
        out.append(f"is a {manifest['kind']} of {manifest['apiVersion']}")
    # Manifests have the fields' names, Python their aliases.
    job = module._HyperPodPytorchJob.model_validate(manifest["spec"], by_name=True, by_alias=False)
    out += [f"the job has no {key}" for key in manifest["spec"].keys() - type(job).model_fields.keys()]
    replicas = job.replicaSpecs[0]
    devices = int(job.nprocPerNode)
    wanted = plan["n_gpus"]
    if replicas.replicas * devices != wanted:
        out.append(f"{replicas.replicas} x {devices} are not the {wanted} devices of the plan")
    container = replicas.template.spec.containers[0]
    names = {mount.name for mount in container.volumeMounts}
    if names != {volume.name for volume in replicas.template.spec.volumes}:
        out.append("mounts and volumes differ")
    if f"--nproc-per-node={devices}" not in container.command:
        out.append("the command starts another number of processes")
    if container.resources.requests != container.resources.limits:
        out.append("devices are requested in part")
    if (elastic := job.elasticPolicy) is not None:
        steps = elastic.replicaDiscreteValues
        if steps != sorted(set(steps)) or (steps[0], steps[-1]) != (elastic.minReplicas, elastic.maxReplicas):
            out.append(f"{steps} do not run from {elastic.minReplicas} to {elastic.maxReplicas}")
        if f"--nnodes={elastic.minReplicas}:{elastic.maxReplicas}" not in container.command:
            out.append("the command has other counts than the policy")
    return out


def main() -> int:
    smplan = sys.argv[1]
    module = models()
    bad = 0
    for name, request in REQUESTS.items():
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder, "plan.json")
            out = pathlib.Path(folder, "job")
            subprocess.run([smplan, "plan", *request, *WORK, "--format", "json", "--output", plan], check=True)
            subprocess.run([smplan, "export", "--plan", plan, "--target", "hyperpod-job", "--output", out], check=True,
                           capture_output=True)
            manifest = yaml.safe_load((out / "job.yaml").read_text(encoding="utf-8"))
            facts = json.loads(plan.read_text(encoding="utf-8"))["plans"][0]
            try:
                faults = faults_of(manifest, facts, module)
            except ValueError as error:
                faults = [str(error)]
            if name == "spares" and manifest["spec"]["replicaSpecs"][0].get("spares") != 2:
                faults.append("has not the spares of the plan")
            if ("labels" in manifest["metadata"]) != (name == "governed"):
                faults.append("names a queue without evictions, or none with them")
            if (out / "Dockerfile").read_text(encoding="utf-8").count("FROM ") != 1:
                faults.append("Dockerfile has no base")
            for fault in faults:
                print(f"{name}: {fault}")
            bad += bool(faults)
    # What must be refused is: a field of another name.
    broken = {"nprocPerNode": "8", "replicaSpecs": [{"name": "pod", "replicas": 1, "spare": 1}]}
    try:
        module._HyperPodPytorchJob.model_validate(broken, by_name=True, by_alias=False)
        print("the models take an unknown field: they judge nothing")
        bad += 1
    except ValueError:
        pass
    print(f"{len(REQUESTS) - bad} of {len(REQUESTS)} manifests are taken")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
