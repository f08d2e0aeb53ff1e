// The page of a recorder in a real browser: the token leaves the address, other sites and other names get nothing, the policy is
// never broken, a stream that breaks goes on where it was, and 100,000 rows stay usable. Usage: live.mjs TAPEWRIGHT [CHROMIUM]
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [tapewright, browserPath = "/usr/bin/chromium"] = process.argv.slice(2);
if (!existsSync(browserPath)) {
  console.error(`there is no browser at ${browserPath}: install chromium, or name one`);
  process.exit(2);
}
const require = createRequire(join(process.env.TAPEWRIGHT_PEERS_DIR, "package.json"));
const { chromium } = require("playwright-core");

const MARKUP = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><!--\u202e\u0007";
const MANY = 100000;
const PATIENCE = 120000;
// A server that answers whatever it is asked.
const SERVER = `require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, params } = JSON.parse(line);
  process.stderr.write(${JSON.stringify(`${MARKUP}\n`)});
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: ${JSON.stringify(MARKUP)} }], of: params } }));
});`;

const problems = [];
const check = (is, what) => { if (!is) problems.push(what); };
const folder = mkdtempSync(join(tmpdir(), "live-"));
const started = [];

// A command with a page, and the link that it prints.
async function serve(words) {
  const child = spawn(tapewright, words, { stdio: ["pipe", "pipe", "pipe"] });
  started.push(child);
  const link = await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.startsWith("{\"page\":")) resolve(JSON.parse(line).page);
    });
    child.on("exit", (status) => reject(new Error(`${words.join(" ")} ended with ${status}`)));
  });
  return { child, link, url: new URL(link) };
}

