// The page: begins with a source, and puts what comes from it into its parts.
import { copy, tell } from "./clip.js";
import { Detail } from "./detail.js";
import { faults } from "./faults.js";
import { about, allAbout, findings } from "./findings.js";
import { helpOf, listen } from "./keys.js";
import { lanes } from "./lanes.js";
import { List } from "./list.js";
import { Model, windowOf } from "./model.js";
import { overview, watchOverview } from "./overview.js";
import { banner, drift, lag, sessions, waiting } from "./panels.js";
import { isBad } from "./row.js";
import { splitter } from "./split.js";
import { by, line, put } from "./text.js";
import { View } from "./view.js";
import { Scale } from "./waterfall.js";

// The panels are told of what has come so often at most, in milliseconds; clocks tick once a second.
const REFRESH_MS = 150;
const TICK_MS = 1000;
// A detail waits until it is quiet; one that follows comes no more often than this.
const QUIET_MS = 60;
const FOLLOWED_MS = 1000;

class Page {
  model = new Model();
  scale = new Scale(this.model);
  view = new View(this.model, (part) => this.#looked(part));
  told = { state: {}, missed: null, link: null };
  head = {};
  found = null;
  #stateAt = 0;
  #refresh = 0;
  #tick = 0;
  #quiet = 0;
  #followed = { isDue: false, at: -FOLLOWED_MS };
  // Exchanges whose time the lanes keep to while what is beside them is looked at.
  #window = null;

  constructor(source) {
    this.source = source;
    this.detail = new Detail(source, this.model, (row) => this.reach(row));
    const { view, model, scale } = this;
    const parts = { grid: by("list"), room: by("room"), axis: by("axis") };
    this.list = new List(parts, { view, model, scale, now: () => this.now(), pick: (row, twice) => this.pick(row, twice) });
    watchOverview(by("overview"), model, (row) => row && this.reach(row), (part) => this.see(part));
    by("search").addEventListener("submit", (event) => event.preventDefault());
    by("words").addEventListener("input", () => this.filter({ words: by("words").value }));
    by("every").addEventListener("click", () => this.acts.every());
    by("keys").addEventListener("click", () => this.acts.help());
    for (const node of document.querySelectorAll("[role=separator]")) splitter(node, () => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("resize", () => this.draw());
    by("list").addEventListener("wheel", ({ deltaY }) => deltaY < 0 && this.readAll(), { passive: true });
    helpOf(by("help-keys"));
    listen(this.acts);
    // Not at once: the first layout is a task of its own.
    setTimeout(() => by("list").focus(), 0);
    this.draw();
  }

  // How many events were not read, so that a busy recorder is not held up.
  get behind() { return this.told.state.behind?.bytes ? this.told.state.behind : null; }

  // Whoever looks for something wants all there is.
  readAll() { if (this.behind) this.source.readAll?.().catch((error) => tell(`Not read: ${error.message}`)); }

  // Whoever reads a detail keeps it, whatever comes.
  get isRead() { return by("detail").contains(document.activeElement); }

  get isLive() { return this.source.kind === "live" && !this.told.state.ended; }

  // The time of the recording, which goes on while it is recorded.
  now() {
    const { now_ms: now = 0 } = this.told.state;
    // What waits where it was read last may have been answered since.
    if (this.behind) return now;
    return this.isLive ? Math.max(now + performance.now() - this.#stateAt, this.model.span.to) : Math.max(now, this.model.span.to);
  }

  onHead(head) {
    this.head = this.detail.head = head;
    document.title = line(`${head.file}: tapewright`);
    put(by("title"), line(head.file));
    this.about();
  }

  about() {
    const { kind, label, recorded_at: at } = this.head;
    const end = this.told.state.ended;
    // The label is last: it may be a long command, which is cut.
    const told = [kind, at && `recorded ${at}`, end ? end.text : this.source.kind === "live" ? "still recorded" : "loading", label];
    put(by("about"), line(told.filter(Boolean).join(" · ")));
    by("about").title = by("about").textContent;
    by("live").hidden = !this.isLive || this.told.link?.state !== "open";
  }

  onRows(rows) {
    const { rows: shown } = this.view;
    const follows = this.source.kind === "live" && !(this.isRead && this.list.picked) && (!this.list.picked || this.list.picked === shown[shown.length - 1]);
    this.view.take(this.model.add(rows));
    if (follows && this.view.rows.length) this.pick(this.view.rows[this.view.rows.length - 1], false, true);
    else if (!this.list.picked && this.view.rows.length) this.pick(this.view.rows[0]);
    this.draw();
  }

  onState(state) {
    this.told.state = state;
    this.#stateAt = performance.now();
    this.draw();
  }

  onMissed(count) { this.told.missed = count ? (this.told.missed || 0) + count : this.told.missed || 0; this.draw(); }

  onLink(link) { this.told.link = link; this.draw(); }

  // Everything with the next frame, and the panels when it is their turn.
  draw() {
    this.list.soon();
    if (!this.#refresh) this.#refresh = setTimeout(() => { this.#refresh = 0; this.panels(); }, REFRESH_MS);
  }

  panels() {
    const { model, view, told } = this;
    const pick = (row) => this.reach(row);
    sessions(by("sessions"), model, view.group, (group) => this.filter({ group }));
    waiting(by("waiting"), model, told.state, this.now(), pick);
    findings(by("findings"), model, this.found, (found) => this.find(found));
    faults(by("faults"), told.state.faults, this.source, this.head.faults);
    drift(by("drift"), model, told.state, pick);
    banner(by("banner"), told);
    lag(by("behind"), this.behind, () => this.readAll());
    this.about();
    by("list").classList.toggle("one-group", model.groups.size < 2);
    put(by("count"), `${view.rows.length} of ${model.rows.length}`);
    by("none").hidden = view.rows.length > 0;
    put(by("none"), model.rows.length ? "No line matches." : this.isLive ? "Nothing was recorded yet." : "Nothing was recorded.");
    this.beside();
    this.list.soon();
    this.ticking();
  }

  beside() {
    const { model } = this;
    const row = this.list.picked;
    overview(by("overview"), model, this.scale, this.#window && windowOf(this.#window, this.now()));
    lanes({ head: by("beside-head"), canvas: by("lanes"), list: by("beside-list") }, model, this.#window,
      this.#window && windowOf(this.#window, this.now()), (one) => this.reach(one, row));
  }

  // Clocks go on only while something waits.
  ticking() {
    const isDue = this.isLive && this.model.pending.size > 0;
    if (isDue && !this.#tick) this.#tick = setInterval(() => { if (!document.hidden) { waiting(by("waiting"), this.model, this.told.state, this.now(), (row) => this.reach(row)); this.list.soon(); } }, TICK_MS);
    if (!isDue && this.#tick) { clearInterval(this.#tick); this.#tick = 0; }
  }

  pick(row, twice = false, isFollowed = false) {
    if (!row) return;
    this.list.picked = row;
    const chosen = windowOf(row, this.now());
    if (chosen) this.#window = row;
    else if (row.kind === "finding") this.#window = null;
    if (twice) { this.#window = null; this.scale.whole(); }
    this.list.reveal(false);
    // It is due for what will be the last row then.
    if (isFollowed && this.#followed.isDue) return;
    clearTimeout(this.#quiet);
    const rests = isFollowed ? FOLLOWED_MS - (performance.now() - this.#followed.at) : 0;
    this.#followed.isDue = isFollowed;
    this.#quiet = setTimeout(() => this.#detailed(isFollowed), Math.max(rests, isFollowed ? 4 * QUIET_MS : QUIET_MS));
  }

  #detailed(isFollowed) {
    if (isFollowed) this.#followed = { isDue: false, at: performance.now() };
    if (isFollowed && this.isRead && this.detail.shown) {
      this.list.picked = this.detail.shown;
      this.list.soon();
    } else this.detail.show(this.list.picked);
    this.beside();
  }

  // A row, also where the filter hides it.
  async reach(row) {
    if (this.view.place(row) < 0) {
      by("words").value = "";
      await this.filter({ words: "", group: null, every: !["exchange", "model"].includes(row.kind) || this.view.every });
    }
    this.pick(row);
    this.list.reveal(true);
  }

  // A finding selects the rows that it is about.
  async find(found) {
    this.found = found;
    this.list.marked = allAbout(this.model, found);
    const row = about(this.model, found);
    await this.reach(row);
    this.draw();
    if (row !== found) tell(`${line(found.finding.code)}: ${line(found.finding.detail)}`);
  }

  async filter(wanted) {
    this.readAll();
    try {
      await this.view.set(wanted);
      put(by("wrong"), "");
    } catch (error) { put(by("wrong"), line(error.message)); }
    by("every").setAttribute("aria-pressed", String(this.view.every));
    this.draw();
  }

  // How far the filter has looked.
  #looked(part) {
    put(by("count"), part < 1 ? `looking, ${Math.round(part * 100)} %` : `${this.view.rows.length} of ${this.model.rows.length}`);
    if (part < 1) return;
    const { rows } = this.view;
    if (rows.length && this.view.place(this.list.picked || rows[0]) < 0) this.pick(rows[0]);
    this.list.reveal(true);
  }

  see(part) {
    if (part) this.scale.show(part, 0); else this.scale.whole();
    this.draw();
  }

  move(by_) {
    if (by_ < 0) this.readAll();
    const { rows } = this.view;
    if (!rows.length) return;
    const at = Math.min(Math.max(this.list.atPick + by_, 0), rows.length - 1);
    this.pick(rows[at]);
  }

  // The next row of which something holds, behind or before the chosen one.
  seek(step, is) {
    this.readAll();
    const { rows } = this.view;
    for (let at = this.list.atPick + step; at >= 0 && at < rows.length; at += step) if (is(rows[at])) return this.pick(rows[at]);
    return tell("There is none further on.");
  }

  ring(list, current, step) {
    const at = list.indexOf(current);
    return list[(at < 0 ? (step > 0 ? 0 : list.length - 1) : at + step + list.length) % list.length];
  }

  group(step) {
    const all = [null, ...this.model.sorted().map(([group]) => group)];
    this.filter({ group: this.ring(all, this.view.group, step) });
  }

  finding(step) {
    this.readAll();
    if (this.model.findings.length) this.find(this.ring(this.model.findings, this.found, step));
    else tell("There are no findings.");
  }

  zoom(factor) {
    const chosen = windowOf(this.list.picked, this.now());
    this.scale.zoom(factor, chosen ? (chosen.from + chosen.to) / 2 : undefined);
    this.draw();
  }

  copy(way) { if (this.list.picked) copy(way, this.list.picked, this.source, this.head); }

  acts = {
    next: () => this.move(1), previous: () => this.move(-1),
    pageDown: () => this.move(this.list.page), pageUp: () => this.move(-this.list.page),
    first: () => this.move(-Infinity), last: () => this.move(Infinity),
    nextBad: () => this.seek(1, isBad), previousBad: () => this.seek(-1, isBad),
    nextFinding: () => this.finding(1), previousFinding: () => this.finding(-1),
    nextGroup: () => this.group(1), previousGroup: () => this.group(-1),
    filter: () => { by("words").focus(); by("words").select(); },
    every: () => this.filter({ every: !this.view.every }),
    detail: () => by("detail").focus(), list: () => by("list").focus(),
    panels: () => document.querySelector("nav button")?.focus(), lanes: () => by("beside").focus(),
    zoomPick: () => this.see(windowOf(this.list.picked, this.now())), zoomAll: () => this.see(null),
    zoomIn: () => this.zoom(0.5), zoomOut: () => this.zoom(2),
    copyJson: () => this.copy("json"), copyStep: () => this.copy("step"), copyReplay: () => this.copy("replay"), copyShow: () => this.copy("show"),
    help: () => by("help").showModal(),
  };
}

// Begins; what it returns ends it.
export function start(source) {
  const page = new Page(source);
  return source.subscribe({
    onHead: (head) => page.onHead(head),
    onRows: (rows) => page.onRows(rows),
    onState: (state) => page.onState(state),
    onMissed: (count) => page.onMissed(count),
    onLink: (link) => page.onLink(link),
  });
}
