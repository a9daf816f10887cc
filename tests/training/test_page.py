"""docs/training.md is true: its commands run, in their order, in an empty folder."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

from conftest import SMPLAN

PAGE = pathlib.Path(__file__).parents[2] / "docs/training.md"


def test_commands_of_the_page_run(tmp_path):
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 3
    path = f"{pathlib.Path(SMPLAN).parent}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-euc", "\n".join(blocks)], cwd=tmp_path, env={**os.environ, "PATH": path}, text=True,
                          capture_output=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for words in ("train.py", "step 60/60", "step-00000060", "model.safetensors", "step_time_s", "unknown accelerator 'cpu'"):
        assert words in done.stdout + done.stderr, words
