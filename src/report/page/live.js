// The live source of the page: what a recorder, a replay or `tapewright view` shows, over fetch.
//
// # A source
//
// The page is started with a source, of which there are two: this one, and that of a file that `export --as html` writes.
//
//   source.kind                     "live", or "file"
//   source.subscribe(listener)      begins, and returns a function that ends it. It calls, each where it is there:
//     onHead({file, kind, label, recorded_at, bodies, faults})
//                                   once, before all else; `bodies` is false where bodies are withheld, `faults` is true
//                                   where faults can be switched
//     onRows(rows)                  entries as in the `entries` of the data of a file, without `request`, `answer` and
//                                   `message`. Again for one that has changed: it takes the place of the one with the same
//                                   `key(row)`. In the order in which they became known; whoever shows them sorts by `at_ms`.
//                                   One that is not over yet has the outcome "still_pending"
//     onFindings(rows)              those of `rows` whose kind is "finding"
//     onState({sessions, pending, hangs, faults, gaps, behind, drift, missed, unused, ended, now_ms})
//                                   when it has changed: `sessions`, `pending`, `hangs` are the lists that the control
//                                   serves (docs/control.openapi.yaml); `faults` [{name, kind, spec, met, fired, holds,
//                                   enabled}]; `gaps` {count, events, bytes}; `behind` {events, bytes} is what was not read yet because
//                                   the recorder is busy: the newest rows are told, and the rest once there is time; of a replay, `drift` [{method, name, id, why, paths}],
//                                   `missed` how many there were, and `unused` {count, of, first: [{place, method}]};
//                                   `ended` null, or {text, incomplete}; `now_ms` the time of the recording
//     onMissed(count)               so many rows were given up before they could be read, or 0 where it is not known how many
//     onLink({state, why})          "open", "broken" (it tries again by itself) or "refused" (it does not: `why`)
//   source.body(row)                a promise of {request, answer} or {message}: texts as in a file's entries, or null;
//                                   rejected with an Error for people
//   source.setFault(name, enabled)  a promise
//   source.readAll()                reads what is behind at once, though the recorder is busy: a promise; not of a file
//
// The key of a row is `${part || ""} ${kind} ${request_seq ?? seq} ${id ?? ""}`.
//
// The token comes in the fragment of the address, moves into the session's storage, and is sent as a bearer. What passes
// while the stream is cut is not lost: the last event's number goes along when it is opened again.

import { driftOf, maybeMissed } from "./drift.js";

const SLOT = "tapewright.token";
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10000;
// How much of a stream may come without an end of an event: more than one frame ever has.
const LONGEST_EVENT = 256 << 20;
// A frame has 16 ms, and drawing needs its share.
const SLICE_MS = 8;
const PIECE_ROWS = 500;
// How many misses of a recorded replay are read.
const MISSES = 500;

// The token of the link: out of the address, so that it is in no history and no bookmark.
function token() {
  const found = /^#token=([0-9a-f]+)$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(SLOT, found[1]);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(SLOT) || "";
}

export const key = (row) => `${row.part || ""} ${row.kind} ${row.request_seq ?? row.seq} ${row.id ?? ""}`;

// Why something was refused, for people.
class Refused extends Error {}

async function ask(path, options = {}) {
  const headers = { authorization: `Bearer ${token()}`, ...options.headers };
  const answer = await fetch(path, { ...options, headers, credentials: "omit", redirect: "error" });
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Refused(told.error || `the recorder answered with status ${answer.status}`);
}

const json = async (path, options) => (await ask(path, options)).json();

// The events of a stream, as they come.
async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      let end = text.indexOf("\n\n");
      while (end >= 0) {
        const event = { name: "message", id: undefined, data: "" };
        for (const line of text.slice(0, end).split("\n")) {
          const at = line.indexOf(": ");
          const [field, rest] = [line.slice(0, at), line.slice(at + 2)];
          if (field === "event") event.name = rest;
          else if (field === "id") event.id = rest;
          else if (field === "data") event.data += rest;
        }
        text = text.slice(end + 2);
        yield event;
        end = text.indexOf("\n\n");
      }
      if (text.length > LONGEST_EVENT) throw new Error("an event of the stream has no end");
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

const sleep = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
});

