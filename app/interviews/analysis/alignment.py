"""Spoken words with measured times, as the text writes them. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese: written without spaces, so that each sign is compared alone."""
_UNIT = re.compile(rf"[「『（【“‘(]*[{_UNSPACED}]|[^\s{_UNSPACED}]+?(?=[「『（【“‘(]*[{_UNSPACED}]|\s|$)")


def plain(text: str) -> str:
    """The text as words are compared by: letters, their marks and digits alone, without case."""
    return "".join(sign for sign in text.casefold() if unicodedata.category(sign)[0] in "LMN")


def as_written(content: str, words: Sequence[str]) -> list[str]:
    """For each of ``words`` the part of ``content`` that writes it, with its punctuation; together they are all of it.

    A word that the text does not write gets an empty part, and a part may hold several written words: recognisers and
    writers count words differently (``at a`` and ``at``, ``a``; ``twenty five`` and ``25``).
    """
    if not words:
        return []
    starts, written = _units(content)
    spoken = [(at, unit) for at, word in enumerate(words) for unit in _units(word)[1]]
    matcher = SequenceMatcher(None, [unit for _at, unit in spoken], written, autojunk=False)
    owners: list[int] = []
    for _tag, first, last, begin, end in matcher.get_opcodes():
        # Of those that differ each gets its share, in order; what only the text has goes to the word before it.
        size, shared = last - first, end - begin
        places = [first + (n * size // shared if size else -1) for n in range(shared)]
        owners += [spoken[max(place, 0)][0] if spoken else 0 for place in places]
    bounds = [
        next((start for start, owner in zip(starts, owners, strict=True) if owner >= at), len(content))
        for at in range(len(words))
    ]
    return [content[begin:end].strip() for begin, end in pairwise([0, *bounds[1:], len(content)])]


def _units(text: str) -> tuple[list[int], list[str]]:
    """Where each unit of the text that has letters begins, and how it is compared."""
    units = [(match.start(), plain(match.group())) for match in _UNIT.finditer(text)]
    return [start for start, unit in units if unit], [unit for _start, unit in units if unit]
