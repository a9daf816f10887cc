"""action.yml, the hook, the workflows, and the pages that show how to use them."""

import csv
import os
import re
import shutil
import subprocess

import pytest
import yaml

from conftest import ROOT

SAMPLES = ROOT / "tests/data/jobs/samples"
FAULTY, WARNED = SAMPLES / "20a_seed000.json", SAMPLES / "20c_seed002_ps.json"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
VERSION = re.search(r"project\(smplan VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
PROGRAM = os.path.abspath(os.environ["SMPLAN_BINARY"])
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCRIPT = re.compile(r"(?<![\w./$-])((?:\.ci|scripts|tests)/[\w./-]*\w)")


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def workflow(path):
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    document["on"] = document.pop(True)  # YAML 1.1 reads `on` as a truth value
    return document


def shown_yaml():
    """(page, document) of every YAML block of the pages."""
    return [(page.name, yaml.safe_load(block)) for page in PAGES
            for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)]


# Workflows

@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_names_scripts_that_exist(path):
    named = {script for step in steps_of(workflow(path)) for script in SCRIPT.findall(step.get("run", ""))}
    assert named, "a workflow runs at least one script of ours"
    for script in named:
        assert os.access(ROOT / script, os.X_OK), f"{path.name} runs {script}"


def test_every_night_searches_sanitizes_and_lints():
    nightly = workflow(ROOT / ".github/workflows/nightly.yml")
    assert nightly["on"]["schedule"]
    commands = "\n".join(step.get("run", "") for step in steps_of(nightly))
    for command in ("scripts/fuzz", "scripts/sanitize address", "scripts/lint"):
        assert command in commands


def test_release_makes_a_wheel_for_every_python_of_the_package():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    supported = [f"cp3{minor}-cp3{minor}" for minor in re.findall(r"Python :: 3\.(\d+)\"", text)]
    wheels = workflow(ROOT / ".github/workflows/release.yml")["jobs"]["wheels"]
    platform = wheels["container"].rpartition("/")[2]
    (command,) = [step["run"] for step in wheels["steps"] if "scripts/wheel" in step.get("run", "")]
    interpreters = command.partition(f" scripts/wheel --platform {platform} ")[2].split()
    assert interpreters == [f"/opt/python/{version}/bin/python" for version in supported]


def test_no_expression_stands_in_a_shell_script():
    """GitHub puts values into `run` as text: a branch or an input could end the command and begin another."""
    runs = [step["run"] for path in WORKFLOWS for step in steps_of(workflow(path)) if "run" in step]
    runs += [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert len(runs) > 8
    assert not [run for run in runs if "${{" in run]


# The action

def step(name):
    (found,) = [step for step in ACTION["runs"]["steps"] if step["name"] == name]
    return found


@pytest.fixture
def action(tmp_path):
    """Runs a step as GitHub does, in a folder with two jobs; inputs that are not given have their defaults."""
    work = tmp_path / "work"
    (work / "jobs/deep").mkdir(parents=True)
    shutil.copy(WARNED, work / "jobs/a warned job.json")
    shutil.copy(FAULTY, work / "jobs/deep/faulty.json")
    output = tmp_path / "output"
    output.touch()

    def run(name, program="", **inputs):
        values = {key: value.get("default", "") for key, value in ACTION["inputs"].items()} | inputs
        environment = {"PATH": os.environ["PATH"], "GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(tmp_path / "runner"),
                       "GITHUB_OUTPUT": str(output)}
        for key, value in step(name).get("env", {}).items():
            given = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)
            environment[key] = values[given.group(1)] if given else program
        script = tmp_path / "script.sh"
        script.write_text(step(name)["run"], encoding="utf-8")
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], cwd=work, env=environment,
                              capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr, output.read_text(encoding="utf-8")

    return run


def check(action, **inputs):
    status, out, _ = action("Check the jobs", PROGRAM, **inputs)
    return status, out


def test_action_reads_every_input():
    used = {name for one in ACTION["runs"]["steps"] for value in one.get("env", {}).values()
            for name in re.findall(r"inputs\.([\w-]+)", value)}
    assert used == set(ACTION["inputs"])


def test_action_expands_patterns(action):
    status, out = check(action, files="jobs/**/*.json\njobs/*.json")
    assert status == 1
    assert out.count("::error file=jobs/deep/faulty.json") == out.count("::error file=") > 0
    assert "::warning file=jobs/a warned job.json" in out
    once = check(action, files="jobs/**/*.json")[1]
    assert out == once, "a file that two patterns match is checked once"


def test_action_passes_flags(action):
    assert check(action, files="jobs/*.json")[0] == 0
    assert check(action, files="jobs/*.json", strict="true")[0] == 1
    assert "C046" not in check(action, files="jobs/deep/faulty.json", ignore="C046")[1]
    assert "llama-9" in check(action, files="jobs/*.json", arguments="--model=llama-9 --seq-len=4096")[1]
    (status, out) = check(action, files="jobs/*.json", strict="yes")
    assert status == 2 and "strict is true or false, not 'yes'" in out


@pytest.mark.parametrize("files", ["", " \n", "jobs/*.toml", "nothing/**/*.json\n*.yaml"])
def test_action_fails_without_files(action, files):
    status, out = check(action, files=files)
    assert status == 2
    assert "::error::smplan: the input files names no file" in out
    assert out.count("::warning::smplan: no file matches") == len(files.split())


def test_action_fails_for_a_file_that_is_not_there(action):
    status, out = check(action, files="jobs/*.json absent.json")
    assert status == 2 and "absent.json" in out


