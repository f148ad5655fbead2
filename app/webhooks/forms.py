"""Forms of webhooks' pages. The fields of ``/v1`` check the values."""

from typing import Any

import marshmallow as ma
from flask_wtf import FlaskForm
from wtforms import StringField

from app.core.errors import Rejected
from app.web.fields import flaw_of
from app.webhooks.secret_keys import MOST_CHARACTERS
from app.webhooks.shapes import NewWebhookEndpointSchema


class EndpointForm(FlaskForm):  # type: ignore[misc]
    """A new endpoint of the organization."""

    url = StringField(
        "URL",
        description="Parley sends the events of all flows to this URL, in addition to each flow's own webhook URL.",
    )
    secret = StringField(
        "Secret",
        description="Parley signs the events with this secret so that you can verify them. If you leave this empty, "
        "Parley creates one.",
    )

    def values(self) -> dict[str, Any] | None:
        """What was entered; None with the errors set on the fields."""
        url, secret = (self.url.data or "").strip(), self.secret.data or None
        try:
            loaded: dict[str, Any] = NewWebhookEndpointSchema().load({"url": url, "secret": secret})
        except ma.ValidationError as error:
            for name, words in error.messages_dict.items():
                self.blame(name, words[0])
            return None
        return loaded

    def blame(self, field: str, words: str) -> None:
        """Set an error on its field."""
        self._fields[field].errors = [words]


def checked_secret(typed: str) -> str | None:
    """A secret of a form; None if it is empty. Raises Rejected."""
    if flaw_of(typed):
        raise Rejected("The secret contains a character that cannot be stored.")
    if len(typed) > MOST_CHARACTERS:
        raise Rejected(f"The secret is longer than {MOST_CHARACTERS} characters.")
    return typed if typed.strip() else None
