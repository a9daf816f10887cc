"""Which attention the exported program loads a model with."""

import pathlib
import sys
import types

import pytest
import transformers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "planner/export/programs"))
import smplan_model


@pytest.mark.parametrize("config, asked, loaded", [
    (transformers.LlamaConfig(), "default", "sdpa"),
    (transformers.LlamaConfig(), "off", "eager"),
    (transformers.GptOssConfig(num_hidden_layers=1, hidden_size=64), "default", "eager"),  # its sinks have no fused kernel
])
def test_models_without_fused_attention_load(tmp_path, config, asked, loaded):
    config.save_pretrained(tmp_path)
    args = types.SimpleNamespace(flash_attention=asked)
    assert smplan_model.attention_of(args, smplan_model.MAKERS["decoder"], str(tmp_path)) == loaded