def test_action_runs_no_text_of_an_input(action, tmp_path):
    for name in ("files", "ignore", "ignore-file", "facts", "arguments", "strict"):
        check(action, **{"files": "jobs/*.json", name: f"$(touch {tmp_path}/ran) `touch {tmp_path}/ran`; touch {tmp_path}/ran"})
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_action_takes_a_prebuilt_program(action, form):
    status, out, output = action("Get smplan", smplan=form.format(PROGRAM))
    assert status == 0, out
    (line,) = output.splitlines()
    name, program = line.split("=", 1)
    assert name == "program" and program != PROGRAM
    assert subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout == f"smplan {VERSION}\n"


@pytest.mark.parametrize(("given", "words"), [
    ("absent.whl", "is no file"), ("http://example.com/smplan", "only https://"), ("jobs/deep/faulty.json", "does not run here"),
    ("file:///nowhere/smplan.whl", "cannot be downloaded")])
def test_action_says_what_is_wrong_with_a_prebuilt_program(action, given, words):
    status, out, output = action("Get smplan", smplan=given)
    assert status == 2 and given in out and words in out
    assert not output


def test_action_names_its_sources(action):
    status, out, output = action("Name the sources")
    assert status == 0, out
    values = dict(line.split("=", 1) for line in output.splitlines())
    assert re.fullmatch(r"smplan-\w+[\w.]*-\w+-[0-9a-f]{64}", values["key"])
    assert values["program"] == f"{ROOT}/build/smplan"
    assert step("Look for it in the cache")["with"] == {
        "path": "${{ steps.sources.outputs.program }}", "key": "${{ steps.sources.outputs.key }}"}


# The hook

def hook_takes(path):
    return re.search(HOOK["files"], path) is not None


def test_hook_takes_every_recipe_of_hyperpod():
    with open(ROOT / "tests/data/recipes.csv", encoding="utf-8", newline="") as file:
        paths = [row["path"] for row in csv.DictReader(file) if row["source"] == "AWS HyperPod recipes"]
    assert len(paths) > 200
    assert not [path for path in paths if not hook_takes(path)]
    assert hook_takes("mine/hf_llama3_8b_seq16k_gpu_p5x16_pretrain.yaml") and hook_takes("my_training_recipe.yml")


@pytest.mark.parametrize("path", ["recipe.yaml", "recipe/recipe.yaml", "recipes/zlib/recipe.yaml", "conda.recipe/meta.yaml",
                                  "recipe/conda_build_config.yaml", "recipes_collection/config.yaml", "pull_request.json",
                                  "docs/recipes.md", "package.json", ".github/workflows/gpu_tests.yml"])
def test_hook_leaves_the_files_of_others_alone(path):
    assert not hook_takes(path)


@pytest.mark.parametrize("path", ["create_training_job.json", "job/estimator.json", "job/model_trainer.json", "ds_config.json",
                                  "a/smp_parameters.json", "accelerate_config.yaml", "torchtitan.toml", "megatron_args.txt"])
def test_hook_takes_what_export_writes(path):
    assert hook_takes(path)


def test_hook_is_installed_and_runs_alone():
    assert HOOK["language"] == "python" and HOOK["require_serial"] is True
    assert f"RENAME {HOOK['entry']}" in (ROOT / "bindings/CMakeLists.txt").read_text(encoding="utf-8")


# What the pages show

def test_pages_show_the_action_as_it_is():
    steps = [(page, step) for page, document in shown_yaml() if "jobs" in document for step in steps_of(document)]
    ours = [(page, step) for page, step in steps if step.get("uses", "").split("@")[0].endswith("/smplan")]
    assert ours
    required = {name for name, given in ACTION["inputs"].items() if given.get("required")}
    for page, step in ours:
        assert required <= set(step["with"]) <= set(ACTION["inputs"]), page
        assert step["uses"].endswith(f"@v{VERSION}"), page
        assert f"-{VERSION}-" in step["with"].get("smplan", f"-{VERSION}-"), page


def test_pages_show_the_hook_as_it_is():
    repos = [repo for _, document in shown_yaml() for repo in document.get("repos", [])]
    assert {repo["repo"] == "local" for repo in repos} == {True, False}
    for repo in repos:
        (hook,) = repo["hooks"]
        assert hook["id"] == HOOK["id"]
        if repo["repo"] == "local":
            assert [hook[key] for key in ("entry", "language", "require_serial")] == [
                HOOK[key] for key in ("entry", "language", "require_serial")]
            assert all(f"/v{VERSION}/smplan-{VERSION}-" in wheel for wheel in hook["additional_dependencies"])
            re.compile(hook["files"])
        else:
            assert repo["rev"] == f"v{VERSION}"


def test_page_describes_every_input():
    text = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)) == set(ACTION["inputs"])


def test_nothing_advises_to_install_from_an_index():
    """The name is not ours on any index: a wheel's file or a checkout is what can be installed."""
    advice = re.compile(r"(pip3?|pipx|uv) (install|add|run)[^\n`]*[\s'\"]smplan(\[|['\"\s,;`]|$)", re.MULTILINE)
    assert advice.search("pip install 'smplan[plot]'") and not advice.search("pip install '.[plot]'")
    folders = ("docs", "notebooks", "bindings", "planner", "cli", "scripts", "tests/golden", ".github")
    read = [*ROOT.glob("*.*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
    texts = {path: path.read_text(encoding="utf-8", errors="ignore") for path in read if path.is_file()}
    assert len(texts) > 300
    assert not [path for path, text in texts.items() if advice.search(text)]
