#!/usr/bin/env python3
"""Real clients before, wrapped and unwrapped: they list the same servers in the same state, a recording is made in between,
and their files hold the same bytes again.

    wrap.py [NAME...]     NAME picks the cells whose name contains it

Claude Code and Gemini CLI start the servers that they list, and say whether these answered; Codex tells how it would. None
needs a key or a network, and each has a home of its own.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "agents")]

import agents
import common
from tape import Tape

SERVER = "every thing"  # a name with a blank, which clients take
FILES = [common.NODE, str(common.PACKAGES / "server-everything/dist/index.js")]
DEADLINE_S = 90


def quoted(value):
    return json.dumps(value)


class Client:
    """A client in a home of its own. `scope` is where its entry stands."""

    name = scope = ""

    def __init__(self, folder):
        self.home, self.work, self.state = folder / "home", folder / "work", folder / "state"
        for place in (self.home, self.work):
            place.mkdir(parents=True)
        # The recorder by its bare name, which entries of projects have.
        (folder / "bin").mkdir()
        (folder / "bin/tapewright").symlink_to(common.TAPEWRIGHT)
        self.environment = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "NO_COLOR": "1",
            "TAPEWRIGHT_HOME": str(self.state),
            **self.own_environment(),
        }
        self.file().parent.mkdir(parents=True, exist_ok=True)
        self.file().write_bytes(self.text().encode())

    def own_environment(self):
        return {}

    def ran(self, command):
        done = subprocess.run(
            command,
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        if done.returncode != 0:
            raise ValueError(f"{command[:4]} ended with {done.returncode}: {done.stdout[-400:]} {done.stderr[-400:]}")
        return done.stdout

    def ours(self, *words):
        return self.ran(["tapewright", *words, "--client", self.name, "--scope", self.scope])


class Claude(Client):
    name, scope = "claude-code", "user"

    def file(self):
        return self.home / ".claude.json"

    def own_environment(self):
        quiet = ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING", "DISABLE_TELEMETRY"]
        return dict.fromkeys(quiet, "1")

    def entry(self):
        return f'{{ "type": "stdio", "env": {{}}, "args": {quoted(FILES[1:])},\t"command": {quoted(FILES[0])} }}'

    def text(self):
        return f'{{\n  "mcpServers": {{\n    {quoted(SERVER)}: {self.entry()}\n  }}\n}}'

    def listed(self):
        binary = next(iter(sorted(agents.AGENTS.glob("@anthropic-ai/claude-code-*/claude"))))
        lines = self.ran([str(binary), "mcp", "list"]).splitlines()
        # NAME: COMMAND - STATE
        return sorted((line.split(": ")[0], line.rsplit(" - ")[-1]) for line in lines if " - " in line)

    connected = (SERVER, "✔ Connected")


class ClaudeLocal(Claude):
    """An entry for one folder, in the file of the user."""

    scope = "local"

    def text(self):
        inner = f'{{ "mcpServers": {{ {quoted(SERVER)}: {self.entry()} }} }}'
        return f'{{"projects": {{\r\n  {quoted(str(self.work))}: {inner}\r\n}}}}\r\n'


class Gemini(Client):
    name, scope = "gemini", "user"

    def file(self):
        return self.home / ".gemini/settings.json"

    def own_environment(self):
        return {"GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true", "NO_BROWSER": "1"}

    def text(self):
        command = f'"trust": true, "command": {quoted(FILES[0])}, /* "args": [] */ "args": {quoted(FILES[1:])}'
        return f"""\
{{
  // what we say here stays
  "privacy": {{ "usageStatisticsEnabled": false }}, "telemetry": {{ "enabled": false }},
  "mcpServers": {{ {quoted(SERVER)}: {{ {command} }} }}
}}
"""

    def listed(self):
        script = agents.AGENTS / "@google/gemini-cli/bundle/gemini.js"
        told = self.ran([common.NODE, str(script), "mcp", "list"])
        # It lists on standard error where that is no terminal in some versions: both are looked at by the caller.
        return sorted(re.findall(r"^\S+ (.+?): .* - (\w+)$", told, re.MULTILINE))

    def ran(self, command):
        if command[0] == "tapewright":
            return super().ran(command)
        return super().ran(["sh", "-c", 'exec "$@" 2>&1', "sh", *command])

    connected = (SERVER, "Connected")


class GeminiProject(Gemini):
    scope = "project"

    def file(self):
        return self.work / ".gemini/settings.json"


class Codex(Client):
    name, scope = "codex", "user"
    connected = None  # it lists without starting anything

    def file(self):
        return self.home / ".codex/config.toml"

    def text(self):
        return f"""\
