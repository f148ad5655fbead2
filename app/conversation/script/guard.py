"""What the agent may say in a language model's words: short, plain, in the flow's language, and nothing but its part.

It is here and not in a prompt, because a prompt can be talked out of its rules. The lists of words are in guard.toml.
Refused text is not corrected: then there is no follow-up, or the fixed sentence that the question will be passed on.
"""

import logging
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path

from app.conversation.script.commands import alike, is_compact, plain, short_of
from app.conversation.script.machine import Script
from app.conversation.script.place import Place
from app.gateways.speech.catalogue import UNSPACED_LANGUAGES

log = logging.getLogger(__name__)

LONGEST_FOLLOW_UP, LONGEST_REPLY = 300, 450
"""Characters; half of it in languages that need half as many."""
ALIKE = 0.8
"""The share of a question's words from which on another text counts as that question."""
FEWEST_ALIKE = 4
QUOTED_WORDS, QUOTED_LETTERS = 8, 20
"""Words or letters in a row that, repeated exactly, reveal the organization's instructions."""
OWN_LETTERS, OWN_LATIN = 0.6, 0.9
FOREIGN_WORDS = 3

_WORDS: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_GROUPS = ("promise", "verdict", "role", "end", "private")
_MARKUP = re.compile(r"[<>{}\[\]|\\`*_~^=@•]|https?:|www\.|\w\.(?:com|org|net|io)\b|(?:^|\s)(?:#+|-|\d+[.)])\s")
_ADDRESS = re.compile(r"\w[@./]\w")
_ASKS = re.compile("[?？؟]")
_ENDS_ASKING = re.compile("[?？؟][\"'”’»」)]*$")
_UNMARKED = frozenset(("ja", "zh", "ko", "th"))
"""Languages that ask without a question mark too."""
_QUOTES = re.compile('"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」')
_JOINERS = frozenset("\u200c\u200d")
_WRITING = {
    "ja": ("HIRAGANA", "KATAKANA", "CJK"),
    "zh": ("CJK",),
    "ko": ("HANGUL",),
    "th": ("THAI",),
    "hi": ("DEVANAGARI",),
    "ar": ("ARABIC",),
}


def follow_up(text: str, script: Script, place: Place, *, latest: str = "") -> str | None:
    """The follow-up as it may be spoken, or None. Only its last sentence may be a question."""
    text = _tidy(text)
    marks = len(_ASKS.findall(text))
    reason = _flaw_of_follow_up(text, script, place, latest=latest)
    if not reason and (marks > 1 or (not marks and short_of(script.language) not in _UNMARKED)):
        reason = "not one question"
    if not reason and marks and not _ENDS_ASKING.search(text):
        reason = "a question before the last sentence"
    return _passed(text, reason)


def beginning(text: str, script: Script, place: Place, *, latest: str = "") -> str | None:
    """Whole sentences before the question of a follow-up as they may be spoken, or None."""
    text = _tidy(text)
    reason = _flaw_of_follow_up(text, script, place, latest=latest)
    return _passed(text, reason or ("a question before the last sentence" if _ASKS.search(text) else None))


def _flaw_of_follow_up(text: str, script: Script, place: Place, *, latest: str) -> str | None:
    question = script.questions[place.question]
    sources = (question, place.said, latest, script.additional_info or "", script.title)
    reason = _flaw(text, script, longest=LONGEST_FOLLOW_UP) or _new_number(text, sources)
    if not reason and any(_is_alike(one, text, script.language) for one in (*script.questions, *place.asked)):
        reason = "asked already, or in the script"
    return reason


def reply(text: str, script: Script) -> str | None:
    """An answer to the candidate's own question as it may be spoken, or None."""
    text = _tidy(text)
    sources = (script.additional_info or "", script.title, script.org_name)
    reason = _flaw(_without_known(text, sources), script, longest=LONGEST_REPLY) or _new_number(text, sources)
    if not reason and _ASKS.search(text):
        reason = "a question of its own"
    if not reason and any(_is_alike(question, text, script.language) for question in script.questions):
        reason = "a question of the script"
    return _passed(text, reason)


def is_name(name: str, language: str) -> bool:
    """Whether this can be a person's name, in letters that the language's voice reads, and says nothing else."""
    writing = ("LATIN", *_WRITING.get(short_of(language), ()))
    letters = [unicodedata.name(c, "") for c in name if c.isalpha()]
    return bool(letters) and all(one.startswith(writing) for one in letters) and not said_of(name, language)


