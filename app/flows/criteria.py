"""A flow's own criteria: what its answers are judged by, besides the scores that every result has. Pure."""

import enum
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

MOST_CRITERIA = 10
MOST_WEIGHT = 10
LONGEST_NAME, LONGEST_GOOD = 80, 500
PREFIX = "own_"
"""Keys of own criteria begin with this, and no name of another score does."""
HIGHEST, HALF = 5.0, 2.5
"""The best value, and the least with which a must-have is met and an answer to yes or no is yes."""


class Scale(enum.StrEnum):
    """How values are shown. They are stored from 0 to 5 whatever is shown."""

    POINTS = "points"
    PERCENT = "percent"
    YES_NO = "yes_no"


SCALES = {Scale.POINTS: "0 to 5", Scale.PERCENT: "Percent", Scale.YES_NO: "Yes or no"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One criterion. Weight 0: shown, but not counted. A must-have that is not met is shown as such, and no more."""

    name: str
    good: str = ""
    weight: int = 1
    scale: Scale = Scale.POINTS
    must_have: bool = False

    @property
    def key(self) -> str:
        """Its key in scores and ratings. It follows the name, so that a criterion with another name is another one."""
        return _key_of(self.name)

    @property
    def words(self) -> str:
        """Name and what good looks like, in one line."""
        return f"{self.name}: {self.good}" if self.good else self.name

    @property
    def is_yes_no(self) -> bool:
        """Whether there are only two values, 0 and 5."""
        return self.scale is Scale.YES_NO

    def shown(self, value: float) -> str:
        """A value from 0 to 5 on the criterion's scale."""
        if self.is_yes_no:
            return "Yes" if value >= HALF else "No"
        return f"{round(100 * value / HIGHEST)}%" if self.scale is Scale.PERCENT else f"{value:.1f}"

    def is_missed(self, value: float | None) -> bool:
        """Whether a must-have is not met. What was not assessed is not missed."""
        return self.must_have and value is not None and value < HALF


def in_words(value: float, criterion: Criterion | None = None) -> str:
    """A score or rating as text: 3.5 out of 5, 70%, or Yes."""
    if criterion is None or criterion.scale is Scale.POINTS:
        return f"{value:.1f} out of 5"
    return criterion.shown(value)


@lru_cache(maxsize=4096)  # insights ask for it once for each of thousands of results
def _key_of(name: str) -> str:
    return PREFIX + hashlib.sha256(plain(name).encode()).hexdigest()[:16]


def plain(name: str) -> str:
    """A name for comparisons: without case and extra spaces."""
    return " ".join(name.casefold().split())


def from_json(stored: Sequence[Mapping[str, Any]]) -> tuple[Criterion, ...]:
    """Criteria from plain values, as ``asdict`` makes them."""
    return tuple(Criterion(**{**one, "scale": Scale(one.get("scale", Scale.POINTS))}) for one in stored)


class CriteriaColumn(sa.types.TypeDecorator[tuple[Criterion, ...]]):
    """A JSON column that holds criteria in their order."""

    impl = sa.JSON
    cache_ok = True

    def process_bind_param(
        self,
        value: tuple[Criterion, ...] | None,
        dialect: Dialect,  # noqa: ARG002
    ) -> list[dict[str, Any]]:
        """As JSON."""
        return [asdict(one) for one in value or ()]

    def process_result_value(self, value: Any | None, dialect: Dialect) -> tuple[Criterion, ...]:  # noqa: ARG002
        """From JSON."""
        return from_json(value or ())
