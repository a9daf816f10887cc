#!/usr/bin/env python3
"""Measures what DeepSpeed's hooks add to the host time of a transformer layer, on one rank without a device.

    scripts/fit/gather_host_time.py        (Debian: python3-torch, numactl; PyPI: deepspeed 0.14.4)

The layers are those of host_time.py. Collectives are replaced by copies, so that what is left is Python: hooks, the
trace of parameters, buckets. The starting figure of `gathered_host` in priors.json is the ratio of ZeRO-3 to no engine,
both with and without recomputation taken together.
"""
import os
import sys
import time
import warnings

os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT="29511",
                  DS_ACCELERATOR="cpu")
warnings.filterwarnings("ignore")

import host_time
import torch
import torch.utils.checkpoint

LAYERS, STEPS = 24, 15


class Done:
    """Handle of a collective that has ended."""

    def wait(self):
        return True

    def is_completed(self):
        return True


def copied(*args, **kwargs):
    output, source = [x for x in (*args, *kwargs.values()) if torch.is_tensor(x)][:2]
    output.copy_(source.view_as(output))
    return Done()


class Model(torch.nn.Module):
    def __init__(self, recompute):
        super().__init__()
        self.layers = torch.nn.ModuleList(host_time.Layer(False) for _ in range(LAYERS))
        self.recompute = recompute

    def forward(self, x, *tables):
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, *tables) if self.recompute else layer(x, *tables)
        return x.sum()


def pass_microseconds(initialize, stage, recompute):
    """Shortest over steps of the time of a pass over one layer; stage None is PyTorch alone."""
    model = Model(recompute)
    engine = None
    if stage is not None:
        engine = initialize(model=model, model_parameters=model.parameters(), config={
            "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1000,
            "optimizer": {"type": "AdamW", "params": {"torch_adam": True}},
            "zero_optimization": {"stage": stage, "stage3_param_persistence_threshold": 0, "overlap_comm": True},
        })[0]
    wide = host_time.HIDDEN // host_time.HEADS
    tables = (torch.ones(host_time.TOKENS, wide), torch.zeros(host_time.TOKENS, wide),
              torch.arange(host_time.TOKENS).unsqueeze(0))
    times = []
    for _ in range(STEPS):
        x = torch.randn(1, host_time.TOKENS, host_time.HIDDEN, requires_grad=True)
        start = time.perf_counter()
        if engine is None:
            model(x, *tables).backward()
        else:
            engine.backward(engine(x, *tables))
        times.append(time.perf_counter() - start)
    return min(times) / (LAYERS * (3 if recompute else 2)) * 1e6


def main() -> int:
    torch.set_num_threads(1)
    for name in ("_all_gather_base", "all_gather_into_tensor", "_reduce_scatter_base", "reduce_scatter_tensor"):
        setattr(torch.distributed, name, copied)
    import deepspeed  # takes the collectives as it finds them

    deepspeed.utils.logger.setLevel("ERROR")

    print(f"torch {torch.__version__}, DeepSpeed {deepspeed.__version__}, microseconds of host time a pass and layer")
    plain = None
    for stage in (None, 2, 3):
        times = [pass_microseconds(deepspeed.initialize, stage, recompute) for recompute in (False, True)]
        plain = plain or sum(times)
        what = "no engine" if stage is None else f"ZeRO-{stage}"
        print(f"{what:10s} {times[0]:6.0f}  with recomputation {times[1]:6.0f}  ratio {sum(times) / plain:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
