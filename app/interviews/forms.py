"""The form that creates an interview on the platform. The schema and the action validate it."""

from typing import Any

from flask_wtf import FlaskForm
from wtforms import SelectField, StringField

from app.accounts.models import TeamMember
from app.candidates.models import LONGEST_NAME


class BookForm(FlaskForm):  # type: ignore[misc]
    """The flow, the candidate and the assigned recruiter."""

    interview_flow_id = SelectField("Flow", validate_choice=False)
    interviewee_email_address = StringField(
        "Email address",
        description="In recruitment flows, only candidates with an email address appear in the pipeline.",
        render_kw={"type": "email", "maxlength": 320, "autocomplete": "off"},
    )
    interviewee_first_name = StringField("First name", render_kw={"maxlength": LONGEST_NAME, "autocomplete": "off"})
    interviewee_last_name = StringField("Last name", render_kw={"maxlength": LONGEST_NAME, "autocomplete": "off"})
    assigned_recruiter_id = SelectField("Assigned recruiter", validate_choice=False)

    def offer(self, flows: list[tuple[str, str]], recruiters: list[TeamMember]) -> None:
        """Set the choices of both menus."""
        self.interview_flow_id.choices = flows
        names = [(member.id, _with_teams(member)) for member in recruiters]
        self.assigned_recruiter_id.choices = [("", "Unassigned"), *names]

    def values(self) -> dict[str, str | None]:
        """The submitted values under their ``/v1`` names, empty fields as None."""
        fields = self._fields.items()
        return {name: (field.data or "").strip() or None for name, field in fields if name != "csrf_token"}

    def blame(self, errors: dict[str, Any]) -> None:
        """Show each error at its field, or at the first field if it belongs to none."""
        for name, words in errors.items():
            field = self._fields.get(name, self.interview_flow_id)
            field.errors = list(words) if isinstance(words, list | tuple) else [str(words)]


def _with_teams(member: TeamMember) -> str:
    """The recruiter must be in the flow's team, so the menu lists each member's teams."""
    teams = ", ".join(sorted(team.name for team in member.teams))
    return f"{member.full_name or member.email} ({teams})" if teams else member.full_name or member.email
