// What a row is called, and how it ended.
import { cost, modelEnded } from "./agent.js";

export const seqOf = (row) => row.request_seq ?? row.seq;

// Equal for what is the same row, told once more.
export const keyOf = (row) => `${row.part || ""} ${row.kind} ${seqOf(row)} ${row.id ?? ""}`;

// Of one recording on several tapes the tape, else the session.
export const groupOf = (row) => row.part || row.session;

export const nameOfGroup = (group) => {
  if (typeof group === "string") return group;
  return group === 0 ? "no session" : `session ${group}`;
};

// Whether it is a question with its answer.
export const isWhole = (row) => row.kind === "exchange" || row.kind === "model";

// What was answered, and nothing says yet that the answer got through, waits no more, unless a fault holds it.
export const isPending = (row) => isWhole(row)
  && (row.outcome === "still_pending" ? row.answered_ms == null || Boolean(row.fault)
    : row.outcome === "kept_by_fault" && row.answered_ms == null);

const WORDS = { answered: "ok", client_gone: "client gone", failed: "HTTP failed", kept_by_fault: "kept by a fault",
  no_response: "no HTTP response", still_pending: "pending" };
const ODD = ["cancelled", "pending", "unknown", "kept by a fault", "client gone"];
const BAD_KINDS = ["gap", "finding", "orphan", "noise"];

// How it ended in a word or two, and how that looks: good, odd, bad or soft.
export function ended(row) {
  if (row.kind === "model") return modelEnded(row);
  if (row.kind !== "exchange") return [row.kind, BAD_KINDS.includes(row.kind) ? "bad" : "soft"];
  const http = row.outcome === "http_error" ? `HTTP ${row.http_status}` : row.outcome;
  let word = row.tool_error ? "tool error" : WORDS[row.outcome] || http;
  const isPeer = row.outcome === "peer_gone";
  if (isPeer) word = row.from === "server" ? "client gone" : "server gone";
  let look = "bad";
  if (word === "ok") look = "good";
  else if (ODD.includes(word) && !isPeer) look = "odd";
  if (row.outcome === "error" && row.error_code !== null) word += ` ${row.error_code}`;
  return [word, look];
}

export const isBad = (row) => isWhole(row) && ended(row)[1] === "bad";

// Its method, and what that is about.
export function named(row) {
  if (row.kind === "exchange") return [row.method, row.tool || row.resource || row.prompt || ""];
  if (row.kind === "model") return [row.provider || row.wire, row.model || "(model not named)"];
  if (row.finding) return [row.finding.code, row.finding.detail];
  if (row.fault) return [`fault ${row.fault.fault || row.fault.name || ""}`, row.fault.did || row.fault.kind || ""];
  if (row.text !== undefined) return ["", row.text];
  if (row.head) {
    const head = row.head.request || row.head.response || row.head.interim || {};
    return row.head.request ? [head.method, head.target] : ["HTTP status", head.status];
  }
  if (row.kind === "gap") return ["gap", `${row.events || 0} events and ${row.bytes || 0} bytes are missing`];
  return [row.method || "", row.id ? `answer to ${row.id}` : ""];
}

// What stands behind the name: faults, findings, what it cost.
export function marks(row) {
  const found = [];
  if (row.kind === "exchange" && row.fault) found.push(["fault", row.fault.name]);
  for (const code of (row.findings || []).slice(0, 5)) found.push(["finding", code]);
  if (row.kind === "model" && row.cost_usd_microcents) found.push(["cost", cost(row.cost_usd_microcents)]);
  return found;
}
