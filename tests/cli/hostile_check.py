#!/usr/bin/env python3
"""No text of a file becomes code, markup or a command: every string of every kind of file that smplan reads is
replaced by hostile ones, everything that smplan writes of it is read back with the parser of its own language.

Usage: hostile_check.py SMPLAN_BINARY [PAYLOADS A STRING, all if not given]
"""

import ast
import concurrent.futures
import copy
import csv
import html.parser
import io
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import tokenize
import tomllib
import unicodedata
import unittest
import xml.etree.ElementTree

import yaml

BINARY = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "1795219200"}
WORD = "smplan_payload"  # a command, a name and a key that must not come to life
PAYLOADS = [
    f"x\n{WORD}\n",
    f"x\r{WORD}",
    f"x'; {WORD}; '",
    f'x"; {WORD}; "',
    f"x$({WORD})`{WORD}`",
    f"x\x1b]0;{WORD}\x07\x1b[31m\x9b31m",
    f"::error::{WORD}",
    f"x\u202e{WORD}\u2028{WORD}\u200b",
    f"</script><script>{WORD}</script>[{WORD}](javascript:{WORD})",
    f"{WORD}: [*{WORD}, &{WORD}]\\\"\"\" #",
    WORD * (1_000_000 // len(WORD)),
]
PAYLOADS_A_STRING = len(PAYLOADS)
JOB = ["--instances", "ml.p4d.24xlarge", "--count", "1", "--tokens", "1B", "--top", "1"]
TARGETS = ["sagemaker-sdk-v2", "sagemaker-sdk-v3", "create-training-job", "hyperpod-recipe", "deepspeed", "accelerate",
           "fsdp", "smp-v2", "smp-v1", "megatron", "torchtitan", "neuronx", "torchrun"]


def smplan(*arguments):
    done = subprocess.run([BINARY, *arguments], capture_output=True, timeout=120, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1, 2), (arguments, done.returncode, done.stderr[-500:])
    check_text(done.stderr.decode(), arguments)
    return done


# --- what comes out, read back --------------------------------------------------------------------------------------

def require(condition, *why):
    if not condition:
        raise AssertionError(why)


def check_plain(text, why):
    for character in set(text):
        hidden = unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Co") and character != "\n"
        require(not hidden, "an invisible character", hex(ord(character)), why)


def check_text(text, why):
    """For a terminal and a log of GitHub's runner."""
    check_plain(text, why)
    for line in text.splitlines():
        require(not line.strip().startswith("::") and "##[" not in line, "a command of the runner", line[:200], why)
        require(len(line) < 100_000, "a flood", len(line), why)


PLAIN_PROGRAMS = set()  # the training programs are the same in every export: each is read once


def check_python(text, why):
    if text in PLAIN_PROGRAMS:
        return
    check_plain(text, why)
    ast.parse(text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        require(WORD not in token.string or token.type in (tokenize.STRING, tokenize.COMMENT), "Python", token, why)
    if WORD not in text:
        PLAIN_PROGRAMS.add(text)


def check_shell(text, why):
    """Runs it: the payload is a command that leaves a trace."""
    check_plain(text, why)
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "src").mkdir()
        (place / "launch.sh").write_text(text)
        for name, body in (("torchrun", "exit 0"), ("accelerate", "exit 0"), (WORD, f"touch {place}/ran")):
            (place / name).write_text(f"#!/bin/sh\n{body}\n")
            (place / name).chmod(0o755)
        environment = {"PATH": f"{folder}:/usr/bin:/bin", "NODE_RANK": "0", "MASTER_ADDR": "localhost"}
        done = subprocess.run(["bash", str(place / "launch.sh")], env=environment, capture_output=True)
        require(done.returncode == 0, "the shell script fails", done.stderr, why)
        require(not (place / "ran").exists(), "the shell script ran it", why)


def check_arguments(text, why):
    check_plain(text, why)
    words = shlex.split(text, comments=True)
    require(not any(WORD in word for word in words), "an argument", words, why)


def check_keys(value, why):
    if isinstance(value, dict):
        require(not any(WORD in str(key) for key in value), "a key", list(value), why)
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        check_keys(item, why)


def check_yaml(text, why):
    check_plain(text, why)
    documents = list(yaml.safe_load_all(text))
    require(len(documents) == 1, "several documents", why)
    check_keys(documents[0], why)


def check_toml(text, why):
    check_plain(text, why)
    check_keys(tomllib.loads(text), why)


def check_json(text, why):
    check_plain(text, why)
    json.loads(text)


def check_lines(text, why):
    for line in text.splitlines():
        check_json(line, why)


def check_markdown(text, why):
    """Where it is shown, it stands behind a mark of ours and makes neither HTML nor a link."""
    check_text(text, why)
    for line in text.splitlines():
        if WORD in line:
            require(re.match(r"[#|*-] ?", line) or not line.startswith(WORD), "a line of its own", line, why)
            require(not re.search(r"(?<!\\)<|(?<!\\)\[[^]]*(?<!\\)\]\(", line), "markup", line, why)


def check_csv(text, why):
    check_plain(text, why)
    csv.field_size_limit(len(text) + 1)
    rows = list(csv.reader(io.StringIO(text)))
    require(len({len(row) for row in rows}) <= 1, "ragged rows", why)
    require(not any(line.startswith("::") for line in text.splitlines()), "a command of the runner", why)


def check_xml(text, why):
    check_text(text, why)
    for element in xml.etree.ElementTree.fromstring(text).iter():
        require(WORD not in element.tag and not any(WORD in name for name in element.attrib), "XML", element, why)


def check_github(text, why):
    check_plain(text, why)
    for line in text.splitlines():
        require(re.match(r"::(error|warning|notice) file=[^,\n]*,line=\d+,title=C\d+::", line), "a command", line, why)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts = []
        self.inside = False

    def handle_starttag(self, tag, attributes):
        require(WORD not in tag and not any(WORD in name for name, _ in attributes), "HTML", tag, attributes)
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append((dict(attributes), ""))

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)

    def handle_endtag(self, tag):
        self.inside = False


