"""The text of a note."""

from flask_wtf import FlaskForm
from wtforms import TextAreaField
from wtforms.validators import ValidationError

from app.review.notes.models import LONGEST_NOTE
from app.web.fields import flaw_of


class NoteForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """How long it may be, and that it may not be empty, is for the action to say."""

    text = TextAreaField(
        "Note",
        id="note-text",
        description="Write @ and a name to tell a colleague.",
        render_kw={"maxlength": LONGEST_NOTE, "rows": 3},
    )

    def validate_text(self, field: TextAreaField) -> None:
        """No character that cannot be kept."""
        flaw = flaw_of(field.data or "")
        if flaw:
            raise ValidationError(flaw)
