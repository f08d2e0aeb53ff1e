"""What a client sends that only holds a session open, for orphans.py: opening.json, up to the named stage.

idle       a handshake, and the call that makes `server-everything` deaf to the end of its input: a timer of its keeps
           Node alive from then on
busy       and a call that stays unanswered
cancelled  which is then cancelled
"""

import json
import pathlib


def opening(stage):
    """The messages, each with whether it is answered."""
    messages = []
    for name, part in json.loads(pathlib.Path(__file__).with_name("opening.json").read_text("utf-8")).items():
        for message in part:
            unanswered = message.pop("unanswered", False)
            messages.append(({"jsonrpc": "2.0", **message}, "id" in message and not unanswered))
        if name == stage:
            return messages
    raise ValueError(f"no stage {stage!r}")
