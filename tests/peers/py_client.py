#!/usr/bin/env python3
"""A client on the official Python SDK: does what plan.json says for the server, prints one JSON line per step.

The first SDK (mcp 1) and the second (mcp 2, which probes for revision 2026-07-28 unless told otherwise): whichever the
interpreter that runs this has.

    py_client.py [--era legacy|auto|VERSION] [--root DIR] [--env K=V]... -- COMMAND [ARGS...]
    py_client.py [--transport http|sse] ... -- URL    the same over HTTP
    py_client.py --hold STAGE ...   only opens, as far as opening.py has it, says {"ready":true}, and closes the
                                    SDK's way when a line comes on stdin
"""

import base64
import hashlib
import json
import pathlib
import re
import sys
import tempfile
import warnings

import anyio
import anyio.to_thread
import mcp
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from opening import opening

SECOND = hasattr(mcp, "Client")
FLAVOUR = "py2" if SECOND else "py"
warnings.simplefilter("ignore")  # what revision 2026-07-28 removed is deprecated, and used here on purpose
McpError = mcp.MCPError if SECOND else mcp.McpError

HERE = pathlib.Path(__file__).resolve().parent
PLAN = json.loads((HERE / "plan.json").read_text("utf-8"))

VOLATILE = [
    (r"\b[A-Z][a-z]{2} [A-Z][a-z]{2} \d{1,2} \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4}( \([^)]*\))?", "<date>"),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "<time>"),
    (r"\b\d{1,2}:\d\d:\d\d([\s\u202f](AM|PM))?", "<time>"),
    (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uuid>"),
    (r"(?i)\b[0-9a-f]{32}\b", "<id>"),
    (r"\b(localhost|127\.0\.0\.1):\d+", "<address>"),
]


def mask_text(text):
    for pattern, name in VOLATILE:
        text = re.sub(pattern, name, text)
    return text


def masked(value, key=""):
    """The value with what differs from run to run masked, and long text replaced by its length and hash."""
    if isinstance(value, str):
        if key == "blob":
            text = base64.b64decode(value).decode("latin-1")
            if mask_text(text) != text:
                return f"blob of {mask_text(text)}"
        text = mask_text(value)
        if len(text) <= 4000:
            return text
        return f"<{len(text)} characters, sha256 {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}>"
    if isinstance(value, list):
        return [masked(item) for item in value]
    if isinstance(value, dict):
        return {name: masked(item, name) for name, item in value.items()}
    return value


def plain(value):
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.model_dump(mode="json", by_alias=True, exclude_none=True) if hasattr(value, "model_dump") else value


def output(entry):
    print(json.dumps(masked(entry), ensure_ascii=True), flush=True)


def parse_arguments(argv):
    split = argv.index("--")
    options, env = {}, {}
    for name, value in zip(argv[:split:2], argv[1:split:2]):
        if name == "--env":
            key, _, text = value.partition("=")
            env[key] = text
        else:
            options[name.removeprefix("--")] = value
    return options, env, argv[split + 1], argv[split + 2 :]


OPTIONS, ENV, COMMAND, ARGS = parse_arguments(sys.argv[1:])
ROOT = OPTIONS.get("root", str(HERE))
OVER_HTTP = COMMAND.startswith(("http:", "https:"))
PARAMETERS = StdioServerParameters(command=COMMAND, args=ARGS, env={**get_default_environment(), **ENV})


def expanded(value):
    if isinstance(value, str):
        return value.replace("$ROOT", ROOT)
    if isinstance(value, list):
        return [expanded(item) for item in value]
    if isinstance(value, dict):
        if isinstance(value.get("repeat"), str):
            return value["repeat"] * value["times"]
        return {name: expanded(item) for name, item in value.items()}
    return value


