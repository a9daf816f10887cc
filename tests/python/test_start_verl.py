"""start_verl.py of an exported job: Ray on every machine, verl on the first. Stand-ins of both note their calls."""

import json
import os
import socket
import subprocess
import sys
import textwrap

import pytest

from conftest import ROOT

PROGRAM = ROOT / "planner/export/programs/start_verl.py"


@pytest.fixture
def job(tmp_path):
    """A folder with the program, a `ray` that notes its arguments, and modules that note theirs."""
    (tmp_path / "start_verl.py").write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")
    ray = tmp_path / "bin/ray"
    ray.parent.mkdir()
    ray.write_text('#!/bin/sh\necho "ray $*" >> "$CALLS"\n')
    ray.chmod(0o755)
    (tmp_path / "ray.py").write_text(textwrap.dedent("""
        import os
        seen = []
        def init(address, log_to_driver):
            print("init", address, file=open(os.environ["CALLS"], "a"))
        def nodes():
            seen.append(1)
            return [{"Alive": True}] * len(seen) + [{"Alive": False}]
        def shutdown():
            print("shutdown after", len(seen), file=open(os.environ["CALLS"], "a"))
    """))
    trainer = tmp_path / "verl/trainer/main_ppo.py"
    trainer.parent.mkdir(parents=True)
    (tmp_path / "verl/__init__.py").touch()
    (tmp_path / "verl/trainer/__init__.py").touch()
    trainer.write_text('import os, sys\nprint("verl", *sys.argv[1:], os.environ["RAY_ADDRESS"], '
                       'file=open(os.environ["CALLS"], "a"))\nsys.exit(int(os.environ.get("FAULT", 0)))\n')
    return tmp_path


def start(job, *overrides, **environment):
    environment = {"PATH": f"{job / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(job), "CALLS": str(job / "calls"),
                   "SMPLAN_POLL_S": "0.05", "SMPLAN_WAIT_S": "2", **environment}
    done = subprocess.run([sys.executable, str(job / "start_verl.py"), *overrides], env=environment, timeout=60,
                          capture_output=True, text=True, check=False)
    calls = job / "calls"
    return done, calls.read_text().splitlines() if calls.exists() else []


def test_the_first_machine_waits_for_the_others_and_runs_verl(job):
    done, calls = start(job, "trainer.total_training_steps=3", SM_HOSTS='["localhost", "second"]',
                        SM_CURRENT_HOST="localhost")
    assert done.returncode == 0, done.stderr
    assert calls == ["ray start --head --node-ip-address=127.0.0.1 --port=6379 --disable-usage-stats",
                     "init 127.0.0.1:6379", "shutdown after 2",
                     f"verl --config-path {job} --config-name verl_rl trainer.total_training_steps=3 127.0.0.1:6379",
                     "ray stop"]


def test_a_fault_of_verl_is_the_job_s(job):
    done, calls = start(job, FAULT="7")
    assert done.returncode == 7 and calls[-1] == "ray stop"


def test_machines_that_do_not_come_end_the_job(job):
    done, calls = start(job, NODES="90", HEAD_ADDRESS="localhost", SMPLAN_WAIT_S="0.3")
    assert done.returncode != 0 and "90 machines" in done.stderr and calls[-1] == "ray stop"
    assert not any(call.startswith("verl") for call in calls)


def test_another_machine_serves_until_the_first_is_gone(job):
    with socket.socket() as head:
        head.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            head.bind(("127.0.0.1", 6379))
        except OSError:
            pytest.skip("port 6379 is taken")
        head.listen()
        environment = {**os.environ, "PATH": f"{job / 'bin'}:{os.environ['PATH']}", "CALLS": str(job / "calls"),
                       "SMPLAN_POLL_S": "0.05", "NODES": "2", "NODE_RANK": "1", "HEAD_ADDRESS": "localhost"}
        worker = subprocess.Popen([sys.executable, str(job / "start_verl.py")], env=environment)
        head.accept()[0].close()
        with pytest.raises(subprocess.TimeoutExpired):
            worker.wait(timeout=1)
    assert worker.wait(timeout=30) == 0
    assert (job / "calls").read_text().splitlines() == ["ray start --address=127.0.0.1:6379 --disable-usage-stats",
                                                        "ray stop --force"]


@pytest.mark.parametrize("environment, fault", [({"NODES": "2"}, "HEAD_ADDRESS"),
                                                ({"NODES": "2", "NODE_RANK": "2", "HEAD_ADDRESS": "a"}, "from 0 to 1")])
def test_says_what_is_missing(job, environment, fault):
    done, calls = start(job, **environment)
    assert done.returncode != 0 and fault in done.stderr and calls == []


def test_hosts_are_ranked_alike_everywhere():
    code = "import json, sys; sys.path.insert(0, sys.argv[1]); import start_verl; print(json.dumps(start_verl.place()))"
    hosts = [f"algo-{n}" for n in (2, 10, 1)]
    ranks = []
    for host in hosts:
        done = subprocess.run([sys.executable, "-c", code, str(PROGRAM.parent)], capture_output=True, text=True,
                              check=True, env={**os.environ, "SM_HOSTS": json.dumps(hosts), "SM_CURRENT_HOST": host})
        ranks.append(json.loads(done.stdout))
    assert sorted(rank for _, rank, _ in ranks) == [0, 1, 2] and {head for _, _, head in ranks} == {"algo-1"}
