#!/usr/bin/env python3
"""Fits the accelerator profiles on kernel measurements and prints parameters and errors.

    scripts/fit/kernels.py <kernels.csv> <accelerators.json> [<accelerator_profiles.json> <published.json>]

The third argument is rewritten with the fit, the fourth with the sample of measured points that the
C++ tests check. The formulas are those of models/compute.cpp and models/attention.cpp. Residuals are
log(predicted / measured) under a soft-L1 loss. A family is one silicon; what no kernel measurement
covers takes the fractions of its nearest relative, and its source says so.
"""
import json
import sys

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

AS_OF = "2026-11-20"
# --- formulas, as in models/compute.cpp and models/attention.cpp -----------------------------------
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
                             "sms": a.get("sm_count") or 1, "bw": a["memory_bandwidth_gb_per_s"] * 1e9}
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


# --- fits -------------------------------------------------------------------------------------------
def solve(residual, start, low, high, weights=1.0):
    start, low, high = (np.asarray(x, float) for x in (start, low, high))
    fit = least_squares(lambda x: residual(x) * weights, start, bounds=(low, high), loss="soft_l1", f_scale=0.05,
                        x_scale=np.maximum(start, 1e-3), diff_step=1e-3)
    return fit.x


def fit_stream(rows, hw_of):
    """Bandwidth fraction by GPU and one floor for the GPUs of `rows`, which are one silicon."""
    gpus = list(rows.groupby("gpu").groups)

    def profile(x, gpu):
        return {"memory_efficiency": x[gpus.index(gpu)], "kernel_floor_us": x[-1]}

    def residual(x):
        return np.concatenate([np.log(stream_seconds(r.traffic, hw_of[g], profile(x, g)) / r.t)
                               for g, r in rows.groupby("gpu")])
    n = len(gpus)
    weights = source_weights(pd.concat([r for _, r in rows.groupby("gpu")]))
    x = solve(residual, [0.85] * n + [2], [0.5] * n + [1], [0.98] * n + [10], weights)
    return {g: profile(x, g) for g in gpus}


GEMM_SHAPE = ["gemm_half_k", "gemm_half_tile", "gemm_wave_rounding", "gemm_floor_us"]


def fit_gemm(rows, hw_of, base, dtypes, frozen=None):
    """Efficiency by dtype and, unless frozen, the four shape parameters of a family."""
    def profile(x):
        shape = frozen or dict(zip(GEMM_SHAPE, x[len(dtypes):]))
        eff = dict(zip(dtypes, x))
        eff.setdefault("bf16", eff.get("fp16"))
        return dict(base, gemm_efficiency=eff, **shape)

    def residual(x):
        p = profile(x)
        return np.concatenate([np.log(gemm_predict(r, hw_of[gpu], p) / r.t.values) for gpu, r in rows.groupby("gpu")])
    weights = source_weights(pd.concat([r for _, r in rows.groupby("gpu")]))
    start, low, high = [0.8] * len(dtypes), [0.3] * len(dtypes), [0.98] * len(dtypes)
    if not frozen:
        start, low, high = start + [80, 30, 0.4, 4], low + [0, 0, 0, 2], high + [1000, 120, 1, 10]
    return profile(solve(residual, start, low, high, weights))


def fit_flash(rows, hw_of, dtypes, backward_ratio=None):
    """Rates of one class of kernels. Where only forward + backward was timed, the ratio is given."""
    n = len(dtypes)

    def profile(x):
        forward = dict(zip(dtypes, x[:n]))
        if backward_ratio:
            backward = {d: backward_ratio * v for d, v in forward.items()}
            return {"forward_efficiency": forward, "backward_efficiency": backward,
                    "forward_overhead_keys": x[n], "backward_overhead_keys": x[n], "half_dim": x[n + 1]}
        return {"forward_efficiency": forward, "backward_efficiency": dict(zip(dtypes, x[n:2 * n])),
                "forward_overhead_keys": x[2 * n], "backward_overhead_keys": x[2 * n + 1], "half_dim": x[2 * n + 2]}

    def residual(x):
        p = profile(x)
        return np.concatenate([np.log(flash_predict(r, hw_of[gpu], p) / r.t.values) for gpu, r in rows.groupby("gpu")])
    eff = n if backward_ratio else 2 * n
    over = 1 if backward_ratio else 2
    x = solve(residual, [0.5] * eff + [150] * over + [30], [0.05] * eff + [0] * (over + 1),
              [0.9] * eff + [1500] * over + [400])
    return profile(x)


