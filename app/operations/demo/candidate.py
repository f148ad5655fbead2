"""A candidate without a browser: takes an interview over the page's own HTTP protocol, with recorded answers."""

import hashlib
import io
import re
import time
import wave
from collections.abc import Callable, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

import requests

from app.operations.demo.tape import CHUNK_SECONDS, Tape

GAP, HANGOVER = 0.4, 0.7
"""Seconds between the agent's last word and the answer, and between the answer's last word and its end."""
SECONDS_PER_CALL = 180

Prompt = dict[str, Any]
Answers = Sequence[bytes] | Callable[[Prompt], bytes | None]


class Session(Protocol):
    """The part of ``requests.Session`` that is used; tests pass one that calls the application directly."""

    def request(self, method: str, url: str, **kwargs: Any) -> Any: ...


class Refused(Exception):
    """The platform refused; ``status`` and ``body`` are its response."""

    def __init__(self, answer: Any) -> None:
        super().__init__(f"responded with {answer.status_code}: {answer.content[:300]!r}")
        self.status: int = answer.status_code
        self.body: Any = answer.json() if "json" in answer.headers.get("Content-Type", "") else None


class Candidate:
    """One browser with one link."""

    def __init__(self, link: str, *, session: Session | None = None) -> None:
        self.link = urlsplit(link)._replace(query="", fragment="").geturl()
        self._session = session or requests.Session()
        self._token = ""
        self.state: dict[str, Any] = {}
        self.redirect_url: str | None = None

    # --- the protocol, call by call -----------------------------------------------------------------------------

    def open(self) -> str:
        """Load the page and keep its CSRF token; returns the page."""
        answer = self._session.request("GET", self.link, timeout=SECONDS_PER_CALL)
        page: str = answer.content.decode()
        match = re.search(r'<meta name="csrf-token" content="([^"]+)"', page)
        self._token = match.group(1) if match else ""
        return page

    def start(
        self,
        mode: str = "voice",
        *,
        email: str | None = None,
        first_name: str | None = None,
        last_name: str | None = None,
    ) -> dict[str, Any]:
        """Agree and press Start; returns the state."""
        typed = {"email_address": email, "first_name": first_name, "last_name": last_name}
        body = {"consent": "yes", "mode": mode, "locale": "en", **{k: v for k, v in typed.items() if v}}
        self.state = self.call("POST", "/start", json=body)
        return self.state

    def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """One call of the protocol; raises Refused for anything but success."""
        answer = self.ask(method, path, **kwargs)
        if answer.status_code not in {200, 201, 202, 204}:
            raise Refused(answer)
        return answer.json() if answer.content else None

    def ask(self, method: str, path: str, **kwargs: Any) -> Any:
        """One call with the token of the page; the answer as it is."""
        headers = {"Accept": "application/json", **kwargs.pop("headers", {})}
        if self._token:
            headers["X-CSRFToken"] = self._token
        return self._session.request(method, self.link + path, headers=headers, timeout=SECONDS_PER_CALL, **kwargs)

    def open_segment(self, mime_type: str) -> int:
        """Start a run of the recorder."""
        return int(self.call("POST", "/segments", json={"mime_type": mime_type})["segment"])

    def put_chunk(self, segment: int, number: int, content: bytes, *, track: str) -> dict[str, Any]:
        """Send a chunk."""
        headers = {
            "X-Content-SHA256": hashlib.sha256(content).hexdigest(),
            "Content-Type": "application/octet-stream",
        }
        path = f"/segments/{segment}/chunks/{number}?track={track}"
        arrived: dict[str, Any] = self.call("PUT", path, data=content, headers=headers)
        return arrived

    def turn(self, number: int, kind: str, **body: Any) -> Prompt:
        """Post a turn and wait for its reply; repeats the request while the platform works on it."""
        while True:
            reply: Prompt = self.call("POST", f"/turns/{number}", json={"kind": kind, **body})
            if "retry_after_ms" not in reply:
                return reply
            time.sleep(reply["retry_after_ms"] / 1000)

    def sounds_of(self, prompt: Prompt) -> list[tuple[bytes, int]]:
        """Samples and rate of the reply's pieces, in order; none if the reply is only shown."""
        return [self._sound(urlsplit(address).path) for address in prompt["audio_urls"]]

    def _sound(self, path: str) -> tuple[bytes, int]:
        answer = self.ask("GET", path.removeprefix(urlsplit(self.link).path))
        if answer.status_code != 200:
            raise Refused(answer)
        with wave.open(io.BytesIO(answer.content)) as sound:
            return sound.readframes(sound.getnframes()), sound.getframerate()

    # --- the whole talk -----------------------------------------------------------------------------------------

    def take(
        self,
        answers: Answers,
        *,
        video: bool = False,
        on_turn: Callable[[str, str | None], None] | None = None,
    ) -> None:
        """Talk until the outro and hand in.

        ``answers`` are s16le at 16 kHz, in order, or a function of the prompt; without an answer the question is
        skipped. ``on_turn`` gets what the agent says and what it heard before.
        """
        talk = Talk(self, Tape(video=video))
        remaining = iter(answers) if not callable(answers) else None
        prompt = self.turn(self.state["turn"], "begin")
        while True:
            if on_turn is not None:
                on_turn(prompt["text"], (prompt["heard"] or {}).get("text"))
            played = talk.listen(prompt)
            if prompt["expects"] == "finish":
                break
            if "awaits" in prompt:  # the recogniser needs a moment
                prompt = self.turn(prompt["turn"] + 1, "answer", played=played, **prompt["awaits"])
                continue
            spoken = answers(prompt) if callable(answers) else next(remaining, None)  # type: ignore[arg-type]
            body = talk.answer(spoken) if spoken is not None else {}
            kind = "answer" if spoken is not None else "skip"
            prompt = self.turn(prompt["turn"] + 1, kind, played=played, **body)
        self.finish([talk.end()], played=played)

    def write(self, answers: Sequence[str], *, on_turn: Callable[[str, str | None], None] | None = None) -> None:
        """The same in writing. Questions without an answer are skipped."""
        remaining = iter(answers)
        prompt = self.turn(self.state["turn"], "begin")
        while prompt["expects"] == "answer":
            text = next(remaining, None)
            prompt = self.turn(
                prompt["turn"] + 1, *(("text",) if text else ("skip",)), **({"text": text} if text else {})
            )
            if on_turn is not None:
                on_turn(prompt["text"], (prompt["heard"] or {}).get("text"))
        self.finish([])

    def finish(self, segments: list[dict[str, int]], *, played: dict[str, Any] | None = None) -> None:
        """Hand in; the platform says where to go next."""
        self.redirect_url = self.call("POST", "/finish", json={"segments": segments, "played": played})["redirect_url"]


