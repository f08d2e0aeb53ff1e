// The page: everything that a peer said becomes text nodes, and nothing else.

const data = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const ROW = 24;

const seq = (one) => one.request_seq ?? one.seq;
// What waited long was written where it ended.
const isMerged = data.entries.some((one) => one.part);
const all = data.entries.sort((one, other) => (isMerged ? one.at_ms - other.at_ms : seq(one) - seq(other)));
const start = all.reduce((least, one) => Math.min(least, one.at_ms ?? least), Infinity);
const end = all.reduce((most, one) => Math.max(most, (one.at_ms ?? 0) + (one.waited_ms || 0)), 0);
const span = Math.max(end - start, 0.001);
// Numbers are those of one tape, where there are several.
const numberOn = (one, number) => `${one.part || ""} ${number}`;
const group = (one) => one.part || one.session;
const places = new Map(all.map((one, place) => [numberOn(one, seq(one)), place]));
const progress = new Map();
for (const one of all) {
  if (one.kind === "progress" && one.about !== undefined) {
    const about = numberOn(one, one.about);
    progress.set(about, [...(progress.get(about) || []), one.at_ms]);
  }
}
by("list").classList.toggle("merged", isMerged);
let shown = all;
let session = null;
let picked = 0;

function track(one) {
  const box = make("div", "track");
  if (one.at_ms === null || one.at_ms === undefined || !Number.isFinite(start)) return box;
  const percent = (ms) => `${Math.min(Math.max(((ms - start) / span) * 100, 0), 100)}%`;
  const bar = (from, length, ours) => {
    const node = make("div", ours ? "bar ours" : "bar");
    node.style.left = percent(from);
    node.style.width = `${Math.max((length / span) * 100, 0)}%`;
    box.append(node);
  };
  bar(one.at_ms, one.waited_ms || 0, false);
  if (one.ours_ms) bar(one.at_ms, one.ours_ms, true);
  for (const tick of (progress.get(numberOn(one, one.request_seq)) || []).slice(0, 100)) {
    const node = make("div", "tick");
    node.style.left = percent(tick);
    box.append(node);
  }
  return box;
}

function row(one, place) {
  const [word, look] = ended(one);
  const node = make("div", "row", make("span", "at", time(one.at_ms)), make("span", "soft", one.part || `s${one.session}`),
    make("span", "soft", one.from === "server" ? "←" : "→"), make("span", isWhole(one) ? "" : "soft", what(one).slice(0, 300)),
    track(one), make("span", "took", isWhole(one) ? time(one.waited_ms) : ""), make("span", look, word));
  node.setAttribute("role", "row");
  node.setAttribute("aria-selected", String(place === picked));
  node.style.top = `${place * ROW}px`;
  node.addEventListener("click", () => pick(place));
  return node;
}

// Only the rows in sight are there, however many there are.
function draw() {
  const list = by("list");
  by("room").style.height = `${shown.length * ROW}px`;
  const first = Math.max(Math.floor(list.scrollTop / ROW) - 5, 0);
  const count = Math.ceil(list.clientHeight / ROW) + 10;
  by("room").replaceChildren(...shown.slice(first, first + count).map((one, at) => row(one, first + at)));
}

function said(title, text) {
  const box = make("div", "", make("h2", "", title));
  if (text === null || text === undefined) return box;
  const copy = make("button", "copy", "copy");
  copy.type = "button";
  copy.addEventListener("click", () => navigator.clipboard && navigator.clipboard.writeText(text));
  const block = make("pre", "");
  pretty(text, block);
  box.prepend(copy);
  box.append(block);
  return box;
}

function facts(one) {
  const box = make("div", "facts");
  const add = (name, value) => {
    if (value !== undefined && value !== null && value !== "") box.append(make("span", "", `${name} `, make("b", "", value)));
  };
  add("", what(one).slice(0, 2000));
  add("id", one.id);
  add("part", one.part);
  if (one.kind !== "model") add("session", one.session);
  add("event", seq(one));
  add("answer", one.answer_seq);
  add("asked at", one.at_ms === null ? null : time(one.at_ms));
  add("waited", one.waited_ms === null || one.waited_ms === undefined ? null : time(one.waited_ms));
  add("ours", one.ours_ms ? time(one.ours_ms) : null);
  add("theirs", one.theirs_ms ? time(one.theirs_ms) : null);
  add("HTTP", one.http_status);
  if (one.kind === "model") {
    const cached = one.cache_read_tokens ? ` (${one.cache_read_tokens} cached)` : "";
    add("tokens in", one.input_tokens === null ? null : `${one.input_tokens}${cached}`);
    add("out", one.output_tokens);
    add("cost", cost(one.cost_usd_microcents));
    add("first token after", one.stream && one.first_token_ms !== null ? time(one.first_token_ms) : null);
    for (const used of one.tool_uses) add(`asks for ${safe(used.name)}:`, fate(used));
  }
  const asked = one.asked_by;
  if (asked) add("asked in", `event ${asked.model_call} of ${asked.file}${GUESSES[asked.how] || ""}`);
  add("about event", one.about);
  add("ended", ended(one)[0]);
  return box;
}

