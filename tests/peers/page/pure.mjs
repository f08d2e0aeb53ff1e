// The modules of the page that know nothing of a page: the model, the view, JSON, what is copied. Usage: pure.mjs [TAPEWRIGHT],
// with which copied steps are validated, too.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "./modules.mjs";

const { Model, windowOf } = await load("model");
const { View } = await load("view");
const { tree, member } = await load("json");
const { asJson, asStep, replayCommand, showCommand } = await load("copy");
const { missOf, places } = await load("drift");
const { isPending } = await load("row");
const { spent, Scale } = await load("waterfall");
const { safe, line } = await load("text");

const exchange = (seq, more = {}) => ({ kind: "exchange", request_seq: seq, answer_seq: seq + 1, session: 1, from: "client", at_ms: seq, id: String(seq),
  method: "tools/call", tool: "read", outcome: "answered", error_code: null, waited_ms: 5, answered_ms: 5, findings: [], ...more });
const beside = (kind, seq, more = {}) => ({ kind, seq, session: 1, from: "server", at_ms: seq, ...more });
const seqs = (rows) => rows.map((row) => row.request_seq ?? row.seq);

// Rows that come late stand where they belong, and those that come again take the place of what was there.
function models() {
  const model = new Model();
  model.add([exchange(10), exchange(30), beside("progress", 12, { about: 10 })]);
  const { added, behind } = model.add([exchange(20, { outcome: "still_pending", answer_seq: null, answered_ms: null })]);
  assert.deepEqual([seqs(model.rows), seqs(added), behind], [[10, 12, 20, 30], [20], false]);
  assert.equal(model.pending.size, 1);
  assert.deepEqual(model.groups.get(1), { whole: 3, bad: 0, pending: 1, lines: 4 });
  const { replaced } = model.add([exchange(20, { outcome: "error", error_code: -32000 })]);
  assert.deepEqual([replaced.length, replaced[0][1].outcome, model.rows.length], [1, "still_pending", 4]);
  assert.deepEqual(model.groups.get(1), { whole: 3, bad: 1, pending: 0, lines: 4 });
  assert.equal(model.pending.size, 0);
  // Answered, but held by a fault: its client waits on. Without one, only nobody has seen yet that it got through.
  const answered = { outcome: "still_pending", waited_ms: null, answered_ms: 1 };
  assert.ok(isPending(exchange(40, { ...answered, fault: { name: "hang-1", kind: "hang" } })));
  assert.ok(!isPending(exchange(40, { ...answered, fault: null })));
  assert.deepEqual([model.at("", 21).request_seq, model.ticks(model.at("", 10)), model.span], [20, [12], { from: 10, to: 35 }]);
  assert.deepEqual(seqs(model.beside(10, 15, 1, 9).found), [12]);
  assert.equal(model.beside(10, 15, 2, 9).count, 0);
  assert.deepEqual(windowOf(model.at("", 10), 99), { from: 10, to: 15 });
  // A number belongs to its tape.
  model.add([exchange(10, { part: "fs" })]);
  assert.equal(model.at("fs", 10).part, "fs");
  assert.notEqual(model.at("", 10), model.at("fs", 10));
}

// What the view shows is at any time what the filter lets through, however rows come.
async function views() {
  let random = 7;
  const next = (below) => { random = (random * 1103515245 + 12345) % 2147483648; return Math.floor((random / 2147483648) * below); };
  for (let round = 0; round < 40; round += 1) {
    const model = new Model();
    const view = new View(model, () => {});
    const filters = ["", "status:error", "-status:ok", "tool:read", "slow:>3ms", "kind:exchange,progress"];
    let waits = Promise.resolve();
    for (let step = 0; step < 30; step += 1) {
      if (next(4) === 0) waits = view.set({ words: filters[next(filters.length)], every: next(2) === 0, group: next(3) ? null : next(2) });
      const rows = Array.from({ length: next(6) }, () => {
        const outcome = ["answered", "error", "still_pending"][next(3)];
        return next(4) ? exchange(next(60), { outcome, error_code: outcome === "error" ? -1 : null, session: 1, waited_ms: next(9) }) : beside("progress", 100 + next(40), { about: next(60) });
      });
      view.take(model.add(rows));
      if (next(3) === 0) await waits;
    }
    await waits;
    const shown = seqs(view.rows);
    await view.set({});
    assert.deepEqual(shown, seqs(view.rows), `round ${round}: ${view.words}`);
    view.rows.forEach((row, place) => assert.equal(view.place(row), place));
  }
  const view = new View(new Model(), () => {});
  await assert.rejects(view.set({ words: "tol:x" }), /there is no tol:/);
  assert.equal(view.words, "");
}

// 100,000 rows are filtered without a pause.
async function slices() {
  const model = new Model();
  model.add(Array.from({ length: 100000 }, (_, at) => exchange(at * 2, { tool: at % 1000 ? "read" : "write", request: "x".repeat(200) })));
  const view = new View(model, () => {});
  let longest = 0;
  let last = performance.now();
  const watch = setInterval(() => {}, 1);
  const done = view.set({ words: "tool:write zzz" });
  const other = new MessageChannel();
  const beat = () => { longest = Math.max(longest, performance.now() - last); last = performance.now(); other.port2.postMessage(0); };
  other.port1.onmessage = beat;
  beat();
  await done;
  clearInterval(watch);
  other.port1.close();
  await view.set({ words: "tool:write" });
  assert.equal(view.rows.length, 100);
  return longest;
}

