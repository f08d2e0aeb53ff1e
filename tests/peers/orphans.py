#!/usr/bin/env python3
"""Does anything stay behind? Real clients x servers x ways to end, with the recorder and, for comparison, without.

    orphans.py [--recorder-only] [--stand-in] [TEXT...]     TEXT picks the cells whose name contains it

Every process below the client carries a variable of its cell in its environment, recorder included; /proc is scanned
for it. With the recorder the last of them must be gone within $TAPEWRIGHT_PEERS_LIMIT seconds (5) of the event; the
runs without it are shown for comparison and never fail. Only processes that carry a mark, and clients started here,
are ever signalled. --stand-in puts a byte tee in the recorder's place, to try the rig out.
"""

import concurrent.futures
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

import common

LIMIT = float(os.environ.get("TAPEWRIGHT_PEERS_LIMIT") or 5)
WATCH = LIMIT + 1  # seconds after the event until what is left counts as staying for good
START = 90  # seconds a client may take to have its first answer
WORKERS = 8
MARK = "TAPEWRIGHT_PEER_MARK"

CLIENTS = {
    "ts": lambda stage, mark: [*common.TS_CLIENT, "--hold", stage, "--env", mark],
    "py": lambda stage, mark: [*common.PY_CLIENT, "--hold", stage, "--env", mark],
    "raw": lambda stage, mark: [*common.RAW_CLIENT, stage, "--env", mark],
}
SERVERS = {
    "everything": common.EVERYTHING,
    "npx": common.NPX_EVERYTHING,
    "stubborn": common.STUBBORN,
    "forker": ["sh", "-c", "sleep 1000 & exec cat"],
}
# name -> (how far the session has got, what happens)
EVENTS = {
    "client closes": ("idle", "close"),
    "client closes mid-call": ("busy", "close"),
    "client closes after a cancel": ("cancelled", "close"),
    "client KILLed": ("idle", "kill client"),
    "client KILLed mid-call": ("busy", "kill client"),
    "client KILLed after a cancel": ("cancelled", "kill client"),
    "proxy TERMed": ("idle", "term"),
    "proxy TERMed mid-call": ("busy", "term"),
    "proxy KILLed": ("idle", "kill"),
}


class Scanner(threading.Thread):
    """Which processes carry which mark, looked up again and again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.turns, self.marked = 0, {}
        self.turned = threading.Condition()

    def run(self):
        prefix = f"{MARK}=".encode()
        while True:
            marked = {}
            for entry in os.listdir("/proc"):
                if not entry.isdigit():
                    continue
                try:
                    with open(f"/proc/{entry}/environ", "rb") as file:
                        data = file.read()
                except OSError:
                    continue
                if prefix in data:
                    value = next(v for v in data.split(b"\0") if v.startswith(prefix))
                    marked.setdefault(value[len(prefix) :].decode(), []).append(int(entry))
            with self.turned:
                self.turns, self.marked = self.turns + 1, marked
                self.turned.notify_all()
            time.sleep(0.03)

    def now(self, mark):
        """The pids of a scan that began after this call."""
        with self.turned:
            wanted = self.turns + 2
            self.turned.wait_for(lambda: self.turns >= wanted)
            return self.marked.get(mark, [])


def about(pid):
    """The parent of a process and what it runs, or nothing when it has gone."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").replace("\0", " ").strip()
    except OSError:
        return None
    parent = int(stat.rpartition(")")[2].split()[1])
    words = [os.path.basename(word) for word in command.split(" ")]
    return parent, " ".join(words)[:48]


