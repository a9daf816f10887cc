#!/usr/bin/env -S python3 -P
"""What DeepSpeed's ZeRO holds of states, passes and steps, counted on the CPU.

Needs torch, transformers and deepspeed (tried with 2.15, 5.24 and 0.19.8). A Llama of a sixteenth of the widths and
tokens of a real one, and so of a 256th of its bytes, trains for two steps of two micro-batches; buckets and sub-groups
shrink alike. Printed as the bytes of a parameter: states between the steps, what a step holds beside them, what the
passes hold beside them, and what the caching allocator would have reserved at the full size. DeepSpeed's streams are
told apart, so that each has its own pool.

Stage 3 keeps its gradients between the steps, the others make them anew and count them with passes and step: 2 bytes.
That a step adds 6 bytes to them (8 without a stage) is in models/memory/model_states.cpp; that what is reserved is
near the sum of states, passes and step, and not to the larger of the two, in models/memory/memory.cpp.

    scripts/fit/zero_memory.py [--stage N] [--tokens N] [--ranks N]
"""
import argparse
import contextlib
import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "counted"))

MICRO_BATCHES = 2


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stage", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=2048, help="of a micro-batch at the full size")
    parser.add_argument("--ranks", type=int, default=2)
    return parser.parse_args()


def spawn(ranks):
    """The ranks of this program; only the first one prints."""
    processes = []
    for rank in range(ranks):
        where = dict(RANK=rank, LOCAL_RANK=rank, WORLD_SIZE=ranks, MASTER_ADDR="127.0.0.1", MASTER_PORT=29533)
        settings = {**where, "OMP_NUM_THREADS": 1, "DS_ACCELERATOR": "cpu"}
        environment = dict(os.environ, **{name: str(value) for name, value in settings.items()})
        quiet = None if rank == 0 else subprocess.DEVNULL
        processes.append(subprocess.Popen([sys.executable, "-P", *sys.argv], env=environment, stdout=quiet, stderr=quiet))
    sys.exit(max(process.wait() for process in processes))


class Anything:
    """A stream or an event: the CPU has none."""

    made = 0

    def __init__(self):
        Anything.made += 1
        self.number = Anything.made

    def __getattr__(self, name):
        return lambda *args, **kwargs: True


def tell_streams_apart(allocations):
    """DeepSpeed's accelerator says that it has streams; tensors made on one are logged so."""
    import torch
    from deepspeed.accelerator import get_accelerator

    default = Anything()
    default.number = 0

    @contextlib.contextmanager
    def stream(_, wanted):
        before = allocations.stream
        allocations.stream = getattr(wanted, "number", 0)
        yield
        allocations.stream = before

    kind = type(get_accelerator())
    kind.Stream = kind.Event = lambda *args, **kwargs: Anything()
    kind.stream = stream
    kind.current_stream = kind.default_stream = lambda *args: default
    for question in ("is_synchronized_device", "resolves_data_dependency", "handles_memory_backpressure"):
        setattr(kind, question, lambda _: False)
    torch.Tensor.record_stream = lambda *args: None


def engine(arguments):
    import deepspeed
    from narrow_llama import SCALE
    from small_llama import QWEN_1B8, small_llama

    width = QWEN_1B8.hidden
    zero = {
        "stage": arguments.stage,
        "overlap_comm": True,
        "contiguous_gradients": True,
        # DeepSpeed's default, and what Hugging Face's Trainer writes for "auto" in stage 3
        "reduce_bucket_size": width * width if arguments.stage == 3 else 5 * 10**8 // SCALE,
        "stage3_prefetch_bucket_size": int(0.9 * width * width),
        "stage3_param_persistence_threshold": 10 * width,
        "sub_group_size": 10**9 // SCALE,
        "stage3_max_live_parameters": 10**9 // SCALE,
        "stage3_max_reuse_distance": 10**9 // SCALE,
    }
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": MICRO_BATCHES,
        "gradient_clipping": 1.0,
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
        "zero_optimization": zero,
        "bf16": {"enabled": True},
    }
    model = small_llama(QWEN_1B8)
    parameters = sum(p.numel() for p in model.parameters())
    model.gradient_checkpointing_enable()
    return deepspeed.initialize(model=model, config=config, model_parameters=list(model.parameters()))[0], parameters


def main():
    arguments = parsed()
    if "RANK" not in os.environ:
        spawn(arguments.ranks)
    import torch
    from caching_allocator import Allocations, CachingAllocator
    from narrow_llama import NARROWER, SCALE
    from small_llama import QWEN_1B8

    allocations = Allocations()
    tell_streams_apart(allocations)
    with allocations:
        model, parameters = engine(arguments)
        allocations.forget()
        for _ in range(2):
            passes = 0
            for _ in range(MICRO_BATCHES):
                tokens = torch.randint(0, QWEN_1B8.vocab, (1, arguments.tokens // NARROWER))
                allocations.peak = 0
                model.backward(model(input_ids=tokens, labels=tokens).loss)
                passes = max(passes, allocations.peak)
                allocations.peak = 0
                model.step()
            step = allocations.peak
    if os.environ["RANK"] == "0":
        states = allocations.live
        reserved = CachingAllocator().replay(allocations.log, SCALE) / SCALE
        kinds = {"states": states, "passes": passes - states, "step": step - states, "reserved": reserved}
        shown = "  ".join(f"{name} {size / parameters:.2f}" for name, size in kinds.items())
        print(f"stage {arguments.stage}, {arguments.ranks} ranks: {shown} bytes of a parameter")


if __name__ == "__main__":
    main()
