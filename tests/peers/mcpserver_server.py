#!/usr/bin/env python3
"""A server on MCPServer, what FastMCP became in the second Python SDK: both eras, as the client asks.

mcpserver_server.py         over stdio
mcpserver_server.py PORT    over HTTP
"""

import asyncio
import sys

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("modern-peer", version="1", log_level="ERROR")


@server.tool()
def echo(message: str) -> str:
    """Says it again: «ü»"""
    return f"echo: {message}"


@server.tool()
async def steps(count: int, context: Context) -> str:
    """Counts, with progress."""
    for number in range(1, count + 1):
        await asyncio.sleep(0.3)
        await context.report_progress(number, count, f"Schritt {number} ✓")
    return f"counted to {count}"


@server.resource("modern://fixed")
def fixed() -> str:
    """Text."""
    return "fest — 漢字"


@server.prompt()
def say(what: str) -> str:
    """Says."""
    return f"Say {what}"


if __name__ == "__main__":
    print("mcpserver peer: bereit ✓", file=sys.stderr, flush=True)
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
