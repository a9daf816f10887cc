"""Formulas of models/machine/compute.cpp and models/machine/attention.cpp, vectorised, and the measured kernels in
their terms. Used by scripts/fit/kernels.py only."""
import json

import numpy as np
import pandas as pd

# --- formulas, as in models/machine/compute.cpp and models/machine/attention.cpp -----------------------------------
TILES = np.array([(256, 128), (128, 256), (128, 128), (128, 64), (64, 128), (64, 64)], float)
SPLITS = np.array([1, 2, 4, 8], float)
K_STEP = 64  # elements of k that one main-loop step consumes
SPLIT_BYTES = 4  # fp32 partials, written and read through L2 at twice the DRAM rate
EDGE_KEYS = 64  # half of a 128-key block on each masked edge
BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "fp4": 0.5}


def gemm_seconds(m, n, k, dtype, hw, p, batch=1):
    """Tiles in waves over the SMs against DRAM traffic, plus a floor. m, n, k, batch: numbers or arrays."""
    peak, sms, bw = hw["peak"][dtype] * p["gemm_efficiency"][dtype], hw["sms"], hw["bw"] * p["memory_efficiency"]
    arrays = np.broadcast_arrays(*map(np.atleast_1d, (m, n, k, batch)))
    m, n, k, batch = (x.astype(float)[:, None, None] for x in arrays)
    tm, tn, s = TILES[None, :, :1], TILES[None, :, 1:], SPLITS[None, None, :]
    load = batch * np.ceil(m / tm) * np.ceil(n / tn) * s / sms
    rounding, half = p["gemm_wave_rounding"], p["gemm_half_tile"] / 2
    waves = rounding * np.ceil(load) + (1 - rounding) * np.maximum(load, 1)
    depth = np.ceil(k / s / K_STEP) * K_STEP + p["gemm_half_k"]
    tile_eff = (1 + half * 3 / 256) / (1 + half * (1 / tm + 1 / tn))
    reduce = np.where(s > 1, s * SPLIT_BYTES * batch * m * n / bw, 0)
    compute = (waves * 2 * tm * tn * depth * sms / (peak * tile_eff) + reduce).min(axis=(1, 2))
    out = max(BYTES[dtype], 2)  # 8- and 4-bit products are written in 16 bits
    memory = (batch * (BYTES[dtype] * (m * k + k * n) + out * m * n))[:, 0, 0] / bw
    return (compute**4 + memory**4) ** 0.25 + p["gemm_floor_us"] * 1e-6


def stream_seconds(traffic, hw, p):
    return traffic / (hw["bw"] * p["memory_efficiency"]) + p["kernel_floor_us"] * 1e-6


def flash_seconds(r, which, dtype, hw, a):
    """One pass of fused attention. r: columns b, h, s, dq, dv, causal, window."""
    causal = r.causal == 1
    keys = np.where(causal, (r.s + 1) / 2, r.s)
    inside = np.where(causal, r.window - r.window * (r.window - 1) / (2 * r.s), r.window)
    keys = np.where((r.window > 0) & (r.window < r.s), inside, keys)
    keys = keys + EDGE_KEYS * (causal.astype(int) + (r.window > 0)) + a[which + "_overhead_keys"]
    per_pair = 2 * (r.dq + r.dv) if which == "forward" else 2 * (3 * r.dq + 2 * r.dv)
    dim = (r.dq + r.dv) / 2
    narrow = np.maximum(1, (1 + a["half_dim"] / dim) / (1 + a["half_dim"] / 128))
    fill = np.minimum(1, r.b * r.h * np.ceil(r.s / 128) / hw["sms"])
    rate = hw["peak"][dtype] * a[which + "_efficiency"][dtype]
    return r.b * r.h * r.s * keys * per_pair * narrow / (rate * fill)


# --- measurements -----------------------------------------------------------------------------------
NAMES = {"A100-80GB-SXM": "A100-80GB", "A100-40GB-SXM": "A100-40GB", "H100-80GB-SXM": "H100-80GB",
         "V100-16GB-SXM": "V100-16GB", "V100-32GB-SXM": "V100-32GB"}


def load(path, hw_of):
    t = pd.read_csv(path)
    t["gpu"] = t.gpu.replace(NAMES)
    t = t[t.gpu.isin(hw_of)].copy()
    t["src"] = t.source.str.split("@").str[0].str.split(":").str[0].str.split(" ").str[0]
    t["notes"] = t.notes.fillna("")
    t["dtype"] = t.dtype.replace({"mxfp8": "fp8"}).fillna("")
    return t


