#!/usr/bin/env python3
"""Fits the fabric profiles on collective sweeps and prints parameters and errors.

    scripts/fit/collectives.py <collectives.csv> [<fabric_profiles.json>]

The second argument is rewritten with the fit. The model is that of models/machine/collectives.cpp. Residuals
are log(predicted / measured) under a soft-L1 loss; every (instance, source, size class) weighs the
same whatever its number of points; weak priors hold what a sweep does not determine: NCCL's own
tuner constants for latencies (NVIDIA/nccl src/graph/tuning.cc, 2026-06) and 0.8 (NVLink, PCIe) or 0.9
(network) of the line rate, or the nearest relative. Sweeps of framework operations (with copies), of
other libraries (DeepEP, UCCL, RCCL, SHARP), and of unnamed networks are left out.
"""
import json
import math
import sys

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

AS_OF = "2026-11-20"
FABRIC_RATE = {  # one direction, per accelerator, GB/s
    "nvlink-mesh-v100": 150, "nvswitch-a100": 300, "nvswitch-h100": 450, "nvswitch-b200": 900, "nvl72-gb200": 900}
MESH_RING = {2: 25, 3: 50, 4: 100, 5: 25, 6: 50, 7: 100, 8: 150}  # models/machine/topology.cpp
# substring of the instance column -> (fabric, network, GB/s of the node's network or PCIe link)
MACHINES = [
    ("8xV100-32GB node", "nvlink-mesh-v100", None, 0), ("OCI BM.GPU3.8", "nvlink-mesh-v100", None, 0),
    ("8xA100 node", "nvswitch-a100", None, 0), ("DGX A100", "nvswitch-a100", None, 0),
    ("A100-40GB 4-GPU", "nvswitch-a100", None, 0),
    ("8xH200 node", "nvswitch-h100", None, 0), ("DGX H100", "nvswitch-h100", None, 0),
    ("A100 pairwise", "pcie", None, 31.5), ("H100 pairwise", "pcie", None, 63.0),
    ("GB200 NVL72", "nvl72-gb200", None, 0),
    ("p3dn.24xlarge", "nvlink-mesh-v100", "efa-host", 12.5), ("g5.8xlarge", "pcie", "efa-host", 3.125),
    ("p4d.24xlarge", "nvswitch-a100", "efa-v1", 50), ("p5.48xlarge", "nvswitch-h100", "efa-v2", 400),
    ("p5en.48xlarge", "nvswitch-h100", "efa-v3", 400), ("p6-b200", "nvswitch-b200", "efa-v3", 400),
    ("p6-b300", "nvswitch-b200", "efa-v3", 800)]
PARAMETERS = ["bandwidth_efficiency", "base_latency_us", "step_latency_us", "half_size_mib", "alltoall_efficiency",
              "switch_reduction_efficiency"]
# Prior medians; 0 means that the fabric has no such unit.
NVLINK = dict(bandwidth_efficiency=0.8, base_latency_us=14, step_latency_us=0.6, half_size_mib=24,
              alltoall_efficiency=0.8, switch_reduction_efficiency=0)
SWITCH = dict(NVLINK, switch_reduction_efficiency=0.6)
NETWORK = dict(bandwidth_efficiency=0.9, base_latency_us=14, step_latency_us=14.0, half_size_mib=4,
               alltoall_efficiency=0.9, switch_reduction_efficiency=0)
PRIOR_SIGMA = dict(bandwidth_efficiency=0.1, base_latency_us=0.4, step_latency_us=0.1, half_size_mib=0.7,
                   alltoall_efficiency=0.3, switch_reduction_efficiency=0.3)
# In order: a network's fit reads its fabrics. `relative` supplies the priors.
FITS = [("nvlink-mesh-v100", NVLINK), ("nvswitch-a100", NVLINK), ("nvswitch-h100", SWITCH),
        ("nvswitch-b200", "nvswitch-h100"), ("nvl72-gb200", "nvswitch-b200"),
        ("pcie", dict(NVLINK, step_latency_us=1.0)),
        ("efa-v2", NETWORK), ("efa-v3", "efa-v2"), ("efa-v1", "efa-v2"), ("efa-host", "efa-v1")]

