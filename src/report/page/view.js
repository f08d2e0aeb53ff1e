// The rows that the filter lets through: looked for in slices, so that nothing else waits, and kept up to date row by row.
import { filter, kinds, split } from "./filter.js";
import { firstWhere, inOrder, merge } from "./model.js";
import { groupOf } from "./row.js";
import { breathe } from "./text.js";

const SLICE_MS = 8;

// The place at which a row stands, or would stand, in a sorted list.
const placeIn = (list, row) => firstWhere(list, (other) => inOrder(other, row) >= 0);

export class View {
  rows = [];
  words = "";
  group = null;
  every = false;
  #model;
  #tell;
  #is = () => true;
  #run = 0;
  // What comes while it is looked for.
  #late = null;

  constructor(model, tell) {
    this.#model = model;
    this.#tell = tell;
    this.#is = this.#make();
  }

  #make() {
    const words = split(this.words);
    const is = filter(words);
    const shown = this.every && !words.some((one) => one.startsWith("kind:")) ? null : kinds(words);
    const group = this.group;
    return (row) => (group === null || groupOf(row) === group) && (!shown || shown.includes(row.kind)) && is(row);
  }

  // Sets what is shown; throws what is wrong with a word. Resolves when all rows are looked at.
  async set(wanted) {
    const before = { words: this.words, group: this.group, every: this.every };
    Object.assign(this, wanted);
    try { this.#is = this.#make(); } catch (error) {
      Object.assign(this, before);
      throw error;
    }
    await this.#again();
  }

  async #again() {
    const run = this.#run += 1;
    const [is, all] = [this.#is, this.#model.rows];
    this.#late = { moved: false, replaced: [] };
    const found = [];
    let at = 0;
    while (at < all.length) {
      const until = performance.now() + SLICE_MS;
      do {
        for (const end = Math.min(at + 50, all.length); at < end; at += 1) if (is(all[at])) found.push(all[at]);
      } while (at < all.length && performance.now() < until);
      if (at < all.length) {
        this.#tell(at / all.length);
        await breathe();
        if (run !== this.#run) return;
      }
    }
    const late = this.#late;
    this.#late = null;
    if (late.moved) return void await this.#again();
    this.rows = found;
    for (const [row] of late.replaced) this.#replace(row);
    this.#tell(1);
  }

  #replace(row) {
    const [place, now] = [this.place(row), this.#is(row)];
    if (now && place < 0) this.rows.splice(placeIn(this.rows, row), 0, row);
    if (!now && place >= 0) this.rows.splice(place, 1);
  }

  // What has come, or is another now.
  take({ added, replaced, behind }) {
    if (this.#late) {
      // Rows at the end are still looked at.
      this.#late.moved ||= !behind;
      this.#late.replaced.push(...replaced);
      return;
    }
    merge(this.rows, added.filter(this.#is));
    for (const [row] of replaced) this.#replace(row);
  }

  place(row) {
    const place = placeIn(this.rows, row);
    for (let at = place; at < this.rows.length && inOrder(this.rows[at], row) === 0; at += 1) if (this.rows[at] === row) return at;
    return -1;
  }
}
