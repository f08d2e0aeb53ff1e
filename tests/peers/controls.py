#!/usr/bin/env python3
"""Positive controls: what real software is known to do wrong is found while it is recorded, and nothing else is.

    controls.py [NAME...]     NAME picks the sessions whose name contains it

Each session runs through `record --check --all --hang-after 60s`. The codes of its findings must be exactly those below, from
the tape, and again when the tape is judged from disk. $TAPEWRIGHT_PEERS_KEEP keeps the files.
"""

import concurrent.futures
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

import common
import run

sys.path.insert(0, str(common.HERE / "http"))
import clients  # noqa: E402
import gateway  # noqa: E402
import servers  # noqa: E402

DEADLINE = 150  # seconds for one client: far more than any needs
WORKERS = 3
CHECK = ["--check", "--all", "--hang-after", "60s"]

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
}
HTTP = {
    "ts1/everything": ({"INV-045", "INV-065"}, {"INV-039"}),
    "py/everything": ({"INV-045"}, {"INV-039"}),
    "ts2-auto/everything": ({"INV-045"}, {"INV-039"}),
    "ts2-pin/modern": (set(), set()),
    "py/fastmcp": (FASTMCP | ASKS_TOO_MUCH, set()),
    "raw/everything": ({"INV-056", "INV-072"}, set()),
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


def hello(version="2025-11-25"):
    client = {"name": "controls", "version": "1"}
    return [
        {"id": 0, "method": "initialize", "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": client}},
        {"method": "notifications/initialized"},
    ]


# What no SDK sends by itself.
RAW = {
    "everything": [
        *hello(),
        # From here on it is deaf to the end of its input.
        {"id": 1, "method": "tools/call", "params": {"name": "toggle-subscriber-updates", "arguments": {}}},
    ],
    "fastmcp": [
        *hello(),
        {"id": 1, "method": "no/such/method"},
        {"id": 2, "method": "tools/call", "params": {"name": "talks", "arguments": {}}},
        {"id": 3, "method": "resources/read", "params": {"uri": "peer://fixed"}},
        {"id": 4, "method": "resources/read", "params": {"uri": "peer://none"}},
    ],
}


def converse(command, folder, messages):
    """Says each message and reads up to its answer, then closes the input and waits for the end."""
    recorder = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    watchdog = threading.Timer(DEADLINE, recorder.kill)
    watchdog.start()
    for message in messages:
        recorder.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        recorder.stdin.flush()
        while "id" in message:
            line = recorder.stdout.readline()
            if not line or json.loads(line).get("id") == message["id"]:
                break
    recorder.stdin.close()
    recorder.stdout.read()
    recorder.wait()
    watchdog.cancel()


def stdio(name, folder):
    """A session over stdio; its tapes."""
    if name.startswith("raw/"):
        folder.mkdir(parents=True)
        server = name.removeprefix("raw/")
        files = ["-o", str(folder / "out.json")]
        command = [str(common.TAPEWRIGHT), "record", *files, *CHECK, "--", *servers.STDIO[server]]
        converse(command, folder, RAW[server])
        return sorted(folder.glob("out*.tape.jsonl"))
    client, server = run.SESSIONS[name]
    root = folder / "root"
    folder.mkdir(parents=True)
    run.fresh_root(root)
    recorder = [str(common.TAPEWRIGHT), "record", "-o", str(folder / "out.json"), *CHECK, "--", *server(str(root))]
    subprocess.run(
        client(recorder, str(root)),
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=DEADLINE,
        check=False,
    )
    return sorted(folder.glob("out*.tape.jsonl"))


EVIL = "http://evil.example"


def over_http(url):
    """A page of a foreign origin is served, and a session that was deleted is not forgotten as it should be."""
    address = urllib.parse.urlsplit(url)
    session = {}

    def ask(method, message=None, **fields):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode() if message else None
        accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        connection.request(method, address.path, body, {**accept, **session, **fields})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    first, second = hello()
    answer = ask("POST", first, Origin=EVIL)
    session["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
    session["MCP-Protocol-Version"] = "2025-11-25"
    ask("POST", second)
    ask("DELETE")
    ask("POST", {"id": 1, "method": "ping"})


def through_gateway(name, folder, running):
    """A session over HTTP, through the gateway; its tapes."""
    client, server = name.split("/")
    upstream = f"http://127.0.0.1:{running.port(server)}{servers.endpoint(server)}"
    # Otherwise we would refuse it ourselves.
    options = [*CHECK, "--allow-origin", EVIL]
    between = gateway.Gateway(folder, upstream, options)
    try:
        if client == "raw":
            over_http(between.url)
            return close(between)
        subprocess.run(
            clients.CLIENTS[client](between.url, server.endswith("-sse")),
            cwd=folder,
            env=servers.plain_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=DEADLINE,
            check=False,
        )
    except BaseException:
        between.close()
        raise
    return close(between)


def close(between):
    """The tapes of a gateway that has ended as it should."""
    wrong = between.close()
    if wrong:
        raise RuntimeError(wrong)
    return between.tapes()


def judge(report, name, expected, tapes):
    must, may = expected
    codes, found = set(), []
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


def main():
    wanted = sys.argv[1:]
    chosen = lambda names: [name for name in names if not wanted or any(word in name for word in wanted)]
    common.require(common.TAPEWRIGHT, common.PYTHON, common.EVERYTHING[1])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-controls-"))
    report, running = common.Report(), servers.Servers(folder)

    def one(kind, name):
        place = folder / kind / name.replace("/", "-")
        try:
            if kind == "stdio":
                judge(report, f"stdio {name}", STDIO[name], stdio(name, place))
            else:
                judge(report, f"http {name}", HTTP[name], through_gateway(name, place, running))
        except Exception as problem:  # a cell that breaks must not hide the others
            report.fail(f"{kind} {name} runs", repr(problem)[:400])

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda name: one("stdio", name), chosen(STDIO)))
        list(pool.map(lambda name: one("http", name), chosen(HTTP)))
    running.close()
    if os.environ.get("TAPEWRIGHT_PEERS_KEEP"):
        print(f"files are in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
