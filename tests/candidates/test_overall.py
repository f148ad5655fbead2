"""The one figure that lists, the board, comparisons, exports and insights show."""

import pytest

from app.candidates.overall import COUNTED, explained, overall
from app.flows.criteria import Criterion


@pytest.mark.parametrize(
    ("scores", "shown"),
    [
        (None, None),
        ({}, None),
        ({"communication": 4.0, "motivation": 3.0, "skills": 2.0}, 3.0),
        ({"communication": 4.0, "motivation": 3.5, "skills": None}, 3.8),
        ({"communication": 4.0, "motivation": None, "skills": None}, None),
        ({"language_comprehension": 5.0, "language_fluency_and_pace": 5.0}, None),
        ({"communication": 0.0, "motivation": 0.0, "skills": 0.0, "language_comprehension": 5.0}, 0.0),
    ],
)
def test_without_criteria_it_is_the_mean_of_what_is_not_about_language(
    scores: dict[str, float | None] | None, shown: float | None
) -> None:
    assert overall(scores) == shown


@pytest.mark.parametrize(
    ("values", "weights", "shown", "why"),
    [
        ((5.0, 1.0), (3, 1), 4.0, "The weighted average of the assessed criteria of this flow."),
        ((5.0, None), (1, 1), 5.0, "The weighted average of the assessed criteria of this flow."),
        (
            (5.0, None),
            (10, 11),
            None,
            "There is no overall score: the assessed criteria have less than half of the total weight.",
        ),
        (
            (None,),
            (2,),
            None,
            "There is no overall score: the assessed criteria have less than half of the total weight.",
        ),
        ((5.0, 2.0), (0, 1), 2.0, "The weighted average of the assessed criteria of this flow."),
        ((5.0,), (0,), None, "There is no overall score: every criterion of this flow has weight 0."),
    ],
)
def test_criteria_count_by_their_weight_and_leave_the_fixed_scores_out(
    values: tuple[float | None, ...], weights: tuple[int, ...], shown: float | None, why: str
) -> None:
    criteria = [Criterion(name=f"Criterion {number}", weight=weight) for number, weight in enumerate(weights)]
    scores = {**dict.fromkeys(COUNTED, 1.5), **{one.key: value for one, value in zip(criteria, values, strict=True)}}
    assert overall(scores, criteria) == shown
    assert explained(shown, criteria) == why
