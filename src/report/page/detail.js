// One row in full: its facts, what was asked and what was answered side by side.
import { cost, fate, guessed, tokensIn } from "./agent.js";
import { copies } from "./clip.js";
import { differences } from "./drift.js";
import { ended, groupOf, isWhole, nameOfGroup, named, seqOf } from "./row.js";
import { button, by, clock, line, make, safe, size, time } from "./text.js";
import { long, said } from "./tree.js";
import { toldSpent } from "./waterfall.js";

function facts(row) {
  const box = make("div", "facts");
  const add = (name, value, look = "") => {
    if (value !== undefined && value !== null && value !== "") box.append(make("span", "", name ? `${name} ` : "", make("b", look, value)));
  };
  const [word, look] = ended(row);
  add("", line(word), look);
  add("id", row.id == null ? null : line(row.id));
  add("", groupOf(row) === 0 ? "" : line(nameOfGroup(groupOf(row))));
  add("event", seqOf(row));
  add("answer", row.answer_seq);
  add("at", row.at_ms == null ? null : clock(row.at_ms));
  add("took", row.waited_ms == null ? null : time(row.waited_ms));
  const parts = toldSpent(row);
  if (parts.includes(",")) add("", parts);
  add("HTTP", row.http_status);
  add("sizes", row.answer_bytes == null ? null : `${size(row.request_bytes)}, ${size(row.answer_bytes)}`);
  if (row.kind === "model") agentFacts(row, add);
  const asked = row.asked_by;
  if (asked) add("asked in", line(`event ${asked.model_call} of ${asked.file}${guessed(asked.how)}`));
  if (row.kind === "exchange" && row.fault) add("fault", line(`${row.fault.name} (${row.fault.kind})`), "bad");
  add("about event", row.about);
  return box;
}

function agentFacts(row, add) {
  add("tokens in", tokensIn(row));
  add("out", row.output_tokens);
  add("cost", cost(row.cost_usd_microcents));
  add("first token after", row.stream && row.first_token_ms !== null ? time(row.first_token_ms) : null);
  for (const used of (row.tool_uses || []).slice(0, 50)) add(`asks for ${line(used.name)}:`, line(fate(used)));
}

function side(title, text, why) {
  const box = make("section", "side", make("h2", "", title));
  box.append(text == null ? make("p", "soft", why) : said(text));
  return box;
}

// What a judge found, with its evidence, which leads to where it stands.
function finding(row, model, pick) {
  const { code, side: whose, severity, status, detail, evidence } = row.finding;
  const box = make("div", "finding-told", make("p", "", long(String(detail ?? ""), "")),
    make("p", "soft", line([severity, status, whose && `of the ${whose}`].filter(Boolean).join(", "))));
  for (const place of (evidence || []).slice(0, 100)) {
    const found = model.at(row.part, place.seq);
    const text = line(`event ${place.seq} ${place.pointer || ""}`);
    box.append(found ? button("link", () => pick(found), text) : make("p", "soft", text));
  }
  box.append(make("p", "soft", "What the rule asks for: ", make("code", "", `tapewright explain ${line(code)}`)));
  return box;
}

function beside(row, body, model, pick) {
  if (row.finding) return [finding(row, model, pick)];
  if (body?.message != null) return [side("message", body.message)];
  if (row.text !== undefined) return [make("pre", "", long(row.text, "", 20000))];
  const head = row.head && (row.head.request || row.head.response || row.head.interim);
  if (head) return [make("pre", "", long((head.fields || []).map(([name, value]) => `${name}: ${value}`).join("\n"), ""))];
  if (row.fault) return [said(JSON.stringify(row.fault))];
  return [];
}

export class Detail {
  #shown = null;
  #source;
  #model;
  #pick;
  // What the head of the recording says.
  head = {};

  constructor(source, model, pick) { [this.#source, this.#model, this.#pick] = [source, model, pick]; }

  // The row that is shown.
  get shown() { return this.#shown; }

  // Shows a row, and what was said as soon as that is there.
  async show(row) {
    this.#shown = row;
    const box = by("detail");
    if (!row) return box.replaceChildren(make("p", "soft", "Nothing is chosen."));
    const [method, about] = named(row);
    const title = make("h1", "", make("span", "", line(about || method)), about && method ? make("span", "soft", ` ${line(method)}`) : null);
    const top = make("div", "top", title, copies(row, this.#source, this.head), facts(row));
    let body = null;
    let why = "nothing";
    const needs = isWhole(row) || ["notification", "progress", "cancellation", "late", "orphan"].includes(row.kind);
    if (needs && this.head.bodies === false) why = "What was said is not shown here: `--page-bodies` shows it.";
    else if (needs) {
      try { body = await this.#source.body(row); } catch (error) { why = safe(error.message); }
    }
    // Somebody has moved on meanwhile.
    if (this.#shown !== row) return undefined;
    const parts = isWhole(row) ? this.#sides(row, body, why) : beside(row, body, this.#model, this.#pick);
    box.replaceChildren(top, ...parts);
    box.scrollTop = 0;
    return undefined;
  }

  #sides(row, body, why) {
    const pending = body && body.answer == null ? "There is no answer." : why;
    const drift = differences(body?.answer, row);
    return [...(drift ? [drift] : []), make("div", "sides", side("request", body?.request, why), side("answer", body?.answer, pending))];
  }
}
