"""Ctrl-C ends long calls at once, and the work with them."""

import signal
import subprocess
import sys
import time

import pytest

from conftest import ROOT

# Runs the call again and again until the signal comes, then looks whether anything still works behind its back.
PROGRAM = """
import sys, time
import numpy
import smplan
runs = sorted(__import__("glob").glob({runs!r}))
def call():
    {call}
print("ready", flush=True)
try:
    while True:
        call()
except KeyboardInterrupt:
    print(time.time(), flush=True)
time.sleep(0.3)
spent = time.process_time()
time.sleep(0.7)
print(time.process_time() - spent)
"""

CALLS = {
    "plan": "smplan.plan(params='70B', top=1000)",
    "estimate": "smplan.estimate(model='llama-2-70b', instances='ml.p5.48xlarge', count=128)",
    "sweep": "smplan.sweep({'params': ['7B', '70B', '180B']})",
    "estimate_batch": "smplan.estimate_batch(model='llama-2-70b', instances='ml.p5.48xlarge', stack='megatron', "
                      "sharding='zero1', count=16, tp=numpy.full(2_000_000, 8, numpy.int32), micro_batch=1)",
    "cross_validate": "smplan.calibrate(runs, cross_validate='model')",
    "explain": "smplan.plan(params='70B', instances='ml.p4d*', top=1).sensitivity()",
    "report": "smplan.plan(params='70B', top=20).report()",
    "validate": "smplan.validate(runs)",
    "calibrate": "smplan.calibrate(runs, scope='devices')",
}


def default_signals():
    """A shell that runs the tests in the background has Ctrl-C ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_ctrl_c_ends(call):
    program = PROGRAM.format(call=call, runs=str(ROOT / "tests/measured/runs/*.csv"))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=default_signals)  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.8)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    interrupted, working = map(float, out.split())
    # A tenth of a second on an idle machine; a crowded one takes a few turns to wake the caller. The longest calls
    # take 15 to 50 s.
    assert interrupted - sent < 4
    assert working < 0.5, "the work went on unseen"
