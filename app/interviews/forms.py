"""The form that books an interview on the platform; the rules are the schema's and the action's."""

from typing import Any

from flask_wtf import FlaskForm
from wtforms import SelectField, StringField

from app.accounts.models import TeamMember
from app.interviews.models import LONGEST_NAME


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
        names = [(member.id, _with_teams(member)) for member in recruiters]
        self.assigned_recruiter_id.choices = [("", "Nobody yet"), *names]

    def values(self) -> dict[str, str | None]:
        """What was typed, empty fields as null, under the names of the interface."""
        fields = self._fields.items()
        return {name: (field.data or "").strip() or None for name, field in fields if name != "csrf_token"}

    def blame(self, errors: dict[str, Any]) -> None:
        """Hang what is wrong on its field; what belongs to none, on the first."""
        for name, words in errors.items():
            field = self._fields.get(name, self.interview_flow_id)
            field.errors = list(words) if isinstance(words, list | tuple) else [str(words)]


def _with_teams(member: TeamMember) -> str:
    """An interview goes to a member of its flow's team, so the menu says who is in which."""
    teams = ", ".join(sorted(team.name for team in member.teams))
    return f"{member.full_name or member.email} ({teams})" if teams else member.full_name or member.email
