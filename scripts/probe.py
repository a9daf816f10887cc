#!/usr/bin/env python3
"""Measures what a device, its host and its links do, and writes one JSON file.

    python3 probe.py --seconds 180 --output probe.json
    torchrun --nproc-per-node 8 probe.py --seconds 300 --output probe.json

It needs PyTorch 2.1 or newer and Python 3.9 or newer, and nothing else. It runs on CUDA, or on the CPU with gloo. Under
torchrun every process runs every section at the same time; process 0 writes its own figures, and the slowest process's
for collectives. Each section gets a share of --seconds. What gets no time is named under "skipped". What fails stays in
the file as a record with "error". Times are seconds, sizes are bytes, rates are per second. No name of a host or of a
user is written. The exit status is 0 if a file was written, 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import functools
import gc
import getpass
import json
import math
import os
import platform
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterator, Sequence

import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import nn

PROBE_VERSION = 1
MIB = 1 << 20
GIB = 1 << 30

# A section's share of the time. Time that one leaves goes to those behind it.
SHARES = {"memory_bound": 5, "optimizer": 7, "launch": 3, "copies": 5, "layers": 17, "compile": 18, "collectives": 15,
          "attention": 25, "gemm": 25}

RULES = {
    "time": "a sample is the time of `inner` calls in a row over `inner`, after warm-up; median_s, min_s and p90_s are "
            "over `repeats` samples. CUDA events on a device, a monotonic clock on the CPU. timing=graph: the calls "
            "were replayed from a CUDA graph, because the host may launch more slowly than the device runs; eager_s is "
            "about what a call takes that Python launches. Without it short calls can wait for the host.",
    "sets": "the calls go through so many sets of operands in turn, so that small ones come from memory, not from L2",
    "gemm": "flops = 2 m n k. forward: x[m,k] W[n,k]^T (layout NT); forward_nn: x[m,k] W[k,n] (NN); data_grad: "
            "dy[m,k] W[k,n] (NN); weight_grad: dy[k,m]^T x[k,n] (TN), k being tokens. Normal random operands.",
    "attention": "flops = 4 batch heads seq^2 head_dim forward, 2.5 times that backward, half of it if causal",
    "memory_bound": "bytes = every input once and every output once, as one fused kernel would move",
    "optimizer": "bytes = parameters, gradients and states read once, parameters and states written once",
    "collectives": "as nccl-tests: bytes is the buffer of a rank (all_gather: what it receives in all; reduce_scatter: "
                   "what it gives in all); algorithm_bytes_per_s = bytes / time; bus_bytes_per_s = that x 2(n-1)/n for "
                   "all_reduce, x (n-1)/n for all_gather, reduce_scatter and all_to_all, x 1 for send_receive",
    "layers": "flops = 6 x trainable parameters x tokens + 4 x frozen parameters x tokens (these have no gradient of "
              "weights) + 12 layers batch seq^2 hidden (half of it if causal), whatever is recomputed",
}


class Skip(Exception):
    """What this machine or this PyTorch does not offer."""


def one_line(error: BaseException) -> str:
    """The error without line ends, folders, names of the host and the user, and addresses."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    text = re.sub(r"(?:/[\w.+@-]+)+/", "", text)
    text = re.sub(r"\b\d{1,3}(?:\.\d{1,3}){3}\b", "ADDRESS", text)
    text = re.sub(r"0x[0-9a-fA-F]+", "0x", text)
    for name, known in ((socket.gethostname(), "HOST"), (user_name(), "USER")):
        if len(name) > 1:
            text = re.sub(rf"\b{re.escape(name)}\b", known, text)
    return text[:300]


def user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def spread(samples: Sequence[float]) -> dict[str, Any]:
    """Median, least and 90th percentile (nearest rank) of seconds."""
    ordered = sorted(samples)
    return {"repeats": len(ordered), "median_s": statistics.median(ordered), "min_s": ordered[0],
            "p90_s": ordered[math.ceil(0.9 * len(ordered)) - 1]}


def finite(value: Any) -> Any:
    """The value as strict JSON can hold it, to four digits: null for what is no number."""
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


