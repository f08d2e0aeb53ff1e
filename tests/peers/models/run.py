#!/usr/bin/env python3
"""Official SDKs of model providers, direct and through the recorder: they see the same, and the recorder tells what they saw.

    run.py [NAME...]     NAME picks the SDKs whose name contains it

Each SDK asks for tools in a loop of two turns, whole and streamed, and meets errors: a wrong key, a limit, an overload, a
stream that is cut, one that fails. From the recording alone it sees the same again. The provider is the scripted one, which says the same each time but for its ids. Then some
of them ask a LiteLLM proxy, which we did not write.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "http")]

import common
import litellm
import loop
import provider
from gateway import Gateway, Listening
from servers import plain_environment

PYTHON = common.PEERS / "venv-models/bin/python"
PY_SDK = [str(PYTHON), "-B", str(HERE / "py_sdk.py")]
TS_SDK = [common.NODE, str(HERE / "ts_sdk.mjs")]
# name -> how it is started, its wire
SDKS = {
    "anthropic": (PY_SDK, "anthropic"),
    "openai-chat": (PY_SDK, "openai-chat"),
    "openai-responses": (PY_SDK, "openai-responses"),
    "google-genai": (PY_SDK, "gemini"),
    "mistralai": (PY_SDK, "openai-chat"),
    "openai-agents": (PY_SDK, "openai-responses"),
    "ts-anthropic": (TS_SDK, "anthropic"),
    "ts-openai-chat": (TS_SDK, "openai-chat"),
    "ts-openai-responses": (TS_SDK, "openai-responses"),
}
CASES = ["whole", "stream", "limited", "overloaded", "cut", "fails", "refused"]
LONG = "one two three four five six seven eight nine ten"
SCRIPT = {
    "turns": [
        {
            "thinking": "two numbers",
            "text": "I shall add them.",
            "tools": [{"name": "add", "arguments": {"a": 2, "b": 3}}, {"name": "add", "arguments": {"b": 3, "a": 2}}],
            "usage": {"input": 321, "output": 45, "cached": 300, "reasoning": 5},
        },
        {"text": "It is 5. Gr\u00fc\u00dfe \U0001f600", "usage": {"input": 400, "output": 9}},
    ],
    "sides": [
        {"when": "be limited", "status": 429, "retry_after": 7, "message": "slow down"},
        {"when": "be overloaded", "status": 529, "message": "too many"},
        {"when": "be cut", "text": LONG, "cut": 5, "pause_ms": 20},
        {"when": "be fails", "text": LONG, "fails": 5},
    ],
}
# The provider's ids, which differ in each answer.
IDS = re.compile(r"\b([a-z]+[_-])?[0-9a-f]+n[0-9a-f]+(?=_t|_?\b|\")")
# A thought's signature: as the provider says it, as a recording hides it, and as that is served (in base64).
SIGNATURE = re.compile(r"c2lnbmVkdHVybg\d\d|<REDACTED:\w+#\d+>|PFJFREFDVEVEO[\w+/]+=*")
DEADLINE_S = 120


def ran(name, url, cases, key=provider.KEY):
    """What an SDK says, a line for each case."""
    command, _ = SDKS[name]
    done = subprocess.run(
        [*command, name, url, key, *cases],
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != len(cases):
        raise RuntimeError(f"exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-1500:]}")
    return lines


def told(lines, url):
    """The lines without what differs from run to run: ids and the address."""
    return [IDS.sub("ID", json.dumps(line).replace(url, "URL")) for line in lines]


def difference(one, other):
    """Where two texts part, for a message."""
    at = next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    return f"…{one[max(0, at - 200) : at + 120]}… is not …{other[at : at + 120]}…"


def inspected(tape):
    done = subprocess.run([str(common.TAPEWRIGHT), "inspect", "--json", str(tape)], capture_output=True, check=False)
    return json.loads(done.stdout)["model_calls"]


def own_figures(calls):
    """What inspect says of the calls that were answered, as an SDK says it."""
    return [
        {
            "stream": call["stream"],
            "input": call["input_tokens"],
            "cached": call["cache_read_tokens"] or None,
            "output": call["output_tokens"],
            "tools": call["tool_uses"],
        }
        for call in calls
        if call["end"] == "answered"
    ]


def keys_on_disk(folder, key=provider.KEY):
    return [str(path) for path in folder.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]


def sdk(name, folder):
    """One SDK, direct and recorded; what is wrong."""
    wire = SDKS[name][1]
    with provider.Provider(folder / "provider", **SCRIPT) as model:
        direct = ran(name, model.url, CASES)
        gateway = Gateway(folder / "recorded", model.url)
        try:
            url = f"http://127.0.0.1:{gateway.port}"
            through = ran(name, url, CASES)
        finally:
            end = gateway.close()
    if end:
        return end
    for one, other in zip(told(direct, model.url), told(through, url)):
        if one != other:
            return difference(one, other)
    [tape] = gateway.tapes()
    calls = inspected(tape)
    if {call["wire"] for call in calls} != {wire}:
        return f"the calls are of {sorted({call['wire'] for call in calls})}, not {wire}"
    figures, wanted = own_figures(calls), [call for line in through for call in line["calls"]]
    if figures != wanted or not wanted:
        return f"inspect tells {figures}, the SDK {wanted}"
    ends = [call["end"] for call in calls if call["end"] != "answered"]
    if sorted(ends) != sorted(["failed", "failed", "cut_short", "failed", "failed"]):
        return f"the calls in trouble ended {ends}"
    if found := keys_on_disk(folder / "recorded"):
        return f"the key is in {found}"
    return offline(name, tape, folder / "offline", through)


def hidden(lines):
    """The lines without what a recording hides: the signature of a thought, and with it the length of its body."""
    said = [SIGNATURE.sub("SIGNATURE", json.dumps(line)) for line in lines]
    return [re.sub(r'"content-length": "\d+"', '"content-length": "…"', line) for line in said]


def offline(name, tape, folder, through):
    """The same SDK from the recording alone, without provider or key; what is wrong."""
    # What is refused for its key, and what is cut or fails, has no answer that another key could get.
    cases = ["whole", "stream", "limited", "overloaded"]
    replay = Listening(folder, ["replay", str(tape), "--models", "--listen", "127.0.0.1:0"])
    try:
        url = f"http://127.0.0.1:{replay.port}"
        lines = ran(name, url, cases, "none")
    finally:
        end = replay.close()
    if end:
        return end
    for one, other in zip(hidden(through), hidden(lines)):
        if one != other:
            return f"offline: {difference(one, other)}"
    return None


def foreign(name, proxy, folder):
    """An SDK that asks LiteLLM, direct and recorded; what is wrong."""
    cases, wire = litellm.CASES[name], SDKS[name][1]
    direct = ran(name, proxy.url, cases, litellm.KEY)
    gateway = Gateway(folder, proxy.url)
    try:
        through = ran(name, f"http://127.0.0.1:{gateway.port}", cases, litellm.KEY)
    finally:
        end = gateway.close()
    if end:
        return end
    texts = [json.dumps(lines).count(litellm.TEXT) for lines in (direct, through)]
    if texts[0] != texts[1] or not texts[0]:
        return f"the text comes {texts[1]} times, not {texts[0]}: {through}"
    if [line["calls"] for line in direct] != [line["calls"] for line in through]:
        return f"{through} is not {direct}"
    [tape] = gateway.tapes()
    calls = inspected(tape)
    if {call["wire"] for call in calls} != {wire} or len(calls) != len(cases):
        return f"the calls are {calls}, not {len(cases)} of {wire}"
    figures = own_figures(calls)
    wanted = [call for line in through for call in line["calls"]]
    if figures[: len(wanted)] != wanted:
        return f"inspect tells {figures}, the SDK {wanted}"
    if found := keys_on_disk(folder, litellm.KEY):
        return f"the key is in {found}"
    return None


def main():
    common.require(common.TAPEWRIGHT, provider.PEER, PYTHON, litellm.PROXY, common.PEERS / "models/node_modules/openai")
    picked = [name for name in SDKS if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
    report = common.Report()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-models-"))

    def one(title, cell, *arguments):
        try:
            report.check(title, cell(*arguments))
        except Exception as error:  # a cell that breaks is a cell that fails
            report.fail(title, repr(error))

    workers = int(os.environ.get("TAPEWRIGHT_PEERS_WORKERS", "2"))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for name in picked:
            pool.submit(one, f"{name} recorded", sdk, name, folder / name)
        proxied = [name for name in picked if name in litellm.CASES]
        if proxied:
            with litellm.LiteLlm(folder / "litellm") as proxy:
                cells = [
                    pool.submit(one, f"{name} of LiteLLM recorded", foreign, name, proxy, folder / "litellm" / name)
                    for name in proxied
                ]
                concurrent.futures.wait(cells)
                one("our own loop with LiteLLM, and from its cassettes", loop.check, proxy.url, folder / "loop")
    status = report.close()
    if status == 0:
        shutil.rmtree(folder)
    else:
        print(f"what they left is in {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main())
