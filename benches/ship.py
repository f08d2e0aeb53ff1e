"""Runs a recorder with and without a shipper that follows its folder, alternately, and prints medians and ratios; see `ship`."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

work, binary, fleet = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
rounds, small = int(sys.argv[4]), sys.argv[5] == "1"
here = pathlib.Path(__file__).resolve().parent
os.environ["PATH"] += ":/usr/sbin:/sbin"
messages, seconds = (5_000, 1) if small else (200_000, 5)
folder, store = work / "rec", work / "store"

NGINX = """worker_processes 1; daemon off; pid {work}/nginx.pid; error_log {work}/nginx.err;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 10000000;
  client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/fastcgi;
  uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
  server {{ listen 127.0.0.1:{port}; location /mcp {{ default_type application/json; return 200
    '{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"hello from the upstream, sixty four bytes of text or so"}}]}}}}'; }} }} }}
"""


def spent(pid):
    """The processor time of a process so far, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def shipper(is_there):
    """A shipper of the folder, if requested; its processor time is added to the list."""
    for place in (folder, store):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
    took = []
    if not is_there:
        yield took
        return
    command = [fleet, "ship", str(folder), "--to", f"file://{store}", "--segment-age", "1s", "--gateway", "bench"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begun = time.monotonic()
    try:
        # It has checked the folder once.
        time.sleep(0.5)
        yield took
        took.append(spent(process.pid) / (time.monotonic() - begun))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)
    shipped = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
    if not shipped:
        sys.exit("nothing was shipped")


def over_lines():
    command = [str(work / "drive"), str(messages), "64", "64", "--", binary, "record", "-o", str(folder / "x.tape.jsonl"), "--"]
    said = subprocess.run([*command, str(work / "echo_server"), "64"], check=True, capture_output=True, text=True).stdout
    said = json.loads(said)
    return said["msgs_per_s"], said["cpu_s"] / messages * 1e6


def over_http(upstream):
    command = [binary, "record", "--listen", "127.0.0.1:0", "--upstream", f"http://127.0.0.1:{upstream}/mcp"]
    process = subprocess.Popen([*command, "-o", str(folder / "x.tape.jsonl")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        port = int(re.search(rb":(\d+)/", process.stdout.readline())[1])
        before = spent(process.pid)
        command = ["wrk", "-t1", "-c32", f"-d{seconds}s", "-s", str(here / "tools_call.lua"), f"http://127.0.0.1:{port}/mcp", "--", "1"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        count = int(re.search(r"(\d+) requests in", said)[1])
        return float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]), (spent(process.pid) - before) / count * 1e6
    finally:
        process.terminate()
        process.wait(60)


def by_turns(title, unit, measure):
    """Measures in pairs, with and without a shipper directly after each other, so that other load affects both. A ratio is
    the median of the ratios of the pairs."""
    found, took = {True: [], False: []}, []
    for turn in range(rounds):
        for is_there in (turn % 2 == 0, turn % 2 == 1):
            with shipper(is_there) as share:
                found[is_there].append(measure())
            took += share
    (with_speed, with_cpu), (speed, cpu) = ([statistics.median(one) for one in zip(*found[is_there])] for is_there in (True, False))
    pairs = [(one[0] / other[0], one[1] / other[1]) for one, other in zip(found[True], found[False])]
    ratio, cpu_ratio = (statistics.median(one) for one in zip(*pairs))
    least, most = min(pairs)[0], max(pairs)[0]
    print(f"{title:28} {speed:10,.0f} {unit} without, {with_speed:10,.0f} with: {ratio:5.3f} (at least 0.98), {least:.3f} to {most:.3f} in {rounds} pairs")
    print(f"{'':28} {cpu:10.2f} us of a processor without, {with_cpu:10.2f} with: {cpu_ratio:5.3f}; the shipper took {statistics.median(took):.2f} of one")


by_turns("pipelined, 64 in flight", "msg/s", over_lines)
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    upstream = probe.getsockname()[1]
(work / "nginx.conf").write_text(NGINX.format(work=work, port=upstream))
nginx = subprocess.Popen(["nginx", "-c", str(work / "nginx.conf")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", upstream), 1):
            break
        time.sleep(0.05)
    by_turns("requests, 32 connections", "req/s", lambda: over_http(upstream))
finally:
    nginx.terminate()
    nginx.wait(30)
