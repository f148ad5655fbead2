"""Forms of outreach; the rules are the actions'."""

from flask_wtf import FlaskForm
from wtforms import BooleanField, FileField, SelectField, StringField, TextAreaField

from app.core.errors import Rejected
from app.outreach.queries import Plan
from app.outreach.words import LONGEST_SUBJECT, LONGEST_TEXT
from app.web.fields import flaw_of


class _Blamed(FlaskForm):  # type: ignore[misc]
    def blame(self, field: str | None, words: str) -> None:
        """Hang what is wrong on its field; what belongs to none, on the first."""
        known = self._fields.get(field or "") or next(iter(self._fields.values()))
        known.errors = [words]


class InviteForm(_Blamed):
    """Whom to invite to which flow."""

    flow = SelectField("Flow", validate_choice=False)
    rows = TextAreaField(
        "People",
        description="One person a line: address, first name, last name. The names may be left out.",
        render_kw={"rows": 6, "spellcheck": "false", "autocomplete": "off"},
    )
    file = FileField("Or a CSV file", description="With the same columns, or with a first line that names them.")
    recruiter = SelectField("Recruiter", validate_choice=False)
    by_mail = BooleanField("Email each person their link", description="Otherwise you send the links yourself.")

    def offer(self, flows: list[tuple[str, str]], recruiters: list[tuple[str, str]]) -> None:
        """Fill the menus."""
        self.flow.choices = flows
        self.recruiter.choices = [("", "Nobody yet"), *recruiters]


class PlanForm(_Blamed):
    """When candidates are written to without anybody's doing."""

    remind_after = StringField(
        "Remind after",
        description="Days after the invitation, if the interview was not started. Empty: never.",
        render_kw={"inputmode": "numeric", "maxlength": 3},
    )
    notice_before = StringField(
        "Tell that the link ends",
        description="Days before it does. Empty: never.",
        render_kw={"inputmode": "numeric", "maxlength": 3},
    )

    def plan(self) -> Plan:
        """Both as numbers of days. Raises Rejected naming the field."""
        return Plan(*(_days(name, str(self[name].data or "")) for name in ("remind_after", "notice_before")))


def _days(name: str, given: str) -> int | None:
    text = given.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise Rejected("must be a whole number of days, or empty", field=name)
    return int(text)


class WordsForm(_Blamed):
    """Subject and text of a mail."""

    subject = StringField("Subject", render_kw={"maxlength": LONGEST_SUBJECT})
    text = TextAreaField("Text", render_kw={"rows": 14, "maxlength": LONGEST_TEXT})

    def given(self) -> tuple[str, str]:
        """What was typed. Raises Rejected for what can be no text."""
        for name in ("subject", "text"):
            flaw = flaw_of(self[name].data or "")
            if flaw:
                raise Rejected(flaw, field=name)
        return self.subject.data or "", self.text.data or ""
