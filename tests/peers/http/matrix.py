#!/usr/bin/env python3
"""Real HTTP clients against real HTTP servers, direct and through the recorder.

    matrix.py [--direct] [NAME...]     NAME picks the cells whose name contains it

Every cell is run direct and in each of its ways through the recorder; a byte tee stands on either side of it. The
transcripts must be equal, what passed in front must be what passed behind (heads, bodies, statuses), and the tape and
the cassette must hold every message that the tee behind saw. What was recorded through the reverse gateway is then replayed
to the same client with no server: the transcript must be the same again, and no request may be missed.

A difference is believed only when the peers themselves are steady: the client is then run direct twice more, and what
differs between those runs is the peers' own. --direct runs only that: it shows how steady the rig is.
$TAPEWRIGHT_PEERS_OPTIONS are further options for `record`; with $TAPEWRIGHT_PEERS_KEEP set the files are kept.
"""

import concurrent.futures
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import common
from clients import CELLS, FASTMCP_CLI, NODE_22, command, through_proxy
from gateway import Gateway, Replay
from relay import Relay
from servers import Servers, endpoint, plain_environment
from tapes import HttpTape, cassette_against, sides_against, tape_against
from wire import exchanges

DEADLINE = 180  # seconds for one run of one client: far more than any needs
WORKERS = int(os.environ.get("TAPEWRIGHT_PEERS_WORKERS", "6"))  # sessions mostly wait for timers
ADDRESS = re.compile(r"\b(localhost|127\.0\.0\.1):\d+")
LOST = re.compile(r'no [\w/]+ within \d+ s|"do": ?"await".*TimeoutError')
NOT_REPLAYED = {}  # cells, and why their recording cannot be played to the same client
WAYS = {"reverse": [], "forward": [], "written": ["--durability", "written"]}


class Cell:
    def __init__(self, client, server, ways, folder, running, report):
        self.client, self.server, self.ways = client, server, ways
        self.name, self.runs = f"{client}/{server}", 0
        self.cassette = None  # of the reverse gateway, when it is the only one
        self.folder, self.running, self.report = folder / self.name.replace("/", "-"), running, report

    def run(self, direct_only):
        try:
            self.folder.mkdir(parents=True)
            with self.running.for_cell(self.server, self.folder) as self.running:
                self.compare(direct_only)
        except subprocess.TimeoutExpired as late:
            self.report.fail(f"{self.name} runs", f"not done after {late.timeout} s")
        except Exception as problem:  # a cell that breaks must not hide the others
            self.report.fail(f"{self.name} runs", f"{type(problem).__name__}: {problem}")

    def compare(self, direct_only):
        first = self.steady(self.direct)
        if first.status != 0:
            self.report.fail(f"{self.name} direct", f"exit {first.status}: {first.stderr[-600:]!r}")
            return
        self.report.ok(f"{self.name} direct ({len(first.lines)} lines, {first.took:.1f} s)")
        if direct_only:
            again = self.steady(self.direct)
            self.report.check(f"{self.name} direct twice", difference(first, again))
            return
        for way in self.ways:
            self.through(way, [first])
        if self.cassette and self.name not in NOT_REPLAYED:
            self.replayed([first])

    def through(self, way, direct):
        name = f"{self.name} {way}"
        seen = self.steady(lambda: self.once_through(name, way))
        why = difference(direct[0], seen)
        while why and len(direct) < 3:
            direct.append(self.direct())
        if why and any(difference(one, other) for one in direct for other in direct):
            # The peers differ from themselves: one of the transcripts that they can have will do.
            print(f"   {self.name}: not steady by itself: {difference(direct[0], direct[-1])}")
            for _attempt in range(3):
                why = next((None for one in direct if not difference(one, seen)), why)
                if why is None:
                    break
                seen = self.once_through(f"{name} again", way)
                why = difference(direct[0], seen)
        self.report.check(f"{name}: the same transcript ({seen.took:.1f} s)", why)

    def replayed(self, direct):
        """The same client with the recording in the server's place: no server runs."""
        name = f"{self.name} replayed"
        seen = self.once_replayed(name)
        why = difference(direct[0], seen)
        while why and len(direct) < 3:
            direct.append(self.direct())
            why = next((None for one in direct if not difference(one, seen)), why)
        self.report.check(f"{name}: the same transcript ({seen.took:.1f} s)", why)

    def once_replayed(self, name):
        folder = self.folder / "replayed"
        replay = Replay(folder, self.cassette)
        try:
            seen = self.transcript(replay.port)
        finally:
            end = replay.close()
        (folder / "transcript").write_text("\n".join(seen.lines), "utf-8")
        self.report.check(f"{name}: ends well", end)
        missed = replay.missed()
        self.report.check(f"{name}: nothing is missed", missed and f"{len(missed)} requests: {str(missed)[:600]}")
        return seen

    def once_through(self, name, way):
        """One run through the recorder, between two tees; what they and the tape say is checked at once."""
        self.runs += 1
        folder = self.folder / f"{way}-{self.runs}"
        behind = Relay(self.running.port(self.server))
        url = None if way == "forward" else f"http://127.0.0.1:{behind.port}{endpoint(self.server)}"
        gateway = Gateway(folder, url, WAYS[way])
        front = Relay(gateway.port)
        try:
            if way == "forward":
                seen = self.transcript(behind.port, through_proxy(front.port))
            else:
                seen = self.transcript(front.port)
        finally:
            end = gateway.close()
        outer, inner = exchanges(front.close()), exchanges(behind.close())
        (folder / "transcript").write_text("\n".join(seen.lines), "utf-8")
        self.report.check(f"{name}: ends well", end)
        # Node opens a tunnel for plain HTTP, too; what is in it is compared all the same.
        outer = [exchange for exchange in outer if exchange.method != "CONNECT"]
        self.report.check(f"{name}: the same in front and behind", sides_against(outer, inner))
        tapes = gateway.tapes()
        if len(tapes) != 1:
            self.report.fail(f"{name}: one tape", f"{sorted(path.name for path in folder.iterdir())}")
            return seen
        cassettes = gateway.cassettes()
        self.judge(name, HttpTape(tapes[0]), cassettes, inner)
        if way == "reverse" and len(cassettes) == 1:
            self.cassette = cassettes[0]
        return seen

    def judge(self, name, tape, cassettes, inner):
        wrong = tape.wrong[0] if tape.wrong else None
        self.report.check(f"{name}: the tape holds every message", wrong or tape_against(tape, inner))
        complete = tape.footer is not None and tape.footer.get("complete") is True
        self.report.check(f"{name}: the tape is complete", not complete and f"its footer: {tape.footer}")
        self.report.check(f"{name}: the tape tells it in order", tape.out_of_order())
        self.report.check(f"{name}: the cassette holds every message", cassette_against(cassettes, inner))

    def direct(self):
        return self.transcript(self.running.port(self.server))

    def transcript(self, port, env=None):
        return Transcript(command(self.client, self.server, port), self.folder, {**plain_environment(), **(env or {})})

    def steady(self, attempt):
        """A run in which nothing was lost: what a server says before the client's GET stream is open, it says to nobody,
        and a client that waits for it waits in vain. That happens with nobody in between, too."""
        for _ in range(3):
            seen = attempt()
            if not any(LOST.search(line) for line in seen.lines):
                break
            print(f"   {self.name}: something was lost before the stream was open; again")
        return seen


