"""The form of a bank question. The actions decide what is valid."""

from flask_wtf import FlaskForm
from wtforms import SelectField, StringField, TextAreaField

from app.flows.forms import language_name
from app.flows.library.actions import Wording
from app.flows.library.models import LONGEST_NOTE, MOST_TAGS, BankQuestion
from app.flows.models import LONGEST
from app.flows.overrules import LONGEST_REASON
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE, LANGUAGES


class QuestionForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    text = TextAreaField("Question", render_kw={"maxlength": LONGEST["questions"], "rows": 3, "required": True})
    team_id = SelectField("Team", validate_choice=False, description="Members of this team see the question.")
    language = SelectField("Language", validate_choice=False, choices={code: language_name(code) for code in LANGUAGES})
    tags = StringField(
        "Tags",
        description=f"Up to {MOST_TAGS} tags, separated by commas, that help members find the question. For example: "
        "team, sales.",
    )
    note = TextAreaField(
        "What a good answer shows",
        description="This is for members who use the question. Candidates and the agent never see it.",
        render_kw={"maxlength": LONGEST_NOTE, "rows": 3},
    )
    reason = TextAreaField(
        "Reason for keeping this question",
        description="Your reason is stored with the question. The audit log records the topic.",
        render_kw={"maxlength": LONGEST_REASON, "rows": 2},
    )

    def wording(self) -> Wording:
        """What was entered."""
        return Wording(
            text=self.text.data or "",
            language=self.language.data or DEFAULT_LANGUAGE,
            tags=self.tags.data or "",
            note=self.note.data or "",
            reason=self.reason.data or "",
        )

    def show_error(self, message: str, field: str | None) -> None:
        """Set the message on its field, or above the form."""
        if field and field in self:
            self[field].errors = [*self[field].errors, message]
        else:
            self.form_errors.append(message)


def form_of(question: BankQuestion) -> dict[str, str]:
    """The form's initial data for ``question``."""
    return {
        "text": question.text,
        "language": question.language,
        "tags": ", ".join(question.tags),
        "note": question.note or "",
        "reason": question.overruled or "",
    }
