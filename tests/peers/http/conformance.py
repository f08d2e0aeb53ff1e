#!/usr/bin/env python3
"""The official conformance suite, direct and through the recorder: no verdict may differ.

    conformance.py [NAME...]     NAME picks the runs whose name contains it

Servers are judged behind the reverse gateway, clients in front of the forward proxy. A verdict is what became of a
check in a scenario. What differs is run once more, both ways: peers that time out on a busy machine do so with nobody
in between, too, and a difference is ours when no two runs of the scenario agree. One kind of difference is no failure, and is told by name: where a server does not protect
itself against DNS rebinding, the gateway in front of it does.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import common
from clients import NODE_22, through_proxy
from gateway import Gateway
from servers import Servers, endpoint, plain_environment
from tapes import HttpTape

SUITE = [NODE_22, str(common.PACKAGES / "conformance/dist/index.js")]
CLIENT = [NODE_22, str(common.HERE / "http/suite_client.mjs")]
DEADLINE = 580  # seconds for one run of the suite: far more than any needs
WORKERS = int(os.environ.get("TAPEWRIGHT_PEERS_WORKERS", "3"))
ALLOWED = "dns-rebinding-protection"

SERVER_RUNS = [
    ("suite", "2025-11-25"),
    ("everything", "2025-11-25"),
    ("fastmcp", "2025-11-25"),
    ("modern", "2026-07-28"),
    ("mcpserver", "2026-07-28"),
    ("modern", "2025-11-25"),
]
CLIENT_RUNS = [("client", "2025-11-25"), ("client", "2026-07-28")]

DIRECTORY = re.compile(r"^(?:server-)?(.*?)-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z(?:-\w+)?$")


class Run:
    def __init__(self, name, requirements, folder, running, report):
        self.server, self.requirements = name, requirements
        self.name = f"{name} {requirements}"
        self.folder, self.running, self.report = folder / self.name.replace(" ", "-"), running, report

    def run(self):
        try:
            started = time.monotonic()
            direct, through = [self.verdicts("direct")], [self.through("through")]
            if set(self.differing(direct, through)) - {ALLOWED}:
                direct.append(self.verdicts("direct-again"))
                through.append(self.through("through-again"))
            self.judge(direct, through)
            print(f"   conformance {self.name}: {time.monotonic() - started:.0f} s")
        except subprocess.TimeoutExpired as late:
            self.report.fail(f"conformance {self.name} runs", f"not done after {late.timeout} s")
        except Exception as problem:  # a run that breaks must not hide the others
            self.report.fail(f"conformance {self.name} runs", f"{type(problem).__name__}: {problem}")

    def through(self, way):
        if self.server == "client":
            gateway = Gateway(self.folder / f"{way}-gateway")
        else:
            gateway = Gateway(self.folder / f"{way}-gateway", self.url(self.running.port(self.server)))
        try:
            verdicts = self.verdicts(way, gateway)
        finally:
            end = gateway.close()
        self.report.check(f"conformance {self.name}: ends well", end)
        self.recorded(gateway, verdicts)
        return verdicts

    def url(self, port):
        return f"http://127.0.0.1:{port}{endpoint(self.server)}"

    def verdicts(self, way, gateway=None):
        """scenario -> (check, status); how often a check was made depends on timing, what became of it does not."""
        results = self.folder / way
        results.mkdir(parents=True)
        if self.server == "client":
            variables = through_proxy(gateway.port) if gateway else {}
            settings = ["env", *(f"{name}={value}" for name, value in variables.items())] if variables else []
            # All scenarios of the suite run at once: on two processors they need patience.
            arguments = ["client", "--command", " ".join([*settings, *CLIENT]), "--timeout", "240000"]
        else:
            port = gateway.port if gateway else self.running.port(self.server)
            arguments = ["server", "--url", self.url(port)]
        arguments += ["--requirements", self.requirements, "-o", str(results / "results")]
        with open(results / "log", "wb") as log:
            subprocess.run(
                [*SUITE, *arguments], cwd=results, env=plain_environment(), stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, timeout=DEADLINE, check=False,
            )
        found = {}
        for path in sorted((results / "results").rglob("checks.json")):
            scenario = DIRECTORY.sub(r"\1", str(path.parent.relative_to(results / "results")))
            checks = json.loads(path.read_text("utf-8"))
            found[scenario] = {(check["id"], check["status"]) for check in checks if check["status"] != "INFO"}
        return found

    def recorded(self, gateway, through):
        """It is no use that nothing differs, when it did not go through us."""
        kept = [exchange for path in gateway.tapes() for exchange in HttpTape(path).exchanges()]
        asked = sum(bool(exchange.to_server) for exchange in kept)
        self.report.check(
            f"conformance {self.name}: it is on the tape ({asked} requests with a message)",
            asked < len(through) and f"{asked} of {len(kept)} exchanges with a message, for {len(through)} scenarios",
        )

    def differing(self, direct, through):
        """scenario -> what differs, where no run through us agrees with a direct one."""
        found = {}
        for scenario in sorted(set(direct[0]) & set(through[0])):
            pairs = [(one[scenario], other[scenario]) for one in direct for other in through
                     if scenario in one and scenario in other]
            if all(one != other for one, other in pairs):
                one, other = pairs[0]
                found[scenario] = (sorted(one - other), sorted(other - one))
        return found

    def judge(self, direct, through):
        name = f"conformance {self.name}"
        verdicts = [status for checks in direct[0].values() for _, status in checks]
        counts = collections.Counter(verdicts)
        if not counts["SUCCESS"]:
            self.report.fail(f"{name} direct", f"nothing passed in {len(direct[0])} scenarios: {dict(counts)}")
            return
        missing = sorted(set(direct[-1]) ^ set(through[-1]))
        self.report.check(f"{name}: the same scenarios", missing and f"only on one side: {missing}")
        if len(direct) > 1:
            print(f"   {name}: run once more, since this differed: {self.differing(direct[:1], through[:1])}")
        differing = self.differing(direct, through)
        lost, gained = differing.get(ALLOWED, ([], []))
        if gained and all(status == "SUCCESS" for _, status in gained):
            print(f"   {name}: {ALLOWED} is ours: direct {lost}, through us {gained}")
            del differing[ALLOWED]
        self.report.check(
            f"{name}: no verdict of {len(verdicts)} in {len(direct[0])} scenarios differs ({dict(counts)})",
            differing and str(differing)[:2000],
        )


def main():
    wanted = sys.argv[1:]
    common.require(NODE_22, SUITE[1], common.TAPEWRIGHT)
    runs = [run for run in [*CLIENT_RUNS, *SERVER_RUNS] if not wanted or any(part in " ".join(run) for part in wanted)]
    report, started = common.Report(), time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-conformance-"))
    running = Servers(folder)
    try:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda run: Run(*run, folder, running, report).run(), runs))
    finally:
        running.close()
        if os.environ.get("TAPEWRIGHT_PEERS_KEEP"):
            print(f"   files kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"   {len(runs)} runs of the suite in {time.monotonic() - started:.0f} s")
    sys.exit(report.close())


if __name__ == "__main__":
    main()
