"""One row of a table: what it states, what is made of it, and what no rule understood."""

import dataclasses

from collections.abc import Callable, Iterable

import catalog
import cells as words
from catalog import Fact
from phrases import Phrases

# The typed columns, in their order (docs/validation.md). Of a strategy and its execution: the keywords of
# models/job/dimensions.cpp.
IDENTITY = "id source source_ref".split()
MODEL = (
    "model params_b kind n_layers n_encoder_layers hidden ffn_hidden n_heads n_kv_heads head_dim vocab mlp "
    "tied_embeddings n_experts top_k expert_ffn_hidden"
).split()
WORK = "seq_len mean_seq_len packing".split()
MACHINE = "gpu instance n_gpus gpus_per_node devices_per_gpu internode_gbps_per_node network".split()
SOFTWARE = "stack framework program dtype optimizer method lora_rank lora_targets lora_embeddings adapter_dtype".split()
BATCH = "micro_batch global_batch grad_accum".split()
STRATEGY = (
    "tp pp vpp cp ep etp dp sequence_parallel sharding shard_degree schedule recompute recompute_layers offload "
    "collectives"
).split()
EXECUTION = list(catalog.execution_values())
KINDS = "mem_kind tflops_kind".split()
MEASURED = (
    "step_time_s tokens_per_s_per_gpu samples_per_s tflops_per_gpu mfu_pct hfu_pct peak_mem_gib_per_gpu oom"
).split()
STATED = [*IDENTITY, *MODEL, *WORK, *MACHINE, *SOFTWARE, *BATCH, *STRATEGY, *EXECUTION, *KINDS]
# Read and never written: words for what has columns of its own.
WORDS = "lora quant notes".split()

OTHER_NAMES = {
    "batch": "micro_batch",
    "micro_batch_size": "micro_batch",
    "grad_ckpt": "recompute",
    "peak_mem_gib": "peak_mem_gib_per_gpu",
    "instance_type": "instance",
    "accelerator": "gpu",
    "precision": "dtype",
    "finetune": "method",
    "data_parallel": "dp",
    "tensor_parallel": "tp",
    "pipeline_parallel": "pp",
    "virtual_pipeline": "vpp",
    "context_parallel": "cp",
    "expert_parallel": "ep",
    "expert_tensor_parallel": "etp",
    "shard": "sharding",
    "zero_stage": "sharding",
    "global_batch_size": "global_batch",
    "gradient_accumulation": "grad_accum",
}
# `smplan plan --format csv`, where these words mean degrees; elsewhere `data` may name a data set.
PLAN_NAMES = {
    "data": "dp",
    "tensor": "tp",
    "pipeline": "pp",
    "context": "cp",
    "expert": "ep",
    "expert_tensor": "etp",
    "sequence": "sequence_parallel",
}


def other_names(header: Iterable[str]) -> dict[str, str]:
    """Of a table with these columns."""
    return {**OTHER_NAMES, **PLAN_NAMES} if {"tensor", "pipeline"} <= set(header) else OTHER_NAMES


def number(cell: str) -> int:
    """A whole number; 0 where the cell holds none."""
    try:
        value = float(cell)
    except ValueError:
        return 0
    return int(value) if value == value and 0 < value < 2**62 and value == int(value) else 0


def decimal(cell: str) -> float:
    """A number that is not negative; 0 where the cell holds none."""
    try:
        value = float(cell)
    except ValueError:
        return 0.0
    return value if 0 <= value < float("inf") else 0.0


@dataclasses.dataclass
class Row:
    """Rules read `cells` and write `typed`; later ones see what earlier ones found."""

    cells: dict[str, str]  # as stated, under the names of the typed columns
    typed: dict[str, str] = dataclasses.field(default_factory=dict)
    not_understood: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    # What the rules share.
    accelerator: Fact | None = None
    system: Fact | None = None  # of the catalog, most like the row's
    preset: Fact | None = None
    is_preset: bool = False  # the preset describes the model, no stated width contradicts it
    stack: Fact = dataclasses.field(default_factory=dict)
    notes: Phrases = dataclasses.field(default_factory=lambda: Phrases(""))
    # The framework where one is stated, else the notes: a program's own defaults are read from its name, and notes may
    # compare with other programs.
    program: Phrases = dataclasses.field(default_factory=lambda: Phrases(""))

    def cell(self, column: str) -> str:
        return self.cells.get(column, "")

    def count(self, column: str) -> int:
        """What is known of a number: as typed, else as stated; 0 where it is not."""
        return number(self.typed.get(column) or self.cell(column))

    def put(self, column: str, value: object) -> None:
        self.typed[column] = str(value)

    def read(self, column: str, parse: Callable[[str], str | None]) -> str | None:
        """The cell by its words; None where it is blank or, which is told, not understood."""
        cell = self.cell(column)
        if words.is_blank(cell):
            return None
        value = parse(cell)
        if value is None:
            self.not_understood.append((column, cell))
        return value

    def put_read(self, column: str, parse: Callable[[str], str | None]) -> None:
        value = self.read(column, parse)
        if value is not None:
            self.put(column, value)

    def put_if_open(self, column: str, value: object) -> None:
        if not self.typed.get(column):
            self.put(column, value)

    def says(self, *phrases: str) -> bool:
        """Notes or framework say one of them."""
        return any([self.notes.say(*phrases), self.framework.say(*phrases)])

    @property
    def is_typed(self) -> bool:
        """It names its stack by the id and has no words beside it: its columns say all that software was told."""
        return self.cell("stack") == self.stack.get("id") and not self.cell("notes")

    @property
    def replicas(self) -> int:
        """Ranks that states can be cut over: those of data and of context parallelism."""
        return self.count("n_gpus") // (max(1, self.count("tp")) * max(1, self.count("pp")))

    @property
    def framework(self) -> Phrases:
        return Phrases(self.cell("framework"))

    @property
    def architecture(self) -> Fact:
        """The preset's, where it describes the model."""
        return self.preset["architecture"] if self.is_preset and self.preset else {}

    @property
    def is_moe(self) -> bool:
        stated = self.count("n_experts")
        return bool(self.architecture.get("moe")) if self.is_preset else stated > 1

    @property
    def family(self) -> str:
        return str(self.architecture.get("family", ""))

    @property
    def model_name(self) -> str:
        return str(self.architecture.get("name", self.cell("model")))

    @property
    def silicon(self) -> str:
        """Design of the chip: `Hopper GH100`."""
        return str((self.accelerator or {}).get("architecture", ""))

    @property
    def device_gib(self) -> float:
        return float((self.accelerator or {}).get("device_memory_mib", 0)) / 1024

    def layers(self) -> int:
        return self.count("n_layers") or int(self.architecture.get("n_layers", 0))
