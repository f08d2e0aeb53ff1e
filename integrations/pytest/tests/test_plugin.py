"""The plugin as its users have it: whole runs of pytest, with the official SDK as the client and a server over stdio."""

import json
import pathlib
import sys
import textwrap

import pytest

HERE = pathlib.Path(__file__).resolve().parent

SERVER = """
from mcp.server.fastmcp import FastMCP
import pathlib, sys

server = FastMCP("sums")

@server.tool()
def add(a: int, b: int) -> int:
    pathlib.Path(sys.argv[1]).open("a").write("called\\n")
    return a + b

server.run()
"""

CLIENT = """
import asyncio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

async def _add(transport, pairs):
    async with transport as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            results = [await session.call_tool("add", {"a": a, "b": b}) for a, b in pairs]
            return [result.content[0].text for result in results]

def over_stdio(server, *pairs):
    return asyncio.run(_add(stdio_client(StdioServerParameters(**server.stdio)), pairs))

def over_http(server, *pairs):
    return asyncio.run(_add(streamablehttp_client(server.url), pairs))
"""


@pytest.fixture
def project(pytester, monkeypatch):
    """A project with a server, a client, and a function that runs its tests."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("TAPEWRIGHT_MODE", raising=False)
    server, calls = pytester.path / "server.py", pytester.path / "calls"
    server.write_text(SERVER, "utf-8")
    pytester.makepyfile(client=CLIENT)
    command = json.dumps([sys.executable, str(server), str(calls)])
    quoted = " ".join(json.loads(command))
    pytester.makeini(f"[pytest]\ntapewright_command = {quoted}\n")
    pytester.syspathinsert()

    def run(text, *options):
        pytester.makepyfile(test_sums="from client import *\n" + textwrap.dedent(text))
        return pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", *options)

    run.calls = lambda: len(calls.read_text().splitlines()) if calls.exists() else 0
    run.cassettes = pytester.path / "cassettes/test_sums"
    return run


TWO = """
    def test_two(tapewright):
        assert over_stdio(tapewright, (1, 2), (3, 4)) == ["3", "7"]
"""


def test_a_cassette_is_recorded_once_and_played_from_then_on(project):
    project(TWO).assert_outcomes(passed=1)
    assert project.calls() == 2
    assert (project.cassettes / "test_two.json").exists()
    project(TWO).assert_outcomes(passed=1)
    assert project.calls() == 2, "the server was asked again"


def test_ci_records_nothing(project, monkeypatch):
    monkeypatch.setenv("CI", "true")
    result = project(TWO)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*cassettes/test_sums/test_two.json does not exist*"])
    assert project.calls() == 0 and not project.cassettes.exists()


def test_the_option_counts_more_than_the_variable_and_that_more_than_ci(project, monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("TAPEWRIGHT_MODE", "once")
    project(TWO).assert_outcomes(passed=1)
    assert project.calls() == 2
    project(TWO, "--tapewright-mode=all").assert_outcomes(passed=1)
    assert project.calls() == 4


def test_a_client_that_swallows_a_miss_fails_all_the_same(project):
    project(TWO).assert_outcomes(passed=1)
    swallowed = """
        def test_two(tapewright):
            with pytest.raises(BaseException):
                over_stdio(tapewright, (1, 2), (3, 5))
    """
    result = project(swallowed, "--tapewright-mode=none")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "*1 request not in *test_two.json:*",
        "*tools/call `add` was never recorded with these parameters*",
        "*differs at $.params.arguments.b: recorded 4, now 5*",
        "*--tapewright-mode=new-episodes*",
    ])


def test_a_test_that_fails_by_itself_has_the_explanation_beside_it(project):
    project(TWO).assert_outcomes(passed=1)
    result = project(TWO.replace("(3, 4)", "(3, 5)"), "--tapewright-mode=none")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*McpError*", "*Captured tapewright call*", "*differs at $.params.arguments.b: recorded 4, now 5*"])


def test_unused_entries_fail_and_may_be_allowed(project):
    project(TWO).assert_outcomes(passed=1)
    one = TWO.replace("(1, 2), (3, 4)) == [\"3\", \"7\"]", "(1, 2)) == [\"3\"]")
    result = project(one)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*1 recorded request of *never requested:*", "*tools/call*"])
    allowed = one.replace("    def", "    @pytest.mark.tapewright(unused='ignore')\n    def")
    project(allowed).assert_outcomes(passed=1)


def test_a_server_that_no_client_uses_is_told(project):
    project(TWO).assert_outcomes(passed=1)
    result = project("""
        def test_two(tapewright):
            assert tapewright.command
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no client used the server of *"])


