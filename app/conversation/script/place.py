"""The place of an interview in its script."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Phase(StrEnum):
    """Where the talk stands."""

    INTRO = "intro"
    QUESTION = "question"
    OUTRO = "outro"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Place:
    """A position in the script, complete: with it and the script alone the talk can go on anywhere.

    ``asked`` are the follow-ups put to the open question, ``said`` everything answered to it so far,
    ``silences`` how often in a row nothing was heard, ``asides`` how often the agent turned away from the question;
    ``stopping``: the candidate was asked whether the interview is to end. ``heard`` is the share of the question's
    sound that was heard at best (None: not reported, then all of it), ``again`` whether it was put again because
    that was too little. ``began`` is the beginning of a reply whose rest is to come: kind and words. ``former`` is the
    place before the last answer, with that answer in ``said``: a candidate who only paused for breath may go on there.
    It is not part of the present position.

    ``earlier`` is what was said before the open line (the question, or its last follow-up) was put, ``opened`` the turn
    whose reply put it. ``retake``: an answer to the question is said again, the one that was given after this number of
    follow-ups.
    """

    phase: Phase = Phase.INTRO
    question: int = 0
    asked: tuple[str, ...] = ()
    said: str = ""
    silences: int = 0
    asides: int = 0
    stopping: bool = False
    heard: float | None = None
    again: bool = False
    began: tuple[str, str] | None = None
    earlier: str = ""
    opened: int | None = None
    retake: int | None = None
    former: Mapping[str, Any] | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """As a row keeps it."""
        return {**asdict(self), "phase": self.phase.value, "asked": list(self.asked), "began": list(self.began or ())}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Place":
        """Back from the row."""
        return cls(
            phase=Phase(stored["phase"]),
            question=stored["question"],
            asked=tuple(stored["asked"]),
            said=stored["said"],
            silences=stored["silences"],
            asides=stored.get("asides", 0),
            stopping=stored.get("stopping", False),
            heard=stored.get("heard"),
            again=stored.get("again", False),
            began=tuple(stored.get("began") or ()) or None,
            earlier=stored.get("earlier", ""),
            opened=stored.get("opened"),
            retake=stored.get("retake"),
            former=stored.get("former"),
        )

    @property
    def question_index(self) -> int | None:
        """The open script question; None outside of the questions."""
        return self.question if self.phase is Phase.QUESTION else None

    @property
    def is_retake(self) -> bool:
        """Whether what is said now takes the place of an earlier answer."""
        return self.retake == len(self.asked)
