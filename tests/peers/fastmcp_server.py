#!/usr/bin/env python3
"""A server on FastMCP that offers one of everything: the peer of ts_client.mjs and py_client.py.

fastmcp_server.py                             over stdio
fastmcp_server.py streamable-http|sse PORT    over HTTP
"""

import asyncio
import os
import sys
from typing import TypedDict

from mcp.server.fastmcp import Context, FastMCP, Image
from mcp.types import Completion, SamplingMessage, TextContent
from pydantic import BaseModel, Field

server = FastMCP("fastmcp-peer", instructions="Ein Gegenüber für den Rekorder: 漢字 ✓", log_level="ERROR")

# The smallest PNG: one transparent pixel.
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63"
    "64f8ffbf1e0005840280d4b2f5c10000000049454e44ae426082"
)


class Weather(BaseModel):
    city: str
    degrees: float = Field(description="in °C")
    winds: list[str]


class Numbers(TypedDict):
    big: int
    small: float
    negative: int


class Choice(BaseModel):
    name: str
    integer: int


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two integers."""
    return a + b


@server.tool()
def greet(name: str) -> str:
    """Greets in several scripts."""
    return f"Grüß Gott, {name}! こんにちは \u2028 \u0007 👋🏽"


@server.tool()
def weather(city: str) -> Weather:
    """Structured output."""
    return Weather(city=city, degrees=-3.50, winds=["nördlich", "böig"])


@server.tool()
def numbers() -> Numbers:
    """Numbers that a careless reader rounds."""
    return {"big": 9007199254740993, "small": 1e-7, "negative": -(2**63)}


@server.tool()
def fails(why: str) -> str:
    """Raises."""
    raise ValueError(f"it fails, {why}")


@server.tool()
def big(size: int) -> str:
    """A long text; FastMCP sends it twice, as content and as structured content."""
    unit = "große Antwort 漢字 0123456789 "
    return (unit * (size // len(unit) + 1))[:size]


@server.tool()
async def steps(count: int, context: Context) -> str:
    """Reports progress."""
    for number in range(1, count + 1):
        await asyncio.sleep(0.3)
        await context.report_progress(number, count, f"Schritt {number} ✓")
    return f"{count} steps"


@server.tool()
async def talks(context: Context) -> str:
    """Logs at every level."""
    await context.debug("debug: ü")
    await context.info("info: 漢")
    await context.warning("warning: \u2028")
    await context.error("error: 👾")
    return "talked"


@server.tool()
def chatters(lines: int) -> str:
    """Writes to stderr, in lines and without."""
    for number in range(lines):
        print(f"stderr Zeile {number}: {'·' * number}", file=sys.stderr)
    print("stderr without an end of line", end="", file=sys.stderr, flush=True)
    print(" and the rest", file=sys.stderr, flush=True)
    return "chattered"


@server.tool()
def environment() -> list[str]:
    """What the process was given: its folder, and its variables by name."""
    return [os.getcwd(), *sorted(os.environ)]


@server.tool()
def picture() -> Image:
    """An image."""
    return Image(data=DOT, format="png")


@server.tool()
async def slow(seconds: float, context: Context) -> str:
    """For cancelling: says that it has begun, then takes its time."""
    await context.report_progress(0, 1)
    await asyncio.sleep(seconds)
    return "slept"


@server.tool()
async def asks_model(prompt: str, context: Context) -> str:
    """Sampling."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    result = await context.session.create_message([message], max_tokens=20)
    return result.model_dump_json(exclude_none=True)


@server.tool()
async def asks_user(context: Context) -> str:
    """Elicitation."""
    result = await context.elicit("Name und Zahl?", Choice)
    return result.model_dump_json(exclude_none=True)


@server.tool()
async def asks_roots(context: Context) -> str:
    """Roots."""
    result = await context.session.list_roots()
    return f"{len(result.roots)} root(s), named {[root.name for root in result.roots]}"


@server.resource("peer://fixed")
def fixed() -> str:
    """Text."""
    return "fest — 漢字\r\nzweite Zeile"


@server.resource("peer://bytes", mime_type="application/octet-stream")
def binary() -> bytes:
    """Bytes."""
    return bytes(range(256))


@server.resource("peer://item/{number}")
def item(number: str) -> dict[str, str]:
    """A template."""
    return {"number": number, "name": f"Stück {number}"}


@server.prompt()
def review(code: str) -> str:
    """Asks for a review."""
    return f"Bitte prüfen:\n{code}"


@server.completion()
async def complete(_reference, argument, _context) -> Completion:
    values = [value for value in ("python", "perl", "zsh") if value.startswith(argument.value)]
    return Completion(values=values, total=len(values), hasMore=False)


if __name__ == "__main__":
    print("fastmcp peer: bereit ✓", file=sys.stderr, flush=True)
    if len(sys.argv) > 2:
        server.settings.port = int(sys.argv[2])
    server.run(sys.argv[1] if len(sys.argv) > 1 else "stdio")