class Arrivals:
    """What arrived unasked, by method, so that a step can wait for it and the transcript can end with it."""

    def __init__(self):
        self.seen = {}

    def add(self, method, params):
        self.seen.setdefault(method, []).append(plain(params))

    async def wait(self, method):
        # Over HTTP a server may have said it before there was a stream to say it on.
        with anyio.fail_after(10 if OVER_HTTP else 30):
            while method not in self.seen:
                await anyio.sleep(0.01)
        return True


class Peer:
    def __init__(self, session, arrivals):
        self.session, self.arrivals = session, arrivals

    async def pages(self, method, member):
        found, cursor = [], None
        while True:
            if SECOND:
                page = plain(await method(cursor=cursor))
            else:
                page = plain(await method(params=types.PaginatedRequestParams(cursor=cursor) if cursor else None))
            found += page[member]
            cursor = page.get("nextCursor")
            if cursor is None:
                return found

    async def ping(self, _step):
        return await self.session.send_ping()

    async def tools(self, _step):
        return await self.pages(self.session.list_tools, "tools")

    async def resources(self, _step):
        return await self.pages(self.session.list_resources, "resources")

    async def templates(self, _step):
        return await self.pages(self.session.list_resource_templates, "resourceTemplates")

    async def prompts(self, _step):
        return await self.pages(self.session.list_prompts, "prompts")

    async def level(self, step):
        return await self.session.set_logging_level(step["level"])

    async def subscribe(self, step):
        return await self.session.subscribe_resource(step["uri"])

    async def unsubscribe(self, step):
        return await self.session.unsubscribe_resource(step["uri"])

    async def read(self, step):
        return await self.session.read_resource(step["uri"])

    async def prompt(self, step):
        return await self.session.get_prompt(step["name"], step.get("args"))

    async def complete(self, step):
        if "prompt" in step:
            reference = types.PromptReference(type="ref/prompt", name=step["prompt"])
        else:
            reference = types.ResourceTemplateReference(type="ref/resource", uri=step["resource"])
        argument = {"name": step["argument"], "value": step["value"]}
        return await self.session.complete(reference, argument, step.get("context"))

    async def wait(self, step):
        return await self.arrivals.wait(step["event"])

    async def call(self, step):
        seen = []

        async def on_progress(progress, total, message):
            seen.append([progress, total, message])

        progress = on_progress if step.get("progress") else None
        result = await self.session.call_tool(step["tool"], expanded(step["args"]), progress_callback=progress)
        if progress is None:
            return result
        return {"progress": "not compared" if step.get("counted") is False else seen, "result": plain(result)}

    async def cancel(self, step):
        """Gives up at the first progress, the way a host does it: the notification, then no more waiting."""
        begun = anyio.Event()

        async def on_progress(*_progress):
            begun.set()

        request = None if SECOND else self.session._request_id
        async with anyio.create_task_group() as group:

            async def run():
                try:
                    await self.session.call_tool(step["tool"], expanded(step["args"]), progress_callback=on_progress)
                except McpError:
                    pass  # some servers do answer what was cancelled

            group.start_soon(run)
            with anyio.fail_after(30):
                await begun.wait()
            if request is not None:  # the second SDK sends it by itself
                params = types.CancelledNotificationParams(requestId=request, reason="changed my mind")
                notification = types.CancelledNotification(method="notifications/cancelled", params=params)
                await self.session.send_notification(types.ClientNotification(notification))
            group.cancel_scope.cancel()
        return "cancelled"

    async def together(self, step):
        """All at once; started in order, so that the ids are the same every time."""
        results = [None] * len(step["steps"])

        async def run(index, part):
            results[index] = await self.outcome(part)

        async with anyio.create_task_group() as group:
            for index, part in enumerate(step["steps"]):
                group.start_soon(run, index, part)
                await anyio.sleep(0)
        return results

    async def outcome(self, step):
        try:
            method = self.wait if step["do"] == "await" else getattr(self, step["do"])
            return {"ok": plain(await method(step))}
        except McpError as problem:
            return {"error": plain(problem.error)}
        except Exception as problem:  # the SDK's own, such as a failed validation: part of the transcript
            return {"exception": type(problem).__name__, "message": str(problem)[:500]}


