// The page over a source that a test drives: modules as they are served, under the policy of the live page.
// Usage: source.mjs [CHROMIUM]
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { launch } from "./browser.mjs";
import { MARKUP } from "./tapes.mjs";

const [browserPath = "/usr/bin/chromium"] = process.argv.slice(2);
const read = (name) => readFileSync(new URL(`../../../src/report/page/${name}`, import.meta.url), "utf8");
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const SOURCE = `export function live() {
  globalThis.told = [];
  return { kind: "live", subscribe(listener) { globalThis.listener = listener; return () => {}; },
    body: async (row) => { told.push(["body", row.request_seq]); return { request: '{"params":{"name":"read"}}', answer: row.outcome === "answered" ? '{"result":{}}' : null }; },
    readAll: async () => { told.push(["all"]); },
    setFault: async (name, enabled) => { told.push(["fault", name, enabled]); if (name === "no") throw new Error("it is not there"); } };
}`;

const problems = [];
const check = (is, what) => { if (!is) problems.push(what); };
const HTML = read("page.html").replace("{{head}}", "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/page.css\">")
  .replace("{{tail}}", "<script type=\"module\" src=\"/boot.js\"></script>");
const server = createServer((request, response) => {
  const name = request.url.slice(1);
  response.setHeader("content-security-policy", POLICY);
  response.setHeader("content-type", name === "" ? "text/html" : name.endsWith(".css") ? "text/css" : "text/javascript");
  response.end(name === "" ? HTML : name === "live.js" ? SOURCE : read(name));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => { server.once("listening", resolve); });

const browser = await launch(browserPath);
const context = await browser.newContext({ viewport: { width: 1200, height: 720 } });
const page = await context.newPage();
page.on("console", (message) => problems.push(`console: ${message.text()}`));
page.on("pageerror", (error) => problems.push(`error: ${error.stack}`));
await page.addInitScript(() => {
  globalThis.violations = [];
  addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
});
await page.goto(`http://127.0.0.1:${server.address().port}/`);
await page.waitForFunction(() => globalThis.listener);
const emit = (name, ...values) => page.evaluate(([what, all]) => globalThis.listener[what](...all), [name, values]);
const row = (seq, more = {}) => ({ kind: "exchange", request_seq: seq, answer_seq: null, session: 1, from: "client", at_ms: seq * 10, id: String(seq), method: "tools/call",
  tool: MARKUP, outcome: "still_pending", error_code: null, waited_ms: null, answered_ms: null, findings: [], ...more });
const over = { outcome: "answered", answer_seq: 1, waited_ms: 4, answered_ms: 4 };
const state = { sessions: [], pending: [], hangs: [], faults: [], gaps: { count: 0, events: 0, bytes: 0 }, drift: [], ended: null, now_ms: 1000 };
const settled = () => page.waitForTimeout(500);
const text = (at) => page.textContent(at);
const selected = () => page.getAttribute(".row[aria-selected=true]", "aria-rowindex");

await emit("onHead", { file: MARKUP, kind: "tape", label: MARKUP, recorded_at: "", bodies: true, faults: true });
await emit("onLink", { state: "open" });
await emit("onRows", Array.from({ length: 100 }, (_, at) => row(at + 1, over)));
await emit("onState", state);
await settled();
check(await page.isVisible("#live"), "it says that it is live");
check((await text("#count")) === "100 of 100", await text("#count"));
check((await selected()) === "101", "it follows what is new");

// A cursor that is not on the last row stays where it is.
await emit("onRows", [row(101)]);
await settled();
check((await selected()) === "102", "it goes on following");
check((await text("#waiting")).includes("no progress"), "a request that waits has a clock");
const clock = () => text("#waiting .age");
const before = await clock();
await page.waitForTimeout(2300);
check((await clock()) !== before, `the clock goes on: ${before}`);
await page.keyboard.press("k");
await page.keyboard.press("k");
await emit("onRows", [row(101, over), row(102, { ...over, outcome: "error", error_code: -32020 }), row(50, { ...over, tool_error: true })]);
await settled();
check((await selected()) === "100", `the focus is not stolen: ${await selected()}`);
check(await page.isHidden("#waiting"), "what is answered waits no more");
check((await text("#count")) === "102 of 102" && (await text("#sessions")).includes("2 failed"), `a row that comes again takes its place: ${await text("#sessions")}`);

// Faults, drift, gaps, missed rows, a link that breaks.
const faults = [{ name: "slow", kind: "delay", spec: "delay 2s tool=read", met: 4, fired: 2, holds: 1, enabled: true }, { name: "no", kind: "hang", spec: "hang", met: 0, fired: 0, holds: 0, enabled: false }];
const drift = [{ method: "tools/call", name: "read", id: "102", why: "never_recorded", paths: [{ path: "$.params.a", recorded: MARKUP, live: "2" }] }];
const unused = { count: 3, of: 5, first: [{ place: "/exchanges/2", method: MARKUP }] };
await emit("onState", { ...state, faults, drift, missed: 9, unused, gaps: { count: 2, events: 7, bytes: 10 } });
await emit("onMissed", 9);
await emit("onLink", { state: "broken", why: "the recorder does not answer" });
await settled();
const banner = await text("#banner");
check(/2 gaps, 7 events/.test(banner) && /9 rows were given up/.test(banner) && /Not connected: the recorder does not answer/.test(banner), `the banner: ${banner}`);
check((await text("#faults")).includes("met 4, fired 2, holds 1"), `counts of faults: ${await text("#faults")}`);
const switches = page.locator("#faults [role=switch]");
check((await switches.nth(0).getAttribute("aria-checked")) === "true", "a switch says how it stands");
await switches.nth(0).focus();
await page.keyboard.press("Enter");
await page.keyboard.press("Tab");
await page.keyboard.press("Space");
await settled();
check(JSON.stringify((await page.evaluate(() => told)).filter(([what]) => what === "fault")) === "[[\"fault\",\"slow\",false],[\"fault\",\"no\",true]]", "keys turn switches");
check((await text("#told")).includes("it is not there"), "why a fault was not switched");
const left = await text("#drift");
check(left.includes("3 of 5 recorded requests") && left.includes("/exchanges/2") && left.includes("and 2 more"), `what nobody asked for: ${left}`);
await page.locator("#drift button").click();
await settled();
check((await page.locator("table.drift tbody tr").count()) === 1 && (await text("#detail")).includes("$.params.a"), "drift has its paths");

// What is not read yet beside a busy recorder is told, and read when somebody asks for it or looks for something.
await emit("onState", { ...state, behind: { events: 1234, bytes: 99999 } });
await settled();
check((await text("#behind")).includes("1234 events are not read yet"), `behind: ${await text("#behind")}`);
await page.locator("#behind button").click();
await page.locator("#list").focus();
await page.keyboard.press("k");
await page.locator("#words").fill("tool:read");
await page.locator("#words").fill("");
const asked = (await page.evaluate(() => told)).filter(([what]) => what === "all").length;
check(asked === 4, `all was asked for ${asked} times`);
await emit("onState", { ...state, behind: { events: 0, bytes: 0 } });
await settled();
check(await page.isHidden("#behind"), "nothing is behind any more");

// Bodies that are withheld are not asked for.
await emit("onHead", { file: "a", kind: "tape", label: "", recorded_at: "", bodies: false, faults: false });
await page.evaluate(() => told.splice(0));
await page.locator("#list").focus();
await page.keyboard.press("g");
await settled();
check((await text("#detail")).includes("--page-bodies") && (await page.evaluate(() => told.length)) === 0, "it says how bodies are shown");

// 100,000 rows that come while it is open, and what an idle page costs.
for (let at = 0; at < 100; at += 1) await emit("onRows", Array.from({ length: 1000 }, (_, more) => row(1000 + at * 1000 + more, over)));
await emit("onState", { ...state, ended: { text: "over", incomplete: false } });
await settled();
check((await text("#count")) === "100102 of 100102", await text("#count"));
const session = await context.newCDPSession(page);
await session.send("Performance.enable");
// What the page does: scripts, styles, layouts. The browser's collector of garbage comes when it likes.
const busy = async () => {
  const { metrics } = await session.send("Performance.getMetrics");
  const names = ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];
  return metrics.filter((one) => names.includes(one.name)).reduce((sum, one) => sum + one.value, 0);
};
await page.waitForTimeout(1000);
const began = await busy();
await page.waitForTimeout(5000);
const idle = (await busy()) - began;
check(idle < 0.005, `an idle page is busy for ${(idle * 1000).toFixed(1)} ms of 5 s`);
check((await page.evaluate(() => violations.length)) === 0, `violations: ${await page.evaluate(() => violations.join())}`);
check((await page.locator("img, a, iframe").count()) === 0, "nothing became markup");
await browser.close();
server.close();
console.log(problems.length ? problems.join("\n") : `page: a live source, followed, switched, broken; idle for 5 s it was busy for ${(idle * 1000).toFixed(1)} ms`);
process.exitCode = problems.length ? 1 : 0;
