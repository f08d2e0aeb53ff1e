// The HTML file of a recording in a real browser: markup in every field stays text, the policy is never broken, and the
// keyboard is enough. Usage: page.mjs TAPEWRIGHT [CHROMIUM]
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

const problems = [];
const check = (is, what) => { if (!is) problems.push(what); };
const folder = mkdtempSync(join(tmpdir(), "page-"));
writeFileSync(join(folder, "a.tape.jsonl"), tape());
const file = join(folder, "a.html");
execFileSync(tapewright, ["export", join(folder, "a.tape.jsonl"), "--as", "html", "-o", file]);

const browser = await chromium.launch({ executablePath: browserPath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
for (const colorScheme of ["light", "dark"]) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 800 } });
  page.on("console", (message) => problems.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (request) => { if (request.url() !== pathToFileURL(file).href) problems.push(`asks for ${request.url()}`); });
  await page.addInitScript(() => {
    globalThis.violations = [];
    addEventListener("securitypolicyviolation", (event) => violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(pathToFileURL(file).href);
  const count = async () => page.textContent("#count");
  const selected = async () => page.textContent(".row[aria-selected=true]");
  check((await count()) === `${ROWS + 4} of ${ROWS + 4}`, `${await count()} lines`);
  check((await page.locator(".row").count()) < 100, "only the rows in sight are there");
  check((await page.locator("#banner").isVisible()), "a tape that breaks off has a banner");
  check((await page.locator("img, iframe, a, link").count()) === 0, "nothing became markup");

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
  const violations = await page.evaluate(() => globalThis.violations);
  check(violations.length === 0, `violations: ${violations.join(", ")}`);
  check(!(await page.title()).includes("owned"), "no script of a peer ran");
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `page-${colorScheme}.png`) });
  await page.close();
}
await browser.close();
rmSync(folder, { recursive: true });
console.log(problems.length ? problems.join("\n") : `page: ${ROWS} exchanges of markup, light and dark, no violation`);
process.exitCode = problems.length ? 1 : 0;
