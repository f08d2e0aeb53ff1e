#!/usr/bin/env python3
"""The rules of the corpora on real servers: live, and over the recording of that run, the same verdicts.

    corpora.py [NAME...]     NAME picks the cells whose name contains it

Each server is asked by `compliance run` through the recorder, over stdio and over HTTP. Then `compliance run --capture`
judges the recording. A rule that both put to the test has to come out the same; one that only a live run can test is
counted, and is no failure.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "http"))

import common
from gateway import Gateway
from servers import STDIO, Servers, endpoint, plain_environment

RMCP = common.PROJECT / "target/debug/examples/peer"
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

# (cell, rule): why a live run and its recording differ, and both are right.
ALLOWED = {
    ("rmcp http", "EDGE-009"): "the front takes the notification with 202; the tape has what the server says behind it",
}


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
    tape = folder / "out.tape.jsonl"
    wrapped = [str(common.TAPEWRIGHT), "record", "-o", str(tape), "--", *server]
    return run(["--spec-version", version, "--", *wrapped]), [tape]


def over_http(url, version, folder, path, command=None):
    gateway = Gateway(folder / "gateway", url, command=command)
    try:
        live = run(["--spec-version", version, "--upstream", f"http://127.0.0.1:{gateway.port}{path}"])
    finally:
        end = gateway.close()
    if end and command is None:
        raise RuntimeError(end)
    return live, gateway.tapes()


def cell(name, transport, version, folder, running, outcome):
    title = f"{name} {transport} {version}"
    place = folder / title.replace(" ", "-")
    place.mkdir()
    if name == "rmcp" and not RMCP.exists():
        print(f"   {title}: left out, since {RMCP} is not built (cargo build --example peer)")
        return
    if transport == "stdio":
        server = [str(RMCP), "rmcp"] if name == "rmcp" else STDIO[name]
        live, tapes = over_stdio(server, version, place)
    elif name == "rmcp":
        # It speaks lines: the recorder is its front on HTTP.
        live, tapes = over_http(None, version, place, "/mcp", command=[str(RMCP), "rmcp"])
    else:
        url = f"http://127.0.0.1:{running.port(name)}{endpoint(name)}"
        live, tapes = over_http(url, version, place, endpoint(name))
    outcome.check(f"{title}: it is on one tape", len(tapes) != 1 and f"{len(tapes)} tapes")
    recorded = run(["--spec-version", version, "--capture", str(tapes[0])])
    ours, theirs = verdicts(live), verdicts(recorded)
    both = sorted(set(ours) & set(theirs))
    differ = [
        f"{rule}: live {ours[rule]['passed']} ({ours[rule]['message']}), recorded {theirs[rule]['passed']} ({theirs[rule]['message']})"
        for rule in both
        if ours[rule]["passed"] != theirs[rule]["passed"] and (f"{name} {transport}", rule) not in ALLOWED
    ]
    outcome.check(f"{title}: {len(both)} rules, the same live and over the recording", differ and "; ".join(differ))
    too_few = len(both) < FEWEST or len(both) * 2 < len(ours)
    outcome.check(f"{title}: most are tested over the recording, too", too_few and f"{len(both)} of {len(ours)}")
    failed = [rule for rule in sorted(ours) if not ours[rule]["passed"]]
    print(f"   {title}: {live['grade']}, complete {live['completeness']}, failed {failed}, live alone {sorted(set(ours) - set(theirs))}")


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
