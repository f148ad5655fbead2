"""An organization as recruiters have it after three years: candidates with interviews, scores, ratings, an audit log."""

import random
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa
from interviews import a_talk

from app.accounts import actions
from app.accounts.models import Organization, Role, Team, TeamMember, TeamMembership
from app.candidates.models import DEFAULT_STATUSES, Candidate, CandidateTag, StatusChange
from app.core.db import Moment, db, new_id
from app.flows.criteria import Criterion, Scale
from app.flows.models import FlowCriteria, InterviewFlow
from app.gateways.speech.ports import Quote
from app.interviews.analysis.scores import NAMES, Evidence
from app.interviews.models import Interview, InterviewData, InterviewStatus, Stage
from app.interviews.published_result import freeze_details, freeze_text
from app.interviews.transcript import as_text
from app.review.ratings.models import Assessment

AGE = timedelta(days=3 * 365)
AGAIN = 0.3
"""Share of candidates with a second interview, which is still open."""
LATER = timedelta(days=30)
RATED = 0.2
"""Share of interviews with a member's ratings."""
AUDIT_ROWS = 2_000_000
BATCH, AT_ONCE = 2_000, 100_000
CRITERIA = (
    Criterion(name="Customer focus", good="Names a customer and what they needed"),
    Criterion(name="Reliability", weight=2),
    Criterion(name="Learns quickly"),
    Criterion(name="Works in a team", weight=0),
    Criterion(name="Has a driving license", scale=Scale.YES_NO, must_have=True),
)


class Desk(NamedTuple):
    """``token`` is that of the administrator's session; the ids are of a candidate in the middle of the list."""

    token: str
    candidate_id: str
    second_id: str
    interview_id: str
    flow_id: str


def seed(count: int, *, audit_rows: int = AUDIT_ROWS) -> Desk:
    """An organization with ``count`` candidates in four flows with own criteria, committed."""
    organization, team, admin = _founded()
    flows = [_flow(organization, team, number=number) for number in range(4)]
    common = {"organization_id": organization.id, "team_id": team.id}
    chance, now = random.Random(7), datetime.now(UTC)
    each = [now - AGE * number / count for number in range(count)]
    people = [
        _candidate(common, flows[n % 4], number=n, chance=chance, at=each[n], recruiter=admin) for n in range(count)
    ]
    _insert(Candidate, people)
    moves = (
        {"candidate_id": one["id"], "previous": "invited", "new": one["status"], "at": one["interviewed_at"]}
        for one in people
    )
    _insert(StatusChange, [{**move, "id": new_id(), "number": 1, "by_id": None, "note": None} for move in moves])
    tagged = ({"candidate_id": one["id"], "name": "remote"} for one in people[::3])
    _insert(CandidateTag, [{**tag, "id": new_id(), "organization_id": organization.id} for tag in tagged])
    done = _interviews(people, common=common, chance=chance, now=now)
    _results(done, now=now)
    _ratings(done[:: round(1 / RATED)], organization.id, member=admin, now=now)
    organization.interview_seq = team.interview_seq = len(people) + round(len(people) * AGAIN)
    _audit(organization, admin, count=audit_rows)
    _login, token = actions.sign_in(admin, address="127.0.0.1", browser="bench")
    db.session.commit()
    middle = count // 2
    pair = (people[middle]["id"], people[middle + 4]["id"])
    return Desk(token, *pair, done[middle]["id"], people[middle]["flow_id"])


def _founded() -> tuple[Organization, Team, TeamMember]:
    organization = Organization(name="Bench")
    db.session.add(organization)
    db.session.flush()
    team = Team(organization_id=organization.id, name="Bench")
    admin = TeamMember(organization_id=organization.id, email="a@bench.example", role=Role.ADMIN, password_hash="x")
    db.session.add_all([team, admin])
    db.session.flush()
    db.session.add(TeamMembership(team_id=team.id, member_id=admin.id))
    return organization, team, admin


def _flow(organization: Organization, team: Team, *, number: int) -> InterviewFlow:
    common = {"organization_id": organization.id, "team_id": team.id, "org_name": "Bench"}
    flow = InterviewFlow(**common, title=f"Flow {number}", questions=["Why?", "What then?"], criteria_number=1)
    db.session.add(flow)
    db.session.flush()
    db.session.add(FlowCriteria(flow_id=flow.id, number=1, items=CRITERIA))
    db.session.flush()
    return flow


def _candidate(
    common: dict[str, Any],
    flow: InterviewFlow,
    *,
    number: int,
    chance: random.Random,
    at: datetime,
    recruiter: TeamMember,
) -> dict[str, Any]:
    return {
        **common,
        "id": new_id(),
        "flow_id": flow.id,
        "email": f"p{number}@bench.example",
        "address": f"p{number}@bench.example",
        "first_name": chance.choice(("Ann", "Ben", "Cleo", "Dan")),
        "last_name": f"Name{number}",
        "status": chance.choice(DEFAULT_STATUSES),
        "status_changes": 1,
        "assigned_recruiter_id": recruiter.id,
        "created_at": at,
        "score": chance.choice((1.5, 2.5, 3.5, 4.5)),
        "interviewed_at": at + timedelta(hours=1),
        "reviewed_at": None if number % 50 == 0 else at + timedelta(days=1),
    }


