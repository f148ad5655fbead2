"""How long a silence may last before it is the end of an answer, judged from the words so far. Pure.

A fixed time cannot be both quick and patient. Words tell more: no answer ends with "and", "because" or "my", and a
candidate who says "let me think" wants time. Waiting too long costs a second, waiting too little cuts the candidate
short, so doubt means patience.
"""

import re
import unicodedata
from functools import cache

from app.conversation.script.commands import short_of, spoken_command
from app.conversation.script.machine import Event
from app.conversation.script.unfinished_words import (
    ADJECTIVES,
    BACKCHANNELS,
    DETERMINERS,
    EITHER,
    FILLERS,
    OPEN,
    SUFFIXED,
    THINKING,
    UNSPACED,
)

COMPLETE = 850
"""Milliseconds of silence before the agent's first sound, after words that may end an answer."""
SHORT = 1_400
"""The same after few words: most answers are longer, so more may come."""
FEW = 14
UNKNOWN = 2_600
"""Used if the words are not known, because no recogniser understands the language while it is spoken."""
UNFINISHED = 2_900
THINKING_TIME = 20_000
AT_REST = 600
"""The least where the voice came to rest: sank, as at the end of a statement."""
BEGINNING = 2_400
"""Where it came to rest after a short sentence, which may be all or only the first: a pause for thought of two seconds
fits in. After one to three words, which are no sentence, less is expected."""
PHRASE = 3
"""Words that are no sentence, at most."""
_SOONER = 200
"""What such a voice takes from the wait for words of a recogniser that writes sentences."""
_BELIEVED = 0.3
"""The share of the wait that is left for other words: the embedded recogniser mishears half of the last words."""
SINGLE = frozenset(("yes", "no", "yeah", "nope", "yep"))
_REQUESTS = frozenset((Event.REPEAT, Event.HELLO, Event.THERE, Event.WHO, Event.LONG))
"""Words to the agent after which the candidate waits for it, in a voice that rises or falls."""
_SHORT_REPLY = 4
_AFTER_THAT = frozenset(
    ("like", "about", "of", "do", "did", "does", "know", "for", "with", "after", "than", "see", "was", "is")
)


def patience(text: str | None, language: str) -> int:
    """Milliseconds of silence after ``text`` until the agent may speak. None: the words are not known."""
    if text is None:
        return UNKNOWN
    tag = short_of(language)
    said = plain(text)
    if not said:
        return UNKNOWN
    if _ends_with(said, THINKING.get(tag, ()), tag):
        return THINKING_TIME
    if spoken_command(text, language) in _REQUESTS:
        return COMPLETE
    if text.rstrip().endswith((",", "-", "–", "…", "...", ":", "、", "，", "،")) or _is_open(said, tag):
        return UNFINISHED
    return _by_length(said, tag)


def at_rest(text: str | None, language: str, *, is_heard_well: bool = False) -> int:
    """The same where the voice came to rest at the end of ``text``.

    ``is_heard_well``: by a recogniser that mishears few last words; one that writes sentences is taken for one.
    """
    wait = patience(text, language)
    if wait == THINKING_TIME:
        return wait
    if not text or not (is_heard_well or _is_written(text)):
        return max(AT_REST, round(_BELIEVED * wait))
    if wait == UNFINISHED and _may_end(text, short_of(language)):
        wait = _by_length(plain(text), short_of(language))
    is_sentence = wait == SHORT and _count(plain(text), short_of(language)) > PHRASE
    return max(AT_REST, BEGINNING if is_sentence else wait - _SOONER)


def in_the_air(text: str | None, language: str) -> int:
    """The same where the voice stayed up, as inside a sentence or at the end of a question."""
    wait = patience(text, language)
    return wait if text is not None and spoken_command(text, language) in _REQUESTS else max(UNKNOWN, wait)


def waits(text: str | None, language: str, *, is_heard_well: bool = False) -> dict[str, int]:
    """All three, as the page gets them."""
    return {
        "patience_ms": patience(text, language),
        "at_rest_ms": at_rest(text, language, is_heard_well=is_heard_well),
        "in_the_air_ms": in_the_air(text, language),
    }


def is_backchannel(text: str, language: str) -> bool:
    """Whether these words only say "I am listening", once or several times: the agent goes on after them."""
    said = plain(text)
    return not said or _backchannels(short_of(language)).fullmatch(said) is not None


@cache
def _backchannels(tag: str) -> re.Pattern[str]:
    one = "|".join(re.escape(plain(said)) for said in BACKCHANNELS.get(tag, ())) or "(?!)"
    return re.compile(f"(?:{one})(?:{' ?' if tag in UNSPACED else ' '}(?:{one}))*")


def plain(text: str) -> str:
    """Lower case, letters, digits and apostrophes, single spaces."""
    lowered = unicodedata.normalize("NFC", text).lower().replace("’", "'")
    letters = "".join(c if c == "'" or unicodedata.category(c)[0] in "LMN" else " " for c in lowered)
    return " ".join(letters.split())


def _is_written(text: str) -> bool:
    """Whether a recogniser wrote it that writes sentences, with capitals or marks."""
    return " ".join(text.split()) != plain(text)


def _may_end(text: str, tag: str) -> bool:
    """Whether its last word may be open or not, and no comma says which: "I would help her", "her manager"."""
    return text.rstrip().removesuffix(".").endswith(tuple(f" {word}" for word in EITHER.get(tag, ())))


def _by_length(said: str, tag: str) -> int:
    return SHORT if _count(said, tag) < FEW else COMPLETE


def _count(said: str, tag: str) -> int:
    """Words; where none are spaced, two letters count as one."""
    return len(said.replace(" ", "")) // 2 if tag in UNSPACED else len(said.split())


def _ends_with(said: str, endings: tuple[str, ...], tag: str) -> bool:
    if tag in UNSPACED:
        return said.replace(" ", "").endswith(tuple(one.replace(" ", "") for one in endings))
    return f" {said}".endswith(tuple(f" {plain(one)}" for one in endings))


def _is_open(said: str, tag: str) -> bool:
    if _ends_with(said, FILLERS.get(tag, ()), tag):
        return True
    words = OPEN.get(tag, frozenset())
    if tag in UNSPACED:
        return said.replace(" ", "").endswith(tuple(words))
    last = said.rsplit(maxsplit=1)[-1]
    if tag in SUFFIXED:
        return last.endswith(tuple(words))
    return (last in words and not _is_short_reply(said, tag)) or _lacks_its_noun(said, tag)


def _is_short_reply(said: str, tag: str) -> bool:
    """ "Yes I have", "no we did not": auxiliaries end these."""
    words = said.split()
    return (
        tag == "en" and words[0] in SINGLE and 1 < len(words) <= _SHORT_REPLY and words[1] in {"i", "we", "it", "they"}
    )


def _lacks_its_noun(said: str, tag: str) -> bool:
    """ "For a large", "the most important": an adjective after its article; and "that" where it opens a clause."""
    words = said.split()
    last = words[-1]
    if last in {"that", "it", "this"} and tag == "en":
        before = words[-2] if len(words) > 1 else ""
        return before in OPEN["en"] - _AFTER_THAT if last != "that" else before not in _AFTER_THAT
    is_adjective = last in ADJECTIVES.get(tag, frozenset())
    return is_adjective and bool(DETERMINERS.get(tag, frozenset()) & set(words[-4:-1]))
