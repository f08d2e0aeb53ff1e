// Time from left to right: which part of it is seen, its axis, and the bars of one row.
import { clock, make, put, time } from "./text.js";
import { isPending, isWhole } from "./row.js";
import { windowOf } from "./model.js";

const TICKS = 40;
// The widest zoom, in milliseconds.
const LEAST = 0.05;
// Quarters, as lines in the back of the style sheet.
const MARKS = 4;

export class Scale {
  // What is seen; null for all there is.
  #chosen = null;
  #model;

  constructor(model) { this.#model = model; }

  get from() { return this.#chosen ? this.#chosen.from : this.#model.span.from; }

  get length() {
    const { from, to } = this.#chosen || this.#model.span;
    return Math.max(to - from, LEAST);
  }

  get isWhole() { return this.#chosen === null; }

  whole() { this.#chosen = null; }

  // Shows a window with some room around it.
  show({ from, to }, room = 0.15) {
    const more = Math.max((to - from) * room, LEAST);
    this.#chosen = { from: from - more, to: to + more };
  }

  // Closer, or further away, around a moment.
  zoom(factor, around) {
    const length = Math.max(this.length * factor, LEAST);
    const { from, to } = this.#model.span;
    if (length >= to - from) return this.whole();
    const middle = around ?? this.from + this.length / 2;
    this.#chosen = { from: middle - length / 2, to: middle + length / 2 };
  }

  // Where a moment is, from 0 to 1; beyond where it is out of sight.
  place(ms) { return (ms - this.from) / this.length; }
}

const percent = (part) => `${(Math.min(Math.max(part, 0), 1) * 100).toFixed(3)}%`;

export function axis(node, scale, isTimed) {
  if (node.childElementCount !== MARKS) {
    node.replaceChildren(...Array.from({ length: MARKS }, () => make("span", "mark")));
  }
  [...node.children].forEach((mark, at) => {
    put(mark, isTimed ? label(scale.from + (scale.length * at) / MARKS, scale.length) : "");
    mark.style.left = `${(at * 100) / MARKS}%`;
  });
}

// Exact as far as it tells one mark from the next.
function label(ms, length) {
  if (length < 2000) return ms === 0 ? "0" : `${ms.toFixed(length < 20 ? 2 : 0)} ms`;
  if (length < 120000) return `${(ms / 1000).toFixed(length < 20000 ? 1 : 0)} s`;
  return clock(ms).replace(/\.\d+$/, "");
}

// Where the time of a row went: with us, with the server, and kept from the client after its answer. Over HTTP we know for
// how long we had it in our hands, both ways together.
export function spent(row) {
  const waited = row.waited_ms || 0;
  const answered = Math.min(row.answered_ms ?? waited, waited);
  const ours = Math.min(row.ours_ms || 0, answered);
  const parts = [["ours", ours], ["theirs", answered - ours], ["kept", waited - answered]];
  return parts.filter(([name, ms]) => ms > 0 || name === "theirs");
}

export function toldSpent(row) {
  if (!isWhole(row) || row.waited_ms == null) return "";
  const words = { ours: "with us", theirs: "with the server", kept: "kept from the client after its answer" };
  if (row.kind === "model") return `${time(row.waited_ms)} with the provider`;
  return spent(row).map(([name, ms]) => `${time(ms)} ${words[name]}`).join(", ");
}

// Draws the bars of a row into its cell.
export function track(node, row, scale, model, now) {
  const parts = [];
  const add = (look, from, ms) => {
    const [left, right] = [scale.place(from), scale.place(from + ms)];
    if (right < 0 || left > 1) return;
    const bar = make("i", look);
    // What is newest has room at the edge, however short it is.
    bar.style.left = `min(${percent(left)}, calc(100% - 2px))`;
    if (ms > 0) bar.style.width = percent(Math.min(right, 1) - Math.max(left, 0));
    parts.push(bar);
  };
  if (row.at_ms == null) return node.replaceChildren();
  if (!isWhole(row)) add("dot", row.at_ms, 0);
  else if (isPending(row)) {
    const { from, to } = windowOf(row, now);
    add("bar open", from, to - from);
  } else {
    let at = row.at_ms;
    for (const [name, ms] of spent(row)) {
      add(`bar ${name}`, at, ms);
      at += ms;
    }
  }
  if (isWhole(row)) {
    for (const tick of model.ticks(row).slice(0, TICKS)) add("tick", tick, 0);
    if (row.kind === "model" && row.stream && row.first_token_ms != null) add("tick", row.at_ms + row.first_token_ms, 0);
  }
  node.replaceChildren(...parts);
}