class Cell:
    def __init__(self, client, server, event, recorded):
        self.client, self.server, self.event, self.recorded = client, server, event, recorded
        self.name = f"{client}/{server}, {event}"
        self.seconds = self.problem = None
        self.left, self.tape = [], ""

    def run(self, scanner, folder, stand_in):
        folder = folder / uuid.uuid4().hex
        folder.mkdir()
        mark = folder.name
        process = None
        try:
            process = subprocess.Popen(
                [*CLIENTS[self.client](EVENTS[self.event][0], f"{MARK}={mark}"), "--", *self.command(folder, stand_in)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=open(folder / "stderr", "wb"),
                cwd=folder,
                start_new_session=True,
            )
            self.end_it(process, scanner, mark)
            self.watch(scanner, mark)
            self.tape = self.judge_tape(folder)
        except Exception as problem:  # a cell that breaks must not hide the others
            errors = (folder / "stderr").read_bytes()[-300:] if (folder / "stderr").exists() else b""
            self.problem = f"{type(problem).__name__}: {problem}; stderr {errors!r}"
        finally:
            if process:
                process.kill()
                process.wait()
            for pid in scanner.now(mark):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        return self

    def command(self, folder, stand_in):
        if not self.recorded:
            return SERVERS[self.server]
        if stand_in:
            return [*common.BYTETEE, str(folder / "tee"), "--", *SERVERS[self.server]]
        return [str(common.TAPEWRIGHT), "record", "-o", str(folder / "out.json"), "--", *SERVERS[self.server]]

    def end_it(self, process, scanner, mark):
        ready, _, _ = select.select([process.stdout], [], [], START)
        line = process.stdout.readline() if ready else b""
        if b"ready" not in line:
            raise RuntimeError(f"no first answer, but {line!r}")
        marked = scanner.now(mark)
        direct = [pid for pid in marked if (about(pid) or (None,))[0] == process.pid]
        if len(direct) != 1:
            raise RuntimeError(f"which of {marked} is the client's child? {direct}")
        self.began = len(marked)
        self.at = time.monotonic()
        match EVENTS[self.event][1]:
            case "close":
                process.stdin.write(b"close\n")
                process.stdin.flush()
            case "kill client":
                process.kill()
            case "term":
                os.kill(direct[0], signal.SIGTERM)
            case "kill":
                os.kill(direct[0], signal.SIGKILL)

    def watch(self, scanner, mark):
        while True:
            left = scanner.now(mark)
            elapsed = time.monotonic() - self.at
            if not left:
                self.seconds = elapsed
                return
            if elapsed > WATCH:
                self.left = [text for pid in left if (known := about(pid)) for text in [known[1]]]
                return

    def judge_tape(self, folder):
        path = folder / "out.tape.jsonl"
        if not path.exists():
            return "" if not self.recorded else "no tape"
        lines = path.read_bytes().split(b"\n")
        try:
            last = json.loads(lines[-2]) if len(lines) > 1 else {}
        except ValueError:
            return "tape broken"
        return "tape complete" if last.get("end", {}).get("complete") else "tape readable"

    @property
    def verdict(self):
        if self.problem:
            return "error"
        return f"{self.seconds:.1f} s" if self.seconds is not None else f"LEFT {len(self.left)}"


def table(cells):
    found = {(cell.client, cell.server, cell.event, cell.recorded): cell for cell in cells}
    columns = [(client, recorded) for client in CLIENTS for recorded in (True, False)]
    rows = [["server", "event", *(f"{client} {'with' if recorded else 'without'}" for client, recorded in columns)]]
    for server in SERVERS:
        for event in EVENTS:
            row = [found.get((client, server, event, recorded)) for client, recorded in columns]
            if any(row):
                rows.append([server, event, *(cell.verdict if cell else "-" for cell in row)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("   " + " | ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def main():
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    wanted = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    stand_in = "--stand-in" in options
    common.require(common.PYTHON, common.PACKAGES / "sdk", *([] if stand_in else [common.TAPEWRIGHT]))
    cells = [
        Cell(client, server, event, recorded)
        for recorded in ((True,) if "--recorder-only" in options else (True, False))
        for event in EVENTS
        for server in SERVERS
        for client in CLIENTS
        # How far a session has got makes no difference without the recorder.
        if recorded or EVENTS[event][0] == "idle"
    ]
    cells = [cell for cell in cells if not wanted or any(text in cell.name for text in wanted)]
    scanner, report, started = Scanner(), common.Report(), time.monotonic()
    scanner.start()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-orphans-"))
    try:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for cell in pool.map(lambda cell: cell.run(scanner, folder, stand_in), cells):
                if not cell.recorded:
                    continue
                if cell.problem:
                    report.fail(f"orphans {cell.name}", cell.problem)
                elif cell.seconds is None:
                    report.fail(f"orphans {cell.name}", f"after {WATCH:.1f} s there is still {cell.left} ({cell.tape})")
                elif cell.seconds > LIMIT:
                    report.fail(f"orphans {cell.name}", f"the last of {cell.began} went after {cell.seconds:.1f} s")
                else:
                    report.ok(f"orphans {cell.name}: {cell.began} gone after {cell.seconds:.1f} s, {cell.tape}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n   seconds from the event to the last process gone; LEFT n: n processes still there after {WATCH:.1f} s")
    table(cells)
    for cell in cells:
        if not cell.recorded and cell.problem:
            print(f"   without the recorder, {cell.name}: {cell.problem}")
    print(f"   {len(cells)} cells in {time.monotonic() - started:.0f} s")
    sys.exit(report.close())


if __name__ == "__main__":
    main()
