// The tables of shapes against the official schemas, which stand in the official conformance suite: over samples made
// from the schemas with each member left out and of another type; over every message of the recordings in this repository,
// and of real servers that are asked everything the corpora ask; and over each shape of these messages with every member
// left out. Both have to come to the same verdict. What differs on purpose is in INTENDED, with the reason.
//
// The suite holds 2025-03-26 to 2026-07-28; 2024-11-05 is derived from 2025-03-26.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";

const peers = process.env.TAPEWRIGHT_PEERS_DIR;
const tapewright = process.env.TAPEWRIGHT;
const here = path.dirname(new URL(import.meta.url).pathname);
const require = createRequire(path.join(peers, "package.json"));
const Ajv = require("ajv");
const Ajv2020 = require("ajv/dist/2020.js");

// Invariants that judge the shape of a message, beside what it says.
const SHAPES = ["INV-005", "INV-008", "INV-009", "INV-020", "INV-021", "INV-047", "INV-073", "INV-074", "INV-079", "INV-081", "INV-085", "INV-086", "INV-087", "INV-088", "INV-089"];

// Where we judge otherwise on purpose: [what it is about, where, why, whether we are stricter or looser].
const INTENDED = [
  ["CancelledNotification", /^\/params\/requestId left out$/, "2025-11-25 leaves `requestId` out of what is required, and says that it must be given", "stricter"],
  ["ElicitRequest", /\.tape\.jsonl event/, "the official schema.json takes only integers as `default` of a number; the types that it is made from have a number", "looser"],
  ["CallToolResult", /^\/result\/content (left out|of another type)$/, "INV-005 takes a result with `structuredContent` alone, as its text has it", "looser"],
];

// --- the official schemas

function literal(text, start) {
  let depth = 0;
  for (let at = start; ; at++) {
    const char = text[at];
    if (char === "`" || char === '"' || char === "'") {
      for (at++; text[at] !== char; at++) if (text[at] === "\\") at++;
    } else if ("{[(".includes(char)) depth++;
    else if ("}])".includes(char) && --depth === 0) return text.slice(start, at + 1);
  }
}