NCCL_TUNER = "the constants of NVIDIA/nccl src/graph/tuning.cc (base 14 us, 0.6 us an NVLink step, 14 us a network step)"
# Fabrics without a usable sweep: nearest relative, what differs, and why.
UNMEASURED = [
    ("nvswitch-v100", "nvswitch-a100", {},
     "no sweep of a DGX-2 is used: nvswitch-a100, the next generation of the same switch, on its own line rate"),
    ("neuronlink", "nvlink-mesh-v100", dict(alltoall_efficiency=0.4, step_latency_us=1.0),
     "no usable nccom sweep: nvlink-mesh-v100, also a mesh without a switch; all-to-all on a 4x4 torus halves again "
     "what rings reach (mean hop distance 2)"),
    ("full-mesh-mi300x", "nvswitch-h100", dict(bandwidth_efficiency=0.72, alltoall_efficiency=0.72,
                                               switch_reduction_efficiency=0.0),
     "no sweep, all-reduces of 4 GiB on two and eight MI300X reach 74 and 70 % of their links (stas00/ml-engineering "
     "network/README.md); the rest as nvswitch-h100, all-to-all as the ring"),
    ("infiniband", "efa-v3", dict(base_latency_us=6.8, step_latency_us=5.0),
     "no NCCL sweep without SHARP names its InfiniBand: efficiency of efa-v3, also RDMA straight from GPU memory; "
     "latencies of NCCL's tree in NVIDIA/nccl src/graph/tuning.cc (LL: base 6.8 us, 5 us a hop), which with 0.6 us an "
     "NVLink step give 25 us for 8 B on 2 x 8 A100 where the ABCI user guide prints 22.5 us with SHARP"),
    ("roce", "efa-v3", dict(base_latency_us=6.8, step_latency_us=5.0),
     "no sweep: as infiniband, the same verbs over Ethernet"),
    ("omnipath", "efa-host", dict(base_latency_us=6.8, step_latency_us=5.0, bandwidth_efficiency=0.355),
     "all-reduces of 4 GB over 4 x 8 A100, one ring through one 100 Gbit/s adapter: mean bus bandwidth of 160 lines "
     "35.5 Gbit/s (bigscience-workshop/bigscience experiments/bandwidth/all_reduce_bench-a100-n4.txt, 2022-01); no size "
     "but this one: half size of efa-host, where the host also moves the data; latencies as infiniband"),
    ("ethernet", "efa-host", {},
     "no sweep of TCP between nodes is used: efa-host, which also stages through host memory"),
]


def machine_of(instance):
    for key, fabric, network, rate in MACHINES:
        if key in str(instance):
            return fabric, network, rate
    return None


def load(path):
    """Rows that the model claims to describe, with seconds."""
    frame = pd.read_csv(path)
    rows = []
    for r in frame.itertuples():
        where = machine_of(r.instance)
        if where is None or r.library not in ("nccl", "nccl(torch)") or not r.busbw_GBps == r.busbw_GBps:
            continue
        if r.library == "nccl(torch)" and r.collective not in ("all_reduce",):
            if not (r.collective == "alltoall" and r.n_gpus == 8):
                continue  # framework copies; the V100 all-to-all has no better source
        if "A100 pairwise" in r.instance and (r.collective == "sendrecv" or r.n_gpus != 4):
            continue  # pairs ride NVLink, not PCIe; its other node hangs on an unnamed network
        if "H100 pairwise" in r.instance and r.n_gpus != 4:
            continue
        if "V100-32GB" in r.instance and r.n_gpus == 2:
            continue  # which pair (one link or two) is not stated
        if r.collective == "sendrecv" and r.message_bytes < 2**24:
            continue  # kernel time alone, without the call
        if "p6-b200" in r.instance and "stas00" in r.source and r.n_nodes > 1 and r.message_bytes < 2**26:
            continue  # 360 us at any size: four times p5 (69 us), twice p5en on 16 nodes (167 us)
        if "early aws-ofi-nccl" in str(r.notes):
            continue  # first EFA plug-in of 2019
        ranks, nodes, size, notes = r.n_gpus, r.n_nodes, r.message_bytes, str(r.notes)
        if "p5en" in r.instance:
            ranks, nodes = 128, 16  # inferred from busbw/algbw
        if not size == size:
            if "asymptotic" not in notes:
                continue
            size = 8 * 2.0**30  # asymptote of a sweep
        factor = {"all_reduce": 2 * (ranks - 1) / ranks, "all_gather": (ranks - 1) / ranks, "sendrecv": 1,
                  "reduce_scatter": (ranks - 1) / ranks, "alltoall": (ranks - 1) / ranks}[r.collective]
        seconds = r.latency_us * 1e-6 if r.latency_us == r.latency_us else size * factor / (r.busbw_GBps * 1e9)
        if seconds > 1e3 or ("p5en" in r.instance and size < 16):
            continue  # out-of-memory marks of 1e12 us; first sizes of a sweep hold the warm-up
        fabric, network, rate = where
        if network is None and fabric != "nvl72-gb200" and nodes != 1:
            continue
        nodes = 1 if fabric == "nvl72-gb200" else int(nodes)
        ring = "Ring" in notes
        rows.append(dict(fabric=fabric, network=network if nodes > 1 else None, rate=rate * 1e9,
                         collective=r.collective, ranks=int(ranks), nodes=nodes, size=size,
                         seconds=seconds, no_switch=ring, source=str(r.source).split("(")[0].strip()[:60],
                         instance=r.instance))
    return rows


