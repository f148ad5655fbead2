"""``parley check`` names a language model that runs on this machine, and Parley uses none unasked."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from app import gateways
from app.gateways.language_model import local
from app.operations.cli import check
from app.operations.cli.model_check import WITHOUT, look_at_language_model
from app.settings import Settings


class Ollama:
    """What Ollama serves under /api/tags, or any ``body`` in its place."""

    def __init__(self, *names: str) -> None:
        self.models: list[dict[str, Any]] = [
            {"name": name, "model": name, "size": 5_225_388_164, "details": {"family": "qwen3", "families": ["qwen3"]}}
            for name in names
        ]
        self.body: bytes | None = None
        self.status = 200
        self.asked: list[str] = []

    def answer(self) -> bytes:
        return self.body if self.body is not None else json.dumps({"models": self.models}).encode()


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ollama]:
    """An Ollama with two models, where Parley looks for one."""
    kept = Ollama("qwen3:8b", "llama3.2:3b")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kept.asked.append(f"GET {self.path}")
            content = kept.answer() if self.path == "/api/tags" else b"404 page not found"
            self.send_response(kept.status)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Location", "http://192.0.2.1/")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setattr(local, "OLLAMA", f"http://127.0.0.1:{server.server_port}")
    yield kept
    server.shutdown()
    server.server_close()


Given = Callable[..., Settings]


@pytest.fixture
def settings(tmp_path: Path) -> Given:
    """The settings with these names besides."""

    def read(**names: str) -> Settings:
        given = {"DATA_DIR": str(tmp_path), "STT_PROVIDER": "none", "TTS_PROVIDER": "espeak"}
        return Settings.from_env({**given, **names})

    return read


def test_a_model_on_this_machine_is_named_with_the_settings_that_use_it(ollama: Ollama, settings: Given) -> None:
    place = local.OLLAMA.removeprefix("http://")
    good, words = look_at_language_model(settings())
    assert good
    assert words == (
        f"none is configured; Ollama at {place} offers qwen3:8b, llama3.2:3b; set LLM_BASE_URL={local.OLLAMA}/v1 and "
        "LLM_MODEL=qwen3:8b to use it"
    )
    assert ollama.asked == ["GET /api/tags"]


def test_it_is_a_part_of_the_check(ollama: Ollama, monkeypatch: pytest.MonkeyPatch, settings: Given) -> None:
    monkeypatch.setattr(check, "rooms", None)  # the other parts fail, each for itself
    found = {one.part: one for one in check.findings(settings())}
    assert "offers qwen3:8b" in found["language model"].words


def test_it_is_never_taken_unasked(ollama: Ollama, settings: Given) -> None:
    built = gateways.build(settings())
    try:
        assert (built.interviewer.name, built.analyst.name) == ("script", "script")
    finally:
        built.close()
    assert ollama.asked == []


def test_a_configured_model_is_named_and_nothing_else_is_asked(ollama: Ollama, settings: Given) -> None:
    named = settings(LLM_BASE_URL="http://192.0.2.1/v1", LLM_MODEL="chosen")
    assert look_at_language_model(named) == (True, "chosen at http://192.0.2.1/v1")
    assert ollama.asked == []


def test_the_settings_that_it_names_build_the_engine(ollama: Ollama, settings: Given) -> None:
    words = look_at_language_model(settings())[1]
    named = dict(part.split("=", 1) for part in words.split() if "=" in part)
    built = gateways.build(settings(**named))
    try:
        assert built.interviewer.name == "chat:qwen3:8b"
    finally:
        built.close()


def test_models_that_only_embed_are_left_out_and_many_are_counted(ollama: Ollama, settings: Given) -> None:
    ollama.models = [
        {"name": "nomic-embed-text:latest", "details": {"families": ["nomic-bert"]}},
        {"name": "bge-m3:latest", "details": {"families": ["bert"]}},
        {"name": "a\x1b[31mred", "details": {}},
        *({"name": f"model-{n}:8b", "details": None} for n in range(7)),
    ]
    words = look_at_language_model(settings())[1]
    assert "offers model-0:8b, model-1:8b, model-2:8b, model-3:8b, model-4:8b and 2 more; set" in words
    ollama.models = ollama.models[:2]
    assert look_at_language_model(settings())[1].endswith("has no model for conversations (ollama pull)")


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"models": 1}', b'{"models": [1]}', b'{"models": [{}]}', b"[" * 9000]
)
def test_another_program_at_that_port_is_said_to_be_one(ollama: Ollama, body: bytes, settings: Given) -> None:
    ollama.body = body
    good, words = look_at_language_model(settings())
    assert good
    assert words.endswith("does not respond like Ollama")


def test_a_redirect_is_not_followed(ollama: Ollama, settings: Given) -> None:
    ollama.status, ollama.body = 302, b""
    assert look_at_language_model(settings())[1].endswith("does not respond like Ollama")
    assert len(ollama.asked) == 1


def test_without_one_the_check_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, settings: Given) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    monkeypatch.setattr(local, "OLLAMA", f"http://127.0.0.1:{port}")
    assert look_at_language_model(settings()) == (True, WITHOUT)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert look_at_language_model(settings()) == (True, WITHOUT)
