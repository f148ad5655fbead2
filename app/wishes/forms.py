"""The form with which a person answers a request."""

from flask_wtf import FlaskForm
from wtforms import SelectField, TextAreaField

from app.wishes.models import LONGEST_ANSWER, WishState

ANSWERS = {WishState.GRANTED: "Granted", WishState.DECLINED: "Declined", WishState.DONE: "Done"}


class AnswerForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """What came of it, and words for the candidate."""

    state = SelectField("Answer", choices={state.value: text for state, text in ANSWERS.items()}, validate_choice=False)
    answer = TextAreaField(
        "Words for the candidate", description="Shown on the candidate's page.",
        render_kw={"maxlength": LONGEST_ANSWER, "rows": 2},
    )  # fmt: skip
