"""The report in a browser: it renders without errors, shows the figures of the JSON, and answers to clicks."""

import json
import re
import shutil
import subprocess

import pytest

import smplan
from conftest import SMALL

BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium; scripts/bootstrap test installs it")

# Runs before the page's own scripts, so that nothing they complain about is missed.
LISTEN = """<script>
const faults = [];
addEventListener("error", (event) => faults.push(String(event.message)));
addEventListener("securitypolicyviolation", (event) => faults.push("policy: " + event.violatedDirective));
for (const level of ["error", "warn"]) console[level] = (...words) => faults.push(words.join(" "));
</script>"""

# Looks at the page as a reader would, then picks the second plan, sorts, and filters.
USE = """<script>
const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => row.innerText.trim().split(/\\s*\\t\\s*/));
const bars = (id) => Object.fromEntries([...document.querySelectorAll(`#${id} tr`)].map((row) => [row.dataset.part, +row.dataset.value]));
const spans = (id) => [...document.querySelectorAll(`#${id} .bar span`)].map((bar) => [parseFloat(bar.style.marginLeft), parseFloat(bar.style.width)]);
const look = () => ({ waterfall: spans("step"), title: byId("breakdown-title").innerText, memory: bars("memory"), step: bars("step"),
  checks: rows("checks"), checks_said: byId("checks-line").innerText,
  boxes: document.querySelectorAll("#timeline rect").length, chosen: document.querySelector("#plans .chosen").dataset.rank });
const seen = { answer: byId("answer").innerText, plans: rows("plans"), first: look(), canvas: document.querySelectorAll("canvas").length,
  frontier: rows("frontier-table").length, assumptions: document.querySelectorAll("#assumptions li").length,
  made: document.querySelector("time").innerText, inner: innerWidth,
  codes: [...document.querySelectorAll("#codes tr")].map((row) => [...row.cells].map((cell) => cell.textContent)),
  heads: [...document.querySelectorAll("#plans thead th")].map((head) => [head.innerText.trim(), head.getBoundingClientRect().right]),
  prices: rows("prices"), why: byId("why").innerText, wide: document.documentElement.scrollWidth > innerWidth };
document.querySelector('[aria-label="Show plan 2"]').click();
seen.second = look();
const costs = [...document.querySelectorAll("#plans thead button")].find((button) => button.innerText === "Step");
costs.click();
costs.click();
seen.sorted = rows("plans").map((cells) => cells[0]);
seen.sort_said = document.querySelector("[aria-sort=descending]").innerText;
byId("filter").value = "dp16";
byId("filter").dispatchEvent(new Event("input"));
seen.filtered = rows("plans").length;
seen.count_said = byId("plans-count").innerText;
const unnamed = [...document.querySelectorAll("input, button, [role=img], [role=region]")].filter((e) =>
  !(e.innerText || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || (e.labels && e.labels.length)));
seen.unnamed = unnamed.map((e) => e.outerHTML);
seen.faults = faults;
document.documentElement.innerHTML = "";
const out = document.createElement("pre");
out.id = "seen";
out.textContent = JSON.stringify(seen);
document.documentElement.append(out);
</script>"""