def wire(data, rate, half):
    """Below `half` NCCL's LL protocol sends a flag with each word: half of the rate; far above, all of it."""
    return data / rate * (1 + half / (data + half)) if data > 0 else 0.0


def predict(row, profiles):
    """Seconds of one collective: the mirror of collective_time()."""
    n, nodes, size = row["ranks"], row["nodes"], row["size"]
    g = n // nodes
    f = profiles[row["fabric"]]
    line = FABRIC_RATE.get(row["fabric"], row["rate"] / 1e9 if row["network"] is None else 15.75) * 1e9
    ring_line = MESH_RING[g] * 1e9 if row["fabric"] == "nvlink-mesh-v100" and g > 1 else line
    f_rate, f_half = ring_line * f["bandwidth_efficiency"], f["half_size_mib"] * 2**20
    f_step = f["step_latency_us"] * 1e-6
    base, w, nic, n_half, n_step = f["base_latency_us"] * 1e-6, None, 1.0, 0.0, 0.0
    if nodes > 1:
        w = profiles[row["network"]]
        base, n_step = w["base_latency_us"] * 1e-6, w["step_latency_us"] * 1e-6
        nic = row["rate"] / g
        n_half = w["half_size_mib"] * 2**20
    n_rate = nic * w["bandwidth_efficiency"] if w else 1.0
    kind = row["collective"]
    if kind in ("alltoall", "sendrecv"):  # NCCL sends these in its Simple protocol from 16 KiB up: no ramp
        moved = size if kind == "sendrecv" else size * (g - 1) / n
        inside = wire(moved, line * f["alltoall_efficiency"], 0)
        across = wire(size * (n - g) / n, nic * w["alltoall_efficiency"], 0) if nodes > 1 else 0.0
        return base + (f_step if g > 1 else 0) + (n_step if nodes > 1 else 0) + max(inside, across)
    passes = 2 if kind == "all_reduce" else 1
    data = passes * (n - 1) / n * size
    best = base + passes * ((n - nodes) * f_step + (nodes - 1) * n_step) + max(
        wire(data, f_rate, f_half) if g > 1 else 0, wire(data / g, n_rate, n_half) if nodes > 1 else 0)
    if kind != "all_reduce":
        return best
    switch = f["switch_reduction_efficiency"] if not row["no_switch"] else 0
    inside = wire(size, line * switch, f_half) if switch else wire(2 * (g - 1) / g * size, f_rate, f_half)
    steps = 2 * f_step if switch else 2 * (g - 1) * f_step
    if nodes == 1:
        return min(best, base + steps + inside) if switch else best
    across = wire((1 if nodes == 2 else 2) * size / g, n_rate, n_half)
    return min(best, base + steps + 2 * math.ceil(math.log2(nodes)) * n_step + max(inside, across))


