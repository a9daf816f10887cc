"""The stack that ran, how it sharded, and what was trained, from words."""

import re

import catalog
import cells
from catalog import Fact
from phrases import Phrases, letters_and_digits, plain_words
from row import Row, decimal

# That no fp32 copy of the weights is kept.
PURE_HALF = (
    "pure bf16",
    "pure_bf16",
    "pure fp16",
    "pure 16-bit",
    "weights loaded in bf16",
    "bf16 weights and states",
    "weights and optimizer in bf16",
    "whole model in bf16",
    "no fp32 copy",
    "no fp32 master",
)
FLASH_2 = ("flashattention-2", "flashattention2", "flash attention 2", "flash_attention_2", "fa2")
FLASH_3 = ("flashattention-3", "flashattention3", "flash attention 3", "flash_attention_3", "fa3")
TRAINERS = ("hf", "hugging face", "transformers", "trl", "accelerate", "trainer")


class _Squeezed:
    """Letters and digits of a name, and where words begin and end among them: at other characters and, within
    `PyTorchFSDP2` and `MegatronLM`, where capitals follow small letters."""

    def __init__(self, name: str) -> None:
        self.text = ""
        self.begins: list[bool] = []
        self.ends: list[bool] = []
        kept = [c.isascii() and c.isalnum() for c in name] + [False, False]
        for i, c in enumerate(name):
            if not kept[i]:
                continue
            after = name[i + 1 : i + 2]
            capital_next = c.islower() and after.isascii() and after.isupper()
            # `NeMo24.07`, `FSDPv2`
            version_next = after.isdigit() or (after == "v" and name[i + 2 : i + 3].isdigit())
            before = name[i - 1] if i else ""
            self.text += c.lower()
            self.begins.append(i == 0 or not kept[i - 1] or (before.islower() and c.isupper()))
            self.ends.append(not kept[i + 1] or capital_next or (not c.isdigit() and version_next))

    def holds(self, word: str) -> bool:
        places = (m.start() for m in re.finditer(f"(?={re.escape(word)})", self.text)) if word else ()
        return any(self.begins[at] and self.ends[at + len(word) - 1] for at in places)


def _named(row: Row) -> Fact | None:
    """The stack for the accelerator's vendor whose id or alias stands in the framework's text as words. The longest
    wins: `Megatron-DeepSpeed` is not `Megatron-LM`."""
    name = _Squeezed(row.cell("framework"))
    best, best_length = None, 0
    for stack in catalog.stacks():
        if row.accelerator and row.accelerator["vendor"] not in stack["vendors"]:
            continue
        for alias in (stack["id"], *stack.get("aliases", ())):
            word = letters_and_digits(alias)
            if len(word) > best_length and name.holds(word):
                best, best_length = stack, len(word)
    return best


def stack_of(stack_id: str) -> Fact:
    return next(s for s in catalog.stacks() if s["id"] == stack_id)


def is_fsdp(sharding: str) -> bool:
    return sharding.startswith("fsdp")


def under(stack: Fact, sharding: str) -> str:
    """A stage under the name that the stack has for it: people call FSDP's strategies by ZeRO's stages too."""
    if sharding in stack["shardings"]:
        return sharding
    of_fsdp = {"zero3": "fsdp-full", "zero2": "fsdp-grad-op"}.get(sharding, sharding)
    return of_fsdp if of_fsdp in stack["shardings"] else sharding


def stated_sharding(row: Row) -> str | None:
    """By its column, by the framework's name or by what the notes say."""
    cell = row.cell("sharding")
    if cell:
        return cells.sharding(cell)
    if row.is_typed:  # where the framework is a label
        return None
    framework, words = row.cell("framework"), row.framework
    stage = cells.zero_stage(framework) or cells.fsdp_strategy(framework)
    if stage:
        return stage
    if words.say_word("fsdp"):
        return cells.fsdp_strategy(row.notes.text) or "fsdp-full"
    # Notes may compare with other programs: each has its own words.
    if words.say("deepspeed"):
        return cells.zero_stage_said(row.notes.text)
    return None if words.say("megatron", "nemo") else cells.fsdp_strategy(row.notes.text)


