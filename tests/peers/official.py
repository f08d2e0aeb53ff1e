#!/usr/bin/env python3
"""Our rules beside the checks of the official conformance suite, on four real servers: where the two disagree.

    official.py [--write] [NAME...]     NAME picks the runs whose name contains it

The suite asks each server through the recorder. Then its checks stand beside what our invariants and migration cases say
of the same recording, by the table compliance/official.yml. A disagreement that the table explains (`differs`) or that
stands in EXPLAINED is told; any other fails. `--write` puts the table into docs/conformance.md.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "http"))

import common
from clients import NODE_22
from gateway import Gateway
from servers import Servers, endpoint, plain_environment

SUITE = [NODE_22, str(common.PACKAGES / "conformance/dist/index.js")]
TABLE = common.PROJECT / "compliance/official.yml"
PAGE = common.PROJECT / "docs/conformance.md"
BEGIN, END = "<!-- official: begin -->", "<!-- official: end -->"
RUNS = [("everything", "2025-11-25"), ("fastmcp", "2025-11-25"), ("modern", "2026-07-28"), ("mcpserver", "2026-07-28")]
DEADLINE = 580  # seconds for one run of the suite

# (rule, check, part of what the suite or we say): why the two are both right, or who is not.
EXPLAINED = [
    ("INV-087", "prompts-list", "missing description", "no revision's schema requires the `description` of a prompt; the suite does"),
]


def table():
    """rule, its checks, and how the two differ on purpose; the file is in this form alone."""
    rows = []
    for line in TABLE.read_text("utf-8").splitlines():
        if found := re.fullmatch(r"  - rule: (\S+)", line):
            rows.append({"rule": found[1], "checks": [], "differs": None})
        elif found := re.fullmatch(r"    checks: \[(.*)\]", line):
            rows[-1]["checks"] = [name.strip() for name in found[1].split(",")]
        elif found := re.fullmatch(r"    differs: (.*)", line):
            rows[-1]["differs"] = found[1]
    return rows


def official(url, revision, folder):
    """check -> the worst status, and what was said of it."""
    arguments = ["server", "--url", url, "--requirements", revision, "-o", str(folder / "results")]
    with open(folder / "log", "wb") as log:
        subprocess.run(
            [*SUITE, *arguments], cwd=folder, env=plain_environment(), stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, timeout=DEADLINE, check=False,
        )
    order = ["INFO", "SKIPPED", "SUCCESS", "WARNING", "FAILURE"]
    found = {}
    for path in sorted((folder / "results").rglob("checks.json")):
        for check in json.loads(path.read_text("utf-8")):
            status = check["status"]
            before = found.get(check["id"], ("INFO", ""))
            if order.index(status) >= order.index(before[0]):
                found[check["id"]] = (status, check.get("errorMessage") or "")
    return found


def ours(tapes):
    """rule -> verdict and its first evidence, over all that was recorded."""
    found = {}

    def note(rule, status, detail):
        order = {"pass": 1, "fail": 2}
        if order.get(status, 0) > order.get(found.get(rule, ("", ""))[0], -1):
            found[rule] = (status, detail)

    for tape in tapes:
        invariants = report(["compliance", "invariants", "--all", "--capture", str(tape), "--format", "json"])
        for server in invariants["servers"]:
            for outcome in server["outcomes"]:
                findings = [one for one in outcome["findings"] if one["status"] == "fail" and one["side"] == "server"]
                status = outcome["status"].lower()
                if status == "fail" and not findings:
                    status = "pass"  # The suite, as a client, is wrong on purpose.
                note(outcome["id"], status, findings[0]["detail"] if findings else "")
        cases = report(["compliance", "doctor", "--capture", str(tape), "--format", "json"])
        for case in cases["findings"]:
            proofs = [one for one in case["evidence"] if one["side"] == "server"]
            status = case["status"]
            if status == "fail" and not proofs:
                status = "skipped"
            note(case["id"], status, proofs[0]["what"] if proofs else "")
    return found


def report(arguments):
    done = subprocess.run([str(common.TAPEWRIGHT), *arguments], capture_output=True, check=False)
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(done.stderr.decode()[-400:])
    return json.loads(done.stdout)


def compare(name, checks, verdicts, rows):
    """What the two say of the same, where both say something: (agrees, row)."""
    for entry in rows:
        status, detail = verdicts.get(entry["rule"], ("", ""))
        for check in entry["checks"]:
            theirs, said = checks.get(check, ("", ""))
            if status not in ("pass", "fail") or theirs not in ("SUCCESS", "FAILURE", "WARNING"):
                continue
            agrees = (status == "pass") == (theirs == "SUCCESS")
            why = entry["differs"]
            for rule, other, part, reason in EXPLAINED:
                if rule == entry["rule"] and other in (check, "*") and part in f"{said} {detail}":
                    why = reason
            yield agrees, [name, entry["rule"], check, status, theirs, shown(detail), shown(said), why]


def shown(text, most=160):
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= most else text[:most] + "…"


def write(rows, counts):
    lines = ["| server | our rule | its check | we say | it says | evidence | why |", "|---|---|---|---|---|---|---|"]
    for name, rule, check, status, theirs, detail, said, why in rows:
        evidence = "; ".join(part for part in (f"ours: {detail}" if detail else "", f"theirs: {said}" if said else "") if part)
        lines.append(f"| {name} | {rule} | `{check}` | {status} | {theirs} | {evidence} | {why or ''} |")
    lines += ["", *counts]
    page = PAGE.read_text("utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(before + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + after, "utf-8")


def main():
    arguments = [one for one in sys.argv[1:] if one != "--write"]
    common.require(NODE_22, SUITE[1], common.TAPEWRIGHT)
    runs = [run for run in RUNS if not arguments or any(part in " ".join(run) for part in arguments)]
    outcome, folder, rows = common.Report(), pathlib.Path(tempfile.mkdtemp(prefix="tapewright-official-")), table()
    running, differing, counts = Servers(folder), [], []
    try:
        for server, revision in runs:
            name = f"{server} {revision}"
            place = folder / name.replace(" ", "-")
            place.mkdir()
            gateway = Gateway(place / "gateway", f"http://127.0.0.1:{running.port(server)}{endpoint(server)}")
            try:
                checks = official(f"http://127.0.0.1:{gateway.port}{endpoint(server)}", revision, place)
            finally:
                end = gateway.close()
            outcome.check(f"{name}: the recorder ends well", end)
            found = list(compare(name, checks, ours(gateway.tapes()), rows))
            agreeing = sum(agrees for agrees, _ in found)
            outcome.check(f"{name}: both say something ({len(found)} pairs, {len(checks)} checks)", not found and "nothing to compare")
            counts.append(f"{name}: {len(checks)} checks of the suite, {len(found)} beside a rule of ours, {agreeing} agree.  ")
            for agrees, row in found:
                if agrees:
                    continue
                differing.append(row)
                text = f"{name}: {row[1]} says {row[3]}, {row[2]} says {row[4]}: ours {row[5]!r}, theirs {row[6]!r}"
                outcome.check(f"{text}: {row[7]}" if row[7] else f"{name}: {row[1]} and {row[2]}", not row[7] and text)
    finally:
        running.close()
        shutil.rmtree(folder, ignore_errors=True)
    if "--write" in sys.argv:
        write(differing, counts)
    sys.exit(outcome.close())


if __name__ == "__main__":
    main()
