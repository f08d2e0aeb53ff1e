"""The cost of views, for themselves and for the recorder. Run by benches/views."""

import sys

# A file next to this one has the name of a Python module.
sys.path.pop(0)

import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import threading
import time
import urllib.parse
from pathlib import Path

work, tapewright, events, rounds = Path(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
IDLE_SECONDS = 20 if rounds > 1 else 1
PATIENCE_SECONDS = 300
CALLS = {1: 30_000 if rounds > 1 else 1_000, 32: 120_000 if rounds > 1 else 2_000}
TICKS = os.sysconf("SC_CLK_TCK")
SERVER = "import sys\nfor line in sys.stdin: pass"


def write_tape(path, events):
    """A tape of calls of fifty tools, each answered, with about 150 bytes per event."""
    head = {"tape": "2.1", "created": "2026-11-21T04:00:00Z", "by": "tapewright 0.1.0", "transport": "stdio",
            "label": "large", "pid": 1, "redacted": True}
    with path.open("w") as file:
        file.write(json.dumps(head) + "\n")
        for number in range(events // 2):
            seq = 2 * number + 1
            ask = {"jsonrpc": "2.0", "id": number, "method": "tools/call",
                   "params": {"name": f"tool_{number % 50}", "arguments": {"path": f"src/{number % 997}.rs"}}}
            answer = {"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": "x" * (number % 60)}]}}
            for at, side, message in ((seq, "to_server", ask), (seq + 1, "to_client", answer)):
                line = {"seq": at, "at_us": at * 100, "dir": side, "era": "handshake", "message": message}
                file.write(json.dumps(line, separators=(",", ":")) + "\n")


def status(pid, name):
    """A figure of a process in MiB."""
    found = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M)
    return int(found[1]) / 1024 if found else 0.0


