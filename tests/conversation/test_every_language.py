"""A short interview in each of the thirteen languages, over the page's own protocol, with the engines that are there.

The embedded voice speaks twelve languages and the embedded recogniser hears one. Where one is missing, the invitation
says so, and the interview is still taken; a server that is configured fills the gap.
"""

import io
import json
import re
import threading
import wave
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from flask import Flask

from app import gateways
from app.gateways import Gateways
from app.gateways.speech.sound import resample
from app.interviews.models import Role
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate, Talk
from app.operations.demo.tape import Tape
from app.settings import Settings
from app.web.languages import LANGUAGES, LOCALES
from tests.factories import Made
from tests.guards import guarded

from .conftest import path_of
from .direct import Direct
from .test_languages import catalogue, shown

SAYINGS = {
    "en-US": ("What did you do last?", "I worked in a small team for three years.", "Why did you leave?"),
    "de-DE": ("Was war Ihre letzte Arbeit?", "Ich habe in einem kleinen Team gearbeitet.", "Warum sind Sie gegangen?"),
    "es-419": ("¿Qué hizo usted por último?", "Trabajé tres años en un equipo pequeño.", "¿Por qué se fue?"),
    "hi-IN": ("आपने पिछला काम क्या किया?", "मैंने तीन साल एक छोटी टीम में काम किया।", "आपने वह काम क्यों छोड़ा?"),
    "ja-JP": ("直近では何をされていましたか。", "小さなチームで三年間働きました。", "なぜ辞められたのですか。"),
    "pt-BR": ("O que você fez por último?", "Trabalhei três anos em uma equipe pequena.", "Por que você saiu?"),
    "fr-FR": ("Qu’avez-vous fait en dernier ?", "J’ai travaillé dans une petite équipe.", "Pourquoi êtes-vous parti ?"),
    "zh-CN": ("您最近做了什么工作？", "我在一个小团队工作了三年。", "您为什么离开？"),
    "ko-KR": ("최근에 어떤 일을 하셨나요?", "작은 팀에서 삼 년 동안 일했습니다.", "왜 그만두셨나요?"),
    "vi-VN": ("Gần đây bạn làm công việc gì?", "Tôi đã làm việc ba năm trong một nhóm nhỏ.", "Vì sao bạn nghỉ việc?"),
    "th-TH": ("งานล่าสุดของคุณคืออะไร", "ฉันทำงานในทีมเล็ก ๆ เป็นเวลาสามปี", "ทำไมคุณถึงลาออก"),
    "ar-AE": ("ما آخر عمل قمت به؟", "عملت ثلاث سنوات في فريق صغير.", "لماذا تركت العمل؟"),
    "no-NO": ("Hva gjorde du sist?", "Jeg jobbet tre år i et lite team.", "Hvorfor sluttet du?"),
}
NO_RECOGNISER = (
    "This service cannot yet turn speech in this language into text. "
    "You can speak and be recorded, or write your answers."
)
NO_VOICE = "The questions are shown, not spoken, in this language."


def told(page: str, tag: str, sentence: str) -> bool:
    return (sentence if tag == "en-US" else str(catalogue(tag)[sentence].string)) in page


def begun(app: Flask, book: Made, tag: str, **columns: Any) -> tuple[str, Candidate, str]:
    """A candidate who has pressed Start by voice: the interview's id, the candidate, the invitation."""
    first, _, second = SAYINGS[tag]
    interview = book(language=tag, questions=[first, second], follow_up_limit=0, intro="", **columns)
    candidate = Candidate(f"http://localhost{path_of(interview)}", session=Direct(app.test_client()))  # type: ignore[arg-type]
    page = shown(candidate.open())
    candidate.start()
    return interview.id, candidate, page


def loudness(pcm: bytes) -> float:
    return float(np.sqrt(np.mean(np.frombuffer(pcm, "<i2").astype(float) ** 2)))


def test_there_is_an_interview_for_every_language() -> None:
    assert set(SAYINGS) == set(LANGUAGES) == set(LOCALES)


