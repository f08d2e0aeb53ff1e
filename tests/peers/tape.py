"""Reads what the recorder wrote, without trusting a JSON library with anybody's bytes."""

import base64
import json
import re
import sys

sys.setrecursionlimit(20_000)  # peers nest as deep as they like

TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)


def members(line):
    """The members of the object on this line, each with the very bytes between its colon and what ends it."""
    found, depth, key, start = {}, 0, None, None
    for token in TOKEN.finditer(line):
        text = token.group()
        if depth == 1 and text in (b",", b"}") and start is not None:
            found[key] = line[start : token.start()]
            key = start = None
        elif depth == 1 and text == b":" and start is None:
            start = token.end()
        elif depth == 1 and key is None:
            key = json.loads(text) if text.startswith(b'"') else None
        depth += (text in (b"{", b"[")) - (text in (b"}", b"]"))
    if depth != 0 or not found:
        raise ValueError(f"not one whole object: {line[:120]!r}")
    return found


ENDS = {None: b"\n", "lf": b"\n", "crlf": b"\r\n", "none": b""}


class Tape:
    """header, footer, the lines of each direction with their ends, stderr, and what is wrong with the tape itself."""

    def __init__(self, path):
        self.path, self.wrong = path, []
        self.lines = {"to_server": [], "to_client": []}
        self.order, self.disorder = [], []
        self.stderr, self.other, self.header, self.footer = b"", [], None, None
        data = self.data = path.read_bytes()
        if not data.endswith(b"\n"):
            self.wrong.append("the last line has no end")
        previous, clock = None, 0
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            try:
                event = members(line)
            except ValueError as problem:
                self.wrong.append(f"line {number}: {problem}")
                continue
            if number == 1:
                self.header = event
                if "tape" not in event:
                    self.wrong.append(f"line 1 is no header: {line[:120]!r}")
                continue
            if "end" in event:
                self.footer = json.loads(event["end"])
                continue
            if self.footer is not None:
                self.wrong.append(f"line {number} follows the footer")
            sequence = int(event.get("seq", b"-1"))
            if previous is not None and sequence != previous + 1:
                self.wrong.append(f"line {number}: seq {sequence} after {previous}")
            if int(event.get("at_us", b"-1")) < clock:
                self.disorder.append(f"line {number}: at_us {int(event.get('at_us', b'-1'))} after {clock}")
            previous, clock = sequence, int(event.get("at_us", b"0"))
            self.take(number, event)

    def take(self, number, event):
        if "stderr" in event:
            value = json.loads(event["stderr"])
            text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else json.dumps(value).encode()
            self.stderr += text + self.end(number, event)
            return
        if "stderr_base64" in event:
            self.stderr += base64.b64decode(json.loads(event["stderr_base64"])) + self.end(number, event)
            return
        body = None
        if "message" in event:
            body = event["message"]
        elif "text" in event:
            body = json.loads(event["text"]).encode("utf-8", "surrogatepass")
        elif "base64" in event:
            body = base64.b64decode(json.loads(event["base64"]))
        if body is None or "dir" not in event:
            self.other.append(event)
            if "gap" in event or "clipped" in event:
                self.wrong.append(f"line {number} is not whole: {[name for name in event]}")
            return
        direction = json.loads(event["dir"])
        self.lines[direction].append((body, self.end(number, event)))
        self.order.append((number, direction, body))

    def end(self, number, event):
        name = json.loads(event["eol"]) if "eol" in event else None
        if name not in ENDS:
            self.wrong.append(f"line {number}: unknown eol {name!r}")
        return ENDS.get(name, b"\n")

    def out_of_order(self):
        """The tape is one story: no answer stands before the request that it answers, and time does not go back."""
        asked = set()
        for number, direction, body in self.order:
            for message in envelopes(body):
                if has(message, "id") and has(message, "method"):
                    asked.add((direction, repr(member(message, "id"))))
                elif has(message, "id"):
                    other = "to_client" if direction == "to_server" else "to_server"
                    if (other, repr(member(message, "id"))) not in asked:
                        return f"line {number}: an answer before its request: {body[:200]!r}"
        return next(iter(self.disorder), None)

    def placeholder(self):
        """What the recorder redacted, in sessions that hold no secret."""
        if not (self.footer or {}).get("redactions"):
            return None
        at = self.data.find(b"<REDACTED")
        return f"{self.footer['redactions']}: {self.data[max(0, at - 100) : at + 60]!r}"

    def bytes(self, direction):
        return b"".join(body + end for body, end in self.lines[direction])


def exact(text):
    """A JSON value that compares by member order, duplicates and the text of its numbers."""
    def number(digits):
        return ("number", digits)

    return json.loads(text, parse_float=number, parse_int=number, object_pairs_hook=tuple)


def member(value, name):
    """The last member of that name of an `exact` object."""
    found = None
    if isinstance(value, tuple) and (not value or isinstance(value[0], tuple)):
        for key, item in value:
            if key == name:
                found = item
    return found


def has(value, name):
    is_object = isinstance(value, tuple) and (not value or isinstance(value[0], tuple))
    return is_object and any(key == name for key, _ in value)


def envelopes(log):
    """The JSON objects among the lines of a tee log, those in batches included."""
    found = []
    for line in log.split(b"\n"):
        try:
            value = exact(line.decode("utf-8"))
        except ValueError:
            continue
        found += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, tuple)]
    return found


def exchanges(to_server, to_client):
    """What the client asked and told, in order, each with its answer or nothing, as the wire had them."""
    answers = {}
    for message in envelopes(to_client):
        if has(message, "id") and not has(message, "method"):
            answers.setdefault(repr(member(message, "id")), []).append(message)
    found = []
    for message in envelopes(to_server):
        if has(message, "method"):
            waiting = answers.get(repr(member(message, "id"))) if has(message, "id") else None
            found.append((message, waiting.pop(0) if waiting else None))
    return found
