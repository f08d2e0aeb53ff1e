"""`promtool check metrics` finds nothing to say about the figures of a gateway: metrics.py TAPEWRIGHT PROMTOOL."""

import http.client
import http.server
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse


class Server(http.server.BaseHTTPRequestHandler):
    """Answers each request, some with an error."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}}
        if asked["id"] % 3 == 0:
            answer = {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32602, "message": "no"}}
        body = json.dumps(answer).encode()
        self.send_response(200)
        if asked["method"] == "initialize":
            self.send_header("Mcp-Session-Id", "one")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def ask(url, verb, body=None, headers=None):
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.netloc, timeout=30)
    connection.request(verb, place.path, body and json.dumps(body), headers or {})
    text = connection.getresponse().read().decode()
    connection.close()
    return text


def traffic(url):
    session = {"Content-Type": "application/json", "Mcp-Session-Id": "one"}
    plain = {"Content-Type": "application/json"}
    ask(url, "POST", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}, plain)
    for number in range(2, 40):
        params = {"name": f'tool "{number % 5}"\n\\', "arguments": {}}
        ask(url, "POST", {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}, session)
    ask(url, "DELETE", None, session)


def main(tapewright, promtool):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # Nobody is there: what is lost of the traces is among the figures.
    command = [tapewright, "record", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--otlp", "http://127.0.0.1:9"]
    command += ["--upstream", f"http://127.0.0.1:{server.server_port}/mcp"]
    with tempfile.TemporaryDirectory() as folder:
        recorder = subprocess.Popen([*command, "-o", f"{folder}/run.tape.jsonl"], stdout=subprocess.PIPE, text=True)
        try:
            line = json.loads(recorder.stdout.readline())
            traffic(line["listening"])
            until = time.monotonic() + 60
            text = ""
            while "mcp_client_session_duration_seconds_count" not in text and time.monotonic() < until:
                time.sleep(0.2)
                text = ask(line["metrics"], "GET")
        finally:
            recorder.terminate()
            recorder.wait(30)
    wanted = [f"mcp_{of}_{what}_duration_seconds_bucket" for of in ("client", "server") for what in ("operation", "session")]
    missing = [name for name in wanted if name not in text]
    checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True)
    said = (checked.stdout + checked.stderr).strip()
    print(f"figures: {len(text.splitlines())} lines, promtool says {said or 'nothing'}")
    if missing or checked.returncode or said:
        sys.exit(f"missing: {missing}; promtool: {checked.returncode}")


main(*sys.argv[1:])
