#!/usr/bin/env python3
"""Real agents, their MCP server recorded: the model asks for tools, the calls reach the server, the answers the model.

    run.py [--learn] [NAME...]     NAME picks the cells whose name contains it; --learn writes faults.json anew

The model is the scripted provider, which refuses a request without its key, and one whose calls and results do not fit.
"""

import json
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "http")]

import agents
import common
import faults
import provider
import task
from tape import Tape


def wrapped(tape):
    return [str(common.TAPEWRIGHT), "record", "-o", str(tape), "--", *common.EVERYTHING]


def on_tape(path):
    """The calls of tools on a tape, and what the server answered to them."""
    tape = Tape(path)
    asked = [json.loads(line) for line, _ in tape.lines["to_server"]]
    answers = {one["id"]: one for one in (json.loads(line) for line, _ in tape.lines["to_client"]) if "result" in one}
    calls = [one for one in asked if one.get("method") == "tools/call"]
    names = [(one["params"]["name"], one["params"]["arguments"]) for one in calls]
    return names, [answers[one["id"]]["result"]["content"][0]["text"] for one in calls]


def recorded(kind, folder):
    """An agent whose server is recorded; what is wrong."""
    tape = folder / "sums.tape.jsonl"
    agent = kind(folder, wrapped(tape))
    with provider.Provider(folder / "provider", task.TURNS, sides=[{"text": "{}"}]) as model:
        ran = agent.run(task.PROMPT, provider.KEY, model.url)
        requests = model.requests()
    if ran.status != 0:
        return ran.why()
    turns = [request for request in requests if request["turn"] is not None and request["body"].get("tools")]
    if not turns:
        return f"no turn reached the provider: {ran.why()}"
    told = agents.results(kind.wire, turns[-1]["body"])
    calls, answers = on_tape(tape)
    return (
        task.same("final text", ran.text, task.TEXT)
        or task.same("calls that it tells", ran.calls, task.CALLS)
        or task.same("calls on the tape", sorted(calls, key=str), sorted(task.CALLS, key=str))
        or task.same("answers on the tape", sorted(answers), sorted(task.ANSWERS))
        or task.same("results that reached the model", len(told), len(task.CALLS))
        or next((f"{one!r} does not hold {answer!r}" for one, answer in zip(told, task.ANSWERS) if answer not in one), None)
        or task.same("statuses", {request["status"] for request in turns}, {200})
    )


def main():
    words = [word for word in sys.argv[1:] if word != "--learn"]
    common.require(common.TAPEWRIGHT, provider.PEER, agents.AGENTS, common.PACKAGES)
    print("agents:", ", ".join(agents.versions()))
    report = common.Report()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-agents-"))
    for kind in agents.ALL:
        name = f"{kind.name}/recorded"
        if not words or any(word in name for word in words):
            report.check(name, recorded(kind, folder / kind.name))
    faults.cells(report, folder, words, "--learn" in sys.argv)
    status = report.close()
    if status == 0:
        shutil.rmtree(folder)
    else:
        print(f"what they left is in {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main())
