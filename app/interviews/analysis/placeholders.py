"""Hides names, email addresses and phone numbers from the analyst, and puts them back for display. Pure.

What is hidden: the names and email addresses of the candidate's record wherever they were said or written, and anything
that looks like an email address or a phone number, also where it was spelled out in words. Each wording gets its own
placeholder (`[NAME 1]`, `[EMAIL 1]`, `[PHONE 1]`), so that exactly the same words are put back.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from app.gateways.speech.ports import Analyst, Judged, Judgement, Material

_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

Kind = Literal["NAME", "EMAIL", "PHONE"]
Span = tuple[int, int]
"""First character, and the one after the last."""

_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
)
"""Scripts in which names have no border: Thai, Lao, Burmese, Khmer, Japanese, Chinese; Korean adds particles."""
_THAI = re.compile("[\u0e00-\u0e7f]")
_ARABIC = re.compile("[\u0600-\u06ff]")
_BEFORE, _AFTER = (rf"(?{look}[^\W_{_SPACELESS.pattern[1:-1]}])(?{look}[\u0900-\u0dff])" for look in ("<!", "!"))
"""No letter on this side. To `re`, marks of Indian scripts are no letters; spaceless scripts need no border."""
_NOTHING = r"(?!)"
"""Matches nowhere."""
_PARTS = re.compile(r"[\s.,;:()\-–'’_/·・+\d]+")
_BETWEEN = re.compile(r"[\s'\-·・]{0,2}")
"""What may be between two parts of one name."""
_FOLDED = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ł": "l", "ı": "i", "’": "'"})

_LONG = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}

_WRITTEN = re.compile(r"[a-z0-9][a-z0-9._%+-]*\s?(?:@|[(\[]\s?at\s?[)\]])\s?[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_NUMBER = re.compile(_BEFORE + r"\+?\(?\d(?:[ ()./\-–\u00a0]{0,3}\d){6,14}(?![\d])")
_NO_PHONE = re.compile(
    r"(?:19|20)\d\d ?[-–/] ?(?:19|20)\d\d"  # years
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"  # a date
    r"|[1-9]\d{0,2}(?:[ .\u00a0]\d{3})*[ .\u00a0]?000"  # a round sum
)
_PLACEHOLDER = re.compile(r"\[\s*(NAME|EMAIL|PHONE)[ _-]*(\d+)\s*\]", re.IGNORECASE)
_LEAST_DIGITS = 7
_LEAST_LETTERS = 4
"""A number in words has this many letters; less is a list of figures."""
_LONGEST_GAP = 14
"""Characters between two parts of the candidate's email address when it is said: ` underscore `."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the candidate's record says about who they are. Names may have several parts."""

    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


NO_ONE = Known()


class Placeholders:
    """Those of one interview: what `hide` has replaced, `restore` puts back."""

    def __init__(self, known: Known, *, language: str) -> None:
        self._language = language
        self._parts = _parts_of(known)
        self._names = _any_of(self._parts)
        self._addresses = [pattern for address in known.addresses if (pattern := _spoken_address(address))]
        self._given: dict[tuple[Kind, str], str] = {}
        self._wordings: dict[str, str] = {}

    def hide(self, text: str) -> str:
        """The text with placeholders."""
        folded = _Folded(text)
        pieces, at = [], 0
        for start, end, kind in self._found(folded):
            pieces += [text[at:start], self._placeholder(kind, text[start:end])]
            at = end
        return "".join([*pieces, text[at:]])

    def restore(self, text: str) -> str:
        """The text with the candidate's words; placeholders that were never given stay."""
        return _PLACEHOLDER.sub(lambda match: self._wordings.get(_key(match), match.group()), text)

    def hide_all(self, material: Material) -> Material:
        """Everything that was said or written, without a word that says who the candidate is."""
        return replace(
            material,
            questions=tuple(map(self.hide, material.questions)),
            passages=tuple(replace(one, content=self.hide(one.content)) for one in material.passages),
            title=self.hide(material.title),
            org_name=self.hide(material.org_name),
            additional_info=self.hide(material.additional_info) if material.additional_info else None,
            documents=tuple(map(self.hide, material.documents)),
            criteria=tuple(
                replace(one, name=self.hide(one.name), good=self.hide(one.good)) for one in material.criteria
            ),
        )

    def _placeholder(self, kind: Kind, wording: str) -> str:
        number = 1 + sum(given == kind for given, _wording in self._given)
        placeholder = self._given.setdefault((kind, wording), f"[{kind} {number}]")
        self._wordings[placeholder] = wording
        return placeholder

    def _found(self, folded: "_Folded") -> list[tuple[int, int, Kind]]:
        """In order. What overlaps is hidden as one: as an address before a number, and as a number before a name."""
        searches: tuple[tuple[Kind, Iterable[Span]], ...] = (
            ("EMAIL", self._addresses_in(folded.text)),
            ("PHONE", _numbers_in(folded.text, self._language)),
            ("NAME", self._names_in(folded)),
        )
        merged: list[tuple[int, int, Kind]] = []
        order: dict[Kind, int] = {kind: place for place, (kind, _spans) in enumerate(searches)}
        for start, end, kind in sorted((*folded.span(*span), kind) for kind, spans in searches for span in spans):
            if merged and start < merged[-1][1]:
                begun, ended, other = merged.pop()
                merged.append((begun, max(end, ended), min(kind, other, key=order.__getitem__)))
            else:
                merged.append((start, end, kind))
        return merged

    def _addresses_in(self, text: str) -> Iterator[Span]:
        for pattern in (*self._addresses, _WRITTEN, _spelled_address(self._language)):
            yield from (match.span() for match in pattern.finditer(text))

    def _names_in(self, folded: "_Folded") -> Iterator[Span]:
        if self._names is None:
            return
        group: list[re.Match[str]] = []
        for match in self._names.finditer(folded.text):
            if group and not _BETWEEN.fullmatch(folded.text[group[-1].end() : match.start()]):
                yield from self._name(group, folded)
                group = []
            group.append(match)
        if group:
            yield from self._name(group, folded)

    def _name(self, group: list[re.Match[str]], folded: "_Folded") -> Iterator[Span]:
        """The span of parts beside each other, if together they are a name and not just a word."""
        while group and group[-1][group[-1].lastgroup or 0] in _particles():
            group = group[:-1]
        parts = [str(match[match.lastgroup or 0]) for match in group]
        real = {part for part in parts if part not in _particles()}
        is_name = len(real) > 1 or any(
            _stands_alone(part, self._language)
            or (not _is_weak(part) and folded.is_capital(match.start(match.lastgroup or 0)))
            for part, match in zip(parts, group, strict=True)
            if part in real
        )
        if is_name:
            yield group[0].start(), group[-1].end()