def json_text(value: Any, indent: str = "") -> str:
    """Strict JSON with a line for every record and fact."""
    inner = indent + " "
    if isinstance(value, dict) and any(isinstance(item, (dict, list)) for item in value.values()):
        parts = [f"{inner}{json.dumps(key)}: {json_text(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(inner + json.dumps(item, allow_nan=False) for item in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


def write_atomically(path: str, text: str) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    handle, name = tempfile.mkstemp(dir=folder, prefix=".probe.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


class Case:
    """One record to be. `build` returns what is timed: a call, or a list of calls on operands of their own. With `own`
    it measures by itself and returns the record's figures."""

    def __init__(self, name: str, build: Callable[[], Any], *, own: bool = False, graph: bool = False, need: float = 0,
                 **fields: Any):
        self.name, self.build, self.own, self.graph, self.need = name, build, own, graph, need
        self.fields = fields

    def label(self) -> str:
        told = (f"{value}" for key, value in self.fields.items() if key not in ("flops", "bytes"))
        return " ".join([self.name, *told])


class Probe:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.quick: bool = options.quick
        self.started = time.monotonic()
        self.rank = int(os.environ.get("RANK", 0))
        self.world = int(os.environ.get("WORLD_SIZE", 1))
        self.local_rank = int(os.environ.get("LOCAL_RANK", 0))
        self.cuda = torch.cuda.is_available() and not options.cpu
        self.device = torch.device("cuda", self.local_rank) if self.cuda else torch.device("cpu")
        if self.cuda:
            torch.cuda.set_device(self.device)
            # Autograd runs backward on the stream of the forward pass: only there can it be captured.
            torch.cuda.set_stream(torch.cuda.Stream())
        if self.world > 1:
            limit = datetime.timedelta(seconds=max(60.0, options.seconds))
            torch.distributed.init_process_group("nccl" if self.cuda else "gloo", timeout=limit)
        torch.manual_seed(1)
        self.generator = torch.Generator(self.device).manual_seed(1)
        self.facts = self.read_facts()
        self.sections: dict[str, Any] = {}
        self.section_end = 0.0

    # ---- facts

    def read_facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "torch": torch.__version__, "python": platform.python_version(), "system": platform.system(),
            "machine": platform.machine(), "kernel": platform.release(), "device_type": self.device.type,
            "world_size": self.world, "processes_on_node": int(os.environ.get("LOCAL_WORLD_SIZE", 1)),
            "cpu_count": os.cpu_count(), "cpu_threads": torch.get_num_threads(), "cpu_model": cpu_model(),
            "host_memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "triton": version_of("triton"),
        }
        if self.world > 1:
            facts["collectives_backend"] = torch.distributed.get_backend()
        if self.cuda:
            facts.update(self.device_facts())
        return facts

    def device_facts(self) -> dict[str, Any]:
        torch.zeros(1, device=self.device)
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        properties = torch.cuda.get_device_properties(self.device)
        return {
            "device": properties.name, "compute_capability": f"{properties.major}.{properties.minor}",
            "sm_count": properties.multi_processor_count, "l2_bytes": getattr(properties, "L2_cache_size", None),
            "memory_total_bytes": total, "memory_free_at_start_bytes": free,
            # The context's, the driver's and other programs': what PyTorch's allocator does not hold.
            "memory_outside_allocator_bytes": total - free - torch.cuda.memory_reserved(),
            "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
            "nccl": ".".join(map(str, nccl_version())) or None, "nvidia_smi": self.telemetry(FACT_FIELDS),
        }

    def telemetry(self, fields: Sequence[str]) -> dict[str, Any]:
        """What nvidia-smi says of the device now; empty where there is none."""
        uuid = getattr(torch.cuda.get_device_properties(self.device), "uuid", None)
        which = f"GPU-{str(uuid).removeprefix('GPU-')}" if uuid else str(self.local_rank)
        command = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits", "-i", which]
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
        except (OSError, subprocess.SubprocessError):
            return {}
        return {field: number_or_text(word.strip()) for field, word in zip(fields, said.strip().split(","))}

    # ---- time

    def left(self) -> float:
        """Seconds left to the section, the same for all processes where they must agree."""
        return self.section_end - time.monotonic()

    def agreed_left(self) -> float:
        left = torch.tensor([self.left()], device=self.device)
        torch.distributed.all_reduce(left, torch.distributed.ReduceOp.MIN)
        return float(left.item())

    def synchronize(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()

    def time_calls(self, calls: list[Callable[[], Any]], case: Case) -> dict[str, Any]:
        calls[0]()  # loads kernels, picks algorithms
        self.synchronize()
        call_s = self.about(calls, 1)
        if call_s < 1e-3:  # of which waiting for the device may be most
            call_s = self.about(calls, 10)
        inner = 1 if call_s > 2e-4 else min(200, math.ceil(1e-3 / call_s))
        samples = max(3, min(30, int(self.budget / (inner * call_s))))
        if case.graph and self.cuda and call_s < 2e-4:
            try:
                return {"timing": "graph", "inner": inner, "eager_s": call_s,
                        **spread(self.time_graph(calls, inner, max(samples, 5)))}
            except RuntimeError as error:  # some kernels cannot be captured
                return {"graph_error": one_line(error), "inner": inner,
                        **spread(self.time_eager(calls, inner, samples))}
        return {"inner": inner, **spread(self.time_eager(calls, inner, samples))}

    def about(self, calls: list[Callable[[], Any]], count: int) -> float:
        """Seconds of a call, roughly."""
        begin = time.perf_counter()
        for index in range(count):
            calls[index % len(calls)]()
        self.synchronize()
        return max((time.perf_counter() - begin) / count, 1e-7)

    @property
    def budget(self) -> float:
        """Seconds of measuring for one record."""
        return 0.002 if self.quick else 0.03

    def time_eager(self, calls: list[Callable[[], Any]], inner: int, samples: int) -> list[float]:
        count = len(calls)
        marks = Marks(self.cuda)
        marks.mark()
        for sample in range(samples):
            for index in range(inner):
                calls[(sample * inner + index) % count]()
            marks.mark()
        return [seconds / inner for seconds in marks.between()]

    def time_graph(self, calls: list[Callable[[], Any]], inner: int, samples: int) -> list[float]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            for index in range(inner):
                calls[index % len(calls)]()
        graph.replay()
        return [seconds / inner for seconds in self.time_eager([graph.replay], 1, samples + 1)[1:]]

    # ---- records

    def record(self, case: Case) -> dict[str, Any]:
        record: dict[str, Any] = {"name": case.name, **case.fields}
        try:
            if case.own:
                record.update(case.build())
            else:
                built = case.build()
                calls = built if isinstance(built, list) else [built]
                if len(calls) > 1:
                    record["sets"] = len(calls)
                record.update(self.time_calls(calls, case))
                del built, calls
            add_rates(record)
        except Skip as reason:
            record["error"] = f"not offered: {reason}"
        except Exception as error:  # noqa: BLE001  a record that fails must not end the run
            record["error"] = one_line(error)
            del error
        self.free("error" in record or case.own)
        return record

    def free(self, thoroughly: bool) -> None:
        if thoroughly:
            gc.collect()
        if self.cuda:
            with contextlib.suppress(Exception):
                if thoroughly or torch.cuda.memory_reserved() > 0.3 * self.facts["memory_total_bytes"]:
                    torch.cuda.empty_cache()

    def run_section(self, name: str, cases: Iterator[Case], end: float) -> None:
        begin = time.monotonic()
        self.section_end = end
        records: list[dict[str, Any]] = []
        skipped: list[str] = []
        together = self.world > 1 and name in ("collectives", "layers")
        for case in cases:
            left = self.agreed_left() if together else self.left()
            if left <= case.need:
                skipped.append(case.label())
            else:
                records.append(self.record(case))
        if self.world > 1:
            torch.distributed.barrier()
        self.sections[name] = {"seconds": time.monotonic() - begin, "records": records, "skipped": skipped}
        failed = sum("error" in record for record in records)
        self.say(f"{name}: {len(records)} records, {failed} failed, {len(skipped)} without time, "
                 f"{time.monotonic() - begin:.1f} s")

    def say(self, text: str) -> None:
        if self.rank == 0:
            print(text, file=sys.stderr, flush=True)

    def wake(self) -> None:
        """Works until the device has left its idle clocks."""
        a = self.normal(1024, 1024)
        end = time.monotonic() + (0.01 if self.quick else 1.0)
        while time.monotonic() < end:
            torch.mm(a, a)
            self.synchronize()

    def run(self) -> None:
        self.wake()
        names = [name for name in SHARES if name in self.options.sections]
        last = self.started + self.options.seconds
        for index, name in enumerate(names):
            share = SHARES[name] / sum(SHARES[other] for other in names[index:])
            now = time.monotonic()
            try:
                self.run_section(name, iter(SECTIONS[name](self)), now + share * max(0.0, last - now))
            except Exception as error:  # noqa: BLE001  the other sections go on
                self.sections[name] = {"error": one_line(error), "records": [], "skipped": []}
                self.say(f"{name}: {one_line(error)}")
            self.write()

    def write(self) -> None:
        if self.rank != 0:
            return
        answer = {"probe_version": PROBE_VERSION,
                  "made_at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                  "options": {"seconds": self.options.seconds, "quick": self.quick, "seed": self.options.seed,
                              "sections": self.options.sections},
                  "seconds": time.monotonic() - self.started, "rules": RULES, "facts": self.facts,
                  "sections": self.sections}
        write_atomically(self.options.output, json_text(finite(answer)) + "\n")

    # ---- operands

    def shuffled(self, cases: list[Case]) -> list[Case]:
        """In an order of chance, which --seed decides: what gets no time is then no one kind of case."""
        random.Random(self.options.seed).shuffle(cases)
        return cases

    def normal(self, *shape: int, dtype: torch.dtype = torch.bfloat16, grad: bool = False) -> torch.Tensor:
        return torch.randn(*shape, device=self.device, dtype=dtype, generator=self.generator).requires_grad_(grad)

    def sets(self, footprint: int) -> int:
        """How many sets of operands of so many bytes do not fit into L2 twice over."""
        cache = self.facts.get("l2_bytes") or 32 * MIB
        return 1 if self.quick else max(1, min(64, math.ceil(2 * cache / max(1, footprint))))


FACT_FIELDS = ("driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem", "clocks.max.mem", "power.limit",
               "power.max_limit", "power.draw", "temperature.gpu", "ecc.mode.current", "memory.total", "memory.used",
               "pcie.link.gen.current", "pcie.link.width.current")
LOAD_FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")


class Marks:
    """Points in time: events on the device, the clock on the CPU."""

    def __init__(self, cuda: bool):
        self.cuda = cuda
        self.points: list[Any] = []

    def mark(self) -> None:
        if self.cuda:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.points.append(event)
        else:
            self.points.append(time.perf_counter())

    def between(self) -> list[float]:
        if not self.cuda:
            return [b - a for a, b in zip(self.points, self.points[1:])]
        torch.cuda.synchronize()
        return [a.elapsed_time(b) / 1000 for a, b in zip(self.points, self.points[1:])]


def add_rates(record: dict[str, Any]) -> None:
    seconds = record.get("median_s")
    if not seconds:
        return
    if record.get("flops"):
        record["tflop_per_s"] = record["flops"] / seconds / 1e12
    if record.get("bytes"):
        record["bytes_per_s"] = record["bytes"] / seconds


def cpu_model() -> str:
    with contextlib.suppress(OSError):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    return platform.processor()


def nccl_version() -> tuple[int, ...]:
    with contextlib.suppress(Exception):
        return tuple(torch.cuda.nccl.version())
    return ()


def version_of(module: str) -> str | None:
    try:
        return str(__import__(module).__version__)
    except Exception:  # noqa: BLE001  a broken installation is as good as none
        return None


def number_or_text(word: str) -> Any:
    if word.startswith("[") or word == "N/A":
        return None
    try:
        return float(word)
    except ValueError:
        return word


# ---- products of matrices

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32, "fp32": torch.float32}
FP8 = ("fp8_tensorwise", "fp8_rowwise")
LAYOUTS = {"forward": "NT", "forward_nn": "NN", "data_grad": "NN", "weight_grad": "TN"}
PASSES = ("forward", "data_grad", "weight_grad")


