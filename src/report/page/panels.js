// The panels at the side: sessions, what waits, drift.
import { drifted, unasked } from "./drift.js";
import { groupOf, nameOfGroup, named, seqOf } from "./row.js";
import { button, line, make, put, time } from "./text.js";

const LISTED = 200;
const WAITING = 12;
// What hangs, where nobody says from when on.
const LONG_MS = 30000;

// Replaces a panel, and keeps the focus on what stood there before.
export function panel(node, title, count, items) {
  node.hidden = !items.length;
  const at = [...node.querySelectorAll("button")].indexOf(document.activeElement);
  node.replaceChildren(make("h2", "", title, count ? make("span", "count", count) : null), ...items);
  if (at >= 0) (node.querySelectorAll("button")[at] || node.querySelector("button"))?.focus();
}

export function sessions(node, model, chosen, choose) {
  const all = { whole: 0, bad: 0, pending: 0 };
  const groups = model.sorted().filter(([, counts]) => counts.lines > 0);
  for (const [, counts] of groups) for (const name of Object.keys(all)) all[name] += counts[name];
  const item = (name, value, counts) => {
    const one = button("choice", () => choose(value), make("span", "what", line(name)),
      counts.pending ? make("span", "odd", `${counts.pending} open`) : null,
      counts.bad ? make("span", "bad", `${counts.bad} failed`) : null, make("span", "count", counts.whole));
    one.setAttribute("aria-pressed", String(value === chosen));
    one.title = `${counts.whole} exchanges, ${counts.bad} failed`;
    return one;
  };
  const items = [item("all", null, all)];
  if (groups.length > 1) for (const [group, counts] of groups.slice(0, LISTED)) items.push(item(nameOfGroup(group), group, counts));
  if (groups.length > LISTED) items.push(make("p", "soft", `and ${groups.length - LISTED} more: session:N finds them`));
  panel(node, model.isMerged ? "Parts" : "Sessions", "", items);
}

// The clock of what waits: how long each has, and how close that is to a hang.
export function waiting(node, model, state, now, pick) {
  const rows = [...model.pending].sort((one, other) => (one.at_ms ?? 0) - (other.at_ms ?? 0)).slice(0, WAITING);
  const hangs = new Set((state.hangs || []).filter((one) => one.closed == null).map((one) => one.seq));
  const long = state.hang_after_ms || LONG_MS;
  const items = rows.map((row) => {
    const [method, about] = named(row);
    const age = row.at_ms == null ? null : Math.max(now - row.at_ms, 0);
    const ticks = model.ticks(row);
    const isHung = hangs.has(seqOf(row)) || age > long;
    const look = isHung ? "bad" : age > long / 3 ? "odd" : "";
    const last = ticks.length ? `progress ${time(Math.max(now - ticks[ticks.length - 1], 0))} ago` : "no progress";
    const clock = make("span", `age ${look}`, time(age));
    const meter = make("i", `meter ${look}`);
    meter.style.width = `${Math.min(((age ?? 0) / long) * 100, 100)}%`;
    return button("choice waits", () => pick(row), make("span", "what", line(about || method)), clock,
      make("span", "soft more", `${line(groupOf(row) === 0 ? "" : nameOfGroup(groupOf(row)))} ${last}`.trim()), meter);
  });
  if (model.pending.size > WAITING) items.push(make("p", "soft", `and ${model.pending.size - WAITING} more: status:pending`));
  panel(node, "Waiting", model.pending.size, items);
}

// What a replay has missed, and what it was not asked for.
export function drift(node, model, state, pick) {
  const all = drifted(model, state.drift);
  const items = all.slice(-LISTED).map(({ row, text }) => {
    const one = button("choice", () => row && pick(row), make("span", "what", text));
    one.disabled = !row;
    return one;
  });
  const left = unasked(state.unused);
  if (left) {
    const list = make("ul", "", ...left.lines.map((text) => make("li", "", text)));
    items.push(make("details", "unasked", make("summary", "", left.text), list));
  }
  const was = node.querySelector("details")?.open;
  panel(node, "Drift", state.missed ?? all.length, items);
  if (was) node.querySelector("details")?.setAttribute("open", "");
}

// What is missing, and why: one line each.
export function banner(node, { state, missed, link }) {
  const parts = [];
  const { gaps, ended } = state;
  if (link && link.state !== "open") parts.push(link.state === "refused" ? `Refused: ${link.why}` : `Not connected: ${link.why}. Trying again.`);
  if (gaps?.count) parts.push(`Not everything was recorded: ${gaps.count} gap${gaps.count === 1 ? "" : "s"}, ${gaps.events} events and ${gaps.bytes} bytes are missing.`);
  if (missed !== null) parts.push(missed ? `${missed} rows were given up before this page could read them.` : "Some rows were given up before this page could read them.");
  if (ended?.incomplete && !gaps?.count) parts.push(`Not everything is here: ${ended.text}`);
  node.hidden = !parts.length;
  put(node, parts.map(line).join("  "));
}

// What is not read yet beside a busy recorder, and a button that reads it.
export function lag(node, behind, readAll) {
  node.hidden = !behind;
  if (!behind) return;
  if (!node.firstElementChild) node.append(make("span", ""), button("", readAll, "Read them now"));
  const events = behind.events ? `${behind.events} events` : "some events";
  put(node.firstElementChild, `The recorder is busy: ${events} are not read yet, the newest are shown.`);
}
