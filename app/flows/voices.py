"""What the flow editor says of each voice: who speaks, and which voices of the interface are one on this machine."""

from app.gateways.speech.catalogue import VOICES
from app.gateways.speech.engines import casting
from app.gateways.speech.ports import Speaker

PEOPLE = {"woman": "Woman", "man": "Man"}


def about(speaker: Speaker, language: str) -> dict[str, str]:
    """A short sentence for each voice_id about which there is something to say, in a language that is spoken."""
    identities = {voice_id: speaker.identity(voice_id, language) for voice_id in VOICES}
    described = {voice_id: _sentences(identity, voice_id, identities) for voice_id, identity in identities.items()}
    return {voice_id: sentences for voice_id, sentences in described.items() if sentences}


def _sentences(identity: str, voice_id: str, identities: dict[str, str]) -> str:
    gender, accent = casting.described(identity)
    who = ", ".join(part for part in (PEOPLE.get(gender or "", ""), accent) if part)
    others = [VOICES[other].name for other, its in identities.items() if its == identity and other != voice_id]
    if not others:
        return who
    if len(others) == len(VOICES) - 1:
        same = "The only voice for this language"
    else:
        names = others[0] if len(others) == 1 else f"{', '.join(others[:-1])} and {others[-1]}"
        same = f"The same voice as {names}"
    return f"{who}. {same}" if who else same
