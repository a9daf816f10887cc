"""finetune(): the rows of `smplan finetune`."""

import json
import pickle
from pathlib import Path
from types import SimpleNamespace

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


TOKENIZERS = Path(__file__).parents[1] / "data/tokenizers"
TEXTS = ["the captain counts", "the ship leaves the harbour before the captain counts"]


class Encodes:
    """As sentencepiece's: no special tokens."""

    def encode(self, text):
        return text.split()


class EncodesBatches(Encodes):
    """As tokenizers': one token begins a sequence."""

    def encode_batch(self, texts, add_special_tokens=True):
        return [SimpleNamespace(ids=["<s>"] * add_special_tokens + self.encode(text)) for text in texts]


class IsCalled(Encodes):
    """As transformers'."""

    def __call__(self, texts, add_special_tokens=True):
        return {"input_ids": [["<s>"] * add_special_tokens + self.encode(text) for text in texts]}


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    return tmp_path / "data.jsonl"


def tuned(data, **question):
    return smplan.finetune(model="llama-3.1-8b", data=data, methods="lora", packing="length-grouped", epochs=1,
                           **question)[0]


@pytest.mark.parametrize("tokenizer, added", [(Encodes(), 0), (EncodesBatches(), 1), (IsCalled(), 1)])
def test_counts_with_an_object(data, tokenizer, added):
    row = tuned(data, tokenizer=tokenizer)
    assert row.tokens == pytest.approx(2 * round(sum(len(text.split()) + added for text in TEXTS) / 2), abs=1)
    assert "counted with the tokenizer given" in row.data


def test_counts_with_a_file_as_the_command_does(data, cli):
    row = tuned(data, tokenizer=TOKENIZERS / "llama3.json")
    shown = cli("finetune", "llama-3.1-8b", "--data", str(data), "--methods", "lora", "--packing", "length-grouped",
                "--epochs", "1", "--tokenizer", str(TOKENIZERS / "llama3.json"), "--format", "json")
    assert row.to_dict() == json.loads(shown.stdout)[0] and "llama3.json" in row.data


def test_what_a_tokenizer_raises_is_raised(data):
    class Faulty:
        def encode(self, text):
            raise LookupError("no token")
    with pytest.raises(LookupError):
        tuned(data, tokenizer=Faulty())
    with pytest.raises(smplan.InputError, match="cannot be int"):
        tuned(data, tokenizer=5)


@pytest.mark.parametrize("wrong, where", [
    ({"lengths": [0]}, "--lengths"), ({"lengths": [5], "examples": 3}, "--lengths"), ({}, "--data"),
    ({"lengths": [5, 6, 7], "loss": "dpo"}, "--lengths"), ({"lengths": [5], "methods": "adapters"}, "--methods")])
def test_refuses(wrong, where):
    with pytest.raises(smplan.InputError) as error:
        smplan.finetune(model="gpt2", **wrong)
    assert where in str(error.value)
