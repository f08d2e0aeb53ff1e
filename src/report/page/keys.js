// Keys: what each does stands beside it, and `?` shows them.
import { by, make } from "./text.js";

// [keys, what they do, name of the act]
const TABLE = [
  ["j ↓ · k ↑", "next, previous row", { j: "next", ArrowDown: "next", k: "previous", ArrowUp: "previous" }],
  ["Page↓ · Page↑", "a page on, a page back", { PageDown: "pageDown", PageUp: "pageUp" }],
  ["g Home · G End", "first, last row; on the last one, what is new is followed", { g: "first", Home: "first", G: "last", End: "last" }],
  ["e · E", "next, previous row that failed", { e: "nextBad", E: "previousBad" }],
  ["n · N", "next, previous finding", { n: "nextFinding", N: "previousFinding" }],
  ["s · S", "next, previous session", { s: "nextGroup", S: "previousGroup" }],
  ["/", "filter: tool: method: model: status: dir: session: kind: id: slow:>200ms, or a text; - in front turns a word round", { "/": "filter" }],
  ["a", "all lines, or exchanges alone", { a: "every" }],
  ["Enter · Esc", "into the detail, back to the list", { Enter: "detail", Escape: "list" }],
  ["p · l", "to the panels at the side, to the lanes", { p: "panels", l: "lanes" }],
  ["z · 0", "see the time of this exchange, see all the time", { z: "zoomPick", 0: "zoomAll" }],
  ["+ · -", "closer, further away", { "+": "zoomIn", "=": "zoomIn", "-": "zoomOut" }],
  ["y · t · r · w", "copy as JSON, a step of a suite, a replay command, a show command", { y: "copyJson", t: "copyStep", r: "copyReplay", w: "copyShow" }],
  ["?", "these keys", { "?": "help" }],
];

const ACTS = Object.assign({}, ...TABLE.map(([, , acts]) => acts));
const TYPING = { Escape: "list", Enter: "list" };

export function helpOf(node) {
  node.replaceChildren(...TABLE.flatMap(([keys, text]) => [make("dt", "", ...keys.split(" ").map((key) => (key === "·" ? " · " : make("kbd", "", key)))), make("dd", "", text)]));
}

// Keys act wherever the focus is, but for what they mean there: letters in a field, Enter on a button.
export function listen(acts) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const { target } = event;
    const isTyping = target === by("words");
    const name = (isTyping ? TYPING : ACTS)[event.key];
    if (!name || !Object.hasOwn(isTyping ? TYPING : ACTS, event.key)) return;
    if (!isTyping && target.closest("button") && event.key === "Enter") return;
    if (target.getAttribute("role") === "separator" && event.key.startsWith("Arrow")) return;
    const scrolls = target.closest("#detail, #beside, nav") && /^(Arrow|Page|Home|End)/.test(event.key);
    if (scrolls && !isTyping) return;
    event.preventDefault();
    acts[name]();
  });
}
