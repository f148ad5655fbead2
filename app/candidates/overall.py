"""The overall score of a result: one figure for lists, the board, comparisons, exports and insights. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from app.gateways.speech.ports import Scores

COUNTED = tuple(field.name for field in fields(Scores) if not field.name.startswith("language_"))
"""The scores that the overall score is made of where a flow has no criteria of its own."""
LEAST_SHARE = 0.5
"""The share of the weight that must be assessed."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """One criterion of a flow: its score, 0 to 5 (None: not assessed), and its weight. Weight 0 is not counted."""

    value: float | None
    weight: float


def overall(scores: Mapping[str, float | None] | None, criteria: Sequence[Weighed] = ()) -> float | None:
    """0 to 5 with one decimal: the weighted mean of the flow's own ``criteria``, else the mean of the ``scores`` that
    are not about language. Only what was assessed counts. None if that is less than half of the weight.
    """
    weighed = criteria or [Weighed((scores or {}).get(name), 1.0) for name in COUNTED]
    assessed = [(one.value, one.weight) for one in weighed if one.value is not None and one.weight > 0]
    weight, whole = sum(weight for _, weight in assessed), sum(max(one.weight, 0.0) for one in weighed)
    if not assessed or weight < LEAST_SHARE * whole:
        return None
    return round(sum(value * weight for value, weight in assessed) / weight, 1)
