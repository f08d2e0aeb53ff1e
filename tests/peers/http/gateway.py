"""The recorder in front of a server, as a reverse gateway or as a forward proxy, and a recording in its place."""

import json
import os
import signal
import subprocess

import common
import servers

OPTIONS = os.environ.get("TAPEWRIGHT_PEERS_OPTIONS", "").split()


class Listening:
    """Our program, serving clients on a port that it says, with its files in a folder of its own."""

    def __init__(self, folder, arguments, has_command=False):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._has_command = has_command  # whose stderr is ours
        self._errors = open(folder / "gateway.stderr", "wb")
        self.process = subprocess.Popen(
            [str(common.TAPEWRIGHT), *arguments],
            env=servers.plain_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        line = self.process.stdout.readline()
        try:
            self.url = json.loads(line)["listening"]
        except ValueError:
            servers.stop(self.process)
            raise RuntimeError(f"it does not listen: {line!r} {self.stderr()[-400:]!r}") from None
        self.port = int(self.url.split("/")[2].rsplit(":", 1)[1])

    def close(self):
        """Stops it the way a user does; what is wrong with its end."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = f"nothing within 60 s of SIGTERM, then {self.process.wait()}"
        self.process.stdout.close()
        self._errors.close()
        said = self.stderr()
        # Ended by a signal it says so like any other program; a silent success would do as well.
        if status not in (0, -signal.SIGTERM, 128 + signal.SIGTERM):
            return f"exit {status}: {said[-400:]!r}"
        return f"it said {said[-400:]!r}" if said and not self._has_command else None

    def stderr(self):
        return (self.folder / "gateway.stderr").read_bytes()


class Gateway(Listening):
    """`tapewright record`."""

    def __init__(self, folder, upstream=None, options=(), command=None):
        way = ["--listen", "127.0.0.1:0"] if upstream or command else ["--forward-proxy", "127.0.0.1:0"]
        way += ["--upstream", upstream] if upstream else []
        behind = ["--", *command] if command else []
        # With times, since it is replayed at the recorded pace.
        arguments = ["record", *way, "-o", str(folder / "out.json"), "--cassette-times", *options, *OPTIONS, *behind]
        super().__init__(folder, arguments, has_command=command is not None)

    def tapes(self):
        return sorted(self.folder.glob("*.tape.jsonl"))

    def cassettes(self):
        return sorted(path for path in self.folder.glob("out*.json") if not path.name.endswith(".capture.json"))


class Replay(Listening):
    """`tapewright replay`, at the recorded pace: a client that counts its progress reads it as it read the server's."""

    def __init__(self, folder, cassette):
        self.report = folder / "report.json"
        way = ["--listen", "127.0.0.1:0", "--pace", "recorded", "--report", str(self.report)]
        super().__init__(folder, ["replay", str(cassette), *way])

    def missed(self):
        """The requests that no recording answered, once it is closed."""
        return json.loads(self.report.read_text("utf-8"))["misses"]