@pytest.mark.parametrize("tag", sorted(SAYINGS))
def test_an_interview_by_voice_and_in_writing(
    app: Flask, engines: Gateways, book: Made, real_speech: bytes, tag: str
) -> None:
    """How well English is heard is measured elsewhere; here a busy machine may leave its words for later."""
    first, answer, second = SAYINGS[tag]
    speaks, hears = engines.speaker.supports(tag), engines.transcriber.supports(tag)
    interview_id, candidate, page = begun(app, book, tag)
    assert (told(page, tag, NO_VOICE), told(page, tag, NO_RECOGNISER)) == (not speaks, not hears)

    prompt = candidate.turn(1, "begin")
    assert prompt["text"].endswith(first)
    sounds = candidate.sounds_of(prompt)
    assert bool(sounds) == speaks
    assert all(loudness(pcm) > 100 for pcm, _rate in sounds)
    talk = Talk(candidate, Tape(video=False))
    played = talk.listen(prompt)
    spoken = real_speech
    if speaks:
        said = engines.speaker.speak(answer, voice_id="vendora-Anthony", language=tag)
        spoken = resample(said.pcm, said.rate, 16_000)
    prompt = candidate.turn(2, "answer", played=played, **talk.answer(spoken))
    understood = prompt["heard"]["text"] if prompt["heard"] else None
    assert hears or not understood
    assert prompt["text"].endswith(second)
    prompt = candidate.turn(3, "text", text=answer, played=talk.listen(prompt))
    assert prompt["expects"] == "finish"
    played = talk.listen(prompt)
    candidate.finish([talk.end()], played=played)

    said_by = [(row.role, row.content) for row in utterances_of(interview_id)]
    assert (Role.USER, answer) in said_by
    assert [role for role, _ in said_by].count(Role.USER) == 2
    shown_to = [content for role, content in said_by if role is Role.AGENT]
    assert any(first in str(content) for content in shown_to)
    thanks = "Thank you" if tag == "en-US" else str(catalogue(tag)["Thank you"].string)
    assert f"<h1>{thanks}</h1>" in shown(candidate.open())


@dataclass
class Speech:
    """A server of OpenAI's protocol that speaks (a tone) and hears (what it is told)."""

    words: str = ""
    spoken: list[dict[str, Any]] = field(default_factory=list)
    heard: list[bytes] = field(default_factory=list)
    address: str = ""

    def answer(self, path: str, body: bytes) -> tuple[str, bytes]:
        if path == "/v1/audio/speech":
            self.spoken.append(json.loads(body))
            kept = io.BytesIO()
            with wave.open(kept, "wb") as out:
                out.setparams((1, 2, 24_000, 0, "NONE", ""))
                out.writeframes((np.sin(np.arange(24_000) * 0.1) * 4000).astype("<i2").tobytes())
            return "audio/wav", kept.getvalue()
        assert path == "/v1/audio/transcriptions"
        self.heard.append(body)
        return "application/json", json.dumps({"text": self.words}).encode()


@pytest.fixture
def speech() -> Iterator[Speech]:
    kept = Speech()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kind, content = kept.answer(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept.address = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield kept
    server.shutdown()
    server.server_close()


@pytest.fixture
def configured(app: Flask, settings: Settings, engines: Gateways, speech: Speech) -> Iterator[Flask]:
    """The application as an operator has it who named a speech server behind the embedded engines."""
    named = replace(
        settings,
        stt_provider=("pocketsphinx", "openai"),
        stt_base_url=speech.address,
        stt_api_key="k",
        tts_provider=("espeak", "openai"),
        tts_base_url=speech.address,
        tts_api_key="k",
    )
    built = guarded(gateways.build(named))
    app.extensions["parley.gateways"] = replace(engines, transcriber=built.transcriber, speaker=built.speaker)
    yield app
    app.extensions["parley.gateways"] = engines
    built.close()


def test_a_configured_server_fills_what_the_embedded_engines_lack(
    configured: Flask, speech: Speech, book: Made, real_speech: bytes
) -> None:
    """Thai: no embedded voice and no embedded recogniser."""
    first, speech.words, second = SAYINGS["th-TH"]
    interview_id, candidate, page = begun(configured, book, "th-TH")
    assert not told(page, "th-TH", NO_VOICE)
    assert not told(page, "th-TH", NO_RECOGNISER)
    talk = Talk(candidate, Tape(video=False))
    prompt = candidate.turn(1, "begin")
    assert len(candidate.sounds_of(prompt)) >= 1
    prompt = candidate.turn(2, "answer", played=talk.listen(prompt), **talk.answer(real_speech))
    assert prompt["heard"]["text"] == speech.words
    assert prompt["text"].endswith(second)
    prompt = candidate.turn(3, "skip", played=talk.listen(prompt))
    played = talk.listen(prompt)
    candidate.finish([talk.end()], played=played)
    assert any(first in one["input"] for one in speech.spoken)
    assert all(re.search(rb'name="language"\r\n\r\nth\r\n', body) for body in speech.heard)
    assert speech.heard
    assert (Role.USER, speech.words) in [(row.role, row.content) for row in utterances_of(interview_id)]