def load_hardware(path):
    """Data-sheet rates of the catalog; parts without SM count are one big SM (no wave effect)."""
    out = {}
    for a in json.load(open(path))["accelerators"]:
        if a["peak_tflops"]:
            out[a["key"]] = {"peak": {d: v * 1e12 for d, v in a["peak_tflops"].items()},
                             "sms": a.get("sm_count") or 1, "bw": a["memory_bandwidth_gb_per_s"] * 1e9,
                             "architecture": a["architecture"]}
    return out


def gemm_rows(t):
    """GEMMs of known GPUs. Of framework-level operations only forwards that are a GEMM and little else:
    attention-qkv copies layouts too, and below 0.3 ms the framework's launch is what was timed."""
    g = t[(t.kind == "gemm") & ~t.src.str.contains("Eleuther")].copy()
    g["t"] = np.where(g.time_us.notna(), g.time_us * 1e-6, 2 * g.m * g.n * g.k / (g.tflops * 1e12))
    framework = g.src.str.contains("SuperScaler|sailor")
    return g[~(framework & (g.notes.str.contains("qkv|backward") | (g.t < 300e-6)))]


def source_weights(rows):
    """A source weighs as 60 points at least, so that long sweeps do not drown the tuned anchors."""
    n = rows.groupby(["gpu", "src", "dtype", "kind"]).t.transform("size")
    return np.sqrt(np.maximum(1, 60 / n)).values


def gemm_predict(g, hw, p):
    out = np.empty(len(g))
    for dtype in g.dtype.unique():
        i = (g.dtype == dtype).values
        out[i] = gemm_seconds(g.m[i], g.n[i], g.k[i], dtype, hw, p)
    return out


def stream_rows(t, hw_of):
    """Device copies and forward norms by cuDNN: residual add 3 streams, copy and RMSNorm 2. Rates printed
    without a size are BabelStream's, over arrays of 256 MiB. What ran faster than DRAM ran in L2: left out."""
    c = t[(t.kind == "hbm_copy") & t.time_us.notna() & t.m.notna()].copy()
    c["traffic"] = np.where(c.gpu == "A10G", 8 * c.m, 6 * c.m * c.n)
    c["t"] = c.time_us * 1e-6
    n = t[(t.kind == "norm_fwd") & (t.library == "cudnn rms_norm")].copy()
    n["traffic"] = 4 * n.m * n.n
    n["t"] = n.traffic / (n.GBps * 1e9)
    b = t[t.kind.isin(["hbm_copy", "hbm_mul", "hbm_add", "hbm_triad", "hbm_dot"]) & t.src.str.contains("Azure")].copy()
    b["traffic"] = np.where(b.kind.isin(["hbm_add", "hbm_triad"]), 3, 2) * 2.0**28
    b["t"] = b.traffic / (b.GBps * 1e9)
    rows = pd.concat([c, n, b.assign(kind="hbm_stream")])
    return rows[rows.traffic / rows.t < rows.gpu.map(lambda g: hw_of[g]["bw"])]


def attention_rows(t):
    a = t[t.kind.str.startswith("flash_attn") & t.seq.notna() & ~t.src.str.contains("Azure")].copy()
    dims = a.head_dim.astype(str).str.split("/")
    a["dq"], a["dv"] = dims.str[0].astype(float), dims.str[-1].astype(float)
    dao = a.src.str.contains("Dao")  # bar labels: batch * seq = 16384, hidden 2048
    a["s"] = a.seq
    a["b"] = np.where(dao, 16384 / a.seq, a.batch)
    a["h"] = np.where(dao, 2048 / a.dq, a.heads)
    a["window"] = pd.to_numeric(a.notes.str.extract(r"window (\d+)")[0]).fillna(0)
    passes = a.kind.map({"flash_attn_fwd": 1, "flash_attn_bwd": 2.5, "flash_attn_fwdbwd": 3.5})
    flops = 4 * a.b * a.h * a.s**2 * a.dq * np.where(a.causal == 1, 0.5, 1) * passes
    a["t"] = np.where(a.time_us.notna(), a.time_us * 1e-6, flops / (a.tflops * 1e12))
    return a


def flash_predict(a, hw, p):
    out = np.empty(len(a))
    for dtype in a.dtype.unique():
        i = (a.dtype == dtype).values
        forward, backward = (flash_seconds(a[i], w, dtype, hw, p) for w in ("forward", "backward"))
        kind = a.kind[i]
        out[i] = np.where(kind == "flash_attn_fwd", forward, np.where(kind == "flash_attn_bwd", backward,
                                                                      forward + backward))
    return out
