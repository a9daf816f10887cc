"""Llama as transformers writes it, in bf16, of a narrow shape."""
import torch
from narrow_llama import Shape
from transformers import LlamaConfig, LlamaForCausalLM

QWEN_1B8 = Shape(2048, 5504, 24, 16, 16, 151936).narrow()


def shifted(logits):
    """`logits[..., :-1, :].contiguous()`, a copy where there are several sequences, but of all tokens.

    At full size the blocks of all and of all but one serve each other. Of a sixteenth of the tokens one is too many.
    """
    whole = torch.ops.aten.slice.Tensor(logits, 1, 0, logits.shape[1])
    return whole.clone() if logits.shape[0] > 1 else whole


def small_llama(shape):
    config = LlamaConfig(
        hidden_size=shape.hidden,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        vocab_size=shape.vocab,
        use_cache=False,
    )
    return LlamaForCausalLM(config).to(torch.bfloat16)
