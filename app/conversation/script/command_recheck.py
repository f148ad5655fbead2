"""A second look at short utterances that were no command as they were heard: were they a misheard one?

An answer must not be lost to it. So a saying counts only where the recogniser is sure of it, and the surer the more
there is to lose: to hear a question again costs a few seconds, to pass over one costs an answer.
"""

from collections.abc import Callable

from app.conversation.script.command_phrases import sayings
from app.conversation.script.commands import LONGEST, confirmed, spoken_command
from app.conversation.script.machine import Event
from app.conversation.script.place import Place
from app.gateways.speech.ports import Heard, Transcriber

MOST_WORDS = 12
"""Whatever was heard as more words is an answer."""
MORE_WORDS = 3
"""A command that is misheard has about as many words. Where more than these were heard besides, it is an answer."""
COMMANDS, WHETHER_TO_END = ("repeat", "think", "skip", "stop"), ("yes", "no", "stop")
SURE = {Event.REPEAT: 0.7, Event.SKIP: 0.3, Event.STOP: 0.65, Event.THINK: 0.75}
SURE_OF_NO, SURE_OF_YES = 0.7, 0.98
"""How sure the recogniser has to be, 0..1, chosen over eight voices and 200 of their ordinary answers. None of those
came above 0.02 for SKIP, which passes over a question, nor above 0.55 for THINK; STOP asks back, and "no" only goes
on. "Yes" ends the interview."""


def second_look(
    heard: Heard, pcm: Callable[[], bytes], place: Place, *, language: str, transcriber: Transcriber
) -> Heard:
    """What was heard, or the command that it surely was instead. Slow, never raises."""
    is_known = spoken_command(heard.text, language) or (place.stopping and confirmed(heard.text, language) is not None)
    if is_known or not heard.text or len(heard.text) > LONGEST or len(heard.text.split()) > MOST_WORDS:
        return heard
    among = sayings(language, *(WHETHER_TO_END if place.stopping else COMMANDS))
    chosen = transcriber.choose(heard, language=language, among=among, pcm=pcm)
    if chosen is None or len(heard.text.split()) > len(chosen.text.split()) + MORE_WORDS:
        return heard
    if (chosen.confidence or 0.0) < _needed(chosen.text, language, is_asked=place.stopping):
        return heard
    return chosen


def _needed(text: str, language: str, *, is_asked: bool) -> float:
    """How sure it has to be that this was said; more than anything can be where it is no command after all."""
    answer = confirmed(text, language) if is_asked else None
    if answer is not None:
        return SURE_OF_YES if answer else SURE_OF_NO
    command = spoken_command(text, language)
    return SURE[command] if command else 2.0
