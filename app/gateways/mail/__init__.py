"""Sending mail: one outside thing, behind one verb."""

from app.gateways.mail.ports import Mail, Mailer, NoMailer, Unanswered
from app.settings import Settings

__all__ = ["Mail", "Mailer", "NoMailer", "Unanswered", "build_mailer"]


def build_mailer(settings: Settings) -> Mailer:
    """The mail server that ``SMTP_HOST`` names, or none."""
    if not settings.smtp_host:
        return NoMailer()
    from app.gateways.mail.smtp import SmtpMailer  # it brings Python's mail client with it

    return SmtpMailer(settings)
