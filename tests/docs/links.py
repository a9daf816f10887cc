#!/usr/bin/env python3
"""Links between pages lead somewhere: files exist, anchors are headings, and every page of docs/ can be reached.

usage: links.py ROOT
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: pathlib.Path) -> set:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("docs/decisions/*.md")]
    faults, reached = [], {root / "README.md"}
    for page in pages:
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" in link or link.startswith("mailto:"):
                continue
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            reached.add(target)
            if not target.exists():
                faults.append(f"{page.relative_to(root)}: {link} leads nowhere")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                faults.append(f"{page.relative_to(root)}: {link}: no such heading")
    faults += [f"docs/{page.name}: no page leads here" for page in root.glob("docs/*.md") if page.resolve() not in reached]
    print("\n".join(faults) if faults else f"{len(pages)} pages, every link leads somewhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
