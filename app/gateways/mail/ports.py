"""What Parley asks of a mail server."""

from dataclasses import dataclass
from typing import Protocol

from app.core.errors import GatewayError


@dataclass(frozen=True, slots=True)
class Mail:
    """One text to one address. ``text`` can be read by itself; the outbox makes the HTML from it before it sends.

    ``link`` is a URL in the text that the HTML shows as a button with the words ``button``; ``code`` is a paragraph of
    the text that it shows large. ``sender`` is the name beside the installation's address, and the heading of the HTML;
    ``logo`` is an https URL of the installation, ``accent`` the color of button and links (#rrggbb). ``reply_to`` is
    the address of the member who sent the mail.
    """

    to: str
    subject: str
    text: str
    language: str = "en-US"
    link: str = ""
    button: str = ""
    code: str = ""
    sender: str = ""
    logo: str = ""
    reply_to: str = ""
    accent: str = ""
    html: str = ""


class Unanswered(GatewayError):
    """The mail has left, and no answer came: it may have arrived, so trying again could bring it twice."""

    def __init__(self) -> None:
        super().__init__("the mail server received the mail but did not confirm it", retryable=False)


class Mailer(Protocol):
    """Hands mails over. ``is_configured`` says whether there is anyone to hand them to."""

    is_configured: bool

    def send(self, mail: Mail) -> None:
        """On return the server has accepted the mail. GatewayError says whether trying again may help, Unanswered that
        no one knows whether it arrived."""


class NoMailer:
    """No mail server is configured."""

    is_configured = False

    def send(self, mail: Mail) -> None:  # noqa: ARG002 - as the others
        """Cannot."""
        raise GatewayError("no mail server is configured (SMTP_HOST)", retryable=True)
