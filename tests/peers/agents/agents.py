"""Three real agents from npm: how each is told its provider and its server, and how what it says is read.

None of them has a home of ours, telemetry or updates: each run has a folder of its own, and an environment that holds
nothing but what stands here.
"""

import json
import os
import pathlib
import subprocess
import time

import common

AGENTS = common.PEERS / "agents/node_modules"
SERVER = "sums"  # what the agents call their MCP server
DEADLINE_S = 60


class Ran:
    """An agent, done: what it called, what came back, what it said at last."""

    def __init__(self, agent, command, environment, folder):
        began = time.monotonic()
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        self.seconds = time.monotonic() - began
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.events = []
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                self.events.append(json.loads(line))
        self.calls = agent.calls(self.events)
        self.text = agent.text(self.events)

    def why(self):
        """The end of what it said, for a message."""
        return f"exit {self.status}: {self.stdout[-600:]} {self.stderr[-600:]}"


class Agent:
    """`timeout_s` is how long the agent waits for a tool; none is its own choice."""

    name = wire = variable = ""

    def __init__(self, folder, server, timeout_s=None):
        self.folder, self.server, self.timeout_s = folder, server, timeout_s
        self.work = folder / "work"
        self.home = folder / "home"
        for place in (self.work, self.home):
            place.mkdir(parents=True, exist_ok=True)

    def environment(self, key):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "NO_COLOR": "1", **self.own_environment(key)}

    def run(self, prompt, key, url=None, around=(), more=None):
        """Runs it, through the command `around` it, which may name the provider in its stead."""
        environment = self.environment(key) | (more or {})
        if url:
            environment[self.variable] = url + self.path
        self.configure()
        return Ran(self, [*around, *self.command(prompt)], environment, self.work)


class Claude(Agent):
    name, wire, variable, path, provider = "claude", "anthropic", "ANTHROPIC_BASE_URL", "", "anthropic"
    model = "claude-sonnet-4-5"

    def own_environment(self, key):
        wait = {"MCP_TOOL_TIMEOUT": str(self.timeout_s * 1000)} if self.timeout_s else {}
        return wait | {
            "ANTHROPIC_API_KEY": key,
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
        }

    def configure(self):
        server = {"command": self.server[0], "args": self.server[1:]}
        (self.folder / "mcp.json").write_text(json.dumps({"mcpServers": {SERVER: server}}), "utf-8")

    def command(self, prompt):
        binary = next(iter(sorted(AGENTS.glob("@anthropic-ai/claude-code-*/claude"))))
        allowed = [f"mcp__{SERVER}__{tool}" for tool in ("echo", "get-sum")]
        options = ["--mcp-config", "../mcp.json", "--strict-mcp-config", "--allowedTools", ",".join(allowed)]
        shape = ["--output-format", "stream-json", "--verbose", "--model", self.model]
        return [str(binary), "-p", prompt, *options, *shape]

    @staticmethod
    def calls(events):
        blocks = [block for event in events if event["type"] == "assistant" for block in event["message"]["content"]]
        return [(bare(block["name"]), block["input"]) for block in blocks if block["type"] == "tool_use"]

    @staticmethod
    def text(events):
        return next((event.get("result") for event in events if event["type"] == "result"), None)


class Gemini(Agent):
    name, wire, variable, path, provider = "gemini", "gemini", "GOOGLE_GEMINI_BASE_URL", "", "gemini"
    model = "gemini-2.5-flash"

    def own_environment(self, key):
        return {"GEMINI_API_KEY": key, "NO_BROWSER": "1", "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def configure(self):
        server = {"command": self.server[0], "args": self.server[1:], "trust": True}
        if self.timeout_s:
            server["timeout"] = self.timeout_s * 1000
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "mcpServers": {SERVER: server},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        }
        place = self.home / ".gemini"
        place.mkdir(exist_ok=True)
        (place / "settings.json").write_text(json.dumps(settings), "utf-8")

    def command(self, prompt):
        script = AGENTS / "@google/gemini-cli/bundle/gemini.js"
        return [common.NODE, str(script), "-p", prompt, "--model", self.model, "--yolo", "--output-format", "stream-json"]

    @staticmethod
    def calls(events):
        return [(bare(event["tool_name"]), event["parameters"]) for event in events if event["type"] == "tool_use"]

    @staticmethod
    def text(events):
        parts = [event["content"] for event in events if event["type"] == "message" and event["role"] == "assistant"]
        return "".join(parts) or None


class Codex(Agent):
    name, wire, variable, path, provider = "codex", "openai-responses", "OPENAI_BASE_URL", "/v1", "openai"
    model = "gpt-5"

    def own_environment(self, key):
        return {"CODEX_HOME": str(self.home / ".codex"), "SCRIPTED_KEY": key}

    def configure(self):
        quoted = json.dumps  # a basic string of TOML
        wait = f"tool_timeout_sec = {self.timeout_s}\n" if self.timeout_s else ""
        settings = f"""\
model = {quoted(self.model)}
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:9/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"

[mcp_servers.{SERVER}]
command = {quoted(self.server[0])}
args = {quoted(self.server[1:])}
{wait}
[analytics]
enabled = false
"""
        place = self.home / ".codex"
        place.mkdir(exist_ok=True)
        (place / "config.toml").write_text(settings, "utf-8")

    def command(self, prompt):
        """Its providers have no variable for their address: a shell puts it into its place."""
        launcher = AGENTS / "@openai/codex/bin/codex.js"
        script = 'exec "$@" -c "model_providers.scripted.base_url=\\"$OPENAI_BASE_URL\\""'
        return ["sh", "-c", script, "sh", common.NODE, str(launcher), "exec", "--skip-git-repo-check", "--json", prompt]

    @staticmethod
    def calls(events):
        begun = [event["item"] for event in events if event["type"] == "item.started"]
        return [(item["tool"], item["arguments"]) for item in begun if item["type"] == "mcp_tool_call"]

    @staticmethod
    def text(events):
        done = [event["item"] for event in events if event["type"] == "item.completed"]
        return next((item["text"] for item in reversed(done) if item["type"] == "agent_message"), None)


ALL = [Claude, Gemini, Codex]


def bare(name):
    """The name of a tool as its server knows it."""
    for start in (f"mcp__{SERVER}__", f"mcp_{SERVER}_", f"{SERVER}__"):
        if name.startswith(start):
            return name.removeprefix(start)
    return name


def results(wire, body):
    """What the model was told of its calls, in the last request that an agent made."""
    if wire == "anthropic":
        blocks = [block for message in body["messages"] for block in content(message)]
        return [plain(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
    if wire == "gemini":
        parts = [part for message in body["contents"] for part in message["parts"]]
        return [plain(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]
    return [plain(item["output"]) for item in body["input"] if item.get("type") == "function_call_output"]


def content(message):
    return message["content"] if isinstance(message["content"], list) else []


def plain(value):
    return value if isinstance(value, str) else json.dumps(value)


def versions():
    """What is installed, for a report."""
    for name in ("@anthropic-ai/claude-code", "@google/gemini-cli", "@openai/codex"):
        package = json.loads(pathlib.Path(AGENTS / name / "package.json").read_text("utf-8"))
        yield f"{name} {package['version']}"
