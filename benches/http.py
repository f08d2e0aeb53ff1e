"""Runs the gateway, haproxy and the bare server alternately and prints medians and ratios; see `http`."""
import contextlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

work, binary = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
rounds, small = int(sys.argv[3]), sys.argv[4] == "1"
here = pathlib.Path(__file__).resolve().parent
# The baseline, if it is built.
floor = os.environ.get("FLOOR")
seconds = 1 if small else 5
idle_streams, busy_sessions = (50, 20) if small else (1_000, 200)
# Debian installs servers in folders that are not in every PATH.
path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

NGINX = """worker_processes 1; daemon off; pid {work}/nginx.pid; error_log {work}/nginx.err;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 10000000; keepalive_timeout 300s;
  client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/fastcgi;
  uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=4096; location /mcp {{ default_type application/json; return 200
    '{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"hello from the upstream, sixty four bytes of text or so"}}]}}}}'; }} }} }}
"""
HAPROXY = """global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend f
  bind 127.0.0.1:{port}
  default_backend b
backend b
  server s 127.0.0.1:{upstream}
"""


def free_port():
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def started(command, port):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    running.append(process)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return process
        time.sleep(0.02)
    sys.exit(f"{command[0]} does not listen at {port}")


running = []


def stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Gateway:
    def __init__(self, upstream, *options):
        self.folder = work / "rec"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        command = [binary, "record", "--listen", "127.0.0.1:0", "--upstream", f"http://127.0.0.1:{upstream}/mcp",
                   "-o", str(self.folder / "x.json"), *options]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        running.append(self.process)
        self.port = int(re.search(rb":(\d+)/", self.process.stdout.readline())[1])

    def memory(self):
        """(highest, now), in MB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return tuple(int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ("VmHWM", "VmRSS"))

    def lost(self):
        """How many events the recording lacks at its end."""
        last = next(self.folder.glob("*.tape.jsonl")).read_bytes().rstrip(b"\n").rsplit(b"\n", 1)[-1]
        return json.loads(last)["end"].get("gaps", {}).get("events", 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        stop(self.process)


def processor(process):
    """The processor time of a process so far, in seconds."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(process, port, connections):
    """The output of `wrk`, and the processor time of `process` per request."""
    before = processor(process)
    said = wrk(port, connections)
    return {**said, "cpu_us": (processor(process) - before) / said["count"] * 1e6}


def wrk(port, connections, sessions=1):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", str(here / "tools_call.lua"),
               f"http://127.0.0.1:{port}/mcp", "--", str(sessions)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    scale = {"us": 1, "ms": 1e3, "s": 1e6}
    latency = {percent: float(value) * scale[unit] for percent, value, unit in re.findall(r"(\d+)%\s+([\d.]+)(us|ms|s)", said)}
    if found := re.search(r"Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)", said):
        print(f"   not all was answered: {found[0]}")
    return {
        "rps": float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]),
        "count": int(re.search(r"(\d+) requests in", said)[1]),
        "p50_us": latency["50"],
        "p99_us": latency["99"],
    }


