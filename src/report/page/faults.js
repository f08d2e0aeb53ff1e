// Faults with their counts, and switches where a recorder can be told.
import { tell } from "./clip.js";
import { panel } from "./panels.js";
import { button, line, make } from "./text.js";

export function faults(node, list, source, mayBeSwitched) {
  const items = (list || []).slice(0, 200).map((fault) => {
    const isOn = fault.enabled !== false;
    const counts = make("span", "soft more", `met ${fault.met}, fired ${fault.fired}${fault.holds ? `, holds ${fault.holds}` : ""}`);
    const what = make("span", "what", make("b", "", line(fault.name)), make("span", "soft", ` ${line(fault.spec || fault.kind)}`));
    what.title = line(fault.spec || fault.kind);
    if (!mayBeSwitched) return make("div", "choice fault", what, counts);
    const one = button("choice fault", () => turn(one, fault.name, !isOn, source), what, make("i", "switch"), counts);
    one.setAttribute("role", "switch");
    one.setAttribute("aria-checked", String(isOn));
    one.setAttribute("aria-label", `fault ${line(fault.name)}`);
    return one;
  });
  panel(node, "Faults", items.length, items);
}

async function turn(node, name, isOn, source) {
  node.disabled = true;
  try {
    await source.setFault(name, isOn);
    node.setAttribute("aria-checked", String(isOn));
    tell(`Fault ${line(name)} is ${isOn ? "on" : "off"}`);
  } catch (error) { tell(`Not switched: ${line(error.message)}`); }
  node.disabled = false;
}
