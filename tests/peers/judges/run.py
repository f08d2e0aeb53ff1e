#!/usr/bin/env python3
"""Judges behind a LiteLLM proxy, which we did not write: one agrees, one disagrees, one says no JSON, one is slow, one is over
its limit. A suite asks them live and records what they said; then, without proxy and key, the recording says the same.

    run.py [NAME...]     NAME picks the tests whose name contains it
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("models", "http", "")]

import common
import litellm
import provider
from servers import plain_environment


def verdict(passes, score, reason):
    return json.dumps({"pass": passes, "score": score, "reason": reason})


JUDGES = {
    "agree": {"mock_response": verdict(True, 0.9, "it names service and release")},
    "disagree": {"mock_response": verdict(False, 0.2, "it names no release")},
    "malformed": {"mock_response": "I would rather not say."},
    "slow": {"mock_response": verdict(True, 0.8, "after a while"), "mock_delay": 2.5},
    "limited": {"mock_response": "litellm.RateLimitError"},
    "embeds": {"model": "openai/text-embedding-3-small", "mock_response": [0.6, 0.8]},
}
RUBRIC = "It names the service and the release."


def judge(name):
    return {"llm-judge": {"rubric": RUBRIC, "model": f"proxy/{name}"}}


def jury(*names, quorum=0.5):
    jurors = [{"model": f"proxy/{name}"} for name in names]
    return {"llm-jury": {"rubric": RUBRIC, "jurors": jurors, "quorum": quorum}}


# test -> its matcher, its status with the judges, its status without (nobody can be asked for what was never said)
TESTS = {
    "agreed": (judge("agree"), "pass", "pass"),
    "disagreed": (judge("disagree"), "fail", "fail"),
    "slow": (judge("slow"), "pass", "pass"),
    "malformed": (judge("malformed"), "error", "deferred"),
    "limited": (judge("limited"), "error", "deferred"),
    "jury of three": (jury("agree", "slow", "disagree"), "pass", "pass"),
    "strict jury": (jury("agree", "slow", "disagree", quorum=0.7), "fail", "fail"),
    "jury of whom two abstain": (jury("agree", "malformed", "limited"), "pass", "pass"),
    "similar": ({"similar": {"value": "payments went out", "threshold": 0.85, "model": "proxy/embeds"}}, "pass", "pass"),
}
PATIENCE_S = 120


def suite(url, picked):
    """JSON is YAML."""
    test = lambda name: {
        "name": name,
        "server": "peer",
        "tool": "echo",
        "args": {"message": "payments 1.4.2 is deployed"},
        "expect": [{"target": "result.content[0].text", "matcher": TESTS[name][0]}],
    }
    return json.dumps(
        {
            "servers": {"peer": {"command": [str(provider.PEER), "suite"]}},
            "providers": {"proxy": {"type": "openai", "base_url": f"{url}/v1", "api_key_env": "PROXY_KEY"}},
            "tools": [test(name) for name in picked],
        }
    )


def ran(folder, own, *words):
    """The exit status, and the status of each test with what the judges said."""
    command = [str(common.TAPEWRIGHT), "run", "suite.yaml", "--format", "json", *words]
    environment = plain_environment() | {"HOME": str(folder), "TAPEWRIGHT_HOME": str(folder / "state")} | own
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    if not done.stdout:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[-1500:]}")
    tests = json.loads(done.stdout)["suites"][0]["tests"]
    return done, {test["name"]: test for test in tests}


def kept(value):
    """What must be the same: not whether it was said now or earlier, and not why somebody abstained."""
    if isinstance(value, list):
        return [kept(one) for one in value]
    if not isinstance(value, dict):
        return value
    other = {"replayed", "reason"} if value.get("outcome") == "error" else {"replayed"}
    return {name: kept(member) for name, member in value.items() if name not in other}


def said(test):
    """The status of a test, what its judges said, and what its failures tell."""
    return test["status"], kept(test.get("judgements", [])), [one.get("note") for one in test.get("failures", [])]


def main():
    common.require(common.TAPEWRIGHT, provider.PEER, litellm.PROXY)
    picked = [name for name in TESTS if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
    report = common.Report()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-judges-"))
    work = folder / "work"
    work.mkdir()
    with litellm.LiteLlm(folder / "litellm", JUDGES) as proxy:
        (work / "suite.yaml").write_text(suite(proxy.url, picked), "utf-8")
        _, live = ran(work, {"PROXY_KEY": litellm.KEY}, "--record")
    # The proxy is gone, and so is the key.
    _, replayed = ran(work, {})
    for name in picked:
        _, wanted, later = TESTS[name]
        now, then = live[name], replayed[name]
        report.check(f"{name}, live", now["status"] != wanted and f"{now['status']}, not {wanted}: {json.dumps(now)[-900:]}")
        why = then["status"] != later and f"{then['status']}, not {later}: {json.dumps(then)[-900:]}"
        if not why and wanted == later and said(now) != said(then):
            why = f"{said(then)} is not {said(now)}"
        report.check(f"{name}, from the recording", why)
    held = [str(path) for path in work.rglob("*") if path.is_file() and litellm.KEY.encode() in path.read_bytes()]
    report.check("the key is on no disk", held and str(held))
    status = report.close()
    if status == 0:
        shutil.rmtree(folder)
    else:
        print(f"what they left is in {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main())