def check_html(text, why):
    page = Page()
    page.feed(text)
    for attributes, body in page.scripts:
        if attributes.get("type") == "application/json":
            json.loads(body)
        else:
            require(WORD not in body, "a script of the page", why)


CHECKS = {".py": check_python, ".sh": check_shell, ".yaml": check_yaml, ".toml": check_toml, ".json": check_json,
          ".md": check_markdown, ".txt": check_arguments}
FORMATS = {"table": check_text, "text": check_text, "json": check_json, "csv": check_csv, "markdown": check_markdown,
           "jsonl": check_lines, "sarif": check_json, "junit": check_xml, "github": check_github}


def check_formats(command, formats, why):
    """The command in each format; whether it took its input."""
    codes = set()
    for name in formats:
        done = smplan(*command, "--format", name)
        codes.add(done.returncode)
        if done.returncode != 2:
            FORMATS[name](done.stdout.decode(), (why, command, name))
    require(len(codes) == 1, "one format takes what another refuses", codes, why)
    return codes != {2}


def check_plan_file(path, why, targets=()):
    """Everything that is made of a plan file. Whether any target took it; all are tried where one shows the payload."""
    first = smplan("export", "--plan", str(path), "--target", "sagemaker-sdk-v2", "--format", "json")
    if first.returncode == 2:
        return False
    for target in TARGETS if WORD in first.stdout.decode() else targets:
        with tempfile.TemporaryDirectory() as folder:
            if smplan("export", "--plan", str(path), "--target", target, "--output", folder).returncode != 0:
                continue
            for file in pathlib.Path(folder).rglob("*"):
                if file.is_file() and file.name != "requirements.txt":
                    CHECKS[file.suffix](file.read_text(), (why, target, file.name))
    for command, check in (("report", check_html), ("trace", check_json)):
        done = smplan(command, "--plan", str(path))
        if done.returncode == 0:
            check(done.stdout.decode(), (why, command))
    return True


def every_target(number):
    return TARGETS if number == 0 else TARGETS[number % len(TARGETS):][:1]


# --- what goes in ---------------------------------------------------------------------------------------------------

def strings_of(value, path=()):
    """Places of all strings of a document, and of all keys of its objects (marked by None at the end)."""
    if isinstance(value, str):
        yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from strings_of(item, (*path, key))
        if isinstance(value, dict):
            yield (*path, key, None)


