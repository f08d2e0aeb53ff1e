#!/usr/bin/env python3
"""Real agents, their MCP server recorded: the model asks for tools, the calls reach the server, the answers the model.

    run.py [NAME...]     NAME picks the agents whose name contains it

The model is the scripted provider, which refuses a request without its key, and one whose calls and results do not fit.
"""

import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "http")]

import json

import agents
import common
import provider
from tape import Tape

PROMPT = "What is 2 + 3? Then say so, and add 5 to it."
TEXT = "It is 5, and then 10."
CALLS = [("get-sum", {"a": 2, "b": 3}), ("echo", {"message": "five"}), ("get-sum", {"a": 5, "b": 5})]
ANSWERS = ["The sum of 2 and 3 is 5.", "Echo: five", "The sum of 5 and 5 is 10."]


def asks(*calls):
    return {"tools": [{"name": name, "arguments": arguments} for name, arguments in calls]}


TURNS = [asks(CALLS[0]), asks(*CALLS[1:]), {"text": TEXT, "usage": {"input": 1000, "output": 30}}]


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


def same(title, found, wanted):
    return f"{title}: {found!r}, not {wanted!r}" if found != wanted else None


def recorded(kind, folder):
    """An agent whose server is recorded; what is wrong."""
    tape = folder / "sums.tape.jsonl"
    agent = kind(folder, wrapped(tape))
    with provider.Provider(folder / "provider", TURNS, sides=[{"text": "{}"}]) as model:
        ran = agent.run(PROMPT, provider.KEY, model.url)
        requests = model.requests()
    if ran.status != 0:
        return ran.why()
    turns = [request for request in requests if request["turn"] is not None and request["body"].get("tools")]
    if not turns:
        return f"no turn reached the provider: {ran.why()}"
    told = agents.results(kind.wire, turns[-1]["body"])
    calls, answers = on_tape(tape)
    return (
        same("final text", ran.text, TEXT)
        or same("calls that it tells", ran.calls, CALLS)
        or same("calls on the tape", sorted(calls, key=str), sorted(CALLS, key=str))
        or same("answers on the tape", sorted(answers), sorted(ANSWERS))
        or same("results that reached the model", len(told), len(CALLS))
        or next((f"{one!r} does not hold {answer!r}" for one, answer in zip(told, ANSWERS) if answer not in one), None)
        or same("statuses", {request["status"] for request in turns}, {200})
    )


def main():
    common.require(common.TAPEWRIGHT, provider.PEER, agents.AGENTS, common.PACKAGES)
    picked = [kind for kind in agents.ALL if not sys.argv[1:] or any(word in kind.name for word in sys.argv[1:])]
    print("agents:", ", ".join(agents.versions()))
    report = common.Report()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-agents-"))
    for kind in picked:
        report.check(f"{kind.name} recorded", recorded(kind, folder / kind.name))
    status = report.close()
    if status == 0:
        shutil.rmtree(folder)
    else:
        print(f"what they left is in {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main())