def fit_unfused(rows, hw_of, profiles):
    """Bytes per score, forward and backward, beyond what the six GEMMs move: without and with a mask."""
    def seconds(x):
        out = []
        for gpu, r in rows.groupby("gpu"):
            hw, p, bh = hw_of[gpu], profiles[gpu], r.b * r.h
            shapes = [(r.s, r.s, r.dq), (r.s, r.dq, r.s)] * 3
            gemms = sum(gemm_seconds(m, n, k, "fp16", hw, p, bh) for m, n, k in shapes)
            scores = bh * r.s**2 * np.where(r.causal == 1, x[1], x[0])
            out.append(pd.Series(gemms + stream_seconds(scores, hw, p), r.index))
        return pd.concat(out)
    ordered = rows.loc[seconds([10, 10]).index]
    x = solve(lambda x: np.log(seconds(x) / ordered.t), [15, 25], [1, 1], [80, 80])
    return x, ordered.assign(predicted=seconds(x))


# --- families ---------------------------------------------------------------------------------------
FA1_BACKWARD = 0.88  # backward / forward rate; FlashAttention-2 on H100, where both were timed
# accelerator -> (nearest relative, why); the relative's fractions apply to the accelerator's own peaks
RELATIVES = {
    "T4": ("V100-32GB", "as V100, the previous generation of the same tensor core; throttling at 70 W is not measured"),
    "L4": ("A40", "as A40, the same SM layout a generation earlier; throttling at 72 W is not measured"),
    "L40S": ("A40", "as A40, the same SM layout a generation earlier"),
    "RTX-PRO-6000": ("A40", "as A40, the same SM layout two generations earlier"),
    "H100-96GB-HBM2e-500W": ("H100-80GB", "H100 with matrix rates x 0.82: what 500 W leave of the rates of 700 W in "
                                          "training (pytorch/torchtitan against NVIDIA and Mosaic runs)"),
}
POWER_FACTOR = {"H100-96GB-HBM2e-500W": 0.82}
NEURON = ["Trainium1", "Trainium2", "Trainium3"]
NEURON_NOTE = ("prior, no kernel is measured: GEMM and memory fractions of A100 without wave rounding; attention as "
               "FlashAttention-2 on H100, a part that it was not written for")
A10G_BURN = 67.1e12  # FLOP/s of 8192^3 under gpu-burn, public log 59916716275


def fit_streams(t, hw_of, report):
    rows = stream_rows(t, hw_of)
    base = {}
    for _, r in rows.groupby(rows.gpu.replace({"H100-80GB": "Hopper", "H200": "Hopper"})):
        base.update(fit_stream(r, hw_of))
    report.append(rows.assign(predicted=pd.concat(
        [stream_seconds(r.traffic, hw_of[g], base[g]) for g, r in rows.groupby("gpu")])))
    base["B200"], base["B300"] = base["GB200"], base["GB300"]
    for key in ("A100-40GB", "V100-16GB", "V100-32GB"):
        base[key] = base["A100-80GB"]
    return base


