"""Catalog and Model: facts with their sources."""

import copy
import pickle

import pytest

import smplan
from conftest import ROOT

RUNS = ROOT / "tests/measured/runs/megatron_lm.csv"


def test_version_is_that_of_the_program(cli):
    assert cli("--version").stdout == f"smplan {smplan.__version__}\n"


def test_catalog_lists_what_is_shipped():
    catalog = smplan.Catalog.shipped()
    assert "ml.p4d.24xlarge" in catalog.instances
    assert "llama-2-13b" in catalog.models
    assert "fsdp" in catalog.stacks
    assert "us-east-1" in catalog.regions
    assert "A100-40GB" in catalog.accelerators
    assert len(catalog.models) >= 40
    assert repr(catalog).startswith(f"Catalog({len(catalog.instances)} instance types")


def test_facts_carry_units_and_sources():
    catalog = smplan.Catalog.shipped()
    p4d = catalog.instance("ml.p4d.24xlarge")
    assert p4d["accelerator_count"] == 8 and p4d["network_gbit_per_s"] == 400 and p4d["source"] and p4d["as_of"]
    price = catalog.price("ml.p4d.24xlarge")
    assert price["usd_per_hour"] > 0 and price["region"] == "us-east-1" and price["as_of"]
    assert catalog.price("ml.p4d.24xlarge", region="us-nowhere-1") is None
    with pytest.raises(smplan.InputError, match="did you mean"):
        catalog.instance("ml.p4d.24xlrge")
    with pytest.raises(smplan.InputError, match="did you mean spot"):
        catalog.price("ml.p4d.24xlarge", market="spott")


def test_catalogs_are_equal_by_what_lies_over_them():
    shipped = smplan.Catalog.shipped()
    overlay = smplan.calibrate(RUNS, as_of="2026-11-20").overlay
    mine = shipped.with_overlay_text("mine", overlay)
    assert shipped == smplan.Catalog() and hash(shipped) == hash(smplan.Catalog())
    assert mine != shipped and mine == smplan.Catalog(overlays=[("mine", overlay)])
    for twin in (copy.copy(mine), copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert twin == mine and twin.overlays == [("mine", overlay)]


def test_overlay_faults_name_the_file(tmp_path):
    overlay = tmp_path / "overlay.json"
    overlay.write_text('{"schema": 1, "schema": 2}', encoding="utf-8")
    with pytest.raises(smplan.InputError, match="overlay.json:/schema"):
        smplan.Catalog.shipped().with_overlay(str(overlay))


def test_models_know_their_widths_and_their_source():
    model = smplan.Model("llama-3-8b")
    assert (model.n_layers, model.hidden, model.n_kv_heads, model.vocab) == (32, 4096, 8, 128256)
    assert model.parameters == 8030261248
    assert model.source and model.as_of
    moe = smplan.Model("mixtral-8x7b")
    assert moe.n_experts == 8 and moe.active_parameters < moe.parameters
    assert smplan.Model.from_params("13B").parameters == smplan.Model("llama-2-13b").parameters
    with pytest.raises(smplan.InputError, match="did you mean"):
        smplan.Model("llama-3-8")


def test_models_are_frozen_values():
    model = smplan.Model("llama-3-8b")
    assert model == smplan.Model("llama-3-8b") and len({model, smplan.Model("llama-3-8b")}) == 1
    assert pickle.loads(pickle.dumps(model)) == model == copy.deepcopy(model)
    assert set(smplan.Model.__annotations__) == set(model.to_dict())
    with pytest.raises(AttributeError):
        model.hidden = 1


def test_errors_survive_pickling():
    with pytest.raises(smplan.InputError) as caught:
        smplan.plan()
    twin = pickle.loads(pickle.dumps(caught.value))
    assert twin.diagnostics == caught.value.diagnostics
    assert str(twin) == str(caught.value)
