"""The form that books an interview on the platform; the rules are the schema's and the action's."""

from typing import Any

from flask_wtf import FlaskForm
from wtforms import SelectField, StringField

from app.accounts.models import TeamMember
from app.interviews.schemas import LONGEST_NAME, NewInterviewSchema


class BookForm(FlaskForm):  # type: ignore[misc]
    """Which flow, and who it is for."""

    interview_flow_id = SelectField("Flow", validate_choice=False)
    interviewee_email_address = StringField(
        "Email address",
        description="With an address the candidate of a recruitment flow appears in the pipeline.",
        render_kw={"type": "email", "maxlength": 320, "autocomplete": "off"},
    )
    interviewee_first_name = StringField("First name", render_kw={"maxlength": LONGEST_NAME, "autocomplete": "off"})
    interviewee_last_name = StringField("Last name", render_kw={"maxlength": LONGEST_NAME, "autocomplete": "off"})
    assigned_recruiter_id = SelectField("Recruiter", validate_choice=False)

    def offer(self, flows: list[tuple[str, str]], recruiters: list[TeamMember]) -> None:
        """Fill the menus."""
        self.interview_flow_id.choices = flows
        names = [(member.id, member.full_name or member.email) for member in recruiters]
        self.assigned_recruiter_id.choices = [("", "Nobody yet"), *names]

    def checked(self) -> dict[str, Any] | None:
        """The values as ``/v1`` would take them, or None with the errors hung on their fields."""
        given = {
            name: (field.data or "").strip() or None for name, field in self._fields.items() if name != "csrf_token"
        }
        schema = NewInterviewSchema()
        wrong = schema.validate(given)
        for name, words in wrong.items():
            self[name if name in self._fields else "interview_flow_id"].errors = list(words)
        return None if wrong else dict(schema.load(given))
