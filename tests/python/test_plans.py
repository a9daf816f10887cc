"""PlanSet and Plan: the command line's JSON, as sequences, views, frames and pickles."""

import copy
import json
import pickle

import jsonschema
import pytest

import smplan
from conftest import ROOT, SMALL

RUNS = ROOT / "tests/measured/runs/megatron_lm.csv"
FLAGS = ["--model", "llama-2-7b", "--instances", "ml.p4d.24xlarge", "--count", "1,2,4", "--stack", "fsdp", "--top", "3"]


def timeless(text):
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith('    "seconds": '))


def test_json_is_that_of_the_command_line_byte_for_byte(cli, small):
    shown = cli("plan", *FLAGS, "--format", "json")
    assert shown.returncode == 0, shown.stderr
    assert timeless(small.to_json()) == timeless(shown.stdout)
    assert small.to_csv() == cli("plan", *FLAGS, "--format", "csv").stdout


def test_dictionaries_go_back_to_the_same_bytes(small):
    for plans in (small, smplan.plan(params="70B", top=10), smplan.plan(params="70B", instances="ml.g5.xlarge", count=1)):
        assert smplan.PlanSet.from_dict(plans.to_dict()).to_json() == plans.to_json()
        assert smplan.PlanSet.from_json(plans.to_json()) == plans


def test_plan_and_estimate_follow_the_schema(plan_schema, small):
    jsonschema.validate(small.to_dict(), plan_schema)
    estimated = smplan.estimate(model="llama-2-7b", instances="ml.p4d.24xlarge", count=1, stack="fsdp")
    jsonschema.validate(estimated.to_dict(), plan_schema)
    assert len(estimated) == 1


def test_is_a_sequence(small):
    assert len(small) == 3
    assert [plan.rank for plan in small] == [1, 2, 3]
    assert small[-1].rank == 3 and small.best is small[0]
    assert small[0] in small and small.index(small[1]) == 1
    assert [plan.rank for plan in small[:2]] == [1, 2]
    assert small["pareto"] == small.to_dict()["pareto"]
    with pytest.raises(IndexError):
        small[3]


def test_declared_attributes_are_the_keys_of_the_json(small):
    data = small[0].to_dict()
    assert set(smplan.Plan.__annotations__) | {"memory", "cost"} == set(data)
    assert set(smplan.Memory.__annotations__) | {"components_gib", "peak_interval_gib"} == set(data["memory"])
    assert set(smplan.Cost.__annotations__) | {"components_usd"} == set(data["cost"])
    assert set(smplan.FrontierPoint.__annotations__) == set(small.to_dict()["frontier"][0])


def test_parts_sum_to_wholes(small):
    for plan in small:
        assert sum(plan.memory.components_gib.values()) == pytest.approx(plan.memory.peak_gib, rel=1e-12)
        assert sum(plan.step_time.components_s.values()) == pytest.approx(float(plan.step_time), rel=1e-12)
        low, high = plan.step_time.interval_s
        assert low < plan.step_time_s < high
        low, high = plan.memory.peak_interval_gib
        assert low < plan.memory.peak_gib < high
        assert plan.memory.headroom_gib == plan.memory.limit_gib - plan.memory.peak_gib
        assert plan.cost.total_usd > 0


def test_pareto_plans_lie_on_the_frontier(small):
    on_frontier = {(p.instance_type, p.instance_count, p.total_usd) for p in small.frontier}
    assert small.pareto
    for plan in small.pareto:
        assert (plan.instance_type, plan.instance_count, plan.cost.total_usd) in on_frontier


def test_are_frozen_equal_and_hashable(small):
    again = smplan.plan(**SMALL)
    assert again == small and hash(again[0]) == hash(small[0])
    assert small[0] != small[1] and small != smplan.plan(**{**SMALL, "top": 2})
    assert len({*small, *again}) == 3
    for view in (small[0], small[0].memory, small[0].cost, small[0].step_time):
        with pytest.raises(AttributeError):
            view.rank = 7


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_equal_and_can_explain(small, make):
    twin = make(small)
    assert twin == small and twin.to_json() == small.to_json()
    assert twin[1].explain() == small[1].explain()
    plan = make(small[1])
    assert plan == small[1] and plan.memory == small[1].memory


def test_overlays_survive_pickling(small, tmp_path):
    overlay = smplan.calibrate(str(RUNS), as_of="2026-11-20").overlay
    catalog = smplan.Catalog.shipped().with_overlay_text("mine", overlay)
    twin = pickle.loads(pickle.dumps(smplan.plan(**SMALL, catalog=catalog)))
    assert twin[0].explain() == smplan.plan(**SMALL, catalog=catalog)[0].explain()


def test_explains_as_the_command_line_does(cli, small):
    shown = json.loads(cli("explain", *FLAGS, "--rank", "2", "--format", "json").stdout)
    assert list(small[1].explain()) == [row["sentence"] for row in shown]
    assert str(small[1].explain()).startswith("- Rank 2: ")


def test_a_file_cannot_explain_but_can_do_the_rest(small):
    read = smplan.PlanSet.from_dict(small.to_dict())
    with pytest.raises(smplan.Error, match="read from a file"):
        read[0].explain()
    assert json.loads(read[0].trace())["traceEvents"] == json.loads(small[0].trace())["traceEvents"]
    assert read[0].export("fsdp") == small[0].export("fsdp")
    assert read.report().startswith("<!DOCTYPE html>")
    with pytest.raises(smplan.InputError, match="no answer of plan"):
        smplan.PlanSet.from_dict({})


def test_nothing_fits_is_an_answer_not_an_error():
    nothing = smplan.plan(params="70B", instances="ml.g5.xlarge", count=1)
    assert len(nothing) == 0 and not nothing and nothing.best is None
    assert sum(nothing.rejected.values()) > 0
    assert nothing.nearest_miss.reason == "memory"
    assert "nothing fits" in repr(nothing) and "nothing fits" in nothing._repr_html_()
    assert any("Nearest" in sentence for sentence in nothing.explain())


def test_plain_data_parallel_of_13b_does_not_fit_an_a100():
    plan = smplan.estimate(model="llama-13b", instances="ml.p4d.24xlarge", count=8, stack="ddp").best
    assert plan.memory.peak_gib > plan.memory.limit_gib and not plan.memory.fits


def test_representations_say_what_matters(small):
    assert repr(small[0]).startswith(f"Plan({small[0].instance_count} x ml.p4d.24xlarge, fsdp ")
    assert repr(small).count("\n") == 3
    page = small._repr_html_()
    assert page.count("<tr>") == 4 and "ml.p4d.24xlarge" in page and "<script" not in page
    for text in (repr(small[0].memory), repr(small[0].cost), repr(small[0].step_time), small[0]._repr_html_()):
        assert text


def test_frames_hold_every_figure(small):
    frame = small.to_pandas()
    assert list(frame["rank"]) == [1, 2, 3]
    assert list(frame["memory.components_gib.weights"]) == [p.memory.components_gib["weights"] for p in small]
    assert list(frame["cost.total_usd"]) == [p.cost.total_usd for p in small]


def test_trace_sums_to_the_step(small, tmp_path):
    path = tmp_path / "step.json"
    trace = json.loads(small[0].trace(path))
    assert json.loads(path.read_text()) == trace
    spent = sum(event["dur"] for event in trace["traceEvents"] if event["ph"] == "X")
    assert spent / 1e6 == pytest.approx(small[0].step_time_s, abs=2e-9)