def replaced(document, path, text):
    document = copy.deepcopy(document)
    place = document
    at = path[:-1] if path[-1] is None else path
    for key in at[:-1]:
        place = place[key]
    if path[-1] is None:
        place[text] = place.pop(at[-1])
    else:
        place[at[-1]] = text
    return document


def hostile(document, a_string=None):
    """(where, payload, document) with one string replaced."""
    turn = itertools.count()
    for path in strings_of(document):
        # A key is unknown then, whatever it holds; a string has several ways to be hostile.
        for _ in range(1 if path[-1] is None else min(a_string or len(PAYLOADS), PAYLOADS_A_STRING)):
            payload = PAYLOADS[next(turn) % len(PAYLOADS)]
            yield path, payload, replaced(document, path, payload)


def job_of(path):
    """File name and lines of a seed of the fuzzer: its first line has kind, name and flags."""
    head, text = path.read_text().split("\n", 1)
    return head.split()[1], text.splitlines()


def each(cases, judge):
    """Judges all cases; their number and how many were taken."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        taken = list(pool.map(judge, cases))
    return len(taken), sum(map(bool, taken))


class Hostile(unittest.TestCase):
    total = 0

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.names = itertools.count()

    def file(self, text, name):
        folder = self.folder / str(next(self.names))
        folder.mkdir()
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        return folder / name

    def judged(self, what, cases, judge, least):
        cases = list(cases)
        number, taken = each(cases, judge)
        Hostile.total += number
        print(f"{what}: {number} hostile files, {taken} taken, {number - taken} refused", file=sys.stderr)
        self.assertGreaterEqual(number, least)
        return taken

    def test_plan_files(self):
        done = smplan("plan", "--model", "llama-3.1-8b", *JOB, "--format", "json", "--stack", "fsdp")
        plan = json.loads(done.stdout)
        plan["frontier"] = plan["frontier"][:1]

        def judge(case):
            number, (path, payload, document) = case
            return check_plan_file(self.file(json.dumps(document), "plan.json"), (path, payload[:40]), every_target(number))

        self.assertGreater(self.judged("plan files", enumerate(hostile(plan, 2)), judge, 300), 0)

    def test_model_files(self):
        configs = [(json.loads((ROOT / "tests/data/hf" / name).read_text()), "--hf-config")
                   for name in ("llama-2-13b.json", "bert-base.json", "gpt-oss-20b.json")]
        for config, _ in configs:
            config["_name_or_path"] = "meta/one"
        configs.append((json.loads((ROOT / "tests/fuzz/seeds/architecture/mixtral-8x7b.json").read_text()), "--arch"))
        cases = [(flag, case) for config, flag in configs for case in hostile(config, 2)]
        cases += [("--hf-config", (("_name_or_path",), p, {**configs[0][0], "_name_or_path": p})) for p in PAYLOADS]

        def judge(case):
            flag, (path, payload, document) = case
            why = (flag, path, payload[:40])
            model = self.file(json.dumps(document), "config.json")
            if not check_formats(["models", "show", flag, str(model)], ["table", "json", "markdown"], why):
                return False
            if WORD not in str(path) and payload not in json.dumps(document, ensure_ascii=False):
                return True
            command = ["plan", flag, str(model), *JOB, "--stack", "fsdp"]
            check_formats(command, ["table", "json", "csv", "markdown"], why)
            done = smplan(*command, "--format", "json")
            if done.returncode == 0:
                check_plan_file(self.file(done.stdout, "plan.json"), why)
            return True

        self.assertGreater(self.judged("model files", cases, judge, 70), len(PAYLOADS))

    def test_overlays(self):
        overlay = {"schema": "smplan.catalog/1"}
        for path in sorted((ROOT / "catalogs/data").glob("*.json")):
            for section, entries in json.loads(path.read_text()).items():
                if isinstance(entries, list) and entries:
                    overlay[section] = entries[:1]
        mine = next(i for i in json.loads((ROOT / "catalogs/data/instances.json").read_text())["instances"]
                    if i["name"] == "ml.p4d.24xlarge")
        overlay["instances"] = [{**mine, "name": "ml.mine.24xlarge"}]
        overlay["prices"] = [{**overlay["prices"][0], "instance": "ml.mine.24xlarge", "region": "us-east-1",
                              "market": "on-demand"}]

        def judge(case):
            path, payload, document = case
            why = (path, payload[:40])
            file = str(self.file(json.dumps(document), "overlay.json"))
            if smplan("catalog", "verify", "--catalog", file).returncode == 2:
                return False
            for kind in ("instances", "accelerators", "stacks", "models"):
                check_formats(["catalog", "list", kind, "--catalog", file], ["table", "json", "csv", "markdown"], why)
            check_formats(["plan", "--model", "gpt2", "--catalog", file, "--instances", "ml.mine.24xlarge", "--count", "1",
                           "--stack", "fsdp"], ["table", "json", "csv", "markdown"], why)
            return True

        self.judged("overlays", hostile(overlay, 2), judge, 300)

    def test_numbers_of_overlays(self):
        """What `catalog verify` takes, every plan can be made with: zero, next to nothing and a great deal."""
        def entries(name, section, key, value):
            found = json.loads((ROOT / "catalogs/data" / name).read_text())[section]
            return [entry for entry in found if entry[key] == value]

        instance, = entries("instances.json", "instances", "name", "ml.p4d.24xlarge")
        overlay = {"schema": "smplan.catalog/1", "instances": [instance],
                   "accelerators": entries("accelerators.json", "accelerators", "key", instance["accelerator"]),
                   "accelerator_profiles": entries("accelerator_profiles.json", "accelerator_profiles", "accelerator",
                                                   instance["accelerator"]),
                   "stacks": entries("stacks.json", "stacks", "id", "fsdp"),
                   "fabric_profiles": json.loads((ROOT / "catalogs/data/fabric_profiles.json").read_text())["fabric_profiles"],
                   "operations": json.loads((ROOT / "catalogs/data/operations.json").read_text())["operations"]}

        def numbers_of(value, path=()):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                yield path
            for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
                yield from numbers_of(item, (*path, key))

        values = itertools.cycle([0, 1e-6, 1e6])
        cases = [(path, next(values)) for path in numbers_of(overlay) for _ in range(2)]

        def judge(case):
            path, number = case
            file = str(self.file(json.dumps(replaced(overlay, path, number)), "overlay.json"))
            if smplan("catalog", "verify", "--catalog", file).returncode == 2:
                return False
            check_formats(["estimate", "--model", "gpt2", "--catalog", file, "--instances", "ml.p4d.24xlarge", "--count", "2",
                           "--stack", "fsdp", "--tokens", "1B"], ["json"], case)
            return True

        taken = self.judged("numbers of overlays", cases, judge, 200)
        self.assertGreater(taken, 50)

    def test_jobs(self):
        formats = itertools.cycle(["text", "json", "sarif", "github", "junit"])
        cases = []
        for path in sorted((ROOT / "tests/fuzz/seeds/job").iterdir()):
            for number, line in enumerate(job_of(path)[1]):
                # In any of the languages: what stands between quotes, or else the last word of a line.
                for match in [*re.finditer(r'(?<=")[^"\n]+(?=")', line)][:2] or [*re.finditer(r"[\w./-]+$", line)]:
                    cases.append((path, number, match.span()))
        payloads = itertools.cycle(PAYLOADS)
        cases = [(*case, next(payloads), next(formats)) for case in cases]

        def judge(case):
            path, number, (begin, end), payload, form = case
            name, lines = job_of(path)
            # As the language of the file would have it: escaped for JSON, YAML and TOML alike.
            words = json.dumps(payload, ensure_ascii=payload.isascii())[1:-1]
            quoted = lines[number][begin - 1:begin] == '"'
            lines[number] = lines[number][:begin] + (words if quoted else f'"{words}"') + lines[number][end:]
            file = self.file("\n".join(lines) + "\n", name)
            return check_formats(["check", str(file)], [form], (path.name, number, payload[:40]))

        self.judged("jobs", cases, judge, 150)

    def test_measured_runs(self):
        table = (ROOT / "tests/measured/runs/awsome_dense.csv").read_text()
        rows = list(csv.reader(io.StringIO(table)))[:2]

        def judge(case):
            path, payload, table = case
            out = io.StringIO()
            csv.writer(out).writerows(table)
            file = str(self.file(out.getvalue(), "runs.csv"))
            return check_formats(["validate", file], ["table", "json", "csv", "markdown"], (path, payload[:40]))

        self.judged("measured runs", hostile(rows, 2), judge, 60)

    def test_files_of_aws(self):
        cases = []
        for name in ("AmazonSageMaker-index.json", "describe-instance-types.json", "describe-spot-price-history.json",
                     "search-training-plan-offerings.json", "spot-advisor-data.json", "pricing-get-products.json"):
            text = (ROOT / "tests/data/aws" / name).read_text()
            for number, place in enumerate([*re.finditer(r'(?<=")[^"\\\n]+(?=")', text)][:60]):
                cases.append((name, text, place.span(), PAYLOADS[number % (len(PAYLOADS) - 1)]))

        def judge(case):
            name, text, (begin, end), payload = case
            file = self.file(text[:begin] + json.dumps(payload)[1:-1] + text[end:], name)
            done = smplan("catalog", "import", str(file), "--as-of", "2026-11-01")
            if done.returncode == 0:
                check_json(done.stdout.decode(), (name, begin, payload[:40]))
            return done.returncode == 0

        self.judged("files of AWS", cases, judge, 200)

    def test_what_checks_read_beside_the_job(self):
        facts = json.loads((ROOT / "tests/fuzz/seeds/facts/facts.json").read_text())
        name, lines = job_of(ROOT / "tests/fuzz/seeds/job/request.json")
        job = str(self.file("\n".join(lines), name))

        def judge(case):
            path, payload, document = case
            file = self.file(json.dumps(document), "facts.json")
            return check_formats(["check", job, "--facts", str(file)], ["text", "github"], (path, payload[:40]))

        self.judged("facts", hostile(facts, 3), judge, 30)
        for payload in PAYLOADS:
            for line in (payload, f"C116 {payload}", f"C116 # {payload}"):
                file = self.file(line + "\n", "ignore.txt")
                check_formats(["check", job, "--ignore-file", str(file)], ["text", "json", "github"], payload[:40])

    def test_sweeps(self):
        """What is varied may be anything, and lines of an earlier run may have been changed."""
        formats = ["jsonl", "json", "table", "csv", "markdown"]
        for payload in PAYLOADS[:-1]:  # the last is longer than an argument can be
            for name in ("model", "stack", "region"):
                self.assertTrue(check_formats(["sweep", "--model", "gpt2", *JOB, "--vary", f"{name}={payload}", "--vary",
                                               "objective=cost|nothing"], formats, (name, payload[:40])) in (True, False))
        sweep = ["sweep", "--model", "gpt2", *JOB[:4], "--trials", "3", "--vary", "tokens=1B|many"]
        lines = [json.loads(line) for line in smplan(*sweep).stdout.decode().splitlines()]
        self.assertEqual(len(lines), 2)
        lines[0]["plan"]["warnings"] = ["one"]
        cases = [(number, case) for number, line in enumerate(lines) for case in hostile(line, 2) if case[0][0] != "identity"]
        turn = itertools.cycle(formats)

        def judge(case):
            (number, (path, payload, document)), form = case
            changed = [*lines[:number], document, *lines[number + 1:]]
            # As Python's json writes it, but for the blanks that a line of ours has not.
            text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in changed)
            file = self.file("", "sweep")
            file.with_name("sweep.part").write_text(text)
            done = smplan(*sweep, "--format", form, "--output", str(file))
            if done.returncode != 2:
                FORMATS[form](file.read_text(), (path, payload[:40], form))
            return done.returncode == 0

        self.assertGreater(self.judged("lines of sweeps", [(case, next(turn)) for case in cases], judge, 100), 0)

    def test_names_of_files(self):
        for payload in PAYLOADS[:-1]:
            name = payload.replace("/", "_")
            file = self.file("{}", name)
            for command in (["check", str(file)], ["models", "show", "--hf-config", str(file)],
                            ["export", "--plan", str(file), "--target", "fsdp"], ["validate", str(file)],
                            ["catalog", "verify", "--catalog", str(file)]):
                check_text(smplan(*command).stdout.decode(), payload)

    @classmethod
    def tearDownClass(cls):
        print(f"{cls.total} hostile files in all", file=sys.stderr)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        PAYLOADS_A_STRING = int(sys.argv.pop(1))
    unittest.main()
