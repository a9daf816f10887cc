"""What `smplan catalog refresh` wrote, in calls that name no catalog."""

import json
import logging
import os
import pickle
import subprocess
import sys
import warnings

import pytest

import smplan

JOB = {"model": "gpt2", "instances": "ml.p4d.24xlarge", "count": 1, "stack": "fsdp", "region": "us-east-1"}


def overlay(usd_per_hour, on="2027-01-02", **members):
    price = {"instance": "ml.p4d.24xlarge", "region": "us-east-1", "market": "on-demand", "usd_per_hour": usd_per_hour,
             "basis": "measured", "source": "https://example.com/offer", "as_of": on}
    return json.dumps({"schema": "smplan.catalog/1", "refreshed": {"on": on}, "prices": [price], **members})


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv("SMPLAN_NO_CACHE")
    monkeypatch.setenv("SMPLAN_CACHE", str(tmp_path))
    return tmp_path / "prices.json"


def rate(**options):
    return smplan.estimate(**JOB, **options).best.cost.hourly_usd


def test_nothing_refreshed_is_the_shipped_catalog(cache):
    assert smplan.Catalog.refreshed() == smplan.Catalog.shipped()
    assert smplan.Catalog.refreshed().refreshed_on is None
    assert rate() == rate(catalog=smplan.Catalog.shipped())


def test_calls_use_it_as_the_program_does(cache, cli, caplog):
    shipped = rate()
    cache.write_text(overlay(123.5))
    with caplog.at_level(logging.INFO, logger="smplan"):
        plans = smplan.estimate(**JOB)
        assert smplan.estimate(**JOB) == plans
    assert [record.getMessage() for record in caplog.records] == [
        f"facts refreshed on 2027-01-02 are used, from {cache} (SMPLAN_NO_CACHE=1 leaves them out)"]
    assert plans.best.cost.hourly_usd == 123.5 != shipped
    words = [word for name, value in JOB.items() for word in ("--" + name, str(value))]
    assert json.loads(cli("estimate", *words, "--format", "json").stdout)["plans"] == json.loads(plans.to_json())["plans"]
    catalog = smplan.Catalog.refreshed()
    assert catalog.refreshed_on == "2027-01-02" and catalog.overlays == [(str(cache), cache.read_text())]
    assert catalog == smplan.Catalog.shipped().with_overlay(str(cache)) == pickle.loads(pickle.dumps(catalog))
    assert pickle.loads(pickle.dumps(catalog)).refreshed_on == "2027-01-02"
    assert rate(catalog=smplan.Catalog.shipped()) == shipped


def test_every_call_without_a_catalog_has_it(cache):
    cache.write_text(overlay(123.5))
    tuning = {"model": "gpt2", "examples": 100, "length": 100, "methods": ["full"], "instances": "ml.p4d.24xlarge",
              "region": "us-east-1"}
    shipped = smplan.Catalog.shipped()
    ratio = 123.5 / rate(catalog=shipped)
    assert smplan.finetune(**tuning).best.total_usd == pytest.approx(
        ratio * smplan.finetune(**tuning, catalog=shipped).best.total_usd, rel=0.01)
    line = smplan.sweep(**{**JOB, "tokens": "1B"})[0]
    assert line.plan.cost.hourly_usd == 123.5
    trained = smplan.rl(model="llama-3.2-1b", instances="ml.p4d.24xlarge", count=1, region="us-east-1", top=1)
    again = smplan.rl(model="llama-3.2-1b", instances="ml.p4d.24xlarge", count=1, region="us-east-1", top=1,
                      catalog=shipped)
    assert trained.to_json() != again.to_json()


def test_a_later_refresh_is_seen(cache):
    cache.write_text(overlay(123.5))
    assert rate() == 123.5
    cache.write_text(overlay(99))
    os.utime(cache, ns=(1, 1))
    assert rate() == 99
    cache.unlink()
    assert rate() == rate(catalog=smplan.Catalog.shipped())


def test_an_answer_keeps_the_facts_that_it_was_made_with(cache):
    cache.write_text(overlay(123.5))
    plans = smplan.plan(**JOB)
    saved = pickle.dumps(plans)
    cache.unlink()
    assert pickle.loads(saved) == plans
    assert pickle.loads(saved).best.explain() == plans.best.explain()


@pytest.mark.parametrize("value, used", [("1", False), ("0", True), ("", True)])
def test_the_environment_leaves_it_out(cache, monkeypatch, value, used):
    cache.write_text(overlay(123.5))
    monkeypatch.setenv("SMPLAN_NO_CACHE", value)
    assert (rate() == 123.5) == used
    assert (smplan.Catalog.refreshed().refreshed_on is not None) == used


@pytest.mark.parametrize("text, reason", [
    ("{", "expected"),
    ("[]", ""),
    (overlay(1, refreshed={}), "it has no day"),
    (overlay(1, on="2020-01-01"), "is of 2020-01-01, before the shipped prices of"),
    (overlay(-1), "usd_per_hour"),
    (overlay(1, princes=[]), "princes"),
    (overlay("\x1b[31m"), "usd_per_hour"),
])
def test_what_is_broken_is_left_out_with_a_warning(cache, text, reason):
    cache.write_text(text)
    with pytest.warns(UserWarning, match=f"{cache}: .*{reason}.*left out, the shipped facts are used "
                                         r"\(write it anew with `smplan catalog refresh`, or remove it\)") as caught:
        used = rate()
    assert used == rate(catalog=smplan.Catalog.shipped())
    assert "\x1b" not in str(caught[0].message)
    assert caught[0].filename == __file__, "the warning names the caller's line"
    with pytest.raises(smplan.InputError, match="left out"):
        smplan.Catalog.refreshed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rate()  # said once for a state of the file


def test_a_folder_or_a_pipe_is_left_out(cache):
    cache.mkdir()
    with pytest.warns(UserWarning, match="is no file"):
        rate()
    cache.rmdir()
    os.mkfifo(cache)
    with pytest.warns(UserWarning, match="is no file"):
        rate()


def test_the_check_of_scripts_has_it_too(cache, tmp_path):
    cache.write_text("{")
    script = tmp_path / "launch.py"
    script.write_text("from sagemaker.estimator import Estimator\nEstimator(instance_type='ml.p4d.24xlarge')\n")
    done = subprocess.run([sys.executable, "-m", "smplan", "check", str(script)], capture_output=True, text=True)
    assert "left out, the shipped facts are used" in done.stderr