def gemm_operands(probe: Probe, m: int, n: int, k: int, dtype: str, layout: str) -> Callable[[], Any]:
    if dtype in FP8:
        return scaled_operands(probe, m, n, k, rowwise=dtype == "fp8_rowwise")
    kind = DTYPES[dtype]
    a = probe.normal(k, m, dtype=kind).t() if layout == "TN" else probe.normal(m, k, dtype=kind)
    b = probe.normal(n, k, dtype=kind).t() if layout == "NT" else probe.normal(k, n, dtype=kind)
    return lambda: torch.mm(a, b)


def scaled_operands(probe: Probe, m: int, n: int, k: int, rowwise: bool) -> Callable[[], Any]:
    if not hasattr(torch, "_scaled_mm") or not hasattr(torch, "float8_e4m3fn"):
        raise Skip("torch._scaled_mm")
    a = probe.normal(m, k).to(torch.float8_e4m3fn)
    b = probe.normal(n, k).to(torch.float8_e4m3fn).t()
    ones = ((m, 1), (1, n)) if rowwise else ((), ())
    scales = [torch.ones(shape, device=probe.device, dtype=torch.float32) for shape in ones]
    return lambda: torch._scaled_mm(a, b, scale_a=scales[0], scale_b=scales[1], out_dtype=torch.bfloat16,
                                    use_fast_accum=True)


def gemm_case(probe: Probe, role: str, m: int, n: int, k: int, dtype: str = "bf16", way: str = "forward") -> Case:
    layout = LAYOUTS[way]
    size = 1 if dtype in FP8 else DTYPES[dtype].itemsize

    def build() -> list[Callable[[], Any]]:
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        return [gemm_operands(probe, m, n, k, dtype, layout) for _ in range(probe.sets(size * (m * n + m * k + n * k)))]

    return Case("gemm", build, graph=True, role=role, dtype=dtype, layout=layout, way=way, m=m, n=n, k=k,
                flops=2 * m * n * k)


def way_shape(tokens: int, n: int, k: int, way: str) -> tuple[int, int, int]:
    """Rows, columns and the summed length of a pass of y[tokens,n] = x[tokens,k] W[n,k]^T."""
    return {"data_grad": (tokens, k, n), "weight_grad": (n, k, tokens)}.get(way, (tokens, n, k))


def linear_cases(probe: Probe, role: str, tokens: Sequence[int], shapes: Sequence[tuple[int, int]],
                 ways: Sequence[str] = PASSES, dtype: str = "bf16", most: float = 2e13) -> list[Case]:
    cases = []
    for t in tokens:
        for n, k in shapes:
            for way in ways:
                m, columns, depth = way_shape(t, n, k, way)
                if 2.0 * t * n * k <= most:
                    cases.append(gemm_case(probe, role, m, columns, depth, dtype, way))
    return cases


TRANSFORMER = [shape for h, ffn in ((768, 3072), (1024, 4096), (1600, 6400), (2048, 8192), (2560, 10240), (4096, 11008),
                                    (4096, 14336), (5120, 13824), (8192, 28672), (12288, 49152), (16384, 53248))
               for shape in ((h, h), (ffn, h), (h, ffn))]
GROUPED_QKV = [(6144, 4096), (10240, 8192), (3072, 2048), (2304, 768), (36864, 12288), (7680, 2560)]


def gemm_section(probe: Probe) -> Iterator[Case]:
    if probe.quick:
        yield from (gemm_case(probe, "square", 64, 64, 64, dtype) for dtype in (*DTYPES, *FP8))
        yield from linear_cases(probe, "layer", (32,), ((48, 16),), tuple(LAYOUTS))
        yield grouped_case(probe, 4, 64, 32, 48, "grouped_mm")
        yield sustained_case(probe, "bf16", 64, 0.01)
        return
    squares = (256, 512, 1024, 2048, 4096, 8192, 16384)
    yield from (gemm_case(probe, "square", n, n, n) for n in squares)
    for dtype in ("fp16", "tf32", *FP8):
        yield from (gemm_case(probe, "square", n, n, n, dtype) for n in squares)
    yield from (gemm_case(probe, "square", n, n, n, "fp32") for n in squares if n <= 8192)
    yield from (sustained_case(probe, dtype, 8192, 2.0) for dtype in ("bf16", "fp8_rowwise"))
    tokens = (512, 1024, 2048, 4096, 8192, 16384, 32768)
    skinny = [shape for h in (2048, 4096, 8192) for r in (8, 16, 64) for shape in ((r, h), (h, r))]
    head = [(vocab, h) for vocab in (32000, 50257, 50304, 128256) for h in (2048, 4096, 8192)]
    experts = [(1408, 2048), (2048, 1408), (14336, 4096), (4096, 14336), (2048, 7168), (7168, 2048), (768, 2048)]
    main = [(6144, 4096), (4096, 4096), (14336, 4096), (4096, 14336), (8192, 8192), (28672, 8192), (8192, 28672)]
    rest = linear_cases(probe, "layer", tokens, TRANSFORMER + GROUPED_QKV)
    rest += linear_cases(probe, "layer", (2048, 8192), main, ("forward_nn",))
    rest += linear_cases(probe, "lora", (4096, 16384), skinny)
    rest += linear_cases(probe, "vocabulary", (2048, 8192), head)
    rest += linear_cases(probe, "expert", (16, 64, 256, 1024), experts, ("forward", "weight_grad"))
    for dtype in ("fp16", "tf32"):
        rest += linear_cases(probe, "layer", (2048, 8192), main, dtype=dtype)
    rest += linear_cases(probe, "layer", (2048,), main, dtype="fp32")
    for dtype in FP8:
        rest += linear_cases(probe, "layer", (2048, 4096, 8192, 16384), main, ("forward",), dtype)
    for groups, total, n, k in ((8, 8192, 14336, 4096), (8, 8192, 4096, 14336), (64, 16384, 1408, 2048),
                                (64, 16384, 2048, 1408), (32, 16384, 2048, 7168), (128, 32768, 768, 2048)):
        rest += [grouped_case(probe, groups, total, n, k, way) for way in ("grouped_mm", "bmm", "loop")]
    yield from probe.shuffled(rest)


def grouped_case(probe: Probe, groups: int, rows: int, n: int, k: int, way: str) -> Case:
    each = rows // groups

    def build() -> Callable[[], Any]:
        a, b = probe.normal(rows, k), probe.normal(groups, n, k).transpose(1, 2)
        if way == "bmm":
            a = a.view(groups, each, k)
            return lambda: torch.bmm(a, b)
        if way == "loop":
            return lambda: [a[i * each:(i + 1) * each] @ b[i] for i in range(groups)]
        grouped = getattr(F, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)
        if grouped is None:
            raise Skip("torch._grouped_mm")
        ends = torch.arange(each, rows + 1, each, device=probe.device, dtype=torch.int32)
        return lambda: grouped(a, b, offs=ends)

    return Case("grouped_gemm", build, dtype="bf16", way=way, groups=groups, rows=rows, n=n, k=k,
                flops=2 * rows * n * k)


