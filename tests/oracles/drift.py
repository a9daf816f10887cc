#!/usr/bin/env python3
"""The newest libraries of PyPI, read by scripts/refresh: what moved is told, and fails nothing. Fails where a library can
no longer be read; ends with 77, skipped, where PyPI cannot be reached.
Usage: drift.py SOURCE
"""

import pathlib
import re
import subprocess
import sys

SKIPPED = 77


def main() -> int:
    refresh = pathlib.Path(sys.argv[1]) / "scripts/refresh"
    done = subprocess.run([sys.executable, "-B", refresh, "--newest", "--check"], capture_output=True, text=True)
    print(done.stdout + done.stderr, end="")
    unread = re.findall(r"^\S+: not read, (.*)$", done.stdout, re.MULTILINE)
    if unread and all(why == "PyPI cannot be reached" for why in unread):
        print("skipped: PyPI cannot be reached")
        return SKIPPED
    return 0 if done.returncode in (0, 1) and not unread else 1


if __name__ == "__main__":
    sys.exit(main())