def answers(arrivals):
    async def sampling(_context, params):
        arrivals.add("sampling/createMessage", params)
        content = types.TextContent(type="text", text="sampled: «ok» 👍")
        return types.CreateMessageResult(role="assistant", content=content, model="peer-model", stopReason="endTurn")

    async def elicitation(_context, params):
        arrivals.add("elicitation/create", params)
        if getattr(params, "mode", "form") == "url":
            return types.ElicitResult(action="decline")
        if "sure" in plain(params)["requestedSchema"]["properties"]:
            return types.ElicitResult(action="accept", content={"sure": True})
        return types.ElicitResult(action="accept", content={"name": "Zoë", "check": True, "integer": 7, "number": 2.5})

    async def roots(_context):
        arrivals.add("roots/list", None)
        return types.ListRootsResult(roots=[types.Root(uri=pathlib.Path(ROOT).as_uri(), name="räum")])

    async def message(message):
        notification = getattr(message, "root", message)
        if str(getattr(notification, "method", "")).startswith("notifications/"):
            if notification.method not in ("notifications/progress", "notifications/cancelled"):
                arrivals.add(notification.method, notification.params)
        # An answer to what was cancelled may or may not find somebody waiting.
        elif isinstance(message, Exception) and "unknown request ID" not in str(message):
            arrivals.add("exception", str(message)[:500])

    return {
        "sampling_callback": sampling,
        "elicitation_callback": elicitation,
        "list_roots_callback": roots,
        "message_handler": message,
        "client_info": types.Implementation(name="tapewright-peer", version="1"),
    }


async def session(greeting, peer):
    """The steps of the plan, with what the server said of itself first."""
    output({"server": plain(greeting)})
    for step in PLAN[OPTIONS.get("plan", greeting["serverInfo"]["name"])]:
        if "only" in step and FLAVOUR not in step["only"]:
            continue
        named = {name: value for name, value in step.items() if name not in ("args", "steps")}
        output({**named, **await peer.outcome(step)})
    await anyio.sleep(0.2)  # for what was sent after the last answer


def transport(stderr):
    if not OVER_HTTP:
        return stdio_client(PARAMETERS, errlog=stderr)
    return (sse_client if OPTIONS.get("transport") == "sse" else streamable_http_client)(COMMAND)


async def run():
    arrivals = Arrivals()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as stderr:
        streams = transport(stderr)
        if SECOND:
            mode = OPTIONS.get("era", "auto")
            async with mcp.Client(streams, mode=mode, cache=None, **answers(arrivals)) as client:
                greeting = {"protocolVersion": client.protocol_version, "serverInfo": plain(client.server_info)}
                capabilities = plain(client.server_capabilities)
                await session({**greeting, "capabilities": capabilities}, Peer(client, arrivals))
        else:
            async with streams as (read, write, *_), ClientSession(read, write, **answers(arrivals)) as client:
                greeting = await client.initialize()
                await session(plain(greeting), Peer(client, arrivals))
        for method, params in sorted(arrivals.seen.items()):
            output({"arrived": method, "times": len(params), "params": params})
        if OVER_HTTP:
            return
        stderr.seek(0)
        output({"stderr": stderr.read().split("\n")})


async def hold():
    async with stdio_client(PARAMETERS) as (read, write):
        for message, answered in opening(OPTIONS["hold"]):
            await write.send(SessionMessage(types.JSONRPCMessage.model_validate(message)))
            while answered:
                received = await read.receive()
                if not isinstance(received, Exception) and getattr(received.message.root, "id", None) == message["id"]:
                    break
        print('{"ready":true}', flush=True)
        await anyio.to_thread.run_sync(sys.stdin.readline)
    print('{"closed":true}', flush=True)


if __name__ == "__main__":
    anyio.run(hold if "hold" in OPTIONS else run)
