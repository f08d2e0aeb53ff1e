#!/usr/bin/env python3
"""Positive controls: what real software is known to do wrong is found while it is recorded, and nothing else is.

    controls.py [NAME...]     NAME picks the sessions whose name contains it

Each session runs through `record --check --hang-after 60s`. The codes of its findings must be exactly those below, from
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
import run

sys.path.insert(0, str(common.HERE / "http"))
import clients  # noqa: E402
import gateway  # noqa: E402
import servers  # noqa: E402

DEADLINE = 150  # seconds for one client: far more than any needs
WORKERS = 3
CHECK = ["--check", "--hang-after", "60s"]

# name -> codes that must be found, and those that may be: what depends on who is quicker.
NONE = (set(), set())
STDIO = {name: NONE for name in run.SESSIONS if name != "rough/cat" and not name.startswith("inspector")}
HTTP = {"ts1/everything": NONE, "py/everything": NONE, "py/fastmcp": NONE, "ts2-auto/everything": NONE, "ts2-pin/modern": NONE, "py2/mcpserver": NONE}


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


def stdio(name, folder):
    """A session over stdio; its tape."""
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


def http(name, folder, running):
    """A session over HTTP, through the gateway; its tape."""
    client, server = name.split("/")
    upstream = f"http://127.0.0.1:{running.port(server)}{servers.endpoint(server)}"
    between = gateway.Gateway(folder, upstream, CHECK)
    try:
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
    finally:
        between.close()
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
                judge(report, f"http {name}", HTTP[name], http(name, place, running))
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
