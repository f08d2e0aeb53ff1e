// All rows in order of time, and where to find one. Knows nothing of a page.
import { groupOf, isBad, isPending, isWhole, keyOf, seqOf } from "./row.js";

const LANES = ["notification", "progress", "cancellation", "late", "orphan", "noise", "stderr", "fault", "gap"];
const TICKS = 200;

// In order of time; of a file without times, in order of the file.
export const inOrder = (one, other) => (one.at_ms ?? 0) - (other.at_ms ?? 0)
  || ((one.part || "") < (other.part || "") ? -1 : Number((one.part || "") > (other.part || "")))
  || seqOf(one) - seqOf(other);

// The first place in a sorted list of which `isAfter` holds.
export function firstWhere(list, isAfter) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(list[middle])) high = middle; else low = middle + 1;
  }
  return low;
}

// Adds sorted rows to a sorted list: most often they come behind all others. Whether they did.
export function merge(list, rows) {
  if (!rows.length) return true;
  const isBehind = !list.length || inOrder(list[list.length - 1], rows[0]) <= 0;
  // Only what stands behind the first of them is put in order anew.
  const tail = isBehind ? [] : list.splice(firstWhere(list, (row) => inOrder(row, rows[0]) > 0));
  let at = 0;
  for (const row of rows) {
    while (at < tail.length && inOrder(tail[at], row) <= 0) list.push(tail[at++]);
    list.push(row);
  }
  while (at < tail.length) list.push(tail[at++]);
  return isBehind;
}

export class Model {
  rows = [];
  lanes = [];
  findings = [];
  pending = new Set();
  groups = new Map();
  span = { from: 0, to: 0 };
  isTimed = false;
  isMerged = false;
  // Another one after every change.
  version = 0;
  #byKey = new Map();
  #bySeq = new Map();
  #progress = new Map();

  // Takes rows; returns those that are new, whether they stand behind all others, and those that were there, each with what
  // it was.
  add(batch) {
    const added = [];
    const replaced = [];
    for (const row of batch) {
      const key = keyOf(row);
      const old = this.#byKey.get(key);
      if (old) {
        const was = { ...old };
        for (const name of Object.keys(old)) delete old[name];
        Object.assign(old, row);
        replaced.push([old, was]);
        this.#count(was, -1);
        this.#learn(old);
      } else {
        this.#byKey.set(key, row);
        added.push(row);
        this.#learn(row);
      }
    }
    this.version += 1;
    added.sort(inOrder);
    const behind = merge(this.rows, added);
    merge(this.lanes, added.filter((row) => LANES.includes(row.kind)));
    merge(this.findings, added.filter((row) => row.kind === "finding"));
    return { added, replaced, behind };
  }

  #learn(row) {
    const place = (seq) => `${row.part || ""} ${seq}`;
    if (isWhole(row) || !this.#bySeq.has(place(seqOf(row)))) this.#bySeq.set(place(seqOf(row)), row);
    if (row.answer_seq != null) this.#bySeq.set(place(row.answer_seq), row);
    if (row.part) this.isMerged = true;
    if (row.at_ms != null) {
      const last = row.at_ms + (row.waited_ms || 0);
      if (!this.isTimed) this.span = { from: row.at_ms, to: last };
      this.isTimed = true;
      this.span.from = Math.min(this.span.from, row.at_ms);
      this.span.to = Math.max(this.span.to, last);
    }
    if (row.kind === "progress" && row.about !== undefined && row.at_ms != null) {
      const ticks = this.#progress.get(place(row.about)) || [];
      if (ticks.length < TICKS) ticks.push(row.at_ms);
      this.#progress.set(place(row.about), ticks);
    }
    this.#count(row, 1);
  }

  #count(row, by) {
    const group = groupOf(row);
    let counts = this.groups.get(group);
    if (!counts) this.groups.set(group, counts = { whole: 0, bad: 0, pending: 0, lines: 0 });
    counts.lines += by;
    if (!isWhole(row)) return;
    counts.whole += by;
    if (isBad(row)) counts.bad += by;
    if (isPending(row)) counts.pending += by;
    const known = this.#byKey.get(keyOf(row));
    if (by > 0 && isPending(row)) this.pending.add(known); else this.pending.delete(known);
  }

  // The row that an event of a tape belongs to.
  at(part, seq) { return this.#bySeq.get(`${part || ""} ${seq}`); }

  ticks(row) { return this.#progress.get(`${row.part || ""} ${seqOf(row)}`) || []; }

  // Groups in order: sessions by number, tapes by name.
  sorted() {
    const order = (one, other) => (one < other ? -1 : Number(one > other));
    return [...this.groups].sort((one, other) => order(one[0], other[0]));
  }

  // What is beside the exchanges between two moments, of one group where it is told; and how much.
  beside(from, to, group, most) {
    const begin = firstWhere(this.lanes, (row) => (row.at_ms ?? 0) >= from);
    const found = [];
    let count = 0;
    for (let at = begin; at < this.lanes.length && (this.lanes[at].at_ms ?? 0) <= to; at += 1) {
      const row = this.lanes[at];
      if (group !== undefined && row.session !== 0 && groupOf(row) !== group) continue;
      count += 1;
      if (found.length < most) found.push(row);
    }
    return { found, count };
  }
}

// The time of an exchange; null for what takes none.
export function windowOf(row, now) {
  if (!row || row.at_ms == null || !isWhole(row)) return null;
  const to = row.waited_ms == null || isPending(row) ? Math.max(now ?? 0, row.at_ms + (row.waited_ms || 0)) : row.at_ms + row.waited_ms;
  return { from: row.at_ms, to };
}
