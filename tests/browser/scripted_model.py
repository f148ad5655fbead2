"""A language model that says what the tests want: the real client, a server of the tests' own."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

QUESTIONS = ("Which trucks have you driven?", "How do you plan a long tour?")
DRAFT = {
    "title": "Driver",
    "questions": [{"text": text, "reason": "The advert asks for it."} for text in QUESTIONS],
    "criteria": [{"name": "Experience", "good": "Names trucks and years.", "reason": "It is the heart of the job."}],
}
QUOTE = "I have driven trucks for ten years"


class Model(BaseHTTPRequestHandler):
    """Speaks as much of the protocol as Parley uses: a draft of a flow, a summary, or the scores that the wanted shape
    names. Anything else, such as a follow-up, it refuses.
    """

    value = 1.0

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wanted = asked.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {})
        said: dict[str, Any] = {"summary": "Drives trucks."}
        if "questions" in wanted:
            said = DRAFT
        elif "action" in wanted or not wanted:
            self.send_error(503)
            return
        elif "summary" not in wanted:
            passages = json.loads(asked["messages"][-1]["content"])["passages"]
            at = next(one["index"] for one in passages if QUOTE in one["content"])
            quote = {"text": QUOTE, "segment": at}
            said = {name: {"value": self.value, "reason": "Says so.", "quotes": [quote]} for name in wanted}
        choice = {"index": 0, "message": {"role": "assistant", "content": json.dumps(said)}, "finish_reason": "stop"}
        body = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def more_settings() -> Iterator[dict[str, str]]:
    """The model is the installation's. It scores everything 1.0 until ``Model.value`` changes."""
    listener = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield {"LLM_BASE_URL": f"http://127.0.0.1:{listener.server_port}/v1", "LLM_MODEL": "m"}
    listener.shutdown()
    thread.join()
    listener.server_close()