def fit_gemms(t, hw_of, base, report):
    g = gemm_rows(t)
    fits, points = {}, {}
    for members, dtypes in ((["A100-80GB", "A100-40GB"], ["fp16"]), (["H100-80GB", "H200"], ["fp16", "fp8"]),
                            (["A40"], ["fp16"]), (["V100-32GB", "V100-16GB"], ["fp16"])):
        rows = g[g.gpu.isin(members)]
        fit = fit_gemm(rows, hw_of, base[members[0]], dtypes)
        for key in members:
            fits[key], points[key] = dict(fit, **base[key]), len(rows)
    # Blackwell: only best shapes are known. A best shape beats the fit of the families with whole
    # sweeps by a factor, which is taken off the anchors.
    best = g[(g.src == "stas00/ml-engineering") & (g.dtype == "bf16")]
    lead = np.mean([gemm_predict(r, hw_of[k], fits[k])[0] / r.t.values[0]
                    for k, r in best[best.gpu.isin(["A100-80GB", "H100-80GB"])].groupby("gpu")])
    for key in ("B200", "B300", "GB200"):
        shape = {name: fits["H100-80GB"][name] for name in GEMM_SHAPE}
        rows = g[g.gpu == key].copy()
        rows["t"] *= lead
        fits[key] = fit_gemm(rows, hw_of, base[key], ["bf16", "fp8"], shape)
        points[key] = len(rows)
    fits["GB300"], points["GB300"] = dict(fits["GB200"], **base["GB300"]), points["GB200"]
    report.append(g.assign(predicted=pd.concat(
        [pd.Series(gemm_predict(r, hw_of[k], fits[k]), r.index) for k, r in g.groupby("gpu")])))
    print(f"best shapes beat the fit by {lead - 1:.1%}")
    return fits, points


def fit_a10g(relative, base, hw):
    """Half of A40's tensor rate on the same SMs: shape as A40, level from the one GEMM known of it."""
    row = pd.DataFrame([{"gpu": "A10G", "src": "burn", "kind": "gemm", "dtype": "fp16", "m": 8192, "n": 8192, "k": 8192,
                         "t": 2 * 8192**3 / A10G_BURN}])
    return fit_gemm(row, {"A10G": hw}, base, ["fp16"], {name: relative[name] for name in GEMM_SHAPE})


def fit_attention(t, hw_of, report):
    """Classes of fused kernels: first generation, FlashAttention-2, and what the vendor ships."""
    a = attention_rows(t)
    # Windows of 128 keys on Blackwell: fp8 backward computes the whole triangle, the rest is start-up.
    a = a[~((a.window > 0) & a.gpu.str.startswith("GB"))]
    half, wide = ["fp16"], ["bf16", "fp8"]
    classes = {"first": ("A100-80GB", "FlashAttention-1", half, FA1_BACKWARD),
               "A100": ("A100-80GB", "FlashAttention-2", half, FA1_BACKWARD),
               "H100": ("H100-80GB", "FlashAttention-2", half, None),
               "H200-vendor": ("H200", "cudnn sdpa", wide, None),
               "GB200-vendor": ("GB200", "cudnn sdpa", wide, None),
               "GB300-vendor": ("GB300", "cudnn sdpa", wide, None)}
    fits, points = {}, {}
    for name, (gpu, library, dtypes, ratio) in classes.items():
        rows = a[(a.gpu == gpu) & (a.library == library)]
        fits[name] = fit_flash(rows, hw_of, dtypes, ratio)
        points[name] = len(rows)
        report.append(rows.assign(predicted=flash_predict(rows, hw_of[gpu], fits[name])))
    return fits, points, a[a.library == "PyTorch standard attention"]


# --- profiles ---------------------------------------------------------------------------------------
def spread(fractions, peaks, scale=1.0):
    """Fractions by dtype for every dtype that the part has: 16-bit formats are alike, fp4 follows fp8,
    and fp32 and tf32 follow the 16-bit fraction (same tiles, same caches)."""
    wide = fractions.get("bf16", fractions.get("fp16"))
    eight = fractions.get("fp8", wide)
    pick = {"fp32": wide, "tf32": wide, "fp16": wide, "bf16": wide, "fp8": eight, "fp4": eight}
    return {d: float(f"{scale * pick[d]:.4g}") for d in pick if d in peaks}


def attention_json(fit, peaks, scale=1.0):
    out = {k: spread(fit[k], peaks, scale) for k in ("forward_efficiency", "backward_efficiency")}
    for k in ("forward_overhead_keys", "backward_overhead_keys", "half_dim"):
        out[k] = float(f"{fit[k]:.4g}") if fit[k] > 1e-3 else 0.0
    return out


