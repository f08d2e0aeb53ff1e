// Tapes for the page: a working day, markup in every field, an agent's folder, and many rows.

export const MARKUP = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><!--\u202e\u0007";

const text = (lines) => `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;

function begin(label, more = {}) {
  const lines = [{ tape: "2.1", created: "2026-11-21T04:00:00Z", by: "tapewright 0.1.0", transport: "stdio", label, command: [label], pid: 1, ...more }];
  let at = 0;
  const add = (event) => lines.push({ seq: lines.length, at_us: at, ...event });
  const wait = (us) => { at += Math.max(Math.round(us), 1); };
  const say = (dir, message) => add({ dir, era: "handshake", message: { jsonrpc: "2.0", ...message } });
  return { lines, add, wait, say, ask: (id, method, params) => say("to_server", { id, method, params }), answer: (id, rest) => say("to_client", { id, ...rest }), now: () => at };
}

// Repeats itself: pictures of it are the same each time.
function dice(seed) {
  let state = seed;
  return () => { state = (state * 1103515245 + 12345) % 2147483648; return state / 2147483648; };
}

const FILES = ["src/main.rs", "src/proxy/upstream.rs", "Cargo.toml", "docs/http.md", "src/record/tape.rs", "tests/session.rs", "README.md", "src/lib.rs"];
const result = (what, more = {}) => ({ result: { content: [{ type: "text", text: what }], ...more } });

// What a coding agent does in some minutes: reads, searches, writes, an index that takes long, failures, one that hangs.
export function day() {
  const next = dice(11);
  const tape = begin("files", { command: ["npx", "@example/files-server", "."] });
  const { add, ask, answer, say, wait } = tape;
  ask(0, "initialize", { protocolVersion: "2025-11-25", capabilities: { sampling: {} }, clientInfo: { name: "agent", version: "3.1.0" } });
  wait(184000);
  add({ stderr: "files-server 2.4.1 listening on stdio" });
  answer(0, { result: { protocolVersion: "2025-11-25", capabilities: { tools: { listChanged: true }, logging: {} }, serverInfo: { name: "files", version: "2.4.1" } } });
  wait(1500);
  say("to_server", { method: "notifications/initialized" });
  wait(2000);
  ask(1, "tools/list", {});
  wait(9400);
  const schema = { type: "object", properties: { path: { type: "string" }, limit: { type: "integer" } }, required: ["path"] };
  answer(1, { result: { tools: ["read_file", "write_file", "search", "index", "list_directory"].map((name) => ({ name, description: `Does what ${name} says, within the allowed folders.`, inputSchema: schema, annotations: { readOnlyHint: name !== "write_file" } })) } });
  for (let id = 2; id < 64; id += 1) {
    wait(next() < 0.3 ? 400 : 20000 + next() * 160000);
    if (id === 30) add({ gap: { events: 3, bytes: 4096, why: "disk" } });
    const file = FILES[Math.floor(next() * FILES.length)];
    const kind = next();
    if (kind < 0.42) {
      ask(id, "tools/call", { name: "read_file", arguments: { path: file } });
      wait(3000 + next() * 60000);
      answer(id, result(`//! ${file}\nuse std::io;\n\nfn main() -> io::Result<()> {\n    serve()\n}\n`));
    } else if (kind < 0.62) {
      ask(id, "tools/call", { name: "search", arguments: { path: "src", query: "fn serve", limit: 20 }, _meta: { progressToken: id } });
      const files = 3 + Math.floor(next() * 5);
      for (let done = 1; done <= files; done += 1) {
        wait(60000 + next() * 90000);
        say("to_client", { method: "notifications/progress", params: { progressToken: id, progress: done, total: files } });
      }
      wait(40000);
      const matches = Array.from({ length: 4 }, (_, at) => ({ path: FILES[at], line: 10 + at * 7, text: `pub fn serve_${at}()` }));
      answer(id, result(JSON.stringify(matches), { structuredContent: { matches, total: matches.length, took_ms: 312 } }));
    } else if (kind < 0.72) {
      ask(id, "tools/call", { name: "write_file", arguments: { path: file, content: "// changed\n" } });
      wait(20000 + next() * 50000);
      add({ stderr: `warn: ${file} is write-protected, trying again` });
      wait(90000 + next() * 60000);
      answer(id, result(`EACCES: permission denied, open '${file}'`, { isError: true }));
    } else if (kind < 0.82) {
      ask(id, "resources/read", { uri: `file:///project/${file}` });
      wait(5000 + next() * 20000);
      answer(id, { result: { contents: [{ uri: `file:///project/${file}`, mimeType: "text/plain", text: "[package]\nname = \"files\"\n" }] } });
    } else if (kind < 0.9) {
      ask(id, "tools/call", { name: "list_directory", arguments: { path: "src" } });
      wait(2000);
      say("to_client", { method: "notifications/message", params: { level: "info", logger: "fs", data: "read 8 entries" } });
      wait(3000 + next() * 9000);
      answer(id, result(FILES.join("\n")));
    } else if (kind < 0.95) {
      ask(id, "prompts/get", { name: "review", arguments: { file } });
      wait(12000);
      answer(id, { error: { code: -32602, message: "Unknown prompt: review", data: { known: ["summarize"] } } });
    } else {
      say("to_client", { id: 900 + id, method: "sampling/createMessage", params: { messages: [{ role: "user", content: { type: "text", text: `Summarize ${file}` } }], maxTokens: 200 } });
      wait(700000 + next() * 800000);
      say("to_server", { id: 900 + id, result: { role: "assistant", model: "claude-sonnet-5", content: { type: "text", text: "It serves." } } });
      ask(id, "ping", {});
      wait(800);
      answer(id, { result: {} });
    }
  }
  wait(300000);
  ask(70, "tools/call", { name: "index", arguments: { path: ".", limit: 100000 }, _meta: { progressToken: 70 } });
  for (let done = 0; done < 9; done += 1) {
    wait(150000);
    say("to_client", { method: "notifications/progress", params: { progressToken: 70, progress: done * 11, total: 100, message: `indexed ${done * 512} files` } });
    if (done % 3 === 1) add({ stderr: `index: ${done * 512} files, heap ${180 + done * 40} MB` });
  }
  add({ stderr: "index: worker 3 does not answer" });
  add({ finding: { code: "INV-012", status: "fail", side: "server", severity: "must", detail: "the request was never answered", evidence: [{ seq: tape.lines.findIndex((one) => one.message?.id === 70), pointer: "/id" }] } });
  add({ finding: { code: "INV-034", status: "fail", side: "server", severity: "should", detail: "an error of a tool tells its code, not what to do", evidence: [{ seq: tape.lines.findIndex((one) => one.message?.result?.isError), pointer: "/result/content/0/text" }] } });
  wait(2000000);
  tape.lines.push({ end: { at_us: tape.now(), events: tape.lines.length - 1, complete: false, redactions: { token: 2 } } });
  return text(tape.lines);
}

