// An archive that we write opens in the network panel of Chromium's developer tools, and has the shape of HAR 1.2.
// Usage: panel.mjs TAPEWRIGHT [CHROMIUM]
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "./browser.mjs";

const [tapewright, browserPath = "/usr/bin/chromium"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "panel-"));
const problems = [];

// What the schemas of HAR 1.2 say of an archive. They do not know members that begin with `_`, and the format allows those.
function shape() {
  const require = createRequire(join(process.env.TAPEWRIGHT_PEERS_DIR, "package.json"));
  const { default: Ajv } = require("ajv");
  const ajv = new Ajv({ strict: false, allErrors: true });
  require("ajv-formats")(ajv);
  ajv.addMetaSchema(require("ajv/dist/refs/json-schema-draft-06.json"));
  for (const schema of Object.values(require("har-schema"))) ajv.addSchema(schema);
  return (archive) => (ajv.validate("har.json#", archive) ? [] : ajv.errors.slice(0, 5).map((error) => `${error.instancePath} ${error.message}`));
}

// The developer tools as a page of their own, and what evaluates an expression in it.
async function tools(browser) {
  const session = await browser.newBrowserCDPSession();
  const { targetId } = await session.send("Target.createTarget", { url: "devtools://devtools/bundled/devtools_app.html" });
  const { sessionId } = await session.send("Target.attachToTarget", { targetId, flatten: false });
  const waiting = new Map();
  session.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result, error } = JSON.parse(message);
    waiting.get(id)?.({ result, error });
  });
  let asked = 0;
  return async (expression) => {
    const id = ++asked;
    const answered = new Promise((done) => waiting.set(id, done));
    const message = { id, method: "Runtime.evaluate", params: { expression, awaitPromise: true, returnByValue: true } };
    await session.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify(message) });
    const { result, error } = await answered;
    if (error || result.exceptionDetails) throw new Error(JSON.stringify(error ?? result.exceptionDetails.exception?.description));
    return result.result.value;
  };
}

// Loads a file as `Import HAR file...` does; what the panel shows then. This runs in the page.
async function load(text, entries) {
  const part = (path) => import(new URL(path, location.href));
  const [{ NetworkPanel }, { NetworkLog }] = await Promise.all([part("./panels/network/network.js"), part("./models/logs/logs.js")]);
  const log = NetworkLog.NetworkLog.instance();
  log.reset(true);
  const panel = NetworkPanel.NetworkPanel.instance({ forceNew: true });
  panel.markAsRoot();
  panel.show(document.body);
  await panel.networkLogView.onLoadFromFile(new File([text], "run.har"));
  const until = performance.now() + 60000;
  while (log.requests().length < entries && performance.now() < until) await new Promise((done) => setTimeout(done, 20));
  const requests = log.requests();
  return requests.map((one) => ({
    method: one.requestMethod, url: one.url(), status: one.statusCode, ms: Math.round(one.duration * 1000), events: one.eventSourceMessages().length,
  }));
}

const check = shape();
const browser = await launch(browserPath);
let shown = 0;
let counted;
try {
  for (const name of ["handshake-http", "handshake-sse", "stateless-http"]) {
    const archive = join(folder, `${name}.har`);
    const tape = fileURLToPath(new URL(`../../wire/${name}.tape.jsonl`, import.meta.url));
    execFileSync(tapewright, ["export", tape, "--as", "har", "-o", archive]);
    const text = readFileSync(archive, "utf8");
    const { entries } = JSON.parse(text).log;
    problems.push(...check(JSON.parse(text)).map((problem) => `${name}: ${problem}`));
    const evaluate = await tools(browser);
    // Until the tools have begun: their views stand in this one.
    for (const until = performance.now() + 60000; !await evaluate("document.querySelector('.root-view') !== null");) {
      if (performance.now() > until) throw new Error("the developer tools do not begin");
      await new Promise((done) => setTimeout(done, 50));
    }
    const got = await evaluate(`(${load})(${JSON.stringify(text)}, ${entries.length})`);
    const wanted = entries.map(({ request, response, time, _eventSourceMessages: events = [] }) => ({
      method: request.method, url: request.url, status: response.status, ms: Math.round(time),
      events: events.length, withData: events.filter(({ data }) => data !== "").length,
    }));
    // An event without data is none for a page; the archive has it, since it was sent, and Chromium 156 shows it, too. Versions before did not:
    // the first such event says which one this is, and all others must agree.
    const alike = ({ ms, events, withData, ...rest }, other) => {
      if (events !== withData) counted ??= other?.events === events ? "events" : "withData";
      const shown = counted === "events" ? events : withData;
      return Math.abs(ms - other?.ms) <= 1 && shown === other?.events && Object.entries(rest).every(([name, value]) => value === other?.[name]);
    };
    wanted.forEach((one, at) => {
      if (!alike(one, got[at])) problems.push(`${name}: the panel shows ${JSON.stringify(got[at])} for ${JSON.stringify(one)}`);
    });
    if (got.length !== wanted.length) problems.push(`${name}: the panel shows ${got.length} requests of ${wanted.length}`);
    shown += got.length;
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
if (shown < 60) problems.push(`only ${shown} requests were shown`);
for (const problem of problems) console.error(problem);
console.log(`panel: ${shown} requests of three archives in the network panel, ${problems.length} problems`);
process.exit(problems.length ? 1 : 0);
