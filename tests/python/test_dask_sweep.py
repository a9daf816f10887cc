"""A sweep on a local cluster of processes, one of which is killed while it works."""

import json
import os
import signal

import pytest

distributed = pytest.importorskip("dask.distributed", reason="the Dask sweep needs dask.distributed")

import smplan
from smplan import dask_sweep

REQUESTS = dask_sweep.grid(model="gpt2", instances=["ml.p4d.24xlarge", "ml.g5.12xlarge"], count="1..4",
                           tokens=[f"{n}B" for n in range(1, 13)])


@pytest.fixture
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster:
        yield cluster


def tried_alone():
    return [smplan.sweep(**request)[0].to_dict() for request in REQUESTS]


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_grid_is_every_combination_once():
    assert dask_sweep.grid(params=["7B", "13B"], region="us-east-1") == [
        {"params": "7B", "region": "us-east-1"}, {"params": "13B", "region": "us-east-1"}]
    assert len({json.dumps(request) for request in REQUESTS}) == 24


def test_killed_worker_loses_nothing_and_nothing_is_written_twice(cluster, tmp_path):
    path = tmp_path / "sweep.jsonl"
    killed = []
    appended = dask_sweep._LineAppender.write

    def kill_after_five(self, line):
        appended(self, line)
        if len(lines_of(path)) == 5:
            victim = next(iter(cluster.workers.values()))
            killed.append(victim.process.pid)
            os.kill(victim.process.pid, signal.SIGKILL)

    with distributed.Client(cluster) as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_sweep._LineAppender, "write", kill_after_five)
        lines = dask_sweep.sweep(REQUESTS + REQUESTS[:3], client, path)
    assert len(killed) == 1
    assert lines == tried_alone() + tried_alone()[:3]
    written = lines_of(path)
    assert len(written) == len(REQUESTS)
    assert {json.dumps(line["request"], sort_keys=True) for line in written} == {
        json.dumps(line["request"], sort_keys=True) for line in tried_alone()}


def test_goes_on_where_it_was_interrupted(cluster, tmp_path):
    path = tmp_path / "sweep.jsonl"
    alone = tried_alone()
    kept = [json.dumps(line, separators=(",", ":")) + "\n" for line in alone[:10]]
    marked = json.dumps({**alone[0], "message": "written before"}, separators=(",", ":")) + "\n"
    path.write_text(marked + "".join(kept[1:]) + kept[0][: len(kept[0]) // 2])  # the last line is cut short
    with distributed.Client(cluster) as client:
        lines = dask_sweep.sweep(REQUESTS, client, path)
    assert lines[0]["message"] == "written before", "a known line is not made again"
    assert lines[1:] == alone[1:]
    assert len(lines_of(path)) == len(REQUESTS)


def test_invalid_requests_are_lines_too(cluster):
    with distributed.Client(cluster) as client:
        lines = dask_sweep.sweep([{"model": "gpt2", "tokens": "many"}, {"model": "gpt2", "budget": 0.01}], client)
    assert [line["status"] for line in lines] == ["invalid", "no_plan"]
    assert "tokens" in lines[0]["message"]
    assert smplan.__version__ == lines[0]["smplan_version"]


def test_a_catalog_goes_to_the_workers(cluster, tmp_path):
    overlay = {"schema": "smplan.catalog/1", "prices": [{
        "instance": "ml.p4d.24xlarge", "region": "us-east-1", "market": "on-demand", "usd_per_hour": 1000,
        "basis": "measured", "source": "a test", "as_of": "2026-11-01"}]}
    dear = smplan.Catalog.shipped().with_overlay_text("dear.json", json.dumps(overlay))
    path = tmp_path / "sweep.jsonl"
    with distributed.Client(cluster) as client:
        cheap, = dask_sweep.sweep(REQUESTS[:1], client, path)
        line, = dask_sweep.sweep(REQUESTS[:1], client, path, catalog=dear)
        again, = dask_sweep.sweep(REQUESTS[:1], client, path, catalog=dear)
    assert line["plan"]["cost"]["hourly_usd"] == 1000 != cheap["plan"]["cost"]["hourly_usd"]
    assert again == line == smplan.sweep(**REQUESTS[0], catalog=dear)[0].to_dict()
    assert len(lines_of(path)) == 2