class Shielded:
    """An analyst that never sees who the candidate is; its words and quotes come back with the candidate's own."""

    def __init__(self, analyst: Analyst, known: Known, *, language: str) -> None:
        self._analyst = analyst
        self._hidden = Placeholders(known, language=language)

    @property
    def name(self) -> str:
        """The analyst's."""
        return self._analyst.name

    def summarize(self, material: Material) -> str | None:
        """The summary with the candidate's words put back."""
        summary = self._analyst.summarize(self._hidden.hide_all(material))
        return None if summary is None else self._hidden.restore(summary)

    def judge(self, material: Material, *, scores: tuple[str, ...]) -> Judgement:
        """The judgement with reasons and quotes in the candidate's words."""
        judgement = self._analyst.judge(self._hidden.hide_all(material), scores=scores)
        return replace(judgement, judged=tuple(map(self._restored, judgement.judged)))

    def close(self) -> None:
        """Nothing: the analyst is the caller's."""

    def _restored(self, judged: Judged) -> Judged:
        quotes = tuple(replace(quote, text=self._hidden.restore(quote.text)) for quote in judged.quotes)
        return replace(judged, reason=self._hidden.restore(judged.reason), quotes=quotes)


class _Folded:
    """A text for comparisons: without case and accents, all digits as 0 to 9, and the way back to its characters."""

    def __init__(self, text: str) -> None:
        self._original = text
        pairs = [(letter, at) for at, sign in enumerate(text) for letter in _fold(sign)]
        self.text = "".join(letter for letter, _at in pairs)
        self._places = [at for _letter, at in pairs]

    def span(self, start: int, end: int) -> Span:
        """The characters of the original, with the accents that follow the last one."""
        last = self._places[end - 1] + 1
        while last < len(self._original) and unicodedata.combining(self._original[last]):
            last += 1
        return self._places[start], last

    def is_capital(self, start: int) -> bool:
        return self._original[self._places[start]].isupper()


def _fold(sign: str) -> str:
    digit = unicodedata.decimal(sign, None)
    if digit is not None:
        return str(digit)
    code = ord(sign)
    if code < 0x700 or 0x1E00 <= code < 0x2000 or code >= 0xFF00:
        letters = unicodedata.normalize("NFKD", sign).casefold()
        sign = "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
    return sign.translate(_FOLDED)


def _folded(text: str) -> str:
    return "".join(map(_fold, text))


