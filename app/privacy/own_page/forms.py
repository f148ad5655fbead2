"""Forms of the candidate's own page. A flaw is a key here; the template has its sentence in every language."""

from dataclasses import dataclass

from flask import request

from app.candidate_requests.actions import ASKABLE_AFTERWARDS
from app.candidate_requests.models import LONGEST_TEXT, RequestKind
from app.privacy.own_page.actions import LONGEST_SUGGESTION
from app.web.fields import flaw_of

MOST_WORDS = 500


def _typed(name: str) -> str:
    return request.form.get(name, "").replace("\r\n", "\n").strip()


def _flaw(text: str, most: int) -> str | None:
    return "too_long" if len(text) > most else "unusable" if flaw_of(text) else None


@dataclass(frozen=True, slots=True)
class AskForm:
    """A request: its kind and an optional text. ``flaw`` is what is wrong with it, or None."""

    kind: RequestKind | None
    text: str
    flaw: str | None

    @classmethod
    def of_request(cls) -> "AskForm":
        """The submitted request."""
        kind_name, text = _typed("kind"), _typed("text")
        kind = RequestKind(kind_name) if kind_name in ASKABLE_AFTERWARDS else None
        return cls(kind, text, "no_kind" if kind is None else _flaw(text, LONGEST_TEXT))


@dataclass(frozen=True, slots=True)
class FlagForm:
    """Words of one answer that were transcribed wrongly, and what was said instead."""

    segment: int
    words: tuple[int, ...]
    suggestion: str
    text: str
    flaw: str | None

    @classmethod
    def of_request(cls) -> "FlagForm":
        """The submitted correction. Values that are not numbers count as missing."""
        words = tuple(sorted(_number(word) for word in request.form.getlist("word")[:MOST_WORDS]))
        suggestion, text = _typed("suggestion"), _typed("text")
        missing = "no_words" if not words else "no_suggestion" if not suggestion else None
        flaw = missing or _flaw(suggestion, LONGEST_SUGGESTION) or _flaw(text, LONGEST_TEXT)
        return cls(_number(request.form.get("segment", "")), words, suggestion, text, flaw)


def number_of_query(name: str) -> int | None:
    """A number in the query string, such as the answer to correct; None if there is none."""
    number = _number(request.args.get(name, ""))
    return number if number >= 0 else None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 6 else -1
