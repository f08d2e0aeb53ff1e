// The source of a file that `export --as html` has written: what stands in it, as live.js tells what is recorded.
import { driftOf } from "./drift.js";
import { breathe } from "./text.js";

const read = (node) => JSON.parse(node.textContent);

export function file() {
  let isStopped = false;

  // The rows stand in pieces, and between two of them the browser draws.
  async function tell(listener) {
    listener.onHead?.({ bodies: true, faults: false, ...read(document.getElementById("head")) });
    const [drift, gaps] = [[], { count: 0, events: 0, bytes: 0 }];
    let now = 0;
    for (const piece of document.querySelectorAll("script.rows")) {
      const rows = read(piece);
      piece.remove();
      for (const row of rows) {
        now = Math.max(now, (row.at_ms || 0) + (row.waited_ms || 0));
        const drifted = driftOf(row, row.answer);
        if (drifted) drift.push(drifted);
        if (row.kind !== "gap") continue;
        gaps.count += 1;
        gaps.events += row.events || 0;
        gaps.bytes += row.bytes || 0;
      }
      listener.onRows?.(rows);
      const found = rows.filter((row) => row.kind === "finding");
      if (found.length) listener.onFindings?.(found);
      await breathe();
      if (isStopped) return;
    }
    const { last_ms: last, ...ended } = read(document.getElementById("end"));
    const told = { sessions: [], pending: [], hangs: [], faults: [], gaps, drift, ended };
    listener.onState?.({ ...told, now_ms: Math.max(now, last) });
  }

  return {
    kind: "file",
    subscribe(listener) {
      tell(listener);
      return () => { isStopped = true; };
    },
    body: async ({ request, answer, message }) => ({ request, answer, message }),
    setFault: async () => { throw new Error("a file has no faults to switch"); },
  };
}
