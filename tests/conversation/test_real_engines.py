"""A talk with the embedded voice and recogniser: real sound goes in, and what comes out is close to what was said."""

import io
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import av
import numpy as np
import pytest
import sqlalchemy as sa
from flask import Flask

from app.conversation.models import Sitting
from app.core.db import db
from app.gateways import Gateways
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.sound import resample
from app.gateways.storage import read
from app.interviews.models import Role
from app.interviews.queries import utterances_of
from app.interviews.recordings.models import Track
from app.interviews.recordings.queries import pieces_of
from app.operations.demo.candidate import Candidate
from app.operations.demo.tape import PICTURES_PER_SECOND
from tests.factories import Made

from .around import script_rows
from .conftest import path_of, working_with
from .direct import Direct
from .fakes import ScriptedSpeaker

SAID = (
    "I have worked in a small team for three years",
    "we were eight people and we met every morning",
)


Says = Callable[[str, int], bytes]


@pytest.fixture
def says() -> Iterator[Says]:
    """The candidate's voice, from a process of its own: in every sound are traces of what its process spoke before, and
    what is said has to be the same in every run."""
    voice = EspeakSpeaker()

    def said(text: str, seed: int) -> bytes:
        made = voice.speak(text, voice_id="vendora-Anthony", language="en-US")
        clean = np.frombuffer(resample(made.pcm, made.rate, 16_000), "<i2")
        noisy = clean + np.random.default_rng(seed).normal(0, 100, len(clean))
        return bytes(np.clip(noisy, -32_768, 32_767).astype("<i2").tobytes())

    yield said
    voice.close()


def word_errors(said: str, heard: str) -> float:
    """Word error rate by edit distance."""
    a, b = said.lower().split(), heard.lower().split()
    row = list(range(len(b) + 1))
    for i, word in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1] / len(a)


@pytest.mark.pocketsphinx
def test_a_spoken_interview_with_video_is_heard_and_recorded(
    app: Flask, engines: Gateways, book: Made, says: Says
) -> None:
    answers = [says(text, n) for n, text in enumerate(SAID)]
    interview = book(is_video_enabled=True, intro="Hello and welcome.", follow_up_limit=0)
    interview_id = interview.id
    candidate = Candidate(f"http://localhost{path_of(interview)}", session=Direct(app.test_client()))  # type: ignore[arg-type]
    candidate.open()
    candidate.start()
    heard: list[str | None] = []
    candidate.take(answers, video=True, on_turn=lambda _said, understood: heard.append(understood))

    rows = script_rows(utterances_of(interview_id))
    assert [row.role for row in rows] == [Role.AGENT, Role.AGENT, Role.USER, Role.AGENT, Role.USER, Role.AGENT]
    answered = [row for row in rows if row.role is Role.USER]
    rates = [word_errors(said, row.content or "") for said, row in zip(SAID, answered, strict=True)]
    assert sum(rates) / len(rates) < 0.4, f"word error rates {rates}"
    assert [row.content for row in answered] == heard[1:]
    for row in answered:
        assert row.words
        assert (row.start or 0) <= row.words[0][1] < row.words[-1][2] <= (row.end or 0)
    agents = [row for row in rows if row.role is Role.AGENT]
    assert all(later.start > (row.end or 0) for row, later in pairwise(rows) if later.role is Role.AGENT)
    assert all(row.words for row in agents)

    keys = [piece.key for piece in pieces_of(interview_id, 1, Track.MIX)]
    db.session.rollback()
    whole = b"".join(read(engines.storage, key) for key in keys)
    with av.open(io.BytesIO(whole)) as file:
        seconds = sum(frame.samples for frame in file.decode(audio=0)) / 48_000
    with av.open(io.BytesIO(whole)) as file:
        pictures = sum(1 for _frame in file.decode(video=0))
    assert abs(seconds - (agents[-1].end or 0)) < 0.2
    assert abs(pictures / PICTURES_PER_SECOND - seconds) < 0.5


@pytest.mark.pocketsphinx
def test_commands_are_understood_by_voice(
    app: Flask, engines: Gateways, book: Made, says: Says, speaks: ScriptedSpeaker
) -> None:
    """One question again, one passed over, and the end, which has to be said twice: nothing of it is an answer.

    The agent beeps: its own voice lasts a little longer or shorter each time, and where a word lies between two frames
    decides at times what the recogniser makes of it. Sounds differ a little between processors too, so every sentence
    is one that it hears right in any noise ("Please stop the interview." became "please stop at fairview" in 2 of 12).
    """
    sayings = (
        "One more time please.",
        "Okay, let's move on to the next question.",
        "I want to end the interview.",
        "I want to end the interview.",
    )
    interview = book(intro="Hello there.", questions=["What do you do?", "Why?", "Since when?"], follow_up_limit=0)
    interview_id = interview.id
    candidate = Candidate(f"http://localhost{path_of(interview)}", session=Direct(app.test_client()))  # type: ignore[arg-type]
    candidate.open()
    candidate.start()
    prompts: list[tuple[str, int | None]] = []

    left = iter(sayings)

    def answer(prompt: dict[str, Any]) -> bytes:
        prompts.append((prompt["kind"], prompt["question_index"]))
        return says(next(left), 1)

    with working_with(app, engines, speaker=speaks):
        candidate.take(answer)
    assert prompts == [("intro", 0), ("repeat", 0), ("question", 1), ("sure", 1)]
    db.session.rollback()
    sitting = db.session.scalars(sa.select(Sitting).where(Sitting.interview_id == interview_id)).one()
    assert sitting.answers == 0