// Long work goes in pieces: what is typed and drawn comes in between.
function pieces() {
  const { port1, port2 } = new MessageChannel();
  let since = performance.now();
  let go = null;
  port1.onmessage = () => { since = performance.now(); if (go) go(); };
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await new Promise((resolve) => { go = resolve; port2.postMessage(0); });
  };
}

// The source of what is served where this file comes from.
export function live() {
  token();
  // A link that is opened in a page that is open already brings another token, of the same run.
  addEventListener("hashchange", token);

  // The misses of a replay that was recorded: they stand in its answers, which are read one after the other. A replay that runs
  // tells its own.
  function missing(tell) {
    const unread = new Map();
    const found = new Map();
    let [state, isReading] = [{}, false];
    const told = () => (found.size && !state.drift ? { ...state, drift: [...found.values()] } : state);
    async function read() {
      isReading = true;
      for (const [name, row] of unread) {
        unread.delete(name);
        // What is withheld, or gone, is told as it is: nowhere.
        const said = await body(row).catch(() => null);
        const miss = said && driftOf(row, said.answer);
        if (miss) found.set(name, miss);
      }
      isReading = false;
      if (found.size) tell(told());
    }
    return {
      rows(all) {
        for (const row of all) if (maybeMissed(row) && unread.size + found.size < MISSES) unread.set(key(row), row);
      },
      state(now, bodies) {
        state = now;
        tell(told());
        if (bodies && !state.drift && unread.size && !isReading) read();
      },
    };
  }

  function subscribe(listener) {
    const stop = new AbortController();
    const { signal } = stop;
    let next = 0;
    let wait = FIRST_WAIT_MS;
    let head = null;
    const tell = (name, ...told) => { if (!signal.aborted && listener[name]) listener[name](...told); };
    const misses = missing((state) => tell("onState", state));
    const rest = pieces();
    async function rows(all) {
      for (let at = 0; at < all.length; at += PIECE_ROWS) {
        const piece = all.slice(at, at + PIECE_ROWS);
        tell("onRows", piece);
        misses.rows(piece);
        const findings = piece.filter((row) => row.kind === "finding");
        if (findings.length) tell("onFindings", findings);
        await rest();
      }
    }

    // What is there already, piece by piece.
    async function catchUp() {
      for (;;) {
        const batch = await json(`/api/rows?from=${next}`, { signal });
        if (batch.missed) tell("onMissed", batch.missed);
        if (batch.next === next) return;
        next = batch.next;
        await rows(batch.rows);
      }
    }

    async function follow() {
      const answer = await ask("/api/events", { signal, headers: { "last-event-id": String(next) } });
      tell("onLink", { state: "open" });
      wait = FIRST_WAIT_MS;
      for await (const event of events(answer)) {
        if (event.name === "rows") {
          if (event.id !== undefined) next = Number(event.id);
          await rows(JSON.parse(event.data));
        } else if (event.name === "state") misses.state(JSON.parse(event.data), head.bodies);
        else if (event.name === "missed") tell("onMissed", JSON.parse(event.data).count);
      }
    }

    async function run() {
      while (!signal.aborted) {
        try {
          if (!head) tell("onHead", head = await json("/api/head", { signal }));
          await catchUp();
          await follow();
          tell("onLink", { state: "broken", why: "the recorder has ended the connection" });
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof Refused) {
            tell("onLink", { state: "refused", why: error.message });
            return;
          }
          tell("onLink", { state: "broken", why: "the recorder does not answer; it may have ended" });
        }
        await sleep(wait, signal);
        wait = Math.min(wait * 2, LONGEST_WAIT_MS);
      }
    }
    run();
    return () => stop.abort();
  }

  function body(row) {
    const part = encodeURIComponent(row.part || "-");
    const query = new URLSearchParams({ kind: row.kind });
    if (row.id !== undefined && row.id !== null) query.set("id", row.id);
    return json(`/api/exchange/${part}/${row.request_seq ?? row.seq}?${query}`);
  }

  function setFault(name, enabled) {
    return json(`/api/faults/${encodeURIComponent(name)}`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ enabled }),
    });
  }

  const readAll = () => json("/api/read-all", { method: "POST" });

  return { kind: "live", subscribe, body, setFault, readAll };
}
