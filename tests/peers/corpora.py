#!/usr/bin/env python3
"""The rules of the corpora on real servers: live, and over the recordings of that run, the same verdicts.

    corpora.py [NAME...]     NAME picks the cells whose name contains it

Each server is asked by `compliance run` through the recorder, over stdio and over HTTP. Then `compliance run --capture`
judges the folder of its recordings: over stdio each conversation is on one of its own. Every rule that the live run puts
to the test has to come out the same over them; what differs and may is in ALLOWED.
"""

import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "http"))

import common
from gateway import Gateway
from servers import STDIO, Servers, endpoint, plain_environment, stop

RMCP = common.PROJECT / "target/debug/examples/peer"
# The rule about foreign origins sends this one, which the recorder would refuse in the server's place.
ORIGIN = ["--allow-origin", "http://tapewright.invalid"]
# name -> the server over stdio, its name over HTTP, and the version whose rules are carried out.
CELLS = [
    ("everything", "stdio", "2025-11-25"),
    ("everything", "http", "2025-11-25"),
    ("fastmcp", "stdio", "2025-11-25"),
    ("fastmcp", "http", "2025-11-25"),
    ("modern", "stdio", "2026-07-28"),
    ("modern", "http", "2026-07-28"),
    ("rmcp", "stdio", "2025-11-25"),
    ("rmcp", "http", "2025-11-25"),
]
DEADLINE = 300  # seconds for one run
FEWEST = 20  # rules that every cell tests; a recording that nobody looks at would agree with everything

# (cell, rule): why a live run and its recordings differ, and both are right.
ALLOWED = {}


def run(arguments):
    """The report of `compliance run`."""
    command = [str(common.TAPEWRIGHT), "compliance", "run", "--format", "json", *arguments]
    done = subprocess.run(command, capture_output=True, env=plain_environment(), timeout=DEADLINE, check=False)
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-600:]}")
    return json.loads(done.stdout)


def verdicts(report):
    return {one["rule_id"]: one for one in report["results"] if one.get("section")}


def over_stdio(server, version, folder):
    tapes = folder / "tapes"
    tapes.mkdir()
    wrapped = [str(common.TAPEWRIGHT), "record", "-o", str(tapes / "out.tape.jsonl"), "--", *server]
    return run(["--spec-version", version, "--", *wrapped]), tapes


def over_http(url, version, folder, path):
    gateway = Gateway(folder / "gateway", url, options=ORIGIN)
    try:
        live = run(["--spec-version", version, "--upstream", f"http://127.0.0.1:{gateway.port}{path}"])
    finally:
        end = gateway.close()
    if end:
        raise RuntimeError(end)
    return live, folder / "gateway"


@contextlib.contextmanager
def rmcp_over_http():
    """Where the HTTP server of rmcp listens."""
    process = subprocess.Popen([str(RMCP), "rmcp-http"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        yield json.loads(process.stdout.readline())["listening"]
    finally:
        stop(process)
        process.stdout.close()


def cell(name, transport, version, folder, running, outcome):
    title = f"{name} {transport} {version}"
    place = folder / title.replace(" ", "-")
    place.mkdir()
    if name == "rmcp" and not RMCP.exists():
        subprocess.run(["cargo", "build", "--quiet", "--example", "peer"], cwd=common.PROJECT, check=True)
    if transport == "stdio":
        server = [str(RMCP), "rmcp"] if name == "rmcp" else STDIO[name]
        live, tapes = over_stdio(server, version, place)
    elif name == "rmcp":
        with rmcp_over_http() as url:
            live, tapes = over_http(url, version, place, "/mcp")
    else:
        url = f"http://127.0.0.1:{running.port(name)}{endpoint(name)}"
        live, tapes = over_http(url, version, place, endpoint(name))
    count = len(list(tapes.glob("*.tape.jsonl")))
    wrong = count != 1 if transport == "http" else count < 2
    outcome.check(f"{title}: each conversation is on a tape", wrong and f"{count} tapes")
    recorded = run(["--spec-version", version, "--capture", str(tapes)])
    ours, theirs = verdicts(live), verdicts(recorded)
    both = sorted(set(ours) & set(theirs))
    differ = [
        f"{rule}: live {ours[rule]['passed']} ({ours[rule]['message']}), recorded {theirs[rule]['passed']} ({theirs[rule]['message']})"
        for rule in both
        if ours[rule]["passed"] != theirs[rule]["passed"] and (f"{name} {transport}", rule) not in ALLOWED
    ]
    outcome.check(f"{title}: {len(both)} rules, the same live and over the recordings", differ and "; ".join(differ))
    reasons = {one["rule_id"]: one["why"] for one in recorded["untested"]}
    lost = [f"{rule}: {reasons.get(rule)}" for rule in sorted(set(ours) - set(theirs)) if (f"{name} {transport}", rule) not in ALLOWED]
    outcome.check(f"{title}: all that is tested live is tested over them, too", lost and "; ".join(lost))
    outcome.check(f"{title}: enough is tested", len(both) < FEWEST and f"{len(both)} rules")
    failed = [rule for rule in sorted(ours) if not ours[rule]["passed"]]
    asked = [rule for rule in sorted(ours) if rule.startswith(("ELICIT", "SAMPLE", "ROOTS"))]
    print(f"   {title}: {live['grade']}, complete {live['completeness']}, failed {failed}, asked the client in {asked}")


def main():
    common.require(common.TAPEWRIGHT)
    wanted = sys.argv[1:]
    cells = [one for one in CELLS if not wanted or any(part in " ".join(one) for part in wanted)]
    outcome, folder = common.Report(), pathlib.Path(tempfile.mkdtemp(prefix="tapewright-corpora-"))
    running = Servers(folder)
    try:
        for one in cells:
            try:
                cell(*one, folder, running, outcome)
            except Exception as problem:  # one cell that breaks must not hide the others
                outcome.fail(" ".join(one), f"{type(problem).__name__}: {problem}")
    finally:
        running.close()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(outcome.close())


if __name__ == "__main__":
    main()
