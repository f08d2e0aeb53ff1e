#!/usr/bin/env python3
"""Real clients against real servers, direct and through the recorder.

    run.py [--stand-in] [NAME...]     NAME picks the sessions whose name contains it

Every session is run direct, through the recorder, from the recording without a server, and through
`tee X -> recorder -> tee Y`. All four transcripts must be equal, X and Y must have seen the same bytes, and the tape, the cassette and the capture must hold what Y saw.
$TAPEWRIGHT_PEERS_OPTIONS are further options for `record`; with $TAPEWRIGHT_PEERS_KEEP set the files are kept.
--stand-in puts a byte tee in the recorder's place and leaves the files out: it shows that the rig itself is steady.
"""

import collections
import concurrent.futures
import difflib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import common
from tape import Tape, envelopes, exact, exchanges, has, member

DEADLINE = 150  # seconds for one run of one client: far more than any needs
WORKERS = 4
OPTIONS = os.environ.get("TAPEWRIGHT_PEERS_OPTIONS", "").split()

ENV = ["--env", f"TAPEWRIGHT_PEERS_DIR={common.PEERS}"]


def ts_client(*options):
    return lambda command, root: [*common.TS_CLIENT, *options, "--root", root, *ENV, "--", *command]


def py_client(command, root):
    return [*common.PY_CLIENT, "--root", root, *ENV, "--", *command]


def py2_client(command, root):
    return [*common.PY2_CLIENT, "--root", root, *ENV, "--", *command]


def rough_client(command, _root):
    return [*common.RAW_CLIENT[:2], "rough", "--", *command]


def inspector(*options):
    # It drops the first `--` of its command line, so the command is cut in two around one.
    return lambda command, _root: [*common.INSPECTOR, command[0], *options, "--", *command[1:]]


def everything(_root):
    return common.EVERYTHING


def filesystem(root):
    return [*common.FILESYSTEM, root]


# name -> (client, server). Long sessions first: the others fill the gaps.
SESSIONS = {
    "ts1/everything": (ts_client(), everything),
    "ts2-legacy/everything": (ts_client("--sdk", "2"), everything),
    "ts2-auto/everything": (ts_client("--sdk", "2", "--era", "auto"), everything),
    "py/everything": (py_client, everything),
    "py/npx-everything": (py_client, lambda _root: common.NPX_EVERYTHING),
    "py2/everything": (py2_client, everything),
    "ts1/filesystem": (ts_client(), filesystem),
    "py/filesystem": (py_client, filesystem),
    "ts1/fastmcp": (ts_client(), lambda _root: common.FASTMCP),
    "ts2-legacy/fastmcp": (ts_client("--sdk", "2"), lambda _root: common.FASTMCP),
    "py/fastmcp": (py_client, lambda _root: common.FASTMCP),
    "py/modern": (py_client, lambda _root: common.MODERN),
    "ts2-auto/modern": (ts_client("--sdk", "2", "--era", "auto"), lambda _root: common.MODERN),
    "ts2-pin/modern": (ts_client("--sdk", "2", "--era", "2026-07-28"), lambda _root: common.MODERN),
    "py2/modern": (py2_client, lambda _root: common.MODERN),
    "py2/mcpserver": (py2_client, lambda _root: common.MCPSERVER),
    "ts2-auto/mcpserver": (ts_client("--sdk", "2", "--era", "auto"), lambda _root: common.MCPSERVER),
    "inspector-tools/everything": (inspector("--method", "tools/list"), everything),
    "inspector-call/everything": (
        inspector("--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=grüße 漢"),
        everything,
    ),
    "inspector-read/fastmcp": (
        inspector("--method", "resources/read", "--uri", "peer://item/1"),
        lambda _root: common.FASTMCP,
    ),
    "rough/cat": (rough_client, lambda _root: ["cat"]),
}

# `cat` answers whatever it is sent, messages or not; a recording only requests.
NOT_REPLAYED = {"rough/cat"}

PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000")


