"""What plan() and estimate() take: values of any kind, names with their nearest, every fault at once."""

import inspect
import threading

import pytest

import smplan
from conftest import SMALL
from smplan import _core
from smplan._request import Request


def test_values_may_be_numbers_lists_flags_and_enumerators():
    as_text = smplan.plan(**{**SMALL, "count": "1,2,4", "tokens": "1e9", "sequence_parallel": "false", "tp": "1"})
    as_values = smplan.plan(**{**SMALL, "tokens": 1e9, "sequence_parallel": False, "tp": 1, "budget": None})
    assert as_text == as_values
    by_name = smplan.plan(**SMALL, objective="time", market="on-demand")
    by_enumerator = smplan.plan(**SMALL, objective=smplan.Objective.TIME, market=smplan.Market.ON_DEMAND)
    assert by_name == by_enumerator


def test_enumerations_are_those_of_the_planner():
    names = {row["keyword"]: list(row["names"]) for row in _core.dimensions}
    assert [s.value for s in smplan.Sharding] == names["sharding"]
    assert [r.value for r in smplan.Recompute] == names["recompute"]
    for enumeration, keyword in ((smplan.Objective, "objective"), (smplan.Market, "market"),
                                 (smplan.Finetune, "finetune"), (smplan.Dtype, "dtype")):
        with pytest.raises(smplan.InputError) as caught:
            smplan.plan(params="7B", **{keyword: "nonsense"})
        assert f"--{keyword}" in caught.value.diagnostics[0].location
        for name in enumeration:
            try:
                smplan.plan(**SMALL, **{keyword: name})
            except smplan.InputError as error:
                assert not any(d.code.startswith("unknown") and d.location == f"--{keyword}" for d in error.diagnostics), error


def test_keywords_are_those_of_the_native_table():
    assert set(Request.__annotations__) == set(_core.keywords)
    shown = inspect.signature(smplan.plan).parameters
    assert set(shown) == {"catalog", *_core.keywords}
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in shown.values())


def test_every_fault_is_reported_at_once():
    with pytest.raises(smplan.InputError) as caught:
        smplan.plan(params="-13B", deadline="x", objective="chepa")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, smplan.Error)
    assert [d.location for d in caught.value.diagnostics] == ["--params", "--deadline", "--objective"]
    assert all(d.code and d.message for d in caught.value.diagnostics)


def test_unknown_names_get_the_nearest_ones():
    with pytest.raises(smplan.InputError, match="did you mean .*llama-2-13b"):
        smplan.plan(model="llama-2-13")
    with pytest.raises(smplan.InputError, match="did you mean seq_len"):
        smplan.plan(params="13B", seqlen=4096)


@pytest.mark.parametrize("value", [{}, [], object(), b"13B", float("nan"), float("inf"), "", "13\0B", "13B" * 10000])
def test_hostile_values_are_refused(value):
    with pytest.raises(smplan.InputError):
        smplan.plan(params=value)


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError):
        smplan.plan("13B")


def test_region_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    assert smplan.plan(**SMALL)[0].cost.region == "us-west-2"
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert smplan.plan(**SMALL)[0].cost.region == "us-east-1"


def test_models_stand_for_themselves():
    assert smplan.plan(**{**SMALL, "model": smplan.Model("llama-2-7b")}) == smplan.plan(**SMALL)
    sized = {"instances": "ml.p4d.24xlarge", "count": 1, "stack": "fsdp"}
    assert smplan.plan(model=smplan.Model.from_params("7B"), **sized) == smplan.plan(params="7B", **sized)


def test_documents_may_be_dictionaries(tmp_path):
    import json

    config = {"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32,
              "num_key_value_heads": 8, "intermediate_size": 8192, "vocab_size": 128256, "tie_word_embeddings": True,
              "max_position_embeddings": 131072}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    sized = {"instances": "ml.g5.12xlarge", "count": 1, "stack": "fsdp", "tokens": "1B"}
    from_path = smplan.plan(hf_config=path, **sized)
    assert from_path == smplan.plan(hf_config=config, **sized)
    assert from_path == smplan.plan(model=smplan.Model.from_hf_config(config), **sized)
    assert smplan.Model.from_hf_config(path).n_layers == 16


def test_threads_get_the_same_answer():
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(smplan.plan(**SMALL))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    assert all(answer == answers[0] for answer in answers)


def test_another_thread_runs_during_a_search():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(None)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        smplan.plan(params="13B", top=1)
    finally:
        stop.set()
        thread.join()
    assert len(ticks) > 5



@pytest.mark.parametrize(("typed", "meant"), [
    ({"model": None, "params": "13b"}, {"model": None, "params": "13B"}), ({"tokens": "1.4t"}, {"tokens": "1.4T"}),
    ({"tokens": "300bn"}, {"tokens": "300B"}),
    ({"finetune": "LoRA"}, {"finetune": "lora"}), ({"dtype": "BF16"}, {"dtype": "bf16"}),
    ({"optimizer": "AdamW"}, {"optimizer": "adamw"}), ({"region": "US-WEST-2"}, {"region": "us-west-2"}),
    ({"instances": ["P5.48XLARGE"]}, {"instances": "ml.p5.48xlarge"}),
    ({"instances": "p4d"}, {"instances": "ml.p4d.24xlarge"}),
    ({"stack": "pytorch fsdp"}, {"stack": "fsdp"}), ({"market": "all"}, {"market": list(smplan.Market)}),
    ({"count": "1-2"}, {"count": [1, 2]}), ({"deadline": "14 days"}, {"deadline": "14d"}),
    ({"min_headroom": 5}, {"min_headroom": 0.05}), ({"seq_len": "2k"}, {"seq_len": 2048}),
])
def test_words_are_taken_as_people_type_them(typed, meant):
    def answer(words):
        plans = smplan.plan(**{**SMALL, **words})
        rows = [(plan.instance_type, plan.instance_count, plan.step_time_s, plan.time_to_train_s) for plan in plans]
        return rows, plans.request.region, plans.request.seq_len, plans.request.tokens
    assert answer(typed) == answer(meant)


@pytest.mark.parametrize(("words", "hint"), [
    ({"epochs": 3}, "give --tokens: samples x tokens of a sample x epochs"),
    ({"deadline": "3M"}, "months differ in length"), ({"deadline": "2026-02-30"}, "write 2026-12-04"),
    ({"offload": "nvme"}, "optimizer+nvme"), ({"max_oom_probability": 1.5}, "write 1.5% for a percentage"),
])
def test_words_that_could_mean_something_else_are_refused_with_a_hint(words, hint):
    with pytest.raises(smplan.InputError) as caught:
        smplan.plan(**{**SMALL, **words})
    assert hint in caught.value.diagnostics[0].hint


def test_a_set_clock_gives_the_same_answer_and_its_deadline(monkeypatch):
    monkeypatch.setenv("SMPLAN_NOW", "2026-11-26T17:00:00-08:00")
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    first, second = (smplan.plan(**SMALL, deadline="Friday") for _ in range(2))
    assert first.request.deadline_at == "2026-11-28T00:00:00-08:00"
    assert first.request.deadline_s == 31 * 3600
    assert first.to_json() == second.to_json()
    monkeypatch.setenv("SMPLAN_NOW", "yesterday")
    with pytest.raises(smplan.InputError) as caught:
        smplan.plan(**SMALL)
    assert caught.value.diagnostics[0].location == "SMPLAN_NOW"