def use(page, folder, width=1200):
    path = folder / "report.html"
    path.write_text(page.replace("<head>", "<head>" + LISTEN, 1).replace("</body>", USE + "</body>", 1), encoding="utf-8")
    shown = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000",
                            f"--window-size={width},900", "--dump-dom", path.as_uri()],
                           capture_output=True, text=True, timeout=60, check=True)
    seen = re.search(r'<pre id="seen">(.*?)</pre>', shown.stdout, re.S)
    assert seen, shown.stdout[-2000:]
    return json.loads(seen.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


@pytest.fixture(scope="module")
def plans():
    return smplan.plan(**SMALL)


@pytest.fixture(scope="module")
def seen(plans, tmp_path_factory):
    return use(plans.report(), tmp_path_factory.mktemp("report"))


def test_renders_without_a_complaint(seen):
    assert seen["faults"] == []
    assert seen["canvas"] == 1 and seen["first"]["boxes"] > 4


def test_the_answer_comes_first(seen, plans):
    best = plans.best
    assert f"{best.instance_count} x {best.instance_type}" in seen["answer"]
    assert "$" in seen["answer"]


def test_time_money_and_risk_are_in_view(plans, tmp_path):
    """On a screen of 1280 points nothing of them is behind a scroll bar; their intervals stand below."""
    seen = use(plans.report(), tmp_path, width=1280)
    edges = dict(seen["heads"])
    for head in ("Instances", "Market", "Time", "Cost", "Out of memory", "Strategy"):
        assert edges[head] <= seen["inner"], head
    row = seen["plans"][0]
    assert plans[0].cost.market in row
    assert any(re.search(r"\$[\d.,]+M?\s+\$[\d.,]+M? to \$[\d.,]+M?", cell) for cell in row), row
    assert any(re.search(r" [dh]\s.* to .* [dh]$", cell) for cell in row), row


def test_codes_are_explained_and_the_day_is_said(seen, plans, monkeypatch, tmp_path):
    said = {code for code, _ in seen["codes"]}
    for row in seen["plans"]:
        for part in re.sub(r":\S+", "", row[-1].splitlines()[0]).split():
            assert any(re.fullmatch(re.escape(code) + r"\d*", part) for code in said), (part, said)
    assert all(meaning for _, meaning in seen["codes"])
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", seen["made"])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert "<time>2023-11-14</time>" in plans.report()


def test_a_wide_range_is_drawn_logarithmically(tmp_path):
    short = smplan.plan(model="gpt2", instances="ml.g5.xlarge,ml.p4d.24xlarge", count="1..32", tokens="100M", top=2).report()
    assert use(short, tmp_path)["faults"] == []


def test_figures_are_those_of_the_json(seen, plans):
    assert len(seen["plans"]) == len(plans)
    for name, plan in (("first", plans[0]), ("second", plans[1])):
        parts = {k: v for k, v in plan.memory.components_gib.items() if v > 0}
        assert seen[name]["memory"] == parts
        assert seen[name]["step"] == {k: v for k, v in plan.step_time.components_s.items() if v > 0}
    assert seen["frontier"] == len(plans.frontier)
    assert seen["assumptions"] == len(plans.assumptions)
    assert seen["prices"][0][3] == plans[0].cost.price_date


def test_picking_a_plan_changes_the_breakdown(seen):
    assert seen["first"]["chosen"] == "1" and seen["second"]["chosen"] == "2"
    assert seen["first"]["title"] != seen["second"]["title"]
    assert seen["first"]["step"] != seen["second"]["step"]


def test_checks_are_those_of_the_exported_job(seen, plans):
    for name, plan in (("first", plans[0]), ("second", plans[1])):
        request = json.loads(str(plan.export("create-training-job")))
        found = smplan.check(request, kind="create-training-job", region=plan.cost.region)
        assert [(row[0], row[1], row[3], row[4]) for row in seen[name]["checks"]] == [
            ("note" if f.severity == "info" else f.severity, f.rule, f.message, f.fix) for f in found]
        assert len(found) > 0 and found.ok
        assert f"{len(found.infos)} note" in seen[name]["checks_said"] and "no errors" in seen[name]["checks_said"]


def test_sections_come_in_the_order_of_a_decision(plans):
    page = plans.report()
    places = [page.index(f'id="{name}"') for name in ("answer", "plans", "frontier-chart", "memory", "step", "timeline", "checks",
                                                      "why", "assumptions", "prices")]
    assert places == sorted(places)


def test_bars_of_a_step_are_a_waterfall(seen):
    """Each bar begins where the one before ends, and the last ends at the step."""
    at = 0
    for left, width in seen["first"]["waterfall"]:
        assert left == pytest.approx(at, abs=0.01)
        at = left + width
    assert at == pytest.approx(100, abs=0.1)


def test_plans_can_be_sorted_and_filtered(seen, plans):
    slowest_first = sorted(plans, key=lambda plan: -plan.step_time_s)
    assert seen["sorted"] == [str(plan.rank) for plan in slowest_first]
    assert seen["sort_said"] == "Step"
    kept = [plan for plan in plans if plan.parallel.data == 16]
    assert 0 < len(kept) < len(plans)
    assert seen["filtered"] == len(kept) and seen["count_said"] == f"{len(kept)} of {len(plans)} plans"


def test_everything_that_acts_has_a_name(seen):
    assert seen["unnamed"] == []


def test_a_phone_need_not_scroll_sideways(plans, tmp_path):
    seen = use(plans.report(), tmp_path, width=390)
    assert not seen["wide"] and seen["faults"] == []


def test_pages_of_pipelines_and_of_nothing_render(tmp_path):
    deep = smplan.plan(model="llama-2-70b", instances="ml.p4d.24xlarge", count=16, pp=8, top=2)
    assert use(deep.report(), tmp_path)["faults"] == []
    nothing = smplan.plan(params="70B", instances="ml.g5.xlarge", count=1).report(tmp_path / "nothing.html")
    assert "Nothing fits." in nothing


def test_page_is_that_of_the_command_line(cli, plans, tmp_path):
    path = tmp_path / "page.html"
    shown = cli("report", "--model", "llama-2-7b", "--instances", "ml.p4d.24xlarge", "--count", "1,2,4", "--stack", "fsdp",
                "--top", "3", "--output", str(path))
    assert shown.returncode == 0, shown.stderr
    timeless = re.compile(r'"seconds": [-+.\de]+')
    assert timeless.sub("", path.read_text(encoding="utf-8")) == timeless.sub("", plans.report())