class Talk:
    """A run of the recorder, in step with the protocol."""

    def __init__(self, candidate: Candidate, tape: Tape) -> None:
        self._candidate, self._tape = candidate, tape
        self.segment = candidate.open_segment(tape.mime_type)
        self._mix_sent = 0
        self._last_voice = -1
        self._fell_silent: float | None = None

    def listen(self, prompt: Prompt, *, until: float | None = None) -> dict[str, Any]:
        """Listen to the agent to the end, or for ``until`` seconds; returns the report for the next turn."""
        self._tape.pause(GAP)
        pieces, left = [], float("inf") if until is None else until
        for number, (pcm, rate) in enumerate(self._candidate.sounds_of(prompt)):
            seconds = min(left, len(pcm) / (2 * rate))
            began, is_whole = self._tape.now, seconds < left
            self._tape.play(pcm[: 2 * round(seconds * rate)], rate)
            spent = self._tape.now - began
            pieces.append({"number": number, "started": round(began, 3), "seconds": round(spent, 3), "whole": is_whole})
            left -= seconds
            if not is_whole:
                break
        self._send_mix(self._tape.mixed_so_far())
        fell_silent, self._fell_silent = self._fell_silent, None  # what follows is no reply to this answer any more
        waited = 1000 * (pieces[0]["started"] - fell_silent) if pieces and fell_silent is not None else None
        return {
            "segment": self.segment,
            "started": pieces[0]["started"] if pieces else round(self._tape.now, 3),
            "latency_ms": waited,
            "seconds": round(sum(piece["seconds"] for piece in pieces), 3),
            "whole": until is None,
            **({"pieces": pieces} if len(prompt["audio_urls"]) > 1 else {}),
        }

    def answer(self, pcm: bytes) -> dict[str, Any]:
        """Speak and send the chunks; returns the turn's fields that name them."""
        self._tape.pause(GAP)
        began = self._tape.now
        self._tape.speak(pcm)
        spoken_until = self._fell_silent = self._tape.now
        self._tape.pause(HANGOVER)
        first = max(self._last_voice + 1, int(began / CHUNK_SECONDS) - 1)
        last = int((self._tape.now - 0.001) / CHUNK_SECONDS)
        for number in range(first, last + 1):
            self._candidate.put_chunk(self.segment, number, self._tape.voice_chunk(number), track="voice")
        self._last_voice = last
        self._send_mix(self._tape.mixed_so_far())
        timing = {"speech_end_ms": spoken_until * 1000, "detected_ms": self._tape.now * 1000}
        return {"segment": self.segment, "first_chunk": first, "last_chunk": last, "timing": timing}

    def _send_mix(self, content: bytes) -> None:
        if content:
            self._candidate.put_chunk(self.segment, self._mix_sent, content, track="mix")
            self._mix_sent += 1

    def end(self) -> dict[str, int]:
        """Stop the recorder and send what is left; returns how far the run went."""
        self._send_mix(self._tape.stop())
        return {
            "segment": self.segment,
            "last_mix_chunk": self._mix_sent - 1,
            "last_voice_chunk": self._last_voice,
        }
