"""Forms of outreach. The actions check the values."""

from flask_wtf import FlaskForm
from wtforms import BooleanField, FileField, SelectField, StringField, TextAreaField

from app.core.errors import Rejected
from app.outreach.queries import Plan
from app.outreach.words import LONGEST_SUBJECT, LONGEST_TEXT
from app.web.fields import flaw_of


class _Blamed(FlaskForm):  # type: ignore[misc]
    def blame(self, field: str | None, words: str) -> None:
        """Set an error on its field, or on the first field if it belongs to none."""
        blamed = self._fields.get(field or "") or next(iter(self._fields.values()))
        blamed.errors = [words]


class InviteForm(_Blamed):
    flow = SelectField("Flow", validate_choice=False)
    rows = TextAreaField(
        "Candidates",
        description="One candidate per line: name and email address, in any order. You can paste cells from a "
        "spreadsheet.",
        render_kw={"rows": 6, "spellcheck": "false", "autocomplete": "off"},
    )
    file = FileField(
        "Or upload a CSV file",
        description="Use the same format as above. You can add a header row that names the columns.",
    )
    recruiter = SelectField("Assigned recruiter", validate_choice=False)
    by_mail = BooleanField(
        "Email each candidate their link", description="If you turn this off, you send the links yourself."
    )

    def offer(self, flows: list[tuple[str, str]], recruiters: list[tuple[str, str]]) -> None:
        self.flow.choices = flows
        self.recruiter.choices = [("", "Unassigned"), *recruiters]


class PlanForm(_Blamed):
    """When candidates are emailed automatically."""

    remind_after = StringField(
        "Reminder",
        description="Days after the invitation, if the candidate has not started by then. Leave empty to send no "
        "reminders.",
        render_kw={"inputmode": "numeric", "maxlength": 3},
    )
    notice_before = StringField(
        "Expiry notice",
        description="Days before the link expires. Leave empty to send no expiry notices.",
        render_kw={"inputmode": "numeric", "maxlength": 3},
    )

    def plan(self) -> Plan:
        """The entered plan. Raises Rejected with the field."""
        return Plan(*(_days(name, str(self[name].data or "")) for name in ("remind_after", "notice_before")))


def _days(name: str, value: str) -> int | None:
    text = value.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise Rejected("Enter a whole number of days, or leave this empty.", field=name)
    return int(text)


class WordsForm(_Blamed):
    """Subject and text of an email."""

    subject = StringField("Subject", render_kw={"maxlength": LONGEST_SUBJECT})
    text = TextAreaField("Body", render_kw={"rows": 14, "maxlength": LONGEST_TEXT})

    def subject_and_text(self) -> tuple[str, str]:
        """The entered subject and text. Raises Rejected for text that cannot be stored."""
        for name in ("subject", "text"):
            flaw = flaw_of(self[name].data or "")
            if flaw:
                raise Rejected(flaw, field=name)
        return self.subject.data or "", self.text.data or ""
