"""What the demo verifies: each promise is printed with its outcome."""

from dataclasses import dataclass, field
from typing import Any

import requests

from app.operations.demo.answers import ANSWERS
from app.operations.demo.receiver import Received

SECRET = "demo-secret-of-at-least-32-characters"
EVENTS = ["candidate_status_updated", "interview_processed"]
SPOKEN_EVENTS = [*EVENTS, "video_processed"]


@dataclass
class Checks:
    """The promises, and which of them were not kept."""

    failed: list[str] = field(default_factory=list)

    def hold(self, promise: str, is_kept: bool) -> None:  # noqa: FBT001 - read as a sentence
        """Print one promise with its outcome."""
        print(f"  {'ok  ' if is_kept else 'FAIL'}  {promise}")
        if not is_kept:
            self.failed.append(promise)


def check_result(checks: Checks, interview: dict[str, Any], *, is_spoken: bool) -> None:
    """A typed interview has neither word times nor recordings, and every word of it is the candidate's."""
    checks.hold("the interview is completed", interview["status"] == "completed")
    data = interview["interview_data"] or {}
    segments = data.get("transcript_with_timestamp", [])
    answers = [segment for segment in segments if segment["role"] == "user"]
    checks.hold(
        "all answers are in the transcript", len(answers) >= len(ANSWERS) and all(a["content"] for a in answers)
    )
    mapped = [item["script_question"] for item in data.get("questions_to_transcript_mapping", [])]
    checks.hold("every script question is mapped, in order", mapped == list(ANSWERS))
    checks.hold("there is a summary", bool(data.get("summary")))
    if is_spoken:
        _check_sound(checks, data, segments=segments, answers=answers)
    else:
        typed = [answer["content"] for answer in answers]
        checks.hold("every answer is in the transcript as it was typed", typed == list(ANSWERS.values()))


def _check_sound(
    checks: Checks, data: dict[str, Any], *, segments: list[dict[str, Any]], answers: list[dict[str, Any]]
) -> None:
    times = [word[edge] for segment in segments for word in segment["words"] for edge in ("start", "end")]
    checks.hold("word times never run backwards", bool(times) and times == sorted(times))
    checks.hold("more than half of the words were recognised", _recognised(answers) > 0.5)
    scores = data.get("scores") or {}
    checks.hold("pace and fluency are scored from word times", scores.get("language_fluency_and_pace") is not None)
    for kind in ("audio_url", "video_url"):
        checks.hold(f"{kind} plays, and seeks", _seeks(data.get(kind)))


def _recognised(answers: list[dict[str, Any]]) -> float:
    """Share of the spoken words that were recognised, in any order."""
    heard = " ".join(answer["content"] for answer in answers).lower().split()
    wanted = " ".join(ANSWERS.values()).lower().replace(".", "").split()
    return sum(word in heard for word in wanted) / len(wanted)


def _seeks(url: str | None) -> bool:
    if not url:
        return False
    part = requests.get(url, headers={"Range": "bytes=100-199"}, timeout=30)
    return part.status_code == 206 and len(part.content) == 100


def check_events(checks: Checks, events: list[Received], *, expected: list[str], interview_id: str) -> None:
    kinds = [item.event["event_type"] for item in events]
    checks.hold(f"all {len(expected)} events arrived, each once", sorted(kinds) == sorted(expected))
    checks.hold("every event is signed with the flow's secret", all(item.is_signed_with(SECRET) for item in events))
    tampered = [Received(item.body + b" ", item.headers, item.at) for item in events]
    checks.hold("a changed body fails verification", not any(item.is_signed_with(SECRET) for item in tampered))
    about = [item.event["event_type"] for item in events if item.event.get("interview_id") == interview_id]
    if "video_processed" in expected:
        in_order = about == ["interview_processed", "video_processed"]
        checks.hold("interview_processed came before video_processed", in_order)
