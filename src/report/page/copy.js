// What is copied: JSON, a step of a suite, commands. Knows nothing of a page.
import { member, tree } from "./json.js";
import { seqOf } from "./row.js";

const ASKS = { "tools/call": ["tools", "tool", "name"], "resources/read": ["resources", "uri", "uri"],
  "prompts/get": ["prompts", "prompt", "name"] };
const EXACT = 400;
// What is most probably another one next time: times, ids, ports, what redaction took out.
const CHANGES = /<REDACTED|[0-9a-f]{8}-[0-9a-f]{4}-|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\b1[5-9]\d{8}|(?:localhost|127\.0\.0\.1):\d|\/tmp\/|\b\d+(?:\.\d+)? ?(?:ms|µs|us|ns)\b|\b(?=[a-f]*\d)[0-9a-f]{12,}\b/i;

// A row with what was said, as JSON: bodies stand in it as they were written, where they are JSON.
export function asJson(row, body) {
  const members = Object.entries(row).filter(([name]) => !["request", "answer", "message"].includes(name))
    .map(([name, value]) => [name, JSON.stringify(value)]);
  for (const name of ["request", "answer", "message"]) {
    const text = body?.[name];
    if (text != null) members.push([name, tree(text) ? text : JSON.stringify(text)]);
  }
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",\n ")}}`;
}

// For a shell: a word as it is, or in quotes.
const word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// A file's name is no option.
const path = (name) => word(name.startsWith("-") ? `./${name}` : name);

export const showCommand = (row, head) => `tapewright show ${path(pathOf(row, head))} --full${
  row.id == null ? "" : ` --id=${word(String(row.id).replace(/^"(.*)"$/, "$1"))}`}`;

export const replayCommand = (row, head) => `tapewright replay ${path(pathOf(row, head))}${row.kind === "model" ? " --models" : ""}`;

function pathOf(row, head) {
  const file = head.file || "recording.tape.jsonl";
  if (!row.part || row.kind === "model") return file;
  return `${file}/${row.part}.tape.jsonl`;
}

// JSON is YAML, but for characters that YAML does not take as they are; what would hide or turn text is told by its number,
// too; and `$` means a variable.
const escaped = (text) => text.replace(/[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
const literal = (text) => escaped(JSON.stringify(text).replaceAll("$", "$$$$"));

// A value as it was written, on one line. Names of members mean no variables.
function flow(node) {
  const inner = () => node.children.map((child) => (child.name === null ? "" : `${escaped(child.name)}: `) + flow(child)).join(", ");
  if (node.open === "{") return node.children.length ? `{ ${inner()} }` : "{}";
  if (node.open === "[") return `[${inner()}]`;
  return node.text[0] === "\"" ? literal(JSON.parse(node.text)) : node.text;
}

const isText = (node) => node && !node.open && node.text[0] === "\"";

function held(target, node) {
  if (isText(node)) {
    const text = JSON.parse(node.text);
    if (text.length <= EXACT && !CHANGES.test(text)) return [target, `exact: ${literal(text)}`];
    const telling = text.split("\n").map((part) => part.trim()).find((part) => part.length >= 8 && part.length <= 100 && !CHANGES.test(part));
    if (telling) return [target, `contains: ${literal(telling)}`];
    return [target, `schema: { type: string, minLength: ${text ? 1 : 0} }`];
  }
  const type = { "{": "object", "[": "array" }[node.open];
  if (type) return [target, `schema: { type: ${type} }`];
  return [target, `exact: ${node.text}`];
}

// What of an answer is held: its error, the texts of its content, its structure member by member.
function expected(method, answer) {
  const error = member(answer, "error");
  if (error) return ["code", "message"].map((name) => [name, member(error, name)]).filter(([, node]) => node).map(([name, node]) => held(`result.error.${name}`, node));
  const result = member(answer, "result");
  const found = [];
  const failed = member(result, "isError");
  if (failed?.text === "true") found.push(["result.isError", "exact: true"]);
  const structure = member(result, "structuredContent");
  for (const child of (structure?.children || []).slice(0, 8)) {
    if (child.name !== null && /^"[A-Za-z0-9_]+"$/.test(child.name)) found.push(held(`result.structuredContent.${JSON.parse(child.name)}`, child));
  }
  const lists = { "tools/call": "content", "resources/read": "contents" };
  const list = structure ? null : member(result, lists[method]);
  (list?.children || []).slice(0, 4).forEach((child, at) => {
    const text = member(child, "text");
    if (isText(text)) found.push(held(`result.${lists[method]}[${at}].text`, text));
  });
  return found.length ? found : [["result", "schema: { type: object }"]];
}

// A test of an exchange, as an item of a list under `tools:`, `resources:` or `prompts:` of a suite; null for what cannot be
// asked again, or was not answered.
export function asStep(row, body, head) {
  const asks = row.kind === "exchange" && row.from !== "server" && Object.hasOwn(ASKS, row.method) ? ASKS[row.method] : null;
  const request = asks && body?.request ? tree(body.request) : null;
  const answer = asks && body?.answer ? tree(body.answer) : null;
  const params = member(request, "params") || request;
  const name = member(params, asks?.[2]);
  if (!isText(name) || !answer) return null;
  const args = member(params, "arguments");
  const server = row.part || head.label || "server";
  const lines = [`# Of event ${seqOf(row)} of ${escaped(JSON.stringify(head.file || ""))}: an item under \`${asks[0]}:\` of a suite with this server.`,
    `- name: ${literal(`${JSON.parse(name.text).slice(0, 72)}, event ${seqOf(row)}`)}`, `  server: ${literal(server)}`];
  if (args && flow(args).includes("<REDACTED")) lines.push("  skip: \"a secret was redacted in the arguments: put a variable in its place\"");
  lines.push(`  ${asks[1]}: ${literal(JSON.parse(name.text))}`);
  if (args?.open === "{" && args.children.length) lines.push(`  args: ${flow(args)}`);
  lines.push("  expect:");
  for (const [target, matcher] of expected(row.method, answer)) lines.push(`    - target: ${target}`, `      matcher: { ${matcher} }`);
  return `${lines.join("\n")}\n`;
}
