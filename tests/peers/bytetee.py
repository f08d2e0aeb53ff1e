#!/usr/bin/env python3
"""An unbuffered byte tee for a stdio server: bytetee.py LOGDIR -- COMMAND [ARGS...]

Everything it forwards is written to LOGDIR first: to_server (its stdin), to_client (the child's stdout), stderr
(the child's stderr); LOGDIR/exit gets the child's exit status, as `code N` or `signal N`, or `torn` when the child
outlived its pipes. One read is one write, end of input, exit status and signals are passed on. If LOGDIR exists
already, LOGDIR.1, LOGDIR.2 and so on are tried: a client may start its server twice.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading

CHUNK = 1 << 20
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
PR_SET_PDEATHSIG = 1


def make_log_directory(wanted):
    """The first of wanted, wanted.1, wanted.2 ... that nobody else has."""
    number = 0
    while True:
        path = wanted if number == 0 else f"{wanted}.{number}"
        try:
            os.makedirs(path)
            return path
        except FileExistsError:
            number += 1


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]


def pump(source, target, log_path):
    """Copy source to target until either is gone, then close both: that is how the end travels on."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        while chunk := os.read(source, CHUNK):
            write_all(log, chunk)
            write_all(target, chunk)
    except OSError:
        pass  # EPIPE and friends: the other side has gone, which is a normal end
    finally:
        for descriptor in (log, target, source):
            try:
                os.close(descriptor)
            except OSError:
                pass


def given_environment():
    """What the tee was started with: Python itself may have added LC_CTYPE to what os.environ shows."""
    with open("/proc/self/environ", "rb") as file:
        pairs = [entry.partition(b"=") for entry in file.read().split(b"\0") if b"=" in entry]
    return {name: value for name, _, value in pairs}


def die_with_parent():
    """In the child, before exec: default signal handling, and no life after the tee's own."""
    for number in FORWARDED:
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit("usage: bytetee.py LOGDIR -- COMMAND [ARGS...]")
    logs, command = make_log_directory(sys.argv[1]), sys.argv[3:]

    # Signals that come before there is a child wait in the kernel.
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=given_environment(),
            restore_signals=True,
            preexec_fn=lambda: (die_with_parent(), signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)),
        )
    except OSError as problem:
        print(f"bytetee: {command[0]}: {problem.strerror}", file=sys.stderr)
        sys.exit(127 if isinstance(problem, FileNotFoundError) else 126)

    def forward(number, _frame):
        if child.poll() is None:
            child.send_signal(number)

    for number in FORWARDED:
        signal.signal(number, forward)

    # Duplicates, so that the pumps may close what they were given while the objects stay whole.
    pipes = [os.dup(stream.fileno()) for stream in (child.stdin, child.stdout, child.stderr)]
    for stream in (child.stdin, child.stdout, child.stderr):
        stream.close()
    down = threading.Thread(target=pump, args=(0, pipes[0], os.path.join(logs, "to_server")), daemon=True)
    up = threading.Thread(target=pump, args=(pipes[1], 1, os.path.join(logs, "to_client")), daemon=True)
    side = threading.Thread(target=pump, args=(pipes[2], 2, os.path.join(logs, "stderr")), daemon=True)
    for thread in (down, up, side):
        thread.start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)

    status = child.wait()
    # What the child still had in its pipes; a grandchild that holds them open may not hold us.
    for thread in (up, side):
        thread.join(timeout=2)
    torn = " torn" if up.is_alive() or side.is_alive() else ""
    with open(os.path.join(logs, "exit"), "w", encoding="ascii") as file:
        file.write((f"signal {-status}" if status < 0 else f"code {status}") + torn + "\n")
    if status < 0 and -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
