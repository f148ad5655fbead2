"""Questions about the job, answered without a language model: with sentences of the flow's background, word for word.

Nothing is composed. A sentence is read out only if the words of the question clearly point to it; other questions about
the job are passed on. The lists of words are in job_questions.toml.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.conversation.script import guard
from app.conversation.script.commands import alike, is_compact, plain, short_of, words_of
from app.conversation.script.machine import Script
from app.conversation.script.sentences import sentences
from app.gateways.speech.ports import FollowUp

MOST_SENTENCES = 2
"""If more of them fit a question, none of them clearly does."""
ENOUGH = 2 / 3
"""The share of a question's words that a sentence has to contain; it contains all of its topics."""
ECHO = 2 / 3
"""The share from which on a question repeats what the agent has asked, as people do while they think."""
FEWEST_WORDS = 2
"""Words that point to a sentence where none of them is a topic."""
SHORTEST_STEM = 4
"""Letters; of two longer words, one may begin with the other: hour and hours."""
SHORTEST_RUN = 2
"""Letters that count as a word where words are not spaced."""
SHORTEST_SENTENCE, SHORTEST_COMPACT = 12, 4
"""Characters; what is shorter is read out with what follows."""

_WORDS: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_MARK = re.compile("[?？؟]")
_BULLET = re.compile(r"^\s*(?:[-–•*·]+|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class _Content:
    topics: frozenset[int]
    words: frozenset[str]

    @property
    def size(self) -> int:
        return len(self.topics) + len(self.words)


def reply(text: str, script: Script, *, asked: tuple[str, ...]) -> FollowUp | None:
    """What to say to a question about the job; None where this is none, or could be an answer.

    ``asked`` is what the agent has just asked. The sentences still have to pass the guard.
    """
    question = _question_of(text, script.language)
    wanted = _content(question, script.language) if question else None
    if question is None or wanted is None or not wanted.size or _is_echo(wanted, asked, script.language):
        return None
    found = [sentence for sentence in background(script) if _fits(wanted, sentence, script.language)]
    if 0 < len(found) <= MOST_SENTENCES:
        return FollowUp(reply=" ".join(found))
    return FollowUp(unknown=True) if wanted.topics and _MARK.search(question) else None


def background(script: Script) -> list[str]:
    """The sentences of the flow's background that can be read out; none where it is private."""
    if script.is_background_private or short_of(script.language) not in _WORDS:
        return []
    shortest = SHORTEST_COMPACT if is_compact(script.language) else SHORTEST_SENTENCE
    lines = (_BULLET.sub("", line).strip() for line in (script.additional_info or "").splitlines())
    return [sentence for line in lines for sentence in sentences(line, shortest=shortest)]


def readable(script: Script) -> list[tuple[str, bool]]:
    """Each sentence of the background, and whether the agent may read it out."""
    return [(sentence, guard.reply(sentence, script) is not None) for sentence in background(script)]


def _question_of(text: str, language: str) -> str | None:
    """The one question that this is. Before it, only words that answer nothing: "Thank you." """
    short = short_of(language)
    if short not in _WORDS:
        return None
    *before, last = sentences(text.strip(), shortest=1) or [""]
    alone, marked = _asks(short)
    pattern = marked if _MARK.search(last) else alone
    if any(not _lead(short).fullmatch(plain(one, language)) for one in before):
        return None
    return last if pattern.search(plain(last, language)) else None


def _content(text: str, language: str) -> _Content:
    topics, idle = _subjects(short_of(language))
    rest, found = plain(text, language), set()
    for number, topic in enumerate(topics):
        if topic.search(rest):
            found.add(number)
            rest = topic.sub(" ", rest)
    words = idle.sub(" ", rest).split()
    least = SHORTEST_RUN if is_compact(language) else 1
    return _Content(frozenset(found), frozenset(word for word in words if len(word) >= least))


def _is_echo(wanted: _Content, asked: tuple[str, ...], language: str) -> bool:
    there = _content(" ".join(asked), language)
    known = len(wanted.topics & there.topics) + _shared(wanted.words, " ".join(asked), language)
    return known / wanted.size >= ECHO


def _fits(wanted: _Content, sentence: str, language: str) -> bool:
    there = _content(sentence, language)
    shared = _shared(wanted.words, sentence, language)
    if not wanted.topics <= there.topics or (not wanted.topics and shared < FEWEST_WORDS):
        return False
    return (len(wanted.topics) + shared) / wanted.size >= ENOUGH


def _shared(words: frozenset[str], text: str, language: str) -> int:
    """How many of the words the text contains, in whatever form."""
    said = plain(text, language)
    if is_compact(language):
        return sum(word in said for word in words)
    there = said.split()
    return sum(any(_is_same(word, other) for other in there) for word in words)


def _is_same(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= SHORTEST_STEM and long.startswith(short))


@cache
def _asks(short: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What makes a question by itself, and what does with a question mark."""
    lists = _WORDS[short]
    ends = [one for one in lists.get("asks_anywhere", ()) if one.endswith("$")]
    begins = lists.get("asks", []) + lists.get("asks_marked", [])
    gap = "" if is_compact(short) else " "
    first = f"^(?:{_lead(short).pattern}{gap})?"
    alone = first + _any(lists.get("asks", []), short), _any(ends, short)
    marked = first + _any(begins, short), _any(lists.get("asks_anywhere", []), short)
    return re.compile("|".join(alone)), re.compile("|".join(marked))


@cache
def _lead(short: str) -> re.Pattern[str]:
    """Words before a question that answer nothing."""
    words = [*words_of(short, "greeting"), *words_of(short, "before"), *_WORDS[short].get("lead", ())]
    gap = "" if is_compact(short) else " "
    return re.compile(f"(?:{_any(words, short)}(?:{gap}{_any(words, short)})*)")


@cache
def _subjects(short: str) -> tuple[list[re.Pattern[str]], re.Pattern[str]]:
    lists = _WORDS[short]
    return [re.compile(_any([topic], short)) for topic in lists["topics"]], re.compile(_any(lists["idle"], short))


def _any(choices: list[str], short: str) -> str:
    found = "|".join(alike(choice, short) for choice in choices) or "(?!)"
    return f"(?:{found})" if is_compact(short) else rf"(?<!\S)(?:{found})(?!\S)"
