"""validate() and calibrate() answer as the command line does, from files and from frames."""

import io
import json
import pickle

import pandas
import pytest

import smplan
from conftest import ROOT

RUNS = ROOT / "tests/measured/runs/megatron_lm.csv"


def test_validation_is_that_of_the_command_line(cli):
    validation = smplan.validate(RUNS)
    assert validation.to_csv() == cli("validate", str(RUNS), "--format", "csv").stdout
    assert validation.to_json() == cli("validate", str(RUNS), "--format", "json").stdout
    assert len(validation) == len(validation.rows) == 20


def test_frames_give_what_their_files_give():
    frame = pandas.read_csv(RUNS, dtype=str, keep_default_na=False)
    from_frame, from_file = smplan.validate(frame), smplan.validate(str(RUNS))
    assert [row["predicted_step_time_s"] for row in from_frame.rows] == [row["predicted_step_time_s"] for row in from_file.rows]
    assert from_frame.summary == from_file.summary


def test_validation_reads_several_files_and_reads_back_as_a_frame():
    other = ROOT / "tests/measured/runs/nanotron.csv"
    both = smplan.validate([RUNS, other])
    assert len(both) == len(smplan.validate(RUNS)) + len(smplan.validate(other))
    frame = both.to_pandas()
    assert len(frame) == len(both) and frame["predicted_step_time_s"].dtype.kind == "f"
    assert pickle.loads(pickle.dumps(both)) == both
    assert "mean error" in repr(both) and "<table>" in both._repr_html_()


def test_a_misspelled_column_is_told_and_others_are_not():
    frame = pandas.DataFrame({"id": ["a"], "model": ["llama-2-7b"], "gpu": ["H100"], "n_gpus": ["8"],
                              "seq_len": ["4096"], "micro_bach": ["1"], "rack": ["7"]})
    with pytest.warns(UserWarning, match="'micro_bach' is not read; did you mean 'micro_batch'") as told:
        smplan.validate(frame)
    assert len(told) == 1 and told[0].filename == __file__


@pytest.mark.filterwarnings("ignore:.* is not read")
def test_a_plans_own_table_is_a_table_of_runs(cli):
    table = cli("plan", "--model", "llama-2-13b", "--instances", "ml.p5.48xlarge", "--top", "4", "--format", "csv").stdout
    plans = pandas.read_csv(io.StringIO(table), dtype=str, keep_default_na=False)
    plans.insert(0, "id", [f"plan {i}" for i in range(len(plans))])
    rows = smplan.validate(plans.assign(model="llama-2-13b", seq_len="4096")).rows
    assert [float(row["predicted_step_time_s"]) for row in rows] == pytest.approx([float(t) for t in plans["step_time_s"]])


@pytest.mark.parametrize("runs", ["/nowhere/runs.csv", [], 7, None])
def test_what_is_no_table_is_refused(runs):
    with pytest.raises(smplan.InputError):
        smplan.validate(runs)


def test_bad_tables_name_the_line():
    with pytest.raises(smplan.InputError, match="DataFrame"):
        smplan.validate(pandas.DataFrame({"model": ["llama-2-7b"]}))


def test_calibration_is_that_of_the_command_line(cli, tmp_path):
    fitted = smplan.calibrate(RUNS, as_of="2026-11-20")
    assert fitted.overlay == cli("calibrate", str(RUNS), "--as-of", "2026-11-20").stdout
    assert fitted.mape_after < fitted.mape_before
    path = tmp_path / "overlay.json"
    fitted.save(path)
    assert smplan.Catalog.shipped().with_overlay(str(path)).overlays[0][1] == fitted.overlay
    assert set(fitted.to_pandas()["owner"]) >= {"megatron"}
    assert pickle.loads(pickle.dumps(fitted)) == fitted


def test_a_fitted_catalog_predicts_the_runs_better():
    fitted = smplan.calibrate(RUNS, as_of="2026-11-20")
    before, after = smplan.validate(RUNS).summary["mape"], smplan.validate(RUNS, catalog=fitted.catalog).summary["mape"]
    assert before == pytest.approx(fitted.mape_before, rel=1e-9)
    assert after == pytest.approx(fitted.mape_after, rel=1e-3)  # the overlay keeps six digits


@pytest.mark.parametrize("wrong", [{"scope": "all"}, {"prior_width": 0}, {"prior_width": 11}, {"as_of": "yesterday"},
                                   {"cross_validate": "colour"}, {"intervals": "fit"}, {"cross_validate": "file"}])
def test_calibration_refuses_wrong_options(wrong):
    with pytest.raises(smplan.InputError):
        smplan.calibrate(RUNS, **wrong)


def test_left_out_groups_are_those_of_the_command_line(cli):
    other = ROOT / "tests/measured/runs/nanotron.csv"
    fitted = smplan.calibrate([RUNS, other], cross_validate="file", intervals="model", as_of="2026-11-20")
    asked = cli("calibrate", str(RUNS), str(other), "--cross-validate", "file", "--intervals", "model", "--fit-report",
                "--as-of", "2026-11-20", "--format", "json", "--output", "/dev/null")
    assert fitted.to_json() == asked.stdout
    assert fitted.left_out.by == "file" and {group["name"] for group in fitted.left_out.groups} == {RUNS.name, other.name}
    assert "left out" in repr(fitted) and fitted._repr_html_().count("<table>") == 2
    assert smplan.calibrate(RUNS).left_out is None


def test_report_of_a_calibration_is_json(cli):
    assert smplan.calibrate(RUNS).to_dict() == json.loads(
        cli("calibrate", str(RUNS), "--fit-report", "--format", "json", "--output", "/dev/null").stdout)
