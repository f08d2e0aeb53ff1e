"""Traces and metrics held against what others made for them: otlp.py TAPEWRIGHT.

The types of opentelemetry-proto read each line that `export --as otlp` writes, strictly, and Rotel, an OpenTelemetry collector, takes what
`--otlp` sends while it is recorded or replayed. What Rotel hands on in protobuf is what stands on the tape, span for span. Metrics
are read by the types of opentelemetry-proto, strictly, and count each exchange of the tape once: of metrics in JSON, this Rotel drops histograms.
"""

import base64
import collections
import contextlib
import gzip
import http.client
import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import rotel
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse

PATIENCE = 60
WIRE = pathlib.Path(__file__).parent.parent / "wire"
COLLECTOR = pathlib.Path(rotel.__file__).parent / "rotel-agent"
IDS = ("traceId", "spanId", "parentSpanId")


def in_base64(value):
    """Ids as the JSON of protobuf has bytes: that of OTLP has them in hexadecimal, and in nothing else does it differ."""
    if isinstance(value, list):
        return [in_base64(one) for one in value]
    if not isinstance(value, dict):
        return value
    ids = {name: base64.b64encode(bytes.fromhex(value[name])).decode() for name in IDS if name in value}
    return {name: in_base64(one) for name, one in value.items()} | ids


def read(line):
    """A request, as the official types read it; a name or a value that they do not know is an error."""
    return json_format.ParseDict(in_base64(json.loads(line)), ExportTraceServiceRequest(), ignore_unknown_fields=False)


def spans(requests):
    """Spans by their ids, each with its resource and its scope."""
    found = {}
    for request in requests:
        for about in request.resource_spans:
            for scoped in about.scope_spans:
                for span in scoped.spans:
                    parts = (about.resource, scoped.scope, span)
                    key = (span.trace_id, span.span_id)
                    assert len(span.trace_id) == 16 and len(span.span_id) == 8, span
                    assert key not in found, f"twice: {span}"
                    found[key] = tuple(part.SerializeToString(deterministic=True) for part in parts)
    return found


