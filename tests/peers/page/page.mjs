// The HTML file of a recording in a real browser: markup in every field stays text, the policy is never broken, the keyboard is
// enough, light and dark, and many rows. Usage: page.mjs TAPEWRIGHT [CHROMIUM]
import { exporter, isSafe, launch, open } from "./browser.mjs";
import { agent, day, hostile, many, missed } from "./tapes.mjs";

const [tapewright, browserPath = "/usr/bin/chromium"] = process.argv.slice(2);
const ROWS = 2000;
const MANY = 93000;

const problems = [];
const problem = (what) => problems.push(what);
const check = (is, what) => { if (!is) problem(what); };
const files = exporter(tapewright);
const browser = await launch(browserPath);

const tools = (page) => {
  const count = async () => page.textContent("#count");
  return {
    count,
    // The rows that a filter finds, typed as a person does.
    async filtered(words) {
      await page.keyboard.press("/");
      await page.keyboard.press("Backspace");
      if (words) await page.keyboard.type(words);
      await page.waitForFunction(() => /^\d+ of/.test(document.getElementById("count").textContent));
      await page.waitForTimeout(250);
      await page.keyboard.press("Escape");
      return (await count()).split(" ")[0];
    },
    async selected() { await page.waitForTimeout(100); return page.textContent(".row[aria-selected=true]"); },
    async detail() { await page.waitForTimeout(150); return page.textContent("#detail"); },
    async press(...keys) { for (const key of keys) await page.keyboard.press(key); },
  };
};

// The recording of an agent: calls of models among the exchanges of its server, in order of time.
async function agentPage(file, colorScheme) {
  const page = await open(browser, file, { colorScheme, problem });
  const { filtered, detail, press, count } = tools(page);
  const order = { "kind:model": "3", "kind:model,exchange": "4", "kind:model status:529": "1", "tool:read": "2", "id:toolu_1": "2", "model:onerror": "3" };
  for (const [words, wanted] of Object.entries(order)) {
    const found = await filtered(words);
    check(found === wanted, `${words} finds ${found} and not ${wanted}`);
  }
  await filtered("kind:model,exchange");
  const rows = await page.locator("#room .row").evaluateAll((nodes) => nodes.sort((one, other) => one.ariaRowIndex - other.ariaRowIndex).map((node) => node.textContent));
  const parts = rows.map((row) => (row.includes("tools/call") ? "fs" : "models")).join();
  check(parts === "models,fs,models,models", `in order of time: ${parts}`);
  await press("g");
  const model = await detail();
  for (const part of ["tokens in 700 (8 cached)", "out 38", "cost unknown", "read of fs, event 1 of fs.tape.jsonl", "asks for mcp__fs__read:", "done by the agent", "onerror", "\\u202e"]) {
    check(model.includes(part), `the detail of a call says ${part}: ${model.slice(0, 600)}`);
  }
  check((await page.locator("#detail pre").count()) === 2, "request and response of a model stand side by side");
  await press("j");
  check((await detail()).includes("asked in event 1 of models.tape.jsonl"), "a tools/call says who asked");
  await filtered("");
  await page.locator("#sessions button", { hasText: "models" }).click();
  check((await count()).startsWith("3 of"), `a part is chosen: ${await count()}`);
  await isSafe(page, problem);
  await page.close();
}

async function hostilePage(file, colorScheme) {
  const page = await open(browser, file, { colorScheme, problem });
  const { filtered, detail, press, count, selected } = tools(page);
  check((await count()) === `${ROWS + 1} of ${ROWS + 4}`, `${await count()} lines`);
  check((await page.locator(".row").count()) < 100, "only the rows in sight are there");
  check((await page.locator("#banner").isVisible()), "a tape that breaks off has a banner");
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check((dark === "rgb(255, 255, 255)") === (colorScheme === "light"), `${colorScheme} is ${dark}`);

  // The keyboard alone.
  await press("a");
  check((await count()).startsWith(`${ROWS + 4} of`), `all lines: ${await count()}`);
  await press("G");
  const last = await selected();
  await press("g");
  check((await selected()) !== last, "g and G move");
  const errors = Array.from({ length: ROWS }, (_, id) => id).filter((id) => id % 7 && id % 5 === 0).length;
  check((await filtered("status:error kind:exchange")) === String(errors), `${await count()} for ${errors} errors`);
  await press("j");
  const text = await detail();
  check((await page.locator("#detail pre").count()) === 2, "request and answer stand side by side");
  check(text.includes("onerror") && text.includes("\\u202e"), "what was said is shown as text");
  await press("/", "End");
  await page.keyboard.type(" tol:x");
  check((await page.textContent("#wrong")).includes("there is no tol:"), "a wrong word is told");
  await filtered("");
  await press("n");
  check((await selected()).includes("→") && (await detail()).includes("INV-012") === false, "a finding selects the row that it is about");
  await page.waitForTimeout(300);
  check((await page.locator(".row.about").count()) === 1, "its row is marked");
  await filtered("kind:finding");
  check((await detail()).includes("tapewright explain INV-012"), "a finding tells how it is explained");
  await filtered("kind:noise,stderr,notification");
  for (const key of ["g", "j", "j"]) { await press(key); await detail(); }
  await press("g", "l", "p", "Escape", "z", "+", "-", "0", "s", "S", "e", "E", "N");
  await isSafe(page, problem);
  await page.close();
}

