// Findings: by their code, each leading to the row that it is about.
import { panel } from "./panels.js";
import { button, line, make } from "./text.js";

const LISTED = 300;

// The row that a finding is about, or its own.
export function about(model, found) {
  for (const place of found.finding.evidence || []) {
    const row = model.at(found.part, place.seq);
    if (row) return row;
  }
  return found;
}

// All rows that a finding is about.
export function allAbout(model, found) {
  const rows = (found.finding.evidence || []).map((place) => model.at(found.part, place.seq));
  return new Set(rows.filter(Boolean));
}

export function findings(node, model, chosen, pick) {
  const items = model.findings.slice(0, LISTED).map((found) => {
    const { code, side, severity, detail } = found.finding;
    const one = button(`choice finding ${severity === "must" ? "bad" : "odd"}`, () => pick(found),
      make("span", "code", line(code)), make("span", "soft", line(side)), make("span", "more", line(detail)));
    one.setAttribute("aria-pressed", String(found === chosen));
    return one;
  });
  if (model.findings.length > LISTED) items.push(make("p", "soft", `and ${model.findings.length - LISTED} more: kind:finding lists them`));
  panel(node, "Findings", model.findings.length, items);
}