def sustained_case(probe: Probe, dtype: str, size: int, seconds: float) -> Case:
    """The same product for seconds on end, until the device is hot; the figures are the last half's."""

    def build() -> dict[str, Any]:
        call = gemm_operands(probe, size, size, size, dtype, "NT")
        call()
        probe.synchronize()
        begin = time.perf_counter()
        samples: list[float] = []
        while time.perf_counter() - begin < seconds:
            samples += probe.time_eager([call], 1, 20)
        under_load = {}
        if probe.cuda:
            for _ in range(200):
                call()
            under_load = probe.telemetry(LOAD_FIELDS)
        return {"inner": 1, **spread(samples[len(samples) // 2:]), "first_s": statistics.median(samples[:20]),
                "under_load": under_load}

    return Case("gemm_sustained", build, own=True, need=seconds, dtype=dtype, layout="NT", m=size, n=size, k=size,
                flops=2 * size ** 3)


# ---- attention

BACKENDS = ("flash", "cudnn", "efficient", "math")


def attention_backend(name: str) -> Any:
    """A context in which scaled_dot_product_attention takes this kernel and no other."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:  # before 2.3
        if name == "cudnn":
            raise Skip("cuDNN attention") from None
        return torch.backends.cuda.sdp_kernel(enable_flash=name == "flash", enable_math=name == "math",
                                              enable_mem_efficient=name == "efficient")
    value = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}
    if not hasattr(SDPBackend, value[name]):
        raise Skip("cuDNN attention")
    return sdpa_kernel(getattr(SDPBackend, value[name]))


def attention_case(probe: Probe, backend: str, batch: int, heads: int, kv_heads: int, seq: int, dim: int, causal: bool,
                   way: str, dtype: str = "bf16") -> Case:
    def build() -> Callable[[], Any]:
        kind = DTYPES[dtype]
        q = probe.normal(batch, heads, seq, dim, dtype=kind, grad=True)
        k, v = (probe.normal(batch, kv_heads, seq, dim, dtype=kind, grad=True) for _ in range(2))
        grouped = {"enable_gqa": True} if kv_heads != heads else {}

        def forward() -> torch.Tensor:
            with attention_backend(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal, **grouped)

        if way == "forward":
            return forward
        out = forward()
        gradient = torch.randn_like(out)
        return lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True)

    flops = 4 * batch * heads * seq * seq * dim // (2 if causal else 1)
    return Case("attention", build, graph=True, backend=backend, way=way, dtype=dtype, batch=batch, heads=heads,
                kv_heads=kv_heads, seq=seq, head_dim=dim, causal=causal,
                flops=flops if way == "forward" else flops * 5 // 2)


def attention_section(probe: Probe) -> Iterator[Case]:
    ways = ("forward", "backward")
    if probe.quick:
        for backend in BACKENDS:
            yield from (attention_case(probe, backend, 1, 4, 2, 32, 16, True, way) for way in ways)
        return
    cases = []
    for backend in BACKENDS:
        for dim, heads, kv in ((64, 32, 32), (128, 32, 32), (256, 16, 16), (128, 32, 8)):
            longest = {"math": 2048, "efficient": 8192}.get(backend, 32768)
            for seq in (512, 1024, 2048, 4096, 8192, 16384, 32768):
                # Memory-efficient attention has no kernels with fewer key heads; of math's, one width tells.
                if seq > longest or (kv != heads and backend == "efficient") or (dim != 128 and backend == "math"):
                    continue
                batch = 1 if backend == "math" else max(1, 16384 // seq)
                cases += [attention_case(probe, backend, batch, heads, kv, seq, dim, causal, way)
                          for causal in (True, False) for way in ways]
    for seq in (1024, 4096):
        cases += [attention_case(probe, backend, 4, 32, 32, seq, 128, True, way, "fp16")
                  for backend in ("flash", "cudnn") for way in ways]
        cases += [attention_case(probe, "flash", 1, 8, 8, seq, 128, True, way) for way in ways]
    for dim, heads in ((64, 12), (80, 32), (96, 32)):
        cases += [attention_case(probe, "flash", 8, heads, heads, 1024, dim, True, way) for way in ways]
    yield from probe.shuffled(cases)


# ---- what memory bounds

def gradient_of(forward: Callable[[], torch.Tensor], inputs: Sequence[torch.Tensor]) -> Callable[[], Any]:
    out = forward()
    gradient = torch.randn_like(out)
    return lambda: torch.autograd.grad(out, inputs, gradient, retain_graph=True)


def streaming(probe: Probe, name: str, size: int, dtype: str) -> tuple[int, Callable[[], Any]]:
    """Bytes moved for one tensor of `size` bytes, and what makes the call on fresh operands."""
    kind = DTYPES[dtype]
    item = kind.itemsize
    hidden = min(4096, size // item)
    rows = size // item // hidden
    weight = torch.ones(hidden, device=probe.device, dtype=kind, requires_grad=True)
    bias = torch.zeros(hidden, device=probe.device, dtype=kind, requires_grad=True)

    def x(grad: bool = False) -> torch.Tensor:
        return probe.normal(rows, hidden, dtype=kind, grad=grad)

    def copy() -> Callable[[], Any]:
        a, b = x(), x()
        return lambda: b.copy_(a)

    def cast() -> Callable[[], Any]:
        a, b = x(), torch.empty(rows, hidden, device=probe.device, dtype=torch.float32)
        return lambda: b.copy_(a)

    def fill() -> Callable[[], Any]:
        a = x()
        return lambda: a.zero_()

    def scale() -> Callable[[], Any]:
        a = x()
        return lambda: a.mul_(1.0)

    def add() -> Callable[[], Any]:
        a, b, c = x(), x(), x()
        return lambda: torch.add(a, b, out=c)

    def total() -> Callable[[], Any]:
        a = x()
        return lambda: torch.linalg.vector_norm(a)

    def transpose() -> Callable[[], Any]:
        a = x()
        return lambda: a.t().contiguous()

    def unary(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], Callable[[], Any]]:
        def make() -> Callable[[], Any]:
            a = x()
            return lambda: function(a)
        return make

    def unary_back(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], Callable[[], Any]]:
        def make() -> Callable[[], Any]:
            a = x(True)
            return gradient_of(lambda: function(a), [a])
        return make

    def swiglu() -> Callable[[], Any]:
        a, b = x(), x()
        return lambda: F.silu(a) * b

    def swiglu_back() -> Callable[[], Any]:
        a, b = x(True), x(True)
        return gradient_of(lambda: F.silu(a) * b, [a, b])

    def norm_back(norm: Callable[[torch.Tensor], torch.Tensor], parts: list[torch.Tensor]) -> Callable[[], Any]:
        a = x(True)
        return gradient_of(lambda: norm(a), [a, *parts])

    def layer_norm(a: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(a, (hidden,), weight, bias)

    def rms_norm(a: torch.Tensor) -> torch.Tensor:
        if not hasattr(F, "rms_norm"):
            raise Skip("torch.nn.functional.rms_norm")
        return F.rms_norm(a, (hidden,), weight)

    def dropout(a: torch.Tensor) -> torch.Tensor:
        return F.dropout(a, 0.1)

    def softmax(a: torch.Tensor) -> torch.Tensor:
        return torch.softmax(a, -1)

    masks = rows * hidden  # a byte an element
    known: dict[str, tuple[int, Callable[[], Callable[[], Any]]]] = {
        "copy": (2 * size, copy), "cast_to_fp32": (size + 4 * rows * hidden, cast), "fill": (size, fill),
        "scale_in_place": (2 * size, scale), "add": (3 * size, add), "vector_norm": (size, total),
        "transpose": (2 * size, transpose),
        "gelu": (2 * size, unary(F.gelu)), "gelu_backward": (3 * size, unary_back(F.gelu)),
        "swiglu": (3 * size, swiglu), "swiglu_backward": (5 * size, swiglu_back),
        "layer_norm": (2 * size, unary(layer_norm)),
        "layer_norm_backward": (3 * size, lambda: norm_back(layer_norm, [weight, bias])),
        "rms_norm": (2 * size, unary(rms_norm)),
        "rms_norm_backward": (3 * size, lambda: norm_back(rms_norm, [weight])),
        "softmax": (2 * size, unary(softmax)), "softmax_backward": (3 * size, unary_back(softmax)),
        "dropout": (2 * size + masks, unary(lambda a: torch.native_dropout(a, 0.1, True)[0])),
        "dropout_backward": (2 * size + masks, unary_back(dropout)),
    }
    return known[name]


STREAMS = ("copy", "add", "gelu", "gelu_backward", "swiglu", "swiglu_backward", "layer_norm", "layer_norm_backward",
           "rms_norm", "rms_norm_backward", "softmax", "softmax_backward", "dropout", "dropout_backward",
           "cast_to_fp32", "fill", "scale_in_place", "vector_norm", "transpose")


def stream_case(probe: Probe, name: str, size: int, dtype: str) -> Case:
    moved = streaming(probe, name, size, dtype)[0]

    def build() -> list[Callable[[], Any]]:
        make = streaming(probe, name, size, dtype)[1]
        return [make() for _ in range(probe.sets(moved))]

    return Case(name, build, graph=name != "dropout", dtype=dtype, tensor_bytes=size,
                bytes=moved)


def loss_case(probe: Probe, tokens: int, vocab: int, dtype: str, way: str) -> Case:
    item = DTYPES[dtype].itemsize

    def build() -> Callable[[], Any]:
        logits = probe.normal(tokens, vocab, dtype=DTYPES[dtype], grad=True)
        wanted = torch.randint(vocab, (tokens,), device=probe.device)
        if way == "forward":
            return lambda: F.cross_entropy(logits, wanted)
        return gradient_of(lambda: F.cross_entropy(logits, wanted), [logits])

    return Case("cross_entropy", build, way=way, dtype=dtype, tokens=tokens, vocab=vocab,
                bytes=tokens * vocab * item * (1 if way == "forward" else 2))


def embedding_case(probe: Probe, tokens: int, vocab: int, hidden: int, way: str) -> Case:
    def build() -> Callable[[], Any]:
        table = probe.normal(vocab, hidden, grad=True)
        index = torch.randint(vocab, (tokens,), device=probe.device)
        if way == "forward":
            return lambda: F.embedding(index, table)
        return gradient_of(lambda: F.embedding(index, table), [table])

    # The gradient is a table of zeros, and the rows that were looked up read, added and written.
    moved = tokens * hidden * 4 if way == "forward" else vocab * hidden * 2 + tokens * hidden * 6
    return Case("embedding", build, way=way, dtype="bf16", tokens=tokens, vocab=vocab, hidden=hidden, bytes=moved)


def memory_section(probe: Probe) -> Iterator[Case]:
    if probe.quick:
        yield from (stream_case(probe, name, 64 << 10, "bf16") for name in STREAMS)
        yield from (loss_case(probe, 8, 100, "fp32", way) for way in ("forward", "backward"))
        yield from (embedding_case(probe, 8, 100, 16, way) for way in ("forward", "backward"))
        return
    sizes = [MIB << shift for shift in (0, 2, 4, 6, 8, 10, 12)]
    yield from (stream_case(probe, name, 256 * MIB, "bf16") for name in STREAMS)
    yield from (stream_case(probe, "copy", size, "bf16") for size in sizes if size != 256 * MIB)
    cases = [stream_case(probe, name, size, "bf16") for name in STREAMS[1:] for size in sizes
             if size != 256 * MIB and (size <= GIB or name in ("add", "fill"))]
    cases += [stream_case(probe, name, size, "fp32") for size in (16 * MIB, 256 * MIB)
              for name in ("copy", "add", "layer_norm", "layer_norm_backward", "softmax", "gelu", "vector_norm")]
    cases += [loss_case(probe, tokens, vocab, dtype, way) for tokens, vocab in ((8192, 32000), (4096, 128256))
              for dtype in ("bf16", "fp32") for way in ("forward", "backward")]
    cases += [embedding_case(probe, tokens, vocab, hidden, way) for tokens in (4096, 32768)
              for vocab, hidden in ((32000, 4096), (128256, 4096), (50257, 768)) for way in ("forward", "backward")]
    yield from probe.shuffled(cases)


# ---- optimizers

def model_parameters(count: int, device: torch.device, dtype: torch.dtype) -> list[torch.Tensor]:
    """Tensors of a Llama's shapes, small ones between large ones, of about so many elements."""
    hidden = max(16, min(4096, int(math.sqrt(count / 40))))
    parts: list[torch.Tensor] = []
    total = 0
    while total < count:
        for shape in ((hidden, hidden), (hidden // 4, hidden), (hidden,), (hidden * 7 // 2, hidden)):
            parts.append(torch.randn(shape, device=device).to(dtype).requires_grad_(True))
            total += parts[-1].numel()
    for part in parts:
        part.grad = torch.randn_like(part) * 1e-3
    return parts


OPTIMIZERS: dict[str, tuple[Any, dict[str, Any], int]] = {
    # of a parameter: elements moved (parameter, gradient and states read; parameter and states written)
    "adamw_fused": (torch.optim.AdamW, {"fused": True}, 7), "adamw_foreach": (torch.optim.AdamW, {"foreach": True}, 7),
    "adamw_loop": (torch.optim.AdamW, {"foreach": False}, 7), "sgd": (torch.optim.SGD, {"foreach": True}, 3),
    "sgd_momentum": (torch.optim.SGD, {"foreach": True, "momentum": 0.9}, 5),
}


def optimizer_case(probe: Probe, name: str, count: int, dtype: str, where: str) -> Case:
    device = probe.device if where == "device" else torch.device("cpu")
    fields: dict[str, Any] = {"dtype": dtype, "where": where}

    def build() -> dict[str, Any]:
        parts = model_parameters(count, device, DTYPES[dtype])
        elements = sum(part.numel() for part in parts)
        moved = 3
        if name == "clip_grad_norm":  # the norm reads, the scaling reads and writes
            def call() -> Any:
                torch.nn.utils.clip_grad_norm_(parts, 1.0)
        else:
            kind, options, moved = OPTIMIZERS[name]
            call = kind(parts, lr=1e-5, **options).step
        if where == "device":
            timed = probe.time_calls([call], Case(name, call))
        else:
            call()
            samples = []
            for _ in range(3):
                begin = time.perf_counter()
                call()
                samples.append(time.perf_counter() - begin)
            timed = {"inner": 1, **spread(samples), "threads": torch.get_num_threads()}
        return {"parameters": elements, "tensors": len(parts), "bytes": elements * moved * parts[0].element_size(),
                **timed}

    return Case(name, build, own=True, asked=count, **fields)


def optimizer_section(probe: Probe) -> Iterator[Case]:
    names = (*OPTIMIZERS, "clip_grad_norm")
    if probe.quick:
        yield from (optimizer_case(probe, name, 10000, "fp32", "device") for name in names)
        yield optimizer_case(probe, "adamw_foreach", 10000, "fp32", "host")
        return
    million = 10 ** 6
    yield from (optimizer_case(probe, name, 300 * million, "fp32", "device") for name in names)
    yield from (optimizer_case(probe, name, 100 * million, "fp32", "host") for name in ("adamw_fused", "adamw_foreach"))
    yield from (optimizer_case(probe, "adamw_fused", count * million, dtype, "device")
                for count in (1000, 100, 10) for dtype in ("fp32", "bf16"))
    others = [name for name in names if name != "adamw_fused"]
    yield from (optimizer_case(probe, name, 1000 * million, "bf16", "device") for name in others)
    yield optimizer_case(probe, "adamw_loop", 50 * million, "fp32", "host")
    yield from (optimizer_case(probe, name, 100 * million, "fp32", "device") for name in others)


# ---- what the host pays

def host_cost(probe: Probe, call: Callable[[], Any], count: int) -> dict[str, Any]:
    """Host seconds of a call while the device is behind, and seconds of a call with the device's work in it."""
    for _ in range(10):
        call()
    probe.synchronize()
    queued, whole = [], []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        queued.append((time.perf_counter() - begin) / count)
        probe.synchronize()
        whole.append((time.perf_counter() - begin) / count)
    return {"inner": count, **spread(queued), "with_device_s": statistics.median(whole)}


def launch_section(probe: Probe) -> Iterator[Case]:
    count = 20 if probe.quick else 500  # fewer than the launch queue holds

    def small(*shape: int, grad: bool = False) -> torch.Tensor:
        return probe.normal(*shape, dtype=torch.float32, grad=grad)

    def timed(name: str, make: Callable[[], Callable[[], Any]], times: int = count, **fields: Any) -> Case:
        return Case(name, lambda: host_cost(probe, make(), times), own=True, **fields)

    def in_place() -> Callable[[], Any]:
        a = small(16)
        return lambda: a.add_(1)

    def new_output() -> Callable[[], Any]:
        a = small(16)
        return lambda: a + 1

    def product() -> Callable[[], Any]:
        a, b = small(16, 16), small(16, 16)
        return lambda: torch.mm(a, b)

    def module(make: Callable[[], nn.Module], *shape: int) -> Callable[[], Callable[[], Any]]:
        def build() -> Callable[[], Any]:
            layer, a = make().to(probe.device), small(*shape, grad=True)
            return lambda: layer(a)
        return build

    def attention() -> Callable[[], Any]:
        q = small(1, 2, 16, 16, grad=True).to(torch.bfloat16)
        return lambda: F.scaled_dot_product_attention(q, q, q, is_causal=True)

    def linear_both() -> Callable[[], Any]:
        layer, a = nn.Linear(16, 16).to(probe.device), small(4, 16, grad=True)
        return lambda: layer(a).sum().backward()

    def autocast_linear() -> Callable[[], Any]:
        layer, a = nn.Linear(16, 16).to(probe.device), small(4, 16, grad=True)

        def call() -> Any:
            with torch.autocast(probe.device.type, dtype=torch.bfloat16):
                return layer(a)
        return call

    yield timed("add_in_place", in_place)
    yield timed("add", new_output)
    yield timed("mm", product)
    yield timed("empty", lambda: lambda: torch.empty(16, device=probe.device))
    yield timed("linear", module(lambda: nn.Linear(16, 16), 4, 16))
    yield timed("linear_autocast", autocast_linear, count // 5)
    yield timed("layer_norm", module(lambda: nn.LayerNorm(16), 4, 16))
    yield timed("dropout", module(lambda: nn.Dropout(0.1), 4, 16))
    yield timed("attention", attention, count // 2)
    yield timed("linear_forward_sum_backward", linear_both, count // 10)
    yield timed("item", lambda: small(1).item, count // 5)
    yield timed("synchronize", lambda: probe.synchronize, count)
    if probe.cuda:
        event = torch.cuda.Event()
        yield timed("event_record", lambda: event.record)
        yield Case("add_rate", lambda: launch_rate(probe), own=True)
        yield from (Case("graph_replay", functools.partial(graph_replay, probe, nodes), own=True, nodes=nodes)
                    for nodes in (10, 100, 1000))


def launch_rate(probe: Probe) -> dict[str, Any]:
    """Seconds of one small kernel among thousands in a row: the longer of launching it and running it."""
    a = probe.normal(16)
    samples = []
    for _ in range(5):
        probe.synchronize()
        begin = time.perf_counter()
        for _ in range(10000):
            a.add_(1)
        probe.synchronize()
        samples.append((time.perf_counter() - begin) / 10000)
    return {"inner": 10000, **spread(samples), "launches_per_s": 1 / statistics.median(samples)}


def graph_replay(probe: Probe, nodes: int) -> dict[str, Any]:
    """Host seconds to replay a graph of small kernels, and device seconds of the whole."""
    a = probe.normal(16)
    a.add_(1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(nodes):
            a.add_(1)
    graph.replay()
    device = spread(probe.time_eager([graph.replay], 1, 20))
    return {**host_cost(probe, graph.replay, 20), "device_median_s": device["median_s"],
            "node_s": device["median_s"] / nodes}


# ---- copies and allocations

def copy_case(probe: Probe, direction: str, size: int, pinned: bool) -> Case:
    def build() -> Callable[[], Any]:
        host = torch.ones(size, dtype=torch.uint8)
        host = host.pin_memory() if pinned else host
        device = torch.ones(size, dtype=torch.uint8, device=probe.device)
        if direction == "both":
            other, back = torch.ones_like(host), torch.ones_like(device)
            other = other.pin_memory()
            streams = torch.cuda.Stream(), torch.cuda.Stream()

            def call() -> None:
                here = torch.cuda.current_stream()
                for stream in streams:
                    stream.wait_stream(here)
                with torch.cuda.stream(streams[0]):
                    device.copy_(host, non_blocking=True)
                with torch.cuda.stream(streams[1]):
                    other.copy_(back, non_blocking=True)
                for stream in streams:
                    here.wait_stream(stream)
            return call
        target, source = (device, host) if direction == "host_to_device" else (host, device)
        return lambda: target.copy_(source, non_blocking=True)

    return Case("copy", build, direction=direction, memory="pinned" if pinned else "pageable",
                bytes=size * (2 if direction == "both" else 1))


def pin_cost(size: int) -> dict[str, Any]:
    samples = []
    for _ in range(3):
        begin = time.perf_counter()
        kept = torch.empty(size, dtype=torch.uint8, pin_memory=True)
        samples.append(time.perf_counter() - begin)
        kept = kept[:1].clone()
        release = getattr(torch._C, "_host_emptyCache", None)
        if release is not None:
            release()
    return spread(samples)


def allocation_cost(size: int, cached: bool) -> dict[str, Any]:
    """Seconds to get memory from the driver, or from PyTorch's cache, and to give it back."""
    get, give = [], []
    for _ in range(20 if cached else 6):
        if not cached:
            torch.cuda.empty_cache()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        kept = torch.empty(size, dtype=torch.uint8, device="cuda")
        got = time.perf_counter()
        del kept
        if not cached:
            torch.cuda.empty_cache()
        get.append(got - begin)
        give.append(time.perf_counter() - got)
    return {**spread(get[1:]), "free_median_s": statistics.median(give[1:])}


def copies_section(probe: Probe) -> Iterator[Case]:
    sizes = [4096] if probe.quick else [4 << 10, 64 << 10, MIB, 16 * MIB, 256 * MIB, GIB]
    if not probe.cuda:
        yield Case("host_copy", lambda: host_copy(sizes[-1]), bytes=2 * sizes[-1])
        return
    directions = ("host_to_device", "device_to_host")
    for size in reversed(sizes):
        yield from (copy_case(probe, direction, size, True) for direction in directions)
    yield copy_case(probe, "both", sizes[-1] // 4, True)
    for size in sizes:
        yield from (copy_case(probe, direction, size, False) for direction in directions)
    yield Case("host_copy", lambda: host_copy(sizes[-1]), bytes=2 * sizes[-1])
    # PyTorch cuts small tensors out of what it holds: only large ones come from the driver each time.
    for size in (512, 64 * MIB, GIB, 8 * GIB)[:2 if probe.quick else 4]:
        for cached in (False, True) if size > 512 else (True,):
            yield Case("allocate", functools.partial(allocation_cost, size, cached), own=True, size_bytes=size,
                       source="cache" if cached else "driver")
    yield Case("pin_memory", lambda: pin_cost(sizes[-1] // 4), own=True, size_bytes=sizes[-1] // 4)


def host_copy(size: int) -> Callable[[], Any]:
    a, b = torch.ones(size, dtype=torch.uint8), torch.ones(size, dtype=torch.uint8)
    return lambda: b.copy_(a)


# ---- torch.compile

class Mlp(nn.Module):
    def __init__(self, hidden: int, ffn: int):
        super().__init__()
        self.norm_weight = nn.Parameter(torch.ones(hidden))
        self.gate, self.up = nn.Linear(hidden, ffn, bias=False), nn.Linear(hidden, ffn, bias=False)
        self.down = nn.Linear(ffn, hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        h = (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.norm_weight
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def compile_mlp(probe: Probe, hidden: int, ffn: int, tokens: int, compiled: bool) -> dict[str, Any]:
    block: Any = Mlp(hidden, ffn).to(probe.device, torch.bfloat16)
    x = probe.normal(tokens, hidden, grad=True)
    gradient = torch.randn_like(x)
    run = torch.compile(block) if compiled else block
    begin = time.perf_counter()
    run(x).backward(gradient)
    probe.synchronize()
    first = time.perf_counter() - begin
    both = probe.time_calls([lambda: run(x).backward(gradient)], Case("mlp", block))
    with torch.no_grad():
        forward = probe.time_calls([lambda: run(x)], Case("mlp", block))
    return {"first_call_s": first, **both, "forward_median_s": forward["median_s"]}


def fused_case(probe: Probe, name: str, size: int) -> Case:
    """What torch.compile makes of a chain of small operations: bytes as in memory_bound."""
    hidden = 16 if probe.quick else 4096
    rows = size // 2 // hidden

    def rms(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        wide = (a + b).float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(a.dtype)

    chains: dict[str, tuple[Callable[..., torch.Tensor], int]] = {
        "swiglu": (lambda a, b: F.silu(a) * b, 3), "residual_rms_norm": (rms, 3),
        "gelu_add": (lambda a, b: F.gelu(a) + b, 3),
    }
    function, tensors = chains[name]

    def build() -> Callable[[], Any]:
        run = torch.compile(function)
        a, b = probe.normal(rows, hidden), probe.normal(rows, hidden)
        return lambda: run(a, b)

    return Case(f"compiled_{name}", build, need=0 if probe.quick else 4, dtype="bf16", tensor_bytes=size,
                bytes=tensors * size)


def compiled_loss(probe: Probe, tokens: int, vocab: int, way: str) -> Case:
    def build() -> Callable[[], Any]:
        run = torch.compile(lambda logits, wanted: F.cross_entropy(logits.float(), wanted))
        logits = probe.normal(tokens, vocab, grad=True)
        wanted = torch.randint(vocab, (tokens,), device=probe.device)
        if way == "forward":
            return lambda: run(logits, wanted)
        return lambda: torch.autograd.grad(run(logits, wanted), [logits])

    return Case("compiled_cross_entropy", build, need=0 if probe.quick else 6, way=way, dtype="bf16", tokens=tokens,
                vocab=vocab, bytes=tokens * vocab * 2 * (1 if way == "forward" else 3))


def compile_section(probe: Probe) -> Iterator[Case]:
    if probe.quick:
        yield fused_case(probe, "swiglu", 1 << 14)
        return
    hidden, ffn, tokens = 4096, 14336, 4096
    flops = 6 * tokens * 3 * hidden * ffn
    for compiled in (False, True):
        build = functools.partial(compile_mlp, probe, hidden, ffn, tokens, compiled)
        yield Case("mlp_forward_backward", build, own=True, need=10 if compiled else 0, dtype="bf16", compiled=compiled,
                   hidden=hidden, ffn=ffn, tokens=tokens, flops=flops)
    yield from (fused_case(probe, name, 256 * MIB) for name in ("swiglu", "residual_rms_norm", "gelu_add"))
    yield layer_case(probe, "llama", mb=1, precision="bf16", compiled=True)
    yield from (compiled_loss(probe, 4096, 128256, way) for way in ("forward", "forward_backward"))


# ---- collectives

BUS_FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda n: 2 * (n - 1) / n, "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n, "all_to_all": lambda n: (n - 1) / n, "send_receive": lambda n: 1.0,
}


def collective_call(probe: Probe, name: str, size: int) -> Callable[[], Any]:
    dist, n = torch.distributed, probe.world
    kind = torch.bfloat16 if probe.cuda else torch.float32
    whole = torch.ones(size // kind.itemsize, device=probe.device, dtype=kind)
    part = torch.ones(whole.numel() // n, device=probe.device, dtype=kind)
    if name == "all_reduce":
        return lambda: dist.all_reduce(whole, dist.ReduceOp.MAX)
    if name == "all_gather":
        return lambda: dist.all_gather_into_tensor(whole, part)
    if name == "reduce_scatter":
        return lambda: dist.reduce_scatter_tensor(part, whole)
    other = torch.empty_like(whole)
    if name == "all_to_all":
        return lambda: dist.all_to_all_single(other, whole)

    def send_receive() -> None:
        give = dist.P2POp(dist.isend, whole, (probe.rank + 1) % n)
        take = dist.P2POp(dist.irecv, other, (probe.rank - 1) % n)
        for work in dist.batch_isend_irecv([give, take]):
            work.wait()
    return send_receive


def collective_case(probe: Probe, name: str, size: int) -> Case:
    def build() -> dict[str, Any]:
        call = collective_call(probe, name, size)
        call()
        samples = 4 if probe.quick else 20 if size <= 16 * MIB else 6
        probe.time_eager([call], 1, 2)
        probe.synchronize()
        torch.distributed.barrier()
        inner = 1 if probe.quick or size > MIB else 10
        timed = spread(probe.time_eager([call], inner, samples))
        slowest = torch.tensor([timed[key] for key in ("median_s", "min_s", "p90_s")], device=probe.device,
                               dtype=torch.float64)
        torch.distributed.all_reduce(slowest, torch.distributed.ReduceOp.MAX)
        timed.update(zip(("median_s", "min_s", "p90_s"), slowest.tolist()))
        algorithm = size / timed["median_s"]
        return {"inner": inner, **timed, "algorithm_bytes_per_s": algorithm,
                "bus_bytes_per_s": algorithm * BUS_FACTORS[name](probe.world)}

    return Case(name, build, own=True, ranks=probe.world, dtype="bf16" if probe.cuda else "fp32", bytes=size)


def collectives_section(probe: Probe) -> Iterator[Case]:
    if probe.world == 1:
        return
    unit = 4 * probe.world  # every rank's part is whole elements
    sizes = [1 << 10, 1 << 14] if probe.quick else [1 << shift for shift in range(10, 31, 2)] + [1 << 27, 1 << 29]
    for size in sizes:
        for name in BUS_FACTORS:
            yield collective_case(probe, name, max(1, size // unit) * unit)


# ---- stacks of layers

class Lora(nn.Module):
    def __init__(self, base: nn.Linear, rank: int):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Linear(base.in_features, rank, bias=False)
        self.b = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.b(self.a(x)) * 2.0


class RmsNorm(nn.Module):
    def __init__(self, hidden: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype)


class Shape:
    def __init__(self, layers: int, hidden: int, heads: int, kv_heads: int, ffn: int, seq: int, llama: bool,
                 causal: bool, dropout: float):
        self.layers, self.hidden, self.heads, self.kv_heads, self.ffn = layers, hidden, heads, kv_heads, ffn
        self.seq, self.llama, self.causal, self.dropout = seq, llama, causal, dropout


# Llama's: RMS norm, rotary positions, gated MLP, no biases. The others': layer norm, GELU, biases, dropout.
STACKS = {"llama": Shape(4, 4096, 32, 8, 14336, 4096, True, True, 0.0),
          "gpt2": Shape(12, 768, 12, 12, 3072, 1024, False, True, 0.1),
          "bert": Shape(24, 1024, 16, 16, 4096, 512, False, False, 0.1),
          "tiny": Shape(2, 32, 4, 2, 64, 16, True, True, 0.0)}


class Block(nn.Module):
    def __init__(self, s: Shape, lora: int):
        super().__init__()
        self.s = s
        self.head_dim = s.hidden // s.heads
        kv = s.kv_heads * self.head_dim

        def linear(inputs: int, outputs: int) -> nn.Module:
            base = nn.Linear(inputs, outputs, bias=not s.llama)
            return Lora(base, lora) if lora else base

        self.q, self.k, self.v = linear(s.hidden, s.hidden), linear(s.hidden, kv), linear(s.hidden, kv)
        self.out, self.up, self.down = linear(s.hidden, s.hidden), linear(s.hidden, s.ffn), linear(s.ffn, s.hidden)
        self.gate = linear(s.hidden, s.ffn) if s.llama else None
        self.norms = nn.ModuleList(RmsNorm(s.hidden) if s.llama else nn.LayerNorm(s.hidden) for _ in range(2))

    def forward(self, x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        x = x + F.dropout(self.attention(self.norms[0](x), turn), self.s.dropout, self.training)
        h = self.norms[1](x)
        h = F.silu(self.gate(h)) * self.up(h) if self.gate is not None else F.gelu(self.up(h))
        return x + F.dropout(self.down(h), self.s.dropout, self.training)

    def attention(self, x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        batch, seq, _ = x.shape
        q, k, v = (part(x).view(batch, seq, -1, self.head_dim).transpose(1, 2) for part in (self.q, self.k, self.v))
        if self.s.llama:
            q, k = rotated(q, turn), rotated(k, turn)
        if self.s.kv_heads != self.s.heads:  # as transformers' repeat_kv
            k, v = (part.repeat_interleave(self.s.heads // self.s.kv_heads, 1) for part in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.s.causal,
                                           dropout_p=self.s.dropout if self.training else 0.0)
        return self.out(y.transpose(1, 2).reshape(batch, seq, -1))


def rotated(x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
    cos, sin = turn.to(x.dtype).unbind(0)
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class Stack(nn.Module):
    def __init__(self, shape: Shape, lora: int, checkpointing: bool):
        super().__init__()
        self.checkpointing = checkpointing
        self.blocks = nn.ModuleList(Block(shape, lora) for _ in range(shape.layers))
        angle = torch.outer(torch.arange(shape.seq), 1e4 ** (-torch.arange(0, shape.hidden // shape.heads, 2)
                                                             / (shape.hidden // shape.heads))).repeat(1, 2)
        self.register_buffer("turn", torch.stack((angle.cos(), angle.sin())))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            if self.checkpointing:
                x = torch.utils.checkpoint.checkpoint(block, x, self.turn, use_reentrant=False)
            else:
                x = block(x, self.turn)
        return x.float().square().mean()


def wrapped(probe: Probe, model: Stack, parallel: str, precision: str) -> nn.Module:
    ids = [probe.local_rank] if probe.cuda else None
    if parallel == "ddp":
        return nn.parallel.DistributedDataParallel(model, device_ids=ids)
    mixed = torch.bfloat16 if precision == "bf16_autocast" else None
    if parallel == "fsdp":
        from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy
        policy = MixedPrecision(param_dtype=mixed, reduce_dtype=mixed) if mixed else None
        return FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({Block}), mixed_precision=policy,
                                        device_id=probe.device, use_orig_params=True)
    if parallel == "fully_shard":
        try:
            from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
        except ImportError:
            raise Skip("torch.distributed.fsdp.fully_shard") from None
        policy2 = MixedPrecisionPolicy(param_dtype=mixed, reduce_dtype=mixed)
        for block in model.blocks:
            fully_shard(block, mp_policy=policy2)
        return fully_shard(model, mp_policy=policy2)
    return model


def train(probe: Probe, shape: Shape, mb: int, precision: str, checkpointing: bool, lora: int, compiled: bool,
          parallel: str) -> dict[str, Any]:
    if probe.cuda:
        torch.cuda.reset_peak_memory_stats()
    stored = torch.bfloat16 if precision == "bf16" else torch.float32
    with probe.device:
        model = Stack(shape, lora, checkpointing).to(stored)
    parameters = sum(p.numel() for p in model.parameters())
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    if compiled:
        for block in model.blocks:
            block.forward = torch.compile(block.forward)
    whole = wrapped(probe, model, parallel, precision)
    optimizer = torch.optim.AdamW([p for p in whole.parameters() if p.requires_grad], lr=1e-4,
                                  **({"fused": True} if probe.cuda else {}))
    x = torch.randn(mb, shape.seq, shape.hidden, device=probe.device, dtype=stored)
    autocast = precision == "bf16_autocast" and parallel in ("none", "ddp")

    def step() -> tuple[list[float], float, float]:
        marks = Marks(probe.cuda)
        begin = time.perf_counter()
        marks.mark()
        with torch.autocast(probe.device.type, dtype=torch.bfloat16, enabled=autocast):
            loss = whole(x)
        marks.mark()
        loss.backward()
        marks.mark()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        marks.mark()
        queued = time.perf_counter() - begin
        parts = marks.between()
        return parts, queued, time.perf_counter() - begin

    begin = time.perf_counter()
    step()
    first = time.perf_counter() - begin
    for _ in range(1 if probe.quick else 3):
        step()
    held = torch.cuda.memory_allocated() if probe.cuda else None
    steps = [step() for _ in range(2 if probe.quick else 8)]
    parts = [spread([taken[0][index] for taken in steps]) for index in range(3)]
    answer = {"parameters": parameters, "trainable": trainable, "first_step_s": first, "inner": 1,
              **spread([sum(taken[0]) for taken in steps]), "host_queued_s": statistics.median(t[1] for t in steps),
              "wall_s": statistics.median(t[2] for t in steps)}
    answer.update({f"{name}_s": part["median_s"] for name, part in zip(("forward", "backward", "optimizer"), parts)})
    tokens = mb * shape.seq
    scores = shape.layers * mb * shape.seq ** 2 * shape.hidden // (2 if shape.causal else 1)
    frozen = parameters - trainable
    answer["flops"] = (6 * trainable + 4 * frozen) * tokens + 12 * scores
    if probe.cuda:
        answer.update(held_bytes=held, peak_allocated_bytes=torch.cuda.max_memory_allocated(),
                      peak_reserved_bytes=torch.cuda.max_memory_reserved())
    return answer


def layer_case(probe: Probe, model: str, mb: int, precision: str = "bf16", checkpointing: bool = False, lora: int = 0,
               compiled: bool = False, parallel: str = "none") -> Case:
    shape = STACKS[model]
    return Case("layers", lambda: train(probe, shape, mb, precision, checkpointing, lora, compiled, parallel), own=True,
                need=0 if probe.quick else 15 if compiled else 1, model=model, layers=shape.layers, hidden=shape.hidden,
                seq=shape.seq, mb=mb, precision=precision, checkpointing=checkpointing, lora_rank=lora,
                compiled=compiled, parallel=parallel)


def layers_section(probe: Probe) -> Iterator[Case]:
    parallels = ("ddp", "fsdp", "fully_shard") if probe.world > 1 else ()
    if probe.quick:
        for precision in ("bf16", "bf16_autocast"):
            yield from (layer_case(probe, "tiny", 2, precision, parallel=p) for p in ("none", *parallels))
        yield layer_case(probe, "tiny", 2, checkpointing=True)
        yield layer_case(probe, "tiny", 2, lora=4)
        return
    for precision in ("bf16", "bf16_autocast"):
        for mb in (1, 2):
            yield from (layer_case(probe, "llama", mb, precision, parallel=p) for p in ("none", *parallels))
    for precision in ("bf16", "bf16_autocast"):
        yield from (layer_case(probe, "llama", mb, precision, True) for mb in (1, 2))
    yield from (layer_case(probe, "llama", 1, "bf16", checkpointing, 16) for checkpointing in (False, True))
    yield layer_case(probe, "llama", 1, "bf16_autocast", False, 16)
    for model, mbs in (("gpt2", (8, 32)), ("bert", (8, 32))):
        yield from (layer_case(probe, model, mb, precision) for mb in mbs for precision in ("bf16_autocast", "bf16"))
    yield layer_case(probe, "llama", 4, "bf16", True)
    yield from (layer_case(probe, "llama", 1, "bf16", True, parallel=p) for p in parallels)
    yield layer_case(probe, "gpt2", 32, "bf16_autocast", True)


SECTIONS: dict[str, Callable[[Probe], Iterator[Case]]] = {
    "gemm": gemm_section, "attention": attention_section, "memory_bound": memory_section,
    "optimizer": optimizer_section, "launch": launch_section, "copies": copies_section, "layers": layers_section,
    "collectives": collectives_section, "compile": compile_section,
}


def section_names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(f"{name!r} is no section: {', '.join(SECTIONS)}")
    return names


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no time: give seconds above 0")
    return value


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seconds", type=positive, default=180.0, help="time for all sections (default: 180)")
    parser.add_argument("--output", default="probe.json", help="the file to write (default: probe.json)")
    parser.add_argument("--sections", type=section_names, help=f"of {','.join(SECTIONS)} (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of cases: decides what gets no time")
    parser.add_argument("--quick", action="store_true", help="tiny shapes, to try the program; no torch.compile")
    parser.add_argument("--cpu", action="store_true", help="measure the CPU even where there is a device")
    options = parser.parse_args(arguments)
    folder = os.path.dirname(os.path.abspath(options.output))
    if not os.path.isdir(folder):
        parser.error(f"argument --output: no folder {folder!r}: create it or name another")
    if options.sections is None:
        options.sections = [name for name in SECTIONS if not (options.quick and name == "compile")]
    return options


def main() -> int:
    options = parse()
    probe = Probe(options)
    probe.run()
    if probe.world > 1:
        torch.distributed.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
