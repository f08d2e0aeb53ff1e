#!/usr/bin/env python3
"""Real clients and servers on either side of a bridge: `record --upstream URL` and `record --listen ADDR -- COMMAND`.

    bridges.py [NAME...]     NAME picks the cells whose name contains it

The client must see what it sees with no bridge, each line as it is over HTTP or over stdio, and the tape must be complete.
"""

import concurrent.futures
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import common
from clients import BRIDGES, STDIO, command
from gateway import OPTIONS, Gateway
from matrix import LOST, WORKERS, Transcript, difference
from servers import STDIO as COMMANDS
from servers import Servers, endpoint, plain_environment
from tape import Tape


class Bridge:
    def __init__(self, client, server, way, folder, running, report):
        self.client, self.server, self.way = client, server, way
        self.name = f"{client}/{server} bridge {way}"
        self.folder = folder / f"{client}-{server}-{way}"
        self.running, self.report, self.runs = running, report, 0

    def run(self):
        try:
            self.folder.mkdir(parents=True)
            with self.running.for_cell(self.server, self.folder) as self.running:
                self.compare()
        except Exception as problem:  # a cell that breaks must not hide the others
            self.report.fail(f"{self.name} runs", f"{type(problem).__name__}: {problem}")

    def compare(self):
        through = self.to_http if self.way == "to-http" else self.to_stdio
        seen = self.alike(through())
        # Only runs with no bridge are repeated: peers differ from themselves now and then.
        alone = [self.alike(self.steady(lambda: self.over_http(self.running.port(self.server))))]
        why = difference(alone[0], seen)
        for again in (self.over_stdio, self.over_http_again, self.over_stdio):
            if not why:
                break
            alone.append(self.alike(again()))
            why = unlike(alone, seen)
        self.report.check(f"{self.name}: the same transcript ({seen.took:.1f} s)", why)

    def alike(self, seen):
        """Without what only stdio has, what a server says of its own environment, and a count that timers
        decide."""
        tools = "get-env|environment"
        apart = re.compile(rf'stderr$|\{{"exit":|.*"tool": ?"({tools})"|\{{"arrived": ?"notifications/tasks/status"')
        seen.lines = [line for line in seen.lines if not apart.match(line)]
        return seen

    def steady(self, attempt):
        for _ in range(3):
            seen = attempt()
            if not any(LOST.search(line) for line in seen.lines):
                break
        return seen

    def over_http_again(self):
        return self.over_http(self.running.port(self.server))

    def over_stdio(self):
        argv = [*STDIO[self.client], "--", *COMMANDS[self.server]]
        return Transcript(argv, self.folder, plain_environment())

    def over_http(self, port):
        return Transcript(command(self.client, self.server, port), self.folder, plain_environment())

    def to_http(self):
        url = f"http://127.0.0.1:{self.running.port(self.server)}{endpoint(self.server)}"
        self.runs += 1
        folder = self.folder / str(self.runs)
        folder.mkdir()
        recorder = [str(common.TAPEWRIGHT), "record", "--upstream", url, "-o", str(folder / "out.json"), *OPTIONS]
        seen = Transcript([*STDIO[self.client], "--", *recorder], self.folder, plain_environment())
        self.judge(folder)
        return seen

    def to_stdio(self):
        self.runs += 1
        gateway = Gateway(self.folder / str(self.runs), command=COMMANDS[self.server])
        try:
            seen = self.over_http(gateway.port)
        finally:
            end = gateway.close()
        self.report.check(f"{self.name}: ends well", end)
        self.judge(gateway.folder)
        return seen

    def judge(self, folder):
        tapes = [Tape(path) for path in sorted(folder.glob("*.tape.jsonl"))]
        wrong = [f"{tape.path.name}: its footer: {tape.footer}" for tape in tapes if not (tape.footer or {}).get("complete")]
        wrong += [f"{tape.path.name}: {tape.wrong[0]}" for tape in tapes if tape.wrong]
        wrong += [] if any(len(tape.lines["to_server"]) > 3 for tape in tapes) else ["it holds no conversation"]
        self.report.check(f"{self.name}: the tape is complete", wrong and wrong[0])


def unlike(alone, seen):
    """What of a transcript none of the runs with no bridge shows in that place: on one side of a bridge is HTTP, on the
    other stdio, and a few lines tell which. Over HTTP the TypeScript SDK takes up the stream of a request that it has
    cancelled, and server-everything then says again what it said on other streams; over stdio it names no session."""
    for place, line in enumerate([*seen.lines, f"exit {seen.status}"]):
        theirs = {line_at(one, place) for one in alone if len(one.lines) == len(seen.lines)}
        if line not in theirs:
            return difference(alone[0], seen)
    return None


def line_at(transcript, place):
    return [*transcript.lines, f"exit {transcript.status}"][place]


def main():
    wanted = sys.argv[1:]
    common.require(common.PYTHON, common.PYTHON_2, common.TAPEWRIGHT)
    cells = [cell for cell in BRIDGES if not wanted or any(part in "/".join(cell) for part in wanted)]
    report, started = common.Report(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tapewright-bridges-", ignore_cleanup_errors=True) as folder:
        running = Servers(pathlib.Path(folder))
        try:
            with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
                list(pool.map(lambda cell: Bridge(*cell, pathlib.Path(folder), running, report).run(), cells))
        finally:
            running.close()
    print(f"   {len(cells)} bridges in {time.monotonic() - started:.0f} s")
    sys.exit(report.close())


if __name__ == "__main__":
    main()