class Transcript:
    def __init__(self, argv, folder, env):
        started = time.monotonic()
        run = subprocess.run(
            argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE, check=False
        )
        self.took = time.monotonic() - started
        text = ADDRESS.sub("<address>", run.stdout.decode("utf-8", "backslashreplace"))
        # A recorded session's id is hidden; where the server says it in a text, a replay says the placeholder.
        text = re.sub(r"<REDACTED:session-id#\d+>", "<uuid>", text)
        lines = (normal(line) for line in text.splitlines())
        self.lines = [line for line in lines if line is not None]
        self.status, self.stderr = run.returncode, run.stderr


def normal(line):
    """Without what differs from one run to the next with nobody in between."""
    # A server that says it before the client's GET stream is open says it to nobody: how often it arrives is a race.
    if re.match(r'\{"arrived": ?"notifications/\w+/list_changed"', line):
        return None
    # The log of mcp-remote, with its process number and in the order of its tasks.
    return "stderr" if line.startswith('{"stderr":') else line


def difference(one, other):
    if (one.lines, one.status) == (other.lines, other.status):
        return None
    delta = difflib.unified_diff([*one.lines, f"exit {one.status}"], [*other.lines, f"exit {other.status}"],
                                 "direct", "through", lineterm="", n=0)
    delta = list(delta)
    return " | ".join(line[:400] for line in delta[2:10]) + f" ({len(delta)} lines); stderr {other.stderr[-300:]!r}"


def main():
    arguments = sys.argv[1:]
    direct_only = "--direct" in arguments
    wanted = [argument for argument in arguments if not argument.startswith("--")]
    common.require(common.PYTHON, common.PYTHON_2, NODE_22, FASTMCP_CLI[0], *([] if direct_only else [common.TAPEWRIGHT]))
    cells = [cell for cell in CELLS if not wanted or any(part in "/".join(cell[:2]) for part in wanted)]
    report, started = common.Report(), time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-http-"))
    running = Servers(folder)
    try:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda cell: Cell(*cell, folder, running, report).run(direct_only), cells))
    finally:
        running.close()
        if os.environ.get("TAPEWRIGHT_PEERS_KEEP"):
            print(f"   files kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"   {len(cells)} cells in {time.monotonic() - started:.0f} s")
    sys.exit(report.close())


if __name__ == "__main__":
    main()
