"""Real agents whose tool hangs, fails, is slow, or whose server goes: what each makes of it.

The model asks for `get-sum`, which meets the fault, then for `echo`, then ends. What the agent did must be what faults.json
says: what the model was told of each call, whether the call was cancelled, whether the server was started again.
"""

import json
import pathlib
import re

import agents
import common
import provider
import task
from tape import Tape

EXPECTED = pathlib.Path(__file__).resolve().parent / "faults.json"
TIMEOUT_S = 3  # for a tool, as each agent is told
FAULTS = {
    "hang": "hang tool=get-sum nth=1",
    "slow": "slow tool=get-sum nth=1 delay_ms=1000",
    "error": 'error tool=get-sum nth=1 message="the index is down"',
    "exit": "exit tool=get-sum nth=1",
}
TURNS = [task.asks(task.CALLS[0]), task.asks(task.CALLS[1]), {"text": "It is done."}]
ANSWERS = (task.ANSWERS[0], task.ANSWERS[1])
TIMED_OUT = re.compile(r"time?d?[ -]?out|timed out", re.IGNORECASE)


def word(told, answer):
    """What the model heard of a call: the answer, that it took too long, the server's own error, or that it failed."""
    if answer in told:
        return "answered"
    if TIMED_OUT.search(told):
        return "timeout"
    return "error" if "the index is down" in told else "failed"


def messages(folder):
    """What went to the server, over all its starts."""
    for path in sorted(folder.glob("sums*.tape.jsonl")):
        for line, _ in Tape(path).lines["to_server"]:
            yield json.loads(line)


def did(kind, fault, folder):
    """What an agent did, as faults.json tells it."""
    # Each start has a tape of its own.
    start = f'exec "$0" record -o "{folder}/sums-$$.tape.jsonl" --fault "$1" -- "$2" "$3" "$4"'
    server = ["sh", "-c", start, str(common.TAPEWRIGHT), FAULTS[fault], *common.EVERYTHING]
    agent = kind(folder, server, TIMEOUT_S)
    with provider.Provider(folder / "provider", TURNS, sides=[{"text": "{}"}]) as model:
        ran = agent.run("Add 2 and 3, then say five.", provider.KEY, model.url)
        turns = [one for one in model.requests() if one["turn"] is not None and one["body"].get("tools")]
    told = agents.results(kind.wire, turns[-1]["body"])
    sent = list(messages(folder))
    also = []
    if any(one.get("method") == "notifications/cancelled" for one in sent):
        also.append("cancel")
    if len([one for one in sent if one.get("method") == "initialize"]) > 1:
        also.append("restart")
    asked = [one["params"]["name"] for one in sent if one.get("method") == "tools/call"]
    if asked.count("get-sum") > 1:
        also.append("retry")
    if ran.status != 0 or ran.text != "It is done.":
        also.append(f"ends with {ran.status} and {ran.text!r}")
    return {"told": [word(one, answer) for one, answer in zip(told, ANSWERS)], "and": also}, told, ran


def cells(report, folder, words, learn=False):
    """Reports each cell whose name contains one of `words`."""
    expected = json.loads(EXPECTED.read_text("utf-8")) if EXPECTED.exists() else {}
    for kind in agents.ALL:
        for fault in FAULTS:
            name = f"{kind.name}/{fault}"
            if words and not any(word in name for word in words):
                continue
            found, told, ran = did(kind, fault, folder / name)
            if learn:
                expected[name] = found
                print(f"{name}: {found} after {ran.seconds:.1f} s, told {told}")
            report.check(name, task.same("what it did", found, expected.get(name)))
    if learn:
        lines = [f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in expected.items()]
        EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
