"""Actions on an organization's own templates and its question bank. Audited, without the words of questions."""

import enum
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.actions import write_audit
from app.accounts.models import Team, TeamMember
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.criteria import from_json
from app.flows.forbidden_topics import check
from app.flows.library.models import (
    LONGEST_NAME,
    LONGEST_NOTE,
    LONGEST_TAG,
    MOST_QUESTIONS_KEPT,
    MOST_TAGS,
    MOST_TEMPLATES,
    BankQuestion,
    FlowTemplate,
)
from app.flows.library.queries import fingerprint_of
from app.flows.models import LONGEST, InterviewFlow, InterviewType
from app.flows.overrules import LONGEST_REASON
from app.flows.queries import criteria_of
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE, LANGUAGES
from app.web.fields import flaw_of

_NOT_KEPT = frozenset(
    {
        "id",
        "organization_id",
        "team_id",
        "status",
        "created_at",
        "changed_at",
        "company_logo_url",
        "logo_key",
        "preamble_video_url",
        "preamble_video_key",
        "preamble_video_type",
        "webhook_url",
        "webhook_secret_sealed",
        "criteria_number",
        "speech_state",
        "spoken_with",
        "is_narrowed",
        "lease_until",
        "fence",
        "recoveries",
    }
)
"""Columns of a flow that its template does not have: whose it is, its files, where its events go, its work."""
ALREADY = "This question is already in this team's question bank."


@dataclass(frozen=True, slots=True)
class Wording:
    """A bank question as someone enters it. ``reason``: why it is kept although it asks about a forbidden topic."""

    text: str
    language: str = DEFAULT_LANGUAGE
    tags: str = ""
    note: str = ""
    reason: str = ""


class AsksAboutTopic(Rejected):
    """The question asks about a forbidden topic, and no reason was given."""


def kept(flow: InterviewFlow) -> dict[str, Any]:
    """What a template keeps of a flow: its columns by name and its own criteria, as values that JSON can hold."""
    columns = [column.key for column in InterviewFlow.__mapper__.column_attrs if column.key not in _NOT_KEPT]
    values = {name: getattr(flow, name) for name in columns}
    plain = {name: value.value if isinstance(value, enum.Enum) else value for name, value in values.items()}
    return {**plain, "criteria": [asdict(one) for one in criteria_of(flow)]}


def values_of(template: FlowTemplate) -> dict[str, Any]:
    """The values of a new flow, with its own criteria. Columns that this release does not know are left out."""
    columns = {column.key for column in InterviewFlow.__mapper__.column_attrs} - _NOT_KEPT
    values = {name: value for name, value in template.values.items() if name in columns}
    kind = values.get("interview_type")
    criteria = from_json(template.values.get("criteria", ()))
    return {**values, "interview_type": InterviewType(kind) if kind else None, "criteria": criteria}


def save_template(flow: InterviewFlow, name: str, *, by: TeamMember) -> FlowTemplate:
    """Keep the flow's settings under ``name``, for its team. Raises Rejected for a bad or taken name."""
    count = sa.select(sa.func.count(FlowTemplate.id)).where(FlowTemplate.team_id == flow.team_id)
    if (db.session.scalar(count) or 0) >= MOST_TEMPLATES:
        raise Rejected(f"A team can have at most {MOST_TEMPLATES} templates. Delete one first.", field="name")
    template = FlowTemplate(
        organization_id=flow.organization_id,
        team_id=flow.team_id,
        by_id=by.id,
        name=_free_name(flow.team_id, name),
        values=kept(flow),
    )
    _save(template, Conflict("Someone else has just saved a template with this name. Choose another name."))
    _note(template, "flow.template_saved", by=by, flow=flow.id)
    return template


def rename_template(template: FlowTemplate, name: str, *, by: TeamMember) -> None:
    """Raises Rejected for a bad or taken name."""
    chosen = _free_name(template.team_id, name, but=template.id)
    if chosen == template.name:
        return
    template.name = chosen
    _save(template, Conflict("Someone else has just saved a template with this name. Choose another name."))
    _note(template, "flow.template_renamed", by=by)


def delete_template(template: FlowTemplate, *, by: TeamMember) -> None:
    """Flows that were started from it stay as they are."""
    db.session.delete(template)
    db.session.flush()
    _note(template, "flow.template_deleted", by=by)


