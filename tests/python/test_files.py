"""What the package writes is there whole or not at all."""

import os

import pytest
import smplan
from smplan._files import write_text


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "answer.json"
    path.write_text("a long first content")
    path.chmod(0o600)
    before = path.stat().st_ino
    write_text(path, "short")
    assert path.read_text() == "short"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_ino != before, "written in place"
    assert names(tmp_path) == ["answer.json"]


def test_a_new_file_obeys_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "answer.json"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["answer.json"]


def interrupted(descriptor):
    raise KeyboardInterrupt


def test_a_link_is_followed_and_a_device_written_in_place(tmp_path):
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "x"
    with pytest.raises(OSError):
        write_text("/dev/full", "x")


def test_every_writer_renames(tmp_path):
    plans = smplan.plan(model="gpt2", instances="ml.p4d.24xlarge", count=1, top=1)
    writers = {
        "report.html": lambda path: plans.report(path),
        "step.json": lambda path: plans.best.trace(path),
    }
    for name, write in writers.items():
        path = tmp_path / name
        path.write_text("old")
        before = path.stat().st_ino
        write(path)
        assert path.stat().st_ino != before, name
    plans.best.export("create-training-job").write(tmp_path / "job")
    assert (tmp_path / "job/create_training_job.json").exists()
    assert names(tmp_path) == ["job", *writers]


def test_an_export_keeps_out_of_the_way_of_other_jobs(tmp_path):
    plan = smplan.plan(model="gpt2", instances="ml.p4d.24xlarge", count=1, stack="ddp", top=1).best
    plan.export("sagemaker-sdk-v2").write(tmp_path)
    plan.export("create-training-job").write(tmp_path)
    assert not (tmp_path / "launch.py").exists() and (tmp_path / "create_training_job.json").exists()
    (tmp_path / "NOTES.md").write_text("mine")
    with pytest.raises(smplan.InputError, match="was changed since smplan wrote it"):
        plan.export("create-training-job").write(tmp_path)
    assert (tmp_path / "NOTES.md").read_text() == "mine"
