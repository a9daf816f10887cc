"""sweep() answers as the command line does, goes on where it was interrupted, and shows how far it is."""

import copy
import json
import pickle
import sys
import types

import pytest

import smplan
from smplan import _progress, _sweep

BASE = {"instances": "ml.p4d.24xlarge", "count": "1,2", "tokens": "1B"}
VARY = {"model": ["gpt2", "llama-2-7b"], "stack": ["fsdp", "ddp"]}
FLAGS = ["--instances", "ml.p4d.24xlarge", "--count", "1,2", "--tokens", "1B", "--vary", "model=gpt2|llama-2-7b",
         "--vary", "stack=fsdp|ddp"]


@pytest.fixture(scope="module")
def swept():
    return smplan.sweep(VARY, **BASE)


def test_lines_are_those_of_the_command_line_byte_for_byte(cli, swept):
    assert swept.to_json() == cli("sweep", *FLAGS).stdout
    trials = smplan.sweep(model="gpt2", **BASE, trials=8, at_once=4, early_stopping=2)
    assert trials.to_json() == cli("sweep", "--model", "gpt2", *FLAGS[:6], "--trials", "8", "--at-once", "4",
                                   "--early-stopping", "2").stdout
    assert trials[0].trials.count == 8 and trials[0].trials.at_once <= 4


def test_is_a_sequence_of_what_was_asked(swept):
    assert [(line.request.model, line.request.stack) for line in swept] == [
        ("gpt2", "fsdp"), ("gpt2", "ddp"), ("llama-2-7b", "fsdp"), ("llama-2-7b", "ddp")]
    assert swept[0].plan.memory.fits and swept[-1].status == "no_plan" and swept[-1].plan is None
    assert repr(swept) == "Sweep(4 requests: 3 planned, 1 no_plan)"
    assert set(smplan.SweepLine.__annotations__) == set(swept[0].to_dict())
    frame = swept.to_pandas()
    assert list(frame["status"]) == [line.status for line in swept]
    assert swept._repr_html_().count("<tr>") == 5
    for twin in (copy.copy(swept), copy.deepcopy(swept), pickle.loads(pickle.dumps(swept))):
        assert twin == swept and hash(twin) == hash(swept)


def test_goes_on_where_it_was_interrupted(swept, tmp_path, monkeypatch):
    path = tmp_path / "sweep.jsonl"
    lines = swept.to_json().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1] + lines[2][:40], encoding="utf-8")  # the last line is cut short
    planned = []

    def plan_line(question, plan=_sweep._core.SweepQuestion.line):
        planned.append(json.loads(plan(question))["request"])
        return plan(question)

    monkeypatch.setattr(_sweep._core.SweepQuestion, "line", plan_line)
    assert smplan.sweep(VARY, **BASE, output=path) == swept
    assert [request["model"] for request in planned] == ["llama-2-7b", "llama-2-7b"]
    assert path.read_text(encoding="utf-8") == swept.to_json()
    assert smplan.sweep(VARY, **BASE, output=path) == swept and len(planned) == 2


@pytest.mark.parametrize("wrong", [{"vary": {"model": []}}, {"vary": {"modle": ["gpt2"]}}, {"trials": 0}, {"at_once": 2},
                                   {"trials": 4, "early_stopping": 1}, {"vary": {"count": ["1"]}},
                                   {"vary": {"tokens_": range(400), "b": range(400)}}])
def test_wrong_sweeps_are_refused(wrong):
    with pytest.raises(smplan.InputError):
        smplan.sweep(**{"model": "gpt2", **BASE, **wrong})


def test_invalid_requests_are_lines():
    lines = smplan.sweep({"tokens": ["1B", "many"]}, model="gpt2", instances="ml.p4d.24xlarge", count=1)
    assert [line.status for line in lines] == ["planned", "invalid"] and "--tokens" in lines[1].message


class Bar:
    """Stands for tqdm.auto.tqdm, and notes what it is told."""

    made: list = []

    def __init__(self, **options):
        self.n, self.total, self.closed = options["initial"], options["total"], False
        self.options = options
        Bar.made.append(self)

    def update(self, n):
        self.n += n

    def close(self):
        self.closed = True


@pytest.fixture
def bars(monkeypatch):
    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    monkeypatch.setattr(_progress, "_DELAY_S", -1)
    Bar.made = []
    return Bar.made


def test_progress_is_shown_with_tqdm(bars, swept):
    assert smplan.sweep(VARY, **BASE) == swept
    (bar,) = [bar for bar in bars if bar.options["desc"] == "sweep"]
    assert (bar.n, bar.total, bar.closed) == (4, 4, True)
    assert bar.options["disable"] is None  # hidden where standard error is no terminal


def test_a_search_over_the_catalog_shows_progress(bars):
    smplan.plan(params="70B", top=100)
    (bar,) = bars
    assert bar.options["desc"] == "plan" and bar.closed and 0 < bar.n <= bar.total


def test_progress_is_silent_without_tqdm(monkeypatch, capfd, swept):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(_progress, "_DELAY_S", -1)
    assert smplan.sweep(VARY, **BASE) == swept
    assert capfd.readouterr() == ("", "")


def dear():
    overlay = {"schema": "smplan.catalog/1", "prices": [{
        "instance": "ml.p4d.24xlarge", "region": "us-east-1", "market": "on-demand", "usd_per_hour": 1000,
        "basis": "measured", "source": "a test", "as_of": "2026-11-01"}]}
    return smplan.Catalog.shipped().with_overlay_text("dear.json", json.dumps(overlay))


def test_lines_of_other_facts_are_made_again(tmp_path):
    path = tmp_path / "sweep.jsonl"
    request = dict(model="gpt2", instances="ml.p4d.24xlarge", count=1, tokens="1B", output=path)
    first, = smplan.sweep(**request)
    again, = smplan.sweep(**request, catalog=dear())
    assert again.plan.cost.hourly_usd == 1000 != first.plan.cost.hourly_usd
    assert len({first.identity, again.identity}) == 2
    assert smplan.sweep(**request)[0] == first and len(path.read_text().splitlines()) == 2


@pytest.mark.parametrize("held", ["my notes, without a line break at the end", "{}\n", "[1]\n"])
def test_a_file_that_holds_something_else_is_left_alone(tmp_path, held):
    path = tmp_path / "notes.txt"
    path.write_text(held)
    with pytest.raises(smplan.InputError, match="something else"):
        smplan.sweep(model="gpt2", instances="ml.p4d.24xlarge", count=1, tokens="1B", output=path)
    assert path.read_text() == held
