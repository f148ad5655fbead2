"""The form that takes an advert."""

from flask_wtf import FlaskForm
from wtforms import FileField, SelectField, TextAreaField

from app.core.errors import Rejected
from app.flows.forms import language_name
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE, LANGUAGES


class AdvertForm(FlaskForm):  # type: ignore[misc]
    text = TextAreaField("Text of the job ad", render_kw={"rows": 10})
    file = FileField(
        "Or upload a file", description="PDF, DOCX, RTF or TXT.", render_kw={"accept": ".pdf,.docx,.rtf,.txt"}
    )
    language = SelectField(
        "Interview language",
        choices={code: language_name(code) for code in LANGUAGES},
        default=DEFAULT_LANGUAGE,
    )

    def blame(self, refusal: Rejected) -> None:
        """Show a refusal at its field, or at the text."""
        blamed = self._fields.get(refusal.field or "", self.text)
        blamed.errors = [refusal.message]
