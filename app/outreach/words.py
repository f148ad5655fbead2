"""The text of each email and its placeholders. Pure, except that it reads the current locale."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from flask_babel import gettext

from app.core.errors import Rejected
from app.outreach.models import Step

LONGEST_SUBJECT, LONGEST_TEXT = 200, 5_000
PLACES = {
    "name": "The candidate's first name. Empty if there is none.",
    "organization": "The organization name set in the flow.",
    "title": "The title of the flow.",
    "link": "The candidate's invite link. Required.",
    "until": "The last day on which the link works.",
}
_PLACE = re.compile(r"\{(\w*)\}")
_BESIDE = r"[^\s{}.,:;!?،。、：！，]*"
_NAME = re.compile(rf" ?{_BESIDE}\{{name\}}{_BESIDE}")  # with what is joined to it, as さん or คุณ


@dataclass(frozen=True, slots=True)
class Words:
    """Subject and text of an email, with placeholders in braces."""

    subject: str
    text: str


def default_words(step: Step) -> Words:
    """The default text in the current locale."""
    if step is Step.INVITATION:
        return _invitation()
    if step is Step.REMINDER:
        return _reminder()
    return _expiry()


def _invitation() -> Words:
    return Words(
        gettext("Your interview with {organization}: {title}"),
        _paragraphs(
            gettext("Hello {name},"),
            gettext("{organization} invites you to an interview: {title}."),
            gettext(
                "An AI asks the questions in your browser, at a time that suits you. You speak or type your answers. "
                "They are recorded, and people at {organization} review them."
            ),
            gettext("Your link: {link}"),
            gettext("It is for you alone and works until {until}."),
            gettext(
                "If you need something different, for example more time or an interview with a person, the page that "
                "the link opens tells you how to ask for it."
            ),
        ),
    )


def _reminder() -> Words:
    return Words(
        gettext("Reminder: your interview with {organization} ({title})"),
        _paragraphs(
            gettext("Hello {name},"),
            gettext("You have not yet started your interview with {organization} ({title})."),
            gettext("Your link: {link}"),
            gettext("It is for you alone and works until {until}."),
            gettext(
                "If you do not want to take part, you can say so on the page that the link opens, and you will not "
                "receive any more reminders."
            ),
        ),
    )


def _expiry() -> Words:
    return Words(
        gettext("The link to your interview with {organization} expires soon"),
        _paragraphs(
            gettext("Hello {name},"),
            gettext("The link to your interview with {organization} ({title}) only works until {until}."),
            gettext("Your link: {link}"),
        ),
    )


def _paragraphs(*all_of_them: str) -> str:
    return "\n\n".join(all_of_them)


def checked(subject: str, text: str, *, places: Collection[str] = PLACES, needs_link: bool = True) -> Words:
    """The text as it is stored. Raises Rejected with the field ``subject`` or ``text``."""
    head, body = " ".join(subject.split()), text.replace("\r\n", "\n").strip()
    for name, words, value, most in (
        ("subject", "subject", head, LONGEST_SUBJECT),
        ("text", "body", body, LONGEST_TEXT),
    ):
        if not value:
            raise Rejected(f"The {words} is empty.", field=name)
        if len(value) > most:
            raise Rejected(f"The {words} has {len(value)} characters. The limit is {most}.", field=name)
        unknown = sorted({place for place in _PLACE.findall(value) if place not in places})
        if unknown:
            known = ", ".join(f"{{{place}}}" for place in places)
            raise Rejected(f"{{{unknown[0]}}} is not a placeholder. You can use {known}.", field=name)
    if needs_link and "{link}" not in body:
        raise Rejected("Add {link} to the body. Without it, candidates cannot start the interview.", field="text")
    return Words(head, body)


def filled(words: Words, values: Mapping[str, str]) -> Words:
    """The text with every placeholder filled in. A missing name leaves no gap."""
    return Words(" ".join(_filled(words.subject, values).split()), _filled(words.text, values))


def _filled(text: str, values: Mapping[str, str]) -> str:
    if not values.get("name"):
        text = _NAME.sub("", text)
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), text)
