"""The form that creates a share link."""

from flask_wtf import FlaskForm
from wtforms import IntegerField, SelectMultipleField, StringField
from wtforms.fields import SelectChoice
from wtforms.validators import DataRequired, InputRequired, Length, NumberRange, ValidationError

from app.review.share_links.models import DEFAULT_DAYS, LONGEST_LABEL, MOST_DAYS, PARTS
from app.web.fields import flaw_of


class ShareForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """Parts, days, and a label for the list of links."""

    parts = SelectMultipleField(
        "Parts to share",
        [DataRequired("Select at least one part.")],
        choices=[SelectChoice(name, label) for name, label in PARTS.items()],
    )
    days = IntegerField(
        "Expires after (days)",
        [InputRequired("Enter a number of days."), NumberRange(1, MOST_DAYS, f"Choose 1 to {MOST_DAYS} days.")],
        default=DEFAULT_DAYS,
        render_kw={"min": 1, "max": MOST_DAYS, "inputmode": "numeric"},
    )
    label = StringField(
        "Label",
        [Length(max=LONGEST_LABEL, message=f"Enter up to {LONGEST_LABEL} characters.")],
        description="Shown only in the list of links. Use it, for example, to note who a link is for.",
        render_kw={"maxlength": LONGEST_LABEL},
    )

    def validate_label(self, field: StringField) -> None:
        flaw = flaw_of(field.data or "")
        if flaw:
            raise ValidationError(flaw)
