#!/usr/bin/env python3
"""Real agents, with their model and their MCP server in one recording: the model asks for tools, the calls reach the server,
the answers the model. Then the same agents from the recording alone: the same calls, the same text, no server, provider or key.

    run.py [--learn] [NAME...]     NAME picks the cells whose name contains it; --learn writes faults.json anew

The model is the scripted provider, which refuses a request without its key, and one whose calls and results do not fit.
"""

import json
import os
import pathlib
import shutil
import subprocess
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


SERVED = [str(common.TAPEWRIGHT), "record", "--label", agents.SERVER, "--", *common.EVERYTHING]


def on_tape(path):
    """The calls of tools on a tape, and what the server answered to them."""
    tape = Tape(path)
    asked = [json.loads(line) for line, _ in tape.lines["to_server"]]
    answers = {one["id"]: one for one in (json.loads(line) for line, _ in tape.lines["to_client"]) if "result" in one}
    calls = [one for one in asked if one.get("method") == "tools/call"]
    names = [(one["params"]["name"], one["params"]["arguments"]) for one in calls]
    return names, [answers[one["id"]]["result"]["content"][0]["text"] for one in calls]


def recorded(kind, folder):
    """An agent with its model and its server in one recording; what is wrong."""
    run = folder / "run"
    agent = kind(folder / "live", SERVED)
    with provider.Provider(folder / "provider", task.TURNS, sides=[{"text": "{}"}]) as model:
        recorder = [str(common.TAPEWRIGHT), "record", "--models", "-o", str(run)]
        around = [*recorder, "--provider", f"{kind.provider}={model.url}{kind.path}", "--"]
        ran = agent.run(task.PROMPT, provider.KEY, around=around)
        requests = model.requests()
    if ran.status != 0:
        return ran.why()
    turns = [request for request in requests if request["turn"] is not None and request["body"].get("tools")]
    if not turns:
        return f"no turn reached the provider: {ran.why()}"
    told = agents.results(kind.wire, turns[-1]["body"])
    calls, answers = on_tape(run / f"{agents.SERVER}.tape.jsonl")
    return (
        behaved(ran)
        or task.same("calls on the tape", sorted(calls, key=str), sorted(task.CALLS, key=str))
        or task.same("answers on the tape", sorted(answers), sorted(task.ANSWERS))
        or task.same("results that reached the model", len(told), len(task.CALLS))
        or task.same("answers that the model was not told", unanswered(told), [])
        or task.same("statuses", {request["status"] for request in turns}, {200})
        or inspected(kind, run, turns)
        or task.same("files with the key", with_key(run), [])
    )


def unanswered(told):
    """Answers of the server that the model was not told."""
    return [answer for answer in task.ANSWERS if not any(answer in one for one in told)]


def behaved(ran):
    """Whether an agent called and said what the model told it to."""
    return task.same("final text", ran.text, task.TEXT) or task.same(
        "calls that it tells", sorted(ran.calls, key=str), sorted(task.CALLS, key=str)
    )


def inspected(kind, run, turns):
    """Whether inspect tells the model's calls as the provider knows them."""
    done = subprocess.run([str(common.TAPEWRIGHT), "inspect", "--json", str(run)], capture_output=True, check=False)
    told = json.loads(done.stdout)
    calls = [call for part in told["parts"] for call in part.get("model_calls", [])]
    done = [(one["by"]["tool"], one["guess"]) for one in told["tools_asked"] if one["fate"] == "called"]
    asked = [[agents.bare(name).replace("_", "-") for name in call["tool_uses"]] for call in calls]
    return (
        task.same("wires", {call["wire"] for call in calls}, {kind.wire})
        or task.same("calls of the model", len(calls), len(turns))
        or task.same("tokens", [call["input_tokens"] for call in calls], [100, 100, 1000])
        or task.same("tools that the model asked for", asked, [["get-sum", "echo"], ["get-sum"], []])
        or task.same("calls of tools, and whether they are guessed", done, [(name, False) for name, _ in task.CALLS])
        or task.same("calls that no model asked for", told.get("tools_unasked", []), [])
    )


def with_key(folder):
    return [str(path) for path in folder.rglob("*") if path.is_file() and provider.KEY.encode() in path.read_bytes()]


class Replayed:
    """The model side of a recording, served in the agent's own place, for a `with` block."""

    def __init__(self, run, agent):
        self._report = agent.folder / "replay.json"
        command = [str(common.TAPEWRIGHT), "replay", str(run), "--models", "--listen", "127.0.0.1:0"]
        self._command = [*command, "--report", str(self._report)]
        self._agent = agent

    def __enter__(self):
        self._process = subprocess.Popen(
            self._command,
            cwd=self._agent.work,
            env={"PATH": os.environ["PATH"], "HOME": str(self._agent.home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self._process.stdout.readline()
        self.addresses = json.loads(line) if line else {}
        return self

    def __exit__(self, *_):
        self._process.terminate()
        _, self.stderr = self._process.communicate(timeout=30)

    def models(self):
        return json.loads(self._report.read_text("utf-8"))["models"]


def offline(kind, folder):
    """The same agent from the recording alone, without server, provider or key; what is wrong."""
    run = folder / "run"
    server = [str(common.TAPEWRIGHT), "replay", str(run / f"{agents.SERVER}.tape.jsonl")]
    # In the same place, with nothing of the first run in it.
    (folder / "live").rename(folder / "recorded")
    agent = kind(folder / "live", server)
    with Replayed(run, agent) as replay:
        address = replay.addresses.get(kind.variable)
        ran = agent.run(task.PROMPT, "none", more={kind.variable: address}) if address else None
    if not ran:
        return f"no address for {kind.name}: {replay.addresses} {replay.stderr[-600:]}"
    if ran.status != 0:
        return f"{ran.why()} {replay.stderr[-600:]}"
    models = replay.models()
    return behaved(ran) or task.same("missed calls of the model", models["missed"], 0)


def main():
    words = [word for word in sys.argv[1:] if word != "--learn"]
    common.require(common.TAPEWRIGHT, provider.PEER, agents.AGENTS, common.PACKAGES)
    print("agents:", ", ".join(agents.versions()))
    report = common.Report()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-agents-"))
    for kind in agents.ALL:
        name = f"{kind.name}/recorded and offline"
        if not words or any(word in name for word in words):
            why = recorded(kind, folder / kind.name)
            report.check(f"{kind.name}/recorded", why)
            if not why:
                report.check(f"{kind.name}/offline", offline(kind, folder / kind.name))
    faults.cells(report, folder, words, "--learn" in sys.argv)
    status = report.close()
    if status == 0:
        shutil.rmtree(folder)
    else:
        print(f"what they left is in {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main())
