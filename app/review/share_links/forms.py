"""What a new link is to show, and for how long."""

from flask_wtf import FlaskForm
from wtforms import IntegerField, SelectMultipleField, StringField
from wtforms.fields import SelectChoice
from wtforms.validators import DataRequired, InputRequired, Length, NumberRange, ValidationError

from app.review.share_links.models import DEFAULT_DAYS, LONGEST_LABEL, MOST_DAYS, PARTS
from app.web.fields import flaw_of


class ShareForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """Parts, days, and a label for the makers' own list."""

    parts = SelectMultipleField(
        "What is shown",
        [DataRequired("Tick at least one part.")],
        choices=[SelectChoice(name, label) for name, label in PARTS.items()],
    )
    days = IntegerField(
        "Days until it ends",
        [InputRequired("Say for how many days."), NumberRange(1, MOST_DAYS, f"Choose 1 to {MOST_DAYS} days.")],
        default=DEFAULT_DAYS,
        render_kw={"min": 1, "max": MOST_DAYS, "inputmode": "numeric"},
    )
    label = StringField(
        "Label",
        [Length(max=LONGEST_LABEL, message=f"At most {LONGEST_LABEL} characters.")],
        description="For your own list, such as whom it is for. Whoever opens the link does not see it.",
        render_kw={"maxlength": LONGEST_LABEL},
    )

    def validate_label(self, field: StringField) -> None:
        """No character that cannot be kept."""
        flaw = flaw_of(field.data or "")
        if flaw:
            raise ValidationError(flaw)
