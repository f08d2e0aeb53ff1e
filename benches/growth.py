"""Time and memory of commands for a long recording. Run by benches/growth."""

import json
import os
import subprocess
import sys
import time

work, tapewright, exchanges = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3])
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"msg": "y" * 64}}}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "drive", "version": "1"}},
}


def ended(process):
    """Waits for a process; returns its processor time in seconds, and its peak memory in MB."""
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"`{' '.join(process.args)}` failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run(*command):
    """Runs a command; returns wall time and processor time in seconds, and peak memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cpu, memory = ended(process)
    return time.monotonic() - start, cpu, memory


def first_answer(file):
    """Runs a replay until it has answered a call."""
    start = time.monotonic()
    command = [tapewright, "replay", file]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for message in (INITIALIZE, CALL):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        if b'"result"' not in process.stdout.readline():
            sys.exit(f"a replay of `{file}` did not answer")
    seconds = time.monotonic() - start
    with open(f"/proc/{process.pid}/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    process.stdin.close()
    cpu, _ = ended(process)
    return seconds, cpu, peak


def line(what, file, figures, events):
    seconds, cpu, memory = figures
    size = os.path.getsize(file) / 1e6
    baseline, _, _ = run("cat", file)
    rate = events / cpu / 1e6 if cpu else 0
    print(
        f"{what:28} {seconds:7.2f} s  {cpu:6.2f} s cpu  {rate:5.2f} M events/s cpu  {memory:7.1f} MB"
        f"  {memory / size:5.2f} of the file  cat {baseline:5.2f} s"
    )


def main():
    os.chdir(work)
    record = [tapewright, "record", "-o", "long.json", "--save-capture", "long.capture.json", "--", "./echo_server", "64"]
    for window in ("1", "64"):
        for name in ("long.json", "long.tape.jsonl", "long.capture.json"):
            if os.path.exists(name):
                os.remove(name)
        driven = subprocess.run(["./drive", str(exchanges), window, "64", "--", *record], capture_output=True, check=True)
        told = json.loads(driven.stdout)
        print(f"recorder, {window} in flight: ended in {told['exit_ms']} ms, {told['maxrss_mb']} MB")
    events = exchanges * 2
    tape, cassette = "long.tape.jsonl", "long.json"
    for file in (tape, cassette):
        print(f"{file}: {os.path.getsize(file) / 1e6:.0f} MB")
        line(f"inspect {file}", file, run(tapewright, "inspect", file), events)
        for kind in ("cassette", "capture"):
            line(f"export {kind}", file, run(tapewright, "export", file, "--as", kind), events)
        line("replay's first answer", file, first_answer(file), events)
    # A secret in each call, so that there is something to scrub.
    for file in (tape, cassette, "long.capture.json"):
        secret = f"secret.{file}"
        with open(file, "rb") as source, open(secret, "wb") as out:
            for text in source:
                out.write(text.replace(b"y" * 64, b"ghp_abcdefghijklmnopqrstuvwxyz0123456789"))
        line(f"scrub {file}, clean", file, run(tapewright, "scrub", file), events)
        line(f"scrub {file}, secrets", secret, run(tapewright, "scrub", secret), events)


main()
