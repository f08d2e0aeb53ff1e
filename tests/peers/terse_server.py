#!/usr/bin/env python3
"""A server that behaves, and says no where it may.

terse_server.py [--save SECONDS]                          over stdio; it saves for so long after the end of its input
terse_server.py PORT [--get STATUS] [--delete STATUS] [--auth STATUS]
                over HTTP; refuses a GET and a DELETE with these, and what needs a token with 401 (everything) or 403
                (tool calls) and the body of an OAuth error
"""

import argparse
import http.server
import json
import sys
import time

OAUTH = {401: "invalid_token", 403: "insufficient_scope"}
TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {"message": {"type": "string"}}}}
INFO = {"name": "terse-peer", "version": "1"}


def answer(message):
    """The result of a request."""
    params = message.get("params", {})
    if message["method"] == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": INFO}
    if message["method"] == "tools/list":
        return {"tools": [TOOL]}
    if message["method"] == "tools/call":
        return {"content": [{"type": "text", "text": params["arguments"]["message"]}]}
    return {}


def response(message):
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}).encode()


def over_stdio(save):
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            sys.stdout.buffer.write(response(message) + b"\n")
            sys.stdout.flush()
    time.sleep(save)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    options = None

    def say(self, status, body=b"", **fields):
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status):
        error = {"code": -32000, "message": "not here"}
        self.say(status, json.dumps({"jsonrpc": "2.0", "error": error, "id": None}).encode())

    def do_GET(self):
        self.refuse(self.options.get)

    def do_DELETE(self):
        self.refuse(self.options.delete)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        auth = self.options.auth
        if auth and (auth == 401 or message["method"] == "tools/call"):
            error = OAUTH[auth]
            return self.say(auth, json.dumps({"error": error}).encode(), WWW_Authenticate=f'Bearer error="{error}"')
        if "id" not in message or "method" not in message:
            return self.say(202)
        begins = {"Mcp_Session_Id": "terse-0123456789abcdef"} if message["method"] == "initialize" else {}
        return self.say(200, response(message), **begins)

    def log_message(self, *_arguments):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", nargs="?", type=int)
    parser.add_argument("--save", type=float, default=0)
    for name, status in (("--get", 405), ("--delete", 405), ("--auth", None)):
        parser.add_argument(name, type=int, default=status)
    options = parser.parse_args()
    if options.port is None:
        return over_stdio(options.save)
    Handler.options = options
    http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
