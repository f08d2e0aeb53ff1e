#!/usr/bin/env python3
"""Real clients that meet faults: what each does, and that nobody else is harmed.

    run.py [--learn] [NAME...]     NAME picks the cells whose name contains it; --learn writes expected.json anew

A cell is a client, a transport and a fault on the first call that says `two`. What the client did (timeout, retry,
resume, re-initialize, crash) must be what expected.json says of it. Whatever it did, the tape must be whole, complete and say what
was injected, the inspect report must name the hang and its fault, and over HTTP a second client that speaks to the same
gateway meanwhile must not notice anything.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "http")]

import common
from gateway import Gateway
from servers import Servers, plain_environment
from tape import Tape

EXPECTED = HERE / "expected.json"
CLIENTS = {"ts": [common.NODE, str(HERE / "client.mjs")], "py": [common.PYTHON, str(HERE / "client.py")]}
TIMEOUT_MS = "1500"  # of each call, set in the client
MESSAGES = ["one", "two", "two", "three"]
WHICH = "tool=echo /params/arguments/message=two"
FAULTS = {
    "hang": f"hang {WHICH} nth=1",
    "slow": f"slow {WHICH} nth=1 delay_ms=500",
    "wedged": f"wedged {WHICH} nth=1",
    "recover_after": f"recover_after {WHICH} failures=1",
    "reset": f"reset {WHICH} nth=1",
    "404-session": f"http-status {WHICH} nth=1 status=404",
    "garbage": f"garbage {WHICH} nth=1",
}
HANGS = {"hang", "wedged", "recover_after"}
DEADLINE = 120  # seconds for one client: far more than any needs
WORKERS = int(os.environ.get("TAPEWRIGHT_PEERS_WORKERS", "4"))
SLOW = re.compile(r"time?d?[ -]?out|timed out", re.IGNORECASE)


def cells():
    for client in CLIENTS:
        for transport in ("stdio", "http"):
            for fault in FAULTS:
                if not (transport == "stdio" and fault == "404-session"):
                    yield f"{client}/{transport}/{fault}"


class Ran:
    """One client, done: its steps, and how it ended."""

    def __init__(self, command):
        done = subprocess.run(command, env=plain_environment(), capture_output=True, timeout=DEADLINE)
        self.status, self.stderr = done.returncode, done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
        self.steps = [line for line in lines if "step" in line]

    def did(self):
        """What came of each call, in a word."""
        words = []
        for step in self.steps:
            if step["step"] in ("connect", "close"):
                continue
            error = step.get("error")
            words.append("answered" if error is None else "timeout" if SLOW.search(error) else "failed")
        if self.status != 0 or not self.steps or self.steps[-1]["step"] != "close":
            words.append("crash")
        elif "error" in self.steps[-1]:
            words.append("does not close")
        return words


def asked(tape, method, text=None):
    """How often the client asked for this."""
    found = 0
    for body, _end in tape.lines["to_server"]:
        try:
            message = json.loads(body)
        except ValueError:
            continue
        if isinstance(message, dict) and message.get("method") == method:
            found += text is None or message["params"]["arguments"].get("message") == text
    return found


def resumes(data):
    """Whether a client took a stream up again that broke. One that the server ended because its session was deleted is
    none: where something had come on it, a client may ask for it before it hears that the session is gone."""
    deleted = set()
    for line in data.splitlines():
        request = json.loads(line).get("request") if b'"request":{' in line else None
        if request is None:
            continue
        fields = {name.lower(): value for name, value in request["fields"]}
        # By its name: what comes behind its end is no part of the recorded session.
        session = fields.get("mcp-session-id")
        if request["method"] == "DELETE":
            deleted.add(session)
        if session not in deleted and "last-event-id" in fields:
            return True
    return False


def outcome(ran, tape, sessions):
    """Everything that a cell says of its client."""
    calls = ran.did()
    beyond = []
    if asked(tape, "initialize") > sessions:
        beyond.append("re-initialize")
    if asked(tape, "tools/call", "two") > MESSAGES.count("two"):
        beyond.append("retry")
    if asked(tape, "notifications/cancelled"):
        beyond.append("cancel")
    if resumes(tape.data):
        beyond.append("resume")
    return {"calls": calls, "and": beyond}


def harm(folder, fault):
    """What is wrong with the recording of a cell, if anything."""
    tapes = sorted(folder.glob("*.tape.jsonl"))
    if len(tapes) != 1:
        return f"{len(tapes)} tapes"
    tape = Tape(tapes[0])
    if tape.wrong:
        return f"the tape: {tape.wrong[:3]}"
    if not (tape.footer or {}).get("complete"):
        return f"the tape is not complete: {tape.footer}"
    if not any(b"faulted" in json.dumps([*event]).encode() for event in tape.other):
        return "the tape does not say what was injected"
    shown = subprocess.run(
        [str(common.TAPEWRIGHT), "inspect", "--json", str(tapes[0])], capture_output=True, timeout=DEADLINE
    )
    if shown.returncode != 0:
        return f"inspect: {shown.stderr[-300:]!r}"
    hangs = json.loads(shown.stdout)["hangs"]
    if fault in HANGS and not any(hang.get("fault", {}).get("kind") == fault for hang in hangs):
        return f"inspect names no hang of {fault}: {hangs}"
    cassettes = [path for path in folder.glob("out*.json")]
    if len(cassettes) != 1:
        return f"{len(cassettes)} cassettes"
    exchanges = json.loads(cassettes[0].read_bytes())["exchanges"]
    marked = [one for one in exchanges if "fault" in one]
    if not marked or any("error" in one["response"] for one in marked):
        return f"the cassette does not keep the true answer, marked: {marked}"
    return None


class Cell:
    def __init__(self, name, folder, servers, report):
        self.name, self.servers, self.report = name, servers, report
        self.client, self.transport, self.fault = name.split("/")
        self.folder = folder / name.replace("/", "-")
        self.outcome = None

    def run(self):
        try:
            self.folder.mkdir(parents=True)
            ran = self.over_stdio() if self.transport == "stdio" else self.over_http()
            wrong = harm(self.folder, self.fault)
            if wrong is None:
                tape = Tape(next(self.folder.glob("*.tape.jsonl")))
                self.outcome = outcome(ran, tape, 1 if self.transport == "stdio" else 2)
            self.report.check(f"{self.name}: nobody is harmed", wrong)
        except Exception as problem:  # a cell that breaks must not hide the others
            self.report.fail(f"{self.name} runs", f"{type(problem).__name__}: {problem}")

    def command(self, messages, goal):
        return [*CLIENTS[self.client], TIMEOUT_MS, ",".join(messages), "--", *goal]

    def options(self):
        return ["--fault", FAULTS[self.fault]]

    def over_stdio(self):
        recorder = [str(common.TAPEWRIGHT), "record", "-o", str(self.folder / "out.json"), *self.options(), "--"]
        return Ran(self.command(MESSAGES, [*recorder, *common.EVERYTHING]))

    def over_http(self):
        upstream = f"http://127.0.0.1:{self.servers.port('everything')}/mcp"
        gateway = Gateway(self.folder, upstream, self.options())
        goal = [f"http://127.0.0.1:{gateway.port}/mcp"]
        try:
            with concurrent.futures.ThreadPoolExecutor(1) as beside:
                other = beside.submit(Ran, self.command(["other"] * 8, goal))
                ran = Ran(self.command(MESSAGES, goal))
                seen = other.result().did()
        finally:
            end = gateway.close()
        self.report.check(f"{self.name}: the gateway ends well", end)
        self.report.check(f"{self.name}: another session notices nothing", seen != ["answered"] * 8 and seen)
        return ran

    def judge(self, expected):
        """Whether the client did what it is known to do."""
        if self.outcome is None:
            return
        said = f"{', '.join(self.outcome['calls'])}" + "".join(f"; {one}" for one in self.outcome["and"])
        wanted = expected.get(self.name)
        self.report.check(f"{self.name}: {said}", self.outcome != wanted and f"expected {wanted}")


def main(arguments):
    common.require(common.TAPEWRIGHT, common.PYTHON, *common.EVERYTHING[1:2])
    learn = "--learn" in arguments
    wanted = [word for word in arguments if not word.startswith("--")]
    names = [name for name in cells() if not wanted or any(word in name for word in wanted)]
    expected = json.loads(EXPECTED.read_text("utf-8")) if EXPECTED.exists() else {}
    report = common.Report()
    with tempfile.TemporaryDirectory(prefix="tapewright-faults-") as folder:
        servers = Servers(pathlib.Path(folder))
        try:
            all_cells = [Cell(name, pathlib.Path(folder), servers, report) for name in names]
            with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
                list(workers.map(Cell.run, all_cells))
        finally:
            servers.close()
    if learn:
        expected.update({cell.name: cell.outcome for cell in all_cells if cell.outcome})
        ordered = {name: expected[name] for name in cells() if name in expected}
        lines = [f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in ordered.items()]
        EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    for cell in all_cells:
        cell.judge(expected)
    return report.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
