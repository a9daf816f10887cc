// Puts the page together. `plan` is the answer of `smplan plan --format json`, unchanged.
const answer = JSON.parse(byId("plan").textContent);
const extras = JSON.parse(byId("extras").textContent);

function showQuestion() {
  const r = answer.request;
  byId("question").textContent = `${r.model.name}, ${count(r.model.parameters)} parameters, ${count(r.tokens)} tokens, ` +
    `sequences of ${r.seq_len}, goal: ${r.objective}`;
}

function showAnswer() {
  if (answer.plans.length === 0) {
    byId("answer").textContent = "Nothing fits.";
    const miss = answer.nearest_miss;
    byId("answer-detail").textContent = miss === null ? "" :
      `Nearest: ${miss.plan.instance_count} x ${miss.plan.instance_type}, ${strategyOf(miss.plan)}; refused for ${words(miss.reason)}.`;
    return;
  }
  const best = answer.plans[0];
  byId("answer").textContent = `${best.instance_count} x ${best.instance_type}: ${usd(best.cost.total_usd)} in ${duration(best.time_to_train_s)}`;
  byId("answer-detail").textContent = `${best.stack}, ${strategyOf(best)}`;
  const range = (ends, words) => (spread(ends, words) ? `P10 to P90: ${spread(ends, words)}` : "");
  fillCards(byId("answer-figures"), [["Cost", usd(best.cost.total_usd), range(best.cost.total_interval_usd, usd)],
    ["Time to train", duration(best.time_to_train_s), range(best.time_to_train_interval_s, duration)],
    ["Chance to run out of memory", chance(best.memory.out_of_memory_probability)], ["Market", best.cost.market],
    ["Step", duration(best.step_time_s)], ["MFU", percent(best.mfu)],
    ["Memory", `${digits(best.memory.peak_gib)} of ${gib(best.memory.limit_gib)}`],
    ["Rate", best.cost.hourly_usd === null ? "no price" : `${usd(best.cost.hourly_usd)}/h`]]);
}

function showAssumptions() {
  const r = answer.request;
  fillList(byId("assumptions"), r.assumptions);
  byId("left-out-summary").textContent = `${r.left_out.length} instance types were left out`;
  byId("left-out-summary").parentElement.hidden = r.left_out.length === 0;
  fillTable(byId("left-out"), ["Instance type", "Reason"], r.left_out.map((l) => [l.instance_type, l.reason]));
  const prices = new Map();
  for (const p of answer.plans) prices.set(`${p.instance_type} ${p.cost.market}`, [p.instance_type, p.cost]);
  fillTable(byId("prices"), ["Instance type", "Market", "Region", "As of", "Basis", "Source"], [...prices.values()].map(([type, c]) =>
    [type, c.market, c.region, c.price_date ?? "no price", c.price_basis ?? "-", c.price_source ?? "-"]));
  const s = answer.search;
  const rejected = Object.entries(answer.rejected).filter(([, n]) => n > 0).map(([why, n]) => `${digits(n, 15)} ${words(why)}`);
  fillFacts(byId("search"), [["Candidates", digits(s.space, 15)], ["Priced in full", digits(s.evaluated, 15)],
    ["Dismissed by a bound", digits(s.pruned, 15)], ["Refused", rejected.join(", ") || "none"],
    ["Exact", s.exact ? "yes: every candidate was priced or bounded" : "no"]]);
  byId("made-by").textContent = `smplan ${answer.smplan_version}. Chart: uPlot 1.6.32, MIT licence, Leon Sorokin.`;
}

let list = null;
let frontier = null;
function choose(index) {
  list.mark(index);
  frontier.mark(index);
  showBreakdown(answer.plans[index], answer.request);
  showTimeline(byId("timeline"), byId("timeline-line"), extras[index]);
  showChecks(byId("checks"), byId("checks-line"), extras[index] && extras[index].checks);
  if (extras[index] && extras[index].why.length > 0) fillList(byId("why"), extras[index].why);
}

showQuestion();
showAnswer();
showAssumptions();
if (answer.plans.length > 0) {
  list = new PlanList(byId("plans"), byId("filter"), byId("plans-count"), answer.plans, choose);
  frontier = new Frontier(byId("frontier-chart"), answer, choose);
  fillFacts(byId("codes"), meaningsOf([...answer.plans.map(strategyOf), ...(answer.frontier ?? []).map((p) => p.strategy)]));
  fillFrontierTable(byId("frontier-table"), answer.frontier ?? []);
  choose(0);
} else {
  for (const id of ["plans", "frontier", "breakdown"]) byId(id).closest("section").hidden = true;
  byId("why-title").textContent = "Why nothing fits";
  byId("why").closest("section").hidden = byId("why").children.length === 0;
  byId("prices-part").hidden = true;
}
