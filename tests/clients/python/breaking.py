"""A raw server between a client and the application. It breaks the next responses in the ways it is given."""

import socket
import struct
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Self

Way = Callable[["Line", socket.socket, bytes], None]
HANGS = 5.0
SOON, LATE = 2.0, 60.0
"""Seconds that a client is given for a way that takes longer, and for all others: the machine may be slow."""


class Line:
    """Takes one connection after the other; each gets the next of ``ways``, and after them the plain response."""

    def __init__(self, port: int, *ways: Way) -> None:
        self._behind, self._ways = port, list(ways)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests: list[bytes] = []
        self.seconds = SOON if {silence, slow_drip} & set(ways) else LATE

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            way = self._ways.pop(0) if self._ways else plain
            threading.Thread(target=self._one, args=(way, connection), daemon=True).start()

    def _one(self, way: Way, connection: socket.socket) -> None:
        with connection:
            if way is reset_at_once:
                return reset(connection)
            try:
                request = read_request(connection)
                self.requests.append(request)
                way(self, connection, request)
            except OSError:  # the client has given up
                return None

    def forward(self, request: bytes) -> tuple[bytes, bytes]:
        """The application carries the request out; head and body of its response."""
        with socket.create_connection(("127.0.0.1", self._behind)) as behind:
            behind.sendall(request)
            parts = list(iter(lambda: behind.recv(65536), b""))
        head, _, body = b"".join(parts).partition(b"\r\n\r\n")
        return head + b"\r\n\r\n", body


def received(connection: socket.socket) -> bytes:
    """The next bytes. Raises ConnectionError at the end."""
    if piece := connection.recv(65536):
        return piece
    raise ConnectionError("The request has no end.")


def read_request(connection: socket.socket) -> bytes:
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += received(connection)
    head, _, body = raw.partition(b"\r\n\r\n")
    length = next(
        (int(v) for n, _, v in (x.partition(b":") for x in head.split(b"\r\n")) if n.lower() == b"content-length"), 0
    )
    while len(body) < length:
        body += received(connection)
    return head + b"\r\n\r\n" + body


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def plain(line: Line, connection: socket.socket, request: bytes) -> None:
    connection.sendall(b"".join(line.forward(request)))


def reset_at_once(line: Line, connection: socket.socket, request: bytes) -> None:
    raise AssertionError("No request is read")


def reset_before_headers(line: Line, connection: socket.socket, request: bytes) -> None:
    line.forward(request)
    reset(connection)


def reset_after_headers(line: Line, connection: socket.socket, request: bytes) -> None:
    connection.sendall(line.forward(request)[0])
    time.sleep(0.05)  # so that the headers are read before the reset discards them
    reset(connection)


def half_headers(line: Line, connection: socket.socket, request: bytes) -> None:
    connection.sendall(line.forward(request)[0][:40])


def half_body(line: Line, connection: socket.socket, request: bytes) -> None:
    head, body = line.forward(request)
    connection.sendall(head + body[: len(body) // 2])


def half_body_without_length(line: Line, connection: socket.socket, request: bytes) -> None:
    _head, body = line.forward(request)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body[: len(body) // 2])


def slow_drip(line: Line, connection: socket.socket, request: bytes) -> None:
    head, body = line.forward(request)
    connection.sendall(head)
    for byte in body:
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


def silence(line: Line, connection: socket.socket, request: bytes) -> None:
    line.forward(request)
    time.sleep(HANGS)


def another_protocol(line: Line, connection: socket.socket, request: bytes) -> None:
    line.forward(request)
    connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")


def refuses(status: str, *headers: str, works: bool = False) -> Way:
    """A response of a proxy, or of a server that has too much to do; ``works``: it carries the request out before."""

    def way(line: Line, connection: socket.socket, request: bytes) -> None:
        if works:
            line.forward(request)
        lines = [f"HTTP/1.1 {status}", *headers, "Content-Type: text/html", "Content-Length: 9", "Connection: close"]
        connection.sendall("\r\n".join([*lines, "", "<h1>No</h1>"[:9]]).encode())

    return way


def in_seconds(seconds: float) -> str:
    return "Retry-After: " + formatdate(time.time() + seconds, usegmt=True)
