"""Aligns spoken words that have measured times with the written text. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese: written without spaces, so each character is compared alone."""
_UNIT = re.compile(rf"[「『（【“‘(]*[{_UNSPACED}]|[^\s{_UNSPACED}]+?(?=[「『（【“‘(]*[{_UNSPACED}]|\s|$)")


def plain(text: str) -> str:
    """The text for comparisons: letters, marks and digits only, without case."""
    return "".join(sign for sign in text.casefold() if unicodedata.category(sign)[0] in "LMN")


def as_written(content: str, words: Sequence[str]) -> list[str]:
    """Split ``content`` into one part per word of ``words``, each with its punctuation.

    A word that the text does not contain gets an empty part, and a part may hold several written words, because
    recognisers split words differently (``at a`` and ``at``, ``a``; ``twenty five`` and ``25``).
    """
    if not words:
        return []
    starts, written = _units(content)
    spoken = [(at, unit) for at, word in enumerate(words) for unit in _units(word)[1]]
    matcher = SequenceMatcher(None, [unit for _at, unit in spoken], written, autojunk=False)
    owners: list[int] = []
    for _tag, first, last, begin, end in matcher.get_opcodes():
        # Differing units are shared out in order; units that only the text has go to the word before them.
        size, shared = last - first, end - begin
        places = [first + (n * size // shared if size else -1) for n in range(shared)]
        owners += [spoken[max(place, 0)][0] if spoken else 0 for place in places]
    bounds = [
        next((start for start, owner in zip(starts, owners, strict=True) if owner >= at), len(content))
        for at in range(len(words))
    ]
    return [content[begin:end].strip() for begin, end in pairwise([0, *bounds[1:], len(content)])]


def _units(text: str) -> tuple[list[int], list[str]]:
    """Start and comparable form of each unit of the text that has letters or digits."""
    units = [(match.start(), plain(match.group())) for match in _UNIT.finditer(text)]
    return [start for start, unit in units if unit], [unit for _start, unit in units if unit]
