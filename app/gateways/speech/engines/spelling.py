"""English text as the recogniser's dictionary spells it, so that known text can be aligned with its sound."""

import re
from dataclasses import dataclass

from app.gateways.speech.ports import Word

LETTERS = {
    sounds.split(":")[0]: sounds.split(":")[1]
    for line in (
        "tion:SH AH N|ough:AO|igh:AY|sch:S K|ch:CH|sh:SH|th:TH|ph:F|ck:K|qu:K W|ng:NG|ee:IY|ea:IY|oo:UW|ou:AW|ai:EY",
        "ay:EY|oa:OW|er:ER|ar:AA R|or:AO R|a:AE|b:B|c:K|d:D|e:EH|f:F|g:G|h:HH|i:IH|j:JH|k:K|l:L|m:M|n:N|o:AA|p:P",
        "q:K|r:R|s:S|t:T|u:AH|v:V|w:W|x:K S|y:IY|z:Z",
    )
    for sounds in line.split("|")
}
"""English spelling to sounds, longest first: near enough to align a word that the dictionary lacks."""
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True, slots=True)
class Token:
    """One word as written and the words that are spoken for it: `24/7` is two four seven."""

    written: str
    spoken: tuple[str, ...]


def tokens_of(text: str) -> list[Token]:
    """The words of a text; what has neither letters nor digits is not spoken."""
    tokens = [Token(written, _spoken(written)) for written in text.split()]
    return [token for token in tokens if token.spoken]


def _spoken(written: str) -> tuple[str, ...]:
    plain = written.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    runs = (DIGITS[int(run)] if run.isdigit() else run.strip("'") for run in re.findall(r"[a-z']+|[0-9]", plain))
    return tuple(run for run in runs if run)


def sounds_of(word: str) -> str:
    """Its sounds by the table, in the recogniser's notation."""
    sounds, place = [], 0
    letters = word.replace("'", "")
    while place < len(letters):
        size = next(size for size in (4, 3, 2, 1) if letters[place : place + size] in LETTERS)
        sounds.append(LETTERS[letters[place : place + size]])
        place += size
    return " ".join(sounds)


def as_written(tokens: list[Token], spans: list[tuple[str, float, float, float]]) -> tuple[Word, ...]:
    """The measured spans on the written words; none if the text is not what was said."""
    if len(spans) != sum(len(token.spoken) for token in tokens):
        return ()
    words, place = [], 0
    for token in tokens:
        words.append(Word(token.written, spans[place][1], spans[place + len(token.spoken) - 1][2]))
        place += len(token.spoken)
    return tuple(words)
