"""The form that moves a candidate; which statuses there are is the organization's affair."""

from flask_wtf import FlaskForm
from wtforms import SelectField, TextAreaField

from app.web.templating import capital


class MoveForm(FlaskForm):  # type: ignore[misc]
    """A status and, if one likes, why."""

    status = SelectField("New status", validate_choice=False)
    note = TextAreaField("Note", description="Kept in the history; candidates do not see it.", render_kw={"rows": 3})

    def offer(self, statuses: list[str]) -> None:
        """Fill the menu."""
        self.status.choices = {name: capital(name) for name in statuses}
