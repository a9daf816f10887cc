#!/usr/bin/env python3
"""Fits the accelerator profiles on kernel measurements and prints parameters and errors.

    scripts/fit/kernels.py <kernels.csv> <accelerators.json> [<accelerator_profiles.json> <published.json>]

The third argument is rewritten with the fit, the fourth with the sample of measured points that the
C++ tests check. The formulas are those of models/machine/compute.cpp and models/machine/attention.cpp. Residuals are
log(predicted / measured) under a soft-L1 loss. A family is one silicon; what no kernel measurement
covers takes the fractions of its nearest relative, and its source says so.
"""
import json
import sys

import numpy as np
import pandas as pd
from kernel_formulas import (attention_rows, flash_predict, gemm_predict, gemm_rows, gemm_seconds, load, load_hardware,
                             source_weights, stream_rows, stream_seconds)
from scipy.optimize import least_squares

AS_OF = "2026-11-20"


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
    "L4": ("A40", "as A40, the same SM layout a generation earlier"),
    "L40S": ("A40", "as A40, the same SM layout a generation earlier"),
    "RTX-PRO-6000": ("A40", "as A40, the same SM layout two generations earlier"),
    "H100-96GB-HBM2e-500W": ("H100-80GB", "as H100, the same silicon"),
    "V100-16GB-PCIe": ("V100-32GB", "as V100 SXM2"),
    "V100-32GB-PCIe": ("V100-32GB", "as V100 SXM2"),
    "TITAN-RTX": ("V100-32GB", "as V100, the previous generation of the same tensor core"),
    "RTX-2080-Ti": ("V100-32GB", "as V100, the previous generation of the same tensor core"),
    "A100-40GB-PCIe": ("A100-80GB", "A100 with matrix rates x 0.93, the ratio of the best products of both "
                                    "(stas00/ml-engineering@744d01e)"),
    "A100-80GB-PCIe": ("A100-80GB", "A100 with matrix rates x 0.93, the ratio of the best products of both "
                                    "(stas00/ml-engineering@744d01e)"),
    "A800-80GB": ("A100-80GB", "as A100, which it is but for NVLink"),
    "A30": ("A100-80GB", "as A100, half of the same silicon"),
    "A10": ("A40", "as A40, the same silicon; throttling at 150 W is not measured"),
    "RTX-A6000": ("A40", "as A40, the same silicon"),
    "RTX-3090": ("A10G", "as A10G, the same silicon at half of A40's tensor rate too"),
    "RTX-4090": ("A10G", "as A10G, the same SM layout a generation earlier, at half of its tensor rate too"),
    "L40": ("A40", "as A40, the same SM layout a generation earlier"),
    "RTX-6000-Ada": ("A40", "as A40, the same SM layout a generation earlier"),
    "H100-80GB-PCIe": ("H100-80GB", "H100 with matrix rates x 0.85: NVIDIA gives the card 65 % of the module's speed, "
                                    "its data sheet 76 % of the rate (H100 whitepaper)"),
    "H100-94GB-NVL": ("H100-80GB", "as H100 PCIe, whose watts for a FLOP/s it has"),
    "H800-80GB": ("H100-80GB", "as H100, which it is but for NVLink"),
    "H20-96GB": ("H100-80GB", "as H100"),
    "GH200-96GB": ("H100-80GB", "as H100, the same silicon"),
    "GH200-144GB": ("H100-80GB", "as H100, the same silicon"),
    "MI300X": ("A100-80GB", "A100 with matrix rates x 0.59, the ratio of what the best products of both reach of their "
                            "data sheets (stas00/ml-engineering@744d01e); nothing else of it is measured"),
    "MI325X": ("A100-80GB", "A100 with matrix rates x 0.69, the ratio of what the best products of both reach of their "
                            "data sheets (stas00/ml-engineering@744d01e); nothing else of it is measured"),
    "MI355X": ("A100-80GB", "A100 with matrix rates x 0.72, the ratio of what the best products of both reach of their "
                            "data sheets (stas00/ml-engineering@744d01e); nothing else of it is measured"),
}
MATRIX_FACTOR = {"A100-40GB-PCIe": 0.93, "A100-80GB-PCIe": 0.93, "H100-80GB-PCIe": 0.85,
                "H100-94GB-NVL": 0.85, "MI300X": 0.59, "MI325X": 0.69, "MI355X": 0.72}
# What a device of a 4 nm process draws for a 16-bit FLOP in training, all of it counted. Told by training runs on seven
# devices between 0.44 and 0.71 W per peak TFLOP/s: with this one figure all of them sustain within 5 % of what their
# kernel timings and power caps give. H100's cap does not bind below 0.93.
PJ_PER_FLOP = 0.92
FOUR_NM = ("Hopper", "Ada", "Blackwell")
OWN_POWER = ("H100-80GB-PCIe", "H100-94GB-NVL")  # slower clocks at less voltage; MATRIX_FACTOR has what is published
# Products in fp32 run outside the tensor cores, which starve before the CUDA cores do: BERT in fp32 on V100 (runs
# nvb-033 and nvb-035 of NVIDIA/DeepLearningExamples) takes 1.3 times less than at the tensor cores' fraction.
CUDA_CORE_EFFICIENCY = 0.9
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
    for name in ("GB200-vendor", "GB300-vendor"):  # no full-attention point under head_dim 128 there
        fits[name]["half_dim"] = fits["H200-vendor"]["half_dim"]
    return fits, points, a[a.library == "PyTorch standard attention"]


