#!/usr/bin/env python3
"""`tapewright watch` in a real terminal: tmux draws it, types the keys and reads the screen.

watch.py [BINARY]
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BINARY = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TAPEWRIGHT", str(TOP / "target/debug/tapewright"))
EXAMPLE = TOP / "tests/watch/example.tape.jsonl"
PATIENCE = 30.0
SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}), flush=True)
"""
COLOUR = re.compile("\x1b\\[[0-9;]*\\b(3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m")


class Screen:
    """A terminal of 80 columns and 24 rows in which a program runs."""

    def __init__(self, arguments, **environment):
        self.socket = f"tapewright-{os.getpid()}-{time.monotonic_ns()}"
        words = " ".join(shlex.quote(str(word)) for word in [BINARY, "watch", *arguments])
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        # The shell stays when the program has ended, so that what it left behind can be looked at.
        command = f"stty -a > {shlex.quote(str(self.path('before')))}; {variables} {words}; echo ended $?; " \
                  f"stty -a > {shlex.quote(str(self.path('after')))}; exec cat"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-s", "it", "sh", "-c", command)

    def path(self, name):
        return Path(tempfile.gettempdir()) / f"{self.socket}.{name}"

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-L", self.socket, *arguments], capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise AssertionError(f"tmux {arguments}: {done.stderr}")
        return done.stdout

    def keys(self, *keys):
        for key in keys:
            self.tmux("send-keys", "-t", "it", key)

    def types(self, text):
        self.tmux("send-keys", "-t", "it", "-l", text)

    def text(self, *more):
        return self.tmux("capture-pane", "-p", "-t", "it", *more)

    def asks(self, what):
        return self.tmux("display-message", "-p", "-t", "it", what).strip()

    def until(self, wanted):
        """Waits until the screen shows a text, or what a function finds."""
        is_so = wanted if callable(wanted) else lambda text: wanted in text
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = self.text()
            if is_so(text):
                return text
            time.sleep(0.05)
        raise AssertionError(f"{wanted!r} does not come:\n{self.text()}")

    def process(self):
        """The program's process: the child of the shell."""
        shell = self.asks("#{pane_pid}")
        return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])

    def is_given_back(self, status):
        self.until(f"ended {status}")
        assert self.asks("#{alternate_on} #{cursor_flag}") == "0 1", self.asks("#{alternate_on} #{cursor_flag}")
        # The first line tells the size, which is not ours to change back.
        before, after = (self.path(name).read_text().split("\n", 1)[1] for name in ("before", "after"))
        assert before == after, f"the terminal is another one:\n{before}{after}"

    def end(self):
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True, timeout=PATIENCE)
        for name in ("before", "after"):
            self.path(name).unlink(missing_ok=True)


