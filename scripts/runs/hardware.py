"""Accelerator, instance, network and the count of devices, from words."""

import math
import re

import catalog
import cells
from catalog import Fact
from phrases import plain_words
from row import Row, decimal

FASTEST_CARD_GBPS = 800
FASTEST_NODE_GBPS = 1e5
CHIPS_OF_NODE = 16


def _words(written: str) -> list[str]:
    """Names of instances have a hyphen of their own: `p6-b300.48xlarge`."""
    return [w.lower() for w in re.split(r"[ (),;/]+", written) if w]


def _families(words: list[str]) -> list[Fact]:
    """Types of which the words name the family alone: `p4d`, `AWS trn1n instances`."""
    of_aws = [s for s in catalog.systems() if s["name"].startswith("ml.")]
    return [s for s in of_aws if s["name"].split(".")[1] in words]


def network_kind(words: str) -> str | None:
    for word in plain_words(words):
        if word.startswith("efa"):
            return "efa"
        if word.startswith("roce"):
            return "roce"
        # edr ... xdr are InfiniBand's rates: `HDR200`
        if word == "ib" or word.startswith(("infiniband", "rdma", "edr", "hdr", "ndr", "xdr")):
            return "infiniband"
        if word.startswith(("opa", "omni")):
            return "omni-path"
        if word.startswith(("tcp", "ethernet")) or word.endswith("gbe"):
            return "ethernet"
    return None


def network_gbps(words: str) -> float | None:
    """Gbit/s of a node. A rate of InfiniBand, RoCE or Omni-Path that is not multiplied is one card's, unless no card is
    so fast. It says nothing of how many cards there are."""
    text = words[:200].lower()
    if "nvlink" in text or "nvswitch" in text:
        return None
    found = re.search(r"\b(?:(\d+)\s*[x*]\s*)?(\d+(?:\.\d+)?)\s*(g(?:b|bit|bits|bps|be|ps)?)\b", text)
    if found is None:
        return None
    in_bytes = words[found.start(3) : found.start(3) + 2].endswith("B") and found.group(3) != "gbe"
    rate = float(found.group(2)) * (8 if in_bytes else 1) * float(found.group(1) or 1)
    if not 0 < rate <= FASTEST_NODE_GBPS:
        return None
    of_cards = network_kind(words) in ("infiniband", "roce", "omni-path")
    return None if of_cards and not found.group(1) and rate <= FASTEST_CARD_GBPS else rate


def _usual_devices(n_gpus: int, system: Fact) -> int:
    devices = min(max(int(system.get("accelerator_count", 0)), 1), n_gpus)
    return next(d for d in range(devices, 0, -1) if n_gpus % d == 0)


def _misfit(row: Row, system: Fact) -> tuple[float, float, float]:
    """More nodes, then devices left idle, then the distance from the stated rate (models/machine/stated_machine.cpp)."""
    n_gpus, per_node = row.count("n_gpus") or 1, row.count("gpus_per_node")
    count = int(system["accelerator_count"])
    used = min(count, per_node) if per_node else _usual_devices(n_gpus, system)
    offered = float(system["network"]["gbit_per_s"])
    stated = decimal(row.typed.get("internode_gbps_per_node", ""))
    return -used, count - used, abs(math.log(offered / stated)) if offered > 0 and stated > 0 else 0


def _likeness(row: Row, system: Fact, in_family: bool) -> int:
    """As models/machine/stated_machine.cpp; a family that the row names counts most."""
    per_node = row.count("gpus_per_node")
    count = int(system["accelerator_count"])
    score = 16 * int(in_family) + 4 * int(row.typed.get("network") == system["network"]["kind"])
    score += 8 * int(0 < per_node == count) + int(0 < per_node < count)
    return score + 2 * int(system["training_support"] == "reference") + int(row.count("n_gpus") > 1 and count > 1)


def _nearest(row: Row, accelerator: Fact, family: list[Fact]) -> Fact | None:
    best: Fact | None = None
    best_score = -1
    for system in catalog.systems():
        if system.get("accelerator") != accelerator["key"] or not system.get("accelerator_count"):
            continue
        score = _likeness(row, system, system in family)
        nearer = best is not None and score == best_score and system["training_support"] != "reference"
        if score > best_score or (nearer and best and _misfit(row, system) < _misfit(row, best)):
            best, best_score = system, score
    return best


