"""PyTorchJob, the object of Kubernetes that Kubeflow's training operator runs: its definition, and the words of its
types. kubectl refuses fields that the definition has not."""

import pathlib
import re
import sys

from refresh_tables.table import Section, Table

CRD = "manifests/base/crds/kubeflow.org_pytorchjobs.yaml"
TYPES = "pkg/apis/kubeflow.org/v1"
# What is described of a pod: the objects inside, by the name that their section has.
DESCRIBED = {"spec": "spec", "runPolicy": "RunPolicy", "schedulingPolicy": "SchedulingPolicy",
             "elasticPolicy": "ElasticPolicy", "template": "Template", "containers": "Containers",
             "initContainers": "InitContainers", "env": "Env", "volumeMounts": "VolumeMounts"}
POD = "PodSpec"
REPLICAS = "pytorchReplicaSpecs"


def words_of(sources: str, kind: str) -> list:
    """Constants of a type of Go's, but for the empty one."""
    return re.findall(rf'^\s+\w+\s+{kind}\s+= "([^"]+)"', sources, re.M)


def types_of(field: dict) -> list:
    if "type" not in field:
        return ["any"]
    # Kubernetes takes null for what is left out.
    return [{"array": "list"}.get(field["type"], field["type"]), "null"]


class Reader:
    def __init__(self, sources: str):
        self.sections = {}
        self.roles = words_of(sources, "ReplicaType")
        self.restarts = words_of(sources, "RestartPolicy")

    def section(self, path: str, schema: dict, limits: dict | None = None) -> str:
        if path in self.sections:
            return path
        made = self.sections[path] = Section(path, "plain", "refused")
        for name, field in schema["properties"].items():
            inner = field.get("items", field)
            described = DESCRIBED.get(name)
            if described and path == DESCRIBED["template"]:
                described = POD
            row = {"types": types_of(field), "values": field.get("enum", []),
                   "required": name in schema.get("required", []) or None, **(limits or {}).get(name, {})}
            if name == REPLICAS:
                row["section"] = self.replicas(field["additionalProperties"])
            elif described and "properties" in inner:
                row["section"] = self.section(described, inner)
            made.add(name, **row)
        return path

    def replicas(self, schema: dict) -> str:
        """By the role, whose first letter older versions of the operator took small. There is one master."""
        made = self.sections[REPLICAS] = Section(REPLICAS, "plain", "refused")
        for role in self.roles:
            counts = {"min": 1, **({"max": 1} if role == "Master" else {})}
            path = self.section(role, schema, {"replicas": counts, "restartPolicy": {"values": self.restarts}})
            made.add(role, also=[role.lower()], types=["object"], section=path)
        return REPLICAS


def read() -> Table:
    import yaml

    root = next(pathlib.Path(entry) for entry in sys.path if pathlib.Path(entry or ".", CRD).is_file())
    definition = yaml.safe_load((root / CRD).read_text(encoding="utf-8"))["spec"]
    version = definition["versions"][0]
    sources = "\n".join((root / TYPES / name).read_text(encoding="utf-8")
                        for name in ("common_types.go", "pytorch_types.go"))
    reader = Reader(sources)
    schema = version["schema"]["openAPIV3Schema"]
    name = f"{definition['group']}/{version['name']}"
    schema["required"] = ["apiVersion", "kind", "metadata", "spec"]
    reader.section("", schema, {"apiVersion": {"values": [name]}, "kind": {"values": [definition["names"]["kind"]]}})
    release = re.search(r'version="([\d.]+)"', (root / "sdk/python/setup.py").read_text(encoding="utf-8")).group(1)
    return Table("pytorch-job", release, f"kubeflow/training-operator v{release}, {CRD}, {TYPES}/common_types.go and "
                 "pkg/webhooks/pytorch/pytorchjob_webhook.go", list(reader.sections.values()))