def _holds_replica(row: Row) -> bool:
    """Whether one device has room for what a replica needs: all states under Adam, 16 bytes a parameter (Rajbhandari et
    al. 2020), or frozen weights."""
    size = {"full": 16.0, "lora": 2.0, "qlora": 0.5}[trained(row)]
    published = float(row.preset["published_parameters"]) if row.preset else 0.0
    parameters = 1e9 * decimal(row.cell("params_b")) or published
    return size * parameters <= row.device_gib * 2**30


def must_shard(row: Row) -> bool:
    """Whether states were cut, as one device cannot hold a replica's, though the row does not say so."""
    several = row.count("n_gpus") > 1 and row.accelerator is not None
    return several and not stated_sharding(row) and not _holds_replica(row)


def _implied(row: Row) -> str:
    """What kind of program the stated dimensions need, for frameworks that the catalog does not know."""
    if row.accelerator and row.accelerator["vendor"] == "aws":
        return "neuron"
    if max(row.count("tp"), row.count("pp"), row.count("ep")) > 1:
        return "megatron"
    sharding = stated_sharding(row)
    if sharding:
        return "fsdp" if is_fsdp(sharding) else "ddp" if sharding == "none" else "deepspeed"
    return "fsdp" if must_shard(row) else "ddp"


def _sharder(row: Row, stack: Fact) -> str | None:
    """The program whose bytes and overlap count where a launcher leaves sharding to another: the one that the
    framework's name holds beside it (`HF Trainer + FSDP`), or what the stated sharding or the model's size need."""
    if stack["tensor_parallel"]:
        return None
    launcher = stack["id"] == "hf-trainer"
    told = Phrases(row.cell("framework") + "; " + row.cell("sharding"))
    for program in ("fsdp", "deepspeed"):
        if launcher and told.say(program):
            return program
    # Accelerate, which stands for FSDP otherwise, launches DeepSpeed too.
    if stack["id"] == "fsdp" and told.say("deepspeed"):
        return "deepspeed"
    sharding = stated_sharding(row)
    able = not sharding or under(stack, sharding) in stack["shardings"]
    return None if able and not (launcher and must_shard(row)) else _implied(row)


def is_trainer(row: Row) -> bool:
    """Hugging Face's Trainer, whose examples leave the bucket of stage 3 to "auto"."""
    return any([row.framework.say_word(name) for name in TRAINERS])


def read_stack(row: Row) -> None:
    row.put("framework", row.cell("framework"))
    given = catalog.stack(row.cell("stack"))
    if given:
        row.stack = given
        row.put("stack", given["id"])
        return
    if row.cell("stack") and not row.cell("framework"):
        row.cells["framework"] = row.cell("stack")
    named = _named(row)
    if named is None and row.cell("framework"):
        row.not_understood.append(("framework", row.cell("framework")))
    stack = named or stack_of(_implied(row))
    stack = stack_of(_sharder(row, stack) or stack["id"])
    # Megatron-LM before flash attention and overlapped communication trained in fp16.
    flash = cells.flash_attention(row.cell("flash_attention")) if row.cell("flash_attention") else None
    if stack["id"] == "megatron" and cells.precision(row.cell("dtype")) == "fp16" and flash != "on":
        stack = stack_of("megatron-2021")
    row.stack = stack
    row.put("stack", stack["id"])


def read_sharding(row: Row) -> None:
    stated = stated_sharding(row)
    if row.cell("sharding") and not stated:
        row.not_understood.append(("sharding", row.cell("sharding")))
    if stated:
        row.put("sharding", under(row.stack, stated))
    elif must_shard(row) and row.stack["shardings"][0] == "none" and len(row.stack["shardings"]) > 1:
        row.put("sharding", row.stack["shardings"][1])  # who can shard does where the model leaves no choice
    # DeepSpeed runs its stage on one rank too, where nothing is cut.
    alone = row.replicas == 1 and row.stack.get("deepspeed_engine") and not row.stack["pipeline_parallel"]
    if alone and row.typed.get("sharding") == "none":
        row.put("sharding", row.stack["shardings"][0])