function official() {
  const file = path.join(peers, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const text = fs.readFileSync(file, "utf8");
  const beginning = /=(\{\$schema:`https?:\/\/json-schema\.org\/[^`]+`,(?:definitions|\$defs):\{Annotations)/g;
  const schemas = [...text.matchAll(beginning)].map(found => new Function(`return ${literal(text, found.index + 1)}`)());
  const revision = schema => {
    const names = schema.definitions ?? schema.$defs;
    if (names.DiscoverRequest) return "2026-07-28";
    if (names.GetTaskRequest) return "2025-11-25";
    return names.ElicitRequest ? "2025-06-18" : "2025-03-26";
  };
  const all = Object.fromEntries(schemas.map(schema => [revision(schema), schema]));
  if (Object.keys(all).length !== 4) throw new Error(`the suite holds ${Object.keys(all)}, and four were expected`);
  return { "2024-11-05": first(all["2025-03-26"]), ...all };
}

// 2024-11-05 is 2025-03-26 without what its changelog lists: batches, audio, annotations of tools, `completions`, and the
// message of progress (79 definitions and 83).
function first(schema) {
  const older = structuredClone(schema);
  const names = older.definitions;
  for (const added of ["AudioContent", "JSONRPCBatchRequest", "JSONRPCBatchResponse", "ToolAnnotations"]) {
    if (!names[added]) throw new Error(`2025-03-26 has no ${added}`);
    delete names[added];
  }
  delete names.Tool.properties.annotations;
  delete names.ServerCapabilities.properties.completions;
  delete names.ProgressNotification.properties.params.properties.message;
  const gone = one => /(AudioContent|JSONRPCBatch\w+)$/.test(one.$ref ?? "");
  const walk = node => {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node.anyOf)) node.anyOf = node.anyOf.filter(one => !gone(one));
    Object.values(node).forEach(walk);
  };
  walk(older);
  return older;
}

class Official {
  constructor(revision, schema) {
    this.revision = revision;
    this.key = schema.definitions ? "definitions" : "$defs";
    this.names = schema[this.key];
    const Kind = schema.definitions ? Ajv : Ajv2020;
    this.ajv = new Kind({ strict: false, validateFormats: false });
    this.ajv.addSchema({ ...schema, $id: "mcp" });
    this.made = new Map();
  }
  holds(name, value) {
    if (!this.made.has(name)) this.made.set(name, this.ajv.compile({ $ref: `mcp#/${this.key}/${name}` }));
    return this.made.get(name)(value);
  }
  resolve(schema) {
    while (schema?.$ref) schema = this.names[schema.$ref.split("/").pop()];
    return schema ?? {};
  }
  // Every type of a message, by its method: its name, and that of its result.
  messages() {
    const found = [];
    for (const [name, schema] of Object.entries(this.names)) {
      const method = schema.properties?.method?.const;
      if (!method) continue;
      const kind = name.endsWith("Notification") ? "notification" : "request";
      const result = name.replace(/Request$/, "Result");
      found.push({ name, method, kind, result: kind === "request" && this.names[result] ? result : undefined });
    }
    return found;
  }
}

// --- samples

const NAMES = { protocolVersion: null, uri: "file:///a", url: "https://a.example/", uriTemplate: "file:///{a}", cursor: "c", nextCursor: "c", resultType: "complete" };

class Samples {
  constructor(official) {
    this.official = official;
  }
  // Everything that a schema may hold, each alternative once at the top.
  all(schema, name, depth) {
    schema = this.official.resolve(schema);
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives) return alternatives.flatMap(one => this.all(one, name, depth));
    return [this.one(schema, name, depth)];
  }
  one(schema, name, depth) {
    schema = this.official.resolve(schema);
    if ("const" in schema) return schema.const;
    if (schema.enum) return schema.enum[0];
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives) return this.one(alternatives[0], name, depth);
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map(one => this.one(one, name, depth)));
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    switch (type ?? (schema.properties ? "object" : "any")) {
      case "object": return this.object(schema, depth);
      case "array": return depth > 7 ? [] : this.all(schema.items ?? {}, name, depth + 1);
      case "string": return name === "protocolVersion" ? this.official.revision : NAMES[name] ?? "a";
      case "integer": case "number": return Math.max(schema.minimum ?? 0, name === "priority" ? 1 : 1);
      case "boolean": return true;
      case "null": return null;
      default: return {};
    }
  }
  object(schema, depth) {
    const out = {};
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      const required = schema.required?.includes(name);
      if (name === "_meta" && !required) continue;
      if (required || depth < 7) out[name] = this.one(member, name, depth + 1);
    }
    const open = schema.additionalProperties;
    if (open && typeof open === "object" && Object.keys(out).length === 0 && Object.keys(open).length && depth < 7) out.some = this.one(open, "some", depth + 1);
    return out;
  }
}

const OTHER = value => (typeof value === "string" ? 7 : typeof value === "number" ? "x" : typeof value === "boolean" ? "yes" : Array.isArray(value) ? {} : "x");

// The value with one member left out or of another type, for each member.
function* mutants(value, pointer = "") {
  if (value === null || typeof value !== "object") return;
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  for (const key of keys) {
    const at = `${pointer}/${key}`;
    if (!Array.isArray(value)) {
      const { [key]: _, ...rest } = value;
      yield [`${at} left out`, rest];
    }
    const put = one => (Array.isArray(value) ? value.with(key, one) : { ...value, [key]: one });
    yield [`${at} of another type`, put(OTHER(value[key]))];
    for (const [what, inner] of mutants(value[key], at)) yield [what, put(inner)];
  }
}

// --- our verdicts

