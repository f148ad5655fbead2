"""A candidate's server of the tests' own: speaks the page's protocol from memory and can be told to misbehave.

It exists so that loss, slowness and refusals can be produced at an exact moment. The real server is driven by
test_interview.py.
"""

import functools
import hashlib
import io
import threading
import wave
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from flask import Flask, Response, jsonify, make_response, redirect, render_template, request, send_file
from werkzeug.local import LocalProxy
from werkzeug.serving import make_server

from app.conversation import browsers
from app.conversation.detector import weights
from app.conversation.pages import accessibility
from app.web import languages

ROOT = Path(__file__).resolve().parents[2]
BASE = "/interview/api/flow/one"
STORY = "parley.story"
"""Where a request has the story of the server that it reached."""
CSP = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self' blob:; "
    "connect-src 'self'; font-src 'self'; worker-src 'self' blob:; form-action 'self'; base-uri 'none'"
)


def tone(seconds: float) -> bytes:
    """A WAV file of a soft tone."""
    kept = io.BytesIO()
    with wave.open(kept, "wb") as out:
        out.setparams((1, 2, 16000, 0, "NONE", ""))
        out.writeframes((3000 * np.sin(np.arange(int(16000 * seconds)) * 0.17)).astype("<i2").tobytes())
    return kept.getvalue()


@dataclass
class Story:
    """What the fake server knows and how it behaves."""

    questions: tuple[str, ...] = ("What did you build last?", "What would you do otherwise today?")
    view: str = "invitation"
    stage: str = "live"
    mode: str = "voice"
    turn: int = 1
    at: int = -1
    prompt: dict[str, Any] | None = None
    segments: int = 0
    kinds: list[str] = field(default_factory=list)  # of recording, one for each segment
    chunks: dict[tuple[int, str, int], bytes] = field(default_factory=dict)
    turns: list[dict[str, Any]] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)
    on_their_way: dict[str, dict[str, Any]] = field(default_factory=dict)
    parts: list[int] = field(default_factory=list)
    """Numbers of the parts that were acknowledged, in order."""
    takes_parts: int = 1_000_000
    """So many parts are acknowledged, then the server is away until this is raised."""
    finish: dict[str, Any] | None = None
    started: dict[str, Any] | None = None
    context: dict[str, Any] = field(default_factory=dict)
    flow: dict[str, Any] = field(default_factory=dict)
    fail_next: dict[str, list[int]] = field(default_factory=dict)  # part of a path -> statuses to answer with first
    lose_chunks: set[tuple[int, str, int]] = field(default_factory=set)  # acknowledged once without being kept
    spoken_seconds: float = 0.8
    follow_up: str | None = None
    """Open instead of the script's question; "repeat" says both."""
    declined: int = 0
    uploads: list[int] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    elapsed: float = 3
    extensions: int = 0
    paused: bool = False
    pauses: list[bool] = field(default_factory=list)
    pieces: int = 1  # in which the sound of each reply comes
    made: threading.Event | None = None  # later pieces wait for it
    has_detector: bool = True
    judged: dict[str, Any] = field(default_factory=dict)  # what a silence means
    silences: list[dict[str, Any]] = field(default_factory=list)
    late: int = 0  # answers whose words are not there at once
    may_say_again: bool = False
    last_answer: str | None = None
    said_again: set[int] = field(default_factory=set)  # questions


def state(story: Story) -> dict[str, Any]:
    return {
        "stage": story.stage,
        "mode": story.mode,
        "language": "en-US",
        "video": False,
        "documents_allowed": True,
        "documents": [{"id": i, "name": n, "size": 1} for i, n in story.documents.items()],
        "turn": story.turn,
        "uploads": [{k: one[k] for k in ("id", "name", "sha256")} for one in story.on_their_way.values()],
        "prompt": story.prompt,
        "question_index": max(0, story.at),
        "question_count": len(story.questions),
        "next_segment": story.segments,
        "voice_chunk_samples": 8000,
        "elapsed_seconds": story.elapsed,
        "time_limit_seconds": 1200 + 300 * story.extensions,
        "extensions": story.extensions,
        "extensions_left": 10 - story.extensions,
        "extension_seconds": 300,
        "paused": story.paused,
        "redirect_url": None,
    }


