"""A page of the list without transcripts comes from SQLite as one text: the same interviews in the same order."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import clock
from app.core.db import db, new_id, reading
from app.interviews.listings import Published, published_page
from app.interviews.models import Interview, InterviewStatus
from tests.factories import a_flow
from tests.people import Person, person
from tests.statements import sent

from .conftest import result

SUMMARY = 'Says "hi"\t\\ and 日本 🎤\u2028.'
SCORES: list[dict[str, float | None] | None] = [{"communication": 3.5, "warmth": 0.1 + 0.2}, {}, None]


@pytest.fixture
def owner(own_app: Flask) -> Iterator[Person]:
    with own_app.app_context():
        made = person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        _fill(made, a_flow(made).id)
        db.session.commit()
        yield made
        db.session.remove()


def _fill(owner: Person, flow_id: str) -> None:
    """Nine interviews, numbered as bookings number them: every third by a test key, every second one completed."""
    live = tests = 0
    for seq in range(1, 10):
        is_test, is_done = seq % 3 == 0, seq % 2 == 0
        live, tests = live + (not is_test), tests + is_test
        interview = Interview(
            id=new_id(),
            organization_id=owner.organization.id,
            team_id=owner.team.id,
            flow_id=flow_id,
            org_seq=seq,
            team_seq=seq,
            org_mode_seq=tests if is_test else live,
            team_mode_seq=tests if is_test else live,
            is_test=is_test,
            status=InterviewStatus.COMPLETED if is_done else InterviewStatus.INCOMPLETE,
            interviewee_first_name="Zoë 🎤" if seq % 4 == 0 else None,
            withdrawn_at=clock.now() if seq == 8 else None,
        )
        db.session.add(interview)
        db.session.flush()
        if is_done:
            result(interview, SCORES[seq // 2 % 3], SUMMARY)
    for numbered in (owner.organization, owner.team):
        numbered.interview_seq, numbered.interview_test_seq = live + tests, tests


@pytest.mark.parametrize(
    ("of_team", "is_test", "status"),
    list(product((False, True), (None, False, True), (None, InterviewStatus.COMPLETED))),
)
def test_it_is_the_list_with_transcripts_without_them(
    owner: Person, *, of_team: bool, is_test: bool | None, status: InterviewStatus | None
) -> None:
    organization, team = owner.organization, owner.team if of_team else None
    db.session.refresh(organization)
    db.session.refresh(owner.team)
    db.session.expunge_all()  # or reading them again would count

    def page(transcript: str, offset: int) -> list[Published]:
        given: dict[str, Any] = {"team": team, "is_test": is_test, "status": status, "transcript": transcript}
        with reading():
            try:
                return published_page(organization, limit=4, offset=offset, **given)
            finally:
                db.end_reading()

    seen: list[Published] = []
    for offset in (0, 4, 8):
        with sent() as past_prepared:
            found = page("none", offset)
        usual = [row._replace(fragments=()) for row in page("text", offset)]
        assert found == usual
        assert not past_prepared or db.engine.dialect.name != "sqlite"
        seen += found
    expected = [
        seq
        for seq in range(9, 0, -1)
        if (status is None or seq % 2 == 0) and (is_test is None or (seq % 3 == 0) is is_test)
    ]
    numbers = dict(db.session.execute(sa.select(Interview.id, Interview.org_seq)).all())
    assert [numbers[row.id] for row in seen] == expected
    for row in seen:
        number = numbers[row.id]
        assert row.has_data is (number % 2 == 0)
        assert row.is_withheld is (number == 8)
        assert (row.summary, row.scores) == ((SUMMARY, SCORES[number // 2 % 3]) if row.has_data else (None, None))
