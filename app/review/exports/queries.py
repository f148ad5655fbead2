"""One interview as its page shows it, as plain values that no longer need the database.

Callers have already checked access to the interview.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from app.accounts.models import TeamMember
from app.candidate_requests.models import RequestState
from app.candidate_requests.queries import marks_of
from app.candidates.overall import overall
from app.core import clock
from app.flows.flow_script import FlowScript
from app.interviews import quality
from app.interviews.actions import result_of
from app.interviews.highlights import place_of
from app.interviews.models import Interview
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import is_revoked, recording_of
from app.review.notes.queries import notes_of
from app.review.ratings.models import COMPETENCES, OVERALL
from app.review.ratings.queries import can_be_rated, hidden_raters, scorecard_of

NOTE = (
    "Scores and summary are AI-generated. They support a person's decision and never replace it: "
    "read the quotes, and listen before you decide."
)
ERASED = "This interview was erased, so there is nothing to export."
NO_RESULT = "There is no result yet. You can export the interview when it is completed."
UNTIMED = "Captions need word times, and this interview has none: it was typed, or the engine did not measure them."


def lacking(interview: Interview) -> str | None:
    """Why the interview cannot be exported; None when it can."""
    if interview.erased_at is not None:
        return ERASED
    return None if interview.data is not None else NO_RESULT


def export_of(interview: Interview, *, by: TeamMember) -> dict[str, Any]:
    """The interview as recruiters may see it: without scores, ratings and recordings after consent was withdrawn."""
    result: dict[str, Any] = result_of(interview) or {}
    segments: list[dict[str, Any]] = result.get("transcript_with_timestamp", [])
    is_withheld = not can_be_rated(interview)
    evidence = {} if is_withheld or interview.data is None else interview.data.evidence or {}
    return {
        "exported_at": clock.now(),
        "exported_by": _name(by),
        "note": NOTE,
        **_facts(interview),
        "is_withheld": is_withheld,
        "recording": _recording(interview, is_withheld=is_withheld),
        "summary": None if is_withheld else _summary(interview, evidence),
        "overall": None if is_withheld or interview.data is None else overall(interview.data.scores),
        "scores": [] if is_withheld else _scores(interview, segments, evidence.get("scores", {})),
        "scorecard": [] if is_withheld else _scorecard(interview, by),
        "ratings_hidden": 0 if is_withheld else hidden_raters(interview, reader=by),
        "notes": [] if is_withheld else _notes(interview),
        "answers": [_answer(chapter) for chapter in result.get("questions_to_transcript_mapping", [])],
        "transcript": _transcript(segments, _corrections(interview)),
        "passed_on": [turn.heard_text for turn in interview.turns if turn.reply_kind == "pass_on" and turn.heard_text],
        "quality": quality.shown(interview),
    }


def _facts(interview: Interview) -> dict[str, Any]:
    script = interview.script or FlowScript.of(interview.flow)
    recruiter, candidate, feedback = interview.assigned_recruiter, interview.candidate, interview.feedback
    return {
        "interview": {
            "id": interview.id,
            "status": interview.status.value,
            "without_recording": interview.without_recording,
            "created_at": interview.created_at,
            "started_at": interview.started_at,
            "submitted_at": interview.submitted_at,
            "completed_at": interview.completed_at,
        },
        "flow": {
            "id": interview.flow_id,
            "title": script.title,
            "organization": script.org_name,
            "language": script.language,
            "questions": script.questions,
        },
        "candidate": {
            "email_address": interview.interviewee_email_address,
            "first_name": interview.interviewee_first_name,
            "last_name": interview.interviewee_last_name,
            "status": candidate.status if candidate else None,
        },
        "recruiter": _name(recruiter) if recruiter else None,
        "consents": [
            {
                "agreed_at": one.agreed_at,
                "text_version": one.text_version,
                "locale": one.locale,
                "mode": one.mode.value,
                "text": one.shown,
            }
            for one in interview.agreements
        ],
        "consent_withdrawn_at": interview.withdrawn_at,
        "documents": [
            {"name": one.name, "content_type": one.content_type, "bytes": one.size, "added_at": one.created_at}
            for one in interview.documents
        ],
        "feedback": {"rating": feedback.rating, "comment": feedback.comment} if feedback else None,
    }


def _name(member: TeamMember) -> str:
    return member.full_name or member.email


def _recording(interview: Interview, *, is_withheld: bool) -> dict[str, Any]:
    files = {} if is_withheld else {media: recording_of(interview.id, media) for media in Media}
    sound = files.get(Media.VIDEO) or files.get(Media.AUDIO)
    return {
        "audio": files.get(Media.AUDIO) is not None,
        "video": files.get(Media.VIDEO) is not None,
        "seconds": sound.duration if sound else None,
        "deleted": is_revoked(interview.id),
    }


def _summary(interview: Interview, evidence: Mapping[str, Any]) -> dict[str, Any] | None:
    text = interview.data.summary if interview.data else None
    if not text:
        return None
    speech = evidence.get("speech", {})
    answers = {name: speech.get(name, 0) for name in ("answers", "typed")}
    return {"text": text, "source": evidence.get("summary", {}).get("source"), "answers": answers}


def _scores(
    interview: Interview, segments: Sequence[Mapping[str, Any]], evidence: Mapping[str, Any]
) -> list[dict[str, Any]]:
    values = (interview.data.scores if interview.data else None) or {}
    return [
        _score(name, values.get(name), segments, how=evidence.get(name) or {})
        for name in COMPETENCES
        if name != OVERALL
    ]


def _score(
    name: str, value: float | None, segments: Sequence[Mapping[str, Any]], *, how: Mapping[str, Any]
) -> dict[str, Any]:
    quotes = [] if value is None else how.get("quotes") or []
    return {
        "competence": name,
        "label": COMPETENCES[name],
        "score": value,
        "is_assessed": value is not None,
        "method": how.get("method"),
        "source": how.get("source"),
        "reason": how.get("reason"),
        "rounds": how.get("rounds") or [],
        "is_unstable": value is not None and bool(how.get("is_unstable")),
        "quotes": [
            {
                "text": quote["text"],
                "segment": quote["segment_index"],
                "at": _second(segments, quote["segment_index"], quote["text"]),
            }
            for quote in quotes
        ],
    }


def _second(segments: Sequence[Mapping[str, Any]], at: int, text: str) -> float | None:
    """Start of the quote in seconds of the recording; that of its segment if the words are not found in it."""
    words = segments[at]["shown"] if 0 <= at < len(segments) else []
    place = place_of([word[0] for word in words], text)
    return words[place[0] if place else 0][1] if words else None


def _scorecard(interview: Interview, reader: TeamMember) -> list[dict[str, Any]]:
    return [
        {
            "competence": row.competence,
            "label": row.label,
            "mean": row.mean,
            "people": [
                {"name": _name(one.member), "rating": one.value, "comment": one.comment, "changed_at": one.changed_at}
                for one in row.people
            ],
        }
        for row in scorecard_of(interview, reader=reader)
        if row.people
    ]


def _notes(interview: Interview) -> list[dict[str, Any]]:
    return [
        {"name": _name(one.member), "text": one.text, "written_at": one.created_at, "edited_at": one.edited_at}
        for one in notes_of(interview)
    ]


def _answer(chapter: Mapping[str, Any]) -> dict[str, Any]:
    places = chapter["transcript_item_indices"]
    return {
        "question": chapter["script_question"],
        "is_reached": bool(places),
        "segments": places,
        "start": chapter["start_timestamp"] if places else None,
        "end": chapter["end_timestamp"] if places else None,
    }


def _corrections(interview: Interview) -> dict[int, list[dict[str, Any]]]:
    """The candidate's corrections by segment, accepted or not."""
    by_segment: dict[int, dict[str, dict[str, Any]]] = {}
    for (segment, _word), candidate_request in sorted(marks_of(interview.candidate_requests).items()):
        by_segment.setdefault(segment, {})[candidate_request.id] = {
            "first": int(candidate_request.details["first"]),
            "last": int(candidate_request.details["last"]),
            "suggestion": candidate_request.details["suggestion"],
            "is_accepted": candidate_request.state in {RequestState.GRANTED, RequestState.DONE},
        }
    return {segment: list(ones.values()) for segment, ones in by_segment.items()}


def _transcript(
    segments: Sequence[Mapping[str, Any]], corrections: Mapping[int, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    return [
        {
            "role": one["role"],
            "content": one["content"],
            "start": one["shown"][0][1] if one["shown"] else None,
            "end": one["shown"][-1][2] if one["shown"] else None,
            "words": [{"word": word, "start": start, "end": end} for word, start, end in one["shown"] if word],
            "corrections": [
                {"words": " ".join(one["texts"][mark["first"] : mark["last"] + 1]), **mark}
                for mark in corrections.get(at, [])
            ],
        }
        for at, one in enumerate(segments)
    ]