# servers
[mcp_servers.{quoted(SERVER)}]   # the only one
args = [
  {quoted(FILES[1])}, # a comment in a list
]
command = {quoted(FILES[0])}
startup_timeout_sec = 20

[mcp_servers.{quoted(SERVER)}.env]
LEVEL = "debug"
"""

    def told(self):
        launcher = agents.AGENTS / "@openai/codex/bin/codex.js"
        return json.loads(self.ran([common.NODE, str(launcher), "mcp", "list", "--json"]))

    def listed(self):
        """What it would start, with what stands in front of the old command taken off."""
        servers = self.told()
        for server in servers:
            transport = server["transport"]
            argv = [transport.pop("command"), *transport.pop("args")]
            transport["argv"] = argv[argv.index("--") + 1 :] if "--" in argv else argv
        return servers


CELLS = [Claude, ClaudeLocal, Gemini, GeminiProject, Codex]


def recorded(client, folder):
    """What is wrong with what a wrapped client left in the folder of recordings."""
    tapes = [Tape(path) for path in folder.glob("*.tape.jsonl")]
    if not tapes:
        return "nothing was recorded"
    methods = {json.loads(line).get("method") for line, _ in tapes[0].lines["to_server"]}
    whole = all(tape.footer is not None and not tape.wrong for tape in tapes)
    return None if "initialize" in methods and whole else f"methods {methods}, whole: {whole}"


def cell(kind, folder):
    """What is wrong, or nothing."""
    client = kind(folder)
    before = client.listed()
    if not before or client.connected and client.connected not in before:
        return f"it does not list the server by itself: {before}"
    settled = client.file().read_bytes()  # Claude Code lays its file out anew when it first runs
    recordings = folder / "recordings"
    client.ours("wrap", SERVER, "-o", f"{recordings}/")
    if client.file().read_bytes() == settled:
        return "wrapping changed nothing"
    wrapped = client.listed()
    if wrapped != before:
        return f"it lists {wrapped} when wrapped, and {before} by itself"
    wrong = client.connected and recorded(client, recordings)
    client.ours("unwrap", SERVER)
    if client.file().read_bytes() != settled:
        return f"other bytes than before: {client.file().read_bytes()!r}, before {settled!r}"
    if client.listed() != before:
        return "it lists something else when unwrapped"
    left = sorted(str(path.relative_to(client.state)) for path in client.state.rglob("*") if path.is_file())
    return wrong or (f"left in the state folder: {left}" if left else None)


def main():
    words = sys.argv[1:]
    common.require(common.TAPEWRIGHT, agents.AGENTS, common.PACKAGES)
    print("clients:", ", ".join(agents.versions()))
    report = common.Report()
    # Codex makes no files of its own below /tmp, and says so.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-wrap-"))
    for kind in CELLS:
        name = f"{kind.name}/{kind.scope}"
        if not words or any(word in name for word in words):
            try:
                report.check(name, cell(kind, folder / name))
            except (ValueError, subprocess.TimeoutExpired) as problem:
                report.fail(name, problem)
    status = report.close()
    if status == 0:
        shutil.rmtree(folder)
    else:
        print(f"what they left is in {folder}")
    return status


if __name__ == "__main__":
    sys.exit(main())
