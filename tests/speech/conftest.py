"""Real engines, shared by the tests of this room, and small servers that speak the protocols of remote engines."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from app.gateways.speech.engines import pocketsphinx
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber
from app.gateways.speech.ports import SPEECH_RATE, Spoken
from app.gateways.speech.sound import resample

ANSWERS = (
    "I worked for six years as a nurse in a small hospital near the river.",
    "I like to work with other people because they often see things that I would miss.",
    "We finished the project two weeks before the date that we had promised.",
    "When a customer is angry I first listen and then I ask questions.",
)
CLEAREST = "vendora-Anthony"


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, what was heard live is used, and the second look comes to its end."""
    monkeypatch.setattr(pocketsphinx, "LIVE_PATIENCE", 600.0)
    monkeypatch.setattr(pocketsphinx, "CHOICE_PATIENCE", 600.0)


@pytest.fixture(scope="session")
def espeak() -> Iterator[EspeakSpeaker]:
    speaker = EspeakSpeaker()
    yield speaker
    speaker.close()


@pytest.fixture(scope="session")
def sphinx() -> Iterator[PocketsphinxTranscriber]:
    transcriber = PocketsphinxTranscriber(processes=1)
    yield transcriber
    transcriber.close()


@dataclass(frozen=True)
class Sample:
    """One self-made answer: its text, its speech with the engine's own word times, and 16 kHz samples with noise."""

    text: str
    spoken: Spoken
    pcm: bytes


def with_noise(pcm: bytes, sigma: float = 100.0) -> bytes:
    samples = np.frombuffer(pcm, "<i2") + np.random.default_rng(7).normal(0, sigma, len(pcm) // 2)
    return np.clip(samples, -32768, 32767).astype("<i2").tobytes()


@pytest.fixture(scope="session")
def samples(espeak) -> list[Sample]:
    made = []
    for text in ANSWERS:
        spoken = espeak.speak(text, voice_id=CLEAREST, language="en-US")
        made.append(Sample(text, spoken, with_noise(resample(spoken.pcm, spoken.rate, SPEECH_RATE))))
    return made


@dataclass
class Asked:
    """One request that a server got."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """What it answers; `hold` keeps the answer back until it is set."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    hold: threading.Event | None = None

    @classmethod
    def of(cls, value: Any, status: int = 200) -> "Reply":
        return cls(json.dumps(value).encode(), status)


@dataclass
class Server:
    """A local server: `replies` are given in order, the last one again and again."""

    address: str
    replies: list[Reply] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            ours.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            reply = ours.replies.pop(0) if len(ours.replies) > 1 else ours.replies[0]
            if reply.hold:
                reply.hold.wait(20)
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.content_type)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
            except OSError:
                pass  # the client did not wait

        def log_message(self, *_: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    ours = Server(f"http://127.0.0.1:{listener.server_port}")
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield ours
    for reply in ours.replies:
        if reply.hold:
            reply.hold.set()
    listener.shutdown()
    listener.server_close()
    thread.join()


@pytest.fixture
def slow(server) -> Callable[[], None]:
    """Makes the server hold back its answers until the test is over."""

    def hold() -> None:
        server.replies = [Reply(b"{}", hold=threading.Event())]

    return hold


def word_errors(said: str, heard: str) -> float:
    """Word error rate: edits to turn what was heard into what was said, per word said."""
    truth = "".join(letter for letter in said.lower() if letter.isalpha() or letter in "' ").split()
    row = list(range(len(heard.split()) + 1))
    for number, word in enumerate(truth, 1):
        before, row[0] = row[:], number
        for place, other in enumerate(heard.split(), 1):
            row[place] = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (word != other))
    return row[-1] / len(truth)


@pytest.fixture(scope="session")
def wer() -> Callable[[str, str], float]:
    return word_errors


@pytest.fixture(scope="session")
def reply() -> type[Reply]:
    return Reply
