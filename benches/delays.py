"""Measures delays on the wire and prints how late messages were, in milliseconds.

COUNT calls are sent at once. Each answer has the time when the server made it. It should take TIME longer to the client
than an answer without a fault; any further difference is its lateness. Prints the median of the medians of all rounds,
and the worst answer of the median round. Over stdio it also prints `burst`: how much later than TIME the whole burst was
answered, compared with no fault, which includes the cost of selecting the delayed messages.

Over HTTP the server is a separate process, since a client that answers itself would be late in reading. With 1,000 at
once a call is sent every millisecond until 1,000 are held, since such a burst would measure the gateway. `events`
are notifications on one event stream, all of them written at once.
"""
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time

if sys.argv[1:] == ["serve"]:
    work, binary, rounds, small = "", "", 0, True
else:
    work, binary, rounds, small = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "1"
CASES = [(1, 10), (100, 100)] if small else [(1, 10), (1, 100), (1, 1000), (100, 100), (1000, 10), (1000, 100), (1000, 1000)]
# With more HTTP clients in one burst, this program would be the bottleneck.
MOST_HTTP = 100
HELD, HELD_MS = (50, 50) if small else (1000, 1000)


def call(number):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "echo"}}) + "\n"


def fault(delay):
    return [] if delay is None else ["--fault", f"slow tool=echo delay_ms={delay}"]


def over_stdio(count, delay):
    """How long each answer took, in seconds, and when the last one arrived after all calls were sent."""
    recorder = [binary, "record", "-o", f"{work}/run.tape.jsonl", *fault(delay), "--", f"{work}/echo_server", "0", "stamp"]
    child = subprocess.Popen(recorder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "TAPEWRIGHT_HOME": work})
    out, came, text = child.stdout.fileno(), [], b""
    # The first call starts everything, and is not counted.
    os.write(child.stdin.fileno(), b'{"jsonrpc":"2.0","id":0,"method":"initialize"}\n')
    os.read(out, 65536)
    calls = "".join(call(number + 1) for number in range(count)).encode()
    began = time.monotonic()
    child.stdin.write(calls)
    child.stdin.flush()
    while len(came) < count:
        chunk = os.read(out, 1 << 20)
        now = time.monotonic()
        if not chunk:
            sys.exit("the recorder ended too soon")
        came += [now] * chunk.count(b"\n")
        text += chunk
    child.stdin.close()
    child.wait(60)
    for name in os.listdir(work):
        if name.startswith("run"):
            os.remove(f"{work}/{name}")
    made = [json.loads(line)["result"]["at"] for line in text.splitlines()]
    return sorted(at - then for at, then in zip(came, made)), came[-1] - began


async def serve():
    """The server of `over_http`: prints its port, and answers until its input ends."""
    server = await asyncio.start_server(upstream, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)


async def upstream(reader, writer):
    """Answers every POST on a connection."""
    while head := await read_head(reader):
        body = await reader.readexactly(length_of(head))
        answer = json.dumps({"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": {"at": time.monotonic()}}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))
        await writer.drain()
    writer.close()


async def read_head(reader):
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def length_of(head):
    fields = (line.split(b":", 1) for line in head.split(b"\r\n")[1:] if b":" in line)
    return next((int(value) for name, value in fields if name.lower() == b"content-length"), 0)


