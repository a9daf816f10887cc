"""Lets accelerate shard by FSDP between CPU processes, which it does between devices alone: fully_shard itself, gloo and
the trainers take the CPU. Put this folder on PYTHONPATH.
"""
import os

if os.environ.get("ACCELERATE_USE_FSDP") == "true" or os.environ.get("LOCAL_RANK"):
    from accelerate import state
    from accelerate.utils import DistributedType

    plain = state.AcceleratorState.__init__

    def sharded(self, *args, **more):
        plain(self, *args, **more)
        plugin = more.get("fsdp_plugin")
        if plugin is not None and self.distributed_type == DistributedType.MULTI_CPU:
            self.distributed_type = DistributedType.FSDP
            if self._mixed_precision != "no":
                plugin.set_mixed_precision(self._mixed_precision)
            self.fsdp_plugin = plugin

    state.AcceleratorState.__init__ = sharded
