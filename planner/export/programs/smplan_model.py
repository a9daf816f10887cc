"""The model of both training programs: from a config.json with random weights, or from weights on disk or the hub."""

from __future__ import annotations

import pathlib
import types
from typing import Any

import torch
import transformers
from smplan_run import HERE, PROMPTS
from torch import nn

HALF = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.bfloat16}
MAKERS = {"decoder": transformers.AutoModelForCausalLM, "encoder": transformers.AutoModelForMaskedLM,
          "encoder-decoder": transformers.AutoModelForSeq2SeqLM, "vision": transformers.AutoModelForImageClassification}


def place_of(name: str) -> str:
    """A path beside this file, an absolute path, or a name on the hub."""
    for path in (HERE / name, pathlib.Path(name)):
        if name and path.exists():
            return str(path)
    return name


def attention_of(args: Any, maker: Any, source: str) -> str:
    """Scaled dot product attention, but for models that have none, such as those with attention sinks."""
    config = type(transformers.AutoConfig.from_pretrained(source))
    fused = config not in maker._model_mapping or getattr(maker._model_mapping[config], "_supports_sdpa", True)
    return "sdpa" if fused and args.flash_attention != "off" else "eager"


def build_model(args: Any, job: dict[str, Any], half_weights: bool, device: torch.device | None = None,
                empty: bool = False) -> nn.Module:
    """Without adapters the weights are fp32 masters, or in the 16-bit format with `half_weights` or --pure_half on. The
    base under adapters is in that format, or as --base_format says; with --finetune qlora in 4 bits, on `device` where
    it is given. `empty`: weights on disk are not read, another rank has them."""
    source = place_of(args.model)
    adapters = args.finetune != "full"
    half = HALF.get(args.dtype, torch.float32)
    wide = args.base_format == "fp32" if adapters else not half_weights and args.pure_half != "on"
    maker = MAKERS[job["kind"]]
    options: dict[str, Any] = {"dtype": torch.float32 if wide else half,
                               "attn_implementation": attention_of(args, maker, source)}
    made = source.endswith(".json")
    if made and adapters:
        raise SystemExit(f"--finetune {args.finetune} trains on from weights: give --model a folder or a name on the hub")
    if made or empty:
        config = transformers.AutoConfig.from_pretrained(source)
        torch.manual_seed(args.seed)
        model = maker.from_config(config, **options)
    else:
        if args.finetune == "qlora":
            # Values are stored in the type of the other weights, which FSDP can then shard with them.
            options["quantization_config"] = transformers.BitsAndBytesConfig(
                load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=half,
                bnb_4bit_use_double_quant=args.double_quantization == "on", bnb_4bit_quant_storage=half)
        elif args.base_format == "int8":
            options["quantization_config"] = transformers.BitsAndBytesConfig(load_in_8bit=True)
        if "quantization_config" in options and device is not None:
            options["device_map"] = {"": device}
        model = maker.from_pretrained(source, **options)
    model.config.use_cache = False
    if args.trained_layers != "all":
        freeze(model, args, job, half if options["dtype"] == torch.float32 else None)
    if args.loss_kernel == "linear":
        use_linear_loss(model, job["kind"])
    if args.liger_kernels == "on":
        from liger_kernel.transformers import _apply_liger_kernel_to_instance

        _apply_liger_kernel_to_instance(model=model, fused_linear_cross_entropy=False, cross_entropy=False)
    return model


def freeze(model: Any, args: Any, job: dict[str, Any], kind: torch.dtype | None) -> None:
    """All but what --trained_layers names, which stays as it is; frozen matrices get the number format `kind`."""
    if args.finetune != "full":
        raise SystemExit(f"--trained_layers {args.trained_layers}: --finetune {args.finetune} freezes all of the base")
    layers = layers_of(model, job["layer_class"])
    trained: list[nn.Module] = []
    for word in args.trained_layers.split("+"):
        if word in ("embedding", "head"):
            chosen = [model.get_input_embeddings() if word == "embedding" else model.get_output_embeddings()]
        else:
            end, _, number = word.rpartition(":")
            first, _, last = number.partition("-")
            if end not in ("", "first", "last") or (end and last) or not (first + (last or "0")).isdecimal():
                raise SystemExit(f"--trained_layers {word}: give last:8, first:8, 16-23, embedding or head")
            begin, stop = int(first), int(last or first)
            if not last:
                begin, stop = (0, begin - 1) if end == "first" else (len(layers) - begin, len(layers) - 1)
            if not 0 <= begin <= stop < len(layers):
                raise SystemExit(f"--trained_layers {word}: the model has {len(layers)} layers")
            chosen = layers[begin : stop + 1]
        if None in chosen:
            raise SystemExit(f"--trained_layers {word}: the model has none")
        trained += chosen
    updated = {id(p) for module in trained for p in module.parameters()}
    inside = {id(p) for layer in layers for p in layer.parameters()}
    # Norms outside of the layers share a unit of FSDP with what is trained there, and a unit has one number format.
    outside = bool(updated - inside)
    for p in model.parameters():
        p.requires_grad_(id(p) in updated)
        if not p.requires_grad and kind is not None and not (outside and p.dim() < 2 and id(p) not in inside):
            p.data = p.data.to(kind)


