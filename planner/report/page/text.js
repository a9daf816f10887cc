"use strict";
// Numbers for people, three significant digits, and elements made of text alone: nothing of the data is ever HTML.
const digits = (x, n = 3) => {
  if (x === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(x)));
  const rounded = Number(x.toPrecision(n));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: Math.max(0, n - 1 - size) });
};
const usd = (x) => (x === null ? "no price" : "$" + digits(x));
const percent = (x) => digits(100 * x) + " %";
const gib = (x) => digits(x) + " GiB";
const count = (n) => {
  for (const [size, letter] of [[1e12, "T"], [1e9, "B"], [1e6, "M"]]) if (n >= size) return digits(n / size) + letter;
  return digits(n, 7);
};
const duration = (s) => {
  if (s === 0) return "0 s";
  if (s >= 86400) return digits(s / 86400) + " d";
  if (s >= 3600) return digits(s / 3600) + " h";
  if (s >= 60) return digits(s / 60) + " min";
  if (s >= 1) return digits(s) + " s";
  return digits(1000 * s) + " ms";
};
// "15.9 to 26.7 s": the unit once where both ends have the same.
const interval = ([low, high]) => {
  const [from, to] = [duration(low), duration(high)];
  const unit = to.slice(to.indexOf(" "));
  return `${from.endsWith(unit) ? from.slice(0, -unit.length) : from} to ${to}`;
};
const words = (key) => key.replaceAll("_", " ");

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
const byId = (id) => document.getElementById(id);

function fillCards(list, cards) {
  list.replaceChildren(...cards.map(([name, value]) => {
    const card = element("div");
    card.append(element("dt", name), element("dd", value));
    return card;
  }));
}

// A table of names and values; a third member is the row's class.
function fillFacts(table, rows) {
  const body = element("tbody");
  for (const [name, value, kind] of rows) {
    const row = element("tr", null, kind ? { class: kind } : {});
    row.append(element("th", name, { scope: "row" }), element("td", value));
    body.append(row);
  }
  table.replaceChildren(body);
}

function fillTable(table, head, rows) {
  const header = element("tr");
  head.forEach((name) => header.append(element("th", name, { scope: "col" })));
  const top = element("thead");
  top.append(header);
  const body = element("tbody");
  for (const cells of rows) {
    const row = element("tr");
    cells.forEach((cell) => row.append(element("td", cell)));
    body.append(row);
  }
  table.replaceChildren(top, body);
}

const fillList = (list, sentences) => list.replaceChildren(...sentences.map((s) => element("li", s)));

function strategyOf(plan) {
  const p = plan.parallel;
  const parts = [];
  for (const [short, degree] of [["tp", p.tensor], ["pp", p.pipeline], ["vpp", p.virtual_pipeline], ["cp", p.context],
    ["ep", p.expert], ["dp", p.data]]) {
    if (degree > 1) parts.push(short + degree);
  }
  if (p.sequence_parallel) parts.push("sp");
  if (plan.sharding.strategy !== "none") parts.push(plan.sharding.strategy);
  parts.push("mb" + plan.micro_batch);
  if (plan.recompute !== "none") parts.push(plan.recompute + " recompute");
  if (plan.offload !== "none") parts.push("offload " + plan.offload);
  return parts.join(" ");
}
