"""What run.py and orphans.py share: where the peers are, and how results are reported."""

import os
import pathlib
import shutil
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
PEERS = pathlib.Path(os.environ.get("TAPEWRIGHT_PEERS_DIR") or PROJECT / "target/peers").resolve()
TAPEWRIGHT = pathlib.Path(os.environ.get("TAPEWRIGHT") or PROJECT / "target/debug/tapewright").resolve()

PYTHON = str(PEERS / "venv/bin/python")
PYTHON_2 = str(PEERS / "venv-2/bin/python")  # the second SDK
NODE = shutil.which("node") or "node"
PACKAGES = PEERS / "node_modules/@modelcontextprotocol"
EVERYTHING = [NODE, str(PACKAGES / "server-everything/dist/index.js"), "stdio"]
FILESYSTEM = [NODE, str(PACKAGES / "server-filesystem/dist/index.js")]
INSPECTOR = [NODE, str(PACKAGES / "inspector-cli/build/index.js")]
NPX_EVERYTHING = [shutil.which("npx") or "npx", "--no-install", "--prefix", str(PEERS), "mcp-server-everything"]
FASTMCP = [PYTHON, str(HERE / "fastmcp_server.py")]
MCPSERVER = [PYTHON_2, str(HERE / "mcpserver_server.py")]
MODERN = [NODE, str(HERE / "modern_server.mjs")]
TERSE = [PYTHON, str(HERE / "terse_server.py")]
STUBBORN = [PYTHON, str(HERE / "stubborn_server.py")]

TS_CLIENT = [NODE, str(HERE / "ts_client.mjs")]
PY_CLIENT = [PYTHON, str(HERE / "py_client.py")]
PY2_CLIENT = [PYTHON_2, str(HERE / "py_client.py")]
RAW_CLIENT = [PYTHON, str(HERE / "raw_client.py")]
BYTETEE = [PYTHON, str(HERE / "bytetee.py")]


class Report:
    """`ok NAME` and `FAIL NAME: why` lines, and the closing count."""

    def __init__(self):
        self.passed = self.failed = 0
        self._lock = threading.Lock()

    def ok(self, name):
        with self._lock:
            self.passed += 1
            print(f"ok {name}", flush=True)

    def fail(self, name, why):
        with self._lock:
            self.failed += 1
            print(f"FAIL {name}: {why}", flush=True)

    def check(self, name, why):
        """`why` is what is wrong, or nothing."""
        if why:
            self.fail(name, why)
        else:
            self.ok(name)

    def close(self):
        """Prints the count; the value is the exit status."""
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


def require(*paths):
    missing = [str(path) for path in paths if not pathlib.Path(path).exists()]
    if missing:
        sys.exit(f"missing: {', '.join(missing)} (run .ci/peers; the recorder is named by $TAPEWRIGHT)")