function detail() {
  const one = shown[picked];
  const box = by("detail");
  if (!one) return box.replaceChildren();
  const parts = [facts(one)];
  if (isWhole(one)) {
    parts.push(make("div", "sides", said("request", one.request), said("answer", one.answer)));
  } else if (one.message !== undefined) parts.push(said("message", one.message));
  else if (one.text !== undefined) parts.push(make("pre", "", one.text.slice(0, LONGEST)));
  else if (one.head) {
    const head = one.head.request || one.head.response || one.head.interim;
    parts.push(make("pre", "", (head.fields || []).map(([name, value]) => `${name}: ${value}`).join("\n")));
  } else parts.push(make("pre", "", JSON.stringify(one.finding || one.fault || {}, null, 2)));
  return box.replaceChildren(...parts);
}

function pick(place, jump) {
  picked = Math.min(Math.max(place, 0), Math.max(shown.length - 1, 0));
  const list = by("list");
  const top = picked * ROW;
  if (jump || top < list.scrollTop || top + ROW > list.scrollTop + list.clientHeight) {
    list.scrollTop = Math.max(top - list.clientHeight / 2, 0);
  }
  draw();
  detail();
}

function words(text) {
  const found = text.match(/(?:[^\s"]|"[^"]*")+/g) || [];
  return found.map((one) => (/^[-!]?"[^"]*"$/.test(one) ? one.replace(/^([-!]?)"(.*)"$/, "$1text:$2") : one));
}

function apply() {
  const before = shown[picked];
  try {
    const is = filter(words(by("words").value));
    shown = all.filter((one) => (session === null || group(one) === session) && is(one));
    by("wrong").textContent = "";
  } catch (error) {
    by("wrong").textContent = safe(error.message);
    return;
  }
  by("count").textContent = `${shown.length} of ${all.length}`;
  pick(Math.max(shown.indexOf(before), 0), true);
}

function side() {
  const counts = new Map();
  for (const one of all) counts.set(group(one), (counts.get(group(one)) || 0) + (isWhole(one) ? 1 : 0));
  const button = (name, value, pressed, act) => {
    const node = make("button", "", make("span", "", name), make("span", "soft", value));
    node.type = "button";
    node.setAttribute("aria-pressed", String(pressed));
    node.addEventListener("click", act);
    return node;
  };
  const choose = (value) => () => { session = value; side(); apply(); };
  const total = all.filter(isWhole).length;
  const name = (one) => (typeof one === "string" ? one : one === 0 ? "sessionless" : `session ${one}`);
  const nodes = [make("h2", "", isMerged ? "parts" : "sessions"), button("all", total, session === null, choose(null))];
  const numbered = counts.size > 1 ? [...counts] : [];
  const inOrder = (one, other) => (one < other ? -1 : Number(one > other));
  for (const [number, count] of numbered.sort((one, other) => inOrder(one[0], other[0]))) {
    nodes.push(button(name(number), count, session === number, choose(number)));
  }
  const found = all.filter((one) => one.kind === "finding");
  if (found.length) nodes.push(make("h2", "", "findings"));
  for (const one of found.slice(0, 500)) {
    nodes.push(button(one.finding.code, one.finding.side, false, () => {
      session = null;
      by("words").value = "";
      side();
      apply();
      const seqs = one.finding.evidence.map((place) => place.seq);
      const isAbout = (other) => seqs.includes(other.request_seq) || seqs.includes(other.answer_seq);
      const about = all.findIndex((other) => other.part === one.part && isAbout(other));
      pick(about >= 0 ? about : places.get(numberOn(one, one.seq)), true);
    }));
  }
  by("sessions").replaceChildren(...nodes);
}

function key(event) {
  const typing = event.target === by("words");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = typing ? { Escape: () => by("list").focus(), Enter: () => by("list").focus() } : {
    j: () => pick(picked + 1), k: () => pick(picked - 1), ArrowDown: () => pick(picked + 1), ArrowUp: () => pick(picked - 1),
    PageDown: () => pick(picked + 20), PageUp: () => pick(picked - 20), g: () => pick(0), G: () => pick(shown.length - 1),
    "/": () => by("words").focus(), Enter: () => by("detail").focus(), Escape: () => by("list").focus(),
    s: () => {
      const known = [null, ...new Set(all.map(group))];
      session = known[(known.indexOf(session) + 1) % known.length];
      side();
      apply();
    },
  };
  const inside = event.target.closest("button") && event.key === "Enter";
  const scrolls = event.target === by("detail") && /^(Arrow|Page)/.test(event.key);
  if (!Object.hasOwn(keys, event.key) || inside || scrolls) return;
  event.preventDefault();
  keys[event.key]();
}

document.title = safe(`${data.head.file}: tapewright`);
by("title").textContent = safe(data.head.file);
by("about").textContent = safe([data.head.kind, data.head.label, data.head.recorded_at && `recorded ${data.head.recorded_at}`, data.end.text]
  .filter(Boolean).join(" · "));
if (data.end.incomplete) {
  by("banner").hidden = false;
  by("banner").textContent = safe(`Not everything is here: ${data.end.text}`);
}
by("search").addEventListener("submit", (event) => event.preventDefault());
by("words").addEventListener("input", apply);
by("list").addEventListener("scroll", () => requestAnimationFrame(draw));
addEventListener("resize", draw);
addEventListener("keydown", key);
// The heads of HTTP would stand between all others.
if (all.some((one) => one.kind === "http")) by("words").value = "-kind:http";
side();
apply();
by("list").focus();
