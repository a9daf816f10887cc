"""NVIDIA's performance recipes of NeMo and Megatron-Bridge (NVIDIA-NeMo/Megatron-Bridge 0.2.0 to 0.6.0,
scripts/performance/configs and src/megatron/bridge/recipes; NVIDIA/NeMo, scripts/performance)."""

import hardware
from row import Row

NODE = 8  # GPUs of one NVLink domain, where that is no rack
FEBRUARY_2026, JUNE_2026, AUGUST_2026 = 2602, 2606, 2608
TODAY = 2607  # cards of the main branch, of the month that profiles are of (catalogs/stack_profile.hpp)
ROOMY_GIB, TIGHT_GIB = 250.0, 100.0


def _release(row: Row) -> int:
    """`container 26.04` is 2604; 0 where none is named."""
    if row.count("software_release"):
        return row.count("software_release")
    named = row.notes.release_after("container ") or row.notes.release_after("container nemo ")
    return named or (TODAY if row.notes.say("items/pretrain") else 0)


def _is_performance_recipe(row: Row) -> bool:
    return row.notes.say("container 2", "container nemo 2", "items/pretrain")


def _latent(row: Row) -> bool:
    return bool(row.architecture.get("latent"))


def _expert_bias(row: Row) -> bool:
    return bool(row.architecture.get("moe", {}).get("expert_bias"))


def _is_hybrid(row: Row) -> bool:
    return bool(row.architecture.get("state"))


def _runs_as_one_graph(row: Row, release: int) -> bool:
    """MXFP8 recipes of mixtures run forward and backward as one CUDA graph with fused products of experts and overlapped
    exchange: on Grace Blackwell from container 26.06, on Blackwell from 26.08 (Megatron-Bridge 0.5.1 notes). Kimi's and
    those of hybrids do not (configs/kimi and nemotronh, 0.5.0 and 0.5.1)."""
    if not release or row.typed.get("dtype") != "fp8" or row.model_name.startswith("kimi") or _is_hybrid(row):
        return False
    if not row.silicon.startswith("Blackwell"):
        return False
    on_grace = bool(row.accelerator and row.accelerator["key"].startswith("GB"))
    return release >= (JUNE_2026 if on_grace else AUGUST_2026)


def _graphs_layers(row: Row) -> bool:
    """NeMo's scripts pad experts to capacity and run layers as CUDA graphs on Blackwell where mixtures have no pipeline
    (recommended_model_configs of B200 and GB200: cuda_graphs; NVIDIA/dgxc-benchmarking, grok1/launch.sh)."""
    framework = row.cell("framework").lower()
    scripts = "nemo" in framework and "bridge" not in framework
    return scripts and row.silicon.startswith("Blackwell") and row.count("pp") <= 1


def _graphs_router(row: Row, release: int) -> bool:
    """Router and attention of layers with experts are captured as CUDA graphs on racks; on eight-GPU nodes in recipes of
    Qwen3-30B, but in fp8 on Hopper, of GPT-OSS where memory is large, of hybrids on Blackwell, and of others from
    container 26.06 on B300 (configs: cuda_graph_scope)."""
    if hardware.domain(row) > NODE:
        return True
    hopper = row.silicon.startswith("Hopper")
    if row.model_name.startswith("qwen3-30b"):
        return not hopper or row.typed.get("dtype") != "fp8"
    if _is_hybrid(row):
        return not hopper
    return row.device_gib > ROOMY_GIB and (_expert_bias(row) or release >= JUNE_2026)


def _dispatches_once(row: Row, release: int) -> bool:
    """A token is sent once to each rank (HybridEP, DeepEP) on racks and, from container 26.02, on eight-GPU nodes too,
    but for Qwen3-235B and GPT-OSS there; before, DeepSeek on Hopper alone (configs: moe_flex_dispatcher_backend,
    moe_token_dispatcher_type)."""
    if hardware.domain(row) > NODE:
        return True
    if release < FEBRUARY_2026:
        return row.family == "deepseek" and row.silicon.startswith("Hopper")
    return not row.model_name.startswith("qwen3-235b") and not _expert_bias(row)


