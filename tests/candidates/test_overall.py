"""The one figure that lists, the board, comparisons, exports and insights show."""

import pytest

from app.candidates.overall import COUNTED, Weighed, overall


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
    ("criteria", "shown"),
    [
        ([(5.0, 3.0), (1.0, 1.0)], 4.0),
        ([(5.0, 1.0), (None, 1.0)], 5.0),
        ([(5.0, 1.0), (None, 1.1)], None),
        ([(None, 2.0)], None),
        ([(5.0, 0.0), (2.0, 1.0)], 2.0),
        ([(5.0, 0.0)], None),
    ],
)
def test_criteria_count_by_their_weight_and_leave_the_fixed_scores_out(
    criteria: list[tuple[float | None, float]], shown: float | None
) -> None:
    scores = dict.fromkeys(COUNTED, 1.5)
    assert overall(scores, [Weighed(value, weight) for value, weight in criteria]) == shown
