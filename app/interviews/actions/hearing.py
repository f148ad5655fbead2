"""The words of an answer: where they lie on the clock of its recorder run, and where they are to be doubted."""

import sqlalchemy as sa

from app.core.db import db
from app.gateways.speech.ports import Word
from app.interviews.models import Hearing, Utterance

UNSURE, UNSURE_WORDS = 0.35, 4
"""A mean confidence below this, over this many words, is worth listening to before assessing."""
CHUNK_SECONDS = 0.5
"""What one voice chunk holds, so that its number is its time on the run's clock."""


def await_hearing(interview_id: str) -> None:
    """Let all spoken answers that no one was able to hear again wait for it."""
    spoken = sa.and_(Utterance.hearing == Hearing.NONE, Utterance.first_chunk.is_not(None))
    statement = sa.update(Utterance).where(Utterance.interview_id == interview_id, spoken)
    db.session.execute(statement.values(hearing=Hearing.WAITING))


def place_words(row: Utterance, words: tuple[Word, ...]) -> None:
    """Put an answer on the clock of its run: from first word to last where their times are known, else all its sound.

    ``words`` count from its first voice chunk.
    """
    begins, ends = (row.first_chunk or 0) * CHUNK_SECONDS, ((row.last_chunk or 0) + 1) * CHUNK_SECONDS
    row.words = [[w.word, round(begins + w.start, 3), round(begins + w.end, 3)] for w in words] or None
    row.start, row.end = (row.words[0][1], row.words[-1][2]) if row.words else (begins, ends)
    row.weak = [[round(begins + start, 3), round(begins + end, 3), text] for start, end, text in weak(words)] or None


def weak(words: tuple[Word, ...]) -> list[tuple[float, float, str]]:
    """(start, end, words) where a recogniser was unsure of several words in a row; one unsure word says little."""
    sure = [word.confidence for word in words]
    unsure: set[int] = set()
    for at in range(max(0, len(words) - UNSURE_WORDS) + 1):
        near = [value for value in sure[at : at + UNSURE_WORDS] if value is not None]
        if near and sum(near) / len(near) < UNSURE:
            unsure.update(range(at, min(at + UNSURE_WORDS, len(words))))
    runs: list[list[int]] = []
    for at in sorted(unsure):
        if runs and at == runs[-1][-1] + 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    return [(words[run[0]].start, words[run[-1]].end, " ".join(words[at].word for at in run)) for run in runs]
