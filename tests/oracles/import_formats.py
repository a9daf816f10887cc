#!/usr/bin/env python3
"""`smplan catalog import` on answers made from botocore's service models (aws_answers.py).

For each kind of answer: the facts that come out; that both major versions of `aws` give the same; and, by dropping and
altering every member of the model in turn, that the import hangs on the members listed here and on no other. A name
that the importer or this list spells unlike the model shows as a fault.
Usage: import_formats.py SMPLAN
"""

import copy
import json
import subprocess
import sys
from dataclasses import dataclass

import aws_answers
from aws_answers import example, output_shape, printed
from corpus import Report

SPOT = ("ec2", "DescribeSpotPriceHistory")
BLOCKS = ("ec2", "DescribeCapacityBlockOfferings")
TYPES = ("ec2", "DescribeInstanceTypes")
PLANS = ("sagemaker", "SearchTrainingPlanOfferings")
PRODUCTS = ("pricing", "GetProducts")


@dataclass
class Outcome:
    code: int
    overlay: str
    notes: str

    def prices(self) -> list[tuple]:
        return [(p["instance"], p["region"], p["market"], p["usd_per_hour"], p["as_of"])
                for p in json.loads(self.overlay or "{}").get("prices", [])]


class Importer:
    def __init__(self, binary: str):
        self.binary = binary

    def __call__(self, answer: dict) -> Outcome:
        done = subprocess.run([self.binary, "catalog", "import", "-", "--as-of", "2026-11-20"],
                              input=json.dumps(answer), capture_output=True, text=True, timeout=60)
        return Outcome(done.returncode, done.stdout, done.stderr)


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, (*path, i))
    else:
        yield path


def mutated(answer: dict, paths: list[tuple], drop: bool) -> dict:
    """The answer without the leaves, or with other values of their types there."""
    out = copy.deepcopy(answer)
    for path in reversed(paths):
        inner = out
        for key in path[:-1]:
            inner = inner[key]
        value = inner[path[-1]]
        if drop:
            del inner[path[-1]]
        else:
            inner[path[-1]] = not value if isinstance(value, bool) else value + ("x" if isinstance(value, str) else 1)
    return out


def label(path: tuple, sku: str) -> str:
    return "/".join("*" if isinstance(key, int) or key.startswith(sku) else key for key in path)


def misjudged(run, answer: dict, listed: set[str], sku: str = "\0") -> set[str]:
    """Members that are listed and change nothing, or are not listed and do."""
    base = run(answer)

    def matter(paths: list[tuple]) -> bool:
        return any(run(mutated(answer, paths, drop)) != base for drop in (True, False))

    read = [path for path in leaves(answer) if label(path, sku) in listed]
    rest = [path for path in leaves(answer) if label(path, sku) not in listed]
    out = listed - {label(path, sku) for path in read if matter([path])}
    if matter(rest):
        out |= {label(path, sku) for path in rest if matter([path])} or {"members together"}
    return out


P5 = "p5.48xlarge"
BLOCK = {"InstanceType": P5, "AvailabilityZone": "us-east-1b", "InstanceCount": 4, "UpfrontFee": "7760.00",
         "CurrencyCode": "USD", "CapacityBlockDurationHours": 48, "CapacityBlockDurationMinutes": 2910}
BLOCK_MEMBERS = {"InstanceType", "AvailabilityZone", "InstanceCount", "UpfrontFee", "CurrencyCode"}
CAPACITY = {"InstanceType": "ml." + P5, "InstanceCount": 2, "AvailabilityZone": "us-west-2a", "DurationHours": 47,
            "DurationMinutes": 60}
# Unlike the catalog's p4d in every figure, so that each shows.
P4D = {"InstanceType": "p4d.24xlarge", "VCpuInfo": {"DefaultVCpus": 90}, "MemoryInfo": {"SizeInMiB": 1000000},
       "InstanceStorageInfo": {"TotalSizeInGB": 7000}, "GpuInfo": {"Gpus": [{"Count": 8}]},
       "EbsInfo": {"EbsOptimizedInfo": {"BaselineBandwidthInMbps": 18000}}}
