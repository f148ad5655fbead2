"""Which stretch of a sound is recognised in one go. Pure arithmetic on the spans that the detector found."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .detector import Span

LEAD, TRAIL = 0.3, 0.3
"""Seconds of sound before and after the speech that are recognised with it."""
PAUSE = 0.5
"""A pause after which what was said can stand alone."""
LONG_PAUSE = 2.0
"""A pause that is never inside a window: words are invented in it."""
OVERLAP = 0.8
"""Seconds that two windows share where a cut goes through speech."""
CUT_FROM = 0.6
"""A cut through speech lies in the last part of a window, from this share of it on."""


class Limits(NamedTuple):
    """Seconds of speech after which a pause closes a window, and at which it is cut in any case."""

    enough: float
    most: float


LIVE = Limits(6.0, 14.0)
"""Small enough that little remains to be recognised when an answer ends."""
FINAL = Limits(10.0, 20.0)
"""Larger windows make fewer errors: a third fewer with 15 s than with single sentences."""


class Resume(NamedTuple):
    """From where on the sound is not yet recognised; `cut`: speech goes on across that place."""

    seconds: float = 0.0
    cut: bool = False


class Window(NamedTuple):
    """One stretch to recognise, in seconds of the sound. Not `closed`: more may follow that changes its words."""

    start: float
    end: float
    speech: tuple[Span, ...]
    closed: bool
    resume: Resume


def next_window(
    spans: Sequence[Span],
    heard: float,
    *,
    resume: Resume,
    limits: Limits,
    ended: bool,
    quietest: Callable[[float, float], float],
) -> Window | None:
    """The next stretch, or None where there is none yet. `spans`: those after `resume`; `heard`: seconds listened to.

    `quietest(start, end)` says where between two places the sound is quietest. `ended`: what is left is a window too.
    """
    begin = 0.0 if not spans else spans[0].start
    for place, span in enumerate(spans):
        if span.end - begin > limits.most:
            cut = quietest(begin + CUT_FROM * limits.most, begin + limits.most - OVERLAP)
            return _window(spans[: place + 1], resume, end=cut + OVERLAP, closed=True, following=Resume(cut, cut=True))
        following = spans[place + 1] if place + 1 < len(spans) else None
        pause = (heard if following is None else following.start) - span.end
        if _closes(span.end - begin, pause, following, begin=begin, limits=limits):
            end = span.end + min(TRAIL, pause / 2)
            return _window(spans[: place + 1], resume, end=end, closed=True, following=Resume(end))
        if following is None and (ended or pause >= PAUSE):
            end = span.end + min(TRAIL, max(0.0, pause))
            return _window(spans, resume, end=end, closed=False, following=Resume(end))
    return None


def _closes(length: float, pause: float, following: Span | None, *, begin: float, limits: Limits) -> bool:
    if pause >= LONG_PAUSE or (length >= limits.enough and pause >= PAUSE):
        return True
    return following is not None and following.end - begin > limits.most and length >= limits.enough / 2


def _window(spans: Sequence[Span], resume: Resume, *, end: float, closed: bool, following: Resume) -> Window:
    start = resume.seconds - OVERLAP if resume.cut else max(resume.seconds, spans[0].start - LEAD)
    speech = [Span(span.start, min(span.end, end)) for span in spans]
    if resume.cut:
        speech[0] = Span(max(0.0, start), speech[0].end)
    return Window(max(0.0, start), end, tuple(speech), closed, following)
