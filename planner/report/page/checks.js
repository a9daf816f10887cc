// What the rules of `smplan check` say of the chosen plan as a job.
const plural = (n, name) => `${n === 0 ? "no" : n} ${name}${n === 1 ? "" : "s"}`;

function showChecks(table, line, checks) {
  table.replaceChildren();
  if (!checks || checks.refused) {
    line.textContent = checks ? `Not checked as one SageMaker job: ${checks.refused}` : "Not checked.";
    return;
  }
  const s = checks.summary;
  line.textContent = `As the request that CreateTrainingJob would get: ${plural(s.errors, "error")}, ` +
    `${plural(s.warnings, "warning")}, ${plural(s.infos, "note")}. ${s.rules_run} rules had something to judge; ` +
    `${s.rules_skipped} concern what only your account and files know, or other kinds of jobs.`;
  if (checks.findings.length === 0) return;
  fillTable(table, ["Severity", "Rule", "Place", "Finding", "What to do"], checks.findings.map((f) =>
    [f.severity === "info" ? "note" : f.severity, f.rule, f.path || "-", f.message, f.fix]));
  [...table.tBodies[0].rows].forEach((row, i) => { row.dataset.severity = checks.findings[i].severity; });
}
