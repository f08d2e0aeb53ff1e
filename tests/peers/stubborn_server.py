#!/usr/bin/env python3
"""A server that cannot be talked out of it: answers requests, ignores the end of its input and every polite signal."""

import json
import signal
import sys
import time

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
    signal.signal(number, signal.SIG_IGN)

for line in sys.stdin:
    message = json.loads(line)
    slow = message.get("params", {}).get("name") == "trigger-long-running-operation"
    if "id" in message and "method" in message and not slow:
        info = {"name": "stubborn", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)

while True:
    time.sleep(60)
