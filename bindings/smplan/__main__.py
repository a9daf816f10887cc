"""`python -m smplan` and the console script: the command line, and the checks of launch scripts, which Python reads."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Optional, Sequence


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Becomes the program; returns only for launch scripts, with their exit code, and if there is no program."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # As programs do: `smplan check launch.py | head` ends when head has read enough.
    if arguments is None and hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if words[:1] == ["check"] and any(word.endswith(".py") for word in words[1:]):
        from smplan._script_check import main as check_script

        return check_script(words)
    program = Path(__file__).with_name("bin") / "smplan"
    try:
        os.execv(program, ["smplan", *words])
    except OSError as error:
        print(f"smplan: internal fault: {program}: {error.strerror}; install the package again", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
