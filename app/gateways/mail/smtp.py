"""Mail over SMTP, as RFC 5321 has it: STARTTLS, TLS from the first byte, or none; certificates are checked."""

import smtplib
import ssl
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid, parseaddr
from typing import Any

from app.core.errors import GatewayError
from app.gateways.mail.ports import Mail, Unanswered
from app.settings import Settings

TIMEOUT = 15.0
"""Seconds each step of the conversation may take."""
PATIENCE = 60.0
"""The same for the mail itself, which servers look through before they take it."""
LONGEST_NAME = 100
"""Characters of the sender's display name."""
_PASSING = range(400, 500)
_OVERRIDES = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Directions that a character forces on what follows it."""


class _Talk(smtplib.SMTP):
    """The conversation, which tells an answer that is missing from one that says no."""

    patience = PATIENCE

    def data(self, msg: Any) -> tuple[int, bytes]:
        """Send the mail itself. Raises Unanswered when the server goes away or is silent instead of answering."""
        if self.sock is not None:
            self.sock.settimeout(self.patience)
        try:
            return super().data(msg)
        except smtplib.SMTPServerDisconnected:
            raise Unanswered from None
        finally:
            if self.sock is not None:
                self.sock.settimeout(self.timeout)


class _TlsTalk(_Talk, smtplib.SMTP_SSL):
    """The same over TLS from the first byte."""


class SmtpMailer:
    """One connection per mail: few are sent, and a connection that was kept open would be found dead."""

    is_configured = True

    def __init__(
        self,
        settings: Settings,
        *,
        context: ssl.SSLContext | None = None,
        timeout: float = TIMEOUT,
        patience: float = PATIENCE,
    ) -> None:
        self._settings = settings
        self._context = context or ssl.create_default_context()
        self._timeout, self._patience = timeout, patience

    def send(self, mail: Mail) -> None:
        """Hand ``mail`` over. Raises GatewayError; not retryable where the server said no for good, or said nothing."""
        message = self._message(mail)
        with _translated(), self._connected() as server:
            server.send_message(message)

    def _message(self, mail: Mail) -> EmailMessage:
        message = EmailMessage()
        try:
            message["From"], message["To"] = _from(mail.sender, self._settings.smtp_from), mail.to
            message["Subject"] = mail.subject
            if mail.reply_to.isascii() and mail.reply_to:
                message["Reply-To"] = Address(addr_spec=mail.reply_to)
        except (ValueError, HeaderParseError):
            raise GatewayError("a header of the mail cannot be written", retryable=False) from None
        message["Date"] = formatdate(localtime=False)
        message["Message-ID"] = make_msgid(domain=parseaddr(self._settings.smtp_from)[1].rpartition("@")[2] or None)
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(mail.text)
        if mail.html:
            message.add_alternative(mail.html, subtype="html")
        return message

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        settings = self._settings
        where: dict[str, Any] = {"host": settings.smtp_host, "port": settings.smtp_port, "timeout": self._timeout}
        server = _TlsTalk(**where, context=self._context) if settings.smtp_security == "tls" else _Talk(**where)
        server.patience = self._patience
        try:
            if settings.smtp_security == "starttls":
                server.starttls(context=self._context)
            if settings.smtp_username:
                server.login(settings.smtp_username, settings.smtp_password)
            yield server
        finally:
            with suppress(smtplib.SMTPException, OSError):  # what was taken stays taken, however the server takes leave
                server.quit()
            server.close()


def _from(name: str, ours: str) -> str | Address:
    """``ours`` with another display name. Not one that looks like an address."""
    shown = " ".join("".join(" " if unicodedata.category(one) == "Cc" else one for one in name).split())
    shown = "".join(one for one in shown if unicodedata.bidirectional(one) not in _OVERRIDES)[:LONGEST_NAME]
    address = parseaddr(ours)[1]
    return Address(shown, addr_spec=address) if shown and address and "@" not in shown else ours


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what smtplib raises into our error; no address and no password gets into its words."""
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _words in error.recipients.values()]
        passing = all(code in _PASSING for code in codes)
        raise GatewayError(f"the mail server refused the recipient ({codes[0]})", retryable=passing) from None
    except smtplib.SMTPNotSupportedError:
        raise GatewayError("the mail server does not support SMTP_SECURITY or signing in", retryable=False) from None
    except smtplib.SMTPResponseException as error:
        code = int(error.smtp_code)
        raise GatewayError(f"the mail server refused ({code})", retryable=code in _PASSING or code < 0) from None
    except ssl.SSLError:
        raise GatewayError(
            "the TLS connection to the mail server failed; check its certificate", retryable=True
        ) from None
    except (smtplib.SMTPException, OSError) as error:
        raise GatewayError(f"the mail server cannot be reached ({type(error).__name__})", retryable=True) from None
