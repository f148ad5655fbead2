"""Speaks a flow's script and the fixed phrases into the speech cache, so that interviews never wait for them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import current_app

from app import gateways
from app.core import claims
from app.core.db import db, for_one
from app.flows import actions, queries
from app.flows.flow_script import FlowScript
from app.flows.length import likely_minutes
from app.flows.models import InterviewFlow, SpeechState
from app.gateways.speech.manners import coming
from app.gateways.speech.phrases import all_of

LEASE = timedelta(minutes=3)
"""Longer than speaking any one text takes. Renewed after each text."""
MOST_AGAIN = 10
"""Scripts that a sweep has spoken again: new flows must not wait behind all that there are."""


_SPEECH = claims.Work(
    InterviewFlow.speech_state,
    waits=SpeechState.PENDING,
    works=SpeechState.PREPARING,
    failed=SpeechState.FAILED,
    lease=LEASE,
)


@dataclass(frozen=True, slots=True)
class Script:
    """The texts to speak, as plain values, and the claim's token."""

    flow_id: str
    token: int
    texts: tuple[str, ...]
    voice_id: str | None
    language: str


@for_one(InterviewFlow)
def prepare_speech(flow_id: str) -> None:
    """Speak every text of the flow. A language without a voice has nothing to speak."""
    claims.run(_SPEECH, flow_id, read=_script, do=_spoken)


def _script(flow: InterviewFlow, token: int) -> Script:
    script = FlowScript.of(flow)
    texts = [script.intro or _what_comes(script), *script.questions, script.outro, *all_of(script.language)]
    return Script(
        flow_id=flow.id,
        token=token,
        voice_id=script.voice_id,
        texts=tuple(text for text in texts if text and text.strip()),
        language=script.language,
    )


def _what_comes(script: FlowScript) -> str | None:
    """What the agent says of a flow without its own intro."""
    questions, settings = len(script.questions), current_app.extensions["parley.settings"]
    minutes = likely_minutes(questions, most=script.time_limit_minutes or settings.interview_minutes)
    return coming(script.language, questions=questions, minutes=minutes) if questions else None


def _spoken(script: Script) -> dict[str, Any] | None:
    speaker = gateways.current().speaker
    identity = speaker.identity(script.voice_id, script.language)
    for text in script.texts if speaker.supports(script.language) else ():
        speaker.speak(text, voice_id=script.voice_id, language=script.language, remember=True)
        is_ours = claims.renew(InterviewFlow, script.flow_id, script.token, lease=LEASE)
        db.session.commit()
        if not is_ours:
            return None  # another worker has taken over, or the script was changed meanwhile
    return {"speech_state": SpeechState.READY, "recoveries": 0, "spoken_with": identity[:200]}


def sweep_voices() -> int:
    """Have open flows spoken again whose script was spoken with a lesser voice: a model has been fetched since.

    A preferred engine that is away for a while changes nothing. Returns how many.
    """
    speaker = gateways.current().speaker
    engines = speaker.name.split(",")

    def rank(identity: str | None) -> int:
        engine = (identity or "").partition(":")[0]
        return engines.index(engine) if engine in engines else len(engines)

    again = 0
    for spoken in queries.voices_of_scripts():
        now = speaker.identity(spoken.voice_id, spoken.language)[:200]
        if now == spoken.identity or rank(now) > rank(spoken.identity):
            continue
        for flow in queries.spoken_with(spoken, limit=MOST_AGAIN - again):
            actions.speak_again(flow)
            again += 1
    db.session.commit()
    return again