def keep_question(team: Team, wording: Wording, *, by: TeamMember) -> BankQuestion:
    """Add a question to the team's bank. Raises Conflict if it is there already, AsksAboutTopic, Rejected."""
    count = sa.select(sa.func.count(BankQuestion.id)).where(BankQuestion.team_id == team.id)
    if (db.session.scalar(count) or 0) >= MOST_QUESTIONS_KEPT:
        raise Rejected(f"A team's question bank can have at most {MOST_QUESTIONS_KEPT} questions. Delete some first.")
    question = BankQuestion(organization_id=team.organization_id, team_id=team.id, team=team, by_id=by.id)
    topics = _write(question, wording)
    _save(question, Conflict(ALREADY))
    _note(question, "flow.question_kept", by=by, **topics)
    return question


def change_question(question: BankQuestion, wording: Wording, *, by: TeamMember) -> None:
    """Flows that use the question keep its old words. Raises as ``keep_question``."""
    topics = _write(question, wording)
    question.changed_at = clock.now()
    _save(question, Conflict(ALREADY))
    _note(question, "flow.question_changed", by=by, **topics)


def delete_question(question: BankQuestion, *, by: TeamMember) -> None:
    """Flows that use the question keep it."""
    db.session.delete(question)
    db.session.flush()
    _note(question, "flow.question_deleted", by=by)


def keep_all(
    team: Team, texts: Iterable[str], *, language: str | None, tags: str, by: TeamMember, reasons: dict[str, str]
) -> tuple[int, int]:
    """Add several questions. Returns how many were added, and how many were in the bank already. Raises Rejected."""
    added = there = 0
    for text in texts:
        try:
            wording = Wording(text, language or DEFAULT_LANGUAGE, tags, reason=reasons.get(text, ""))
            keep_question(team, wording, by=by)
            added += 1
        except Conflict:
            there += 1
    return added, there


def _write(question: BankQuestion, wording: Wording) -> dict[str, Any]:
    """Set the words. Returns the forbidden topics that a reason overrules, for the audit log."""
    text = _checked(wording.text, "text", what="The question", most=LONGEST["questions"])
    if not text:
        raise Rejected("Enter the question.", field="text")
    if wording.language not in LANGUAGES:
        raise Rejected("Choose a language from the list.", field="language")
    mark = fingerprint_of(text)
    same = sa.select(BankQuestion.id).where(BankQuestion.team_id == question.team_id, BankQuestion.fingerprint == mark)
    with db.session.no_autoflush:
        other = db.session.scalar(same)
    if other is not None and other != question.id:
        raise Conflict(ALREADY)
    tags = _tags(wording.tags)
    note = _checked(wording.note, "note", what="The note", most=LONGEST_NOTE) or None
    reason = _checked(wording.reason, "reason", what="The reason", most=LONGEST_REASON)
    topics = [found.topic.name for found in check(text, wording.language)]
    if topics and not reason:
        raise AsksAboutTopic(
            f"This question asks about {' and about '.join(topics)}. Change the question, or give a reason to keep it.",
            field="reason",
        )
    question.text, question.fingerprint, question.language, question.tag_words = text, mark, wording.language, tags
    question.note, question.overruled = note, reason if topics else None
    return {"topics": topics} if topics else {}


def _tags(typed: str) -> str:
    words = sorted({" ".join(word.split()).lower() for word in typed.split(",") if word.strip()})
    if len(words) > MOST_TAGS:
        raise Rejected(f"A question can have at most {MOST_TAGS} tags. You entered {len(words)}.", field="tags")
    for word in words:
        _checked(word, "tags", what=f"The tag “{word[:LONGEST_TAG]}…”", most=LONGEST_TAG)
    return ",".join(words)


def _checked(text: str, field: str, *, what: str, most: int) -> str:
    words = text.replace("\r\n", "\n").strip()
    if flaw := flaw_of(words):
        raise Rejected(flaw, field=field)
    if len(words) > most:
        raise Rejected(f"{what} has {len(words):,} characters. The maximum is {most:,}.", field=field)
    return words


def _free_name(team_id: str, typed: str, *, but: str = "") -> str:
    name = " ".join(_checked(typed, "name", what="The name", most=LONGEST_NAME).split())
    if not name:
        raise Rejected("Enter a name for the template.", field="name")
    others = sa.select(FlowTemplate.name).where(FlowTemplate.team_id == team_id, FlowTemplate.id != but)
    if name.casefold() in {other.casefold() for other in db.session.scalars(others)}:
        raise Rejected(f"This team already has a template called “{name}”. Choose another name.", field="name")
    return name


def _save(row: FlowTemplate | BankQuestion, taken: Conflict) -> None:
    try:
        with db.session.begin_nested():
            db.session.add(row)
            db.session.flush()
    except IntegrityError:  # two members at the same moment
        raise taken from None


def _note(row: FlowTemplate | BankQuestion, action: str, *, by: TeamMember, **details: Any) -> None:
    write_audit(by.organization, action=action, subject=row.id, by=by, details={"team": row.team_id, **details})
