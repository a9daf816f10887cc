// Where the chosen plan's bytes, seconds and dollars go.

// A waterfall: rows with a bar each that begins where the one before ends; the others after the rest, longest first in
// both; zeros are left out.
function fillBars(table, parts, scale, format, other) {
  const body = element("tbody");
  const shown = Object.entries(parts).filter(([, value]) => value > 0)
    .sort((a, b) => other(a[0]) - other(b[0]) || b[1] - a[1]);
  let before = 0;
  for (const [key, value] of shown) {
    const row = element("tr");
    row.dataset.part = key;
    row.dataset.value = value;
    const bar = element("span");
    const left = Math.min(100, (100 * before) / scale);
    bar.style.marginLeft = `${left}%`;
    bar.style.width = `${Math.min(100 - left, (100 * value) / scale)}%`;
    before += value;
    const cell = element("td", null, { class: other(key) ? "bar other" : "bar" });
    cell.append(bar);
    row.append(element("th", words(key), { scope: "row" }), cell, element("td", format(value), { class: "number" }));
    body.append(row);
  }
  table.replaceChildren(body);
}

const kWork = ["compute", "attention", "elementwise", "optimizer"];

function showBreakdown(plan, request) {
  byId("breakdown-title").textContent =
    `Plan ${plan.rank}: ${plan.instance_count} x ${plan.instance_type}, ${plan.stack}, ${strategyOf(plan)}`;
  const memory = plan.memory;
  fillCards(byId("facts"), [["Devices", digits(plan.n_gpus, 9)], ["Step (P10 to P90)", interval(plan.step_time_interval_s)],
    ["Out of memory", chance(memory.out_of_memory_probability)], ["Tokens a second", digits(plan.tokens_per_s)], ["MFU", percent(plan.mfu)], ["Goodput", percent(plan.goodput)],
    ["Accumulation", String(plan.gradient_accumulation)]]);
  const [low, high] = memory.peak_interval_gib;
  byId("memory-line").textContent = `${gib(memory.peak_gib)} (P10 to P90: ${digits(low)} to ${gib(high)}) of the ` +
    `${gib(memory.limit_gib)} that the device offers; ` +
    (memory.fits ? `${gib(memory.limit_gib - memory.peak_gib)} stay free, up to the red line.` : "it does not fit.");
  fillBars(byId("memory"), memory.components_gib, memory.limit_gib, gib, () => false);
  byId("step-line").textContent = `${duration(plan.step_time_s)} a step, bound by ` +
    `${plan.bottleneck}. Blue is work, the other colour is what a step loses.`;
  fillBars(byId("step"), plan.step_components_s, plan.step_time_s, duration, (key) => !kWork.includes(key));
  const cost = plan.cost;
  const parts = (object, format) => Object.entries(object ?? {}).filter(([, value]) => typeof value === "number" && value > 0)
    .map(([key, value]) => [words(key), format(value), "part"]);
  const range = (ends, format) => (spread(ends, format) ? [["P10 to P90", spread(ends, format)]] : []);
  const late = plan.deadline_probability;
  fillFacts(byId("money"), [["Time to train", duration(plan.time_to_train_s), "whole"],
    ...range(plan.time_to_train_interval_s, duration), ...(late === null || late === undefined ? [] : [["Done by the deadline", chance(late)]]),
    ...parts(plan.time_components_s, duration), ["Cost", usd(cost.total_usd), "whole"],
    ...range(cost.total_interval_usd, usd), ...parts(cost.components_usd, usd),
    ["Rate", cost.hourly_usd === null ? "no price" : `${usd(cost.hourly_usd)}/h`],
    ["Price", cost.price_date === null ? "none" : `${cost.market} in ${cost.region}, ${cost.price_basis}, ${cost.price_date}`],
    ["Steps", digits(Math.ceil(request.tokens / request.global_batch_tokens), 9)]]);
  fillList(byId("warnings"), plan.warnings.length > 0 ? plan.warnings : ["Nothing in particular."]);
}
