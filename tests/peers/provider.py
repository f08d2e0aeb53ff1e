"""The scripted provider of models, `peer provider` (tests/peer/provider says what a script holds)."""

import json
import os
import pathlib
import subprocess

import common

PEER = pathlib.Path(os.environ.get("TAPEWRIGHT_PEER") or common.PROJECT / "target/debug/examples/peer").resolve()
KEY = "sk-told-to-nobody-4711"


class Provider:
    """One that runs, for a `with` block."""

    def __init__(self, folder, turns, **more):
        folder.mkdir(parents=True, exist_ok=True)
        self._script = folder / "script.json"
        self._log = folder / "requests.jsonl"
        self._script.write_text(json.dumps({"key": KEY, "turns": turns, **more}), "utf-8")

    def __enter__(self):
        self._process = subprocess.Popen(
            [str(PEER), "provider", str(self._script), str(self._log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self._process.stdout.readline().strip()
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()

    def requests(self):
        """Each with `wire`, `method`, `path`, `status`, `turn`, `key` and `body`."""
        return [json.loads(line) for line in self._log.read_text("utf-8").splitlines()]
