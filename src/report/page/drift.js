// What a replay was asked and had not recorded: JSON paths with the recorded and the live value side by side.
import { line, make } from "./text.js";

// The code with which a replay answers what was not recorded.
export const MISS = -32020;
const LISTED = 100;

// The places of a miss: {path, recorded, live}, of the nearest recorded request. Knows nothing of a page.
export function places(data) {
  const found = data?.nearest?.[0]?.differences;
  return Array.isArray(found) ? found.filter((one) => typeof one?.path === "string") : [];
}

// The data of the error with which a replay answered; null for any other answer.
export function missOf(answer) {
  if (!answer || !answer.includes(String(MISS))) return null;
  try {
    const { error } = JSON.parse(answer);
    return error?.code === MISS && error.data?.reason ? error : null;
  } catch { return null; }
}

// Whether a replay may have answered so because it could not answer.
export const maybeMissed = (row) => row.kind === "exchange" && row.error_code === MISS;

// Of a row that a replay could not answer, as the replay itself tells it; null for any other.
export function driftOf(row, answer) {
  const miss = maybeMissed(row) ? missOf(answer) : null;
  if (!miss) return null;
  const { part, session, method, request_seq: seq, id } = row;
  return { part, session, method, seq, id, name: row.tool || row.resource || row.prompt, why: miss.data.reason, paths: places(miss.data) };
}

function table(all, label) {
  const rows = all.slice(0, LISTED).map((one) => {
    const { path, recorded, live } = typeof one === "string" ? { path: one } : one;
    const value = (text, look) => make("td", look, text === undefined ? make("i", "soft", "absent") : String(text).slice(0, 2000));
    return make("tr", "", make("th", "", line(path)), value(recorded, "recorded"), value(live, "live"));
  });
  const head = make("tr", "", make("th", "", "place"), make("th", "", "recorded"), make("th", "", "live"));
  const node = make("table", "drift", make("thead", "", head), make("tbody", "", ...rows));
  node.setAttribute("aria-label", label);
  return node;
}

// Where rows differ, as far as the source tells it.
const told = new WeakMap();

// What differs, of a row that a replay could not answer.
export function differences(answer, row) {
  const miss = row.error_code === MISS ? missOf(answer) : null;
  const known = told.get(row);
  if (!miss && !known) return null;
  const all = known?.paths?.length ? known.paths : places(miss?.data);
  const box = make("section", "drifted", make("h2", "", "drift"), make("p", "", line(miss?.message || known?.why)));
  if (all.length) box.append(table(all, "Recorded and live values"));
  return box;
}

// The row of a miss: by its place, where that is told; else the last one with its id that was answered so.
function rowOf(model, one, later) {
  if (one.seq !== undefined) return model.at(one.part, one.seq);
  const isIt = (row) => row.id === one.id && row.method === one.method && row.error_code === MISS;
  let left = later;
  return model.rows.findLast((row) => isIt(row) && left-- === 0);
}

// The rows that a replay could not answer, each with a text.
export function drifted(model, list) {
  // An id may come again, in another session: those that came last belong together.
  const seen = new Map();
  const last = (list || []).slice(-500).reverse();
  return last.map((one) => {
    const name = `${one.id} ${one.method}`;
    const later = seen.get(name) || 0;
    seen.set(name, later + 1);
    const row = rowOf(model, one, later);
    if (row) told.set(row, one);
    return { row, text: line([one.name || one.method, String(one.why ?? "").replaceAll("_", " ")].filter(Boolean).join(": ")) };
  }).reverse();
}

// What a replay has recorded and nobody has asked for: one line, and what is said of it in full; null where all was asked for.
export function unasked(unused) {
  if (!unused?.count) return null;
  const first = (unused.first || []).slice(0, LISTED).map(({ place, method }) => `${line(method)} ${line(place)}`);
  const more = unused.count > first.length ? [`and ${unused.count - first.length} more`] : [];
  return { text: `not asked for so far: ${unused.count} of ${unused.of} recorded requests`, lines: [...first, ...more] };
}
