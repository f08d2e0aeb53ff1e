#!/usr/bin/env python3
"""`tapewright mcp` with real clients, through the recorder: every tool is called, and there is no finding.

    recordings.py [NAME...]     NAME picks the cells whose name contains it

The clients are the official SDKs of both languages, over stdio and HTTP, and the Inspector's command line; what they
do stands in plan.json under `tapewright`. The scenarios of the official conformance suite that need no fixtures of its
own are put to the server as it is.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "http"))

import common
from clients import NODE_22, STDIO
from gateway import Gateway, Listening
from servers import plain_environment

DEADLINE = 120  # seconds for one client: far more than any needs
TAPE = "handshake-stdio.tape.jsonl"
TAPES = [TAPE, "handshake-http.tape.jsonl", "stateless-stdio.tape.jsonl"]
PLAN = json.loads((common.HERE / "plan.json").read_text("utf-8"))["tapewright"]
TOOLS = [step for step in PLAN if step["do"] == "call"]
STRICT = ["--check", "--all", "--strict"]
SUITE = [NODE_22, str(common.PACKAGES / "conformance/dist/index.js"), "server"]
SCENARIOS = {
    "2025-11-25": [
        "server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list", "prompts-list",
        "dns-rebinding-protection",
    ],
    "2026-07-28": [
        "server-stateless", "tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found", "caching",
        "http-header-validation", "dns-rebinding-protection",
    ],
}
# They ask for a tool of the suite that wants something of its client: we have none that does, nor any other tool of
# the suite; where it says so itself, a check is no failure either.
NOT_OURS = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}


def library(folder):
    folder.mkdir(parents=True)
    for name in TAPES:
        shutil.copy(common.PROJECT / "tests/wire" / name, folder / name)
    return folder


def run(command):
    return subprocess.run(
        command, env=plain_environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE, check=False,
    )


def findings(tape):
    """What the invariants find on a tape, or nothing."""
    done = run([str(common.TAPEWRIGHT), "compliance", "invariants", "--all", "--format", "json", "--capture", str(tape)])
    told = json.loads(done.stdout)
    found = [f"{one['id']}: {one['notes']}" for server in told["servers"] for one in server["outcomes"] if not one["passed"]]
    return (found or done.returncode) and f"exit {done.returncode}: {found}"


def steps(output):
    """What is wrong with the transcript of a client on an SDK."""
    lines = [json.loads(line) for line in output.decode().splitlines()]
    told = [line for line in lines if "do" in line]
    bad = [line for line in told if "ok" not in line or line["do"] == "call" and line["ok"].get("isError")]
    called = [line["tool"] for line in told if line["do"] == "call"]
    if bad:
        return str(bad)[:1500]
    return len(called) != len(TOOLS) and f"called {called}"


def inspected(target, report, name):
    """The Inspector, which calls one method each time; `target` makes its arguments, of which its options are some."""
    asked = [["--method", method] for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list")]
    for step in TOOLS:
        arguments = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in step["args"].items()]
        words = [word for argument in arguments for word in ("--tool-arg", argument)]
        asked.append(["--method", "tools/call", "--tool-name", step["tool"], *words])
    for number, options in enumerate(asked):
        done = run([*common.INSPECTOR, *target(number, options)])
        try:
            answer = json.loads(done.stdout)
            wrong = answer.get("isError") and str(answer)[:500]
        except ValueError:
            wrong = f"{done.stdout[-500:]!r} {done.stderr[-500:]!r}"
        report.check(f"{name}: {' '.join(options[:4])}", wrong or (done.returncode and f"exit {done.returncode}"))


def over_stdio(client, folder, report):
    name, serve = f"mcp {client} stdio", [str(common.TAPEWRIGHT), "mcp", str(library(folder / "recordings"))]
    recorded = lambda number: [
        str(common.TAPEWRIGHT), "record", *STRICT, "-o", str(folder / f"{number}.tape.jsonl"), "--", *serve,
    ]
    if client == "inspector":
        # It drops the first `--` of its command line, so the command is cut in two around one.
        halves = lambda number, options: [recorded(number)[0], *options, "--", *recorded(number)[1:]]
        inspected(halves, report, name)
    else:
        done = run([*STDIO[client], "--", *recorded(0)])
        report.check(f"{name}: every step", done.returncode and f"exit {done.returncode}" or steps(done.stdout))
    tapes = sorted(folder.glob("*.tape.jsonl"))
    found = [wrong for wrong in map(findings, tapes) if wrong]
    report.check(f"{name}: no finding on {len(tapes)} tapes", found or not tapes and "no tape")


def over_http(client, folder, report):
    name = f"mcp {client} http"
    server = Listening(folder / "server", ["mcp", str(library(folder / "recordings")), "--listen", "127.0.0.1:0"])
    try:
        gateway = Gateway(folder / "gateway", server.url, STRICT)
        try:
            if client == "inspector":
                inspected(lambda _, options: [gateway.url, "--transport", "http", *options], report, name)
            else:
                done = run([*STDIO[client], "--", gateway.url])
                report.check(f"{name}: every step", done.returncode and f"exit {done.returncode}" or steps(done.stdout))
        finally:
            report.check(f"{name}: the recorder ends well", gateway.close())
        tapes = gateway.tapes()
        found = [wrong for wrong in map(findings, tapes) if wrong]
        report.check(f"{name}: no finding on {len(tapes)} tapes", found or not tapes and "no tape")
    finally:
        report.check(f"{name}: the server ends well", server.close())


def conformance(revision, folder, report):
    server = Listening(folder / "server", ["mcp", str(library(folder / "recordings")), "--listen", "127.0.0.1:0"])
    try:
        for scenario in SCENARIOS[revision]:
            results = folder / scenario
            run([*SUITE, "--url", server.url, "--spec-version", revision, "--scenario", scenario, "-o", str(results)])
            checks = [check for path in results.rglob("checks.json") for check in json.loads(path.read_text("utf-8"))]
            bad = [
                check for check in checks
                if check["status"] in ("FAILURE", "WARNING") and check["id"] not in NOT_OURS
                and not str(check.get("errorMessage")).startswith("Not testable: server does not list")
            ]
            passed = sum(check["status"] == "SUCCESS" for check in checks)
            wrong = [f"{check['id']}: {check.get('errorMessage')}" for check in bad]
            report.check(f"mcp conformance {revision} {scenario}: {passed} checks", wrong or not passed and "nothing passed")
    finally:
        report.check(f"mcp conformance {revision}: the server ends well", server.close())


CELLS = {
    **{f"{client} stdio": (over_stdio, client) for client in [*STDIO, "inspector"]},
    **{f"{client} http": (over_http, client) for client in [*STDIO, "inspector"]},
    **{f"conformance {revision}": (conformance, revision) for revision in SCENARIOS},
}


def main():
    common.require(NODE_22, SUITE[1], common.INSPECTOR[1], common.TAPEWRIGHT)
    wanted, report = sys.argv[1:], common.Report()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-mcp-"))
    try:
        for name, (cell, about) in CELLS.items():
            if wanted and not any(part in name for part in wanted):
                continue
            try:
                cell(about, folder / name.replace(" ", "-"), report)
            except Exception as problem:  # a cell that breaks must not hide the others
                report.fail(f"mcp {name} runs", f"{type(problem).__name__}: {problem}")
    finally:
        if os.environ.get("TAPEWRIGHT_PEERS_KEEP"):
            print(f"   files kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(report.close())


if __name__ == "__main__":
    main()
