// The whole recording as one strip: how much happened when, what failed, and what is seen of it below.
import { firstWhere } from "./model.js";
import { isBad, isWhole } from "./row.js";

// Colours of the style sheet, which knows whether it is light or dark.
export const colours = (...names) => {
  const style = getComputedStyle(document.documentElement);
  return names.map((name) => style.getPropertyValue(name).trim());
};

// A canvas as fine as the screen is.
export function paper(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = Math.min(devicePixelRatio || 1, 3);
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}

const BAR = 3;

let counted = null;

// Counted anew only where rows have come.
function bins(model, count) {
  if (counted?.version !== model.version || counted.count !== count) {
    counted = { version: model.version, count, found: countAll(model, count) };
  }
  return counted.found;
}

function countAll(model, count) {
  const found = { good: new Uint32Array(count), bad: new Uint32Array(count), beside: new Uint8Array(count), stderr: new Uint8Array(count), finding: new Uint8Array(count) };
  const { from, to } = model.span;
  const length = Math.max(to - from, 0.001);
  for (const row of model.rows) {
    if (row.at_ms == null) continue;
    const place = Math.min(Math.floor(((row.at_ms - from) / length) * count), count - 1);
    if (isWhole(row)) found[isBad(row) ? "bad" : "good"][place] += 1;
    else if (row.kind === "stderr" || row.kind === "finding") found[row.kind][place] = 1;
    else if (row.kind !== "http") found.beside[place] = 1;
  }
  return found;
}

export function overview(canvas, model, scale, chosen) {
  const { pen, width, height } = paper(canvas);
  if (!model.isTimed || width < 10) return;
  const [bar, bad, note, stderr, finding, pick] = colours("--bar", "--bad", "--note", "--stderr", "--odd", "--pick-line");
  const count = Math.max(Math.floor(width / BAR), 1);
  const found = bins(model, count);
  const most = Math.max(...found.good.map((good, at) => good + found.bad[at]), 1);
  const high = height - 15;
  const tall = (number) => (number ? Math.max((Math.log1p(number) / Math.log1p(most)) * (high - 3), 2) : 0);
  for (let at = 0; at < count; at += 1) {
    const [all, failed] = [tall(found.good[at] + found.bad[at]), found.bad[at] ? Math.max(tall(found.bad[at]) / 2, 2) : 0];
    pen.fillStyle = bar;
    pen.fillRect(at * BAR, high - all, BAR - 1, all - failed);
    pen.fillStyle = bad;
    pen.fillRect(at * BAR, high - failed, BAR - 1, failed);
    [["beside", note], ["stderr", stderr], ["finding", finding]].forEach(([name, colour], lane) => {
      if (!found[name][at]) return;
      pen.fillStyle = colour;
      pen.fillRect(at * BAR, high + 2 + lane * 4, BAR - 1, 3);
    });
  }
  marked(pen, model, scale, chosen, { width, height, pick });
}

// What is seen below, and the exchange that is chosen.
function marked(pen, model, scale, chosen, { width, height, pick }) {
  const { from, to } = model.span;
  const place = (ms) => Math.min(Math.max((ms - from) / Math.max(to - from, 0.001), 0), 1) * width;
  pen.strokeStyle = pick;
  pen.fillStyle = pick;
  if (!scale.isWhole) pen.strokeRect(place(scale.from) + 0.5, 0.5, Math.max(place(scale.from + scale.length) - place(scale.from), 3), height - 1);
  if (!chosen) return;
  pen.globalAlpha = 0.25;
  pen.fillRect(place(chosen.from), 0, Math.max(place(chosen.to) - place(chosen.from), 2), height);
  pen.globalAlpha = 1;
  pen.fillRect(place(chosen.from), 0, 1, height);
}

// A click goes to what was asked then, a drag sees that part.
export function watchOverview(canvas, model, goTo, see) {
  let began = null;
  const moment = (event) => {
    const { from, to } = model.span;
    return from + (Math.min(Math.max(event.offsetX, 0), canvas.clientWidth) / Math.max(canvas.clientWidth, 1)) * (to - from);
  };
  canvas.addEventListener("pointerdown", (event) => { began = event; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", (event) => {
    if (!began) return;
    const [from, to] = [moment(began), moment(event)].sort((one, other) => one - other);
    const isDrag = Math.abs(event.offsetX - began.offsetX) > 4;
    began = null;
    if (isDrag) see({ from, to });
    else goTo(model.rows[Math.min(firstWhere(model.rows, (row) => (row.at_ms ?? 0) >= from), model.rows.length - 1)]);
  });
  canvas.addEventListener("dblclick", () => see(null));
}