// Sessions of a tape, one for each sample.
class Tape {
  constructor() {
    this.lines = [{ tape: "2.0", created: "2026-01-01T00:00:00.000Z", by: "schemas.mjs", transport: "stdio", label: "s", durability: "queue", when_full: "wait", max_message_bytes: 67108864, redacted: false }];
    this.session = 0;
    this.seq = 0;
  }
  add(dir, message) {
    this.seq++;
    this.lines.push({ seq: this.seq, at_us: this.seq, session: this.session, dir, message });
    return this.seq;
  }
  begin(revision) {
    this.session++;
    if (revision === "2026-07-28") {
      // Says of which era the rest is.
      this.add("to_server", { jsonrpc: "2.0", id: 0, method: "server/discover", params: { _meta: META } });
      this.add("to_client", { jsonrpc: "2.0", id: 0, result: { supportedVersions: [revision], capabilities: { tools: {}, prompts: {}, resources: {}, logging: {}, completions: {} }, resultType: "complete", ttlMs: 0, cacheScope: "public" } });
      return;
    }
    const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {}, completions: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
    const client = { roots: {}, sampling: { tools: {}, context: {} }, elicitation: { form: {}, url: {} }, tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } } };
    this.add("to_server", { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: revision, capabilities: client, clientInfo: { name: "c", version: "1" } } });
    this.add("to_client", { jsonrpc: "2.0", id: 0, result: { protocolVersion: revision, capabilities, serverInfo: { name: "s", version: "1" } } });
    this.add("to_server", { jsonrpc: "2.0", method: "notifications/initialized" });
  }
  write(file) {
    const end = { end: { at_us: this.seq + 1, events: this.seq, complete: true } };
    fs.writeFileSync(file, [...this.lines, end].map(line => JSON.stringify(line)).join("\n") + "\n");
  }
  judge() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "schemas-"));
    const file = path.join(folder, "s.tape.jsonl");
    this.write(file);
    const found = judged(file);
    fs.rmSync(folder, { recursive: true });
    return found;
  }
}