P4D_MEMBERS = {"InstanceType", "VCpuInfo/DefaultVCpus", "MemoryInfo/SizeInMiB", "InstanceStorageInfo/TotalSizeInGB",
               "GpuInfo/Gpus/*/Count", "EbsInfo/EbsOptimizedInfo/BaselineBandwidthInMbps"}


@dataclass
class Case:
    operation: tuple
    given: dict
    prices: list
    read: set


CASES = [
    Case(SPOT, {"SpotPriceHistory": [{"AvailabilityZone": "us-west-2b", "InstanceType": P5, "SpotPrice": "12.6935"}]},
         [("ml." + P5, "us-west-2", "spot", 12.6935, "2026-03-01")],
         {"NextToken"} | {f"SpotPriceHistory/*/{name}" for name in
                          ("AvailabilityZone", "InstanceType", "ProductDescription", "SpotPrice", "Timestamp")}),
    Case(BLOCKS, {"CapacityBlockOfferings": [BLOCK]},
         [("ml." + P5, "us-east-1", "capacity-block", 40, "2026-11-20")],
         {"NextToken"} | {f"CapacityBlockOfferings/*/{n}" for n in BLOCK_MEMBERS | {"CapacityBlockDurationMinutes"}}),
    Case(BLOCKS, {"CapacityBlockOfferings": [BLOCK | {"UpfrontFee": "7680", "CapacityBlockDurationMinutes": None}]},
         [("ml." + P5, "us-east-1", "capacity-block", 40, "2026-11-20")],
         {"NextToken"} | {f"CapacityBlockOfferings/*/{n}" for n in BLOCK_MEMBERS | {"CapacityBlockDurationHours"}}),
    Case(PLANS, {"TrainingPlanOfferings": [{"UpfrontFee": "4800.00", "CurrencyCode": "USD",
                                            "ReservedCapacityOfferings": [CAPACITY]}]},
         [("ml." + P5, "us-west-2", "capacity-block", 50, "2026-11-20")],
         {"TrainingPlanOfferings/*/UpfrontFee", "TrainingPlanOfferings/*/CurrencyCode"}
         | {f"TrainingPlanOfferings/*/ReservedCapacityOfferings/*/{name}" for name in CAPACITY}),
    Case(TYPES, {"InstanceTypes": [P4D]}, [], {"NextToken"} | {f"InstanceTypes/*/{name}" for name in P4D_MEMBERS}),
]


def judge_models(run, report: Report) -> None:
    for case in CASES:
        report.judged += 1
        entry = {"target": case.operation[1], "case": sorted(case.given)[0]}
        answers = {version: printed(*case.operation, case.given, version) for version in (1, 2)}
        outcomes = {version: run(answer) for version, answer in answers.items()}
        if outcomes[1] != outcomes[2]:
            report.fault(entry, f"differs between aws 1 and 2: {outcomes}")
        if outcomes[2].code != 0 or outcomes[2].prices() != case.prices:
            report.fault(entry, f"gives {outcomes[2]}, not {case.prices}")
        if difference := misjudged(run, answers[2], case.read):
            report.fault(entry, f"what is read differs from what is listed in {sorted(difference)}")


# Names of the attributes of SageMaker's products: those that AWS's own tools for the price list read. botocore's model
# says only that a product is a string; its example, a product of EC2, gives the rest of the structure.
ATTRIBUTES = {"instanceName": "ml." + P5, "component": "Training", "platoinstancetype": "Training",
              "regionCode": "us-west-2", "usagetype": "USW2-Train:ml." + P5, "servicecode": "AmazonSageMaker"}
PRODUCT_MEMBERS = {"product/productFamily", "serviceCode", "version", "publicationDate",
                   "terms/OnDemand/*/priceDimensions/*/unit", "terms/OnDemand/*/priceDimensions/*/pricePerUnit/USD",
                   "product/attributes/locationType", "product/attributes/platoinstancetype",
                   "product/attributes/regionCode"}


