"""A customer's webhook receiver on this machine: keeps the raw bytes and verifies them as the interface describes."""

import hashlib
import hmac
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived."""

    body: bytes
    headers: dict[str, str]
    at: float

    @property
    def event(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed

    def is_signed_with(self, secret: str) -> bool:
        """HMAC-SHA256 over the raw bytes, as 64 lower-case hex characters, compared in constant time."""
        expected = hmac.new(secret.encode(), self.body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(expected, self.headers.get("x-service-signature", ""))


@dataclass
class Receiver:
    """Answers 200 to everything and keeps the requests in order of arrival. Use as a context manager."""

    received: list[Received] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _answering(self.received))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/parley"

    def wait_for(self, event_types: list[str], *, seconds: float) -> list[Received]:
        """The requests so far, once all of ``event_types`` have arrived or the time is over."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            arrived = list(self.received)
            if set(event_types) <= {item.event.get("event_type") for item in arrived}:
                return arrived
            time.sleep(0.1)
        return list(self.received)


def _answering(received: list[Received]) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            received.append(Received(body, {name.lower(): value for name, value in self.headers.items()}, time.time()))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing: the story prints what matters."""

    return Answering