// What the invariants about shapes find in a file, by the number of the event.
function judged(file) {
  let text;
  try {
    text = execFileSync(tapewright, ["compliance", "invariants", "--capture", file, "--format", "json", "--select", SHAPES.join(",")], { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    if (![1, 3].includes(error.status)) throw error;
    text = error.stdout;
  }
  const wrong = new Map();
  for (const server of JSON.parse(text).servers) {
    for (const outcome of server.outcomes) {
      for (const finding of outcome.findings ?? []) {
        if (finding.status !== "fail") continue;
        for (const place of finding.evidence.slice(0, 1)) {
          const seq = place.event ?? place.seq;
          wrong.set(seq, [...(wrong.get(seq) ?? []), `${outcome.id}: ${finding.detail}`]);
        }
      }
    }
  }
  return wrong;
}

// --- the comparison

const SERVER_ASKS = ["sampling/createMessage", "elicitation/create", "roots/list"];
const CLIENT_TELLS = ["notifications/initialized", "notifications/roots/list_changed"];
const META = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };

function compare(official, report) {
  const samples = new Samples(official);
  const tape = new Tape();
  const cases = [];
  const revision = official.revision;
  const modern = revision === "2026-07-28";
  const minimal = method => {
    const type = official.messages().find(one => one.method === method);
    return type ? samples.one(official.names[type.name].properties.params ?? {}, "", 0) : {};
  };
  for (const type of official.messages()) {
    const byServer = SERVER_ASKS.includes(type.method);
    if (modern && byServer) continue; // They cross inside results alone.
    const asking = byServer ? "to_client" : "to_server";
    const answering = byServer ? "to_server" : "to_client";
    const telling = CLIENT_TELLS.includes(type.method) ? "to_server" : "to_client";
    const whole = samples.all(official.names[type.name], "", 0).flatMap(one => {
      const params = official.names[type.name].properties.params;
      return params ? samples.all(params, "", 0).map(params => ({ ...one, params })) : [one];
    });
    for (const sample of whole) {
      const message = { ...sample, jsonrpc: "2.0", ...(type.kind === "request" ? { id: 1 } : {}) };
      if (type.kind === "request" && modern && message.params) message.params = { ...message.params, _meta: META };
      const names = official.names[type.name].required?.includes("jsonrpc") ? message : withoutEnvelope(message);
      if (!official.holds(type.name, names)) { report.unusable(revision, type.name, official.made.get(type.name).errors); continue; }
      for (const [what, mutant] of [["as it is", message], ...of(mutants(message.params, "/params"), params => ({ ...message, params }))]) {
        tape.begin(revision);
        const seq = tape.add(type.kind === "notification" ? telling : asking, mutant);
        const told = official.names[type.name].required?.includes("jsonrpc") ? mutant : withoutEnvelope(mutant);
        cases.push({ about: type.name, what, seq, holds: official.holds(type.name, told) });
      }
    }
    if (!type.result) continue;
    for (const sample of samples.all(official.names[type.result], "", 0)) {
      if (!official.holds(type.result, sample)) { report.unusable(revision, type.result, official.made.get(type.result).errors); continue; }
      for (const [what, mutant] of [["as it is", sample], ...mutants(sample, "/result")]) {
        if (type.method === "initialize") tape.session++;
        else tape.begin(revision);
        const params = { ...minimal(type.method), ...(modern ? { _meta: META } : {}) };
        tape.add(asking, { jsonrpc: "2.0", id: 1, method: type.method, params });
        const seq = tape.add(answering, { jsonrpc: "2.0", id: 1, result: mutant });
        cases.push({ about: type.result, what, seq, holds: official.holds(type.result, mutant) });
      }
    }
  }
  const wrong = tape.judge();
  for (const one of cases) report.compared(revision, one, wrong.get(one.seq));
}

function withoutEnvelope({ jsonrpc, id, ...rest }) {
  return rest;
}

function* of(pairs, make) {
  for (const [what, value] of pairs) yield [what, make(value)];
}

// Every message of a tape that has a type in its revision: [event, type, revision, what the schema is about, its request].
function* typed(officials, file, stateless) {
  const asked = new Map();
  const versions = new Map();
  for (const line of fs.readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    let event;
    try {
      event = JSON.parse(line);
    } catch {
      continue; // A tape that was cut short.
    }
    const message = event.message;
    if (!message || typeof message !== "object" || Array.isArray(message)) continue;
    const scope = event.session || event.conduit;
    const other = event.dir === "to_server" ? "to_client" : "to_server";
    if (message.method) {
      const own = message.params?._meta?.["io.modelcontextprotocol/protocolVersion"];
      const revision = own ?? (stateless ? "2026-07-28" : versions.get(event.session) ?? "2025-11-25");
      asked.set(JSON.stringify([scope, message.id, event.dir]), { message, revision, dir: event.dir });
      const type = officials[revision]?.messages().find(one => one.method === message.method)?.name;
      if (!type) continue;
      const whole = officials[revision].names[type].required?.includes("jsonrpc");
      yield { seq: event.seq, dir: event.dir, type, revision, value: whole ? message : withoutEnvelope(message), message };
    } else if (message.result) {
      const question = asked.get(JSON.stringify([scope, message.id, other]));
      if (question?.message.method === "initialize") versions.set(event.session, message.result.protocolVersion);
      const revision = question?.message.method === "initialize" ? message.result.protocolVersion : question?.revision;
      if (message.result.resultType && message.result.resultType !== "complete") continue;
      if (message.result.task) continue;
      const type = officials[revision]?.messages().find(one => one.method === question?.message.method)?.result;
      if (type) yield { seq: event.seq, dir: event.dir, type, revision, value: message.result, message, question };
    }
  }
}

// Every recorded message of a file: the same verdicts; and of each shape that is seen, every member left out once.
function recorded(officials, file, name, seen, report) {
  const wrong = judged(file);
  const tape = new Tape();
  const cases = [];
  for (const one of typed(officials, file, name.includes("stateless"))) {
    const official = officials[one.revision];
    const holds = official.holds(one.type, one.value);
    report.compared(one.revision, { about: one.type, what: `${name} event ${one.seq}`, holds }, wrong.get(one.seq));
    const shape = `${one.revision} ${one.type} ${shapeOf(one.value)}`;
    if (!holds || seen.has(shape)) continue;
    seen.add(shape);
    cases.push(...without(tape, official, one, name));
  }
  const found = tape.judge();
  for (const one of cases) report.compared(one.revision, one, found.get(one.seq));
}

// A message with each of its members left out, in sessions of their own.
function* without(tape, official, one, name) {
  const { message, question } = one;
  const part = question ? "result" : "params";
  for (const [what, mutant] of mutants(message[part], `/${part}`)) {
    if (!what.endsWith("left out")) continue;
    // What says of which revision a request is has to stay.
    if (what.includes("/_meta")) continue;
    if (question?.message.method === "initialize") tape.session++;
    else tape.begin(one.revision);
    if (question) tape.add(question.dir, { ...question.message, id: 1 });
    const told = { ...message, [part]: mutant, ...(message.id === undefined ? {} : { id: 1 }) };
    const seq = tape.add(one.dir, told);
    const value = question ? mutant : one.value === message ? told : withoutEnvelope(told);
    yield { revision: one.revision, about: one.type, what, from: ` (${name} event ${one.seq})`, seq, holds: official.holds(one.type, value) };
  }
}

// The members of a value and their types, whatever they say.
function shapeOf(value) {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].sort().join(",")}]`;
  if (value === null || typeof value !== "object") return typeof value;
  return `{${Object.keys(value).sort().map(key => `${key}:${shapeOf(value[key])}`).join(",")}}`;
}

// The tapes and cassettes of the repository, as tapes.
function* kept(folder, scratch) {
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    if (entry.name.endsWith(".tape.jsonl")) yield file;
    if (!entry.name.endsWith(".json") || file.includes("oracle")) continue;
    const document = JSON.parse(fs.readFileSync(file, "utf8"));
    if (!Array.isArray(document.exchanges)) continue;
    const tape = new Tape();
    tape.session = 1;
    for (const exchange of document.exchanges) {
      tape.add("to_server", exchange.request);
      if (exchange.response) tape.add("to_client", exchange.response);
    }
    const copy = path.join(scratch, `${entry.name}.tape.jsonl`);
    tape.write(copy);
    yield copy;
  }
}

// Real servers, asked everything that the corpora ask, by way of the recorder.
function* fresh(scratch) {
  const packages = path.join(peers, "node_modules/@modelcontextprotocol");
  const everything = ["node", path.join(packages, "server-everything/dist/index.js"), "stdio"];
  const fastmcp = [path.join(peers, "venv/bin/python"), path.join(here, "fastmcp_server.py")];
  const modern = ["node", path.join(here, "modern_server.mjs")];
  const rmcp = [path.join(here, "../../target/debug/examples/peer"), "rmcp"];
  const handshakes = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
  const cells = [
    ...handshakes.map(version => ["everything", everything, version]),
    ...handshakes.map(version => ["fastmcp", fastmcp, version]),
    ["modern", modern, "2026-07-28"],
    ...(fs.existsSync(rmcp[0]) ? [["rmcp", rmcp, "2025-11-25"]] : []),
  ];
  for (const [name, server, version] of cells) {
    const folder = path.join(scratch, `${name}-${version}`);
    fs.mkdirSync(folder);
    const recorder = [tapewright, "record", "-o", path.join(folder, `${name}-${version}.tape.jsonl`), "--", ...server];
    const asked = ["compliance", "run", "--format", "json", "--spec-version", version, "--", ...recorder];
    try {
      execFileSync(tapewright, asked, { stdio: "ignore" });
    } catch (error) {
      if (![1, 3].includes(error.status)) throw error;
    }
    yield* fs.readdirSync(folder).filter(one => one.endsWith(".tape.jsonl")).map(one => path.join(folder, one));
  }
}

class Report {
  constructor() {
    this.count = 0;
    this.intended = new Map();
    this.differ = [];
    this.left = [];
  }
  unusable(revision, name, errors) {
    this.left.push(`${revision} ${name}: no sample of ours is valid: ${JSON.stringify(errors?.[0])}`);
  }
  compared(revision, one, ours) {
    this.count++;
    if (one.holds === !ours) return;
    const place = `${one.about} ${one.what}${one.from ?? ""}`;
    const known = INTENDED.find(([about, part, why, where]) => (about === "*" || about === one.about) && part.test(one.what) && (!where || where === (one.holds ? "stricter" : "looser")));
    if (known) this.intended.set(known[2], (this.intended.get(known[2]) ?? 0) + 1);
    else this.differ.push(`${revision} ${place}: the schema says ${one.holds ? "valid" : "invalid"}, we say ${ours ? ours.join("; ") : "valid"}`);
  }
  close() {
    for (const line of [...this.left, ...this.differ]) console.log(`FAIL ${line}`);
    for (const [why, count] of this.intended) console.log(`on purpose, ${count} times: ${why}`);
    console.log(`${this.count} messages judged twice, ${this.differ.length} verdicts differ`);
    return this.differ.length || this.left.length || this.count < 1000 ? 1 : 0;
  }
}

const officials = Object.fromEntries(Object.entries(official()).map(([revision, schema]) => [revision, new Official(revision, schema)]));
const report = new Report();
for (const one of Object.values(officials)) compare(one, report);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "schemas-"));
const seen = new Set();
for (const folder of ["..", "../../schemas/tests"]) {
  for (const file of kept(path.join(here, folder), scratch)) recorded(officials, file, path.basename(file), seen, report);
}
const before = report.count;
for (const file of fresh(scratch)) recorded(officials, file, path.basename(file), seen, report);
console.log(`${report.count - before} of them from servers that were asked just now`);
fs.rmSync(scratch, { recursive: true });
process.exit(report.close());
