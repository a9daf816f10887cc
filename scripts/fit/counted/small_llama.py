"""A model of a sixteenth of the widths of a real one; with a sixteenth of its tokens all takes a 256th of the bytes."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

NARROWER = 16
SCALE = NARROWER**2
HIDDEN, INNER, LAYERS, HEADS, VOCAB = 128, 344, 24, 16, 9496  # 2048, 5504, 24, 16 and 151936


def small_llama():
    config = LlamaConfig(
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        vocab_size=VOCAB,
        use_cache=False,
    )
    return LlamaForCausalLM(config).to(torch.bfloat16)