class Sink(http.server.BaseHTTPRequestHandler):
    """Where the collector sends what it took, in protobuf."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        kind = "application/x-protobuf"
        if self.path == "/own/v1/metrics":
            # Straight from us.
            self.server.measured.append(json_format.ParseDict(json.loads(body), ExportMetricsServiceRequest(), ignore_unknown_fields=False))
            kind, answer = "application/json", b"{}"
        else:
            self.server.requests.append(ExportTraceServiceRequest.FromString(body))
            answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def free():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def collector(folder):
    """A collector, and what it handed on."""
    sink = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    sink.requests, sink.measured = [], []
    threading.Thread(target=sink.serve_forever, daemon=True).start()
    port = free()
    command = [str(COLLECTOR), "start", "--otlp-http-endpoint", f"127.0.0.1:{port}", "--otlp-grpc-endpoint", f"127.0.0.1:{free()}"]
    command += ["--exporter", "otlp", "--otlp-exporter-protocol", "http", "--batch-timeout", "50ms"]
    command += ["--otlp-exporter-endpoint", f"http://127.0.0.1:{sink.server_port}", "--pid-file", f"{folder}/pid", "--log-file", f"{folder}/log"]
    os.chmod(COLLECTOR, 0o755)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}", f"http://127.0.0.1:{sink.server_port}/own/v1/metrics", sink
    finally:
        process.terminate()
        process.wait(PATIENCE)
        sink.shutdown()


MESSAGES = [
    {"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}},
    {"method": "tools/list", "params": {}},
    {"method": "tools/call", "params": {"name": "forecast", "arguments": {"city": "Zürich \"\\\n\U0001f600"}}},
    {"method": "tools/call", "params": {"name": "none", "arguments": {}}},
    {"method": "nothing/known", "params": {"_meta": {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=b"}}},
]


def over_lines(command, environment):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)
    for number, message in enumerate(MESSAGES * 5):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, **message}) + "\n")
        process.stdin.flush()
        # The server also says that it is ready, and what it has to say.
        while f'"id":{number}' not in (line := process.stdout.readline()) or '"method"' in line:
            assert line, "the output ended"
    process.stdin.close()
    process.wait(PATIENCE)


def over_http(command, environment):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    place = urllib.parse.urlsplit(json.loads(process.stdout.readline())["listening"])
    fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for number, message in enumerate(MESSAGES * 5):
        connection = http.client.HTTPConnection(place.netloc, timeout=PATIENCE)
        connection.request("POST", place.path, json.dumps({"jsonrpc": "2.0", "id": number, **message}), fields)
        answer = connection.getresponse()
        answer.read()
        if given := answer.getheader("Mcp-Session-Id"):
            fields["Mcp-Session-Id"] = given
        connection.close()
    process.terminate()
    process.wait(PATIENCE)


def exported(tapewright, tape, *options):
    made = subprocess.run([tapewright, "export", str(tape), "--as", "otlp", *options], capture_output=True, text=True, check=True)
    return [read(line) for line in made.stdout.splitlines()]


def exchanges(tapewright, tape):
    """How many exchanges of each method and tool there are on a tape."""
    shown = subprocess.run([tapewright, "show", str(tape), "--json"], capture_output=True, text=True, check=True)
    rows = [row for row in map(json.loads, shown.stdout.splitlines()) if "request_seq" in row]
    return collections.Counter((row["method"], row.get("tool")) for row in rows)


def operations(measured):
    """What both histograms of operations count, by method and tool, once nothing more comes."""
    both = []
    for metric in ("mcp.server.operation.duration", "mcp.client.operation.duration"):
        counted = collections.Counter()
        for request in measured:
            for about in request.resource_metrics:
                for scoped in about.scope_metrics:
                    for one in scoped.metrics:
                        if one.name != metric:
                            continue
                        assert one.unit == "s" and one.histogram.aggregation_temporality == 1, one
                        for point in one.histogram.data_points:
                            named = {pair.key: pair.value.string_value for pair in point.attributes}
                            assert sum(point.bucket_counts) == point.count and len(point.explicit_bounds) == 14, point
                            assert point.start_time_unix_nano < point.time_unix_nano, point
                            counted[named["mcp.method.name"], named.get("gen_ai.tool.name")] += point.count
        both.append(counted)
    assert both[0] == both[1], both
    return both[0]


def live(tapewright, name, speak, command, compression):
    """What the collector handed on of a recording or a replay, held against its tape."""
    with tempfile.TemporaryDirectory() as folder, collector(folder) as (url, own, sink):
        environment = os.environ | {"OTEL_EXPORTER_OTLP_COMPRESSION": compression, "OTEL_BSP_SCHEDULE_DELAY": "50"}
        environment |= {"OTEL_METRIC_EXPORT_INTERVAL": "50", "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta"}
        environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": own}
        tape = f"{folder}/run.tape.jsonl"
        command = [one.replace("{tape}", tape) for one in command]
        speak([tapewright, *command], environment)
        wanted = spans(exported(tapewright, tape, "--otlp-content"))
        until = time.monotonic() + PATIENCE
        while len(got := spans(sink.requests)) < len(wanted) and time.monotonic() < until:
            time.sleep(0.05)
        calls = exchanges(tapewright, tape)
    counted = operations(sink.measured)
    assert got == wanted, f"{name}: {len(got)} of {len(wanted)} spans: {set(wanted) ^ set(got)}"
    assert len(wanted) > 20, f"{name}: {len(wanted)} spans"
    assert counted == calls and sum(calls.values()) > 20, f"{name}: {counted} is not {calls}"
    print(f"{name}: {len(wanted)} spans handed on as they are on the tape, {sum(calls.values())} exchanges counted")


def main(tapewright):
    lines = 0
    for tape in sorted(WIRE.glob("*.tape.jsonl")):
        requests = exported(tapewright, tape, "--otlp-content")
        lines += len(requests)
        assert spans(requests), tape
    print(f"{lines} requests of {len(list(WIRE.glob('*.tape.jsonl')))} recordings are read by the types of opentelemetry-proto")
    told = ["-o", "{tape}", "--otlp", "--otlp-content"]
    server = ["--", tapewright, "demo", "--serve"]
    live(tapewright, "record", over_lines, ["record", *told, *server], "gzip")
    live(tapewright, "record --listen", over_http, ["record", *told, "--listen", "127.0.0.1:0", *server], "none")
    with tempfile.TemporaryDirectory() as folder:
        recorded = f"{folder}/recorded.tape.jsonl"
        over_lines([tapewright, "record", "-o", recorded, *server], os.environ)
        live(tapewright, "replay", over_lines, ["replay", recorded, *told], "gzip")
        live(tapewright, "replay --listen", over_http, ["replay", recorded, *told, "--listen", "127.0.0.1:0"], "none")


main(*sys.argv[1:])
