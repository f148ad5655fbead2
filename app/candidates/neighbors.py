"""The candidates before and after one in a member's list."""

from typing import Any, NamedTuple

import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.candidates.models import BY_NAME, Candidate
from app.candidates.queries import CandidateFilter, Condition, Order, conditions_for
from app.core.db import db


class Neighbors(NamedTuple):
    """Ids, none at the ends of the list."""

    previous: str | None
    following: str | None


class _Key(NamedTuple):
    """One part of an order. Rows where it is null come last, whatever its direction."""

    expression: sa.SQLColumnExpression[Any]
    is_descending: bool = False
    is_nullable: bool = False


_KEYS: dict[Order, tuple[_Key, ...]] = {
    Order.NEWEST: (_Key(Candidate.created_at, is_descending=True), _Key(Candidate.id, is_descending=True)),
    Order.OLDEST: (_Key(Candidate.created_at), _Key(Candidate.id)),
    Order.NAME: (*(_Key(part) for part in BY_NAME), _Key(Candidate.id, is_descending=True)),
    Order.NAME_DESC: (*(_Key(part, is_descending=True) for part in BY_NAME), _Key(Candidate.id)),
    Order.SCORE: (_Key(Candidate.score, is_descending=True, is_nullable=True), _Key(Candidate.id, is_descending=True)),
    Order.SCORE_ASC: (_Key(Candidate.score, is_nullable=True), _Key(Candidate.id)),
}
"""The orders of ``queries``, part by part."""


def neighbors(member: TeamMember, filters: CandidateFilter, candidate: Candidate) -> Neighbors:
    """Who comes before and after ``candidate`` in the list, also when a move has taken the candidate out of it.

    Reads one row in each direction from the candidate's own place, not the list up to there.
    """
    keys = _KEYS[filters.order]
    place = sa.select(*(key.expression for key in keys)).where(Candidate.id == candidate.id)
    values = tuple(db.session.execute(place).one())
    following, previous = (
        _next(filters, list(zip(keys, values, strict=True)), member=member, back=back) for back in (False, True)
    )
    return Neighbors(previous, following)


def _next(filters: CandidateFilter, place: list[tuple[_Key, Any]], *, member: TeamMember, back: bool) -> str | None:
    beyond: list[Condition] = []
    equal: list[Condition] = []
    for key, value in place:
        beyond.append(sa.and_(*equal, _is_beyond(key, value, back=back)))
        equal.append(key.expression.is_(None) if value is None else key.expression == value)
    order = [_sorted(key, back=back) for key, _value in place]
    query = sa.select(Candidate.id).where(*conditions_for(member, filters), sa.or_(*beyond)).order_by(*order)
    first, value = place[0]
    if not first.is_nullable:  # says nothing new, but it alone tells SQLite where in the index to begin
        query = query.where(first.expression <= value if first.is_descending != back else first.expression >= value)
    return db.session.scalar(query.limit(1))


def _is_beyond(key: _Key, value: Any, *, back: bool) -> Condition:
    one = key.expression
    if value is None:
        return one.is_not(None) if back else sa.false()
    further = one < value if key.is_descending != back else one > value
    return sa.or_(further, one.is_(None)) if key.is_nullable and not back else further


def _sorted(key: _Key, *, back: bool) -> sa.ColumnElement[Any]:
    way = key.expression.desc() if key.is_descending != back else key.expression.asc()
    if not key.is_nullable:
        return way
    return way.nulls_first() if back else way.nulls_last()
