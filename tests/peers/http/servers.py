"""The servers behind the recorder: real ones, each started once for all cells that may share it."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import common

EVERYTHING = common.EVERYTHING[:2]
HERE = common.HERE

# Servers that behave, and refuse what they may.
TERSE = {
    "refuses-405": ["--get", "405"],
    "refuses-404": ["--get", "404", "--delete", "400"],
    "oauth-401": ["--auth", "401"],
    "oauth-403": ["--auth", "403"],
}

# name -> (path of its endpoint, command for a port, whether the port is told in $PORT instead)
SERVERS = {
    "everything": ("/mcp", lambda _port: [*EVERYTHING, "streamableHttp"], True),
    "everything-sse": ("/sse", lambda _port: [*EVERYTHING, "sse"], True),
    "fastmcp": ("/mcp", lambda port: [*common.FASTMCP, "streamable-http", port], False),
    "fastmcp-sse": ("/sse", lambda port: [*common.FASTMCP, "sse", port], False),
    "mcpserver": ("/mcp", lambda port: [*common.MCPSERVER, port], False),
    "modern": ("/mcp", lambda port: [*common.MODERN, port], False),
    **{name: ("/mcp", lambda port, how=how: [*common.TERSE, port, *how], False) for name, how in TERSE.items()},
    "suite": ("/mcp", lambda port: [common.NODE, str(HERE / "http/suite_server.mjs"), port], False),
}

# It keeps the resources that sessions make in one place for all of them: a session that makes `z.gz` takes it away from
# another that is about to read it, and its client then resumes its stream and hears what it has heard already.
MIXES_SESSIONS = {"everything", "everything-sse"}

# The same servers over stdio.
STDIO = {"everything": common.EVERYTHING, "fastmcp": common.FASTMCP, "modern": common.MODERN}

PATIENCE = 60  # seconds for a server to listen, or a recorder to say where it does


class Servers:
    """Starts servers when they are first asked for, and stops what it started."""

    def __init__(self, folder):
        self._folder, self._lock = folder, threading.Lock()
        self._running, self._starting = {}, {}
        self._stack = contextlib.ExitStack()

    def port(self, name):
        """The port of a server that listens."""
        with self._lock:
            one_at_a_time = self._starting.setdefault(name, threading.Lock())
        with one_at_a_time:
            if name not in self._running:
                self._running[name] = self._start(name)
            return self._running[name]

    @contextlib.contextmanager
    def for_cell(self, name, folder):
        """These servers, or others for one cell alone where sessions of the server get in each other's way."""
        if name not in MIXES_SESSIONS:
            yield self
            return
        alone = Servers(folder)
        try:
            yield alone
        finally:
            alone.close()

    def _start(self, name):
        _path, command, by_variable = SERVERS[name]
        for _attempt in range(5):  # somebody else may take the port meanwhile
            port = free_port()
            env = {**plain_environment(), **({"PORT": str(port)} if by_variable else {})}
            log = open(self._folder / f"server-{name}.log", "ab")
            process = subprocess.Popen(
                command(str(port)), cwd=self._folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
            log.close()
            with self._lock:
                self._stack.callback(stop, process)
            if listens(port, process):
                return port
        raise RuntimeError(f"{name} does not listen: see server-{name}.log")

    def close(self):
        self._stack.close()


def endpoint(name):
    return SERVERS[name][0]


def plain_environment():
    """Without proxies: who uses one is told so."""
    drop = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NODE_USE_ENV_PROXY", "PORT"}
    kept = {name: value for name, value in os.environ.items() if name.upper() not in drop}
    return {**kept, "TAPEWRIGHT_PEERS_DIR": str(common.PEERS), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}


def free_port():
    """One that nobody listens on, and outside the range from which the kernel takes those of outgoing connections."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def listens(port, process):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return process.poll() is None
        time.sleep(0.05)
    return False


def stop(process, patience=10):
    """SIGTERM, then SIGKILL; the exit status."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait()


if __name__ == "__main__":
    sys.exit("used by matrix.py and conformance.py")
