"""Compares what the recorder kept of HTTP with what two byte tees, on either side of it, saw."""

import collections
import dataclasses
import json
import re

from tape import Tape, envelopes, exact, has, member
from wire import Exchange, Half


# A session's id is a credential, wherever a peer repeats it.
NUMBERED, HIDDEN = re.compile(rb"<REDACTED:session-id#\d+>"), b"<REDACTED:session-id>"


def without_sessions(wire):
    """The exchanges of the wire, with every session's id hidden in the messages as the recorder hides it."""
    ids = set()
    for exchange in wire:
        for half in (exchange.request, exchange.response):
            ids.add(half.field(b"mcp-session-id") if half else None)
        ids.update(re.findall(rb"[?&]sessionId=([^&\s]+)", exchange.request.start))
    ids.discard(None)

    def hide(half):
        body = half.body
        for each in ids:
            body = body.replace(each, HIDDEN)
        return dataclasses.replace(half, body=body)

    return [dataclasses.replace(each, request=hide(each.request), response=each.response and hide(each.response)) for each in wire]


def unnumbered(messages):
    return [NUMBERED.sub(HIDDEN, message) for message in messages]


class HttpTape(Tape):
    """The exchanges of a tape, each with its messages."""

    def __init__(self, path):
        self.found, self.story = collections.OrderedDict(), []
        super().__init__(path)

    def take(self, number, event):
        super().take(number, event)
        conduit = json.loads(event.get("conduit", b"null"))
        if conduit is None:
            return
        kept = self.found.setdefault(conduit, {"to_server": [], "to_client": [], "closed": {}})
        direction = json.loads(event.get("dir", b"null"))
        self.story.append((number, conduit, int(event.get("at_us", b"0")), direction, event.get("message")))
        for name in ("request", "response"):
            if name in event:
                kept[name] = json.loads(event[name])
        if "message" in event:
            kept[direction].append(event["message"])
        elif "text" in event or "base64" in event:
            kept[direction].append(self.lines[direction][-1][0])
        if "closed" in event:
            kept["closed"][direction] = json.loads(event["closed"])

    def out_of_order(self):
        """Within an exchange time does not go back, and no answer stands before the request that it answers."""
        asked, clocks = set(), {}
        for number, conduit, at, direction, body in self.story:
            if at < clocks.get(conduit, 0):
                return f"line {number}: at_us {at} after {clocks[conduit]} in conduit {conduit}"
            clocks[conduit] = at
            for message in envelopes(body or b""):
                identity = member(message, "id")
                # The id in the body of a refusal is nobody's.
                refused = self.found[conduit].get("response", {}).get("status", 0) >= 400
                if not has(message, "id") or identity is None or (refused and not has(message, "method")):
                    continue
                if has(message, "method"):
                    asked.add((direction, repr(identity)))
                elif ("to_client" if direction == "to_server" else "to_server", repr(identity)) not in asked:
                    return f"line {number}: an answer before its request: {body[:200]!r}"
        return None

    def exchanges(self):
        """In the form of those from the wire; CONNECT is a matter between client and proxy."""
        return [each for each in map(as_exchange, self.found.values()) if each and each.method != "CONNECT"]


class Kept(Exchange):
    """An exchange as the tape has it."""

    def __init__(self, request, response, to_server, to_client):
        super().__init__(request, response)
        self.to_server, self.to_client = to_server, to_client


def as_exchange(kept):
    if "request" not in kept:
        return None
    target = kept["request"]["target"]
    request = Half(f"{kept['request']['method']} {target} x".encode(), [])
    response = None
    if "response" in kept:
        response = Half(f"x {kept['response']['status']} x".encode(), [])
    return Kept(request, response, unnumbered(kept["to_server"]), unnumbered(kept["to_client"]))


def messages(exchange):
    """(to the server, to the client)"""
    if isinstance(exchange, Kept):
        return exchange.to_server, exchange.to_client
    return exchange.request.messages(), exchange.response.messages() if exchange.response else []


