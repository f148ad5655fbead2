"""One interview as its page shows it, as plain values that no longer need the database.

Callers have already checked access to the interview.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from app.accounts.models import TeamMember
from app.candidate_requests.models import RequestState
from app.candidate_requests.queries import marks_of
from app.candidates.overall import explained, overall
from app.core import clock
from app.flows.criteria import Criterion, in_words
from app.flows.flow_script import FlowScript
from app.interviews import quality
from app.interviews.actions import result_of
from app.interviews.highlights import place_of
from app.interviews.models import Interview, InterviewData
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import is_revoked, recording_of
from app.outreach.messages.queries import messages_about
from app.review.notes.queries import notes_of
from app.review.rate_first.queries import HiddenResult, reveals_of, shown_result
from app.review.ratings.models import COMPETENCES, OVERALL
from app.review.ratings.queries import answer_ratings_of, can_be_rated, hidden_raters, scorecard_of

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
    data = shown_result(interview, by)
    evidence = (data.evidence if data else None) or {}
    is_hidden = isinstance(data, HiddenResult)
    rated = {} if is_withheld else _answer_ratings(interview, by)
    return {
        "exported_at": clock.now(),
        "exported_by": _name(by),
        "note": NOTE,
        **_facts(interview),
        "is_withheld": is_withheld,
        "scores_hidden": is_hidden,
        "recording": _recording(interview, is_withheld=is_withheld),
        "summary": _summary(data, evidence) if data else None,
        **_overall(data),
        "scores": _scores(data, segments, evidence.get("scores", {})) if isinstance(data, InterviewData) else [],
        "scorecard": [] if is_withheld else _scorecard(interview, by),
        "ratings_hidden": 0 if is_withheld else hidden_raters(interview, reader=by),
        "scores_shown_unrated": [] if is_withheld else _reveals(interview),
        "notes": [] if is_withheld else _notes(interview),
        "messages": _messages(interview),
        "answers": [
            {**_answer(chapter), "ratings": rated.get(number, [])}
            for number, chapter in enumerate(result.get("questions_to_transcript_mapping", []), 1)
        ],
        "transcript": _transcript(segments, _corrections(interview)),
        "passed_on": [turn.heard_text for turn in interview.turns if turn.reply_kind == "pass_on" and turn.heard_text],
        "quality": quality.shown(interview),
    }


def _overall(data: InterviewData | HiddenResult | None) -> dict[str, Any]:
    if not isinstance(data, InterviewData):
        return {"overall": None, "overall_explained": ""}
    score = overall(data.scores, data.own_criteria)
    return {"overall": score, "overall_explained": explained(score, data.own_criteria)}


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
            "phone": candidate.phone if candidate else None,
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
        "documents": _documents(interview),
        "said_no_cv_at": interview.no_cv_at,
        "feedback": {"rating": feedback.rating, "comment": feedback.comment} if feedback else None,
    }


def _documents(interview: Interview) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "content_type": one.content_type, "bytes": one.size, "added_at": one.created_at}
        for one in interview.documents
    ]


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


def _reveals(interview: Interview) -> list[dict[str, Any]]:
    return [{"name": _name(one.member), "at": one.at} for one in reveals_of(interview)]


def _summary(data: InterviewData | HiddenResult, evidence: Mapping[str, Any]) -> dict[str, Any] | None:
    if not data.summary:
        return None
    speech = evidence.get("speech", {})
    answers = {name: speech.get(name, 0) for name in ("answers", "typed")}
    return {"text": data.summary, "source": evidence.get("summary", {}).get("source"), "answers": answers}


def _scores(
    data: InterviewData, segments: Sequence[Mapping[str, Any]], evidence: Mapping[str, Any]
) -> list[dict[str, Any]]:
    values = data.scores or {}
    own = {one.key: one for one in data.own_criteria}
    labels = {**{key: one.name for key, one in own.items()}, **COMPETENCES}
    return [
        {
            "competence": name,
            "label": label,
            **_score(values.get(name), segments, how=evidence.get(name) or {}, criterion=own.get(name)),
        }
        for name, label in labels.items()
        if name != OVERALL
    ]


def _score(
    value: float | None, segments: Sequence[Mapping[str, Any]], *, how: Mapping[str, Any], criterion: Criterion | None
) -> dict[str, Any]:
    quotes = [] if value is None else how.get("quotes") or []
    return {
        "criterion": criterion,
        "score": value,
        "shown": None if value is None else in_words(value, criterion),
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
                {
                    "name": _name(one.member),
                    "rating": one.value,
                    "shown": None if one.value is None else in_words(one.value, row.criterion),
                    "comment": one.comment,
                    "reason_for_difference": None if row.is_hidden else one.reason,
                    "changed_at": one.changed_at,
                }
                for one in row.people
            ],
        }
        for row in scorecard_of(interview, reader=reader)
        if row.people
    ]


def _answer_ratings(interview: Interview, reader: TeamMember) -> dict[int, list[dict[str, Any]]]:
    found = answer_ratings_of(interview, reader=reader)
    return {
        number: [{"name": _name(one.member), "rating": one.value} for one in rows] for number, rows in found.items()
    }


def _notes(interview: Interview) -> list[dict[str, Any]]:
    return [
        {"name": _name(one.member), "text": one.text, "written_at": one.created_at, "edited_at": one.edited_at}
        for one in notes_of(interview)
    ]


def _messages(interview: Interview) -> list[dict[str, Any]]:
    return [
        {
            "name": _name(one.by),
            "subject": one.subject,
            "text": one.text,
            "written_at": one.created_at,
            "delivery": one.letter.state.value,
        }
        for one in messages_about(interview.id)
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
