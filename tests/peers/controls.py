#!/usr/bin/env python3
"""Positive controls: what real software is known to do wrong is found while it is recorded, and nothing else is.

    controls.py [NAME...]     NAME picks the sessions whose name contains it

Each session runs through `record --check --all --hang-after 60s`. The codes of its findings must be exactly those below, from
the tape, and again when the tape is judged from disk. $TAPEWRIGHT_PEERS_KEEP keeps the files.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import common
import control_sessions as sessions
import servers

WORKERS = 3

# name -> codes that must be found, and those that may be: what depends on who is quicker.
EVERYTHING = {"INV-039", "INV-045"}  # goes on with what was cancelled; unknown tools are results
FASTMCP = {"INV-030", "INV-039", "INV-045", "INV-046"}  # logs without the capability, answers what was cancelled, code 0
# These clients of ours ask for more than the server declares.
ASKS_TOO_MUCH = {"INV-027"}
# A process that has to be ended, and how long a loaded machine takes to end one.
SLOW_TO_END = {"INV-026"}
STDIO = {
    "ts1/everything": (EVERYTHING, SLOW_TO_END),
    "py/everything": (EVERYTHING, SLOW_TO_END),
    "py2/everything": (EVERYTHING, SLOW_TO_END),
    "ts2-legacy/everything": (EVERYTHING, SLOW_TO_END),
    # A probe in a process of its own: no INV-001.
    "ts2-auto/everything": (EVERYTHING, SLOW_TO_END),
    "ts1/fastmcp": (FASTMCP | ASKS_TOO_MUCH, SLOW_TO_END),
    "py/fastmcp": (FASTMCP | ASKS_TOO_MUCH, SLOW_TO_END),
    "ts2-auto/modern": (set(), SLOW_TO_END),
    "ts2-pin/modern": (set(), SLOW_TO_END),
    "py2/modern": (set(), SLOW_TO_END),
    "raw/everything": ({"INV-026"}, set()),
    "raw/fastmcp": ({"INV-007", "INV-030", "INV-046"}, SLOW_TO_END),
    # It saves for 1.5 s after the end of its input.
    "raw/saves": (set(), set()),
    "ts1/saves": (set(), set()),
    "py/saves": (set(), set()),
    "raw/late-after-cancel": (set(), set()),
}
HTTP = {
    "ts1/everything": ({"INV-045", "INV-065"}, {"INV-039"}),
    "py/everything": ({"INV-045"}, {"INV-039"}),
    "ts2-auto/everything": ({"INV-045"}, {"INV-039"}),
    "ts2-pin/modern": (set(), set()),
    "py/fastmcp": (FASTMCP | ASKS_TOO_MUCH, set()),
    "raw/everything": ({"INV-056", "INV-072"}, set()),
    # HTTP+SSE, the transport of 2024-11-05.
    "ts1/everything-sse": ({"INV-045"}, {"INV-039"}),
    "py/everything-sse": ({"INV-045"}, {"INV-039"}),
    "ts1/fastmcp-sse": (FASTMCP | ASKS_TOO_MUCH, set()),
    "py/fastmcp-sse": (FASTMCP | ASKS_TOO_MUCH, set()),
    # A server that mints no session id.
    "ts2-legacy/modern": (set(), set()),
    "fastmcp-list/modern": (set(), set()),
    # A GET refused with 405 or 404, a DELETE with 400, an OAuth error.
    **{f"{client}/{server}": (set(), set()) for client in ("ts1", "py") for server in servers.TERSE},
    # A call 150 ms before DELETE.
    "hasty/everything": (set(), set()),
    "hasty/fastmcp": (set(), set()),
}
# A client on stdio in front of a server over HTTP.
TO_HTTP = {
    "ts1/everything": (EVERYTHING, set()),
    "py/everything": (EVERYTHING, set()),
    "ts1/fastmcp": (FASTMCP | ASKS_TOO_MUCH, set()),
    "py/fastmcp": (FASTMCP | ASKS_TOO_MUCH, set()),
    "ts1/everything-sse": (EVERYTHING, set()),
    "py/everything-sse": (EVERYTHING, set()),
    "ts1/fastmcp-sse": (FASTMCP | ASKS_TOO_MUCH, set()),
    "py/fastmcp-sse": (FASTMCP | ASKS_TOO_MUCH, set()),
    **{f"{client}/{server}": (set(), set()) for client in ("ts1", "py") for server in servers.TERSE},
}
# Clients over HTTP in front of a command.
TO_STDIO = {
    "ts1/everything": (EVERYTHING, SLOW_TO_END),
    "py/everything": (EVERYTHING, SLOW_TO_END),
    "ts1/fastmcp": (FASTMCP | ASKS_TOO_MUCH, SLOW_TO_END),
    "py/fastmcp": (FASTMCP | ASKS_TOO_MUCH, SLOW_TO_END),
    "ts1/everything-sse": (EVERYTHING, SLOW_TO_END),
    "py/everything-sse": (EVERYTHING, SLOW_TO_END),
    "ts1/fastmcp-sse": (FASTMCP | ASKS_TOO_MUCH, SLOW_TO_END),
    "py/fastmcp-sse": (FASTMCP | ASKS_TOO_MUCH, SLOW_TO_END),
    "hasty/everything": (set(), SLOW_TO_END),
    "hasty/fastmcp": (set(), SLOW_TO_END),
}


def findings(tape):
    """The codes on a tape, and the whole findings."""
    found = []
    for line in tape.read_bytes().splitlines():
        finding = json.loads(line).get("finding")
        if finding and finding["status"] != "race":
            found.append(finding)
    return sorted({one["code"] for one in found}), found


def from_disk(tape):
    """The codes that judging the tape finds."""
    judged = subprocess.run(
        [str(common.TAPEWRIGHT), "compliance", "invariants", "--all", "--format", "json", "--capture", str(tape)],
        capture_output=True,
        check=False,
    )
    outcomes = [outcome for server in json.loads(judged.stdout)["servers"] for outcome in server["outcomes"]]
    return sorted({one["id"] for one in outcomes if any(f["status"] == "fail" for f in one["findings"])})


def judge(report, name, expected, tapes):
    must, may = expected
    codes, found = set(), []
    if not tapes:
        return report.fail(f"{name} is recorded", "there is no tape")
    for tape in tapes:
        live, details = findings(tape)
        disk = from_disk(tape)
        if live != disk:
            return report.fail(f"{name} is judged alike", f"live {live}, from disk {disk}")
        codes.update(live)
        found += details
    missing, surplus = sorted(must - codes), sorted(codes - must - may)
    told = [f"{one['code']} {one['side']}: {one['detail']}" for one in found if one["code"] in surplus]
    wrong = [f"not found: {missing}"] if missing else []
    wrong += [f"found as well: {told[:5]}"] if surplus else []
    report.check(f"{name} breaks {', '.join(sorted(must)) or 'nothing'}", "; ".join(wrong))


# name -> its cells, and how one of them is run.
KINDS = {
    "stdio": (STDIO, sessions.stdio),
    "http": (HTTP, sessions.through_gateway),
    "to-http": (TO_HTTP, sessions.to_http),
    "to-stdio": (TO_STDIO, sessions.to_stdio),
}


def main():
    wanted = sys.argv[1:]
    chosen = lambda kind, name: not wanted or any(word in f"{kind} {name}" for word in wanted)
    common.require(common.TAPEWRIGHT, common.PYTHON, common.EVERYTHING[1])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-controls-"))
    report, running = common.Report(), servers.Servers(folder)

    def one(kind, name):
        place = folder / kind / name.replace("/", "-")
        cells, run_cell = KINDS[kind]
        try:
            judge(report, f"{kind} {name}", cells[name], run_cell(name, place, running))
        except Exception as problem:  # a cell that breaks must not hide the others
            report.fail(f"{kind} {name} runs", repr(problem)[:400])

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        cells = [(kind, name) for kind, (names, _) in KINDS.items() for name in names if chosen(kind, name)]
        list(pool.map(lambda cell: one(*cell), cells))
    running.close()
    if os.environ.get("TAPEWRIGHT_PEERS_KEEP"):
        print(f"files are in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