def test_new_episodes_are_added(project):
    project(TWO).assert_outcomes(passed=1)
    more = TWO.replace("(3, 4)) == [\"3\", \"7\"]", "(3, 4), (5, 6)) == [\"3\", \"7\", \"11\"]")
    project(more, "--tapewright-mode=new-episodes").assert_outcomes(passed=1)
    assert project.calls() == 3, "only the new call reaches the server"
    project(more, "--tapewright-mode=none").assert_outcomes(passed=1)


def test_a_client_may_start_its_server_several_times(project):
    twice = """
        def test_twice(tapewright):
            assert over_stdio(tapewright, (1, 2)) == ["3"]
            assert over_stdio(tapewright, (1, 2)) == ["3"]
    """
    once = twice.replace("assert over_stdio(tapewright, (1, 2)) == [\"3\"]\n", "", 1)
    project(once).assert_outcomes(passed=1)
    project(twice, "--tapewright-mode=none").assert_outcomes(passed=1)


def test_over_http_as_over_stdio(project):
    text = """
        def test_http(tapewright):
            assert over_http(tapewright, (1, 2)) == ["3"]
    """
    project(text).assert_outcomes(passed=1)
    project(text, "--tapewright-mode=none").assert_outcomes(passed=1)
    result = project(text.replace("(1, 2)) ==", "(1, 3)) !="), "--tapewright-mode=none")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*differs at $.params.arguments.b: recorded 2, now 3*"])


def test_several_servers_have_cassettes_of_their_own(project):
    text = """
        def test_several(tapewright):
            first, second = tapewright.server("first"), tapewright.server("second")
            assert over_stdio(first, (1, 1)) == ["2"]
            assert over_stdio(second, (2, 2)) == ["4"]
    """
    project(text).assert_outcomes(passed=1)
    assert sorted(path.name for path in project.cassettes.glob("*.json")) == [
        "test_several.first.json",
        "test_several.second.json",
    ]
    project(text, "--tapewright-mode=none").assert_outcomes(passed=1)


def test_a_client_in_a_fixture_is_judged_when_it_has_gone(project):
    text = """
        import subprocess

        INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}

        @pytest.fixture
        def server(tapewright):
            with subprocess.Popen(tapewright.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                yield process

        def test_held(server):
            import json
            request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
            print(json.dumps(request), file=server.stdin, flush=True)
            assert "result" in json.loads(server.stdout.readline())
    """
    project(TWO.replace("test_two", "test_held")).assert_outcomes(passed=1)
    result = project(text, "--tapewright-mode=none")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*recorded requests of *never requested:*"])


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("mode='some'", "*unknown mode `some`*"),
        ("unused='warn'", "*`unused` is `fail` or `ignore`*"),
        ("command=['a'], url='http://localhost/'", "*a `command` or a `url`, not both*"),
        ("command='a b'", "*`command` is a list of arguments*"),
        ("casette='x.json'", "*the marker does not know casette*"),
    ],
)
def test_a_marker_that_cannot_be_followed_is_refused(project, marker, said):
    result = project(f"""
        @pytest.mark.tapewright({marker})
        def test_marked(tapewright):
            tapewright.command
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([said])


def test_a_missing_program_is_told(project):
    result = project(TWO, "--tapewright=no-such-program")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*program `no-such-program` not found*"])
