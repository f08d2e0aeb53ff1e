"""How each session of controls.py is held: real clients and clients by hand, on every way through the recorder."""

import http.client
import json
import pathlib
import subprocess
import sys
import threading
import time
import urllib.parse

import common
import run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "http"))
import clients  # noqa: E402
import gateway  # noqa: E402
import servers  # noqa: E402

DEADLINE = 150  # seconds for one client: far more than any needs
CHECK = ["--check", "--all", "--hang-after", "60s"]


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
    "saves": [*hello(), {"id": 1, "method": "ping"}],
    # Nobody cancels the call whose answer is held until somebody does.
    "late-after-cancel": [
        *hello(),
        {"id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"message": "held"}}, "awaited": False},
        {"id": 2, "method": "ping"},
    ],
}
# Of these: the server, and further options of the recorder.
RAW_SERVERS = {
    "saves": ([*common.TERSE, "--save", "1.5"], []),
    "late-after-cancel": (common.TERSE, ["--fault", "late-after-cancel tool=echo"]),
}


def converse(command, folder, messages):
    """Says each message and reads up to its answer, then closes the input and waits for the end."""
    recorder = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    watchdog = threading.Timer(DEADLINE, recorder.kill)
    watchdog.start()
    for message in messages:
        message = dict(message)
        awaited = message.pop("awaited", "id" in message)
        recorder.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        recorder.stdin.flush()
        while awaited:
            line = recorder.stdout.readline()
            if not line or json.loads(line).get("id") == message["id"]:
                break
    recorder.stdin.close()
    recorder.stdout.read()
    recorder.wait()
    watchdog.cancel()


def saves(_root):
    return RAW_SERVERS["saves"][0]


def stdio(name, folder, _running):
    """A session over stdio; its tapes."""
    if name.startswith("raw/"):
        folder.mkdir(parents=True)
        server = name.removeprefix("raw/")
        behind, options = RAW_SERVERS.get(server) or (servers.STDIO[server], [])
        files = ["-o", str(folder / "out.json")]
        converse([str(common.TAPEWRIGHT), "record", *files, *CHECK, *options, "--", *behind], folder, RAW[server])
        return sorted(folder.glob("out*.tape.jsonl"))
    client, server = run.SESSIONS.get(name) or (run.SESSIONS[name.replace("/saves", "/everything")][0], saves)
    root = folder / "root"
    folder.mkdir(parents=True)
    run.fresh_root(root)
    recorder = [str(common.TAPEWRIGHT), "record", "-o", str(folder / "out.json"), *CHECK, "--", *server(str(root))]
    run_client(client(recorder, str(root)), root)
    return sorted(folder.glob("out*.tape.jsonl"))


EVIL = "http://evil.example"


class Session:
    """A session over HTTP, spoken by hand."""

    def __init__(self, url, **fields):
        self.address, self.fields = urllib.parse.urlsplit(url), {}
        first, second = hello()
        answer = self.ask("POST", first, **fields)
        self.fields = {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
        self.ask("POST", second)

    def ask(self, method, message=None, **fields):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode() if message else None
        accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=60)
        connection.request(method, self.address.path or "/mcp", body, {**accept, **self.fields, **fields})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer


def forgets_nothing(url, _server):
    """A page of a foreign origin is served, and a session that was deleted is not forgotten as it should be."""
    session = Session(url, Origin=EVIL)
    session.ask("DELETE")
    session.ask("POST", {"id": 1, "method": "ping"})


SLOW = {
    "everything": ("trigger-long-running-operation", {"duration": 1, "steps": 2}),
    "fastmcp": ("slow", {"seconds": 1}),
}


def leaves_early(url, server):
    """A session is deleted 150 ms after a call."""
    session = Session(url)
    tool, arguments = SLOW[server]
    call = {"id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    asking = threading.Thread(target=session.ask, args=("POST", call))
    asking.start()
    time.sleep(0.15)
    session.ask("DELETE")
    asking.join()


BY_HAND = {"raw": forgets_nothing, "hasty": leaves_early}


def through_gateway(name, folder, running):
    """A session over HTTP, through the gateway; its tapes."""
    client, server = name.split("/")
    upstream = f"http://127.0.0.1:{running.port(server)}{servers.endpoint(server)}"
    # Otherwise we would refuse it ourselves.
    options = [*CHECK, "--allow-origin", EVIL]
    between = gateway.Gateway(folder, upstream, options)
    try:
        if client in BY_HAND:
            BY_HAND[client](between.url, server)
            return close(between)
        run_client(clients.CLIENTS[client](between.url, server.endswith("-sse")), folder)
    except BaseException:
        between.close()
        raise
    return close(between)


def run_client(command, folder):
    """Runs a client to its end, whatever it says."""
    subprocess.run(
        command,
        cwd=folder,
        env=servers.plain_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=DEADLINE,
        check=False,
    )


def to_http(name, folder, running):
    """A client on stdio in front of a server over HTTP; the tapes of the bridge."""
    client, server = name.split("/")
    upstream = f"http://127.0.0.1:{running.port(server)}{servers.endpoint(server)}"
    folder.mkdir(parents=True)
    recorder = [str(common.TAPEWRIGHT), "record", "--upstream", upstream, "-o", str(folder / "out.json"), *CHECK]
    run_client([*clients.STDIO[client], "--", *recorder], folder)
    return sorted(folder.glob("out*.tape.jsonl"))


def to_stdio(name, folder, _running):
    """A client over HTTP in front of a command; the tapes of the bridge."""
    client, server = name.split("/")
    older = server.endswith("-sse")
    between = gateway.Gateway(folder, options=CHECK, command=servers.STDIO[server.removesuffix("-sse")])
    try:
        url = f"http://127.0.0.1:{between.port}{'/sse' if older else '/mcp'}"
        if client in BY_HAND:
            BY_HAND[client](url, server)
            return close(between)
        run_client(clients.CLIENTS[client](url, older), folder)
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
