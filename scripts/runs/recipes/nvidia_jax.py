"""NVIDIA's recipes for MaxText and PaxML (NVIDIA/dgxc-benchmarking v24.11.1 to v25.02.02, maxtext/configure.sh,
paxml/configure.sh and paxml_mod_configs.py: remat_policy, CHECKPOINT_POLICY, dcn_fsdp_parallelism, FSDP)."""

import hardware
import model
from row import Row

SMALL = 15e9
MANY_NODES = 64
SHARD_NODES = 16


def follow(row: Row) -> None:
    """They keep what the products around attention make and run norms, attention and the MLP's first products again;
    PaxML's of 5B keeps all products. Weights are sharded over all nodes, from 64 on and by PaxML over 16, its 5B over
    one."""
    stack = row.stack["id"]
    if stack not in ("maxtext", "paxml"):
        return
    small = stack == "paxml" and model.parameters(row) < SMALL
    if row.typed.get("recompute", "selective") == "selective":
        row.put_if_open("recompute_modules", "core_attn+layernorm" if small else "core_attn+layernorm+mlp")
    per_node, every = hardware.devices_per_node(row), hardware.nodes(row)
    nodes = 1 if small else min(every, SHARD_NODES if stack == "paxml" or every >= MANY_NODES else every)
    if not row.cell("sharding") and not row.typed.get("sharding") and 0 < nodes < every and every % nodes == 0:
        row.put("sharding", "fsdp-hybrid")
        row.put("shard_degree", nodes * per_node)
