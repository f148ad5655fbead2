"""Reads of templates and bank questions, always for a member: those of their teams, or all for an administrator."""

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import Role, TeamMember
from app.accounts.queries import teams_seen_by
from app.core.db import contains, db, is_id, unseen
from app.core.errors import Forbidden, NotFound, Unseen
from app.flows.library.models import BankQuestion, FlowTemplate
from app.flows.models import FlowStatus, InterviewFlow
from app.flows.queries import reach

_MEANT = frozenset("#%&@/*")
"""Punctuation that is part of a word, as in C#."""


def _letter(sign: str) -> str:
    """The sign, or a space for punctuation and what is not printed. Vowel marks of Hindi or Thai are kept."""
    return sign if sign in _MEANT or unicodedata.category(sign)[0] not in "PZC" else " "


_ASCII = {code: _letter(chr(code)) for code in range(128)}
"""The same by code: most questions need no more, and a page compares those of every flow."""
Kept = TypeVar("Kept", FlowTemplate, BankQuestion)


@dataclass(frozen=True, slots=True)
class BankFilter:
    """Filter of the question bank. Every word of ``text`` is in the question, its tags or its note."""

    text: str = ""
    tag: str = ""
    language: str = ""


class Usage(NamedTuple):
    """A flow that asks a bank question."""

    flow_id: str
    title: str


def fingerprint_of(text: str) -> str:
    """Names a question by its letters: questions that differ only in case, spaces and punctuation have the same."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    letters = normal.translate(_ASCII) if normal.isascii() else "".join(map(_letter, normal))
    return hashlib.sha256((" ".join(letters.split()) or normal).encode()).hexdigest()


def templates_seen_by(member: TeamMember) -> Sequence[FlowTemplate]:
    """The templates of the member's teams, by name."""
    query = sa.select(FlowTemplate).where(*_own(member, FlowTemplate)).options(joinedload(FlowTemplate.team))
    return db.session.scalars(query.order_by(sa.func.lower(FlowTemplate.name), FlowTemplate.id)).all()


def template_seen_by(member: TeamMember, template_id: str) -> FlowTemplate:
    """A template of the member's teams. Raises Unseen; administrators get NotFound or Forbidden."""
    return _seen(member, FlowTemplate, template_id, kind="template")


def question_seen_by(member: TeamMember, question_id: str) -> BankQuestion:
    """A bank question of the member's teams. Raises as ``template_seen_by``."""
    return _seen(member, BankQuestion, question_id, kind="question")


def questions_seen_by(member: TeamMember, filters: BankFilter, *, limit: int, offset: int) -> Sequence[BankQuestion]:
    """The bank questions of the member's teams, the newest first."""
    query = sa.select(BankQuestion).where(*_narrowed(member, filters)).options(joinedload(BankQuestion.team))
    return db.session.scalars(
        query.order_by(BankQuestion.created_at.desc(), BankQuestion.id).limit(limit).offset(offset)
    ).all()


def how_many_questions(member: TeamMember, filters: BankFilter) -> int:
    """How many bank questions the filter finds."""
    return db.session.scalar(sa.select(sa.func.count(BankQuestion.id)).where(*_narrowed(member, filters))) or 0


def questions_with(member: TeamMember, ids: Iterable[str]) -> list[BankQuestion]:
    """The bank questions with these ids that the member sees, in the order given. Unknown ids are left out."""
    wanted = [one for one in dict.fromkeys(ids) if is_id(one)]
    query = sa.select(BankQuestion).where(*_own(member, BankQuestion), BankQuestion.id.in_(wanted))
    found = {question.id: question for question in db.session.scalars(query)}
    return [found[one] for one in wanted if one in found]


def tags_of_bank(member: TeamMember) -> list[str]:
    """Every tag of the bank that the member sees, in alphabetical order."""
    rows = db.session.scalars(sa.select(BankQuestion.tag_words).where(*_own(member, BankQuestion)).distinct())
    return sorted({tag for words in rows for tag in words.split(",") if tag})


def kept_texts(team_id: str, texts: Iterable[str]) -> set[str]:
    """Those of ``texts`` that are in the team's bank already."""
    prints = {text: fingerprint_of(text) for text in texts}
    query = sa.select(BankQuestion.fingerprint).where(
        BankQuestion.team_id == team_id, BankQuestion.fingerprint.in_(set(prints.values()))
    )
    there = set(db.session.scalars(query))
    return {text for text, mark in prints.items() if mark in there}


def usage_of(member: TeamMember, questions: Collection[BankQuestion]) -> dict[str, list[Usage]]:
    """The flows that ask each question now, of those the member sees, by the question's id; archived ones not."""
    wanted = defaultdict(list)
    for question in questions:
        wanted[question.fingerprint].append(question.id)
    found: dict[str, list[Usage]] = defaultdict(list)
    flows = sa.select(InterviewFlow.id, InterviewFlow.title, InterviewFlow.questions).where(
        *reach(member, InterviewFlow), InterviewFlow.status != FlowStatus.ARCHIVED
    )
    for flow_id, title, texts in db.session.execute(flows.order_by(InterviewFlow.title)) if wanted else ():
        for mark in {fingerprint_of(text) for text in texts}:
            for question_id in wanted.get(mark, ()):
                found[question_id].append(Usage(flow_id, title))
    return found


def _own(member: TeamMember, rows: Any) -> list[sa.ColumnElement[bool]]:
    own = rows.organization_id == member.organization_id
    if member.role is Role.ADMIN:
        return [own]
    return [own, rows.team_id.in_([team.id for team in teams_seen_by(member)])]


def _narrowed(member: TeamMember, filters: BankFilter) -> list[sa.ColumnElement[bool]]:
    conditions = _own(member, BankQuestion)
    if filters.language:
        conditions.append(BankQuestion.language == filters.language)
    if filters.tag:
        framed = sa.literal(",") + BankQuestion.tag_words + sa.literal(",")
        conditions.append(framed.contains(f",{filters.tag},", autoescape=True))
    for word in filters.text.split():
        conditions.append(contains(word, BankQuestion.text, BankQuestion.tag_words, BankQuestion.note))
    return conditions


def _seen(member: TeamMember, model: type[Kept], row_id: str, *, kind: str) -> Kept:
    found = (
        db.session.scalar(sa.select(model).where(*_own(member, model), model.id == row_id)) if is_id(row_id) else None
    )
    if found is not None:
        return found
    if member.role is not Role.ADMIN:
        raise Unseen(kind)
    foreign = f"This {kind} belongs to another organization."
    there = db.session.get(model, row_id) if is_id(row_id) else None
    if there is not None:
        raise Forbidden(foreign)
    raise unseen(model, row_id, NotFound(f"There is no {kind} with this id."), foreign=foreign)