@cache
def _particles() -> frozenset[str]:
    return frozenset(_WORDS["particles"])


@cache
def _ordinary() -> frozenset[str]:
    return frozenset(_WORDS["ordinary"])


def _is_weak(part: str) -> bool:
    """Too little to be a name without a neighbour: an initial, a surname of one character."""
    return len(part) < (3 if _THAI.search(part) else 2)


def _stands_alone(part: str, language: str) -> bool:
    """Whether this part is a name wherever it appears. In Vietnamese, names are the words of every sentence."""
    if _SPACELESS.search(part):
        return not _is_weak(part)
    return len(part) > 2 and part not in _ordinary() and language != "vi-VN"


def _parts_of(known: Known) -> tuple[str, ...]:
    """All parts of all names, the longest first; of the email address where the record has no name."""
    names = [name for name in known.names if name.strip()]
    if not names:
        locals_ = (address.partition("@")[0] for address in known.addresses)
        names = [part for one in locals_ for part in _PARTS.split(one) if len(part) > 2]
    parts = {part for name in names for one in _spellings(name) for part in _PARTS.split(one) if part}
    return tuple(sorted(parts, key=lambda part: (-len(part), part)))


def _spellings(name: str) -> tuple[str, ...]:
    """The name as it is compared, and as it is written where the keyboard has no ä, or where the record had none."""
    plain = _folded(name)
    long = _folded("".join(_LONG.get(sign, sign) for sign in unicodedata.normalize("NFC", name).lower()))
    return plain, long, re.sub("([aou])e", r"\1", plain)


def _any_of(parts: tuple[str, ...]) -> re.Pattern[str] | None:
    """Any part of the names, with borders where its script has them; an Arabic prefix and a genitive s belong to it."""
    if not parts:
        return None
    loose = "|".join(re.escape(part) for part in parts if _SPACELESS.search(part)) or _NOTHING
    bound = "|".join(re.escape(part) for part in parts if not _SPACELESS.search(part)) or _NOTHING
    return re.compile(rf"{_BEFORE}[وفبلك]?(?P<bound>{bound})(?:(?<=\w\w\w)s)?{_AFTER}|(?P<loose>{loose})")


def _spoken_address(address: str) -> re.Pattern[str] | None:
    """The address as it is written, and as it is said: its parts in order, with a word or two between them."""
    parts = [_BEFORE + re.escape(part) + _AFTER for part in re.split(r"[\W_]+", _folded(address)) if part]
    if len(parts) < 3:  # neither a local part nor a domain alone is an address
        return None
    return re.compile(rf".{{0,{_LONGEST_GAP}}}?".join(parts))


@cache
def _spelled_address(language: str) -> re.Pattern[str]:
    """Any address that is said with the language's words for @ and the dot: `ann dot lee at mail dot example`."""
    own = language[:2]
    at, dot = _any_word(_WORDS["at"].get(own, ())), _any_word(_WORDS["dot"].get(own, ()))
    space = r"\s*" if _SPACELESS.search(at) else r"\s+"
    word = r"[a-z0-9]+"
    at, dot = rf"(?:{space}(?:{at}){space}|\s*@\s*)", rf"(?:{space}(?:{dot}){space}|[._-])"
    return re.compile(rf"{_BEFORE}{word}(?:{dot}{word})*{at}{word}(?:{dot}{word})+")


@cache
def _spelled_number(language: str) -> re.Pattern[str]:
    words = _any_word({*_WORDS["digits"].get(language[:2], ()), *_WORDS["digits"]["en"]})
    if _SPACELESS.search(words):
        return re.compile(rf"(?:(?:{words}|\d)[\s、,，・-]*){{{_LEAST_DIGITS - 1},}}(?:{words}|\d)")
    one = rf"(?:{words}|\d{{1,4}})"
    return re.compile(rf"{_BEFORE}{one}(?:[\s,.-]+{one}){{{_LEAST_DIGITS - 1},}}{_AFTER}")


def _any_word(words: Iterable[str]) -> str:
    """The words as alternatives, the longest first; without any, a pattern that matches nowhere."""
    return "|".join(re.escape(_folded(word)) for word in sorted(words, key=lambda word: (-len(word), word))) or _NOTHING


def _numbers_in(text: str, language: str) -> Iterator[Span]:
    for match in _NUMBER.finditer(text):
        if not _NO_PHONE.fullmatch(match.group()):
            yield match.span()
    for match in _spelled_number(language).finditer(text):
        if sum(map(str.isalpha, match.group())) >= _LEAST_LETTERS:
            yield match.span()


def _key(match: re.Match[str]) -> str:
    return f"[{match[1].upper()} {match[2]}]"
