"""finetune(): the rows of `smplan finetune`."""

import json
import pickle

import pytest
import smplan


@pytest.fixture(scope="module")
def answer():
    return smplan.finetune(model="llama-3.1-8b", examples="20k", length=900, global_batch=64)


def test_says_what_the_command_says(answer, cli):
    shown = cli("finetune", "llama-3.1-8b", "--examples", "20k", "--length", "900", "--global-batch", "64", "--format", "json")
    assert answer.to_dict() == json.loads(shown.stdout)


def test_is_a_sequence_of_views(answer):
    assert [row.method for row in answer] == ["full", "lora", "qlora"]
    assert answer.best.total_usd == min(row.total_usd for row in answer)
    assert pickle.loads(pickle.dumps(answer)) == answer
    assert repr(answer) == "FineTuning(full, lora, qlora)" and "qlora" in answer._repr_html_()
    assert list(answer.to_pandas()["method"]) == ["full", "lora", "qlora"]


def test_takes_lengths_of_a_tokenizer():
    packed = smplan.finetune(model="llama-3.1-8b", lengths=[100, 300, 500] * 200, methods="lora", epochs=1)[0]
    assert packed.tokens == 88 * 2048  # 180,000 tokens in blocks
    padded = smplan.finetune(model="llama-3.1-8b", lengths=[100, 300, 500] * 200, methods="lora", epochs=1,
                             packing="length-grouped")[0]
    assert padded.tokens == 600 * 300 and padded.seq_len == 512
    pairs = smplan.finetune(model="llama-3.1-8b", lengths=[100, 120] * 200, methods="lora", loss="dpo", epochs=1)[0]
    assert pairs.steps == 400 // 8 and pairs.launch == "export"


@pytest.mark.parametrize("wrong, where", [
    ({"lengths": [0]}, "--lengths"), ({"lengths": [5], "examples": 3}, "--lengths"), ({}, "--data"),
    ({"lengths": [5, 6, 7], "loss": "dpo"}, "--lengths"), ({"lengths": [5], "methods": "adapters"}, "--methods")])
def test_refuses(wrong, where):
    with pytest.raises(smplan.InputError) as error:
        smplan.finetune(model="gpt2", **wrong)
    assert where in str(error.value)
