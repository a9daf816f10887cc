// One step of one pipeline: a lane a rank, a box a pass. Grey is waiting.
const kPhases = ["forward", "backward", "input gradient", "weight gradient", "end of step"];
const kLane = 22;
const kLeft = 60;
const kWidth = 1000;
const kGap = 110;  // in place of the middle of a step, where that is not drawn

function svg(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function showTimeline(box, line, extra) {
  box.replaceChildren();
  const drawn = extra && extra.timeline;
  if (!drawn) {
    line.textContent = extra ? `Not drawn: ${extra.no_timeline}` : "Not drawn.";
    return;
  }
  const total = drawn.step_time_s * 1e6;
  line.textContent = `${drawn.ranks} pipeline rank${drawn.ranks > 1 ? "s" : ""}, ${duration(drawn.step_time_s)}. ` +
    (drawn.undrawn === null ? "" : "The middle, which repeats itself, is left out. ") + "Grey is waiting.";
  for (const phase of new Set([...drawn.passes.map((p) => p[1]), 4])) {
    const key = element("span", null, { class: "key" });
    key.style.background = `var(--phase-${phase})`;
    line.append(key, kPhases[phase]);
  }
  const [begin, end] = drawn.undrawn ?? [total, total];
  const gap = drawn.undrawn === null ? 0 : kGap;
  const scale = (kWidth - kLeft - gap) / (total - (end - begin));
  const x = (us) => kLeft + (us < end ? Math.min(us, begin) * scale : begin * scale + gap + (us - end) * scale);
  const height = drawn.ranks * kLane + 24;
  const picture = svg("svg", { viewBox: `0 0 ${kWidth} ${height}`, role: "img",
    "aria-label": `Forward and backward passes of ${drawn.ranks} pipeline ranks over one step` });
  for (let rank = 0; rank < drawn.ranks; ++rank) {
    picture.append(svg("text", { x: 0, y: rank * kLane + 15 }, `rank ${rank}`));
    picture.append(svg("rect", { class: "lane", x: kLeft, y: rank * kLane + 2, width: kWidth - kLeft, height: kLane - 4 }));
  }
  if (gap > 0) {
    const middle = { x: x(begin) + gap / 2, y: (drawn.ranks * kLane) / 2 + 4, "text-anchor": "middle" };
    picture.append(svg("rect", { class: "undrawn", x: x(begin), y: 0, width: gap, height: drawn.ranks * kLane }));
    picture.append(svg("text", middle, `${duration((end - begin) / 1e6)} more`));
  }
  const box_of = (rank, phase, begin, end, title) => {
    const made = svg("rect", { class: `phase-${phase}`, x: x(begin).toFixed(2), y: rank * kLane + 2,
      width: Math.max(0.3, x(end) - x(begin) - 0.2).toFixed(2), height: kLane - 4 });
    made.append(svg("title", {}, title));
    picture.append(made);
  };
  for (const [rank, phase, batch, chunk, begin, end] of drawn.passes) {
    box_of(rank, phase, begin, end, `${kPhases[phase]} of micro-batch ${batch}, chunk ${chunk}: ${duration((end - begin) / 1e6)}`);
  }
  for (const [name, begin, end] of drawn.end_of_step) {
    for (let rank = 0; rank < drawn.ranks; ++rank) box_of(rank, 4, begin, end, `${name}: ${duration((end - begin) / 1e6)}`);
  }
  const marks = gap > 0 ? [[0, "start"], [begin, "end"], [end, "start"], [total, "end"]] :
    [[0, "start"], [total / 4, "middle"], [total / 2, "middle"], [0.75 * total, "middle"], [total, "end"]];
  for (const [us, anchor] of marks) {
    picture.append(svg("text", { x: x(us), y: height - 6, "text-anchor": anchor }, duration(us / 1e6)));
  }
  box.append(picture);
}
