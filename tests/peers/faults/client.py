#!/usr/bin/env python3
"""A client on the official Python SDK that meets a fault: it calls `echo` with each message, in order, and prints what
came of it, one JSON line per step. Its requests time out soon.

    client.py TIMEOUT_MS MESSAGE,MESSAGE,... -- COMMAND [ARGS...]
    client.py TIMEOUT_MS MESSAGE,MESSAGE,... -- URL
"""

import contextlib
import datetime
import json
import os
import sys
import time

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import get_default_environment, stdio_client
from mcp.client.streamable_http import streamable_http_client

TIMEOUT = datetime.timedelta(milliseconds=int(sys.argv[1]))
MESSAGES = sys.argv[2].split(",")
COMMAND, *ARGS = sys.argv[sys.argv.index("--") + 1 :]


@contextlib.asynccontextmanager
async def streams():
    if COMMAND.startswith(("http:", "https:")):
        async with streamable_http_client(COMMAND) as (read, write, *_rest):
            yield read, write
        return
    parameters = StdioServerParameters(command=COMMAND, args=ARGS, env=get_default_environment())
    with open(os.devnull, "w") as nowhere:
        async with stdio_client(parameters, errlog=nowhere) as (read, write):
            yield read, write


def tell(entry):
    print(json.dumps(entry), flush=True)


async def heard(message):
    if isinstance(message, Exception):
        tell({"heard": f"{type(message).__name__}: {message}"[:300]})


async def step(name, work):
    began, outcome = time.monotonic(), {}
    try:
        # Whatever the SDK makes of its own timeout, a step ends.
        with anyio.fail_after(20):
            outcome = {"text": await work()}
    except Exception as error:
        outcome = {"error": f"{type(error).__name__}: {error}"[:300]}
    tell({"step": name, "ms": round((time.monotonic() - began) * 1000), **outcome})


async def call(session, message):
    result = await session.call_tool("echo", {"message": message}, read_timeout_seconds=TIMEOUT)
    return result.content[0].text


async def main():
    async with streams() as (read, write), ClientSession(read, write, message_handler=heard) as session:

        async def connect():
            await session.initialize()
            return "connected"

        await step("connect", connect)
        for message in MESSAGES:
            await step(message, lambda message=message: call(session, message))


async def bounded():
    # The SDK may wait for as long as the server does.
    with anyio.move_on_after(15) as whole:
        await main()
    end = {"error": "it does not come to its end"} if whole.cancelled_caught else {"text": "closed"}
    tell({"step": "close", "ms": 0, **end})


anyio.run(bounded)
