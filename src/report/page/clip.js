// Copies a row: buttons in its detail, and keys.
import { asJson, asStep, replayCommand, showCommand } from "./copy.js";
import { button, by, make, put } from "./text.js";
import { isWhole } from "./row.js";

const SAID_MS = 4000;
let timer = 0;

// Tells something for a moment, also to who does not see it.
export function tell(text) {
  put(by("told"), text);
  by("told").classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => by("told").classList.remove("shown"), SAID_MS);
}

// Into the clipboard; where the browser does not allow it, into a field to copy from.
async function keep(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    tell(`Copied: ${what}`);
  } catch {
    by("copied").value = text;
    by("copied-what").textContent = what;
    by("copy-dialog").showModal();
    by("copied").select();
  }
}

const body = async (row, source, head) => (head.bodies === false ? null : source.body(row));

export const WAYS = {
  async json(row, source, head) { await keep(asJson(row, await body(row, source, head)), "JSON"); },
  async step(row, source, head) {
    const text = asStep(row, await body(row, source, head), head);
    if (text === null) tell("Only calls of tools, reads of resources and prompts that were answered can be a step of a suite.");
    else await keep(text, "a step of a suite");
  },
  async replay(row, source, head) { await keep(replayCommand(row, head), replayCommand(row, head)); },
  async show(row, source, head) { await keep(showCommand(row, head), showCommand(row, head)); },
};

export const copy = (way, row, source, head) => WAYS[way](row, source, head).catch((error) => tell(`Not copied: ${error.message}`));

const NAMES = { json: ["JSON", "y"], step: ["suite step", "t"], replay: ["replay", "r"], show: ["show", "w"] };

export function copies(row, source, head) {
  const box = make("div", "copies", make("span", "soft", "copy as"));
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Copy as");
  for (const [way, [name, key]] of Object.entries(NAMES)) {
    if (!isWhole(row) && way === "step") continue;
    const node = button("", () => copy(way, row, source, head), name);
    node.title = `key ${key}`;
    box.append(node);
  }
  return box;
}
