"""Mail over SMTP: what arrives, how the connection is protected, and what a refusal means."""

import email
import email.message
import email.policy
import socket
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.errors import GatewayError
from app.gateways.mail import Mail, NoMailer, Unanswered, build_mailer
from app.gateways.mail.smtp import LONGEST_NAME, SmtpMailer
from app.settings import Settings
from tests.outbound.certificates import Authority

from .smtp_server import SmtpServer

MAIL = Mail("ada@candidate.example", "Your code: 12345678", "Grüße\n\n12345678\n")


def mailer(settings: Settings, server: SmtpServer, security: str = "none", **more: object) -> SmtpMailer:
    known = replace(
        settings,
        smtp_host="localhost",
        smtp_port=server.port,
        smtp_security=security,
        smtp_from="Parley <parley@company.example>",
        **more,  # type: ignore[arg-type]
    )
    return SmtpMailer(known, timeout=5.0)


def test_a_mail_arrives_whole(settings: Settings) -> None:
    with SmtpServer() as server:
        mailer(settings, server).send(MAIL)
    message = email.message_from_bytes(server.script.mails[0], policy=email.policy.default)
    assert (message["To"], message["Subject"]) == (MAIL.to, MAIL.subject)
    assert message["From"] == "Parley <parley@company.example>"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"].endswith("@company.example>")
    assert message["Date"]
    assert message.get_content().replace("\r\n", "\n") == MAIL.text
    # A command's verb has no case (RFC 5321, 2.4), and releases of smtplib differ.
    assert [line.casefold() for line in server.script.recipients] == ["rcpt to:<ada@candidate.example>"]


