"""Samples of the voices, for the form of a flow."""

from flask import Response, request

from app import gateways
from app.accounts.access import require_recruiter
from app.core.db import db
from app.core.errors import NotFound, Rejected
from app.flows.forms import language_name
from app.flows.pages.flows import pages
from app.gateways.speech import phrases
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE, LANGUAGES, VOICES
from app.gateways.speech.sound import wav
from app.web import rate_limits

SAMPLES_PER_MINUTE = 40
"""Enough to hear every voice twice."""


@pages.get("/flows/voices/<voice_id>")
def voice_sample(voice_id: str) -> Response:
    """A sample sentence in this voice and the requested ``language``, as WAV. Generated once, then cached."""
    require_recruiter()
    rate_limits.count("voice-sample", most=SAMPLES_PER_MINUTE)
    language = request.args.get("language", "") or DEFAULT_LANGUAGE
    if voice_id not in VOICES:
        raise NotFound("There is no voice with this id.")
    if language not in LANGUAGES:
        raise Rejected("This language is not available.", field="language")
    speaker = gateways.current().speaker
    if not speaker.supports(language):
        raise Rejected(
            f"{language_name(language)} has no voice on this installation. Candidates read the questions and type "
            "their answers."
        )
    db.session.rollback()  # ends the read: speaking is slow
    spoken = speaker.speak(phrases.sample(language), voice_id=voice_id, language=language, remember=True)
    sound = wav(spoken.pcm, spoken.rate)
    return Response(sound, mimetype="audio/wav", headers={"Cache-Control": "private, max-age=300"})