def profile_json(key, gemm, flash2, vendor, hw, source):
    scale, peaks = POWER_FACTOR.get(key, 1.0), hw["peak"]
    out = {"accelerator": key, "gemm_efficiency": spread(gemm["gemm_efficiency"], peaks, scale)}
    for name in GEMM_SHAPE + ["memory_efficiency", "kernel_floor_us"]:
        out[name] = float(f"{gemm[name]:.4g}")
    out["flash2"], out["vendor_attention"] = attention_json(flash2, peaks, scale), attention_json(vendor, peaks, scale)
    return dict(out, source=source + " (scripts/fit/kernels.py)", as_of=AS_OF)


def scaled_attention(fit, factor):
    return dict(fit, **{k: {d: v * factor for d, v in fit[k].items()}
                        for k in ("forward_efficiency", "backward_efficiency")})


def build_profiles(hw_of, gemms, gemm_points, flash, flash_points):
    first, ampere, hopper = flash["first"], flash["A100"], flash["H100"]
    # FlashAttention-2 has no Blackwell instructions: what an SM does on H100, on its own peak.
    def hopper_rate(key):
        a, b = hw_of["H100-80GB"], hw_of[key]
        return scaled_attention(hopper, a["peak"]["fp16"] / a["sms"] * b["sms"] / b["peak"]["fp16"])
    sources = {"A": "microsoft/vidur@7d47513, Azure/AI-benchmarking-guide@8fd0c6e, eth-easl/sailor@cf2c8e3, "
                    "stas00/ml-engineering@744d01e",
               "V": "microsoft/SuperScaler@fa80ad0, eth-easl/sailor@cf2c8e3", "B": "stas00/ml-engineering@744d01e"}
    dao, cudnn = "Dao-AILab/flash-attention figures", "NVIDIA/cudnn-frontend@3929da2"
    out = []

    def add(key, source, f2, vendor, fit_key=None):
        out.append(profile_json(key, gemms[fit_key or key], f2, vendor, hw_of[key], source))
    first_note = (f"first-generation fused attention, the only one there, from {flash_points['first']} points of "
                  f"{dao} (A100)")
    for key in ("V100-16GB", "V100-32GB"):
        add(key, f"GEMM fit on {gemm_points[key]} points of {sources['V']}; memory as A100; {first_note}", first, first)
    for key in ("A100-40GB", "A100-80GB"):
        add(key, f"GEMM fit on {gemm_points[key]} points of {sources['A']}; attention on {flash_points['A100']} points "
                 f"of {dao}; vendor attention as FlashAttention-2", ampere, ampere)
    vendor = f"vendor attention on {flash_points['H200-vendor']} points of {cudnn} (H200)"
    for key in ("H100-80GB", "H200"):
        add(key, f"GEMM fit on {gemm_points[key]} points of {sources['A']} (H100 and H200); FlashAttention-2 on "
                 f"{flash_points['H100']} points of {dao} (H100); {vendor}", hopper, flash["H200-vendor"])
    for key, klass in (("B200", "GB200"), ("GB200", "GB200"), ("B300", "GB300"), ("GB300", "GB300")):
        add(key, f"GEMM shape as H100, level from best shapes of {sources['B']}"
            f"{' (GB200)' if key == 'GB300' else ''}; vendor attention on {flash_points[klass + '-vendor']} points of {cudnn} ({klass}); FlashAttention-2 as "
            "H100, by SM", hopper_rate(key), flash[klass + "-vendor"])
    # Attention on GA102 and its successors: A100's, in proportion to what GEMMs reach.
    level = {key: gemms[key]["gemm_efficiency"]["fp16"] for key in ("A40", "A100-80GB")}
    ada = scaled_attention(ampere, level["A40"] / level["A100-80GB"])
    add("A40", f"GEMM fit on {gemm_points['A40']} points of microsoft/vidur@7d47513; attention as A100 in proportion "
               "to GEMM", ada, ada)
    add("A10G", "GEMM shape as A40, level from gpu-burn (public log 59916716275); memory from awstip.com 2026-01-19 "
                "(g5.12xlarge); attention as A40",
        ada, ada)
    for key, (relative, note) in RELATIVES.items():
        f2 = {"V100-32GB": first, "A40": ada, "H100-80GB": hopper}[relative]
        add(key, note, f2, flash["H200-vendor"] if relative == "H100-80GB" else f2, relative)
    for key in NEURON:
        gemms[key] = dict(gemms["A100-80GB"], gemm_wave_rounding=0.0)
        add(key, NEURON_NOTE, hopper, hopper)
    return out