// A day's work: everything by keys, and what is copied.
async function dayPage(file, colorScheme) {
  const page = await open(browser, file, { colorScheme, problem });
  const { detail, press, selected } = tools(page);
  await press("?");
  check(await page.locator("#help").isVisible(), "? shows the keys");
  await press("Escape", "G");
  check((await selected()).includes("index"), "the last one is the one that hangs");
  await page.waitForTimeout(300);
  check((await page.textContent("#waiting")).includes("progress"), `what waits has a clock: ${await page.textContent("#waiting")}`);
  check((await page.textContent("#beside")).includes("worker 3 does not answer"), "its lanes have its standard error");
  check(!(await page.textContent("#beside")).includes("write-protected"), "and nothing of another time");
  await press("g", "j", "j", "y", "t", "r", "w");
  await page.waitForFunction(() => globalThis.copies.length === 4);
  const [json, step, replay, show] = await page.evaluate(() => globalThis.copies);
  check(JSON.parse(json).request.method !== undefined && step.startsWith("# Of event") && replay === "tapewright replay day.tape.jsonl" && show.includes("--full --id="), `copies: ${json}\n${step}\n${replay}\n${show}`);
  await detail();
  await press("Enter", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Enter");
  check((await page.locator("#detail .fold[aria-expanded=false]").count()) > 0, "a value is folded by keys");
  await press("Escape", "p");
  check(await page.evaluate(() => document.activeElement.closest("nav") !== null), "p leads to the panels");
  const width = () => page.locator("nav").evaluate((node) => node.offsetWidth);
  const before = await width();
  await page.locator("main > .upright").first().focus();
  await press("ArrowRight", "ArrowRight");
  check((await width()) === before + 32, "arrows make a pane wider");
  check(/3 events/.test(await page.textContent("#banner")), "a gap has a banner");
  await press("Escape", "g");
  check((await detail()).includes("initialize"), "Escape leads back to the list");
  await isSafe(page, problem);
  await page.close();
}

async function missedPage(file) {
  const page = await open(browser, file, { problem });
  const { detail, press } = tools(page);
  await page.waitForFunction(() => document.querySelector("#drift button"));
  await press("g");
  const text = await detail();
  check((await page.locator("table.drift tbody tr").count()) === 2, "each place of drift has a row");
  check(text.includes("$.params.arguments.path") && text.includes("\"a.rs\"") && text.includes("absent"), `recorded and live: ${text.slice(0, 500)}`);
  await isSafe(page, problem);
  await page.close();
}

// Many rows: how long nothing else could be done.
async function manyPage(file) {
  const began = performance.now();
  const page = await open(browser, file, { problem });
  const { count, filtered, press } = tools(page);
  const ready = performance.now() - began;
  const total = Number((await count()).split(" of ")[1]);
  check(total >= 100000, `${total} rows`);
  const longest = async () => { const tasks = await page.evaluate(() => globalThis.tasks.splice(0)); return Math.round(Math.max(0, ...tasks)); };
  const load = await longest();
  const frames = await page.evaluate(() => new Promise((resolve) => {
    const grid = document.getElementById("list");
    const gaps = [];
    let [last, step] = [performance.now(), 0];
    const frame = () => {
      const now = performance.now();
      gaps.push(now - last);
      last = now;
      step += 1;
      grid.scrollTop = (step * 7919 * 22) % grid.scrollHeight;
      if (step < 200) requestAnimationFrame(frame);
      else resolve(gaps.slice(2).sort((one, other) => one - other));
    };
    requestAnimationFrame(frame);
  }));
  const scroll = await longest();
  const found = await filtered("tool:tool_3 -status:error answer");
  check(Number(found) > 10000, `${found} rows are found`);
  const filter = await longest();
  await press("G", "g", "n", "z", "0");
  const keys = await longest();
  check((await page.locator(".row").count()) < 100, "only the rows in sight are there");
  await isSafe(page, problem);
  await page.close();
  return `${total} rows: ready after ${Math.round(ready)} ms; longest task: loading ${load} ms, scrolling ${scroll} ms, filtering ${filter} ms, keys ${keys} ms; a frame while scrolling: median ${frames[100].toFixed(0)} ms, longest ${frames.at(-1).toFixed(0)} ms`;
}

const written = { hostile: hostile(ROWS), day: day(), missed: missed(), many: many(MANY), run: agent() };
const paths = Object.fromEntries(Object.entries(written).map(([name, tape]) => [name, files.write(name, tape)]));
for (const colorScheme of ["light", "dark"]) {
  await agentPage(paths.run, colorScheme);
  await hostilePage(paths.hostile, colorScheme);
  await dayPage(paths.day, colorScheme);
}
await missedPage(paths.missed);
const figures = await manyPage(paths.many);
await browser.close();
files.done();
console.log(figures);
console.log(problems.length ? problems.join("\n") : `page: ${ROWS} exchanges of markup, light and dark, no violation, no request`);
process.exitCode = problems.length ? 1 : 0;
