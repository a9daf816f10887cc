#!/usr/bin/env python3
"""The configurations that AWS ships as working must fit the memory model, and have words in their own formats.

Usage: recipes_check.py SMPLAN_BINARY REPOSITORY
"""

import pathlib
import sys

sys.dont_write_bytecode = True

LEAST_ASKED = 180
# The verdict goes by the chance to run out: these four are said to do so 84 to 98 times in 100.
MOST_MISFITS = 4
MOST_UNEXPRESSED = 0


def main() -> int:
    binary, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    sys.path.insert(0, str(root / "scripts"))
    from recipes_page import compare

    found = compare.verdicts(binary, root / "tests/data/recipes.csv", searches=False)
    asked = [v for v in found if v.plan]
    misfits = [v.row["id"] for v in asked if not v.fits]
    unexpressed = [v.row["id"] for v in asked if not v.expressible]
    print(f"{len(asked)} asked; do not fit: {misfits}; no words in their own format: {unexpressed}")
    good = len(asked) >= LEAST_ASKED and len(misfits) <= MOST_MISFITS and len(unexpressed) <= MOST_UNEXPRESSED
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