def _kind_of_method(row: Row) -> tuple[str, bool, int]:
    """The method, whether embeddings are trained beside adapters, and a rank: `LoRA (r=16)`, `lora+emb/head`."""
    stated = row.cell("method").lower()
    kind = stated.split("+emb")[0]
    with_embeddings = kind != stated
    if kind in ("", "full"):
        return kind, with_embeddings, 0
    known = catalog.adapter_methods().get(letters_and_digits(kind))
    if known:
        return known["name"], with_embeddings, 0
    words, phrases = plain_words(kind), Phrases(kind)
    ranks = [int(b) for a, b in zip(words, words[1:]) if a in ("r", "rank") and b.isdigit() and len(b) < 7]
    rank = ranks[0] if ranks else 0
    if phrases.say_word("qlora") or phrases.say_word("q-lora"):
        return "qlora", with_embeddings, rank
    if phrases.say_word("lora"):
        return ("qlora" if cells.says_four_bit_weights(phrases) else "lora"), with_embeddings, rank
    whole = any(word.startswith(("full", "sft", "pretrain", "finetun", "fft")) for word in words)
    return ("full" if whole or cells.denies(stated) else "?"), with_embeddings, rank


def trained(row: Row) -> str:
    """full, lora or qlora: by the method, the format of frozen weights, the flag and the words of the row, in this
    order."""
    kind = _kind_of_method(row)[0]
    flag = row.read("lora", cells.switch)
    if cells.four_bits(row.cell("quant")):
        return "qlora"
    if row.cell("method"):
        if kind in ("full", "", "?"):
            return "full"
        return "qlora" if kind == "qlora" else "full" if flag == "0" else "lora"
    # Words beside a stated method or flag may speak of other rows of their table, but none trains weights of 4 bits
    # whole.
    words = [row.notes, Phrases(row.cell("framework")), Phrases(row.cell("model"))]
    if flag == "0":
        return "qlora" if any([cells.says_four_bit_format(w) for w in words]) else "full"
    if any([cells.says_four_bit_weights(w) for w in words]):
        return "qlora"
    named = row.cell("lora_rank") or row.cell("lora_targets") or words[1].say_word("lora")
    return "lora" if flag == "1" or (flag is None and named) else "full"


def read_method(row: Row) -> None:
    kind, with_embeddings, rank = _kind_of_method(row)
    mode = trained(row)
    quant = row.cell("quant")
    if quant and cells.four_bits(quant) is None and not cells.is_blank(quant):
        row.not_understood.append(("quant", quant))
    if kind == "?":
        row.put("method", row.cell("method"))  # which the product refuses by its name
        return
    if row.cell("method") or mode != "full" or row.cell("lora"):
        own = kind not in ("", "full", "lora", "qlora") and mode == "lora"
        row.put("method", kind if own else mode)
    if mode == "full":
        return
    noted = row.notes.number_after("lora rank ") or row.notes.number_after("rank=")
    if row.cell("lora_rank") or rank or noted:
        row.put("lora_rank", row.cell("lora_rank") or rank or noted)
    if row.cell("lora_targets"):
        row.put("lora_targets", cells.lora_targets(row.cell("lora_targets")))
    if mode == "qlora" and kind not in ("", "full", "lora", "qlora"):
        _put_adapters_over_four_bits(row, kind)
    stated = row.read("lora_embeddings", cells.switch)
    noted_embeddings = row.notes.say("lora (emb)", "modules_to_save", "lm_head also trained")
    if stated:
        row.put("lora_embeddings", stated)
    elif with_embeddings or noted_embeddings:
        row.put("lora_embeddings", 1)
    row.put_read("adapter_dtype", cells.adapter_dtype)


def _put_adapters_over_four_bits(row: Row, kind: str) -> None:
    """Another method over weights of 4 bits is the nearest LoRA over them. LoRA's kin are called so; what others call
    their rank is no width of two matrices, and they train fewer numbers."""
    if not kind.endswith("ora"):
        row.put("lora_rank", 1)
    row.put_if_open("lora_targets", "query-value")


