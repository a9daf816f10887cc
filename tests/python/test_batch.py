"""estimate_batch(): the numbers of estimate(), by the million."""

import time

import numpy
import pytest

import smplan

WORK = {"model": "llama-2-13b", "instances": "ml.p4d.24xlarge", "stack": "megatron"}


def test_rows_are_what_estimate_says():
    tp = numpy.array([1, 2, 4, 8])
    batch = smplan.estimate_batch(**WORK, count=4, tp=tp, sharding="zero1", micro_batch=1)
    for row, degree in enumerate(tp):
        plan = smplan.estimate(**WORK, count=4, tp=int(degree), sharding="zero1", micro_batch=1, recompute="none",
                               sequence_parallel=False).best
        assert batch.step_time_s[row] == plan.step_time_s
        assert batch.peak_gib[row] == plan.memory.peak_gib
        assert batch.fits[row] == plan.memory.fits
        assert batch.mfu[row] == plan.mfu
    assert batch.limit_gib == plan.memory.limit_gib


def test_dimensions_are_broadcast():
    batch = smplan.estimate_batch(**WORK, count=numpy.array([[1], [2], [4]]), tp=[2, 4, 8],
                                  recompute=["none", "selective", "full"])
    assert batch.step_time_s.shape == batch.fits.shape == (3, 3)
    frame = batch.to_pandas()
    assert len(frame) == len(batch) == 9
    assert list(frame["recompute"].unique()) == ["none", "selective", "full"]


def test_results_are_views_of_the_native_memory():
    batch = smplan.estimate_batch(**WORK, count=1, tp=[1, 2, 4, 8])
    assert not batch.peak_gib.flags.owndata and batch.peak_gib.base is not None
    kept = batch.peak_gib
    expected = kept.copy()
    del batch
    numpy.zeros(1 << 16)
    assert (kept == expected).all()


@pytest.mark.parametrize("wrong", [{"tp": [1.5]}, {"tp": [0]}, {"count": [1 << 30]}, {"recompute": "som"},
                                   {"sharding": ["zero1", "zero9"]}, {"stack": "fsdp,megatron"}, {"model": "lama"}])
def test_wrong_columns_are_refused(wrong):
    with pytest.raises(smplan.InputError):
        smplan.estimate_batch(**{**WORK, **wrong})


def test_a_hundred_thousand_take_less_than_a_second():
    rng = numpy.random.default_rng(7)
    n = 100_000
    columns = {"count": 2 ** rng.integers(0, 7, n), "tp": 2 ** rng.integers(0, 4, n), "pp": 2 ** rng.integers(0, 3, n),
               "micro_batch": 2 ** rng.integers(0, 4, n)}
    begin = time.perf_counter()
    batch = smplan.estimate_batch(**WORK, **columns, sharding="zero1")
    assert time.perf_counter() - begin < 1
    assert 0.1 < batch.fits.mean() < 1
