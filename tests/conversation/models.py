"""A local server that speaks the protocol of language models, for a model that a test plays."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Played = Callable[[str, dict[str, Any]], Any]
"""Gets the rules and the data that a model would get; gives the decision, or a string that is none."""


def decision(action: str, text: str = "", source: str = "") -> dict[str, str]:
    return {"action": action, "text": text, "source": source}


@contextmanager
def model(played: Played, *, heard: list[bytes] | None = None) -> Iterator[str]:
    """The address of a server whose model is ``played``. Whatever bytes arrive are added to ``heard``."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if heard is not None:
                heard.append(self.requestline.encode() + b"\n" + bytes(self.headers) + body)
            asked = json.loads(body)
            rules, data = (message["content"] for message in asked["messages"])
            said = played(rules, json.loads(data))
            message = {"role": "assistant", "content": said if isinstance(said, str) else json.dumps(said)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            completion = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
            completion["usage"] = usage
            body = json.dumps(completion).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}/v1"
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