// Markup in every field.
export function hostile(rows) {
  const tape = begin(MARKUP);
  const { add, say, wait } = tape;
  for (let id = 0; id < rows; id += 1) {
    wait(1000);
    say("to_server", { id, method: id % 2 ? MARKUP : "tools/call", params: { name: MARKUP, arguments: { [MARKUP]: MARKUP } } });
    wait(1000);
    if (id % 7) say("to_client", id % 5 ? { id, result: { [MARKUP]: MARKUP } } : { id, error: { code: -32000, message: MARKUP, data: MARKUP } });
  }
  wait(1000);
  say("to_client", { method: MARKUP, params: { [MARKUP]: MARKUP } });
  add({ stderr: MARKUP });
  add({ dir: "to_client", text: MARKUP, why: "not JSON" });
  add({ finding: { code: "INV-012", status: "fail", side: "server", severity: "must", detail: MARKUP, evidence: [{ seq: 3, pointer: MARKUP }] } });
  return text(tape.lines);
}

// Many exchanges, with notifications, progress and standard error between them.
export function many(exchanges) {
  const next = dice(5);
  const tape = begin("many");
  const { add, ask, answer, say, wait } = tape;
  for (let id = 0; id < exchanges; id += 1) {
    wait(next() * 4000);
    ask(id, "tools/call", { name: `tool_${id % 37}`, arguments: { path: `/project/${id}`, note: "x".repeat(40) } });
    wait(next() * 20000);
    if (id % 20 === 0) say("to_client", { method: "notifications/message", params: { level: "info", data: `at ${id}` } });
    if (id % 33 === 0) add({ stderr: `line ${id}` });
    answer(id, id % 50 ? result(`answer ${id} ${"y".repeat(60)}`) : { error: { code: -32000, message: "no" } });
  }
  tape.lines.push({ end: { at_us: tape.now(), events: tape.lines.length - 1, complete: true, redactions: {} } });
  return text(tape.lines);
}

