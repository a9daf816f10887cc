"use strict";
// Numbers for people, three significant digits, and elements made of text alone: nothing of the data is ever HTML.
const digits = (x, n = 3) => {
  if (x === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(x)));
  const rounded = Number(x.toPrecision(n));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: Math.max(0, n - 1 - size) });
};
const usd = (x) => (x === null ? "no price" : x >= 1e6 ? `$${digits(x / 1e6)}M` : "$" + digits(x));
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
// "$77,600 to $95,400"; empty where an end is not known.
const spread = (ends, words) => (ends && ends[0] !== null && ends[1] !== null ? `${words(ends[0])} to ${words(ends[1])}` : "");
const chance = (p) => (p === null || p === undefined ? "-" : p > 0.999 ? "over 99.9 %" : p < 0.001 ? "under 0.1 %" : percent(p));
const words = (key) => key.replaceAll("_", " ");

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
const byId = (id) => document.getElementById(id);

function fillCards(list, cards) {
  list.replaceChildren(...cards.map(([name, value, below]) => {
    const card = element("div");
    card.append(element("dt", name), element("dd", value));
    if (below) card.append(element("dd", below, { class: "below" }));
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

// The code of a strategy, as the command line writes it, and what its parts mean. A part is a letter code and a number.
const kCodes = [
  ["tp", "tensor parallel: every layer is cut over so many devices"],
  ["pp", "pipeline parallel: the layers are cut into so many stages"],
  ["vpp", "virtual stages of each pipeline rank (interleaved)"],
  ["cp", "context parallel: every sequence is cut over so many devices"],
  ["ep", "expert parallel: the experts are spread over so many devices"],
  ["etp", "every expert is cut over so many devices"],
  ["dp", "data parallel: so many copies, each with its part of the batch"],
  ["sp", "sequence parallel, beside tensor parallel"],
  ["zero1", "optimizer states sharded"],
  ["zero2", "optimizer states and gradients sharded"],
  ["zero3", "optimizer states, gradients and weights sharded"],
  ["fsdp-full", "weights, gradients and optimizer states sharded, weights dropped after use (FSDP)"],
  ["fsdp-grad-op", "gradients and optimizer states sharded (FSDP)"],
  ["fsdp-hybrid", "sharded within groups, copied between them (FSDP)"],
  ["shard", "ranks that share one copy of the sharded states"],
  ["mb", "sequences of a micro-batch on each device"],
  ["gpipe", "pipeline schedule: all forward passes, then all backward ones"],
  ["interleaved", "pipeline schedule of virtual stages"],
  ["zero-bubble", "pipeline schedule without idle time at its ends"],
  ["selective", "attention is computed again in the backward pass"],
  ["full", "layers are computed again in the backward pass: all, or so many of a stage"],
  ["offload", "kept in host memory or on NVMe"],
  ["smddp", "collectives of SageMaker's data parallel library"],
  ["single", "one device, nothing is cut"],
];

function strategyOf(plan) {
  const p = plan.parallel;
  const parts = [];
  const add = (short, degree) => { if (degree > 1) parts.push(short + degree); };
  for (const [short, degree] of [["tp", p.tensor], ["pp", p.pipeline], ["vpp", p.virtual_pipeline], ["cp", p.context],
    ["ep", p.expert]]) add(short, degree);
  if (p.expert_tensor) parts.push("etp" + p.expert_tensor);
  add("dp", p.data);
  if (p.sequence_parallel) parts.push("sp");
  if (plan.sharding.strategy !== "none") parts.push(plan.sharding.strategy);
  add("shard", plan.sharding.degree);
  add("mb", plan.micro_batch);
  if (plan.schedule && plan.schedule !== "1f1b") parts.push(plan.schedule);
  if (plan.recompute !== "none") parts.push(plan.recompute + (plan.recompute_layers ?? ""));
  if (plan.offload !== "none") parts.push("offload:" + plan.offload);
  if (plan.collectives !== "nccl") parts.push(plan.collectives);
  return parts.join(" ") || "single";
}

// What the codes of these strategies mean, in the order of kCodes.
function meaningsOf(strategies) {
  const used = new Set(strategies.flatMap((text) => text.split(" ")).map((part) => part.split(":")[0]));
  const is = (code) => [...used].some((part) => part === code || (part.startsWith(code) && /^\d+$/.test(part.slice(code.length))));
  return kCodes.filter(([code]) => is(code));
}
