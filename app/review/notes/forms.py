"""The form of a note."""

from flask_wtf import FlaskForm
from wtforms import TextAreaField
from wtforms.validators import ValidationError

from app.review.notes.models import LONGEST_NOTE
from app.web.fields import flaw_of


class NoteForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """The action validates the length."""

    text = TextAreaField(
        "Note",
        id="note-text",
        description="Type @ and a name to notify another member.",
        render_kw={"maxlength": LONGEST_NOTE, "rows": 3},
    )

    def validate_text(self, field: TextAreaField) -> None:
        flaw = flaw_of(field.data or "")
        if flaw:
            raise ValidationError(flaw)
