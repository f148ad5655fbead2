"""The Start form: consent, voice or text, and who it is, as far as the booking did not say. And what is asked for."""

from typing import Any

from flask import request
from flask_babel import gettext, lazy_gettext
from flask_wtf import FlaskForm
from werkzeug.datastructures import MultiDict
from wtforms import StringField, TextAreaField
from wtforms.validators import Length, Optional, Regexp, ValidationError

from app.candidate_requests.actions import NewRequest
from app.candidate_requests.models import LONGEST_CONTACT, LONGEST_TEXT, Different, RequestKind
from app.conversation import consent
from app.conversation.models import Mode
from app.web.body import Broken, load_json
from app.web.fields import address_flaw, flaw_of

TOO_LONG = lazy_gettext("Longer than %(max)d characters.")
NAMES = ("email_address", "first_name", "last_name")


class StartForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """As sent by the page's form, or by a script as JSON. The token was checked before."""

    class Meta:
        # nosemgrep: csrf-switched-off - app.web.security has checked token and origin before
        csrf = False

    consent = StringField()
    consent_version = StringField()
    mode = StringField()
    locale = StringField(
        validators=[Optional(), Regexp(r"[A-Za-z0-9-]{2,35}\Z", message=lazy_gettext("Not a language tag."))]
    )
    email_address = StringField(validators=[Optional(), Length(max=320, message=TOO_LONG)])
    first_name = StringField(validators=[Length(max=300, message=TOO_LONG)])
    last_name = StringField(validators=[Length(max=300, message=TOO_LONG)])

    @classmethod
    def of_request(cls) -> "StartForm":
        """The form of this request."""
        return cls(formdata=_sent())

    def validate_consent_version(self, field: StringField) -> None:
        """Who read an older text has not agreed to this one. A script that names none means today's."""
        if field.data and field.data != consent.VERSION:
            raise ValidationError(gettext("The text above has changed. Please read it again, then agree."))

    def validate_consent(self, field: StringField) -> None:
        """Nothing may be stored without it."""
        if field.data != "yes":
            raise ValidationError(
                gettext("Please agree before you start: the interview is recorded and conducted by an AI.")
            )

    def validate_mode(self, field: StringField) -> None:
        """Voice or text."""
        if field.data not in {mode.value for mode in Mode}:
            raise ValidationError(gettext("Choose voice or text."))

    def validate_email_address(self, field: StringField) -> None:
        """In form only."""
        address = (field.data or "").strip()
        if address and address_flaw(address):
            raise ValidationError(gettext("Not a valid email address."))

    def validate_first_name(self, field: StringField) -> None:
        """A name that can be kept."""
        _check(field)

    def validate_last_name(self, field: StringField) -> None:
        """A name that can be kept."""
        _check(field)

    def names(self) -> dict[str, str | None]:
        """What was typed, ready to be kept; None where nothing was."""
        typed: list[str | None] = [(self[name].data or "").strip() or None for name in NAMES]
        return dict(zip(("email", "first_name", "last_name"), typed, strict=True))

    def typed(self) -> dict[str, str]:
        """What to show again."""
        return {name: self[name].data or "" for name in ("consent", "mode", "locale", *NAMES)}


class DifferentForm(FlaskForm):  # type: ignore[misc]  # as above
    """Something different: what, in the candidate's words, and where to answer."""

    class Meta:
        # nosemgrep: csrf-switched-off - app.web.security has checked token and origin before
        csrf = False

    choice = StringField()
    text = TextAreaField(validators=[Length(max=LONGEST_TEXT, message=TOO_LONG)])
    contact = StringField(validators=[Length(max=LONGEST_CONTACT, message=TOO_LONG)])

    @classmethod
    def of_request(cls) -> "DifferentForm":
        """The form of this request."""
        return cls(formdata=_sent())

    def validate_choice(self, field: StringField) -> None:
        """One of four."""
        if field.data not in set(Different):
            raise ValidationError(gettext("Please choose what you need."))

    def validate_text(self, field: StringField) -> None:
        """Something else needs words."""
        _check(field)
        if self.choice.data == Different.OTHER and not (field.data or "").strip():
            raise ValidationError(gettext("Please say what you need."))

    def validate_contact(self, field: StringField) -> None:
        """In whatever form: an address, a number, a name to ask for."""
        _check(field)

    def candidate_request(self, *, during: bool) -> NewRequest:
        """What is asked for, ready to be kept."""
        text, contact = ((self[name].data or "").replace("\r\n", "\n").strip() or None for name in ("text", "contact"))
        details = {"choice": str(self.choice.data), "asked": "during" if during else "before"}
        return NewRequest(RequestKind.ACCOMMODATION, text, contact, details)

    def typed(self) -> dict[str, str]:
        """What to show again."""
        return {name: self[name].data or "" for name in ("choice", "text", "contact")}


class FeedbackForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """What the candidate thinks: 1 to 5, or words, or both."""

    class Meta:
        # nosemgrep: csrf-switched-off - app.web.security has checked token and origin before
        csrf = False

    rating = StringField(validators=[Optional(), Regexp(r"[1-5]\Z", message=lazy_gettext("Choose 1 to 5."))])
    comment = StringField(validators=[Length(max=2000, message=TOO_LONG)])

    def validate_comment(self, field: StringField) -> None:
        """Words that can be kept; one of the two has to be there."""
        _check(field)
        if not (field.data or "").strip() and not (self.rating.data or "").strip():
            raise ValidationError(gettext("Choose 1 to 5, or write something."))

    def values(self) -> dict[str, Any]:
        """Ready to be kept."""
        comment = (self.comment.data or "").replace("\r\n", "\n").strip()
        return {"rating": int(self.rating.data) if self.rating.data else None, "comment": comment or None}

    def typed(self) -> dict[str, str]:
        """What to show again."""
        return {name: self[name].data or "" for name in ("rating", "comment")}


def errors_of(form: FlaskForm) -> dict[str, str]:
    """The first thing that is wrong with each field; with the form as a whole under ``_form``."""
    return {name or "_form": str(messages[0]) for name, messages in form.errors.items() if messages}


def _sent() -> MultiDict[str, str]:
    """What was sent: the page's form, or the texts of a script's JSON object; anything else is an empty form."""
    if not request.is_json:
        return request.form
    try:
        field = load_json(request.get_data())
    except Broken:
        field = None
    return MultiDict({k: v for k, v in field.items() if isinstance(v, str)} if isinstance(field, dict) else {})


def _check(field: StringField) -> None:
    if flaw_of(field.data or ""):
        raise ValidationError(gettext("Contains a character that cannot be stored."))