def prompt_at(story: Story, *, kind: str, heard: str | None) -> dict[str, Any]:
    over = story.at >= len(story.questions)
    if story.follow_up and not over:
        return _followed_up(story, kind=kind, heard=heard)
    text = "Thank you, that was all." if over else story.questions[story.at]
    sound = f"{BASE}/turns/{story.turn}/audio"
    return {
        "question": None if over else text,
        "turn": story.turn,
        "text": text,
        "audio_url": sound,
        "audio_urls": [sound, *(f"{sound}/{n}" for n in range(1, story.pieces))],
        "seconds": story.spoken_seconds,
        "question_index": None if over else story.at,
        "question_count": len(story.questions),
        "minutes_left": None if over else 5 * round(2 * (len(story.questions) - story.at) / 5),
        "kind": "outro" if over else kind,
        "expects": "finish" if over else "answer",
        "heard": {"text": heard} if heard else None,
        "last_answer": story.last_answer,
        "parts": [{"kind": "outro" if over else kind, "text": text, "seconds": story.spoken_seconds, "offset": 0}],
    }


def _followed_up(story: Story, *, kind: str, heard: str | None) -> dict[str, Any]:
    follow_up, story.follow_up = story.follow_up, None
    question = prompt_at(story, kind="question", heard=heard)
    story.follow_up = follow_up
    part = {"kind": "follow_up", "text": follow_up, "seconds": story.spoken_seconds, "offset": 0}
    parts = [*question["parts"], part] if kind == "repeat" else [part]
    return {
        **question,
        "kind": kind,
        "question": follow_up,
        "script_question": question["text"],
        "text": follow_up,
        "parts": parts,
    }


def context(story: Story) -> dict[str, Any]:
    flow = {
        "title": "Team lead, warehouse",
        "org_name": "Example Freight",
        "logo_url": None,
        "preamble_video_url": None,
        "preamble_video_type": None,
        "is_video_enabled": False,
        "is_doc_upload_enabled": True,
        "question_count": len(story.questions),
        "time_limit_seconds": 1200,
        "likely_minutes": 5,
        "assess_language": False,
        "language": "en-US",
        **story.flow,
    }
    return {
        "base": BASE,
        "view": story.view,
        "flow": flow,
        "org_name": flow["org_name"],
        "title": flow["title"],
        "language": "en-US",
        "speaks": True,
        "hears": True,
        "consent_version": "2",
        "oldest_browsers": browsers.NAMED,
        "taking_over": False,
        "errors": {},
        "detector_url": f"{BASE}/detector.bin" if story.has_detector else None,
        "ask": {"email_address": True, "first_name": True, "last_name": True},
        "values": {},
        "state": state(story) if story.view == "live" else None,
        **story.context,
    }


