// The list of plans: sorted by any column, filtered by words, one of them chosen. Time and money come first, with P10 and
// P90 below them.
const kColumns = [
  { name: "#", value: (p) => p.rank, text: (p) => String(p.rank) },
  { name: "Instances", value: (p) => p.instance_type + " " + String(p.instance_count).padStart(6, "0"),
    text: (p) => `${p.instance_count} x ${p.instance_type}`, left: true },
  { name: "Market", value: (p) => p.cost.market, text: (p) => p.cost.market, left: true },
  { name: "Time", value: (p) => p.time_to_train_s, text: (p) => duration(p.time_to_train_s),
    below: (p) => spread(p.time_to_train_interval_s, duration) },
  { name: "Cost", value: (p) => p.cost.total_usd, text: (p) => usd(p.cost.total_usd),
    below: (p) => spread(p.cost.total_interval_usd, usd) },
  { name: "Out of memory", value: (p) => p.memory.out_of_memory_probability ?? -1,
    text: (p) => chance(p.memory.out_of_memory_probability) },
  { name: "Memory", value: (p) => p.memory.peak_gib / p.memory.limit_gib,
    text: (p) => gib(p.memory.peak_gib), below: (p) => `of ${gib(p.memory.limit_gib)}` },
  { name: "Step", value: (p) => p.step_time_s, text: (p) => duration(p.step_time_s) },
  { name: "MFU", value: (p) => p.mfu, text: (p) => percent(p.mfu) },
  { name: "Strategy", value: strategyOf, text: strategyOf, below: (p) => p.stack, left: true },
];

class PlanList {
  constructor(table, filter, count, plans, choose) {
    Object.assign(this, { table, filter, count, plans, choose, column: kColumns[0], down: false, chosen: 0 });
    filter.addEventListener("input", () => this.draw());
    this.draw();
  }

  mark(index) {
    this.chosen = index;
    this.draw();
  }

  shown() {
    const asked = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = this.plans.map((_, i) => i).filter((i) => {
      const row = kColumns.map((c) => `${c.text(this.plans[i])} ${c.below ? c.below(this.plans[i]) : ""}`).join(" ").toLowerCase();
      return asked.every((word) => row.includes(word));
    });
    const sign = this.down ? -1 : 1;
    return kept.sort((a, b) => {
      const x = this.column.value(this.plans[a]);
      const y = this.column.value(this.plans[b]);
      return sign * (x < y ? -1 : x > y ? 1 : a - b);
    });
  }

  head() {
    const row = element("tr");
    row.append(element("th", "Show", { scope: "col" }));
    for (const column of kColumns) {
      const sorted = column === this.column ? (this.down ? "descending" : "ascending") : "none";
      const cell = element("th", null, { scope: "col", "aria-sort": sorted, class: column.left ? "" : "number" });
      const button = element("button", column.name, { type: "button" });
      button.addEventListener("click", () => {
        this.down = column === this.column && !this.down;
        this.column = column;
        this.draw();
      });
      cell.append(button);
      row.append(cell);
    }
    const head = element("thead");
    head.append(row);
    return head;
  }

  row(index) {
    const plan = this.plans[index];
    const row = element("tr", null, index === this.chosen ? { class: "chosen" } : {});
    row.dataset.rank = plan.rank;
    const radio = element("input", null, { type: "radio", name: "plan", "aria-label": `Show plan ${plan.rank}` });
    radio.checked = index === this.chosen;
    radio.addEventListener("change", () => this.choose(index));
    row.addEventListener("click", (event) => {
      if (event.target !== radio) this.choose(index);
    });
    const cell = element("td");
    cell.append(radio);
    row.append(cell);
    for (const column of kColumns) {
      const shown = element("td", column.text(plan), { class: column.left ? "" : "number" });
      const below = column.below ? column.below(plan) : "";
      if (below) shown.append(element("small", below));
      row.append(shown);
    }
    return row;
  }

  draw() {
    const focused = document.activeElement && document.activeElement.getAttribute("aria-label");
    const shown = this.shown();
    const body = element("tbody");
    shown.forEach((index) => body.append(this.row(index)));
    this.table.replaceChildren(this.head(), body);
    this.count.textContent = `${shown.length} of ${this.plans.length} plans`;
    if (focused && focused.startsWith("Show plan")) {
      const again = this.table.querySelector(`[aria-label="${focused}"]`);
      if (again) again.focus();
    }
  }
}
