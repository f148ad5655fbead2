"""A local server that speaks the protocol of language models, for a model that a test plays."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Played = Callable[[str, dict[str, Any]], Any]
"""Gets the rules and the data that a model would get; gives the decision, a string that is none, or ``Written``."""

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
LETTERS = 5
"""Characters that a model writes at a time."""
LONGEST = 60.0
"""Seconds that a model waits for a test at most."""


def decision(action: str, text: str = "", source: str = "") -> dict[str, str]:
    return {"action": action, "source": source, "text": text}


@dataclass(frozen=True)
class Gone:
    """The model waits until its client has closed the connection: before any answer where this is the first part."""

    seen: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Written:
    """What a model writes bit by bit: text, and what it waits for (events, seconds); and how the stream ends."""

    parts: Sequence[str | float | threading.Event | Gone]
    ends: Literal["done", "cut", "error", "without usage"] = "done"


class _Answers(BaseHTTPRequestHandler):
    """What ``model`` gives it: ``played``, ``heard`` and ``streams``."""

    played: Played
    heard: list[bytes] | None
    streams: str
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.heard is not None:
            self.heard.append(self.requestline.encode() + b"\n" + bytes(self.headers) + body)
        asked = json.loads(body)
        is_streamed = asked.get("stream") is True
        if "stream_options" in asked and not is_streamed:
            return self._whole({"error": {"message": "stream_options needs stream"}}, 400)
        if is_streamed and self.streams == "refuses":
            return self._whole({"error": {"message": "unknown field stream"}}, 422)
        rules, data = (message["content"] for message in asked["messages"])
        said = type(self).played(rules, json.loads(data))
        if is_streamed and self.streams == "yes":
            with_usage = (asked.get("stream_options") or {}).get("include_usage") is True
            return self._stream(said if isinstance(said, Written) else Written([_text(said)]), with_usage)
        message = {"role": "assistant", "content": _text(said)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        completion = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return self._whole({**completion, "usage": USAGE})

    def _whole(self, answer: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, written: Written, with_usage: bool) -> None:
        if written.parts and isinstance(written.parts[0], Gone):
            self._wait_until(written.parts[0])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self._events(written, with_usage)
        except OSError:  # the client has gone
            self.close_connection = True

    def _events(self, written: Written, with_usage: bool) -> None:
        self._event(_chunk([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]))
        for part in written.parts:
            if isinstance(part, threading.Event):
                assert part.wait(LONGEST)
            elif isinstance(part, float):
                time.sleep(part)
            elif isinstance(part, Gone):
                self._wait_until(part)
            else:
                self._write(part)
        if written.ends == "cut":
            self.close_connection = True
            return
        if written.ends == "error":
            self._event({"error": {"message": "the model crashed", "code": 500}})
        else:
            self._event(_chunk([{"index": 0, "delta": {}, "finish_reason": "stop"}]))
            if with_usage and written.ends == "done":
                self._event(_chunk([]) | {"usage": USAGE})
            self._send(b"data: [DONE]\n\n")
        self._send(b"")

    def _wait_until(self, gone: Gone) -> None:
        self.connection.settimeout(LONGEST)
        with suppress(ConnectionError):
            assert self.connection.recv(1) == b""
        gone.seen.set()

    def _write(self, text: str) -> None:
        for at in range(0, len(text), LETTERS):
            delta = {"content": text[at : at + LETTERS]}
            self._event(_chunk([{"index": 0, "delta": delta, "finish_reason": None}]))

    def _event(self, value: dict[str, Any]) -> None:
        self._send(b": a comment\n\ndata: " + json.dumps(value).encode() + b"\n\n")

    def _send(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def model(
    played: Played, *, heard: list[bytes] | None = None, streams: Literal["yes", "no", "refuses"] = "yes"
) -> Iterator[str]:
    """The address of a server whose model is ``played``. Whatever bytes arrive are added to ``heard``.

    A request to stream is answered with Server-Sent Events, with a whole completion, or with 422.
    """
    answers = type("Answers", (_Answers,), {"played": staticmethod(played), "heard": heard, "streams": streams})
    listener = ThreadingHTTPServer(("127.0.0.1", 0), answers)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}/v1"
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


def _text(said: Any) -> str:
    if isinstance(said, Written):
        return "".join(part for part in said.parts if isinstance(part, str))
    return said if isinstance(said, str) else json.dumps(said)


def _chunk(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