@functools.cache
def create_app() -> Flask:  # noqa: C901 - one small function for each call of the protocol
    """The application, one for all servers: compiling its templates and routes takes 0.4 s."""
    story: Any = LocalProxy(lambda: request.environ[STORY])
    app = Flask("fake", root_path=str(ROOT), template_folder="templates", static_folder="static")
    languages.register(app)
    app.jinja_env.globals["csrf_token"] = lambda: "token-of-the-test"

    @app.before_request
    def misbehave() -> Response | None:
        languages.choose()
        for part, statuses in story.fail_next.items():
            if statuses and part in request.path:
                return make_response(jsonify(message="as told"), statuses.pop(0))
        token = request.headers.get("X-CSRFToken") or request.form.get("csrf_token")
        if request.method in {"POST", "PUT", "DELETE"} and token != "token-of-the-test":
            return make_response(jsonify(message="no token"), 400)
        return None

    @app.after_request
    def strict(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = CSP
        return response

    @app.get(BASE)
    def page() -> str:
        if story.stage == "finished":
            return render_template(
                "conversation/done.html",
                org_name="Example Freight",
                title="t",
                base=BASE,
                documents=1,
                redirect_url=f"{BASE}/elsewhere",
                redirect_host="freight.example",
            )
        return render_template("conversation/page.html", **context(story))

    @app.get("/other/<name>")
    def other(name: str) -> str:
        told = {"claims": accessibility.CLAIMS, "limits": accessibility.LIMITS, **dict(request.args)}
        return render_template(f"conversation/{name}.html", base=BASE, org_name="Example Freight", **told)

    @app.get(f"{BASE}/elsewhere")
    def elsewhere() -> str:
        return "<!doctype html><title>elsewhere</title><h1>elsewhere</h1>"

    @app.post(f"{BASE}/decline")
    def decline() -> Any:
        story.declined += 1
        return redirect("/other/declined", 303)

    @app.get(f"{BASE}/check")
    def round_trip() -> Any:
        return jsonify(received=0)

    @app.post(f"{BASE}/check")
    def upload() -> Any:
        story.uploads.append(len(request.get_data()))
        return jsonify(received=story.uploads[-1])

    @app.post(f"{BASE}/different")
    def different() -> Any:
        asked = request.get_json() if request.is_json else dict(request.form)
        if "choice" not in asked:
            return jsonify(message="Please choose what you need.", field="choice", reason=None), 422
        state_of_it = "granted" if asked["choice"] in {"more_time", "writing"} else "open"
        story.asked.append(asked)
        told = {"choice": asked["choice"], "state": state_of_it, "kind": "accommodation", "id": "w", "answer": None}
        if not request.is_json:
            story.context["requests"] = [told]
            return redirect(BASE, 303)
        return jsonify(asked=[told], time_limit_seconds=2400)

    @app.get("/modules")
    def modules() -> str:
        return "<!doctype html><title>modules</title>"

    @app.get(f"{BASE}/detector.bin")
    def detector() -> Response:
        found = weights()
        assert found is not None
        ranges = "whole" not in request.args
        return send_file(io.BytesIO(found[0].read_bytes()), mimetype="application/octet-stream", conditional=ranges)

    @app.post(f"{BASE}/start")
    def start() -> Any:
        story.started = request.get_json()
        if story.started.get("email_address") == "wrong":
            return jsonify(message="This is not an email address.", field="email_address", reason=None), 422
        story.mode, story.view = story.started["mode"], "live"
        return jsonify(state(story))

    @app.get(f"{BASE}/state")
    def current() -> Any:
        return jsonify(state(story))

    @app.post(f"{BASE}/pause")
    def pause() -> Any:
        story.paused = request.get_json()["paused"]
        story.pauses.append(story.paused)
        return jsonify(state(story))

    @app.post(f"{BASE}/time")
    def more_time() -> Any:
        story.extensions = max(story.extensions, request.get_json()["extension"])
        return jsonify(state(story))

    @app.post(f"{BASE}/segments")
    def segment() -> Any:
        story.segments += 1
        story.kinds.append(request.get_json()["mime_type"].split(";")[0])
        return jsonify(segment=story.segments), 201

    @app.put(f"{BASE}/segments/<int:run>/chunks/<int:number>")
    def chunk(run: int, number: int) -> Any:
        return taken(run, [(number, request.headers["X-Content-SHA256"], request.get_data())])

    @app.put(f"{BASE}/segments/<int:run>/chunks")
    def bundle(run: int) -> Any:
        parts, at = [], 0
        for number, size, sha in (one.split() for one in request.headers["X-Chunks"].split(",")):
            parts.append((int(number), sha, request.get_data()[at : at + int(size)]))
            at += int(size)
        assert 1 < len(parts) <= 10
        assert at == len(request.get_data())
        return taken(run, parts, refused=[])

    def taken(run: int, parts: list[tuple[int, str, bytes]], **more: Any) -> Any:
        track = request.args["track"]
        if any(hashlib.sha256(body).hexdigest() != sha for _, sha, body in parts):
            return jsonify(message="damaged", reason=None, field="X-Content-SHA256"), 422
        for number, _sha, body in parts:
            key = (run, track, number)
            if key in story.lose_chunks:
                story.lose_chunks.discard(key)
            else:
                story.chunks[key] = body
        have = {n for r, t, n in list(story.chunks) if (r, t) == (run, track)}
        missing = [n for n in range(max(have, default=-1)) if n not in have]
        told = {"partial": f"words up to {parts[-1][0]}"} if track == "voice" else {}
        return jsonify(received=-1, missing=missing, **more, **told)

    @app.post(f"{BASE}/turns/<int:number>")
    def turn(number: int) -> Any:
        body = request.get_json()
        if number != story.turn:
            return jsonify(message="wrong turn", reason="wrong turn", expected=story.turn), 409
        if body["kind"] == "answer":
            wanted = range(body["first_chunk"], body["last_chunk"] + 1)
            missing = [n for n in wanted if (body["segment"], "voice", n) not in story.chunks]
            if missing:
                return jsonify(message="gaps", reason="missing", missing=missing), 409
        story.turns.append({"t": number, **body})
        story.paused = False
        is_late = body["kind"] == "answer" and story.late > 0
        story.late -= is_late
        if body.get("again"):
            story.at -= 1
            story.said_again.add(story.at)
            story.stage = "live"
        may = story.may_say_again and story.at not in story.said_again and body["kind"] in {"answer", "text"}
        story.last_answer = body.get("text") or "spoken words" if may else None
        if body["kind"] != "repeat" and not body.get("unfinished") and not is_late:
            story.at = len(story.questions) if body["kind"] == "end" else story.at + 1
        heard = {"answer": "spoken words", "text": body.get("text")}.get(body["kind"])
        story.prompt = prompt_at(story, kind="repeat" if body["kind"] == "repeat" else "question", heard=heard)
        if body.get("unfinished"):
            story.prompt |= {"kind": "kept", "text": "", "parts": [], "audio_url": None, "seconds": 0}
        if is_late:
            line = {"kind": "moment", "text": "One moment, please.", "seconds": story.spoken_seconds, "offset": 0}
            awaits = {name: body[name] for name in ("segment", "first_chunk", "last_chunk")}
            story.prompt |= {"kind": "moment", "text": line["text"], "parts": [line], "awaits": awaits, "heard": None}
        story.turn += 1
        if story.prompt["expects"] == "finish":
            story.stage = "outro"
        return jsonify(story.prompt)

    @app.post(f"{BASE}/turns/<int:number>/silence")
    def silence(number: int) -> Any:
        story.silences.append({"t": number, **request.get_json()})
        unknown = dict.fromkeys(("text", "patience_ms", "at_rest_ms", "in_the_air_ms", "counts"))
        return jsonify({**unknown, **story.judged})

    @app.get(f"{BASE}/turns/<int:number>/audio")
    def audio(number: int) -> Response:
        return Response(tone(story.spoken_seconds), content_type="audio/wav")

    @app.get(f"{BASE}/turns/<int:number>/audio/<int:piece>")
    def later_audio(number: int, piece: int) -> Response:
        if story.made is not None:
            story.made.wait(60)
        return Response(tone(story.spoken_seconds), content_type="audio/wav")

    @app.post(f"{BASE}/heartbeat")
    def heartbeat() -> Any:
        return "", 204

    @app.post(f"{BASE}/documents")
    def add() -> Any:
        kept = request.files["file"]
        if kept.filename.endswith(".exe"):
            return jsonify(message="file: programs are not taken; add a PDF, Word or text file.", field="file"), 422
        story.documents["d1"] = str(kept.filename)
        return jsonify(id="d1", name=kept.filename, size=3), 201

    @app.post(f"{BASE}/uploads")
    def announce() -> Any:
        given = request.get_json()
        known = story.on_their_way.setdefault(given["sha256"], {"received": [], "document": None})
        known.update(given, id=given["sha256"][:8], part_bytes=4, parts=-(-given["size"] // 4))
        return jsonify(known), 201

    @app.put(f"{BASE}/uploads/<name>/parts/<int:number>")
    def part(name: str, number: int) -> Any:
        if len(story.parts) >= story.takes_parts:
            return jsonify(message="away"), 503
        story.parts.append(number)
        next(one for one in story.on_their_way.values() if one["id"] == name)["received"].append(number)
        return jsonify(number=number, duplicate=False)

    @app.post(f"{BASE}/uploads/<name>/finish")
    def whole(name: str) -> Any:
        sha256 = next(sha256 for sha256, one in story.on_their_way.items() if one["id"] == name)
        kept = story.on_their_way.pop(sha256)
        if kept["name"].endswith(".exe"):
            return jsonify(message="file: programs are not taken; add a PDF, Word or text file.", field="file"), 422
        story.documents["d1"] = kept["name"]
        return jsonify(id="d1", name=kept["name"], size=3), 201

    @app.delete(f"{BASE}/uploads/<name>")
    def give_up(name: str) -> Any:
        story.on_their_way = {sha256: one for sha256, one in story.on_their_way.items() if one["id"] != name}
        return "", 204

    @app.delete(f"{BASE}/documents/<name>")
    def remove(name: str) -> Any:
        story.documents.pop(name)
        return "", 204

    @app.post(f"{BASE}/finish")
    def finish() -> Any:
        body = request.get_json()
        gaps = {}
        for part in body["segments"]:
            have = {n for s, t, n in story.chunks if (s, t) == (part["segment"], "mix")}
            missing = [n for n in range(part["last_mix_chunk"] + 1) if n not in have]
            if missing:
                gaps[str(part["segment"])] = missing
        if gaps:
            return jsonify(message="gaps", reason="missing", missing=gaps), 409
        story.finish, story.stage = body, "finished"
        return jsonify(redirect_url=None)

    return app


class Running:
    """The fake server in a thread, with its story at hand."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self._serve(0)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def _serve(self, port: int) -> None:
        app = create_app()
        self.server = make_server(
            "127.0.0.1", port, lambda given, begin: app({**given, STORY: self.story}, begin), threaded=True
        )
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    @property
    def page(self) -> str:
        return self.url + BASE

    def stop(self) -> None:
        """Connections are refused from now on."""
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(5)

    def come_back(self) -> None:
        """At the same address, as if the network had been away."""
        self._serve(self.server.server_port)
