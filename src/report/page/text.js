// Texts and nodes: everything that a peer said passes `safe` and becomes a text node.

// Characters that could hide or turn text are shown by their numbers.
const RISKY = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]/g;

export const safe = (text) => String(text).replace(RISKY, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

// No text in a cell or a button is longer.
const LINE = 300;

// On one line, and bounded: whoever cuts first never looks at the rest.
export function line(text) {
  const whole = String(text ?? "");
  const cut = whole.length > LINE ? `${whole.slice(0, LINE)}…` : whole;
  return safe(cut.replace(/[\t\n]+/g, " "));
}

export const by = (id) => document.getElementById(id);

// An element with children: nodes, or texts, which are made safe. Nothing for null.
export function make(tag, look, ...children) {
  const node = document.createElement(tag);
  if (look) node.className = look;
  for (const child of children) {
    if (child !== undefined && child !== null) node.append(child.nodeType ? child : document.createTextNode(safe(child)));
  }
  return node;
}

export function button(look, act, ...children) {
  const node = make("button", look, ...children);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

// Writes only what is another text than before.
export function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function time(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 1) return `${(ms * 1000).toFixed(0)} µs`;
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${ms.toFixed(0)} ms`;
  if (ms < 120000) return `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
  if (ms < 7200000) return `${(ms / 60000).toFixed(1)} min`;
  return `${(ms / 3600000).toFixed(1)} h`;
}

// A moment of the recording, all of one width: 12.345 or 1:02:03.456.
export function clock(ms) {
  if (ms === null || ms === undefined) return "";
  const seconds = (ms / 1000) % 60;
  const minutes = Math.floor(ms / 60000);
  if (minutes === 0) return seconds.toFixed(3);
  const two = (number) => String(number).padStart(2, "0");
  const rest = `${two(minutes % 60)}:${seconds.toFixed(3).padStart(6, "0")}`;
  return minutes < 60 ? rest : `${Math.floor(minutes / 60)}:${rest}`;
}

export function size(bytes) {
  if (bytes === null || bytes === undefined) return "";
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

// Lets the browser draw and answer before more is done.
export const breathe = () => new Promise((resolve) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => { channel.port1.close(); resolve(); };
  channel.port2.postMessage(0);
});
