"""import_catalog() takes from files of AWS what `smplan catalog import` takes."""

import copy
import pickle

import pytest

import smplan
from conftest import ROOT

AWS = ROOT / "tests/data/aws"
OFFER, SPOT = AWS / "AmazonSageMaker-index.json", AWS / "describe-spot-price-history.json"


def test_overlay_is_that_of_the_command_line(cli, tmp_path):
    imported = smplan.import_catalog([OFFER, SPOT], as_of="2026-11-20")
    assert imported.overlay == cli("catalog", "import", str(OFFER), str(SPOT), "--as-of", "2026-11-20").stdout
    path = tmp_path / "overlay.json"
    imported.save(path)
    assert smplan.Catalog.shipped().with_overlay(str(path)).changes(imported.catalog) == []


def test_prices_change_plans():
    imported = smplan.import_catalog(OFFER)
    assert imported.counts["prices"] > 0 and len(imported.to_pandas()) == len(imported.changes) > 0
    instance, region, market = imported.changes[0]["fact"].removeprefix("prices/").split(" ")
    before = smplan.Catalog.shipped().price(instance, region, market)
    after = imported.catalog.price(instance, region, market)
    assert after["usd_per_hour"] == pytest.approx(before["usd_per_hour"] * imported.changes[0]["ratio"])
    assert imported.catalog.verify() == []


def test_import_is_a_value():
    imported = smplan.import_catalog(SPOT, as_of="2026-11-20")
    for other in (pickle.loads(pickle.dumps(imported)), copy.copy(imported), copy.deepcopy(imported)):
        assert other == imported and hash(other) == hash(imported)
    assert imported != smplan.import_catalog(OFFER)
    assert "prices" in repr(imported) and "<table>" in imported._repr_html_()


@pytest.mark.parametrize("files", [[], "/nowhere/offer.json", [OFFER, "/nowhere/spot.json"], __file__])
def test_what_is_no_file_of_aws_is_refused(files):
    with pytest.raises(smplan.InputError):
        smplan.import_catalog(files)


@pytest.mark.parametrize("wrong", [{"as_of": "soon"}, {"savings_plan_years": 2}, {"region": "mars-north-1"}])
def test_wrong_options_are_refused(wrong):
    with pytest.raises(smplan.InputError):
        smplan.import_catalog(OFFER, **wrong)
