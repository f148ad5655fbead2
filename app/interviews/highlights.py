"""The highlights of an interview: up to a minute of short clips, each with the quote that supports a score. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.interviews.analysis.alignment import plain

MOST_SECONDS = 60.0
MOST_CLIPS = 8
LONGEST = 20.0
SHORTEST = 4.0
MARGIN = 0.3
LONGEST_TEXT = 280


@dataclass(frozen=True, slots=True)
class Clip:
    """One clip: words of segment ``segment``, and why it was chosen (a score's name, or a question).

    ``start`` and ``end`` are seconds of the recording; None where the words' times were not measured.
    """

    segment: int
    text: str
    why: str
    start: float | None = None
    end: float | None = None

    @property
    def seconds(self) -> float:
        """Length in seconds; 0 without times."""
        return self.end - self.start if self.start is not None and self.end is not None else 0.0


def reel_of(
    result: Mapping[str, Any], scores: Mapping[str, Any] | None, evidence: Mapping[str, Any] | None
) -> list[Clip]:
    """At most a minute, in order of time: quotes that support scores, else the start of the longest answers.

    ``result`` is what the interview's page shows; ``evidence`` is stored with the scores.
    """
    segments = result["transcript_with_timestamp"]
    chosen = _within_a_minute(_quoted(segments, scores or {}, (evidence or {}).get("scores", {})))
    if not chosen:
        chosen = _within_a_minute(_beginnings(result, obeyed=obeyed_in(evidence)))
    return sorted(chosen, key=lambda clip: (clip.segment, clip.start or 0.0))


def _quoted(segments: Sequence[Mapping[str, Any]], scores: Mapping[str, Any], why: Mapping[str, Any]) -> list[Clip]:
    """Every quote of every assessed score: first the best one of each score, then the others."""
    judged = [(name, how.get("quotes") or []) for name, how in why.items() if scores.get(name) is not None]
    deepest = max((len(quotes) for _name, quotes in judged), default=0)
    clips: list[Clip] = []
    for place in range(deepest):
        for name, quotes in judged:
            if place >= len(quotes):
                continue
            at, text = quotes[place]["segment_index"], quotes[place]["text"]
            is_duplicate = any(clip.segment == at and clip.text == _short(text) for clip in clips)
            if 0 <= at < len(segments) and not is_duplicate:
                clips.append(_clip(segments[at], at, text, why=name))
    return clips


def obeyed_in(evidence: Mapping[str, Any] | None) -> frozenset[int]:
    """Indices of the segments that were addressed to the agent."""
    return frozenset(((evidence or {}).get("speech") or {}).get("obeyed") or ())


def _beginnings(result: Mapping[str, Any], *, obeyed: frozenset[int]) -> list[Clip]:
    """The first words of each question's longest answer, the longest answers first."""
    segments = result["transcript_with_timestamp"]
    answers = []
    for chapter in result["questions_to_transcript_mapping"]:
        places = [at for at in chapter["transcript_item_indices"] if at not in obeyed]
        mine = [at for at in places if segments[at]["role"] == "user"]
        if mine:
            best = max(mine, key=lambda at: len(segments[at]["content"]))
            answers.append((len(segments[best]["content"]), best, chapter["script_question"]))
    chosen = sorted(answers, reverse=True)[:MOST_CLIPS]
    share = MOST_SECONDS / max(len(chosen), 1)
    return [_beginning(segments[at], at, why=question, seconds=min(share, LONGEST)) for _length, at, question in chosen]


def _beginning(segment: Mapping[str, Any], at: int, *, why: str, seconds: float) -> Clip:
    words = segment["shown"]
    if not words:
        return Clip(at, _short(segment["content"]), why)
    start = max(words[0][1] - MARGIN, 0.0)
    heard = [word for word in words if word[2] <= start + seconds] or words[:1]
    text = " ".join(word[0] for word in heard if word[0])
    return Clip(at, _short(text + (" …" if len(heard) < len(words) else "")), why, start, heard[-1][2])


def _clip(segment: Mapping[str, Any], at: int, text: str, *, why: str) -> Clip:
    words = segment["shown"]
    place = place_of([word[0] for word in words], text)
    if place is None:
        return Clip(at, _short(text), why)
    first, last = place
    start = max(words[first][1] - MARGIN, 0.0)
    while last + 1 < len(words) and words[last][2] - start < SHORTEST:
        last += 1
    end = min(words[last][2] + MARGIN, start + LONGEST)
    return Clip(at, _short(text), why, start, end)


def place_of(words: Sequence[str], text: str) -> tuple[int, int] | None:
    """First and last index of the quote among the segment's words, ignoring punctuation; None if it is not there."""
    spoken = [(at, piece) for at, word in enumerate(words) for piece in map(plain, word.split()) if piece]
    wanted = [piece for piece in map(plain, text.split()) if piece]
    if not wanted:
        return None
    for begin in range(len(spoken) - len(wanted) + 1):
        part = spoken[begin : begin + len(wanted)]
        if [piece for _at, piece in part] == wanted:
            return part[0][0], part[-1][0]
    return None


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 2].rsplit(" ", 1)[0] + " …"


def _within_a_minute(clips: Sequence[Clip]) -> list[Clip]:
    chosen: list[Clip] = []
    left = MOST_SECONDS
    for clip in clips:
        if len(chosen) < MOST_CLIPS and clip.seconds <= left and not any(_overlap(clip, other) for other in chosen):
            chosen.append(clip)
            left -= clip.seconds
    return chosen


def _overlap(one: Clip, other: Clip) -> bool:
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return one.start < other.end and other.start < one.end
