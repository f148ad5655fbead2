"""Forms of messages. The actions check the values."""

from wtforms import HiddenField, SelectField, StringField, TextAreaField

from app.core.errors import Rejected
from app.outreach.forms import WordsForm
from app.outreach.messages.actions import LONGEST_NAME, Entry
from app.outreach.messages.models import MessageTemplate, Purpose
from app.outreach.words import LONGEST_TEXT
from app.web.fields import flaw_of
from app.web.languages import ENGLISH_NAMES

PURPOSES = {Purpose.GENERAL: "Any message", Purpose.REJECTION: "Rejection"}


class ComposeForm(WordsForm):
    """A message before it is sent. ``used`` is the template whose text was put into the form."""

    template = SelectField("Template", validate_choice=False)
    used = HiddenField()
    rejection = HiddenField()
    text = TextAreaField("Message", render_kw={"rows": 12, "maxlength": LONGEST_TEXT})

    def offer(self, templates: list[MessageTemplate]) -> None:
        self.template.choices = {"": "No template", **{one.id: one.name for one in templates}}


class TemplateForm(WordsForm):
    """A message template."""

    name = StringField(
        "Name", description="Only members see the name.", render_kw={"maxlength": LONGEST_NAME, "autocomplete": "off"}
    )
    purpose = SelectField(
        "Used for",
        choices={purpose.value: text for purpose, text in PURPOSES.items()},
        validate_choice=False,
        description="Parley offers rejection templates when you reject a candidate. Rejection messages are sent after "
        "a delay of five minutes.",
    )
    language = SelectField("Language", choices=ENGLISH_NAMES, validate_choice=False)

    def entry(self) -> Entry:
        """The entered template. Raises Rejected for text that cannot be stored."""
        given = {name: str(self[name].data or "") for name in ("name", "purpose", "language")}
        for field, value in given.items():
            flaw = flaw_of(value)
            if flaw:
                raise Rejected(flaw, field=field)
        subject, text = self.subject_and_text()
        return Entry(**given, subject=subject, text=text)
