"""Speaks a flow's script and the fixed phrases into the speech cache, so that interviews never wait for them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app import gateways
from app.core import claims
from app.core.db import db, for_one
from app.flows.flow_script import FlowScript
from app.flows.models import InterviewFlow, SpeechState
from app.gateways.speech.phrases import all_of

LEASE = timedelta(minutes=3)
"""Longer than speaking any one text takes. Renewed after each text."""


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
    texts = [script.intro, *script.questions, script.outro, *all_of(script.language)]
    return Script(
        flow_id=flow.id,
        token=token,
        voice_id=script.voice_id,
        texts=tuple(text for text in texts if text and text.strip()),
        language=script.language,
    )


def _spoken(script: Script) -> dict[str, Any] | None:
    speaker = gateways.current().speaker
    for text in script.texts if speaker.supports(script.language) else ():
        speaker.speak(text, voice_id=script.voice_id, language=script.language, remember=True)
        is_ours = claims.renew(InterviewFlow, script.flow_id, script.token, lease=LEASE)
        db.session.commit()
        if not is_ours:
            return None  # another worker has taken over, or the script was changed meanwhile
    return {"speech_state": SpeechState.READY, "recoveries": 0}