// What a replay recorded that was asked for something else.
export function missed() {
  const tape = begin("replayed");
  const { ask, answer, wait } = tape;
  ask(1, "tools/call", { name: "read_file", arguments: { path: "b.rs", mode: MARKUP } });
  wait(900);
  const differences = [{ path: "$.params.arguments.path", recorded: "\"a.rs\"", live: "\"b.rs\"" }, { path: "$.params.arguments.mode", live: MARKUP }];
  const data = { method: "tools/call", target: "read_file", reason: "never_recorded", recorded: 3, nearest: [{ place: "/exchanges/1", differences }] };
  answer(1, { error: { code: -32020, message: "no recording answers `tools/call` of `read_file`: it was never recorded with these parameters", data } });
  return text(tape.lines);
}

// The folder of an agent: a model that asks for tools, a server that carries one of them out.
export function agent() {
  const header = (label, at) => ({ tape: "2.2", created: `2026-11-21T04:00:0${at}Z`, by: "tapewright 0.1.0", transport: label === "models" ? "http" : "stdio", label, part_of: MARKUP, pid: 1, redacted: true });
  const body = (json) => ({ body: { json } });
  const response = (id, why, content) => ({ id, type: "message", role: "assistant", model: MARKUP, content, stop_reason: why, usage: { input_tokens: 692, cache_read_input_tokens: 8, output_tokens: 38 } });
  const asked = [{ type: "text", text: MARKUP }, { type: "tool_use", id: "toolu_1", name: "mcp__fs__read", input: { path: MARKUP } }, { type: "tool_use", id: "toolu_2", name: MARKUP, input: {} }];
  const models = [header("models", 0)];
  const call = (conduit, at, messages, status, answer) => {
    const add = (dir, event) => models.push({ seq: models.length, at_us: at + models.length, conduit, dir, ...event });
    add("to_server", { request: { method: "POST", target: "/anthropic/v1/messages", version: "HTTP/1.1", fields: [["x-markup", MARKUP]] } });
    add("to_server", { edited: { what: "target", before: "/anthropic/v1/messages", after: "/v1/messages" } });
    add("to_server", body({ model: MARKUP, max_tokens: 9, system: MARKUP, messages }));
    add("to_client", { response: { status, version: "HTTP/1.1", fields: [["content-type", "application/json"]] } });
    add("to_client", body(answer));
    add("to_client", { closed: "end of input" });
  };
  const go = { role: "user", content: MARKUP };
  const results = ["toolu_1", "toolu_2"].map((id) => ({ type: "tool_result", tool_use_id: id, content: MARKUP }));
  call(1, 0, [go], 200, response("msg_1", "tool_use", asked));
  call(2, 3000000, [go, { role: "assistant", content: asked }, { role: "user", content: results }], 200, response("msg_2", "end_turn", [{ type: "text", text: MARKUP }]));
  call(3, 4000000, [go], 529, { type: "error", error: { type: "overloaded_error", message: MARKUP } });
  const server = [header("fs", 1),
    { seq: 1, at_us: 0, dir: "to_server", message: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "read", arguments: { path: MARKUP }, _meta: { "claudecode/toolUseId": "toolu_1" } } } },
    { seq: 2, at_us: 9, dir: "to_client", message: { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: MARKUP }] } } }];
  return { models: text(models), fs: text(server) };
}