def training_product(without: tuple = ()) -> dict:
    """botocore's example of a product, sold as an hour of training."""
    product = json.loads(example(*PRODUCTS)["PriceList"][0])
    product["serviceCode"] = "AmazonSageMaker"
    product["product"]["productFamily"] = "ML Instance"
    product["product"]["attributes"] |= {k: v for k, v in ATTRIBUTES.items() if k not in without}
    for term in product["terms"]["OnDemand"].values():
        for dimension in term["priceDimensions"].values():
            dimension |= {"unit": "Hrs", "pricePerUnit": {"USD": "63.2960000000"}}
    return product


def offer_of(product: dict) -> dict:
    """The same product in the bulk file, which has terms below their SKU."""
    sku = product["product"]["sku"]
    return {"formatVersion": "v1.0", "offerCode": product["serviceCode"], "version": product["version"],
            "publicationDate": product["publicationDate"], "products": {sku: product["product"]},
            "terms": {"OnDemand": {sku: product["terms"]["OnDemand"]}}}


def judge_products(run, report: Report) -> None:
    def answered(product: dict) -> Outcome:
        return run(printed(*PRODUCTS, {"NextToken": None, "PriceList": [json.dumps(product)]}))

    expected = [("ml." + P5, "us-west-2", "on-demand", 63.296, "2017-09-01")]
    for without, read in (((), {"product/attributes/instanceName", "product/attributes/component"}),
                          (("instanceName", "component"), {"product/attributes/usagetype"})):
        report.judged += 1
        entry = {"target": PRODUCTS[1], "case": f"without {without}"}
        product = training_product(without)
        for outcome in (answered(product), run(offer_of(product))):
            if outcome.code != 0 or outcome.prices() != expected:
                report.fault(entry, f"gives {outcome}, not {expected}")
        if difference := misjudged(answered, product, PRODUCT_MEMBERS | read, product["product"]["sku"]):
            report.fault(entry, f"what is read differs from what is listed in {sorted(difference)}")


def judge_names(run, report: Report) -> None:
    """What the models enumerate: types, and systems that a spot price may be for."""
    history = output_shape(*SPOT).members["SpotPriceHistory"].member.members
    offerings = output_shape(*PLANS).members["TrainingPlanOfferings"].member.members["ReservedCapacityOfferings"]
    sagemaker = aws_answers.service("sagemaker")
    known = {*sagemaker.shape_for("TrainingInstanceType").enum, *sagemaker.shape_for("ClusterInstanceType").enum}
    listed = subprocess.run([run.binary, "catalog", "list", "instances", "--format", "json"], capture_output=True,
                            check=True, timeout=60).stdout
    for name in (i["name"] for i in json.loads(listed)):
        report.judged += 1
        if name not in known or name.removeprefix("ml.") not in history["InstanceType"].enum:
            report.fault({"target": "catalog", "case": name}, "is unknown to EC2, or to SageMaker's training and clusters")
    sold = offerings.member.members["InstanceType"].enum
    plans = [{"UpfrontFee": "48", "CurrencyCode": "USD", "ReservedCapacityOfferings": [CAPACITY | {"InstanceType": name}]}
             for name in sold]
    outcome = run(printed(*PLANS, {"TrainingPlanOfferings": plans}))
    if {p[0] for p in outcome.prices()} != set(sold) or "training plans" in outcome.notes:
        report.fault({"target": PLANS[1], "case": "every type sold"}, str(outcome))
    for system in history["ProductDescription"].enum:
        outcome = run(printed(*SPOT, CASES[0].given | {"SpotPriceHistory": [
            CASES[0].given["SpotPriceHistory"][0] | {"ProductDescription": system}]}))
        if (outcome.code == 0) != system.startswith("Linux/UNIX"):
            report.fault({"target": SPOT[1], "case": system}, str(outcome))


def main() -> int:
    run = Importer(sys.argv[1])
    report = Report(f"botocore {aws_answers.botocore.__version__}", of="answers and names")
    judge_models(run, report)
    judge_products(run, report)
    judge_names(run, report)
    return report.finish(least=80)


if __name__ == "__main__":
    sys.exit(main())
