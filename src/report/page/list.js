// The list: as many nodes as are in sight, whatever the number of rows.
import { clock, line, make, put, size, time } from "./text.js";
import { ended, groupOf, isBad, isPending, isWhole, marks, named } from "./row.js";
import { axis, toldSpent, track } from "./waterfall.js";

export const ROW = 22;
// Rows above and below what is in sight.
const BEYOND = 4;
// No browser lays out more: beyond it, rows are reached by filter and keys.
const HIGHEST = 30000000;

const CELLS = ["at", "of", "name", "status", "took", "size", "track"];

function empty(pick) {
  const node = make("div", "row");
  node.setAttribute("role", "row");
  for (const name of CELLS) {
    const cell = make("span", name);
    cell.setAttribute("role", "gridcell");
    node.append(cell);
  }
  node.addEventListener("mousedown", (event) => { if (event.button === 0) pick(node.shownRow, event.detail > 1); });
  return node;
}

function fillName(cell, row) {
  const [method, about] = named(row);
  const parts = [make("span", row.from === "server" ? "way back" : "way", row.from === "server" ? "←" : "→")];
  if (about) parts.push(make("b", "", line(about)));
  if (method) parts.push(make("span", about ? "soft" : "", line(method)));
  for (const [look, text] of marks(row)) parts.push(make("span", `mark ${look}`, line(text)));
  cell.replaceChildren(...parts);
}

export class List {
  // The row that is chosen.
  picked = null;
  // Rows that a finding is about.
  marked = new Set();
  #nodes = [];
  #parts;
  #is;
  #due = false;

  // `parts`: {grid, room, axis}; `is`: {view, model, scale, now, pick}.
  constructor(parts, is) {
    this.#parts = parts;
    this.#is = is;
    parts.grid.addEventListener("scroll", () => this.soon(), { passive: true });
    addEventListener("resize", () => this.soon());
  }

  // Draws with the next frame, once.
  soon() {
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => { this.#due = false; this.draw(); });
  }

  get atPick() { return this.picked ? this.#is.view.place(this.picked) : -1; }

  get #inSight() {
    const { grid } = this.#parts;
    const head = grid.firstElementChild.offsetHeight;
    return { top: grid.scrollTop, height: Math.max(grid.clientHeight - head, ROW) };
  }

  // As high as all rows are: there is no scrolling beyond it.
  #grow() {
    const height = `${Math.min(this.#is.view.rows.length * ROW, HIGHEST)}px`;
    if (this.#parts.room.style.height !== height) this.#parts.room.style.height = height;
  }

  draw() {
    const { grid, room, axis: marks } = this.#parts;
    const { view, model, scale } = this.#is;
    const rows = view.rows;
    this.#grow();
    grid.setAttribute("aria-rowcount", String(rows.length + 1));
    const sight = this.#inSight;
    const first = Math.max(Math.floor(sight.top / ROW) - BEYOND, 0);
    const count = Math.min(Math.ceil(sight.height / ROW) + 2 * BEYOND, Math.max(rows.length - first, 0));
    while (this.#nodes.length < count) {
      const node = empty((row, twice) => this.#is.pick(row, twice));
      this.#nodes.push(node);
      room.append(node);
    }
    while (this.#nodes.length > count) this.#nodes.pop().remove();
    let active = "";
    // A row keeps its node while it is in sight.
    for (let place = first; place < first + count; place += 1) {
      const node = this.#nodes[place % count];
      this.#fill(node, rows[place], place);
      if (rows[place] === this.picked) active = node.id;
    }
    if (active) grid.setAttribute("aria-activedescendant", active); else grid.removeAttribute("aria-activedescendant");
    axis(marks, scale, model.isTimed);
  }

  #fill(node, row, place) {
    const { model, scale, now } = this.#is;
    node.shownRow = row;
    node.style.transform = `translateY(${place * ROW}px)`;
    node.id = `row-${place}`;
    node.setAttribute("aria-rowindex", String(place + 2));
    node.setAttribute("aria-selected", String(row === this.picked));
    const [word, look] = ended(row);
    node.className = `row${place % 2 ? " odd-place" : ""}${isBad(row) ? " failed" : ""}${isWhole(row) ? "" : " beside"}${this.marked.has(row) ? " about" : ""}`;
    const [at, of, name, status, took, bytes, bars] = node.children;
    put(at, row.at_ms == null ? `#${row.request_seq ?? row.seq}` : clock(row.at_ms));
    put(of, line(row.part || (groupOf(row) === 0 ? "" : `s${row.session}`)));
    fillName(name, row);
    status.className = `status ${look}`;
    put(status, line(word));
    put(took, isPending(row) ? time(Math.max(now() - row.at_ms, 0)) : isWhole(row) ? time(row.waited_ms) : "");
    put(bytes, size(row.answer_bytes ?? null));
    track(bars, row, scale, model, now());
    bars.title = toldSpent(row);
  }

  // Brings the chosen row into sight.
  reveal(toMiddle) {
    const place = this.atPick;
    if (place < 0) return;
    this.#grow();
    const { grid } = this.#parts;
    const { top, height } = this.#inSight;
    if (toMiddle || place * ROW < top || (place + 1) * ROW > top + height) {
      if (toMiddle) grid.scrollTop = Math.max(place * ROW - height / 2, 0);
      else grid.scrollTop = place * ROW < top ? place * ROW : (place + 1) * ROW - height;
    }
    this.soon();
  }

  get page() { return Math.max(Math.floor(this.#inSight.height / ROW) - 1, 1); }
}
