// A browser that notes whatever a page must not do, and files that are exported for it.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export async function launch(browserPath) {
  if (!existsSync(browserPath)) {
    console.error(`there is no browser at ${browserPath}: install chromium, or name one`);
    process.exit(2);
  }
  const { chromium } = createRequire(join(process.env.TAPEWRIGHT_PEERS_DIR, "package.json"))("playwright-core");
  return chromium.launch({ executablePath: browserPath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
}

// A folder, and what exports a tape, or several by name, into it.
export function exporter(tapewright) {
  const folder = mkdtempSync(join(tmpdir(), "page-"));
  const done = () => rmSync(folder, { recursive: true, force: true });
  function write(name, tapes) {
    const isFolder = typeof tapes !== "string";
    const source = join(folder, isFolder ? name : `${name}.tape.jsonl`);
    if (isFolder) {
      mkdirSync(source);
      for (const [part, text] of Object.entries(tapes)) writeFileSync(join(source, `${part}.tape.jsonl`), text);
    } else writeFileSync(source, tapes);
    const file = join(folder, `${name}.html`);
    execFileSync(tapewright, ["export", source, "--as", "html", "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
    return file;
  }
  return { folder, write, done };
}

// Opens a file, and tells `problem` of each error, each request, each violation of its policy.
export async function open(browser, path, { colorScheme = "light", problem, viewport = { width: 1280, height: 800 } }) {
  const page = await browser.newPage({ colorScheme, viewport });
  page.on("console", (message) => problem(`console: ${message.text()}`));
  page.on("pageerror", (error) => problem(`error: ${error.stack}`));
  page.on("request", (request) => { if (request.url() !== pathToFileURL(path).href) problem(`asks for ${request.url()}`); });
  await page.addInitScript(() => {
    globalThis.violations = [];
    globalThis.tasks = [];
    globalThis.copies = [];
    addEventListener("securitypolicyviolation", (event) => violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask" });
    Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { copies.push(text); } } });
  });
  await page.goto(pathToFileURL(path).href);
  await loaded(page);
  return page;
}

// Until all rows are there.
export const loaded = (page) => page.waitForFunction(() => !/loading/.test(document.getElementById("about").textContent)
  && /^\d+ of \d+$/.test(document.getElementById("count").textContent), null, { timeout: 120000 });

// Nothing of what a peer said became markup, and the policy held.
export async function isSafe(page, problem) {
  if (await page.locator("img, iframe, a, link, object, embed").count()) problem("something became markup");
  const violations = await page.evaluate(() => globalThis.violations);
  if (violations.length) problem(`violations: ${violations.join(", ")}`);
  if ((await page.title()).includes("owned'") && await page.evaluate(() => document.title === "owned")) problem("a script of a peer ran");
  const inline = await page.evaluate(() => document.documentElement.textContent.includes("\u202e") ? [...document.querySelectorAll("body :not(script)")]
    .filter((node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.includes("\u202e"))).length : 0);
  if (inline) problem(`${inline} nodes show characters that turn text`);
}
