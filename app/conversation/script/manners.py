"""What the agent says around a step of the script: a greeting, a word after an answer, a bridge to the next question.

The script decides first, so none of this changes what is asked, which question an answer belongs to, or when the talk
ends. A flow's own intro is said instead of the greeting, its own outro instead of the goodbye.
"""

import re
import unicodedata
import zlib
from dataclasses import replace

from app.conversation.script import guard
from app.conversation.script.machine import Event, Kind, Line, Script, Step
from app.conversation.script.place import Place
from app.flows.length import likely_minutes
from app.gateways.speech import manners

LONGEST_NAME = 40
"""Characters of what a person is called; whatever is longer is no name to be said."""
MOST_WORDS = 4
_NAME = re.compile(r"[^\W\d_]+(?:[ '’·・-][^\W\d_]+)*")
_MARKS = re.compile("[\u0300-\u036f\u0900-\u0903\u093a-\u094d\u0e31-\u0e3a\u0e47-\u0e4e\u064b-\u0652]")
"""Marks that belong to a letter: accents, vowel signs of Hindi, Thai and Arabic. To `re` they are no letters."""


def polite(script: Script, before: Place, event: Event, *, decided: Step) -> Step:
    """``decided``, the step from ``before`` by ``event``, with what is said around it. A retry gets the same words."""
    if event is Event.BEGIN:
        return replace(decided, lines=(*_greeting(script), *decided.lines))
    if event not in {Event.ANSWER, Event.SKIP, Event.ASIDE} or not decided.lines:
        return decided
    if decided.lines[0].kind is not Kind.QUESTION or decided.place.question == before.question:
        return decided  # a follow-up has its own words for the answer
    return replace(decided, lines=(*_onward(script, before, event), *decided.lines))


def said_name(first: str | None, last: str | None, language: str) -> str | None:
    """How the agent addresses a person with these names in their record; None where they cannot safely be said.

    Anyone may have typed them: only a few plain words of letters count, in letters that the language's voice reads, and
    none that the guard refuses to a language model.
    """
    parts = (" ".join(unicodedata.normalize("NFC", name or "").split()) for name in (first, last))
    name = manners.address(language, *parts)
    is_sane = len(name) <= LONGEST_NAME and len(re.split(r"[\W_]+", _MARKS.sub("", name))) <= MOST_WORDS
    if not is_sane or not _NAME.fullmatch(_MARKS.sub("", name)) or not guard.is_name(name, language):
        return None
    return name


def _greeting(script: Script) -> tuple[Line, ...]:
    if script.intro:
        return ()
    language, questions = script.language, len(script.questions)
    thanks = Line(Kind.NAME if script.name else Kind.GREETING, manners.thanks(language, script.name))
    minutes = likely_minutes(questions, most=round(script.seconds / 60))
    coming = manners.coming(language, questions=questions, minutes=minutes)
    return (
        Line(Kind.GREETING, manners.welcome(language)),
        thanks,
        *((Line(Kind.GREETING, coming),) if questions else ()),
    )


def _onward(script: Script, before: Place, event: Event) -> tuple[Line, ...]:
    """To the next question: not every one needs an announcement, but the last one does, and one after a skipped one."""
    # Two interviews do not begin at the same place of the lists.
    number, is_last = zlib.crc32(script.seed.encode()) + before.question, before.question + 2 == len(script.questions)
    bridge = Line(Kind.BRIDGE, manners.bridge(script.language, number, is_last=is_last))
    if event is not Event.ANSWER:
        return (bridge,)
    answered = Line(Kind.ACKNOWLEDGE, manners.answered(script.language, number))
    return (answered, bridge) if is_last or number % 2 else (answered,)