def add_adapters(model: Any, args: Any, keep_type: bool = False) -> Any:
    """LoRA on the linear layers, or virtual tokens. PEFT makes both fp32; with `keep_type` they have the type of the
    base."""
    import peft

    targets = args.lora_targets if args.lora_targets == "all-linear" else args.lora_targets.split(",")
    again = args.activation_checkpointing != "none"
    if args.finetune == "qlora" and not keep_type:
        model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=again,
                                                     gradient_checkpointing_kwargs=checkpoint_options(args))
    elif again:
        model.enable_input_require_grads()
    ends = {id(model.get_input_embeddings()), id(model.get_output_embeddings())}
    trained = [name for name, module in model.named_modules() if id(module) in ends]
    kind = next(p.dtype for p in model.parameters() if p.is_floating_point())
    if args.adapters in PROMPTS:
        make = getattr(peft, PROMPTS[args.adapters])
        config = make(task_type="CAUSAL_LM", num_virtual_tokens=args.virtual_tokens)
    else:
        config = peft.LoraConfig(r=args.lora_rank, lora_alpha=2 * args.lora_rank, lora_dropout=0.0,
                                 target_modules=targets, use_rslora=args.adapters == "rslora",
                                 use_dora=args.adapters == "dora",
                                 init_lora_weights="pissa" if args.adapters == "pissa" else True,
                                 modules_to_save=trained if args.lora_embeddings == "on" else None)
    model = peft.get_peft_model(model, config, autocast_adapter_dtype=not keep_type)
    if keep_type:
        for p in model.parameters():
            if p.requires_grad:
                p.data = p.data.to(kind)
    return model


def checkpoint_options(args: Any) -> dict[str, Any]:
    return {"use_reentrant": args.reentrant_checkpoint == "on"}


def layers_of(model: nn.Module, layer_class: str) -> list[nn.Module]:
    found = [module for module in model.modules() if type(module).__name__ == layer_class]
    if not found:
        raise SystemExit(f"the model has no {layer_class}: set layer_class in smplan_job.json to the class of its layers")
    return found


def load_tokenizer(args: Any) -> Any:
    """None where tokens come as they are, and none is named."""
    name = args.tokenizer or ("" if args.model.endswith(".json") else args.model)
    if not name or args.data == "synthetic":
        return None
    return transformers.AutoTokenizer.from_pretrained(place_of(name))


class LinearCrossEntropy(torch.autograd.Function):
    """Head and loss in one, some rows at a time, so that the logits of all tokens are never there at once. Gradients are
    computed with the loss (Hsu et al. 2024, 2410.10989)."""

    ROWS = 2048

    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, head: torch.Tensor, labels: torch.Tensor, total: Any) -> torch.Tensor:
        counted = labels != -100
        share = 1.0 / (counted.sum().clamp(min=1) if total is None else total)
        weight = head.to(hidden.dtype)
        by_hidden = torch.empty_like(hidden)
        by_head = torch.zeros_like(head, dtype=torch.float32) if head.requires_grad else None
        loss = hidden.new_zeros((), dtype=torch.float32)
        for start in range(0, len(hidden), LinearCrossEntropy.ROWS):
            rows = slice(start, start + LinearCrossEntropy.ROWS)
            logits = (hidden[rows] @ weight.T).float()
            label, counts = labels[rows].clamp(min=0), counted[rows]
            log_sum = logits.logsumexp(-1)
            picked = logits.gather(-1, label[:, None])[:, 0]
            loss += ((log_sum - picked) * counts).sum() * share
            slope = (logits - log_sum[:, None]).exp_()
            slope.scatter_add_(-1, label[:, None], -torch.ones_like(slope[:, :1]))
            slope = (slope * (counts * share)[:, None]).to(hidden.dtype)
            by_hidden[rows] = slope @ weight
            if by_head is not None:
                by_head += slope.T @ hidden[rows]
        ctx.save_for_backward(by_hidden, *([] if by_head is None else [by_head.to(head.dtype)]))
        return loss

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        by_hidden, *by_head = ctx.saved_tensors
        return by_hidden * slope, by_head[0] * slope if by_head else None, None, None


def use_linear_loss(model: Any, kind: str) -> None:
    """The model's forward pass computes its loss without logits. It stays one pass of one module, so that whoever shards
    the model gathers the head where the loss reads it."""
    scaled = [name for name in ("final_logit_softcapping", "logit_scale", "logits_scaling")
              if getattr(model.config, name, None)]
    if kind != "decoder" or scaled:
        raise SystemExit(f"--loss_kernel linear: the head of {model.config.model_type} is no plain product: use plain")

    # The Trainer reads the names of the arguments. Virtual tokens come as embeddings, or as keys of a cache.
    def forward(self: Any, input_ids: torch.Tensor | None = None, labels: torch.Tensor | None = None,
                inputs_embeds: torch.Tensor | None = None, past_key_values: Any = None, num_items_in_batch: Any = None,
                **_: Any) -> Any:
        read = {"input_ids": input_ids, "inputs_embeds": inputs_embeds, "past_key_values": past_key_values}
        read = {name: value for name, value in read.items() if value is not None}
        hidden = self.base_model(**read).last_hidden_state[:, :-1]
        if torch.is_autocast_enabled(hidden.device.type):
            hidden = hidden.to(torch.get_autocast_dtype(hidden.device.type))
        head = self.get_output_embeddings().weight
        loss = LinearCrossEntropy.apply(hidden.flatten(0, 1), head, labels[:, 1:].flatten(), num_items_in_batch)
        return transformers.modeling_outputs.CausalLMOutput(loss=loss)

    model.forward = types.MethodType(forward, model)
