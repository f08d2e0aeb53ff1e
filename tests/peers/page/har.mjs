// An archive that we write plays in Playwright's `routeFromHAR`: a page asks for what was recorded and gets it.
// Usage: har.mjs TAPEWRIGHT [CHROMIUM]
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "./browser.mjs";

const [tapewright, browserPath = "/usr/bin/chromium"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "har-"));
const problems = [];
let asked = 0;
const browser = await launch(browserPath);
try {
  for (const name of ["handshake-http", "handshake-sse", "stateless-http"]) {
    const tape = fileURLToPath(new URL(`../../wire/${name}.tape.jsonl`, import.meta.url));
    const archive = join(folder, `${name}.har`);
    execFileSync(tapewright, ["export", tape, "--as", "har", "-o", archive]);
    const { entries } = JSON.parse(readFileSync(archive, "utf8")).log;
    const context = await browser.newContext();
    await context.routeFromHAR(archive, { notFound: "abort" });
    const page = await context.newPage();
    // The page is of the origin of the server, so that it may read answers.
    const origin = new URL(entries[0].request.url).origin;
    await page.route(`${origin}/`, (route) => route.fulfill({ contentType: "text/html", body: "<title>a page</title>" }));
    await page.goto(`${origin}/`);
    const seen = new Set();
    for (const { request, response } of entries) {
      const key = `${request.method} ${request.url} ${request.postData?.text}`;
      // Of several that ask for the same, Playwright takes one.
      if (seen.has(key)) continue;
      seen.add(key);
      const got = await page.evaluate(async ({ method, url, body }) => {
        try {
          const answer = await fetch(url, { method, body, headers: body === undefined ? {} : { "content-type": "application/json" } });
          return { status: answer.status, text: await answer.text() };
        } catch (error) {
          return { status: 0, text: String(error) };
        }
      }, { method: request.method, url: request.url, body: request.postData?.text });
      asked += 1;
      const alike = entries.filter((one) => `${one.request.method} ${one.request.url} ${one.request.postData?.text}` === key);
      if (!alike.some((one) => one.response.status === got.status && (one.response.content.text ?? "") === got.text)) {
        problems.push(`${name}: ${key.slice(0, 120)}: ${got.status} ${got.text.slice(0, 120)}, and not ${response.status}`);
      }
    }
    await context.close();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
if (asked < 30) problems.push(`only ${asked} requests were asked`);
for (const problem of problems) console.error(problem);
console.log(`har: ${asked} requests of three archives answered by routeFromHAR, ${problems.length} otherwise than recorded`);
process.exit(problems.length ? 1 : 0);