def tape_against(tape, wire):
    """What is wrong with the tape's exchanges, given those that went over the wire to the server."""
    left, wire = list(tape.exchanges()), without_sessions(wire)
    if len(left) != len(wire):
        mine, theirs = (collections.Counter(f"{e.method} {e.path}" for e in which) for which in (left, wire))
        return f"{len(left)} exchanges, the wire had {len(wire)}: tape has {mine - theirs} more, {theirs - mine} less"
    for seen in sorted(wire, key=lambda exchange: not exchange.whole):  # those that leave no choice first
        # What has the most of it: the beginning of a stream that was left may stand for another one, too.
        fits = (kept for kept in left if same(kept, seen))
        match = max(fits, key=lambda kept: len(kept.to_client), default=None)
        if match is None:
            near = [kept for kept in left if (kept.method, kept.path) == (seen.method, seen.path)]
            near = [[m[:200] for m in part] for kept in near[:2] for part in messages(kept)]
            return f"not on the tape: {seen}, {[[m[:200] for m in part] for part in messages(seen)]}; near: {near}"
        left.remove(match)
    return None


def same(kept, seen):
    if (kept.method, kept.path, kept.status) != (seen.method, seen.path, seen.status):
        return False
    (asked, told), (wire_asked, wire_told) = messages(kept), messages(seen)
    if not seen.request.whole:
        return True
    if asked != wire_asked:
        return False
    if seen.whole:
        return told == wire_told
    # A stream that the client left: what the server wrote last may never have been read.
    return told == wire_told[: len(told)]


def sides_against(outer, inner):
    """What differs between the client's side of the recorder and the server's: requests, statuses, heads, bodies."""
    left = list(inner)
    if len(outer) != len(inner):
        return f"{len(outer)} exchanges in front, {len(inner)} behind"
    for front in sorted(outer, key=lambda exchange: not exchange.whole):
        match = next((behind for behind in left if passed(front, behind)), None)
        if match is None:
            near = next((behind for behind in left if behind.request.body == front.request.body), None)
            return f"did not pass as it came: {difference(front, near)}"
        left.remove(match)
    return None


def passed(front, behind):
    return difference(front, behind) is None


def difference(front, behind):
    if behind is None:
        return f"{front}: nothing behind"
    pairs = [("method and path", front.method + front.path, behind.method + behind.path)]
    pairs.append(("request head", front.request.kept_fields(), behind.request.kept_fields()))
    if front.request.whole and behind.request.whole:
        pairs.append(("request body", front.request.body, behind.request.body))
    if front.response and behind.response:
        pairs.append(("status", front.status, behind.status))
        pairs.append(("response head", front.response.kept_fields(), behind.response.kept_fields()))
        if front.whole and behind.whole:
            pairs.append(("response body", front.response.body, behind.response.body))
        elif not behind.response.body.startswith(front.response.body):
            return f"{front}: the client got what the server did not send"
    elif front.response:
        return f"{front}: an answer that the server did not give"
    return next((f"{front}: {what}: {a!r} / {b!r}"[:600] for what, a, b in pairs if a != b), None)


def cassette_against(paths, wire):
    """Every message that crossed is in one of the cassettes, and nothing else is."""
    found = []
    for path in paths:
        document = exact(NUMBERED.sub(HIDDEN, path.read_bytes()).decode("utf-8"))
        for exchange in member(document, "exchanges") or []:
            found += [member(exchange, "request"), member(exchange, "response")]
            found += [member(entry, "message") for entry in member(exchange, "stream") or []]
        found += [member(entry, "message") for entry in member(document, "messages") or []]
        for entry in member(document, "unanswered") or []:
            found.append(member(entry, "request"))
            found += [member(each, "message") for each in member(entry, "stream") or []]
    have = collections.Counter(repr(message) for message in found if isinstance(message, tuple))
    seen = collections.Counter()
    for exchange in without_sessions(wire):
        for part in messages(exchange):
            for message in part:
                value = exact(message.decode("utf-8"))
                seen.update(repr(each) for each in (value if isinstance(value, list) else [value]))
    if have == seen:
        return None
    missing, extra = seen - have, have - seen
    return "; ".join(
        f"{count.total()} {what}: {str(next(iter(count), ''))[:300]}"
        for what, count in (("missing", missing), ("extra", extra))
    )
