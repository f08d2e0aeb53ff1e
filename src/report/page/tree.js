// JSON as nodes: folded where it is long, and unfolded piece by piece.
import { summary, tree } from "./json.js";
import { button, make } from "./text.js";

// A value of more lines, below the first levels, begins folded.
const FOLD = 24;
const OPEN_LEVELS = 2;
// So many children, and so much of a text, at a time.
const CHILDREN = 200;
const CHARACTERS = 1500;
const MORE = 50000;
const INDENT = 30;

const indent = (depth) => "  ".repeat(Math.min(depth, INDENT));

// A text of which the rest comes when it is asked for.
export function long(text, look, first = CHARACTERS) {
  const node = make("span", look, text.slice(0, first));
  let shown = first;
  if (text.length > shown) {
    const more = button("more", () => {
      more.before(document.createTextNode(""), make("span", "", text.slice(shown, shown + MORE)));
      shown += MORE;
      label();
    });
    const label = () => {
      const rest = text.length - shown;
      if (rest <= 0) more.remove();
      else more.replaceChildren(`… ${rest.toLocaleString("en")} more characters`);
    };
    label();
    node.append(more);
  }
  return node;
}

function leaf(node) {
  const look = node.text[0] === "\"" ? "text" : "other";
  return long(node.text, look);
}

function children(node, depth, from) {
  const parts = [];
  const until = Math.min(from + CHILDREN, node.children.length);
  for (let at = from; at < until; at += 1) {
    parts.push(indent(depth + 1), value(node.children[at], depth + 1), at + 1 < node.children.length ? ",\n" : "\n");
  }
  const rest = node.children.length - until;
  if (rest > 0) {
    const more = button("more", () => more.replaceWith(...children(node, depth, until)), `… ${rest.toLocaleString("en")} more`);
    parts.push(indent(depth + 1), more, "\n");
  }
  return parts.map((part) => (part.nodeType ? part : document.createTextNode(part)));
}

function container(node, depth) {
  const close = node.open === "{" ? "}" : "]";
  if (!node.children.length) return make("span", "", node.open + close);
  const box = make("span", "");
  let isOpen = depth < OPEN_LEVELS || node.lines <= FOLD;
  if (depth === 0 && node.children.length <= CHILDREN) isOpen = true;
  const toggle = button("fold", () => { isOpen = !isOpen; fill(); });
  const fill = () => {
    toggle.setAttribute("aria-expanded", String(isOpen));
    toggle.setAttribute("aria-label", `${isOpen ? "fold" : "unfold"} ${summary(node)}`);
    toggle.replaceChildren(isOpen ? "▾" : "▸");
    if (isOpen) box.replaceChildren(toggle, node.open, "\n", ...children(node, depth, 0), indent(depth), close);
    else box.replaceChildren(toggle, node.open, make("span", "soft", ` ${summary(node)} `), close);
  };
  fill();
  return box;
}

function value(node, depth) {
  const inner = node.open ? container(node, depth) : leaf(node);
  if (node.name === null) return inner;
  return make("span", "", make("span", "name", node.name.slice(0, CHARACTERS)), ": ", inner);
}

// A block of what was said: laid out where it is JSON.
export function said(text) {
  const block = make("pre", "");
  const root = tree(text);
  block.append(root ? value(root, 0) : long(text, "", 20000));
  return block;
}