@pytest.fixture
def contexts(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    authority = Authority(tmp_path)
    return authority.server("localhost"), authority.trusted()


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_connections_are_protected_and_certificates_checked(
    settings: Settings, contexts: tuple[ssl.SSLContext, ssl.SSLContext], security: str
) -> None:
    ours, trusting = contexts
    with SmtpServer(context=ours, implicit=security == "tls", login=("parley", "s3cret")) as server:
        sender = mailer(settings, server, security, smtp_username="parley", smtp_password="s3cret")
        with pytest.raises(GatewayError, match="certificate") as refused:
            sender.send(MAIL)
        assert refused.value.retryable
        assert server.script.mails == []
        sender._context = trusting
        sender.send(MAIL)
        assert server.script.was_secure


def test_a_server_without_tls_gets_no_password_and_no_mail(settings: Settings) -> None:
    with SmtpServer() as server:
        sender = mailer(settings, server, "starttls", smtp_username="parley", smtp_password="s3cret")
        with pytest.raises(GatewayError, match="SMTP_SECURITY"):
            sender.send(MAIL)
    assert server.script.mails == []
    assert "AUTH" not in server.script.commands


@pytest.mark.parametrize(
    ("reply", "retryable"),
    [
        ({"RCPT": "550 no such user"}, False),
        ({"RCPT": "451 later"}, True),
        ({"MAIL": "553 no"}, False),
        ({"MESSAGE": "452 full"}, True),
        ({"MESSAGE": "554 spam"}, False),
        ({"CONNECT": "421 closed"}, True),
    ],
)
def test_a_refusal_says_whether_to_try_again(settings: Settings, reply: dict[str, str], retryable: bool) -> None:
    with SmtpServer(replies=reply) as server, pytest.raises(GatewayError) as refused:
        mailer(settings, server).send(MAIL)
    assert refused.value.retryable is retryable
    assert "candidate" not in refused.value.message


@pytest.mark.parametrize("reply", ["250 fine", "421 too many", "500 what", "HANG UP", "SILENCE"])
def test_a_farewell_that_goes_wrong_undoes_nothing(settings: Settings, reply: str) -> None:
    with SmtpServer(replies={"QUIT": reply}) as server:
        sender = mailer(settings, server)
        sender._timeout = 0.5
        sender.send(MAIL)
    assert len(server.script.mails) == 1


@pytest.mark.parametrize("reply", ["HANG UP", "SILENCE"])
@pytest.mark.parametrize("security", ["none", "tls"])
def test_a_mail_without_an_answer_may_have_arrived_and_is_not_sent_again(
    settings: Settings, contexts: tuple[ssl.SSLContext, ssl.SSLContext], security: str, reply: str
) -> None:
    with SmtpServer(replies={"MESSAGE": reply}, context=contexts[0], implicit=security == "tls") as server:
        sender = mailer(settings, server, security)
        sender._context, sender._patience = contexts[1], 0.3
        with pytest.raises(Unanswered) as missing:
            sender.send(MAIL)
    assert not missing.value.retryable
    assert len(server.script.mails) == 1


def test_an_answer_may_take_longer_than_any_other_step(settings: Settings) -> None:
    with SmtpServer(replies={"MESSAGE": "SLOW 250 kept"}) as server:
        sender = mailer(settings, server)
        sender._timeout = 0.3
        sender.send(MAIL)
    assert len(server.script.mails) == 1


def test_a_wrong_password_is_not_tried_again(settings: Settings) -> None:
    with SmtpServer(login=("parley", "other")) as server, pytest.raises(GatewayError) as refused:
        mailer(settings, server, smtp_username="parley", smtp_password="s3cret").send(MAIL)
    assert not refused.value.retryable
    assert "s3cret" not in refused.value.message


def test_a_server_that_is_away_or_silent_is_tried_again(settings: Settings, free_port: int) -> None:
    away = replace(settings, smtp_host="localhost", smtp_port=free_port, smtp_security="none", smtp_from="a@b.example")
    with pytest.raises(GatewayError, match="cannot be reached") as refused:
        SmtpMailer(away, timeout=2.0).send(MAIL)
    assert refused.value.retryable
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        mute = replace(away, smtp_port=silent.getsockname()[1])
        with pytest.raises(GatewayError, match="cannot be reached"):
            SmtpMailer(mute, timeout=0.2).send(MAIL)


def test_nobody_adds_a_header_of_their_own(settings: Settings) -> None:
    with SmtpServer() as server, pytest.raises(GatewayError) as refused:
        mailer(settings, server).send(replace(MAIL, subject="Hello\r\nBcc: all@example.com"))
    assert not refused.value.retryable
    assert server.script.mails == []


def sent(settings: Settings, mail: Mail) -> email.message.EmailMessage:
    with SmtpServer() as server:
        mailer(settings, server).send(mail)
    message = email.message_from_bytes(server.script.mails[0], policy=email.policy.default)
    assert isinstance(message, email.message.EmailMessage)
    return message


def test_a_mail_has_a_text_and_an_html_part_for_programs_to_choose_from(settings: Settings) -> None:
    message = sent(settings, replace(MAIL, html="<!DOCTYPE html><p>Grüße</p>"))
    assert message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    text, html = (part.get_content().replace("\r\n", "\n") for part in message.iter_parts())
    assert (text, html.strip()) == (MAIL.text, "<!DOCTYPE html><p>Grüße</p>")


def test_the_sender_has_the_organizations_name_and_replies_go_to_the_member(settings: Settings) -> None:
    message = sent(settings, replace(MAIL, sender="Bäckerei, “Sonne”; Nord", reply_to="robin@first.example"))
    (sender,) = message["From"].addresses
    assert (sender.display_name, sender.addr_spec) == ("Bäckerei, “Sonne”; Nord", "parley@company.example")
    assert message["Reply-To"] == "robin@first.example"
    assert sent(settings, MAIL)["Reply-To"] is None


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Nurses\r\nBcc: all@example.com", "Parley"),
        ("Nurses\r\nBcc: everyone", "Nurses Bcc: everyone"),
        ("boss@bank.example", "Parley"),
        ("\u202eelpmaxe knaB\u202c", "elpmaxe knaB"),
        ("\x00 \t", "Parley"),
        ("x" * 500, "x" * LONGEST_NAME),
        ('" <evil@e.com>', "Parley"),
        ('Say "hi" \\ <all>', 'Say "hi" \\ <all>'),
    ],
)
def test_a_name_is_only_a_name(settings: Settings, name: str, shown: str) -> None:
    message = sent(settings, replace(MAIL, sender=name))
    (sender,) = message["From"].addresses
    assert (sender.display_name, sender.addr_spec) == (shown, "parley@company.example")
    assert message["Bcc"] is None


@pytest.mark.parametrize("address", ["a@b.example\r\nBcc: c@d.example", "a@b.example, c@d.example", "<a@b.example"])
def test_replies_go_to_one_address_or_nothing_is_sent(settings: Settings, address: str) -> None:
    with SmtpServer() as server, pytest.raises(GatewayError) as refused:
        mailer(settings, server).send(replace(MAIL, reply_to=address))
    assert not refused.value.retryable
    assert server.script.mails == []


def test_an_address_that_no_header_can_hold_is_left_out(settings: Settings) -> None:
    assert sent(settings, replace(MAIL, reply_to="jörg@first.example"))["Reply-To"] is None


def test_without_a_server_there_is_no_mail(settings: Settings) -> None:
    found = build_mailer(settings)
    assert isinstance(found, NoMailer)
    assert not found.is_configured
    with pytest.raises(GatewayError):
        found.send(MAIL)
    assert build_mailer(replace(settings, smtp_host="localhost")).is_configured