const record = async (name, ...options) => {
  const run = await serve(["record", "-o", join(folder, `${name}.tape.jsonl`), "--page", "--page-bodies", ...options, "--", "node", "-e", SERVER]);
  const answers = createInterface({ input: run.child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  run.call = async (tool) => {
    id += 1;
    run.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: tool, arguments: { [MARKUP]: MARKUP } } })}\n`);
    await answers.next();
  };
  return run;
};

const launch = (args = []) => chromium.launch({
  executablePath: browserPath,
  args: [...args, ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
});
const browser = await launch(["--host-resolver-rules=MAP evil.example 127.0.0.1"]);

// A page of which everything is told that it must not do.
async function open(link, own = new URL(link).origin) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.on("console", (message) => { if (!/net::ERR|status of 4/.test(message.text())) problems.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (request) => { if (!/^data:|^blob:/.test(request.url()) && new URL(request.url()).origin !== own) problems.push(`asks for ${request.url()}`); });
  await page.addInitScript(() => {
    globalThis.violations = [];
    addEventListener("securitypolicyviolation", (event) => violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(link);
  return page;
}

// What the source tells, beside the page that uses another one.
const listen = (page) => page.evaluate(async () => {
  const { live } = await import("/live.js");
  const seen = { rows: new Map(), missed: 0, links: [], state: null, again: 0 };
  globalThis.seen = seen;
  globalThis.source = live();
  const key = (row) => `${row.part || ""} ${row.kind} ${row.request_seq ?? row.seq} ${row.id ?? ""}`;
  globalThis.source.subscribe({
    onRows: (rows) => rows.forEach((row) => {
      if (seen.rows.get(key(row))?.outcome === "answered" && row.outcome !== "answered") seen.again += 1;
      seen.rows.set(key(row), row);
    }),
    onState: (state) => { seen.state = state; },
    onMissed: (count) => { seen.missed += count; },
    onLink: ({ state }) => seen.links.push(state),
  });
});
const until = (page, is, arg) => page.waitForFunction(is, arg, { timeout: PATIENCE });
const tools = (page) => page.evaluate(() => [...globalThis.seen.rows.values()].filter((row) => row.tool && row.outcome === "answered").map((row) => row.tool).sort());

async function isSafe(page) {
  check((await page.locator("img, iframe, a").count()) === 0, "nothing became markup");
  const violations = await page.evaluate(() => globalThis.violations);
  check(violations.length === 0, `violations: ${violations.join(", ")}`);
  check(!(await page.title()).includes("owned"), "no script of a peer ran");
}

async function ordinary() {
  const run = await record("ordinary");
  await run.call(MARKUP);
  const page = await open(run.link);
  check(page.url() === `${run.url.origin}/`, `the token has left the address: ${page.url()}`);
  check((await page.evaluate(() => document.cookie)) === "", "no cookie is set");
  await listen(page);
  await until(page, () => [...globalThis.seen.rows.values()].some((row) => row.tool));
  await run.call("later");
  await until(page, () => [...globalThis.seen.rows.values()].some((row) => row.tool === "later"));
  const said = await page.evaluate(async (markup) => {
    const row = [...globalThis.seen.rows.values()].find((one) => one.tool === markup.slice(0, 200) || one.tool);
    return globalThis.source.body(row);
  }, MARKUP);
  check(said.request.includes("onerror") && said.answer.includes("onerror"), "what was said is told");
  await isSafe(page);
  // Another tab without the link is refused.
  const other = await open(`${run.url.origin}/`);
  await listen(other);
  await until(other, () => globalThis.seen.links.includes("refused"));
  await Promise.all([page.close(), other.close()]);
  return run;
}

// Pages of other sites, and this one under a name that was made to point here.
async function foreign(run) {
  const token = run.url.hash.slice("#token=".length);
  const named = await browser.newPage();
  const answer = await named.goto(`http://evil.example:${run.url.port}/`);
  check(answer.status() === 403, `another name is answered with ${answer.status()}`);
  const elsewhere = createHttp((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html><title>elsewhere</title>"));
  await new Promise((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${elsewhere.address().port}/`);
  const got = await page.evaluate(async ({ origin, token: bearer }) => {
    const all = {};
    const attempt = async (name, act) => { all[name] = await act().then((is) => String(is), () => "refused"); };
    const headers = { authorization: `Bearer ${bearer}` };
    await attempt("read", async () => (await fetch(`${origin}/api/rows`, { headers })).text());
    await attempt("simple read", async () => (await fetch(`${origin}/api/rows`)).text());
    await attempt("blind read", async () => (await fetch(`${origin}/api/rows`, { mode: "no-cors" })).text());
    await attempt("write", async () => (await fetch(`${origin}/api/faults/x`, { method: "PUT", headers, body: "{\"enabled\":false}" })).text());
    await attempt("module", () => import(`${origin}/live.js`));
    await attempt("script", () => new Promise((resolve, reject) => {
      document.head.append(Object.assign(document.createElement("script"), { src: `${origin}/live.js`, onload: resolve, onerror: reject }));
    }));
    return all;
  }, { origin: run.url.origin, token });
  for (const [name, what] of Object.entries(got)) check(what === "refused" || what === "", `${name} from elsewhere: ${what.slice(0, 100)}`);
  await page.evaluate((origin) => {
    document.body.append(Object.assign(document.createElement("iframe"), { src: `${origin}/` }));
  }, run.url.origin);
  await page.waitForTimeout(500);
  const framed = page.frames().find((frame) => frame !== page.mainFrame());
  const inside = framed ? await framed.evaluate(() => document.querySelector("#list") !== null).catch(() => false) : false;
  check(!inside, "the page is in no frame");
  await Promise.all([named.close(), page.close()]);
  elsewhere.close();
}

// Something stands in front of the page, breaks all connections and comes back.
async function broken() {
  const run = await record("broken", "--page-host", "localhost");
  const sockets = new Set();
  let isUp = true;
  const front = createServer((client) => {
    if (!isUp) return client.destroy();
    const server = connect(Number(run.url.port), "127.0.0.1");
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => { sockets.delete(socket); client.destroy(); server.destroy(); });
    }
    return client.pipe(server).pipe(client);
  });
  await new Promise((resolve) => front.listen(0, "127.0.0.1", resolve));
  const origin = `http://localhost:${front.address().port}`;
  const page = await open(`${origin}/${run.url.hash}`, origin);
  await listen(page);
  const all = [];
  for (let round = 0; round < 3; round += 1) {
    for (let number = 0; number < 5; number += 1) {
      all.push(`t${round}-${number}`);
      await run.call(all.at(-1));
    }
    await until(page, (count) => [...globalThis.seen.rows.values()].filter((row) => row.tool && row.outcome === "answered").length === count, all.length);
    isUp = false;
    sockets.forEach((socket) => socket.destroy());
    all.push(`gone-${round}`);
    await run.call(all.at(-1));
    await until(page, (count) => globalThis.seen.links.filter((state) => state === "broken").length >= count, round + 1);
    isUp = true;
  }
  await until(page, (count) => [...globalThis.seen.rows.values()].filter((row) => row.tool && row.outcome === "answered").length === count, all.length);
  check((await tools(page)).join() === all.sort().join(), `after three breaks: ${await tools(page)}`);
  const told = await page.evaluate(() => ({ again: globalThis.seen.again, missed: globalThis.seen.missed }));
  check(told.missed === 0 && told.again === 0, `missed ${told.missed}, taken back ${told.again}`);
  await isSafe(page);
  await page.close();
  front.close();
}

// What a replay misses is in its panel as it happens, and leads to its row with both values.
async function replayed(run) {
  run.child.stdin.end();
  await new Promise((resolve) => run.child.on("exit", resolve));
  const again = join(folder, "replayed.tape.jsonl");
  const replay = await serve(["replay", join(folder, "ordinary.tape.jsonl"), "-o", again, "--page", "--page-bodies"]);
  const page = await open(replay.link);
  await until(page, () => /not asked for so far: 2 of 2/.test(document.querySelector("#drift")?.textContent ?? ""));
  const call = (id, name, value) => replay.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: { [MARKUP]: value } } })}\n`);
  call(1, "later", MARKUP);
  await until(page, () => /: 1 of 2/.test(document.querySelector("#drift")?.textContent ?? ""));
  call(2, MARKUP, "another");
  await until(page, () => document.querySelector("#drift button:enabled") !== null);
  await page.locator("#drift button").click();
  await until(page, () => document.querySelectorAll("table.drift tbody tr").length === 1);
  check((await page.textContent("#detail")).includes("another"), "the live value is beside the recorded one");
  await isSafe(page);
  await page.close();
  // Its recording tells the same.
  replay.child.stdin.end();
  await new Promise((resolve) => replay.child.on("exit", resolve));
  const view = await open((await serve(["view", again])).link);
  await until(view, () => document.querySelector("#drift button:enabled") !== null);
  await view.locator("#drift button").click();
  await until(view, () => document.querySelectorAll("table.drift tbody tr").length === 1);
  check((await view.textContent("#detail")).includes("another"), "a recorded replay has its drift");
  await isSafe(view);
  await view.close();
}

// What is followed is shown also while more comes without a pause, and a detail that somebody reads stays.
async function followed() {
  const run = await record("followed");
  const page = await open(run.link);
  let isOn = true;
  const calls = (async () => {
    for (let number = 0; isOn; number += 1) {
      await run.call(`t${number}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const shown = () => page.textContent("#detail h1");
  await until(page, () => /^t\d+/.test(document.querySelector("#detail h1")?.textContent ?? ""));
  await until(page, (text) => document.querySelector("#detail h1").textContent !== text, await shown());
  await page.locator("#detail").focus();
  const kept = await shown();
  const count = Number(/of (\d+)/.exec(await page.textContent("#count"))[1]);
  await until(page, (least) => Number(/of (\d+)/.exec(document.querySelector("#count").textContent)[1]) > least, count + 60);
  check((await shown()) === kept, `a detail that is read stays: ${kept}, then ${await shown()}`);
  const bars = await page.evaluate(() => [...document.querySelectorAll("#room .track i")].filter((bar) => {
    const [is, all] = [bar.getBoundingClientRect(), bar.parentElement.getBoundingClientRect()];
    return is.left < all.left - 1 || is.right > all.right + 1;
  }).length);
  check(bars === 0, `${bars} bars stand outside of the waterfall`);
  isOn = false;
  await calls;
  await page.close();
}

