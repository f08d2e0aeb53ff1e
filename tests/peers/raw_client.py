#!/usr/bin/env python3
"""A client on bare pipes: raw_client.py rough|STAGE [--env K=V]... -- COMMAND [ARGS...]

STAGE  opens as far as opening.py has it, says {"ready":true}, and on a line on stdin closes the way the Rust SDK does:
       end of input, 3 s of patience, SIGKILL to the direct child, and no SIGTERM ever.
rough  sends what is legal on a pipe but trying, to a server that sends everything back, and prints what came.
"""

import json
import os
import subprocess
import sys
import threading

from opening import opening

ROUGH = [
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":2,"method":"ping"}\r\n',
    b"\n",
    b"   \n",
    b"\r\n",
    b"no JSON at all\n",
    b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"with/bom"}\n',
    b'{"jsonrpc":"2.0","id":"\xff\xfe","method":"invalid/utf8"}\n',
    b'{"jsonrpc":"2.0","id":3,"method":"lone","params":{"s":"\\ud83d"}}\n',
    b'{"jsonrpc":"2.0","id":9007199254740993,"method":"big","params":{"n":[1e400,-0,1.0,100000000000000000000]}}\n',
    b'{"id":4,"id":5,"jsonrpc":"2.0","method":"twice","params":{"a":1,"a":2}}\n',
    b' {"jsonrpc" : "2.0" , "method" : "spaces" }  \n',
    b'[{"jsonrpc":"2.0","id":6,"method":"ping"},{"jsonrpc":"2.0","method":"batch"}]\n',
    b'{"jsonrpc":"2.0","method":"control","params":"\\u0000\x7f"}\n',
    b'{"jsonrpc":"2.0","method":"cr\rinside"}\n',
    b'"just a string"\n',
    b"12\n",
    b"null\n",
    b'{"jsonrpc":"2.0","method":"nul\x00inside"}\n',
    b'{"jsonrpc":"2.0","method":"cut off","params":{"a":\n',
    b'{"jsonrpc":"2.0","method":"deep","params":' + b"[" * 2000 + b"]" * 2000 + b"}\n",
    b'{"jsonrpc":"2.0","method":"long","params":"' + "ß漢👾 ".encode() * 120000 + b'"}\n',
    b'{"jsonrpc":"2.0","method":"just before the end"}\n',
    b'{"jsonrpc":"2.0","method":"without an end of line"}',
]


def parse_arguments(argv):
    split = argv.index("--")
    env = dict(os.environ)
    for name, value in zip(argv[1:split:2], argv[2:split:2]):
        if name == "--env":
            key, _, text = value.partition("=")
            env[key] = text
    return argv[0], env, argv[split + 1 :]


def hold(server, stage):
    answers = open(server.stdout.fileno(), "rb", closefd=False)
    for message, answered in opening(stage):
        server.stdin.write(json.dumps(message).encode() + b"\n")
        while answered:
            line = answers.readline()
            if not line or json.loads(line).get("id") == message["id"]:
                break
    print('{"ready":true}', flush=True)
    sys.stdin.readline()
    server.stdin.close()
    try:
        server.wait(timeout=3)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    print('{"closed":true}', flush=True)


def rough(server):
    def send():
        for piece in ROUGH:
            # In two writes, so that no reader may count on one read being one line.
            half = len(piece) // 2
            for part in (piece[:half], piece[half:]):
                while part:
                    part = part[server.stdin.write(part) :]
        server.stdin.close()

    sender = threading.Thread(target=send)
    sender.start()
    received = b"".join(iter(lambda: server.stdout.read(1 << 16), b""))
    sender.join()
    print(f"the same bytes: {received == b''.join(ROUGH)}")
    for line in received.split(b"\n"):
        print(repr(line[:200]), len(line))
    print("exit", server.wait())


def main():
    mode, env, command = parse_arguments(sys.argv[1:])
    stderr = subprocess.STDOUT if mode == "rough" else None
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=env, bufsize=0
    )
    if mode == "rough":
        rough(server)
    else:
        hold(server, mode)


if __name__ == "__main__":
    main()
