"""Our own loop: `tapewright run` with an agent test for each wire, live against a provider, then from its cassettes alone."""

import json
import subprocess

import common
import litellm
import provider
from servers import plain_environment

MODELS = [*litellm.MODELS, "{provider: own, id: gpt-5}"]
PATIENCE_S = 60


def suite(url, server):
    return (
        f"servers: {{ sums: {{ command: {json.dumps(server)} }} }}\n"
        f"providers: {{ own: {{ type: openai, base_url: {url}/v1, api_key_env: OPENAI_API_KEY }} }}\n"
        "agents:\n"
        f"  - name: sum query\n    models: [{', '.join(MODELS)}]\n    servers: [sums]\n    prompt: What is 2 + 3?\n"
        "    expect:\n"
        f"      - {{ target: final_response, matcher: {{ exact: {json.dumps(litellm.TEXT)} }} }}\n"
        "      - { target: conversation.stop_reason, matcher: { exact: completed } }\n"
    )


def ran(folder, own, *words):
    command = [str(common.TAPEWRIGHT), "run", "agents.yaml", "--format", "json", *words]
    environment = plain_environment() | {"HOME": str(folder), "TAPEWRIGHT_HOME": str(folder / "state")} | own
    end = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
    tests = json.loads(end.stdout)["suites"][0]["tests"] if end.stdout else []
    return end, [(test["status"], test["replay"]) for test in tests]


def check(url, folder):
    """What is wrong, or None."""
    folder.mkdir(parents=True)
    (folder / "agents.yaml").write_text(suite(url, [str(provider.PEER), "suite"]), "utf-8")
    own = {
        "ANTHROPIC_BASE_URL": url,
        "OPENAI_BASE_URL": f"{url}/v1",
        "GOOGLE_GEMINI_BASE_URL": url,
    } | {name: litellm.KEY for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")}
    end, rows = ran(folder, own, "--record")
    if end.returncode or rows != [("pass", False)] * len(MODELS):
        return f"live: {end.returncode} {rows} {end.stdout[-1500:]} {end.stderr[-500:]}"
    (folder / "agents.yaml").write_text(suite("http://127.0.0.1:9", ["/nowhere/at/all"]), "utf-8")
    end, rows = ran(folder, {})
    if end.returncode or rows != [("pass", True)] * len(MODELS):
        return f"from cassettes: {end.returncode} {rows} {end.stdout[-1500:]} {end.stderr[-500:]}"
    cassettes = list((folder / "cassettes").iterdir())
    if len(cassettes) != len(MODELS) or any(litellm.KEY in one.read_text("utf-8") for one in cassettes):
        return f"the cassettes are {cassettes}, or hold the key"
    return None