def _recomputed(row: Row, as_one_graph: bool) -> str:
    """Modules that are recomputed where memory is short: of DeepSeek-V3 and Kimi K2 the projections up from the latent
    vectors, but for one graph on 288 GB; of GPT-OSS norms and activations, but on 288 GB or in one graph; of Qwen3
    nothing; of Nemotron 3 on 80 GB experts, norms and attention."""
    roomy = row.device_gib > ROOMY_GIB
    if _latent(row) and not (roomy and as_one_graph):
        return "mla_up_proj"
    if _expert_bias(row) and not roomy and not as_one_graph:
        return "layernorm+moe_act"
    if row.family == "nemotron-h" and row.device_gib < TIGHT_GIB:
        return "core_attn+layernorm+moe"
    return ""


def _follow_bridge(row: Row) -> None:
    """Recipes of DeepSeek, Moonlight and OLMoE set bf16 moments, others fp32 (0.2.0 to 0.5.1: exp_avg_dtype). The NVFP4
    recipe of hybrids keeps the first layer and the last 14 in bf16 (0.4.0 to 0.6.0, nemotron_3_super_bf16_with_nvfp4)."""
    halves = row.family == "olmoe" or (row.family == "deepseek" and not row.model_name.startswith("kimi"))
    if halves and not row.cell("optimizer") and row.typed.get("dtype") not in ("fp32", "tf32"):
        row.put_if_open("half_moments", "on")
    if row.family == "nemotron-h" and row.typed.get("dtype") == "fp4":
        row.put_if_open("half_layers", min(1 + 14, row.layers()))


def _follow_experts(row: Row, release: int) -> None:
    as_one_graph = _runs_as_one_graph(row, release)
    recipe = _is_performance_recipe(row)
    if recipe:
        row.put_if_open("moe_router", "balanced")  # benchmarks deal tokens out evenly
        row.put_if_open("fused_routing", "on")
    if as_one_graph:
        row.put_if_open("cuda_graphs", "iteration")
    elif _graphs_layers(row):
        row.put_if_open("cuda_graphs", "layers")
    elif recipe and _graphs_router(row, release):
        row.put_if_open("cuda_graphs", "router")
    if recipe and _dispatches_once(row, release):
        row.put_if_open("moe_dispatcher", "deepep")
    # Recipes for eight-GPU nodes interleave stages to run the exchange of one chunk under the passes of another; on
    # Grace Blackwell they leave it bare (28 of the 38 that interleave stages of experts on such nodes).
    chunks = row.count("vpp") or (2 if row.typed.get("schedule") == "interleaved" else 1)
    interleaved = row.count("pp") > 1 and chunks > 1
    if recipe and interleaved and row.count("ep") > 1 and hardware.domain(row) <= NODE:
        row.put_if_open("expert_overlap", "on")
    _follow_memory(row, recipe, as_one_graph)


def _follow_memory(row: Row, recipe: bool, as_one_graph: bool) -> None:
    """Overlapped exchange of experts allows no recomputation. Who trains DeepSeek-V3 or Kimi K2 on few nodes without
    that recomputes whole layers, or they do not fit (Megatron-Bridge 0.4.2, recipes/deepseek/deepseek_v3.py, 32 nodes;
    awslabs/awsome-distributed-ai, bench_kimi_k2_pretrain.py)."""
    if row.typed.get("recompute") or row.typed.get("recompute_modules"):
        return
    if _latent(row) and row.typed.get("expert_overlap") == "off":
        row.put("recompute", "full")
        return
    modules = _recomputed(row, as_one_graph) if recipe and row.stack["recomputes"][0] == "none" else ""
    if modules and not row.cell("recompute"):
        row.put("recompute", "selective")
        row.put("recompute_modules", modules)


def follow(row: Row) -> None:
    if row.stack["id"] in ("maxtext", "paxml"):
        return
    if "bridge" in row.cell("framework").lower():
        _follow_bridge(row)
    release = _release(row)
    if release:
        row.put_if_open("software_release", release)
    if row.is_moe:
        _follow_experts(row, release)
