"""`python -m smplan check launch.py`: the checks of `smplan check` for a launch script, which is read, never run."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from smplan import _core
from smplan._errors import InputError
from smplan._keywords import to_text
from smplan._launch_script import read_launch_script
from smplan._request import environment_region
from smplan._usual_catalog import usual_catalog

REQUEST_FLAGS = ("params", "model", "hf-config", "arch", "tokens", "seq-len", "global-batch", "global-batch-tokens",
                 "dtype", "optimizer", "finetune", "region", "market", "stack", "tp", "pp", "cp", "ep", "dp",
                 "zero-stage", "sharding", "shard-degree", "micro-batch", "recompute",
                 "recompute-layers", "offload", "budget", "deadline")


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="python -m smplan")
    commands = root.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="check the estimator calls of a launch script without running it")
    check.add_argument("file", help="a Python script (or any file that `smplan check` takes)")
    check.add_argument("--format", choices=("text", "json", "sarif"), default="text")
    check.add_argument("--facts", help="a smplan.facts/1 file")
    check.add_argument("--ignore", default="", help="rules that are not to be reported: C116,C202")
    check.add_argument("--strict", action="store_true", help="warnings count as errors")
    for flag in REQUEST_FLAGS:
        check.add_argument(f"--{flag}", dest=flag.replace("-", "_"))
    return root


def facts_text(path: Optional[str], imports: List[str]) -> str:
    """The facts of the file with what the script imports beside them."""
    facts: Dict[str, Any] = {"schema": "smplan.facts/1"}
    if path:
        with open(path, encoding="utf-8") as file:
            facts = json.load(file)
    if imports and isinstance(facts, dict):
        facts.setdefault("script", {}).setdefault("imports", imports)
    return json.dumps(facts)


def answers(options: argparse.Namespace) -> Iterator[Dict[str, Any]]:
    """One answer of the checks a call (or one for a file that is no script)."""
    with open(options.file, encoding="utf-8") as file:
        source = file.read()
    arguments = {flag.replace("-", "_"): to_text(flag, value) for flag in REQUEST_FLAGS
                 if (value := getattr(options, flag.replace("-", "_"))) is not None}
    ignored = [rule.strip() for rule in options.ignore.split(",") if rule.strip()]
    region = environment_region()
    jobs: List[Tuple[str, Optional[str]]] = [(source, None)]
    imports: List[str] = []
    if options.file.endswith(".py"):
        script = read_launch_script(source, options.file)
        jobs, imports = [(call.text, call.kind) for call in script.calls], script.imports
    for text, kind in jobs:
        as_json, as_sarif = _core.check(usual_catalog(), text, options.file, kind, arguments,
                                        facts_text(options.facts, imports), ignored, region)
        yield json.loads(as_sarif if options.format == "sarif" else as_json)


def show(answer: Dict[str, Any]) -> None:
    for finding in answer["findings"]:
        place = finding["file"] + (f":{finding['line']}" if finding["line"] else "")
        print(f"{finding['severity']} {finding['rule']}: {finding['message']}\n  {place} {finding['path']}\n"
              f"  fix: {finding['fix']}")
    summary = answer["summary"]
    print(f"{answer['file']}: {summary['errors']} errors, {summary['warnings']} warnings, {summary['infos']} notes; "
          f"{summary['rules_run']} rules run, {len(summary['rules_skipped'])} not run")


def level_counts(answer: Dict[str, Any]) -> Tuple[int, int]:
    if "runs" in answer:
        levels = [result["level"] for result in answer["runs"][0]["results"]]
        return levels.count("error"), levels.count("warning")
    return answer["summary"]["errors"], answer["summary"]["warnings"]


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options = parser().parse_args(arguments)
    try:
        found = list(answers(options))
    except InputError as error:
        for diagnostic in error.diagnostics:
            print(f"smplan: error: {diagnostic}", file=sys.stderr)
        return 2
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        print(f"smplan: error: {options.file}: {error}", file=sys.stderr)
        return 2
    if options.format == "text":
        for answer in found:
            show(answer)
    elif options.format == "sarif":
        merged = found[0]
        for answer in found[1:]:
            merged["runs"] += answer["runs"]
        print(json.dumps(merged, indent=2))
    else:
        print(json.dumps(found[0] if len(found) == 1 else found, indent=2))
    counts = [level_counts(answer) for answer in found]
    failed = any(errors or (options.strict and warnings) for errors, warnings in counts)
    return 1 if failed else 0