def near(name, relative, profiles):
    """The relative's constants. It takes as long to get up to speed, so that on a faster line the size grows with it."""
    faster = FABRIC_RATE.get(name, 1) / FABRIC_RATE.get(relative, 1)
    return {**profiles[relative], "half_size_mib": profiles[relative]["half_size_mib"] * faster}


def fit(name, prior, rows, profiles):
    mine = [r for r in rows if r["network"] == name or (r["network"] is None and r["fabric"] == name)]
    free = [p for p in PARAMETERS if prior[p] > 0]
    groups = {}
    for r in mine:
        groups.setdefault((r["instance"], r["source"], r["size"] >= 2**20), []).append(r)
    weight = {id(r): math.sqrt(8.0 / len(g)) for g in groups.values() for r in g}

    def unpack(x):
        return {**prior, **{p: prior[p] * math.exp(v) for p, v in zip(free, x)}}

    def residuals(x):
        trial = {**profiles, name: unpack(x)}
        data = [weight[id(r)] * math.log(predict(r, trial) / r["seconds"]) * 5 for r in mine]
        priors = [v / PRIOR_SIGMA[p] for p, v in zip(free, x)]
        return np.array(data + priors)

    upper = [math.log(1.0 / prior[p]) if p.endswith("efficiency") else 6 for p in free]
    bounds = ([-6] * len(free), [max(u, 1e-6) for u in upper])
    solution = least_squares(residuals, [-0.01] * len(free), loss="soft_l1", bounds=bounds)
    return {p: float(f"{v:.3g}") for p, v in unpack(solution.x).items()}, mine


def errors(rows, profiles):
    e = 100 * np.array([abs(predict(r, profiles) / r["seconds"] - 1) for r in rows])
    return (len(e), e.mean(), float(np.median(e))) if len(e) else (0, float("nan"), float("nan"))


def entry(name, p, source):
    return {"fabric": name, "bandwidth_efficiency": p["bandwidth_efficiency"],
            "base_latency_us": p["base_latency_us"], "step_latency_us": p["step_latency_us"],
            "half_size_kib": float(f"{p['half_size_mib'] * 1024:.4g}"),
            "alltoall_efficiency": p["alltoall_efficiency"],
            "switch_reduction_efficiency": p["switch_reduction_efficiency"], "source": source, "as_of": AS_OF}


def write(path, profiles, fitted):
    entries = []
    for name, rows in fitted.items():
        sources = "; ".join(sorted({r["source"].split(":")[0] for r in rows}))
        prior = dict(FITS)[name]
        held = f"what they do not determine is held near {prior if isinstance(prior, str) else NCCL_TUNER}"
        text = f"fit on {len(rows)} points of {sources} (scripts/fit/collectives.py says what is left out); {held}"
        entries.append(entry(name, profiles[name], text))
    for name, relative, changes, why in UNMEASURED:
        entries.append(entry(name, {**profiles[relative], **changes}, why))
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schema": "smplan.catalog/1", "fabric_profiles": entries}, out, indent=2)
        out.write("\n")


def main():
    rows, profiles, fitted = load(sys.argv[1]), {}, {}
    print(f"{'fabric':18}{'large n':>8}{'mean%':>7}{'med%':>7}{'small n':>8}{'mean%':>7}{'med%':>7}   parameters")
    for name, prior in FITS:
        prior = near(name, prior, profiles) if isinstance(prior, str) else dict(prior)
        profiles[name], mine = fit(name, prior, rows, profiles)
        fitted[name] = mine
        large = errors([r for r in mine if r["size"] >= 2**20], profiles)
        small = errors([r for r in mine if r["size"] < 2**20], profiles)
        values = " ".join(f"{profiles[name][p]:g}" for p in PARAMETERS)
        print(f"{name:18}{large[0]:8}{large[1]:7.1f}{large[2]:7.1f}{small[0]:8}{small[1]:7.1f}{small[2]:7.1f}   {values}")
        for source in sorted({r["source"] for r in mine}):
            n, mean, median = errors([r for r in mine if r["source"] == source], profiles)
            print(f"    {source:60} {n:4} {mean:6.1f} {median:6.1f}")
    if len(sys.argv) > 2:
        write(sys.argv[2], profiles, fitted)


if __name__ == "__main__":
    main()