async def over_http(count, delay, pace=0.0):
    """Like `over_stdio`, with each call on a separate open connection, and one every `pace` seconds."""
    server = subprocess.Popen([sys.executable, __file__, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    port = int(server.stdout.readline())
    gateway = subprocess.Popen(
        [binary, "record", "-o", f"{work}/run.tape.jsonl", "--listen", "127.0.0.1:0", "--upstream", f"http://127.0.0.1:{port}/mcp", *fault(delay)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**os.environ, "TAPEWRIGHT_HOME": work},
    )
    ours = json.loads(gateway.stdout.readline())["listening"].split("/")[2]
    host, ours = ours.rsplit(":", 1)
    links = [await asyncio.open_connection(host, int(ours)) for _ in range(count)]

    async def ask(link, number, method):
        reader, writer = link
        body = call(number).replace("tools/call", method).encode()
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: %s:%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (host.encode(), ours.encode(), len(body), body))
        await writer.drain()
        head = await read_head(reader)
        body = await reader.readexactly(length_of(head))
        now = time.monotonic()
        return now - json.loads(body)["result"]["at"]

    # Also opens the connections to the server.
    await asyncio.gather(*(ask(link, number, "ping") for number, link in enumerate(links)))
    async def later(number, link):
        await asyncio.sleep(began + number * pace - time.monotonic())
        return await ask(link, number, "tools/call")

    began = time.monotonic()
    came = await asyncio.gather(*(later(number, link) for number, link in enumerate(links)))
    for _reader, writer in links:
        writer.close()
    gateway.terminate()
    await asyncio.to_thread(gateway.wait, 60)
    server.stdin.close()
    server.wait(60)
    for name in os.listdir(work):
        if name.startswith("run"):
            os.remove(f"{work}/{name}")
    return sorted(came), 0.0


async def over_stream(count, delay):
    """How long each event of a stream took, in seconds, if the server writes all of them at once."""
    async def serve(reader, writer):
        await read_head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: open\n\n")
        await writer.drain()
        await asyncio.sleep(0.05)
        said = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": time.monotonic()}})
        writer.write((f"data: {said}\n\n" * count).encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    asked = [] if delay is None else ["--fault", f"slow method=notifications/message dir=to_client delay_ms={delay}"]
    gateway = subprocess.Popen(
        [binary, "record", "-o", f"{work}/run.tape.jsonl", "--listen", "127.0.0.1:0", "--upstream", f"http://127.0.0.1:{port}/mcp", *asked],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**os.environ, "TAPEWRIGHT_HOME": work},
    )
    ours = json.loads(gateway.stdout.readline())["listening"].split("/")[2]
    host, ours = ours.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(ours), limit=1 << 22)
    # HTTP/1.0 has no chunks, which would be mixed with the events.
    writer.write(b"GET /mcp HTTP/1.0\r\nHost: %s:%s\r\nAccept: text/event-stream\r\nMcp-Session-Id: s\r\n\r\n" % (host.encode(), ours.encode()))
    came, text = [], b""
    while len(came) < count:
        chunk = await reader.read(1 << 20)
        now = time.monotonic()
        if not chunk:
            sys.exit("the stream ended too soon")
        text += chunk
        # An event is complete with its blank line; an incomplete one continues in the next chunk.
        came += [now] * (text.count(b"}\n\n") - len(came))
    made = [json.loads(line[6:])["params"]["data"] for line in text.splitlines() if line.startswith(b"data: ")]
    writer.close()
    gateway.terminate()
    await asyncio.to_thread(gateway.wait, 60)
    server.close()
    for name in os.listdir(work):
        if name.startswith("run"):
            os.remove(f"{work}/{name}")
    return sorted(at - then for at, then in zip(came, made)), 0.0


def late(run, count, delay):
    """The lateness of the answers of one round, compared with a round without a fault, and that of the last answer."""
    (plain, end), (delayed, late_end) = run(count, None), run(count, delay)
    return sorted((one - other) * 1000 - delay for one, other in zip(delayed, plain)), (late_end - end) * 1000 - delay


def report(title, count, delay, found):
    """Prints the results of all rounds."""
    middle = statistics.median(statistics.median(one) for one, _burst in found)
    worst = statistics.median(max(abs(one[0]), abs(one[-1])) for one, _burst in found)
    burst = statistics.median(burst for _one, burst in found)
    limit = 2 + delay * 0.05
    also = f"  burst {burst:.2f}" if title == "stdio" else ""
    print(f"{title:6}  {count:5} at once, {delay:5} ms: late {middle:7.2f} ms, the worst {worst:7.2f}  (at most {limit:.1f}){also}")


def measure():
    for title, run in (("stdio", over_stdio), ("http", lambda count, delay: asyncio.run(over_http(count, delay)))):
        for count, delay in CASES:
            if title == "http" and count > MOST_HTTP:
                continue
            found = [late(run, count, delay) for _round in range(rounds)]
            report(title, count, delay, found)
    held = lambda count, delay: asyncio.run(over_http(count, delay, 0.001))
    report("held", HELD, HELD_MS, [late(held, HELD, HELD_MS) for _round in range(rounds)])
    streamed = lambda count, delay: asyncio.run(over_stream(count, delay))
    for count, delay in [(50, 50)] if small else [(1000, 10), (1000, 100), (1000, 1000)]:
        report("events", count, delay, [late(streamed, count, delay) for _round in range(rounds)])


if sys.argv[1:] == ["serve"]:
    asyncio.run(serve())
else:
    measure()
