"""Measures replay and prints medians, ratios and limits."""
import json
import os
import statistics
import subprocess
import sys

work, binary, rounds, small = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "1"
here = os.path.dirname(os.path.abspath(__file__))
load_speed = os.path.abspath(sys.argv[5])
drive, server = f"{work}/drive", f"{work}/echo_server"
scale = 20 if small else 1
MEGABYTES, EXCHANGES = 100, 50_000


def exchange(number, name, argument, said):
    request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": argument}}
    response = {"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": said}]}}
    return json.dumps({"request": request, "response": response, "timing": {"sent_ms": number, "took_ms": 1.5}})


def cassette(path, exchanges):
    with open(path, "w") as file:
        file.write('{"version":"1","exchanges":[\n')
        for number, one in enumerate(exchanges):
            file.write(("" if number == 0 else ",\n") + one)
        file.write("\n]}\n")
    return path


def figures(command, count):
    run = [drive, str(count), "1", "64", "--", *command]
    return json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def loading():
    for words, title in ((8, "short"), (160, "long")):
        text = "".join(f"line {number} of what a tool says, with a \"quote\"\n" for number in range(words))
        size = len(exchange(0, "read", {"path": "/srv/files/0"}, text))
        count = MEGABYTES * 1_000_000 // scale // size
        path = cassette(f"{work}/large.json", (exchange(n, "read", {"path": f"/srv/files/{n}"}, text) for n in range(count)))
        said = json.loads(subprocess.run([load_speed, path, str(max(rounds, 3))], check=True, capture_output=True, text=True).stdout)
        print(f"load and index, {title} answers        {said['load_and_index_ms']:10,.0f} ms     serde_json "
              f"{said['raw_values_ms']:8,.0f}   ratio {said['ratio']:5.2f}  (at most 2; without the index {said['load_ratio']:.2f})")
        os.remove(path)


def answering():
    count = EXCHANGES // scale
    path = f"{work}/echo.json"
    record = [binary, "record", "-o", path, "--", server, "64"]
    figures(record, count)
    found = {"tee": [], "replay": []}
    for _ in range(rounds):
        found["tee"].append(figures([f"{here}/tee_proxy.sh", server, "64"], count)["p50_us"])
        found["replay"].append(figures([binary, "replay", path], count)["p50_us"])
    tee, ours = statistics.median(found["tee"]), statistics.median(found["replay"])
    print(f"p50 of {count} recorded exchanges      {ours:10,.1f} us     tee around a live server {tee:8,.1f}   ratio {ours / tee:5.2f}  (at most 1.2)")


def matching():
    """One request, asked over and over, among so many others of its method."""
    wanted = exchange(0, "echo", {"msg": "y" * 64}, "found")
    medians = {}
    for others in (100, 10_000, 200_000 // scale):
        rest = (exchange(n + 1, "echo", {"msg": f"other {n}"}, "other") for n in range(others))
        opening = {"request": {"jsonrpc": "2.0", "id": 0, "method": "initialize"}, "response": {"jsonrpc": "2.0", "id": 0, "result": {}}}
        path = cassette(f"{work}/many.json", [json.dumps(opening), wanted, *rest])
        runs = [figures([binary, "replay", path, "--exhausted", "last"], 20_000 // scale)["p50_us"] for _ in range(rounds)]
        medians[others] = statistics.median(runs)
        os.remove(path)
    for others, median in medians.items():
        print(f"p50 among {others:7,} recordings         {median:10,.1f} us     (independent of how many)")


loading()
answering()
matching()
