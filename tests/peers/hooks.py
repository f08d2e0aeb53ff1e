#!/usr/bin/env python3
"""The hooks for pre-commit, as pre-commit runs them: what is right passes, a bad suite and a secret are refused, nothing is changed."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import common

GOOD = "servers:\n  s: { command: [server] }\ntools:\n  - name: lists\n    server: s\n    tool: list\n    args: {}\n    expect:\n      - { target: isError, matcher: { exact: false } }\n"
CASSETTE = '{"version":"1","exchanges":[{"request":{"method":"tools/call","params":%s},"response":{"result":{}}}]}'
CASES = [
    # name, hook, file, text, whether it passes, what is said
    ("validate/good", "tapewright-validate", "a.tapewright.yaml", GOOD, True, "Passed"),
    ("validate/bad", "tapewright-validate", "a.tapewright.yaml", GOOD.replace("tool: list", "tol: list"), False, "a.tapewright.yaml"),
    ("validate/other", "tapewright-validate", "compose.yaml", "nonsense: [", True, "no files to check"),
    ("scrub/clean", "tapewright-scrub", "cassettes/a.json", CASSETTE % '{}', True, "Passed"),
    ("scrub/secret", "tapewright-scrub", "cassettes/a.json", CASSETTE % '{"password":"hunter2-Xy9#kk"}', False, "password"),
]


def cell(folder, hook, file, text, passes, said):
    """What is wrong, or nothing."""
    git = ["git", "-c", "user.name=peers", "-c", "user.email=peers@localhost"]
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    subprocess.run([*git, "init", "-q"], cwd=folder, check=True)
    subprocess.run([*git, "add", "."], cwd=folder, check=True)
    bin_folder = folder / ".git/bin"
    bin_folder.mkdir()
    (bin_folder / "tapewright").symlink_to(common.TAPEWRIGHT)
    command = [str(common.PEERS / "venv-pytest/bin/pre-commit"), "try-repo", str(common.PROJECT), hook, "--all-files"]
    path_variable = f"{bin_folder}:{common.PEERS / 'venv-pytest/bin'}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path_variable, "PRE_COMMIT_HOME": str(folder / ".git/pre-commit")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    told = done.stdout + done.stderr
    if (done.returncode == 0) != passes or said not in told:
        return f"status {done.returncode}: {told[-800:]}"
    return None if path.read_text("utf-8") == text else "the file was changed"


def main():
    common.require(common.TAPEWRIGHT, common.PEERS / "venv-pytest/bin/pre-commit")
    report = common.Report()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapewright-hooks-"))
    for name, *case in CASES:
        place = folder / name
        place.mkdir(parents=True)
        report.check(name, cell(place, *case))
    status = report.close()
    if status == 0:
        shutil.rmtree(folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