def requests():
    upstream, front = free_port(), free_port()
    (work / "nginx.conf").write_text(NGINX.format(work=work, port=upstream))
    (work / "haproxy.cfg").write_text(HAPROXY.format(port=front, upstream=upstream))
    nginx = started(["nginx", "-c", str(work / "nginx.conf")], upstream)
    haproxy = started(["haproxy", "-db", "-f", str(work / "haproxy.cfg")], front)
    fixed = {"direct": (nginx, upstream), "haproxy": (haproxy, front)}
    if floor:
        process = subprocess.Popen([floor, f"127.0.0.1:{upstream}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        running.append(process)
        fixed["floor"] = (process, int(re.search(rb":(\d+)/", process.stdout.readline())[1]))
    alternated("requests, 32 connections", 32, upstream, fixed, "0.85, p99 at most 1.3, `written` 0.6")
    alternated("one connection", 1, upstream, fixed, "p50 at most 1.3")


def alternated(title, connections, upstream, fixed, wanted):
    """Measures all alternately; ratios are between runs of the same round, since the machine's load changes between rounds."""
    # `wait` loses nothing; the default of a gateway lets traffic pass if the disk hangs.
    variants = {"ours": ["--when-full", "wait"], "gap": ["--when-full", "gap"], "written": ["--durability", "written"]}
    found = {name: [] for name in (*fixed, *variants)}
    for _ in range(rounds):
        for name, (process, port) in fixed.items():
            found[name].append(measured(process, port, connections))
        for name, options in variants.items():
            with Gateway(upstream, *options) as gateway:
                found[name].append(measured(gateway.process, gateway.port, connections))
            found[name][-1]["lost"] = gateway.lost()
    for name, runs in found.items():
        value = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        to = {key: statistics.median(run[key] / base[key] for run, base in zip(runs, found["haproxy"])) for key in ("rps", "p50_us", "p99_us", "cpu_us")}
        print(f"{title:26} {name:8} {value['rps']:9,.0f} 1/s  p50 {value['p50_us']:7,.0f}  p99 {value['p99_us']:7,.0f} us"
              + ("" if name == "direct" else f"  processor {value['cpu_us']:5.1f} us each   to haproxy: {to['rps']:5.2f}, p50 {to['p50_us']:5.2f}, p99 {to['p99_us']:5.2f}, processor {to['cpu_us']:5.2f}")
              + (f"   {value['lost']:,.0f} events lost" if value.get("lost") else ""))
    print(f"{'':26} wanted: {wanted}")


def latency(upstream):
    def once(port):
        run = subprocess.run([work / "sse", "read", str(port)], check=True, capture_output=True, text=True)
        return json.loads(run.stdout)["p50_us"]

    direct, ours = [], []
    for _ in range(rounds):
        direct.append(once(upstream))
        with Gateway(upstream) as gateway:
            ours.append(once(gateway.port))
    one, other = statistics.median(direct), statistics.median(ours)
    print(f"{'an SSE event of 100 bytes, p50':34} {'ours':8} {other:12,.1f} us     direct {one:8,.1f}   more {other - one:8,.1f} us  (at most 100)")


def head(port, target, session):
    """Opens an exchange and reads its head; the socket stays open."""
    sock = socket.create_connection(("127.0.0.1", port))
    sock.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n".encode())
    got = b""
    while b"\r\n\r\n" not in got:
        part = sock.recv(4096)
        if not part:
            sys.exit(f"no answer to {target}: {got[:200]!r}")
        got += part
    return sock


def sessions(upstream):
    with Gateway(upstream) as gateway:
        fresh = gateway.memory()[1]
        streams = [head(gateway.port, "/idle", f"idle-{number}") for number in range(idle_streams)]
        idle = gateway.memory()[1]
        print(f"{f'{idle_streams:,} idle SSE streams':34} {'ours':8} {idle:12,.1f} MB     before {fresh:6,.1f}   each {(idle - fresh) * 1024 / idle_streams:6,.1f} KB")
        if shutil.which("wrk", path=path):
            wrk(gateway.port, busy_sessions, busy_sessions)
            highest, now = gateway.memory()
            print(f"{f'and {busy_sessions} busy sessions':34} {'ours':8} {highest:12,.1f} MB at most, {now:,.1f} after  (at most 150)")
        for stream in streams:
            stream.close()


def large(upstream):
    for name, send in (("100 MB to the client", None), ("100 MB to the server", b"x" * 1_000_000)):
        with Gateway(upstream) as gateway:
            before = gateway.memory()[1]
            begun = time.perf_counter()
            if send is None:
                sock, got = head(gateway.port, "/big", "big"), 0
                while got < 100_000_000 - 65_536 and (part := sock.recv(1 << 20)):
                    got += len(part)
            else:
                sock = socket.create_connection(("127.0.0.1", gateway.port))
                sock.sendall(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{gateway.port}\r\nContent-Type: application/octet-stream\r\nContent-Length: 100000000\r\n\r\n".encode())
                for _ in range(100):
                    sock.sendall(send)
                sock.recv(4096)
            took = time.perf_counter() - begun
            sock.close()
            highest = gateway.memory()[0]
        print(f"{name:34} {'ours':8} {highest:12,.1f} MB at most, {before:,.1f} before   {100 / took:,.0f} MB/s")


os.environ["PATH"] = path
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 65_536 else max(soft, min(hard, 65_536)), hard))
try:
    missing = [tool for tool in ("nginx", "haproxy", "wrk") if not shutil.which(tool, path=path)]
    if missing:
        print(f"requests per second: not measured, {', '.join(missing)} missing (Debian: nginx-light haproxy wrk)")
    else:
        requests()
    slow = free_port()
    started([work / "sse", "serve", str(slow), "100" if small else "2000", "1000"], slow)
    latency(slow)
    sessions(slow)
    large(slow)
finally:
    for process in running:
        if process.poll() is None:
            stop(process)
