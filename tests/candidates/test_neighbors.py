"""Previous and next on a candidate's page follow the list that it was opened from, whatever its order and filter."""

import random
from datetime import UTC, datetime

import pytest

from app.candidates import actions
from app.candidates.models import Candidate
from app.candidates.neighbors import neighbors
from app.candidates.queries import CandidateFilter, Order, ids_seen_by
from app.core.db import db
from tests.factories import Made
from tests.people import Person, moved_away

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ((None, None), ("Ada", "Byron"), ("ada", "byron"), ("Zoë", None), ("Bob", "Byron"))
SCORES = (None, 2.0, 3.5, 3.5, 5.0)


@pytest.fixture
def many(make_flow: Made, make_candidate: Made) -> list[Candidate]:
    """Forty candidates of one flow; times, names and scores repeat, and some are missing."""
    flow, chance, made = make_flow(), random.Random(7), []
    for number in range(40):
        first, last = chance.choice(NAMES)
        one = make_candidate(f"c{number}@e.com", flow=flow, first_name=first, last_name=last)
        one.created_at = START.replace(day=1 + chance.randrange(8))
        one.score = chance.choice(SCORES)
        one.status = chance.choice(("invited", "interviewed"))
        made.append(one)
    db.session.commit()
    return made


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("status", ["", "interviewed"])
def test_every_step_is_one_row_of_the_list(owner: Person, many: list[Candidate], order: Order, status: str) -> None:
    filters = CandidateFilter(status=status, order=order)
    ids = ids_seen_by(owner.member, filters)
    assert len(ids) == (len([one for one in many if one.status == status]) if status else 40)
    found = {one.id: neighbors(owner.member, filters, one) for one in many}
    assert [found[one] for one in ids] == list(zip([None, *ids], [*ids[1:], None], strict=False))


def test_someone_who_has_just_left_the_list_keeps_their_place(owner: Person, many: list[Candidate]) -> None:
    filters = CandidateFilter(status="interviewed", order=Order.SCORE)
    before = ids_seen_by(owner.member, filters)
    middle = db.session.get_one(Candidate, before[3])
    actions.move(middle, "shortlisted", by=owner.member)
    db.session.commit()
    assert neighbors(owner.member, filters, middle) == (before[2], before[4])


def test_candidates_of_flows_that_a_member_may_not_see_are_left_out(
    owner: Person, colleague: Person, many: list[Candidate]
) -> None:
    moved_away(colleague)
    assert neighbors(colleague.member, CandidateFilter(), many[3]) == (None, None)
    assert neighbors(owner.member, CandidateFilter(), many[3]) != (None, None)