def processor(pid):
    """The processor time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def switches(pid):
    """How often its threads have waited: the number of wake-ups."""
    told = (Path(task, "status").read_text() for task in Path(f"/proc/{pid}/task").iterdir())
    return sum(int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", one, re.M)[1]) for one in told)


def idle(pid):
    """The processor time and wake-ups of an idle process."""
    took, woken = processor(pid), switches(pid)
    time.sleep(IDLE_SECONDS)
    return f"idle for {IDLE_SECONDS} s: {(processor(pid) - took) * 1000:.0f} ms, woken {switches(pid) - woken} times"


def printing(name, words):
    """A command that prints and ends."""
    began = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = child.stdout.read1(1)
    seen = time.monotonic() - began
    size = len(first)
    while block := child.stdout.read(1 << 20):
        size += len(block)
    told = child.stderr.read().decode().strip()
    _, code, usage = os.wait4(child.pid, 0)
    whole = time.monotonic() - began
    print(f"{name}: first output {seen * 1000:.0f} ms, whole {whole:.1f} s, {size / 1e6:.0f} MB, "
          f"memory {usage.ru_maxrss / 1024:.0f} MiB, status {os.waitstatus_to_exitcode(code)} {told}", flush=True)


class Page:
    """A command that serves a page."""

    def __init__(self, words):
        self.began = time.monotonic()
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.link = urllib.parse.urlsplit(json.loads(next(line for line in self.child.stderr if line.startswith('{"page"')))["page"])
        self.headers = {"authorization": f"Bearer {self.link.fragment.removeprefix('token=')}"}
        self.http = http.client.HTTPConnection(self.link.netloc)

    def get(self, path):
        """The response, as text."""
        self.http.request("GET", path, headers=self.headers)
        return self.http.getresponse().read()

    def listen(self, at):
        """Opens a page and reads everything."""
        stream = http.client.HTTPConnection(self.link.netloc, timeout=PATIENCE_SECONDS)
        stream.request("GET", "/api/events", headers={**self.headers, "last-event-id": str(at)})
        response = stream.getresponse()
        while b"event: state" not in response.readline():
            pass
        return stream

    def end(self):
        """Ends the command."""
        self.child.terminate()
        self.child.wait()


def view(tape, rows):
    """`tapewright view`."""
    page = Page([tapewright, "view", str(tape)])
    seen, at = None, 0
    while at < rows:
        batch = json.loads(page.get(f"/api/rows?from={at}"))
        if batch["rows"] and seen is None:
            seen = time.monotonic() - page.began
        if batch["next"] == at:
            time.sleep(0.002)
        at = batch["next"]
    whole = time.monotonic() - page.began
    stream = page.listen(at)
    time.sleep(2)
    print(f"view: first rows {seen * 1000:.0f} ms, whole {whole:.1f} s, {at} rows, memory {status(page.child.pid, 'VmHWM'):.0f} MiB, "
          f"{idle(page.child.pid)}", flush=True)
    stream.close()
    page.end()


def recorder(shown):
    """An idle recorder, with or without an open page."""
    words = [tapewright, "record", "-o", str(work / f"idle-{shown}.tape.jsonl"), "--page", "--", sys.executable, "-c", SERVER]
    page = Page(words)
    stream = page.listen(0) if shown else None
    page.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    page.child.stdin.flush()
    time.sleep(3)
    print(f"record --page, {'one open page' if shown else 'no page open'}: {idle(page.child.pid)}", flush=True)
    if stream:
        stream.close()
    page.child.stdin.close()
    page.child.wait()


def watch(tape, rows):
    """`tapewright watch` in a terminal of 80 times 24."""
    socket = f"views-{os.getpid()}"
    tmux = ["tmux", "-L", socket]
    began = time.monotonic()
    subprocess.run([*tmux, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", tapewright, "watch", str(tape)], check=True)
    pid = int(subprocess.run([*tmux, "display-message", "-p", "#{pane_pid}"], check=True, capture_output=True, text=True).stdout)
    screen = lambda: subprocess.run([*tmux, "capture-pane", "-p"], check=True, capture_output=True, text=True).stdout
    seen = whole = None
    while whole is None and time.monotonic() - began < PATIENCE_SECONDS:
        text = screen()
        if seen is None and "tool_" in text:
            seen = time.monotonic() - began
        if seen is not None and str(rows) in re.sub(r"[ ,.'_]", "", text):
            whole = time.monotonic() - began
        time.sleep(0.01)
    time.sleep(2)
    told = "never" if whole is None else f"{whole:.1f} s"
    first = "never" if seen is None else f"{seen * 1000:.0f} ms"
    print(f"watch: first rows {first}, whole {told}, memory {status(pid, 'VmHWM'):.0f} MiB, {idle(pid)}", flush=True)
    if whole is None:
        print(screen())
    subprocess.run([*tmux, "kill-server"], check=False)


class Reader(threading.Thread):
    """An open page of a recorder under load, which reads everything that is sent."""

    def __init__(self, stderr):
        super().__init__(daemon=True)
        self.stderr, self.got = stderr, 0

    def run(self):
        link = next((json.loads(line)["page"] for line in self.stderr if line.startswith('{"page"')), None)
        link = urllib.parse.urlsplit(link)
        headers = {"authorization": f"Bearer {link.fragment.removeprefix('token=')}", "last-event-id": "0"}
        try:
            while True:
                stream = http.client.HTTPConnection(link.netloc, timeout=PATIENCE_SECONDS)
                stream.request("GET", "/api/events", headers=headers)
                response = stream.getresponse()
                while block := response.read1(1 << 16):
                    self.got += len(block)
        except (OSError, http.client.HTTPException):
            pass


def loaded(window, how):
    """A recorder under load: calls per second, its processor time in seconds, and the bytes sent to a page."""
    tape = work / "loaded.tape.jsonl"
    tape.unlink(missing_ok=True)
    command = [work / "drive", str(CALLS[window]), str(window), "64", "--", tapewright, "record", "-o", tape,
               *(["--page"] if how == "page" else []), "--", work / "echo_server"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    reader = Reader(child.stderr) if how == "page" else None
    tmux = ["tmux", "-L", f"views-{os.getpid()}"]
    if reader:
        reader.start()
    if how == "watch":
        while not tape.exists():
            time.sleep(0.001)
        subprocess.run([*tmux, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", tapewright, "watch", tape], check=True)
    told = json.loads(child.stdout.read())
    child.wait()
    if how == "watch":
        subprocess.run([*tmux, "kill-server"], check=False)
    return told["msgs_per_s"], told["cpu_s"], reader.got if reader else 0


def cost():
    """The cost of an open page and of an open terminal view for a recorder: alternating pairs, with medians of their ratios."""
    for window in CALLS:
        for how in ["page"] + ["watch"] * bool(shutil.which("tmux")):
            speed, processor_time, got = [], [], 0
            for _ in range(rounds):
                plain, seen = loaded(window, "plain"), loaded(window, how)
                speed.append(seen[0] / plain[0])
                processor_time.append(seen[1] / plain[1] if plain[1] else 1.0)
                got = seen[2]
            print(f"{how} beside a recorder, {window} in flight: {statistics.median(speed):.3f} x the calls per second "
                  f"({min(speed):.3f} to {max(speed):.3f}), {statistics.median(processor_time):.3f} x the processor time of the "
                  f"recorder" + (f", {got / 1e6:.1f} MB sent" if got else ""), flush=True)


def main():
    """All of them, one after the other."""
    tape = work / "large.tape.jsonl"
    write_tape(tape, events)
    print(f"a tape of {events} events, {tape.stat().st_size / 1e6:.0f} MB")
    printing("show", [tapewright, "show", str(tape)])
    printing("inspect", [tapewright, "inspect", str(tape)])
    printing("export --as html", [tapewright, "export", str(tape), "--as", "html", "-o", str(work / "large.html")])
    print(f"   the file: {(work / 'large.html').stat().st_size / 1e6:.0f} MB")
    view(tape, events // 2)
    if shutil.which("tmux"):
        watch(tape, events // 2)
    for shown in (True, False):
        recorder(shown)
    cost()


main()
