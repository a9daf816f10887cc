"""Starts Ray on every machine of a job, and verl on the first of them.

SageMaker runs this once on each machine. Elsewhere NODES, NODE_RANK and HEAD_ADDRESS say how many machines there are,
which one this is, and where the first one answers. Arguments are overrides of verl's configuration, for example
trainer.total_training_steps=10.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time

CONFIG = "verl_rl"  # verl_rl.yaml beside this file
PORT = 6379
WAIT_S = float(os.environ.get("SMPLAN_WAIT_S", 1800))  # for the other machines
POLL_S = float(os.environ.get("SMPLAN_POLL_S", 10))
GONE = 3  # polls that the head leaves unanswered before it counts as gone


def place():
    """How many machines there are, which one this is, and the name of the first."""
    if "SM_HOSTS" in os.environ:
        hosts = sorted(json.loads(os.environ["SM_HOSTS"]))
        return len(hosts), hosts.index(os.environ["SM_CURRENT_HOST"]), hosts[0]
    nodes, rank = int(os.environ.get("NODES", 1)), int(os.environ.get("NODE_RANK", 0))
    head = os.environ.get("HEAD_ADDRESS", "127.0.0.1" if nodes == 1 else "")
    if not head:
        sys.exit("start_verl.py: HEAD_ADDRESS is missing: give the address of the first machine")
    if not 0 <= rank < nodes:
        sys.exit(f"start_verl.py: NODE_RANK is {rank}: give a number from 0 to {nodes - 1}")
    return nodes, rank, head


def answers(head):
    try:
        with socket.create_connection((head, PORT), timeout=POLL_S):
            return True
    except OSError:
        return False


def wait_until(holds, what):
    end = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"start_verl.py: waited {WAIT_S:.0f} s for {what}")
        time.sleep(POLL_S)


def ray(*arguments):
    subprocess.run(["ray", *arguments], check=True)


def run_head(nodes, head, overrides):
    address = socket.gethostbyname(head)
    ray("start", "--head", f"--node-ip-address={address}", f"--port={PORT}", "--disable-usage-stats")
    try:
        import ray as cluster

        cluster.init(address=f"{address}:{PORT}", log_to_driver=False)
        wait_until(lambda: sum(node["Alive"] for node in cluster.nodes()) >= nodes, f"{nodes} machines")
        cluster.shutdown()
        here = pathlib.Path(__file__).resolve().parent
        command = [sys.executable, "-m", "verl.trainer.main_ppo", "--config-path", str(here), "--config-name", CONFIG]
        return subprocess.run([*command, *overrides], env={**os.environ, "RAY_ADDRESS": f"{address}:{PORT}"},
                              check=False).returncode
    finally:
        ray("stop")


def run_worker(head):
    """Serves until the head is gone: what failed there is told there."""
    wait_until(lambda: answers(head), f"the first machine, {head}")
    ray("start", f"--address={socket.gethostbyname(head)}:{PORT}", "--disable-usage-stats")
    silent = 0
    while silent < GONE:
        time.sleep(POLL_S)
        silent = 0 if answers(head) else silent + 1
    ray("stop", "--force")
    return 0


def main():
    nodes, rank, head = place()
    return run_head(nodes, head, sys.argv[1:]) if rank == 0 else run_worker(head)


if __name__ == "__main__":
    sys.exit(main())
