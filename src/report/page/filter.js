// The filter words, as schemas::filter reads them. Both are tested against
// schemas/src/filter/cases.json.

// What a list shows where no word names a kind, as `tapewright show` does.
const PLAIN = ["exchange", "model", "late", "orphan", "noise", "gap"];

const KINDS = ["exchange", "model", "notification", "progress", "cancellation", "late", "orphan",
  "noise", "stderr", "http", "fault", "finding", "gap"];
const STATUSES = {
  cancelled: (one) => one.outcome === "cancelled",
  error: (one) => Boolean(one.tool_error) || ["error", "failed", "http_error"].includes(one.outcome),
  fault: (one) => one.kind === "fault" || Boolean(one.fault),
  finding: (one) => one.kind === "finding" || (one.findings || []).length > 0,
  gone: (one) => ["client_gone", "no_response", "peer_gone"].includes(one.outcome),
  late: (one) => one.kind === "late",
  ok: (one) => one.outcome === "answered" && !one.tool_error,
  pending: (one) => ["kept_by_fault", "still_pending"].includes(one.outcome),
  unknown: (one) => one.outcome === "unknown",
};

// Only ASCII letters have no case, as in the filter of the command line.
const lower = (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
const holds = (text, part) => text !== undefined && text !== null && lower(String(text)).includes(part);
const fail = (why) => { throw new Error(why); };

function micros(text) {
  const found = /^([0-9]*\.?[0-9]*)([a-z]*)$/.exec(text) || fail("a time is like 200ms");
  const factor = { us: 1, ms: 1e3, "": 1e6, s: 1e6, m: 6e7, min: 6e7 }[found[2]];
  if (factor === undefined || !/[0-9]/.test(found[1])) fail("a time is like 200ms or 5s");
  return Math.trunc(Number(found[1]) * factor);
}

// The tools that a model asked for.
const uses = (one) => one.tool_uses || [];

const numbered = (value) => (/^[+-]?[0-9]+$/.test(value) ? Number(value) : fail(`${value} is no number`));

const WORDS = {
  dir(value) {
    if (value !== "to_server" && value !== "to_client") fail("dir: takes to_server or to_client");
    const from = value === "to_server" ? "client" : "server";
    return (one) => (one.kind === "model" ? "client" : one.from) === from;
  },
  id(value) {
    const is = (id) => id === value || id === `"${value}"`;
    return (one) => is(one.id) || (one.asked_by && is(one.asked_by.id)) || uses(one).some((used) => is(used.id));
  },
  kind(value) {
    const kinds = value.split(",");
    if (!kinds.every((kind) => KINDS.includes(kind))) fail(`kind: takes ${KINDS.join(", ")}`);
    return (one) => kinds.includes(one.kind);
  },
  method(value) {
    const part = lower(value);
    return (one) => holds(one.method || "", part);
  },
  model(value) {
    const part = lower(value);
    return (one) => holds(one.model, part);
  },
  session(value) {
    const number = numbered(value.replace(/^s/, ""));
    return (one) => one.session === number;
  },
  slow(value) {
    const shorter = value.startsWith("<");
    const ms = micros(value.replace(/^[<>]/, "")) / 1e3;
    return (one) => typeof one.waited_ms === "number" && (shorter ? one.waited_ms < ms : one.waited_ms > ms);
  },
  status(value) {
    const all = value.split(",").map((word) => {
      if (Object.hasOwn(STATUSES, word)) return STATUSES[word];
      if (!/^[+-]?[0-9]+$/.test(word)) fail(`status: takes ${Object.keys(STATUSES).join(", ")} or a number`);
      const number = Number(word);
      return (one) => one.error_code === number || one.http_status === number;
    });
    return (one) => all.some((is) => is(one));
  },
  text(value) {
    const part = lower(value);
    return (one) => holds(one.method || "", part) || [one.tool, one.resource, one.prompt, one.model, one.request,
      one.answer, one.message, one.kind === "stderr" || one.kind === "noise" ? one.text : undefined,
      ...uses(one).map((used) => used.name)].some((text) => holds(text, part));
  },
  tool(value) {
    const part = lower(value);
    return (one) => holds(one.tool, part) || uses(one).some((used) => holds(used.name, part));
  },
};

function word(text) {
  const turned = text.startsWith("-") || text.startsWith("!");
  const plain = turned ? text.slice(1) : text;
  if (plain === "") fail("a text is not empty");
  const colon = plain.indexOf(":");
  const [name, value] = [plain.slice(0, Math.max(colon, 0)), plain.slice(colon + 1)];
  let is;
  if (colon < 0 || !/^[a-z]+$/.test(name) || value.startsWith("//")) is = WORDS.text(plain);
  else if (!Object.hasOwn(WORDS, name)) fail(`there is no ${name}:; there are ${Object.keys(WORDS).join(":, ")}:`);
  else if (value === "") fail(`${name}: takes a value`);
  else is = WORDS[name](value);
  return turned ? (one) => !is(one) : is;
}

// What somebody has typed, as words: quotes hold a text together.
export function split(text) {
  const found = text.match(/(?:[^\s"]|"[^"]*")+/g) || [];
  return found.map((one) => (/^[-!]?"[^"]*"$/.test(one) ? one.replace(/^([-!]?)"(.*)"$/, "$1text:$2") : one));
}

// The kinds of lines that are shown: those that the first such word names, or else the plain ones.
export function kinds(words) {
  for (const one of words) {
    if (one.startsWith("kind:")) return one.slice(5).split(",");
    if (one.startsWith("status:") && one.slice(7).split(",").includes("late")) return ["exchange", "late"];
  }
  return PLAIN;
}

// What all of these words hold for; throws what is wrong with one.
export function filter(words) {
  const all = words.map(word);
  return (one) => all.every((is) => is(one));
}