# --- reports ----------------------------------------------------------------------------------------
def print_errors(rows):
    rows = rows.assign(error=rows.predicted / rows.t - 1)
    print(f"{'kind':18s} {'gpu':10s} {'dtype':5s} {'library/source':28s} {'n':>4s} mean% median%  bias%")
    rows["from"] = np.where(rows.kind.str.startswith("flash"), rows.library, rows.src)
    for (kind, gpu, dtype, name), r in rows.groupby(["kind", "gpu", "dtype", "from"]):
        e = 100 * r.error
        print(f"{kind:18s} {gpu:10s} {dtype:5s} {name[:28]:28s} {len(r):4d} {e.abs().mean():5.1f} "
              f"{e.abs().median():7.1f} {e.mean():6.1f}")
    for kind, r in rows.groupby(rows.kind.str.split("_").str[0]):
        print(f"all {kind:14s} {len(r):5d} points: mean {100 * r.error.abs().mean():.1f} %, "
              f"median {100 * r.error.abs().median():.1f} %")


def sample(rows, per_group=4):
    """A few points of every (kind, gpu, dtype, library), evenly spread over their times. First-generation
    attention is no class of its own in the profiles of A100."""
    rows = rows[rows.library != "FlashAttention-1"]
    out = []
    for _, r in rows.groupby(["kind", "gpu", "dtype", np.where(rows.kind == "gemm", rows.src, rows.library)]):
        r = r.sort_values(["t", "m", "s"])
        for i in np.unique(np.linspace(0, len(r) - 1, min(per_group, len(r))).round().astype(int)):
            x = r.iloc[i]
            point = {"kind": x.kind, "gpu": x.gpu, "time_us": float(f"{x.t * 1e6:.6g}"), "source": x.source}
            if x.kind == "gemm":
                point.update(dtype=x["dtype"], m=int(x.m), n=int(x.n), k=int(x.k))
            elif x.kind.startswith("flash"):
                point.update(dtype=x["dtype"], library=x.library, batch=int(x.b), heads=int(x.h), seq=int(x.s),
                             head_dim=int(x.dq), value_dim=int(x.dv), causal=bool(x.causal), window=int(x.window))
            else:
                point.update(bytes=int(x.traffic))
            out.append(point)
    return out


def dump(path, head, name, items):
    with open(path, "w") as f:
        f.write("{\n" + "".join(f'  "{k}": {json.dumps(v)},\n' for k, v in head.items()) + f'  "{name}": [\n')
        f.write(",\n".join("    " + json.dumps(x) for x in items) + "\n  ]\n}\n")


def main():
    hw_of = load_hardware(sys.argv[2])
    t = load(sys.argv[1], hw_of)
    report = []
    base = fit_streams(t, hw_of, report)
    gemms, gemm_points = fit_gemms(t, hw_of, base, report)
    gemms["A10G"] = fit_a10g(gemms["A40"], base["A10G"], hw_of["A10G"])
    flash, flash_points, standard = fit_attention(t, hw_of, report)
    unfused, rows = fit_unfused(standard, hw_of, gemms)
    report.append(rows)
    profiles = build_profiles(hw_of, gemms, gemm_points, flash, flash_points)
    for p in profiles:
        print(json.dumps({k: v for k, v in p.items() if k not in ("source", "as_of")}))
    print("unfused attention, bytes per score forward + backward: %.1f, with a mask %.1f" % tuple(unfused))
    rows = pd.concat(report, ignore_index=True)
    print_errors(rows)
    if len(sys.argv) > 4:
        dump(sys.argv[3], {"schema": "smplan.catalog/1"}, "accelerator_profiles", profiles)
        dump(sys.argv[4], {"as_of": AS_OF}, "points", sample(rows))


if __name__ == "__main__":
    main()
