// Cost against time: the frontier as a line, the listed plans as points; a click chooses the nearest listed plan.
// A range of more than this is drawn to a logarithmic scale.
const kWide = 8;
// What a run of this length is measured in.
const unitOf = (seconds) => [["days", 86400], ["hours", 3600], ["minutes", 60], ["seconds", 1]].find(([, size]) => seconds >= 2 * size) ??
  ["seconds", 1];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

class Frontier {
  constructor(box, data, choose) {
    Object.assign(this, { box, data, choose, chosen: 0 });
    const priced = (p) => p.total_usd !== null;
    const points = (data.frontier ?? []).filter(priced).map((p) => ({ time: p.time_to_train_s, cost: p.total_usd, kind: 1 }));
    data.plans.forEach((p, index) => {
      if (p.cost.total_usd !== null) points.push({ time: p.time_to_train_s, cost: p.cost.total_usd, kind: 2, index });
    });
    points.sort((a, b) => a.time - b.time || a.kind - b.kind);
    this.points = points;
    [this.unit, this.second] = unitOf(points.length > 0 ? points[points.length - 1].time : 0);
    if (points.length === 0) {
      box.append(element("p", "Nothing to draw: no plan has a price."));
      return;
    }
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    window.addEventListener("resize", () => this.draw());
    this.draw();
  }

  mark(index) {
    this.chosen = index;
    if (this.points.length > 0) this.draw();
  }

  columns() {
    const of = (wanted) => this.points.map((p) => (wanted(p) ? p.cost : null));
    return [this.points.map((p) => p.time / this.second), of((p) => p.kind === 1), of((p) => p.kind === 2),
      of((p) => p.kind === 2 && p.index === this.chosen)];
  }

  // The listed plan nearest to where the pointer is, in pixels.
  nearest(plot, left, top) {
    let best = null;
    for (const p of this.points) {
      if (p.kind !== 2) continue;
      const far = Math.hypot(plot.valToPos(p.time / this.second, "x") - left, plot.valToPos(p.cost, "y") - top);
      if (best === null || far < best.far) best = { far, index: p.index };
    }
    return best && best.far < 40 ? best.index : null;
  }

  draw() {
    this.box.replaceChildren();
    const spans = (values) => {
      const low = Math.min(...values);
      return low > 0 && Math.max(...values) / low > kWide;
    };
    const wide = spans(this.points.map((p) => p.time));
    const dear = spans(this.points.map((p) => p.cost));
    const width = Math.max(280, Math.min(this.box.clientWidth, 1100));
    const narrow = width < 500;
    const line = { stroke: colour("--line"), width: 1 };
    const axis = { stroke: colour("--ink"), grid: line, ticks: line };
    // On a logarithmic axis every 1, 2 and 5 has a label and a line; where there is little room, every 1.
    const round = (_, splits) => splits.map((v) => ((narrow ? "1" : "125").includes(v.toExponential(0)[0]) ? v : null));
    const logarithmic = { filter: round, grid: { ...line, filter: round }, ticks: { ...line, filter: round } };
    const scale = (log) => (log ? " (logarithmic)" : "");
    const dots = (stroke, size, fill) => ({
      stroke, paths: () => null, points: { show: true, size, fill, stroke, width: 2 },
      value: (_, v) => (v === null ? "" : usd(v)),
    });
    const plot = new uPlot({
      width, height: 340,
      scales: { x: { time: false, distr: wide ? 3 : 1 }, y: { distr: dear ? 3 : 1, range: (_, low, high) => {
        const room = (high - low || high) * 0.08;
        return dear ? [low / 1.3, high * 1.3] : [low - room, high + room];
      } } },
      axes: [{ ...axis, label: `${this.unit} to train${scale(wide)}`, ...(wide ? logarithmic : {}) },
        { ...axis, ...(narrow ? {} : { label: `cost${scale(dear)}` }), size: narrow ? 72 : 90, ...(dear ? logarithmic : {}),
          values: (_, all) => all.map((v) => (v === null ? null : usd(v))) }],
      series: [{ label: this.unit, value: (_, v) => (v === null ? "" : digits(v)) },
        { label: "frontier", stroke: colour("--bar"), width: 2, spanGaps: true,
          points: { show: true, size: 7, fill: colour("--bar") }, value: (_, v) => (v === null ? "" : usd(v)) },
        { label: "listed plans", ...dots(colour("--bar-2"), 9, colour("--paper")) },
        { label: "chosen", ...dots(colour("--bar-2"), 13, colour("--bar-2")) }],
      cursor: { drag: { x: false, y: false } },
    }, this.columns(), this.box);
    plot.over.addEventListener("click", () => {
      const index = this.nearest(plot, plot.cursor.left, plot.cursor.top);
      if (index !== null) this.choose(index);
    });
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", `Cost against ${this.unit} to train; the table below holds the same figures`);
  }
}

function fillFrontierTable(table, frontier) {
  fillTable(table, ["In the list as", "Instances", "Market", "Stack", "Strategy", "Time", "Cost"], frontier.map((p) =>
    [p.rank === null ? "-" : "#" + p.rank, `${p.instance_count} x ${p.instance_type}`, p.market ?? "-", p.stack, p.strategy,
      duration(p.time_to_train_s), usd(p.total_usd)]));
}
