"""Forms to answer a request and to set deadlines."""

from flask_wtf import FlaskForm
from wtforms import IntegerField, SelectField, TextAreaField
from wtforms.validators import InputRequired, NumberRange

from app.candidate_requests.models import LONGEST_ANSWER, LONGEST_DAYS, RequestKind, RequestState

ANSWERS = {RequestState.GRANTED: "Granted", RequestState.DECLINED: "Declined", RequestState.DONE: "Done"}


class AnswerForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """The decision, with an optional reply to the candidate."""

    state = SelectField("Answer", choices={state.value: text for state, text in ANSWERS.items()}, validate_choice=False)
    answer = TextAreaField(
        "Reply to the candidate",
        description="Shown on the candidate's page.",
        render_kw={"maxlength": LONGEST_ANSWER, "rows": 2},
    )


def _days(label: str) -> IntegerField:
    words = f"Enter 1 to {LONGEST_DAYS} days."
    attributes = {"min": 1, "max": LONGEST_DAYS, "inputmode": "numeric"}
    return IntegerField(label, [InputRequired(words), NumberRange(1, LONGEST_DAYS, words)], render_kw=attributes)


class DeadlinesForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """Days for answering requests of each kind; the fields have the names of the kinds."""

    accommodation = _days("Accommodation")
    correction = _days("Correction")
    review = _days("Human review")
    withdrawal = _days("Withdrawal of consent")
    deletion = _days("Erasure")

    def days_by_kind(self) -> dict[RequestKind, int]:
        return {kind: self[kind.value].data for kind in RequestKind}
