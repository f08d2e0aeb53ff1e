"""A byte tee for TCP: listens on a free port of the loopback, passes every byte to a server, and keeps what passed."""

import socket
import struct
import threading

CHUNK = 1 << 18


class Connection:
    """What passed on one connection, each way."""

    def __init__(self):
        self.to_server, self.to_client = bytearray(), bytearray()


class Relay:
    """Passes bytes to `port` of the loopback. One read is one write; ends and resets are passed on as they came."""

    def __init__(self, port):
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._listener.getsockname()[1]
        self._lock, self._connections, self._pumps = threading.Lock(), [], []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            reset(client)
            return
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection()
        pumps = [
            threading.Thread(target=pump, args=(client, server, connection.to_server), daemon=True),
            threading.Thread(target=pump, args=(server, client, connection.to_client), daemon=True),
        ]
        with self._lock:
            self._connections.append(connection)
            self._pumps += pumps
        for thread in pumps:
            thread.start()

    def close(self, patience=5):
        """Takes no more connections, waits for those that are open, and tells what passed on each."""
        # A thread that waits in accept() is not woken by close(), but it is by shutdown().
        for part in (lambda: self._listener.shutdown(socket.SHUT_RDWR), self._listener.close):
            try:
                part()
            except OSError:
                pass
        for thread in list(self._pumps):
            thread.join(timeout=patience)
        with self._lock:
            return [(bytes(each.to_server), bytes(each.to_client)) for each in self._connections]


def pump(source, target, log):
    try:
        while chunk := source.recv(CHUNK):
            log += chunk
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            reset(end)


def reset(end):
    """Breaks a connection off, so that the other side cannot take it for a clean end."""
    try:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.shutdown(socket.SHUT_RDWR)
        end.close()
    except OSError:
        pass
