"""Cuts text after its sentences, in every script of the interface."""

import re
from itertools import pairwise

SHORTEST = 25
"""Characters; a shorter sentence stays with the next, so that the voice does not stop after each."""

_END = re.compile(r"(?<=[.!?…؟])[\"'”’»)]*\s+|(?<=[。！？।])")


def sentences(text: str, *, shortest: int = SHORTEST) -> list[str]:
    """The sentences; those of fewer than ``shortest`` characters stay with the next."""
    ends = [match.end() for match in _END.finditer(text)]
    cut: list[str] = []
    for piece in (text[begin:end] for begin, end in pairwise([0, *ends, len(text)])):
        if cut and min(len(cut[-1].strip()), len(piece.strip())) < shortest:
            cut[-1] += piece
        else:
            cut.append(piece)
    return [stripped for piece in cut if (stripped := piece.strip())]


def whole_sentences(text: str) -> str:
    """The beginning of a text that goes on, up to its last end of a sentence; empty where that is very short."""
    ends = [match.end() for match in _END.finditer(text)]
    whole = text[: ends[-1]].strip() if ends else ""
    return whole if len(whole) >= SHORTEST else ""