def _passed(text: str, reason: str | None) -> str | None:
    if reason is None:
        return text
    log.warning("what the language model wanted to say was refused: %s", reason)  # never the text itself
    return None


def _tidy(text: str) -> str:
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf" or c in _JOINERS)
    return " ".join(visible.split())


def _flaw(text: str, script: Script, *, longest: int) -> str | None:
    """Why no agent may say this, in words for the log."""
    short = short_of(script.language)
    if len(text) > (longest // 2 if script.language in UNSPACED_LANGUAGES else longest):
        return "too long"
    if _MARKUP.search(text) or any(unicodedata.category(c)[0] == "C" and c not in _JOINERS for c in text):
        return "not plain text"
    if not _is_written_in(text, short) or _is_foreign(text, short):
        return "another language"
    if said := said_of(text, short):
        return said
    if _gives_away(text, script.additional_instructions or "", script.language):
        return "the organization's instructions"
    return None


def said_of(text: str, language: str) -> str | None:
    """The group of what is never said that this belongs to, or None."""
    short = short_of(language)
    for group in _GROUPS:
        if _forbidden(short, group).search(plain(text, short)) or _forbidden("en", group).search(plain(text, "en")):
            return group
    return None


@cache
def _forbidden(short: str, group: str) -> re.Pattern[str]:
    choices = "|".join(f"(?:{alike(choice, short)})" for choice in _WORDS.get(short, {}).get(group, ())) or "(?!)"
    return re.compile(f"(?:{choices})" if is_compact(short) else rf"(?<!\w)(?:{choices})(?!\w)")


def _is_written_in(text: str, short: str) -> bool:
    letters = [unicodedata.name(c, "") for c in text if c.isalpha()]
    writing = _WRITING.get(short, ("LATIN",))
    own = sum(name.startswith(writing) for name in letters)
    if short == "ja" and not any(name.startswith(writing[:2]) for name in letters):
        return False
    return bool(letters) and own / len(letters) >= (OWN_LETTERS if short in _WRITING else OWN_LATIN)


def _is_foreign(text: str, short: str) -> bool:
    """Whether frequent words of another language with the same alphabet say that it is that language."""
    own = frozenset(_WORDS.get(short, {}).get("common", ()))
    if not own:
        return False
    words = re.findall(r"\w+", text.lower())
    ours = sum(word in own for word in words)
    others = (frozenset(lists.get("common", ())) - own for name, lists in _WORDS.items() if name != short)
    most = max(sum(word in theirs for word in words) for theirs in others)
    return most >= FOREIGN_WORDS and most > 2 * ours


def _new_number(text: str, sources: Iterable[str]) -> str | None:
    """A reason if the text has numbers that are not in the sources: the model invented them."""
    numbers = set(re.findall(r"\d+", " ".join(sources)))
    return "a number of its own" if set(re.findall(r"\d+", text)) - numbers else None


def _without_known(text: str, sources: Iterable[str]) -> str:
    """Without addresses that the organization itself gave: they may be said, whatever they look like."""
    source_text = " ".join(sources)
    return " ".join(word for word in text.split() if not (_ADDRESS.search(word) and word.strip(".,;:!") in source_text))


def _gives_away(text: str, instructions: str, language: str) -> bool:
    """Whether the text recites the instructions. Their parts in quotation marks are meant to be said."""
    rules, said = (plain(part, language).split() for part in (_QUOTES.sub(" | ", instructions), text))
    size = QUOTED_WORDS
    if is_compact(language):
        rules, said, size = list("".join(rules)), list("".join(said)), QUOTED_LETTERS
    runs = {tuple(rules[at : at + size]) for at in range(len(rules) - size + 1)}
    return any(tuple(said[at : at + size]) in runs for at in range(len(said) - size + 1))


def _is_alike(question: str, text: str, language: str) -> bool:
    terms, said = _terms(question, language), _terms(text, language)
    if len(terms) < FEWEST_ALIKE:
        return terms == said
    return len(terms & said) / len(terms) >= ALIKE


def _terms(text: str, language: str) -> frozenset[str]:
    words = plain(text, language)
    if is_compact(language):
        return frozenset(first + second for first, second in pairwise(words))
    return frozenset(words.split())
