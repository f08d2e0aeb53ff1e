"""HTTP/1.1 and event streams, read from bytes that passed: an own reading, to compare the recorder's with."""

import dataclasses
import json

# Fields that belong to one connection, or that say where a message goes: each leg has its own.
OF_THE_LEG = {b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"content-length", b"host", b"te"}


@dataclasses.dataclass(eq=False)
class Half:
    """A request or a response."""

    start: bytes
    fields: list
    body: bytes = b""
    whole: bool = True  # False when it was broken off

    def field(self, name):
        return next((value for key, value in self.fields if key == name), None)

    def kept_fields(self):
        return sorted((name, value) for name, value in self.fields if name not in OF_THE_LEG)

    def messages(self):
        """The MCP messages in the body, each as its own bytes."""
        if (self.field(b"content-type") or b"").startswith(b"text/event-stream"):
            return [data for name, data in events(self.body) if name in (b"", b"message") and data]
        if not self.whole or not is_message(self.body):
            return []
        return [self.body.strip()]


@dataclasses.dataclass(eq=False)
class Exchange:
    request: Half
    response: Half | None

    @property
    def method(self):
        return self.request.start.split(b" ")[0].decode()

    @property
    def path(self):
        """Without the query, which may be a credential, and without the authority that a proxy is told."""
        target = self.request.start.split(b" ")[1].split(b"?")[0].decode()
        return "/" + target.split("/", 3)[3] if target.startswith("http:") else target

    @property
    def status(self):
        return int(self.response.start.split(b" ")[1]) if self.response else None

    @property
    def whole(self):
        return self.request.whole and self.response is not None and self.response.whole

    def __str__(self):
        return f"{self.method} {self.path} {self.status} {self.request.body[:80]!r}"


def is_message(body):
    try:
        value = json.loads(body)
    except ValueError:
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and "jsonrpc" in first


def exchanges(connections):
    """What the connections carried, in no particular order between them."""
    found = []
    for to_server, to_client in connections:
        requests, at = [], 0
        while at < len(to_server):
            request, at = half(to_server, at, is_request=True)
            if request is None:
                break
            requests.append(request)
        at = 0
        for request in requests:
            response = None
            while response is None or response.start.split(b" ")[1] == b"100":
                response, at = half(to_client, at, is_request=False, method=request.start.split(b" ")[0])
                if response is None:
                    break
            found.append(Exchange(request, response))
    return found


def half(data, at, is_request, method=b""):
    """One head and its body from `at` on, and where the next begins; no head when there is no whole one."""
    end = data.find(b"\r\n\r\n", at)
    if end < 0:
        return None, len(data)
    start, *lines = data[at:end].split(b"\r\n")
    fields = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    found, at = Half(start, fields), end + 4
    if not is_request and (method == b"HEAD" or start.split(b" ")[1] in (b"100", b"204", b"304")):
        return found, at
    length = found.field(b"content-length")
    if (found.field(b"transfer-encoding") or b"").lower() == b"chunked":
        return chunked(found, data, at)
    if length is not None:
        found.body = data[at : at + int(length)]
        found.whole = len(found.body) == int(length)
        return found, at + int(length)
    if is_request:
        return found, at
    found.body = data[at:]
    return found, len(data)


def chunked(found, data, at):
    while True:
        line = data.find(b"\r\n", at)
        size = int(data[at:line].split(b";")[0], 16) if line >= 0 else None
        if size is None or (size and line + 2 + size + 2 > len(data)):
            found.body += data[line + 2 :] if size else b""
            found.whole = False
            return found, len(data)
        found.body += data[line + 2 : line + 2 + size]
        at = line + 2 + size + 2
        if size == 0:
            # Trailers are none of these peers' habits: what stands here is the last CRLF.
            return found, at


def events(body):
    """(name, data) of each event that its blank line ended."""
    found, name, data = [], b"", []
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    for line in lines[:-1]:  # what follows the last line end was never ended
        if not line:
            if name or data:
                found.append((name, b"\n".join(data)))
            name, data = b"", []
            continue
        key, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if key == b"event":
            name = value
        elif key == b"data":
            data.append(value)
    return found
