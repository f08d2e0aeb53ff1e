// What is told of calls of models, and of the tools that they asked for.

const GUESSES = { order: ", a guess: several fit and are taken in order", name: ", a guess: its arguments are others" };

export const guessed = (how) => GUESSES[how] || "";

export function modelEnded(row) {
  if (row.end === "answered") return [row.finish || "ok", ["stop", "tool use"].includes(row.finish) ? "good" : "odd"];
  if (row.end === "cut_short") return row.waited_ms == null ? ["pending", "odd"] : ["cut short", "bad"];
  if (row.outcome === "still_pending") return ["pending", "odd"];
  return [String(row.error || row.end).slice(0, 100), "bad"];
}

export function cost(microcents) {
  if (microcents === null || microcents === undefined) return "unknown";
  const hundredths = Math.ceil(microcents / 10000);
  return hundredths === 1 ? "at most 0.01 ct" : `${(hundredths / 100).toFixed(hundredths ? 2 : 0)} ct`;
}

// What became of a tool that a model asked for.
export function fate(used) {
  const by = used.by;
  if (by) return `${by.tool} of ${by.server}, event ${by.seq} of ${by.file}${guessed(used.how)}`;
  const words = { elsewhere: "done by the agent, or by a server that is not recorded", never: "never done" };
  return words[used.fate] || "not known";
}

export const tokensIn = (row) => {
  if (row.input_tokens == null) return null;
  return `${row.input_tokens}${row.cache_read_tokens ? ` (${row.cache_read_tokens} cached)` : ""}`;
};
