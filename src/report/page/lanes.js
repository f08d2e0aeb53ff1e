// What happened beside the exchanges, in the time of the one that is chosen: notifications, progress, cancellations,
// standard error.
import { button, clock, line, make, put, time } from "./text.js";
import { colours, paper } from "./overview.js";
import { groupOf, named } from "./row.js";

const LISTED = 200;
const LANES = [["progress", ["progress"]], ["messages", ["notification", "cancellation", "late", "orphan"]],
  ["stderr", ["stderr", "noise"]], ["faults", ["fault", "gap"]]];
const LANE = 13;
const LABEL = 62;
const DRAWN = 5000;

const laneOf = (row) => LANES.findIndex(([, kinds]) => kinds.includes(row.kind));

function draw(canvas, found, { from, to }) {
  canvas.style.height = `${LANES.length * LANE + 2}px`;
  const { pen, width } = paper(canvas);
  const [ink, rule, ...fills] = colours("--soft", "--line", "--bar", "--note", "--stderr", "--bad");
  pen.font = "10px system-ui, sans-serif";
  pen.textBaseline = "middle";
  LANES.forEach(([name], lane) => {
    pen.fillStyle = ink;
    pen.fillText(name, 0, lane * LANE + LANE / 2 + 1);
    pen.fillStyle = rule;
    pen.fillRect(LABEL, lane * LANE + LANE / 2, width - LABEL, 1);
  });
  for (const row of found) {
    const lane = laneOf(row);
    if (lane < 0) continue;
    const place = ((row.at_ms ?? 0) - from) / Math.max(to - from, 0.001);
    pen.fillStyle = fills[lane];
    pen.fillRect(LABEL + place * (width - LABEL - 3), lane * LANE + 3, 3, LANE - 5);
  }
}

// The longest message that is looked into.
const LOOKED_INTO = 20000;

// What a notification says in a few words, where what was said is at hand.
export function gist({ message }) {
  if (!message || message.length > LOOKED_INTO) return "";
  try {
    const { progress, total, message: words, level, data, reason } = JSON.parse(message).params || {};
    const done = progress === undefined ? "" : `${progress}${total === undefined ? "" : ` of ${total}`}`;
    const told = [done, level, words ?? data ?? reason].filter((part) => part !== undefined && part !== "");
    return told.map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" ");
  } catch { return ""; }
}

function item(row, from, pick) {
  const [method, about] = named(row);
  const told = gist(row);
  const kind = row.kind === "notification" ? "" : row.kind;
  const plain = [about && row.kind !== "stderr" ? method : "", about || method].filter(Boolean).join(" ");
  const what = row.kind === "progress" && told ? told : [plain.replace(/^notifications\//, ""), told].filter(Boolean).join(": ");
  return button(`item ${row.kind}`, () => pick(row), make("span", "when", row.at_ms == null ? "" : `+${time(row.at_ms - from) || "0"}`),
    make("span", "kind", kind), make("span", "what", line(what)));
}

// Shows the lanes of a window, of the group of the row that it is of; of all there is where none is chosen.
export function lanes({ head, canvas, list }, model, row, chosen, pick) {
  const seen = chosen || model.span;
  const { found, count } = model.beside(seen.from, seen.to, row && chosen ? groupOf(row) : undefined, DRAWN);
  const about = chosen ? `${clock(seen.from)} – ${clock(seen.to)}` : "all the time";
  const few = count > LISTED ? `, the first ${LISTED} of ${count} lines` : count ? `, ${count} line${count === 1 ? "" : "s"}` : "";
  put(head, `Beside it: ${about}${few}`);
  draw(canvas, found, seen);
  const items = found.slice(0, LISTED).map((one) => item(one, seen.from, pick));
  list.replaceChildren(...(items.length ? items : [make("p", "soft", "nothing")]));
}