function jsons() {
  const source = "{\"a\" : [1e400, 12345678901234567890, {\"b\":\"\\u0041\"}],\n \"c\":{}, \"\":null}";
  const root = tree(source);
  assert.deepEqual(root.children.map((one) => one.name), ["\"a\"", "\"c\"", "\"\""]);
  assert.deepEqual(root.children[0].children.slice(0, 2).map((one) => one.text), ["1e400", "12345678901234567890"]);
  assert.deepEqual([root.lines, root.children[0].lines, root.children[1].lines], [11, 7, 1]);
  assert.equal(member(root, "a").open, "[");
  assert.equal(source.slice(root.children[1].from, root.children[1].to), "{}");
  for (const wrong of ["", "{", "{\"a\":}", "nope", "[".repeat(300) + "]".repeat(300)]) assert.equal(tree(wrong), null, wrong.slice(0, 9));
  assert.equal(tree("\"x\"").text, "\"x\"");
}

const HOSTILE = "a\u202e\u0007'\"$HOME ${X} # : - {[\n\t\u0085\u2028*&!|>%@`";

function copied() {
  const head = { file: "a b's.tape.jsonl", label: "fs" };
  const request = JSON.stringify({ name: HOSTILE, arguments: { path: HOSTILE, [HOSTILE]: [1, null, true, {}], big: 0 } }).replace("\"big\":0", "\"big\":12345678901234567890");
  const answers = [{ result: { content: [{ type: "text", text: HOSTILE }] } }, { result: { content: [], structuredContent: { a: HOSTILE, b: { c: 1 }, "x y": 1 } } },
    { error: { code: -1, message: HOSTILE } }, { result: { isError: true, content: [{ type: "text", text: `at 2026-11-21T04:00:00Z\nit says ${"x".repeat(30)}` }] } }, { result: null }];
  const steps = answers.map((answer, at) => asStep(exchange(at), { request, answer: JSON.stringify(answer) }, head));
  steps.forEach((step) => assert.ok(step.includes("12345678901234567890") && step.includes("$${X}"), step));
  assert.equal(asStep(exchange(1, { method: "ping" }), { request, answer: "{}" }, head), null);
  assert.equal(asStep(exchange(1), { request, answer: null }, head), null);
  const json = asJson(exchange(1, { request: "no" }), { request: "{\"n\":12345678901234567890}", answer: "broken {", message: null });
  assert.ok(json.includes("12345678901234567890") && JSON.parse(json).answer === "broken {" && !("message" in JSON.parse(json)));
  assert.equal(replayCommand(exchange(1), head), "tapewright replay 'a b'\\''s.tape.jsonl'");
  assert.equal(replayCommand(exchange(1, { part: "fs" }), { file: "-run" }), "tapewright replay ./-run/fs.tape.jsonl");
  assert.equal(showCommand(exchange(1, { id: "\"x;rm\"" }), { file: "f.json" }), "tapewright show f.json --full --id='x;rm'");
  return steps;
}

function drifts() {
  const data = { method: "tools/call", reason: "never_recorded", recorded: 1, nearest: [{ place: "/exchanges/1", differences: [{ path: "$.params.a", recorded: "1", live: "2" }] }] };
  const miss = missOf(JSON.stringify({ error: { code: -32020, message: "no recording", data } }));
  assert.deepEqual(places(miss.data), [{ path: "$.params.a", recorded: "1", live: "2" }]);
  // The same code means another thing to servers.
  assert.equal(missOf("{\"error\":{\"code\":-32020,\"message\":\"header\"}}"), null);
  assert.deepEqual(places({ nearest: [{ differences: "x" }] }), []);
}

function bars() {
  assert.deepEqual(spent({ waited_ms: 100, answered_ms: 40, ours_ms: 10 }), [["ours", 10], ["theirs", 30], ["kept", 60]]);
  assert.deepEqual(spent({ waited_ms: 5, answered_ms: null, ours_ms: null }), [["theirs", 5]]);
  const scale = new Scale({ span: { from: 0, to: 1000 } });
  scale.zoom(0.5, 500);
  assert.deepEqual([scale.place(250), scale.place(750)], [0, 1]);
  scale.zoom(4, 500);
  assert.ok(scale.isWhole);
}

models();
await views();
const longest = await slices();
jsons();
drifts();
bars();
assert.equal(safe("a\u202e\u0007\u00ad"), "a\\u202e\\u0007\\u00ad");
assert.equal(line("x".repeat(1000)).length, 301);
const steps = copied();
const [, , tapewright] = process.argv;
if (tapewright) {
  const folder = mkdtempSync(join(tmpdir(), "page-steps-"));
  const suite = `servers:\n  fs:\n    command: ["true"]\ntools:\n${steps.join("").replaceAll(/^(?=.)/gm, "  ")}`;
  writeFileSync(join(folder, "suite.yaml"), suite);
  try {
    execFileSync(tapewright, ["validate", join(folder, "suite.yaml")], { stdio: "pipe" });
  } catch (error) { assert.fail(`${error.stdout}${error.stderr}\n${suite}`); }
  rmSync(folder, { recursive: true });
}
console.log(`page: the model, the view, JSON, copies hold; 100,000 rows are filtered in slices, the longest ${longest.toFixed(1)} ms`);