def _interviews(
    people: list[dict[str, Any]], *, common: dict[str, Any], chance: random.Random, now: datetime
) -> list[dict[str, Any]]:
    """One completed interview for each candidate, and for some an open one a month later, in the order of creation.

    Returns the completed ones in the order of ``people``.
    """
    rows = []
    again = [(min(one["created_at"] + LATER, now), one) for one in chance.sample(people, round(len(people) * AGAIN))]
    first = [(one["created_at"], one) for one in people]
    wanted = sorted(((at, place < len(first), one) for place, (at, one) in enumerate([*first, *again])), key=_by_time)
    for number, (at, is_done, person) in enumerate(wanted, 1):
        rows.append(
            {
                **common,
                "id": new_id(),
                "flow_id": person["flow_id"],
                "candidate_id": person["id"],
                "org_seq": number,
                "team_seq": number,
                "org_mode_seq": number,
                "team_mode_seq": number,
                "status": InterviewStatus.COMPLETED if is_done else InterviewStatus.INCOMPLETE,
                "stage": Stage.COMPLETED if is_done else Stage.CREATED,
                "interviewee_email_address": person["email"],
                "interviewee_first_name": person["first_name"],
                "interviewee_last_name": person["last_name"],
                "created_at": at,
                "started_at": person["created_at"] + timedelta(minutes=40) if is_done else None,
                "submitted_at": person["created_at"] + timedelta(minutes=55) if is_done else None,
                "completed_at": person["interviewed_at"] if is_done else None,
            }
        )
    _insert(Interview, rows)
    return [one for one in reversed(rows) if one["stage"] is Stage.COMPLETED]


def _by_time(wanted: tuple[datetime, bool, dict[str, Any]]) -> datetime:
    return wanted[0]


def _results(done: list[dict[str, Any]], *, now: datetime) -> None:
    """All of one talk of two minutes: a page shows one of them, and the database has to hold a hundred thousand."""
    talk = a_talk(1, minutes=2, words=200, segments=8)
    text, details = freeze_text(as_text(talk)), freeze_details(talk, (), duration=120.0)
    names = (*NAMES, *(one.key for one in CRITERIA))
    quotes = (Quote(" ".join(talk[1].content.split()[:6]), 1),)
    evidence = {name: asdict(Evidence(name, 3.5, "judged", "bench", quotes=quotes)) for name in names}
    criteria = {one.flow_id: one.id for one in db.session.scalars(sa.select(FlowCriteria))}
    whole = {
        "text": text.deflated,
        "text_length": text.length,
        "text_crc32": text.crc,
        "details": details.deflated,
        "details_length": details.length,
        "details_crc32": details.crc,
        "summary": "Likes to help, and says so with examples.",
        "scores": dict.fromkeys(names, 3.5),
        "evidence": {"summary": {"source": "bench"}, "scores": evidence},
        "created_at": now,
    }
    _insert(
        InterviewData, [{**whole, "interview_id": one["id"], "criteria_id": criteria[one["flow_id"]]} for one in done]
    )


def _ratings(rated: list[dict[str, Any]], organization_id: str, *, member: TeamMember, now: datetime) -> None:
    common = {"organization_id": organization_id, "member_id": member.id, "changed_at": now, "value": 4.0}
    keys = [one.key for one in CRITERIA]
    _insert(
        Assessment,
        [
            {**common, "id": new_id(), "interview_id": one["id"], "competence": key, "comment": None, "reason": None}
            for one in rated
            for key in keys
        ],
    )


def _audit(organization: Organization, admin: TeamMember, *, count: int) -> None:
    """Entries that only pages read: their hashes are none. The database makes them up, because there are millions."""
    made = sa.text(
        "INSERT INTO audit_entry (id, organization_id, number, at, member_id, action, subject, details, hash)"
        " WITH RECURSIVE n (i) AS (SELECT CAST(:first AS integer) UNION ALL SELECT i + 1 FROM n WHERE i < :last),"
        " c (place, id) AS (SELECT row_number() OVER (ORDER BY created_at) - 1, id FROM candidate)"
        " SELECT '00000000-0000-4000-8000-' || substr(CAST(1000000000000 + i AS varchar(13)), 2), :organization, i,"
        " :now, :member, CASE WHEN i % 3 = 0 THEN 'interview.viewed' ELSE 'candidate.moved' END, c.id, '{}', :hash"
        " FROM n JOIN c ON c.place = i % :people"
    ).bindparams(sa.bindparam("now", type_=Moment()))
    values = {
        "people": db.session.scalar(sa.select(sa.func.count()).select_from(Candidate)),
        "organization": organization.id,
        "member": admin.id,
        "now": datetime.now(UTC),
        "hash": "0" * 64,
    }
    for first in range(1, count + 1, AT_ONCE):  # PostgreSQL ends a statement that takes too long
        db.session.execute(made, {**values, "first": first, "last": min(first + AT_ONCE - 1, count)})
    organization.audit_seq = count


def _insert(model: Any, rows: list[dict[str, Any]]) -> None:
    for start in range(0, len(rows), BATCH):
        db.session.execute(sa.insert(model), rows[start : start + BATCH])
