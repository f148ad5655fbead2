"""Servers that speak the protocols of live recognition as strictly as the real ones, in a thread.

Sound is told apart by its loudness: half a second of the level ``n * LEVEL`` is heard as ``word<n>``, silence as none.
"""

import asyncio
import base64
import binascii
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from aiohttp import WSMsgType, web

KEY = "k-secret"
LEVEL = 300
SECOND = 16_000
REALTIME = "/v1/realtime"
SCRIBE = "/v1/speech-to-text/realtime"
WHOLE = ("/v1/audio/transcriptions", "/v1/speech-to-text")


def sound(*levels: int) -> list[bytes]:
    """Pieces of half a second; 0 is silence."""
    return [np.full(SECOND // 2, level * LEVEL, "<i2").tobytes() for level in levels]


@dataclass
class Line:
    """One connection as the server sees it."""

    query: dict[str, str]
    settings: dict[str, Any] | None = None
    samples: int = 0
    """Of all sound so far."""
    open_sound: bytes = b""
    commits: int = 0
    is_closed: bool = False


@dataclass
class Behaviour:
    """How this server differs from one that works."""

    status: int = 0
    """Refuses the connection with it; 302 sends it elsewhere."""
    is_mute: bool = False
    """Never says that it listens."""
    drops_at: int | None = None
    """Cuts the connection at this piece of sound."""
    drops_on_commit: bool = False
    is_deaf: bool = False
    """Commits get no words."""
    held: int = 0
    """As many commits get their words only when the next one is made, after its words."""
    says: Callable[[], str | bytes] | None = None
    """Sent instead of the words of a commit."""
    changes: dict[str, Any] = field(default_factory=dict)
    """What it reports of its settings instead of what it was told."""
    streams: bool = False
    """Sends words before the commit, too."""


@dataclass
class RealtimeServer:
    """``lines`` are the connections so far, ``refused`` what was wrong with events, ``whole`` plain transcriptions."""

    address: str = ""
    does: Behaviour = field(default_factory=Behaviour)
    lines: list[Line] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    whole: list[bytes] = field(default_factory=list)
    redirected: int = 0

    @property
    def seconds(self) -> float:
        """Of sound on the newest connection."""
        line = self.lines[-1]
        return round(line.samples / (line.settings or {})["rate"], 1)

    def app(self) -> web.Application:
        """Its routes."""
        app = web.Application()
        app.router.add_get(REALTIME, self._openai)
        app.router.add_get(SCRIBE, self._elevenlabs)
        app.router.add_get("/elsewhere", self._elsewhere)
        for path in WHOLE:
            app.router.add_post(path, self._whole)
        return app

    async def _whole(self, request: web.Request) -> web.Response:
        self.whole.append(await request.read())
        words = [{"word": "whole", "text": "whole", "type": "word", "start": 0.1, "end": 0.4}]
        return web.json_response({"text": "whole", "words": words, "task": "transcribe", "duration": 1.0})

    async def _elsewhere(self, request: web.Request) -> web.Response:
        self.redirected += 1
        return web.json_response(dict(request.headers), status=500)

    def _refusal(self, request: web.Request, key: str) -> web.Response | None:
        if self.does.status == 302:
            return web.Response(status=302, headers={"Location": f"{self.address}/elsewhere"})
        if self.does.status:
            return web.Response(status=self.does.status)
        return None if key == KEY else web.Response(status=401)

    # --- OpenAI ------------------------------------------------------------------------------------------------------

    async def _openai(self, request: web.Request) -> web.StreamResponse:
        refusal = self._refusal(request, request.headers.get("Authorization", "").removeprefix("Bearer "))
        if refusal is not None or dict(request.query) != {"intent": "transcription"}:
            return refusal or web.Response(status=400)
        socket, line = web.WebSocketResponse(), Line(dict(request.query))
        await socket.prepare(request)
        self.lines.append(line)
        await socket.send_json({"type": "session.created", "session": {"type": "transcription"}})
        speaks = _OpenAi(self, socket, line)
        return await self._served(socket, line, speaks.take)

    # --- ElevenLabs --------------------------------------------------------------------------------------------------

    async def _elevenlabs(self, request: web.Request) -> web.StreamResponse:
        refusal, query = self._refusal(request, request.headers.get("xi-api-key", "")), dict(request.query)
        right = {"audio_format": "pcm_16000", "commit_strategy": "manual"}
        if (
            refusal is not None
            or query.keys() != {*right, "model_id", "language_code"}
            or not right.items() <= query.items()
        ):
            return refusal or web.Response(status=400)
        socket, line = web.WebSocketResponse(), Line(query, settings={"rate": SECOND})
        await socket.prepare(request)
        self.lines.append(line)
        if not self.does.is_mute:
            await socket.send_json({"message_type": "session_started", "session_id": "s", "config": {}})
        return await self._served(socket, line, _Scribe(self, socket, line).take)

    async def _served(self, socket: web.WebSocketResponse, line: Line, take: Any) -> web.WebSocketResponse:
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await take(message.json())
        except ConnectionError:
            pass  # the client is gone
        finally:
            line.is_closed = True
        return socket

    async def heard(self, socket: web.WebSocketResponse, line: Line, pcm: bytes) -> None:
        """Count the sound, and cut the line where that is due."""
        line.samples += len(pcm) // 2
        line.open_sound += pcm
        if self.does.drops_at is not None and line.samples / line.settings["rate"] >= (self.does.drops_at + 1) / 2:
            _cut(socket)


class _OpenAi:
    """One connection of the Realtime API."""

    def __init__(self, server: RealtimeServer, socket: web.WebSocketResponse, line: Line) -> None:
        self._server, self._socket, self._line = server, socket, line
        self._held: list[tuple[str, str]] = []

    async def take(self, event: dict[str, Any]) -> None:
        kind, does = event.get("type"), self._server.does
        if kind == "session.update":
            await self._configure(event)
        elif self._line.settings is None:
            await self._refuse("session_not_configured")
        elif kind == "input_audio_buffer.append" and event.keys() == {"type", "audio"}:
            try:
                pcm = base64.b64decode(event["audio"], validate=True)
            except binascii.Error:
                pcm = b""
            if not pcm or len(pcm) % 2:
                await self._refuse("invalid_audio")
                return
            await self._server.heard(self._socket, self._line, pcm)
            if does.streams:
                item = f"item_{self._line.commits + 1}"
                await self._say("delta", item, delta=" " + " ".join(_words(pcm, 24_000)))
        elif kind == "input_audio_buffer.commit" and event.keys() == {"type"}:
            await self._commit()
        else:
            await self._refuse("unknown_event")

    async def _configure(self, event: dict[str, Any]) -> None:
        session = event.get("session", {})
        given = session.get("audio", {}).get("input", {})
        heard = given.get("transcription", {})
        named = {"languages"} if heard.get("model") == "gpt-live-transcribe" else {"language"}
        is_right = (
            event.keys() == {"type", "session"}
            and session.keys() == {"type", "audio"}
            and session["type"] == "transcription"
            and given.keys() == {"format", "transcription", "turn_detection"}
            and given["format"] == {"type": "audio/pcm", "rate": 24_000}
            and given["turn_detection"] is None
            and heard.keys() == {"model"} | named
        )
        if not is_right:
            await self._refuse("unknown_parameter")
            return
        self._line.settings = {"rate": 24_000, **heard}
        if not self._server.does.is_mute:
            used = {"type": "transcription", "audio": {"input": {**given, **self._server.does.changes}}}
            await self._socket.send_json({"type": "session.updated", "session": used})

    async def _commit(self) -> None:
        does, line = self._server.does, self._line
        if len(line.open_sound) < 2 * 2_400:
            await self._refuse("input_audio_buffer_commit_empty")
            return
        line.commits += 1
        item, text, line.open_sound = f"item_{line.commits}", " ".join(_words(line.open_sound, 24_000)), b""
        await self._socket.send_json({"type": "input_audio_buffer.committed", "item_id": item})
        await self._socket.send_json({"type": "conversation.item.added", "item": {"id": item}})
        if does.drops_on_commit:
            _cut(self._socket)
        elif does.says is not None:
            said = does.says()
            await (self._socket.send_str(said) if isinstance(said, str) else self._socket.send_bytes(said))
        elif len(self._held) < does.held:
            self._held.append((item, text))
        elif not does.is_deaf:
            for name, words in [(item, text), *reversed(self._held)]:
                for word in words.split(" ") if not does.streams else ():
                    await self._say("delta", name, delta=f"{word} ")
                await self._say("completed", name, transcript=words)
            self._held, does.held = [], 0

    async def _say(self, kind: str, item: str, **more: str) -> None:
        kind = f"conversation.item.input_audio_transcription.{kind}"
        await self._socket.send_json({"type": kind, "item_id": item, "content_index": 0, **more})

    async def _refuse(self, code: str) -> None:
        self._server.refused.append(code)
        error = {"type": "invalid_request_error", "code": code, "message": "private words"}
        await self._socket.send_json({"type": "error", "error": error})


class _Scribe:
    """One connection of ElevenLabs."""

    def __init__(self, server: RealtimeServer, socket: web.WebSocketResponse, line: Line) -> None:
        self._server, self._socket, self._line = server, socket, line

    async def take(self, event: dict[str, Any]) -> None:
        keys = {"message_type", "audio_base_64", "commit", "sample_rate"}
        if event.keys() != keys or event["message_type"] != "input_audio_chunk" or event["sample_rate"] != SECOND:
            await self._refuse("input_error")
            return
        pcm = base64.b64decode(event["audio_base_64"], validate=True)
        await self._server.heard(self._socket, self._line, pcm)
        if event["commit"]:
            await self._commit()
        else:
            text = " ".join(_words(self._line.open_sound, SECOND))
            await self._socket.send_json({"message_type": "partial_transcript", "text": text})

    async def _commit(self) -> None:
        does, line = self._server.does, self._line
        if len(line.open_sound) < 0.3 * 2 * SECOND:
            await self._refuse("commit_throttled")
            return
        line.commits += 1
        text, line.open_sound = " ".join(_words(line.open_sound, SECOND)), b""
        if does.drops_on_commit:
            _cut(self._socket)
        elif not does.is_deaf:
            await self._socket.send_json({"message_type": "committed_transcript", "text": text})

    async def _refuse(self, kind: str) -> None:
        self._server.refused.append(kind)
        await self._socket.send_json({"message_type": kind, "error": "private words"})


def _words(pcm: bytes, rate: int) -> list[str]:
    """One for each half second with sound in its middle."""
    samples, half = np.frombuffer(pcm, "<i2"), rate // 2
    levels = [round(samples[at + half // 2] / LEVEL) for at in range(0, len(samples) - half // 2, half)]
    return [f"word{level}" for level in levels if level]


def _cut(socket: web.WebSocketResponse) -> None:
    """Without good-bye, as a lost network does."""
    transport = socket._req.transport
    if transport is not None:
        transport.abort()


@contextmanager
def running() -> Iterator[RealtimeServer]:
    """A server on a free port."""
    server, loop, started = RealtimeServer(), asyncio.new_event_loop(), threading.Event()

    async def start() -> web.AppRunner:
        runner = web.AppRunner(server.app(), shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    runner = loop.run_until_complete(start())
    thread = threading.Thread(target=lambda: (started.set(), loop.run_forever()))
    thread.start()
    started.wait()

    async def stop() -> None:
        # asyncio loses a connection that it accepts while its server closes, and a later test would find it open.
        for _ in range(3):
            await asyncio.sleep(0)
        await runner.cleanup()

    yield server
    asyncio.run_coroutine_threadsafe(stop(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
