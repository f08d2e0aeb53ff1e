"""A server for one test: played from its cassette, or recorded into it."""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time

from .settings import BadSettings

# Each start of the command leaves its process id behind, and its report under that: a client may start it more than once.
# `exec` leaves no shell between the client and tapewright.
START = ': > "$0/$$.started"; exec "$@" --report "$0/$$.json"'
RECORD = ': > "$0/$$.started"; exec "$@"'

PATIENCE_S = 10
"""How long a server that a test has let go of may take to end."""


class Server:
    """What a test connects its client to: a command (`command`, `args`), or a `url`."""

    def __init__(self, program, settings, notes):
        self._program, self.settings, self._notes = program, settings, notes
        self._listening = None
        self._url = None
        self._check()

    def _check(self):
        settings = self.settings
        if settings.mode == "none" and not settings.cassette.exists():
            raise BadSettings(
                f"{settings.cassette} does not exist, and mode `none` never records; record it with `--tapewright-mode=once`"
            )
        if not settings.plays_only and not settings.command and not settings.url:
            raise BadSettings(
                f"mode `{settings.mode}` records {settings.cassette}, and no server is given: "
                "give a `command` or a `url` in the marker, or `tapewright_command` in the ini file"
            )

    @property
    def cassette(self):
        """The file that is played, or recorded."""
        return self.settings.cassette

    @property
    def argv(self):
        """The whole command line, for a client that starts its server over stdio."""
        script = START if self.settings.plays_only else RECORD
        return ["sh", "-c", script, str(self._notes), self._program, *self._words(), *self._behind()]

    @property
    def command(self):
        """The program to start."""
        return self.argv[0]

    @property
    def args(self):
        """Its arguments."""
        return self.argv[1:]

    @property
    def stdio(self):
        """`command` and `args`, as `StdioServerParameters(**server.stdio)` takes them."""
        return {"command": self.command, "args": self.args}

    @property
    def url(self):
        """The address of the server over streamable HTTP. It is started when this is first asked for."""
        if self._url is None:
            self._url = self._listen()
        return self._url

    def _words(self):
        """What stands in front of the server's own command."""
        settings = self.settings
        if settings.plays_only:
            return ["replay", str(settings.cassette), *settings.options]
        settings.cassette.parent.mkdir(parents=True, exist_ok=True)
        upstream = ["--upstream", settings.url] if settings.url else []
        return ["record", "--mode", settings.mode, "-o", str(settings.cassette), *settings.options, *upstream]

    def _behind(self):
        return ["--", *self.settings.command] if self.settings.command and not self.settings.plays_only else []

    def _listen(self):
        report = ["--report", str(self._notes / "listening.json")] if self.settings.plays_only else []
        words = [self._program, *self._words(), *report, "--listen", "127.0.0.1:0", *self._behind()]
        self._listening = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        errors = []
        reader = threading.Thread(target=lambda: errors.append(self._listening.stderr.read()), daemon=True)
        reader.start()
        line = self._listening.stdout.readline()
        if not line:
            self._listening.wait()
            reader.join(PATIENCE_S)
            raise BadSettings(f"tapewright did not start: {b''.join(errors).decode(errors='replace').strip()}")
        return json.loads(line)["listening"]

    def started(self):
        """The process ids of what clients have started."""
        return [int(path.stem) for path in self._notes.glob("*.started")]

    def is_over(self):
        """Whether nothing of it runs any more, as far as it was ever started."""
        return not self._listening and not any(_runs(process) for process in self.started())

    def end(self):
        """Ends what still listens, and waits for what clients have let go of. Says what had to be ended by force."""
        forced = []
        if self._listening:
            self._listening.send_signal(signal.SIGTERM)
            try:
                self._listening.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self._listening.kill()
                self._listening.wait()
                forced.append("the listening server did not end")
            self._listening = None
        until = time.monotonic() + PATIENCE_S
        for process in self.started():
            while _runs(process) and time.monotonic() < until:
                time.sleep(0.01)
            if _runs(process):
                os.kill(process, signal.SIGTERM)
                forced.append("the test still holds its server open: close the client, or let it depend on the fixture")
        return forced

    def reports(self):
        """What replays that are over say of themselves."""
        found = []
        for path in sorted(pathlib.Path(self._notes).glob("*.json")):
            try:
                found.append(json.loads(path.read_text("utf-8")))
            except ValueError:
                continue  # it was killed while it wrote
        return found

    def was_used(self):
        """Whether any client reached it."""
        return bool(self.started() or self._url)


def _runs(process):
    """Whether a process still does something. One that has ended and was not waited for does not."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0]
        return state not in ("Z", "X")
    except OSError:
        if pathlib.Path("/proc/self").exists():
            return False
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