def fresh_root(path):
    """The folder that sessions work in: the same content under the same name for every run."""
    shutil.rmtree(path, ignore_errors=True)
    (path / "sub").mkdir(parents=True)
    (path / "grüße 漢.txt").write_text("schöne Grüße\r\n漢字 👾\u2028\n", "utf-8", newline="")
    (path / "lines.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)), "utf-8")
    (path / "big.txt").write_text("große Datei 漢字 0123456789\n" * 12000, "utf-8")
    (path / "sub/inner.txt").write_text("inner\n", "utf-8")
    (path / "dot.png").write_bytes(PNG)
    for entry in [*path.rglob("*"), path]:
        os.utime(entry, (1_700_000_000, 1_700_000_000))


class Session:
    def __init__(self, name, folder, report, stand_in):
        self.name, self.report, self.stand_in = name, report, stand_in
        self.client, self.server = SESSIONS[name]
        self.folder = folder / name.replace("/", "-")
        self.root = self.folder / "root"

    def recorder(self, folder, command):
        if self.stand_in:
            return [*common.BYTETEE, str(folder / "stand-in"), "--", *command]
        # With times, since it is replayed at the recorded pace.
        files = ["-o", str(folder / "out.json"), "--cassette-times", "--save-capture", str(folder / "out.capture.json")]
        return [str(common.TAPEWRIGHT), "record", *files, *OPTIONS, "--", *command]

    def transcript(self, command):
        fresh_root(self.root)
        started = time.monotonic()
        run = subprocess.run(
            self.client(command, str(self.root)),
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=DEADLINE,
            check=False,
        )
        self.took.append(time.monotonic() - started)
        lines = run.stdout.decode("utf-8", "backslashreplace").splitlines()
        return [normal_exit(line) for line in lines], f"exit {run.returncode}", run.stderr

    def run(self):
        self.took = []
        try:
            self.folder.mkdir(parents=True)
            self.steps()
        except subprocess.TimeoutExpired as late:
            self.report.fail(f"{self.name} runs", f"not done after {late.timeout} s")
        except Exception as problem:  # a cell that breaks must not hide the others
            self.report.fail(f"{self.name} runs", f"{type(problem).__name__}: {problem}")

    def steps(self):
        server = self.server(str(self.root))
        direct = self.transcript(server)
        if direct[1] != "exit 0":
            self.report.fail(f"{self.name} direct", f"{direct[1]}: {direct[2][-600:]!r}")
            return
        self.report.ok(f"{self.name} direct ({len(direct[0])} lines)")

        alone = self.folder / "alone"
        alone.mkdir()
        through = self.transcript(self.recorder(alone, server))
        self.report.check(f"{self.name} same transcript through the recorder", difference(direct, through))

        if not self.stand_in and self.name not in NOT_REPLAYED:
            self.replay(direct, alone)

        tees = self.folder / "tees"
        tees.mkdir()
        inner = [*common.BYTETEE, str(tees / "y"), "--", *server]
        outer = [*common.BYTETEE, str(tees / "x"), "--", *self.recorder(tees, inner)]
        beside = self.transcript(outer)
        self.report.check(f"{self.name} same transcript between tees", difference(direct, beside))
        self.compare(tees)
        print(f"   {self.name}: direct {self.took[0]:.1f} s, recorder {self.took[1]:.1f} s, tees {self.took[2]:.1f} s")

    def replay(self, direct, alone):
        """The same client with the recording in the server's place: no server runs."""
        files = self.folder / "replays"
        files.mkdir()
        # At the recorded pace: a client that counts its progress reads it as it read the server's.
        command = [str(common.TAPEWRIGHT), "replay", str(alone / "out.json"), "--pace", "recorded"]
        again = [*command, "-o", str(files / "again.json"), "--report", str(files / "report.json")]
        served = self.transcript(again)
        said = (without_stderr(direct), without_stderr(served))
        self.report.check(f"{self.name} same transcript from the recording", difference(*said))
        missed = json.loads((files / "report.json").read_text("utf-8"))["missed"]
        self.report.check(f"{self.name} nothing is missed", missed and f"{missed} requests; see {files}")

    def compare(self, tees):
        inner, outer = logs(tees, "y"), logs(tees, "x")
        if len(inner) != len(outer) or not inner:
            self.report.fail(f"{self.name} tees", f"{len(outer)} processes outside, {len(inner)} inside")
            return
        for y in inner:
            # Two processes of one client may have started in either order.
            x = max(outer, key=lambda x: sum(x[part] == y[part] for part in ("to_server", "to_client", "stderr")))
            wrong = [unequal(part, x[part], y[part]) for part in ("to_server", "to_client", "stderr")]
            if exit_status(x["exit"]) != exit_status(y["exit"]):
                wrong.append(f"the recorder ended with {x['exit']}, its child with {y['exit']}")
            self.report.check(f"{self.name} {y['name']}: same bytes and exit on both sides", first(wrong))
        if self.stand_in:
            return
        tapes = [Tape(path) for path in sorted(tees.glob("*.tape.jsonl"))]
        if len(tapes) != len(inner):
            names = sorted(path.name for path in tees.iterdir())
            self.report.fail(f"{self.name} tapes", f"{len(tapes)} tapes for {len(inner)} processes: {names}")
        for y in inner:
            if not tapes:
                break
            tape = max(tapes, key=lambda tape: sum(tape.bytes(part) == y[part] for part in tape.lines))
            tapes.remove(tape)
            self.judge_tape(y, tape)
        # A client that starts its server twice uses the last one, and the cassette is that one's.
        self.judge_projections(inner[-1], tees)

    def judge_tape(self, y, tape):
        name = f"{self.name} {y['name']}"
        wrong = list(tape.wrong) + [tape_against(tape, y, part) for part in ("to_server", "to_client")]
        self.report.check(f"{name}: the tape holds every message", first(wrong))
        self.report.check(f"{name}: the tape holds stderr", unequal("stderr", tape.stderr, terminated(y["stderr"])))
        complete = tape.footer is not None and tape.footer.get("complete") is True
        self.report.check(f"{name}: the tape is complete", not complete and f"its footer: {tape.footer}")
        self.report.check(f"{name}: nothing is taken for a secret", tape.placeholder())
        self.report.check(f"{name}: the tape tells it in order", tape.out_of_order())

    def judge_projections(self, y, tees):
        expected = exchanges(y["to_server"], y["to_client"])
        seen = envelopes(y["to_server"]) + envelopes(y["to_client"])
        cassettes = [path for path in sorted(tees.glob("out*.json")) if not path.name.endswith(".capture.json")]
        captures = sorted(tees.glob("out*.capture.json"))
        self.report.check(f"{self.name}: the cassette's exchanges", best(cassettes, cassette_against, expected))
        self.report.check(f"{self.name}: the cassette holds every message", best(cassettes, all_in_cassette, seen))
        self.report.check(f"{self.name}: the capture", best(captures, capture_against, expected))


def best(paths, judge, expected):
    """What is wrong with the best of the files, which may be several when a client starts its server twice."""
    verdicts = [judge(path, expected) for path in paths] or ["there is no such file"]
    return None if None in verdicts else verdicts[-1]


def without_stderr(transcript):
    """What a server says beside the protocol is on its tape, and in no cassette."""
    return ([line for line in transcript[0] if not line.startswith(('{"stderr"', '{"exit"', "exit "))], *transcript[1:])


def normal_exit(line):
    """A recorder may end by its child's signal or with 128 + N: the client is told the same."""
    if not line.startswith('{"exit":{'):
        return line
    status = json.loads(line)["exit"]
    return f"exit {exit_status('signal ' + status['signal'] if status['signal'] else 'code ' + str(status['code']))}"


def exit_status(text):
    kind, _, value = text.partition(" ")
    value = value.split(" ")[0]
    if kind == "signal":
        return 128 + int(signal.Signals[value] if value.startswith("SIG") else value)
    return int(value) if value else None


def difference(one, other):
    if one[:2] == other[:2]:
        return None
    delta = list(difflib.unified_diff([*one[0], one[1]], [*other[0], other[1]], "direct", "through", lineterm="", n=0))
    return " | ".join(line[:400] for line in delta[2:10]) + f" ({len(delta)} lines); stderr {other[2][-300:]!r}"


def logs(folder, stem):
    found = []
    for path in sorted(folder.glob(f"{stem}*")):
        if path.is_dir():
            parts = {part: read(path / part) for part in ("to_server", "to_client", "stderr")}
            found.append({"name": path.name, **parts, "exit": read(path / "exit").decode().strip()})
    return found


def read(path):
    return path.read_bytes() if path.exists() else b""


def terminated(data):
    return data if not data or data.endswith(b"\n") else data + b"\n"


def first(wrong):
    return next((why for why in wrong if why), None)


def unequal(part, one, other):
    if one == other:
        return None
    at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    return f"{part} differs at byte {at} of {len(one)}/{len(other)}: {one[at:at + 120]!r} / {other[at:at + 120]!r}"


def tape_against(tape, y, part):
    if tape.bytes(part) == y[part]:
        return None
    seen = y[part].splitlines(keepends=True) if b"\r" not in y[part] else [l + b"\n" for l in y[part].split(b"\n")]
    have = [body + end for body, end in tape.lines[part]]
    for number, (one, other) in enumerate(zip(have, seen), 1):
        if one != other and one.strip() != other.strip():
            return f"{part} line {number} of {len(have)}/{len(seen)}: tape {one[:160]!r} wire {other[:160]!r}"
    return unequal(f"{part} (tape/wire, {len(have)}/{len(seen)} lines)", tape.bytes(part), y[part])


def exchanges_against(document, expected):
    found = member(document, "exchanges")
    if not isinstance(found, list):
        return f"no exchanges: {str(document)[:160]}"
    if len(found) != len(expected):
        return f"{len(found)} exchanges, the wire had {len(expected)}"
    for number, (exchange, (request, response)) in enumerate(zip(found, expected), 1):
        if member(exchange, "request") != request:
            return f"exchange {number}: request {str(member(exchange, 'request'))[:200]} wire {str(request)[:200]}"
        if member(exchange, "response") != response:
            return f"exchange {number}: response {str(member(exchange, 'response'))[:200]} wire {str(response)[:200]}"
    return None


def load(path):
    if not path.exists():
        return None, f"{path.name} is not there: {sorted(entry.name for entry in path.parent.iterdir())}"
    try:
        return exact(path.read_text("utf-8")), None
    except ValueError as problem:
        return None, f"{path.name} does not parse: {problem}"


def cassette_against(path, expected):
    """One exchange for each request that was answered, in the order of the requests."""
    document, why = load(path)
    if why:
        return why
    if member(document, "version") != "1":
        return f"version {member(document, 'version')!r}"
    return exchanges_against(document, [pair for pair in expected if pair[1] is not None])


def all_in_cassette(path, wire):
    """Whatever is no exchange rides in the additive members: nothing is dropped, nothing invented."""
    document, why = load(path)
    if why:
        return why
    found = []
    for exchange in member(document, "exchanges") or []:
        found += [member(exchange, "request"), member(exchange, "response")]
        found += [member(entry, "message") for entry in member(exchange, "stream") or []]
    found += [member(entry, "message") for entry in member(document, "messages") or []]
    for entry in member(document, "unanswered") or []:
        found.append(member(entry, "request"))
        found += [member(each, "message") for each in member(entry, "stream") or []]
    have = collections.Counter(repr(message) for message in found if isinstance(message, tuple))
    seen = collections.Counter(repr(message) for message in wire)
    if have == seen:
        return None
    missing, extra = seen - have, have - seen
    shown = [f"{count.total()} {what} {str(next(iter(count), ''))[:200]}" for what, count in (
        ("missing", missing), ("extra", extra))]
    return "; ".join(shown)


def capture_against(path, expected):
    """Requests and notifications of the client in order, the answered ones with their answer."""
    document, why = load(path)
    if why:
        return why
    sessions = document if isinstance(document, list) else [document]
    if len(sessions) != 1:
        return f"{len(sessions)} sessions"
    if not isinstance(member(sessions[0], "server_label"), str):
        return f"server_label {member(sessions[0], 'server_label')!r}"
    for request, response in expected:
        if member(request, "method") == "initialize" and has(response, "result"):
            offered = member(member(response, "result"), "capabilities")
            kept = member(sessions[0], "server_capabilities")
            if kept != offered:
                return f"server_capabilities {str(kept)[:200]} wire {str(offered)[:200]}"
    return exchanges_against(sessions[0], expected)


def main():
    arguments = sys.argv[1:]
    stand_in = "--stand-in" in arguments
    wanted = [argument for argument in arguments if not argument.startswith("--")]
    common.require(common.PYTHON, common.PYTHON_2, common.PACKAGES / "sdk", *([] if stand_in else [common.TAPEWRIGHT]))
    names = [name for name in SESSIONS if not wanted or any(part in name for part in wanted)]
    report, started = common.Report(), time.monotonic()
    keep = os.environ.get("TAPEWRIGHT_PEERS_KEEP")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-peers-"))
    try:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda name: Session(name, folder, report, stand_in).run(), names))
    finally:
        if keep:
            print(f"   files kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"   {len(names)} sessions in {time.monotonic() - started:.0f} s")
    sys.exit(report.close())


if __name__ == "__main__":
    main()
