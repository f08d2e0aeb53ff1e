// What is shown, as text: of a time, of an outcome, of a line, of JSON.

const LONGEST = 200000;

// Characters that could hide or turn text are shown by their numbers.
const RISKY = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]/g;
const safe = (text) => String(text).replace(RISKY, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

function make(tag, of, ...children) {
  const node = document.createElement(tag);
  if (of) node.className = of;
  for (const child of children) {
    if (child !== undefined && child !== null) node.append(child.nodeType ? child : document.createTextNode(safe(child)));
  }
  return node;
}

function time(ms) {
  if (ms === null || ms === undefined) return "-";
  if (ms < 1) return `${(ms * 1000).toFixed(0)} us`;
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${ms.toFixed(0)} ms`;
  return `${(ms / 1000).toFixed(3)} s`;
}

// Whether it is a question with its answer.
const isWhole = (one) => one.kind === "exchange" || one.kind === "model";

function modelEnded(one) {
  const pending = one.waited_ms === null || one.waited_ms === undefined;
  if (one.end === "answered") return [one.finish || "ok", ["stop", "tool use"].includes(one.finish) ? "good" : "odd"];
  if (one.end === "cut_short") return pending ? ["pending", "odd"] : ["cut short", "bad"];
  return [String(one.error || one.end).slice(0, 100), "bad"];
}

function cost(microcents) {
  if (microcents === null || microcents === undefined) return "unknown";
  const hundredths = Math.ceil(microcents / 10000);
  return hundredths === 1 ? "at most 0.01 ct" : `${(hundredths / 100).toFixed(hundredths ? 2 : 0)} ct`;
}

const GUESSES = { order: ", a guess: several fit and are taken in order", name: ", a guess: its arguments are others" };

// What became of a tool that a model asked for.
function fate(used) {
  const by = used.by;
  if (by) return `${by.tool} of ${by.server}, event ${by.seq} of ${by.file}${GUESSES[used.how] || ""}`;
  const words = { elsewhere: "done by the agent, or by a server that is not recorded", never: "never done" };
  return words[used.fate] || "not known";
}

function ended(one) {
  if (one.kind === "model") return modelEnded(one);
  if (one.kind !== "exchange") return [one.kind, ["gap", "finding", "orphan", "noise"].includes(one.kind) ? "bad" : "soft"];
  const code = one.outcome === "error" && one.error_code !== null ? ` ${one.error_code}` : "";
  const words = { answered: "ok", client_gone: "client gone", failed: "HTTP failed", http_error: `HTTP ${one.http_status}`,
    kept_by_fault: "kept by a fault", no_response: "no HTTP response", peer_gone: "peer gone", still_pending: "pending" };
  let word = one.tool_error ? "tool error" : words[one.outcome] || one.outcome;
  let look = "bad";
  if (word === "ok") look = "good";
  else if (["cancelled", "pending", "unknown", "kept by a fault", "client gone"].includes(word)) look = "odd";
  word += code;
  if (one.fault) word += `, fault ${one.fault.name}`;
  if ((one.findings || []).length) word += `, ${one.findings.join(", ")}`;
  return [word, look];
}

function what(one) {
  if (one.kind === "exchange") return [one.method, one.tool || one.resource || one.prompt].filter(Boolean).join(" ");
  if (one.kind === "model") return [one.provider || one.wire, one.model || "(model not named)"].join(" ");
  if (one.text !== undefined) return one.text;
  if (one.head) {
    const head = one.head.request || one.head.response || one.head.interim;
    return one.head.request ? `${head.method} ${head.target}` : `status ${head.status}`;
  }
  if (one.finding) return `${one.finding.code} ${one.finding.detail}`;
  if (one.kind === "gap") return `${one.events || 0} events and ${one.bytes || 0} bytes are missing`;
  return [one.method, one.id && `answer to ${one.id}`].filter(Boolean).join(" ");
}

// JSON as it was written, with white space of ours between its parts.
function pretty(text, into) {
  const cut = text.length > LONGEST;
  const parts = /"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+/gy;
  let depth = 0;
  let plain = "";
  const flush = () => { if (plain) into.append(document.createTextNode(safe(plain))); plain = ""; };
  const line = () => { plain += `\n${"  ".repeat(Math.min(depth, 40))}`; };
  let at = 0;
  let last = "";
  try { JSON.parse(text); } catch { at = -1; }
  if (cut || at < 0) {
    into.append(document.createTextNode(safe(text.slice(0, LONGEST)) + (cut ? "…" : "")));
    return;
  }
  while (at < text.length) {
    while (at < text.length && /\s/.test(text[at])) at += 1;
    parts.lastIndex = at;
    const found = parts.exec(text);
    if (!found) break;
    const part = found[0];
    at = parts.lastIndex;
    if (part === "}" || part === "]") {
      depth -= 1;
      if (last !== "{" && last !== "[") line();
      plain += part;
    } else if (part === "," ) { plain += part; line(); } else if (part === ":") { plain += ": "; } else {
      if (last === "{" || last === "[") line();
      if (part === "{" || part === "[") { plain += part; depth += 1; } else {
        flush();
        const isName = part[0] === "\"" && /^\s*:/.test(text.slice(at, at + 20));
        into.append(make("span", isName ? "name" : part[0] === "\"" ? "text" : "other", part));
      }
    }
    last = part;
  }
  flush();
}
