"""The overall score of a result: one figure for lists, the board, comparisons, exports and insights. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from app.flows.criteria import Criterion
from app.gateways.speech.ports import Scores

COUNTED = tuple(field.name for field in fields(Scores) if not field.name.startswith("language_"))
"""The scores that the overall score is made of where a flow has no criteria of its own."""
LEAST_SHARE = 0.5
"""The share of the weight that must be assessed."""


def overall(scores: Mapping[str, float | None] | None, criteria: Sequence[Criterion] = ()) -> float | None:
    """0 to 5 with one decimal: the weighted mean of the flow's own ``criteria``, else the mean of the ``scores`` that
    are not about language. Only what was assessed counts. None if that is less than half of the weight.
    """
    known, weights = scores or {}, _weights(criteria)
    assessed = [(value, weight) for name, weight in weights if weight and (value := known.get(name)) is not None]
    weight, whole = sum(weight for _, weight in assessed), sum(weight for _, weight in weights)
    if not assessed or weight < LEAST_SHARE * whole:
        return None
    return round(sum(value * weight for value, weight in assessed) / weight, 1)


def explained(score: float | None, criteria: Sequence[Criterion] = ()) -> str:
    """How the overall score was made, or why there is none; empty where there is nothing to explain."""
    if score is not None:
        what = "criteria of this flow" if criteria else "scores that are not about language"
        return f"The {'weighted ' if criteria else ''}average of the assessed {what}."
    if criteria and not any(one.weight for one in criteria):
        return "There is no overall score: every criterion of this flow has weight 0."
    too_little = "There is no overall score: the assessed criteria have less than half of the total weight."
    return too_little if criteria else ""


def _weights(criteria: Sequence[Criterion]) -> list[tuple[str, int]]:
    return [(one.key, one.weight) for one in criteria] or [(name, 1) for name in COUNTED]