def read_formats(row: Row) -> None:
    """dtype and optimizer. Notes name a format where the column does not."""
    cell = row.cell("dtype")
    said = cells.precision(cell) if cell else None
    if cell and not said and not cells.is_blank(cell):
        row.not_understood.append(("dtype", cell))
    noted = None
    for words, precision in (
        (("nvfp4", "fp4_", "label fp4"), "fp4"),
        (("fp8mx", "_fp8", "label fp8", "float8"), "fp8"),
        (("_bf16_config", "label bf16"), "bf16"),
    ):
        if row.says(*words):
            noted = precision
    # Products with a scale a row take their rate from the 8-bit units: torchtitan's table of 2025-06 has such runs
    # within 4 % of bf16; with one scale a tensor they are 1.4 times as fast.
    if said == "fp8" and row.says("rowwise"):
        said = "bf16"
    if letters_and_digits(cell) == "fp32ieee":
        said = "fp32-ieee"
    if said or noted:
        row.put("dtype", said or noted)
    if cells.is_pure_half(cell) or row.says(*PURE_HALF):
        row.put("pure_half", "on")
    if row.says("gradients accumulated in bf16", "bf16 gradient accumulation", "gradients in bf16"):
        row.put("half_gradients", "on")
    if row.says("bf16 moments", "moments in bf16"):
        row.put("half_moments", "on")
    kernel = Phrases(row.cell("flash_attention") + "; " + row.notes.text)
    # The third version is Hopper's alone: tables that name it speak of their Hopper rows.
    third = FLASH_3 if row.silicon.startswith("Hopper") else ()
    for words, attention in ((third, "vendor"), (FLASH_2, "flash2")):
        if kernel.say(*words):
            row.notes.say(*words)
            row.put_if_open("attention_kernel", attention)
    if trained(row) == "lora" and row.says("weights kept in fp32", "weights in fp32", "base in fp32"):
        row.put("base_format", "fp32")
    row.put_read("optimizer", cells.optimizer)
    cell = row.cell("optimizer")
    if "fused" in cell.lower():
        row.put_if_open("fused_optimizer", "on")
    elif letters_and_digits(cell) == "adamwtorch":
        row.put_if_open("fused_optimizer", "off")
    if row.cell("offload"):
        row.put_read("offload", cells.offload)
    elif cells.host_beside(cell + "; " + row.cell("sharding")):
        row.put("offload", "optimizer")


def read_strategy(row: Row) -> None:
    """Degrees, schedule, sequence parallelism, recomputation as the row states them."""
    for column in ("tp", "pp", "cp", "ep", "etp", "dp", "shard_degree", "recompute_layers"):
        if row.cell(column):
            row.put(column, row.cell(column))
    row.put_read("collectives", cells.collectives)
    row.put_read("sequence_parallel", cells.switch)
    row.put_read("schedule", cells.schedule)
    if row.notes.say("interleaved 1f1b"):
        row.put_if_open("schedule", "interleaved")
    row.put_read("recompute", cells.recompute)
    named = cells.modules(row.cell("recompute"))
    sharding = row.typed.get("sharding") or str(row.stack["shardings"][0])
    if row.typed.get("recompute") == "selective" and named and not is_fsdp(sharding):
        row.put("recompute_modules", "+".join(named))
    if row.cell("vpp"):
        # Tables give virtual stages either as chunks of a rank or as layers of a chunk.
        per_rank = max(1, row.layers() // max(1, row.count("pp"))) if row.layers() else row.count("vpp")
        limited = 0 < per_rank < row.count("vpp") and row.count("pp") > 1
        row.put("vpp", per_rank if limited else row.cell("vpp"))


def read_batch(row: Row) -> None:
    for column in ("micro_batch", "global_batch", "grad_accum", "seq_len", "mean_seq_len"):
        if row.cell(column):
            row.put(column, row.cell(column))
    noted = row.notes.number_after("global_batch ") or row.notes.number_after("effective minibatch ")
    if noted and not row.cell("global_batch"):
        # Tables repeat the batch of one device for several: each still takes the micro-batch of the row.
        cut = max(1, row.count("tp")) * max(1, row.count("pp")) * max(1, row.count("cp"))
        data = row.count("n_gpus") // cut
        row.put("global_batch", max(noted, max(1, row.count("micro_batch")) * data))
    row.put_read("program", cells.program)
    packing = row.read("packing", cells.switch)
    # That some sequences are as long as the limit, where most are shorter.
    reached = row.notes.say("samples are shorter", "longest alpaca sample", "variable lengths (max")
    if reached or (packing is None and row.notes.say("packing=0")):
        packing = "0"
    if packing is not None:
        row.put("packing", packing)
    if packing == "0" and not reached and not row.is_typed and not row.cell("mean_seq_len"):
        row.typed.pop("seq_len", None)  # a limit that nobody says was reached: how long they were is not known


def read_kinds(row: Row) -> None:
    row.put_read("mem_kind", cells.memory_kind)
    row.put_read("tflops_kind", cells.flops_kind)
