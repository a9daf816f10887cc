"""regions(): the rows of `smplan regions`."""

import json
import pickle

import pytest
import smplan

WORK = {"model": "llama-2-7b", "tokens": "1B", "instances": "ml.p4d.24xlarge", "count": [1, 2]}


@pytest.fixture(scope="module")
def answer():
    return smplan.regions(**WORK, region=["us-east-1", "eu-west-1"], market=["on-demand", "spot"])


def test_says_what_the_command_says(answer, cli):
    shown = cli("regions", "--model", "llama-2-7b", "--tokens", "1B", "--instances", "ml.p4d.24xlarge",
                "--count", "1,2", "--region", "us-east-1,eu-west-1", "--market", "on-demand,spot", "--format", "json")
    assert answer.to_dict() == json.loads(shown.stdout) and len(answer) == 4


def test_is_a_sequence_of_views(answer):
    assert answer.best.total_usd == min(row.total_usd for row in answer if row.total_usd is not None)
    assert pickle.loads(pickle.dumps(answer)) == answer
    there = sum(row.instance_type is not None for row in answer)
    assert repr(answer) == f"Regions({there} of 4 with a plan)" and "eu-west-1" in answer._repr_html_()
    assert list(answer.to_pandas()["region"]) == [row.region for row in answer]


def test_takes_all_regions_where_none_is_named():
    everywhere = smplan.regions(model="gpt2", instances="ml.g5.xlarge", count=1, stack="ddp", market="on-demand")
    assert {row.region for row in everywhere} >= {"us-east-1", "us-west-2"}
    assert set(everywhere.unpriced).isdisjoint(row.region for row in everywhere)
    assert everywhere.best == everywhere[0]


def test_a_cell_without_a_plan_says_why():
    row, = smplan.regions(model="llama-3.1-405b", instances="ml.g5.xlarge", count=1, region="us-east-1",
                          market="on-demand")
    assert row.instance_type is None and row.total_usd is None and row.why_not


@pytest.mark.parametrize("wrong, where", [({"region": "mars-1"}, "--region"), ({"market": "black"}, "--market"),
                                          ({"modle": "gpt2"}, "modle"), ({"tokens": -1}, "--tokens")])
def test_refuses(wrong, where):
    with pytest.raises(smplan.InputError) as error:
        smplan.regions(**{**WORK, **wrong})
    assert where in str(error.value)