def _network(row: Row) -> None:
    words = row.cell("network")
    rate = row.cell("internode_gbps_per_node")
    kind, said = network_kind(words), network_gbps(words)
    if rate and rate not in ("0", "0.0"):
        row.put("internode_gbps_per_node", rate)
    elif said is not None:
        row.put("internode_gbps_per_node", f"{said:g}")
    if kind:
        row.put("network", kind)
    elif words and said is None and not cells.is_blank(words):
        row.not_understood.append(("network", words))


def _degrees_need_cores(row: Row, cores: int) -> bool | None:
    """Degrees tell the number of ranks: all of them, or at least what they multiply to."""
    n_gpus, dp = row.count("n_gpus"), row.count("dp")
    cut = math.prod(row.count(degree) or 1 for degree in ("tp", "pp", "cp"))
    if dp and cut * dp == n_gpus:
        return False
    if dp and cut * dp == n_gpus * cores:
        return True
    if n_gpus * cores % cut != 0:
        return False
    return True if cut > n_gpus else None


def _counts_chips(row: Row, cores: int) -> bool:
    if row.count("gpus_per_node"):
        return row.count("gpus_per_node") == CHIPS_OF_NODE
    written = row.cell("gpu").lower()
    if "core" in written or "chip" in written:
        return "core" not in written
    told = _degrees_need_cores(row, cores)
    if told is not None:
        return told
    # Large types are rented whole: 16 are the chips of one, and no more than a part of its cores.
    n_gpus = row.count("n_gpus")
    return n_gpus % CHIPS_OF_NODE == 0 and n_gpus % (CHIPS_OF_NODE * cores) != 0


def _count_cores(row: Row) -> None:
    """Trainium runs a rank on each NeuronCore: of Trainium1 two a chip, of later ones four logical ones of two physical
    cores each (LNC=2, the default of aws-neuron-sdk)."""
    accelerator = row.accelerator
    if not accelerator or accelerator["vendor"] != "aws" or not row.count("n_gpus") or row.count("devices_per_gpu"):
        return
    cores = 2 if accelerator["key"] == "Trainium1" else 4
    if not _counts_chips(row, cores):
        return
    row.put("devices_per_gpu", cores)
    for column in ("n_gpus", "gpus_per_node"):
        if row.count(column):
            row.put(column, cores * row.count(column))


def read(row: Row) -> None:
    """gpu, instance, network, rates and counts."""
    words = _words(row.cell("instance"))
    stated = next((s for s in map(catalog.instance, words) if s), None)
    family = _families(words)
    beside = stated or next((s for s in family if s.get("accelerator_count")), None)
    row.accelerator = catalog.accelerator_named(row.cell("gpu"), beside)
    _network(row)
    for column in ("n_gpus", "gpus_per_node", "devices_per_gpu"):
        if row.cell(column):
            row.put(column, row.cell(column))
    _count_cores(row)
    accelerator = row.accelerator
    if accelerator is None:
        row.put("gpu", row.cell("gpu"))  # which the product refuses by its name
        return
    row.put("gpu", accelerator["key"])
    if stated and stated.get("accelerator") == accelerator["key"]:
        row.system = stated
    else:
        row.system = _nearest(row, accelerator, family)
    if row.system and (row.system is stated or row.system in family):
        row.put("instance", row.system["name"])
    elif stated:
        row.put("instance", stated["name"])  # whose device is another: the product says so


def devices_per_node(row: Row) -> int:
    n_gpus, per_node = row.count("n_gpus") or 1, row.count("gpus_per_node")
    return min(per_node, n_gpus) if per_node else _usual_devices(n_gpus, row.system or {})


def nodes(row: Row) -> int:
    return (row.count("n_gpus") or 1) // devices_per_node(row)


def domain(row: Row) -> int:
    """Devices that reach each other at the speed of the fabric (models/machine/cluster.hpp)."""
    per_node, n_gpus = devices_per_node(row), row.count("n_gpus") or 1
    size = int((row.system or {}).get("fabric", {}).get("domain_size", 1))
    if row.system and size <= int(row.system["accelerator_count"]):
        return per_node
    if size <= per_node:
        return per_node
    return n_gpus if n_gpus <= size else 1 << (size.bit_length() - 1)
