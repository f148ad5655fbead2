"""Speaks a flow's script and the fixed phrases into the speaker's cache, so that no interview ever waits for them."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from app import gateways
from app.core import claims
from app.core.db import db, for_one
from app.core.errors import GatewayError
from app.flows.models import InterviewFlow, SpeechState
from app.flows.queries import script_of
from app.gateways.speech.phrases import all_of

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=3)
"""Longer than any one text takes; renewed after each."""


@dataclass(frozen=True, slots=True)
class Script:
    """What is to be spoken, as plain values, and the token of the claim."""

    flow_id: str
    token: int
    failures: int
    texts: tuple[str, ...]
    voice_id: str | None
    language: str


@for_one(InterviewFlow)
def prepare_speech(flow_id: str) -> None:
    """Claim the flow, speak every text, and say so. May run twice; a language without a voice has nothing to speak."""
    script = _claimed(flow_id)
    db.session.commit()
    if script is None:
        return
    try:
        if not _spoken(script):
            return  # someone else has taken over, or the script was changed meanwhile
        outcome = {"speech_state": SpeechState.READY, "recoveries": 0}
    except GatewayError as error:
        log.warning("speech of flow %s failed: %s", flow_id, error)
        outcome = claims.after_failure(
            InterviewFlow.speech_state,
            script.failures,
            retryable=error.retryable,
            waits=SpeechState.PENDING,
            parked=SpeechState.FAILED,
        )
    claims.finish(InterviewFlow, flow_id, script.token, **outcome)
    db.session.commit()


def _claimed(flow_id: str) -> Script | None:
    taken = claims.take_row(
        InterviewFlow.speech_state,
        flow_id,
        expects=SpeechState.PENDING,
        becomes=SpeechState.PREPARING,
        lease=LEASE,
        parked={"speech_state": SpeechState.FAILED},
    )
    if taken is None:
        return None
    token, flow = taken
    script = script_of(flow)
    texts = [script["intro"], *script["questions"], script["outro"], *all_of(script["language"])]
    return Script(
        flow_id=flow_id,
        token=token,
        failures=flow.recoveries,
        voice_id=script["voice_id"],
        texts=tuple(text for text in texts if text and text.strip()),
        language=script["language"],
    )


def _spoken(script: Script) -> bool:
    speaker = gateways.current().speaker
    if not speaker.supports(script.language):
        return True
    for text in script.texts:
        speaker.speak(text, voice_id=script.voice_id, language=script.language, remember=True)
        held = claims.renew(InterviewFlow, script.flow_id, script.token, lease=LEASE)
        db.session.commit()
        if not held:
            return False
    return True
