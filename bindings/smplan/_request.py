"""The keywords of a request: the command line's flags with `_` for `-`."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Sequence, TypedDict, TypeVar, Union

from smplan import _core
from smplan._errors import Diagnostic, InputError
from smplan._keywords import to_text
from smplan._model import Model

Number = Union[int, float, str]
"""A number, or text with a suffix: 13e9, "13B"."""
Numbers = Union[Number, Sequence[Number], range]
"""One of them, or several: 8, [8, 16], "1..64"."""
Names = Union[str, Sequence[str]]
Switches = Union[bool, str, Sequence[str]]
"""True, False, or "on", "off" and "default", one or several of them."""
Document = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""A JSON file's path, or what it holds."""


class Request(TypedDict, total=False):
    """Every keyword of plan() and estimate(). What is not given has the command line's default."""

    params: Number
    model: Union[str, Model]
    hf_config: Document
    arch: Document
    tokens: Number
    seq_len: Number
    global_batch: Number
    global_batch_tokens: Number
    dtype: str
    optimizer: str
    finetune: str
    adapters: str
    lora_rank: Number
    lora_targets: str
    lora_embeddings: Union[bool, str]
    virtual_tokens: Number
    adapter_count: Number
    trained_layers: Number
    mean_seq_len: Number
    loss: str
    reference: str
    teacher: str
    instances: Names
    count: Numbers
    max_gpus: Number
    region: str
    market: Names
    stack: Names
    launchable: str
    program: str
    tp: Numbers
    pp: Numbers
    vpp: Numbers
    cp: Numbers
    ep: Numbers
    etp: Numbers
    dp: Numbers
    sequence_parallel: Union[bool, str]
    zero_stage: Numbers
    sharding: Names
    shard_degree: Numbers
    micro_batch: Numbers
    schedule: Names
    recompute: Names
    recompute_layers: Numbers
    offload: Names
    collectives: Names
    compile: Switches
    flash_attention: Switches
    attention_kernel: Names
    fused_loss: Union[bool, str]
    loss_kernel: Names
    liger_kernels: Switches
    tensor_overlap: Names
    gradient_overlap: Switches
    context_exchange: Names
    moe_dispatcher: Names
    moe_router: Names
    expert_overlap: Switches
    fused_routing: Switches
    cuda_graphs: Names
    recompute_modules: Names
    pure_half: Switches
    half_gradients: Switches
    half_moments: Switches
    half_layers: Numbers
    vocab_multiple: Numbers
    empty_cache: Switches
    reentrant_checkpoint: Switches
    reduce_bucket: Numbers
    release_gradients: Switches
    update_in_backward: Switches
    unsharded_gradients: Switches
    fused_optimizer: Switches
    paged_optimizer: Switches
    base_format: Names
    double_quantization: Switches
    wide_embeddings: Switches
    host_threads: Numbers
    software_release: Numbers
    platform: str
    recovery: str
    spare_instances: Number
    preempted_every: str
    preempted_for: str
    checkpoint_storage: str
    checkpoint_mode: str
    dataset: str
    dataset_files: Number
    sample_size: str
    preparation: str
    input_mode: str
    data_region: str
    jobs: Number
    job_gap: str
    warm_pool: Union[bool, str]
    deadline: str
    confidence: Number
    budget: Number
    max_hourly: Number
    min_headroom: Number
    max_oom_probability: Number
    objective: str
    cost_weight: Number
    what_if: Names
    top: Number


Function = TypeVar("Function", bound=Callable[..., Any])


def show_keywords(function: Function, keywords: Mapping[str, Any], others: bool = False) -> Function:
    """Shows the keywords one by one in help(), with None for what is not given, before any `others` that it takes."""
    own = list(inspect.signature(function).parameters.values())
    shown = [p for p in own if p.kind is not p.VAR_KEYWORD]
    shown += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
              for name, kind in keywords.items()]
    shown += [p for p in own if others and p.kind is p.VAR_KEYWORD]
    function.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return function


def takes_request(function: Function) -> Function:
    """Shows the keywords of a request."""
    return show_keywords(function, {name: getattr(kind, "__forward_arg__", kind)
                                    for name, kind in Request.__annotations__.items()})


def environment_region() -> Optional[str]:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")


@contextlib.contextmanager
def arguments_of(request: Mapping[str, Any]) -> Iterator[Dict[str, str]]:
    """The text of each keyword. Documents given as mappings lie in files as long as the context lasts."""
    with contextlib.ExitStack() as files:
        arguments: Dict[str, str] = {}
        for name, value in request.items():
            if value is None:
                continue
            if isinstance(value, Model):
                key, value = value.origin
                arguments[key if name == "model" else name] = _text_of(key, value, files)
            else:
                arguments[name] = _text_of(name, value, files)
        yield arguments


def _text_of(name: str, value: Any, files: contextlib.ExitStack) -> str:
    if name in ("hf_config", "arch") and isinstance(value, Mapping):
        import tempfile

        folder = files.enter_context(tempfile.TemporaryDirectory(prefix="smplan-"))
        path = os.path.join(folder, f"{name}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
        return path
    return to_text(name, value)


def as_date(date: Optional[str]) -> str:
    """The date itself if it is one, today if None."""
    import datetime

    if date is None:
        return _core.today()
    try:
        datetime.date.fromisoformat(date)
    except ValueError:
        raise InputError([Diagnostic("bad-date", "as_of", f"'{date}' is no date", "write YYYY-MM-DD")]) from None
    return date