def ticks(process):
    """Processor time of a process and its threads, in ticks of a hundredth of a second."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def a_tape_is_looked_at(folder):
    screen = Screen([EXAMPLE])
    try:
        screen.until("12 of 12")
        title = screen.asks("#{pane_title}")
        screen.keys("g", "Down", "Enter")
        screen.until("tools/list   id 1")
        screen.keys("PageDown", "PageDown")
        screen.until("\\u001b]0;owned")
        assert screen.asks("#{pane_title}") == title and "owned" not in title
        screen.keys("q", "/")
        screen.types("status:error")
        screen.keys("Enter")
        screen.until("1 of 2")
        # Together with what comes behind it at once, escape is another key.
        screen.keys("Escape")
        screen.until("1 of 12")
        screen.keys("4", "Enter")
        screen.until("evidence (enter opens it")
        screen.keys("q", "?")
        screen.until("next row, previous row")
        # An idle view costs nothing.
        screen.keys("q", "1")
        screen.until("initialize")
        time.sleep(0.3)
        before = ticks(screen.process())
        time.sleep(3)
        assert ticks(screen.process()) == before, "an idle view took processor time"
        screen.keys("q")
        screen.is_given_back(0)
    finally:
        screen.end()


def sizes_and_colours(folder):
    screen = Screen([EXAMPLE], NO_COLOR="1")
    try:
        screen.until("12 of 12")
        found = COLOUR.search(screen.text("-e"))
        assert not found, found
        for columns, rows in [(40, 10), (20, 3), (200, 60), (80, 24)]:
            screen.tmux("resize-window", "-t", "it", "-x", str(columns), "-y", str(rows))
            time.sleep(0.2)
        screen.until("12 of 12")
        screen.keys("C-c")
        screen.is_given_back(0)
    finally:
        screen.end()
    screen = Screen([EXAMPLE])
    try:
        screen.until("12 of 12")
        assert COLOUR.search(screen.text("-e")), "no colours"
        # A signal ends it as it ends others, with the terminal as it was.
        os.kill(screen.process(), 15)
        screen.is_given_back(143)
    finally:
        screen.end()


def signals(folder):
    """One that suspends gives the terminal back as well, and takes it again."""
    for suspend in (lambda screen: screen.keys("C-z"), lambda screen: os.kill(screen.process(), signal.SIGTSTP)):
        screen = Screen([EXAMPLE])
        try:
            screen.until("12 of 12")
            process = screen.process()
            suspend(screen)
            is_stopped = lambda: Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"
            screen.until(lambda _: is_stopped())
            assert screen.asks("#{alternate_on} #{cursor_flag}") == "0 1", "a stopped view holds the terminal"
            screen.tmux("resize-window", "-t", "it", "-x", "100", "-y", "30")
            os.kill(process, signal.SIGCONT)
            screen.until("12 of 12")
            assert screen.asks("#{alternate_on} #{cursor_flag}") == "1 0", "it is not drawn again"
            screen.keys("q")
            screen.is_given_back(0)
        finally:
            screen.end()


def a_control_without_a_tape(folder):
    """Whoever records nothing is watched through its control alone: what passes, its faults, and no bodies."""
    control, tape = folder / "control", folder / "served.tape.jsonl"
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read", "arguments": {"secret": "of mine"}}}
    lines = [{"tape": "2.1", "created": "2026-11-21T04:00:00Z", "transport": "stdio", "label": "served", "pid": 1},
             {"seq": 1, "at_us": 1, "dir": "to_server", "era": "handshake", "message": ask},
             {"seq": 2, "at_us": 2, "dir": "to_client", "era": "handshake", "message": {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}}]
    tape.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [BINARY, "replay", tape, "--exhausted", "last", "--control", f"unix:{control}", "--fault", "hang tool=search"]
    replay = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    screen = None
    try:
        replay.stdin.write(json.dumps(ask) + "\n")
        replay.stdin.flush()
        assert json.loads(replay.stdout.readline())["id"] == 1
        screen = Screen(["--control", f"unix:{control}"])
        screen.until("● live")
        # It tells what passes from now on.
        replay.stdin.write(json.dumps(ask | {"id": 2}) + "\n")
        replay.stdin.flush()
        screen.until("tools/call read")
        screen.keys("g", "Enter")
        screen.until("not readable here")
        assert "of mine" not in screen.text()
        screen.keys("r")
        screen.until("the recording is not readable here")
        screen.keys("q", "5")
        screen.until("[on]")
        screen.keys("Enter")
        screen.until("[off]")
        replay.stdin.close()
        replay.wait(PATIENCE)
        screen.until(lambda text: "● live" not in text)
        screen.keys("q")
        screen.is_given_back(0)
    finally:
        replay.kill()
        if screen is not None:
            screen.end()


def a_recorder_that_runs(folder):
    control, tape, server = folder / "control", folder / "run.tape.jsonl", folder / "server.py"
    server.write_text(SERVER)
    options = ["-o", tape, "--control", f"unix:{control}", "--fault", "hang tool=search"]
    command = [BINARY, "record", *options, "--", sys.executable, server]
    recorder = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
    screen = None

    def call(number, tool):
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
        recorder.stdin.write(json.dumps(message) + "\n")
        recorder.stdin.flush()

    try:
        call(1, "read")
        assert json.loads(recorder.stdout.readline())["id"] == 1
        screen = Screen(["--control", f"unix:{control}"])
        screen.until("● live")
        screen.until("tools/call read")
        call(2, "search")
        screen.until("1 pending")
        # Its clock goes on.
        screen.keys("3")
        screen.until(re.compile(r" [2-9] s").search)
        # What comes moves nobody who stands elsewhere.
        screen.keys("1", "g")
        screen.until("1 of 2")
        screen.keys("5")
        screen.until("[on]")
        screen.keys("Enter")
        screen.until("[off]")
        assert json.loads(recorder.stdout.readline())["id"] == 2
        screen.keys("Enter")
        screen.until("[on]")
        screen.keys("1")
        call(3, "write")
        screen.until(lambda text: "tools/call write" in text and "1 of 3" in text)
        recorder.stdin.close()
        recorder.wait(PATIENCE)
        screen.until(lambda text: "● live" not in text)
        screen.keys("q")
        screen.is_given_back(0)
    finally:
        recorder.kill()
        if screen is not None:
            screen.end()


def main():
    failed = 0
    parts = [a_tape_is_looked_at, sizes_and_colours, signals, a_recorder_that_runs, a_control_without_a_tape]
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            try:
                part(Path(folder))
                print(f"ok    {part.__name__}")
            except Exception as error:  # whatever it is, the next one is looked at
                failed += 1
                print(f"FAIL  {part.__name__}: {error}")
    print(f"{len(parts) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
