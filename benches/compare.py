"""Runs the recorder and the `tee` pipeline alternately and prints medians and ratios."""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

work, binary, rounds, small = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "1"
here = os.path.dirname(os.path.abspath(__file__))
drive, server = f"{work}/drive", f"{work}/echo_server"
scale = 20 if small else 1


def fresh():
    folder = f"{work}/rec"
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    return f"{folder}/x.json"


def tee():
    return [f"{here}/tee_proxy.sh"]


def recorder(*options):
    return [binary, "record", *options, "-o", fresh(), "--"]


def run(count, window, size, wrapper):
    command = [drive, str(max(count // scale, 50)), str(window), str(size), "--", *wrapper, server, "64"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def alternate(contenders, measure):
    found = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, wrapper in contenders.items():
            found[name].append(measure(wrapper()))
    return {name: statistics.median(values) for name, values in found.items()}


def show(title, unit, medians, ratio):
    base = medians["tee"]
    for name, value in medians.items():
        if name != "tee":
            print(f"{title:34} {name:8} {value:12,.1f} {unit:6} tee {base:12,.1f}   ratio {value / base:5.2f}  ({ratio})")


both = {"tee": tee, "queue": recorder}
three = {**both, "written": lambda: recorder("--durability", "written")}
show("ping-pong p50", "us", alternate(three, lambda w: run(20_000, 1, 64, w)["p50_us"]), "smaller is better: 1.1, written 1.5")
show("pipelined, 64 in flight", "msg/s", alternate(both, lambda w: run(200_000, 64, 64, w)["msgs_per_s"]), "greater is better: 0.6")
show("1 MB messages, 8 in flight", "msg/s", alternate(both, lambda w: run(2_000, 8, 1_000_000, w)["msgs_per_s"]), "greater is better: 0.8")


def start_up(wrapper):
    begin = time.perf_counter()
    child = subprocess.Popen([*wrapper, server, "64"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n')
    child.stdin.flush()
    child.stdout.readline()
    took = time.perf_counter() - begin
    child.stdin.close()
    child.wait()
    return took * 1_000


starts = [(start_up([]), start_up(recorder())) for _ in range(20 * rounds)]
alone, ours = (statistics.median(times) for times in zip(*starts))
print(f"{'start-up to the first byte':34} {'queue':8} {ours:12,.2f} ms     alone {alone:10,.2f}   more  {ours - alone:5.2f} ms  (at most 5)")
memory = run(1_000_000, 64, 64, recorder())
print(f"{'memory over a million round trips':34} {'queue':8} {memory['maxrss_mb']:12,.1f} MB     (at most 32)   to finish {memory['exit_ms']:,.0f} ms")


def judged(tape):
    """Messages a second that one process judges by every invariant."""
    begin = time.perf_counter()
    subprocess.run([binary, "compliance", "invariants", "--all", "--capture", tape], check=False, capture_output=True)
    return messages / (time.perf_counter() - begin)


def spent(wrapper):
    """Throughput of a pipelined run, and the processor time of all that took part."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    speed = run(200_000, 64, 64, wrapper)["msgs_per_s"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return speed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# Runs vary by more than the cost of a judge, so there are many pairs, in both orders. The speed is computed from all runs
# together, since a few are twice as fast as the others; processor time varies least.
for name, options, limit in (("check", ["--check"], "(at most 5)"), ("all", ["--check", "--all"], "")):
    pairs = []
    for number in range(12 * rounds if limit else 4 * rounds):
        pair = [(0, recorder), (1, lambda: recorder(*options))]
        got = {key: spent(wrapper()) for key, wrapper in (pair if number % 2 else reversed(pair))}
        pairs.append((got[0], got[1]))
    plain, judged_too = (sum(1 / one[0] for one in runs) for runs in zip(*pairs))
    middle = statistics.median(both[0] / one[0] for one, both in pairs)
    processor = statistics.median(both[1] / one[1] for one, both in pairs)
    print(f"{'pipelined, judged while recorded':34} {name:8} costs {100 * (1 - plain / judged_too):5.1f} % of the speed (median of pairs {100 * (1 - middle):.1f}), {100 * (processor - 1):4.1f} % more processor time, in {len(pairs)} pairs  {limit}")
run(200_000, 64, 64, recorder())
messages = 2 * max(200_000 // scale, 50)
speed = statistics.median(judged(f"{work}/rec/x.tape.jsonl") for _ in range(rounds))
print(f"{'judging a tape, all invariants':34} {'':8} {speed:12,.0f} msg/s  (at least 500,000)")