// How often threads of the page were woken by something.
function woken(child) {
  const tasks = readdirSync(`/proc/${child.pid}/task`).map((task) => readFileSync(`/proc/${child.pid}/task/${task}/status`, "utf8"));
  const times = tasks.filter((text) => /^Name:\s+page/.test(text)).map((text) => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(text)[1]));
  return times.reduce((sum, one) => sum + one, 0);
}

// An open page on which nothing happens costs its recorder nothing, and so does one of what is over.
async function idle() {
  const run = await record("idle");
  await run.call("once");
  const over = await serve(["view", join(folder, "broken.tape.jsonl")]);
  for (const { link, child } of [run, over]) {
    const page = await open(link);
    await until(page, () => document.querySelectorAll("#room .row").length > 0);
    await page.waitForTimeout(2000);
    const before = woken(child);
    await page.waitForTimeout(5000);
    const times = woken(child) - before;
    check(times <= 4, `an idle page woke ${times} times in 5 s`);
    await page.close();
  }
}

async function many() {
  const lines = [JSON.stringify({ tape: "2.1", created: "2026-11-21T04:00:00Z", by: "tapewright 0.1.0", transport: "stdio", label: MARKUP, pid: 1, redacted: true })];
  const add = (dir, message) => lines.push(JSON.stringify({ seq: lines.length, at_us: lines.length * 100, dir, era: "handshake", message: { jsonrpc: "2.0", ...message } }));
  for (let id = 0; id < MANY; id += 1) {
    add("to_server", { id, method: "tools/call", params: { name: `t${id % 50}` } });
    add("to_client", { id, result: {} });
  }
  writeFileSync(join(folder, "many.tape.jsonl"), `${lines.join("\n")}\n`);
  const run = await serve(["view", join(folder, "many.tape.jsonl")]);
  const began = Date.now();
  const page = await open(run.link);
  await until(page, () => document.querySelectorAll("#room .row").length > 0);
  const first = Date.now() - began;
  await until(page, (count) => (document.querySelector("#count")?.textContent ?? "").replace(/[^0-9 a-z]/g, "").split(" ").includes(String(count)), MANY);
  const whole = Date.now() - began;
  check((await page.locator("#room .row").count()) < 300, "only the rows in sight are there");
  await page.locator("#list").focus();
  await page.keyboard.press("G");
  await isSafe(page);
  await page.close();
  return { first, whole };
}

try {
  const run = await ordinary();
  await foreign(run);
  await broken();
  await replayed(run);
  await followed();
  if (existsSync("/proc/self/task")) await idle();
  const { first, whole } = await many();
  console.log(problems.length ? problems.join("\n") : `live page: no violation, other sites refused, three breaks, ${MANY} rows (first after ${first} ms, all after ${whole} ms)`);
} catch (error) {
  problems.push(`${error.stack}`);
  console.log(problems.join("\n"));
} finally {
  await browser.close();
  started.forEach((child) => child.kill());
  rmSync(folder, { recursive: true });
}
process.exitCode = problems.length ? 1 : 0;