# --- profiles ---------------------------------------------------------------------------------------
def spread(fractions, peaks, scale=1.0, fp32=None):
    """Fractions by dtype for every dtype that the part has: 16-bit formats are alike, fp4 follows fp8,
    and fp32 and tf32 follow the 16-bit fraction (same tiles, same caches) unless `fp32` is given."""
    wide = fractions.get("bf16", fractions.get("fp16"))
    eight = fractions.get("fp8", wide)
    pick = {"fp32": fp32 or wide, "tf32": wide, "fp16": wide, "bf16": wide, "fp8": eight, "fp4": eight}
    return {d: float(f"{scale * pick[d]:.4g}") for d in pick if d in peaks}


def attention_json(fit, peaks, scale=1.0):
    out = {k: spread(fit[k], peaks, scale) for k in ("forward_efficiency", "backward_efficiency")}
    for k in ("forward_overhead_keys", "backward_overhead_keys", "half_dim"):
        out[k] = float(f"{fit[k]:.4g}") if fit[k] > 1e-3 else 0.0
    return out


def profile_json(key, gemm, flash2, vendor, hw, source):
    scale, peaks = MATRIX_FACTOR.get(key, 1.0), hw["peak"]
    out = {"accelerator": key, "gemm_efficiency": spread(gemm["gemm_efficiency"], peaks, scale,
                                                           fp32=None if key in NEURON else CUDA_CORE_EFFICIENCY)}
    for name in GEMM_SHAPE + ["memory_efficiency", "kernel_floor_us"]:
        out[name] = float(f"{gemm[name]:.4g}")
    if hw["architecture"].startswith(FOUR_NM) and key not in OWN_POWER:
        out["energy_per_flop_pj"] = PJ_PER_FLOP
    out["flash2"], out["vendor_attention"] = attention_json(flash2, peaks, scale), attention_json(vendor, peaks, scale)
    return dict(out, source=source + " (scripts/fit/kernels.py)", as_of=AS_OF)


# Time of attention in PyTorch on Blackwell beside the vendor's benchmark of the same kernels.
TORCH_ON_BLACKWELL = 1.42


def scaled_attention(fit, factor):
    return dict(fit, **{k: {d: v * factor for d, v in fit[k].items()}
                        for k in ("forward_efficiency", "backward_efficiency")})


def bound_by_tensor_cores(hw, reference, issued, bound):
    """Whether what an SM issues suffices for its tensor cores, which on H100 wait for it at 0.35 of their peak.

    Peaks in fp32 grow with SMs and clock as issue does, so that fewer 16-bit FLOPs beside them wait less. `bound` is what
    tensor cores reach that nothing else holds up (A100).
    """
    beside = [card["peak"]["fp16"] / card["peak"]["fp32"] for card in (reference, hw)]
    return issued["forward_efficiency"]["fp16"] * beside[0] / beside[1] >= bound["forward_efficiency"]["fp16"]


def build_profiles(hw_of, gemms, gemm_points, flash, flash_points):
    first, ampere, hopper = flash["first"], flash["A100"], flash["H100"]
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
            f"{' (GB200)' if key == 'GB300' else ''}; vendor attention on {flash_points[klass + '-vendor']} points of "
            f"{cudnn} ({klass}), head_dim 64 as H200; PyTorch runs the vendor's through layouts of its own: "
            f"{TORCH_ON_BLACKWELL} times slower in five runs of 16k to 262k tokens (tests/measured/runs/finetune_misc.csv, "
            "ft-026 to ft-034)",
            scaled_attention(flash[klass + "-vendor"], 1 / TORCH_ON_BLACKWELL), flash[klass + "-vendor"])
    # Attention on GA102 and its successors: A100's, in proportion to what GEMMs reach.
    level = {key: gemms[key]["gemm_efficiency"]["fp16"] for key in ("A40", "A100-80GB")}
    ada = scaled_attention(ampere, level["A40"] / level["A100-80GB"])
    add("A40", f"GEMM fit on {gemm_points['A40']} points of microsoft/vidur@7d47513; attention as A100 in proportion "
               "to GEMM", ada, ada)
    add("A10G", "GEMM shape as A40, level from gpu-burn (public log 59916716275); memory from awstip.com 2026-01-19 "
                "(g5.12xlarge); attention as A40",
        ada, ada)
    for key, (relative, note) in RELATIVES.items():
        f2 = {"V100-32GB": first, "A100-80GB": ampere, "A40": ada, "A10G": ada, "H100-80GB": hopper}[relative]
        if relative == "H100-80GB" and bound_by_tensor_cores(hw_of[key], hw_of[relative], hopper, ampere):
            f2 = ampere
            unhindered = gemms["A10G"]["gemm_efficiency"]["fp16"]
            gemms[key] = dict(gemms[relative], gemm_efficiency={d: unhindered for d in gemms[relative]["gemm_efficiency"]})
            note += ("; where an SM feeds its tensor cores faster than they compute: products as A10G, "
                     "FlashAttention-2 as A100")
            relative = key
        add(key, note, f2, flash["H200-vendor"] if relative in ("H100-80GB", key) else f2, relative)
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


def sample(rows):
    """Points of every (kind, gpu, dtype, library) at even quantiles of their times. First-generation
    attention is no class of its own in the profiles of A100."""
    rows = rows[rows.library != "FlashAttention-1"]
    out = []
    for _, r in rows.groupby(["kind", "gpu", "dtype", np.where(rows.kind == "gemm", rows.src, rows.library)]):
        r = r.sort_values(["t", "m", "s"])
        count = min(len(r), 16 if len(r) > 500 else 4)
        for i in ((np.arange(count) + 0.5) / count * len(r)).astype(int):
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
