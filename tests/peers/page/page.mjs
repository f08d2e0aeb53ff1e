// The HTML file of a recording in a real browser: markup in every field stays text, the policy is never broken, and the
// keyboard is enough. Usage: page.mjs TAPEWRIGHT [CHROMIUM]
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [tapewright, browserPath = "/usr/bin/chromium"] = process.argv.slice(2);
if (!existsSync(browserPath)) {
  console.error(`there is no browser at ${browserPath}: install chromium, or name one`);
  process.exit(2);
}
const require = createRequire(join(process.env.TAPEWRIGHT_PEERS_DIR, "package.json"));
const { chromium } = require("playwright-core");

const MARKUP = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><!--\u202e\u0007";
const ROWS = 2000;

function tape() {
  const lines = [{ tape: "2.1", created: "2026-11-21T04:00:00Z", by: "tapewright 0.1.0", transport: "stdio", label: MARKUP, command: [MARKUP], pid: 1 }];
  const add = (event) => lines.push({ seq: lines.length, at_us: lines.length * 1000, ...event });
  const say = (dir, message) => add({ dir, era: "handshake", message: { jsonrpc: "2.0", ...message } });
  for (let id = 0; id < ROWS; id += 1) {
    say("to_server", { id, method: id % 2 ? MARKUP : "tools/call", params: { name: MARKUP, arguments: { [MARKUP]: MARKUP } } });
    if (id % 7) say("to_client", id % 5 ? { id, result: { [MARKUP]: MARKUP } } : { id, error: { code: -32000, message: MARKUP, data: MARKUP } });
  }
  say("to_client", { method: MARKUP, params: { [MARKUP]: MARKUP } });
  add({ stderr: MARKUP });
  add({ dir: "to_client", text: MARKUP, why: "not JSON" });
  add({ finding: { code: "INV-012", status: "fail", side: "server", severity: "must", detail: MARKUP, evidence: [{ seq: 1, pointer: MARKUP }] } });
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

// The folder of an agent: a model that asks for tools, a server that carries one of them out.
function agent() {
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
  const meta = { "claudecode/toolUseId": "toolu_1" };
  const server = [header("fs", 1),
    { seq: 1, at_us: 0, dir: "to_server", message: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "read", arguments: { path: MARKUP }, _meta: meta } } },
    { seq: 2, at_us: 9, dir: "to_client", message: { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: MARKUP }] } } }];
  return { models, fs: server };
}

const problems = [];
const check = (is, what) => { if (!is) problems.push(what); };
const folder = mkdtempSync(join(tmpdir(), "page-"));
writeFileSync(join(folder, "a.tape.jsonl"), tape());
const file = join(folder, "a.html");
execFileSync(tapewright, ["export", join(folder, "a.tape.jsonl"), "--as", "html", "-o", file]);

mkdirSync(join(folder, "run"));
for (const [name, lines] of Object.entries(agent())) {
  writeFileSync(join(folder, "run", `${name}.tape.jsonl`), `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}
const whole = join(folder, "run.html");
execFileSync(tapewright, ["export", join(folder, "run"), "--as", "html", "-o", whole]);

const browser = await chromium.launch({ executablePath: browserPath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });

// A page of which everything is told that it must not do.
async function open(path, colorScheme) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 800 } });
  page.on("console", (message) => problems.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (request) => { if (request.url() !== pathToFileURL(path).href) problems.push(`asks for ${request.url()}`); });
  await page.addInitScript(() => {
    globalThis.violations = [];
    addEventListener("securitypolicyviolation", (event) => violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(pathToFileURL(path).href);
  return page;
}

async function isSafe(page) {
  check((await page.locator("img, iframe, a, link").count()) === 0, "nothing became markup");
  const violations = await page.evaluate(() => globalThis.violations);
  check(violations.length === 0, `violations: ${violations.join(", ")}`);
  check(!(await page.title()).includes("owned"), "no script of a peer ran");
}

// The recording of an agent: calls of models among the exchanges of its server, in order of time.
async function agentPage(colorScheme) {
  const page = await open(whole, colorScheme);
  const filtered = async (words) => {
    await page.fill("#words", words);
    return (await page.textContent("#count")).split(" ")[0];
  };
  const order = { "kind:model": "3", "kind:model,exchange": "4", "kind:model status:529": "1", "tool:read": "2", "id:toolu_1": "2", "model:onerror": "3" };
  for (const [words, wanted] of Object.entries(order)) {
    const found = await filtered(words);
    check(found === wanted, `${words} finds ${found} and not ${wanted}`);
  }
  await filtered("kind:model,exchange");
  const rows = await page.locator(".row").allTextContents();
  const parts = rows.map((row) => (row.includes("tools/call") ? "fs" : "models")).join();
  check(parts === "models,fs,models,models", `in order of time: ${parts}`);
  await page.keyboard.press("Enter");
  await page.keyboard.press("g");
  const detail = async () => page.textContent("#detail");
  const model = await detail();
  for (const part of ["tokens in 700 (8 cached)", "out 38", "cost unknown", "read of fs, event 1 of fs.tape.jsonl", "asks for mcp__fs__read:", "done by the agent", "onerror", "\\u202e"]) {
    check(model.includes(part), `the detail of a call says ${part}: ${model.slice(0, 600)}`);
  }
  check((await page.locator("#detail pre").count()) === 2, "request and response of a model stand side by side");
  await page.keyboard.press("j");
  check((await detail()).includes("asked in event 1 of models.tape.jsonl"), "a tools/call says who asked");
  await page.locator("#sessions button", { hasText: "models" }).click();
  check((await page.textContent("#count")).startsWith("3 of"), "a part is chosen");
  await isSafe(page);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `agent-${colorScheme}.png`) });
  await page.close();
}

for (const colorScheme of ["light", "dark"]) {
  await agentPage(colorScheme);
  const page = await open(file, colorScheme);
  const count = async () => page.textContent("#count");
  const selected = async () => page.textContent(".row[aria-selected=true]");
  check((await count()) === `${ROWS + 4} of ${ROWS + 4}`, `${await count()} lines`);
  check((await page.locator(".row").count()) < 100, "only the rows in sight are there");
  check((await page.locator("#banner").isVisible()), "a tape that breaks off has a banner");

  // The keyboard alone.
  await page.keyboard.press("G");
  const last = await selected();
  await page.keyboard.press("g");
  check((await selected()) !== last, "g and G move");
  await page.keyboard.press("/");
  await page.keyboard.type("status:error kind:exchange");
  const errors = Array.from({ length: ROWS }, (_, id) => id).filter((id) => id % 7 && id % 5 === 0).length;
  check((await count()).startsWith(`${errors} of`), `${await count()} for ${errors} errors`);
  await page.keyboard.press("Enter");
  await page.keyboard.press("j");
  check((await page.locator("#detail pre").count()) === 2, "request and answer stand side by side");
  const detail = await page.textContent("#detail");
  check(detail.includes("onerror") && detail.includes("\\u202e"), "what was said is shown as text");
  await page.keyboard.press("/");
  await page.keyboard.type(" tol:x");
  check((await page.textContent("#wrong")).includes("there is no tol:"), "a wrong word is told");
  await page.locator("#sessions button", { hasText: "INV-012" }).click();
  check((await selected()).includes("→"), "a finding selects its row");
  await isSafe(page);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `page-${colorScheme}.png`) });
  await page.close();
}
await browser.close();
rmSync(folder, { recursive: true });
console.log(problems.length ? problems.join("\n") : `page: ${ROWS} exchanges of markup, light and dark, no violation`);
process.exitCode = problems.length ? 1 : 0;
