"""Sending mail: one outside thing, behind one verb."""

from app.gateways.mail.ports import Mail, Mailer, NoMailer, Unanswered
from app.gateways.mail.smtp import SmtpMailer
from app.settings import Settings

__all__ = ["Mail", "Mailer", "NoMailer", "SmtpMailer", "Unanswered", "build_mailer"]


def build_mailer(settings: Settings) -> Mailer:
    """The mail server that ``SMTP_HOST`` names, or none."""
    return SmtpMailer(settings) if settings.smtp_host else NoMailer()
