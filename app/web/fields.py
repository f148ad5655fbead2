"""Field types of ``/v1`` that take exactly what the interface says: no NUL, no half characters, no "1" for true."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

import marshmallow as ma
from email_validator import EmailNotValidError, validate_email

from app.core.errors import Rejected

LIMIT_HIGHEST = 1000
OFFSET_HIGHEST = 1_000_000_000
EXTENSION = {"x-parley-extension": True}
"""Metadata of a parameter that the contract does not have."""
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2200, 1, 1)

_COUNT = re.compile(r"[0-9]{1,9}\Z", re.ASCII)
_WHOLE = re.compile(r"-?[0-9]{1,18}\Z", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,6})?([Zz]|[+-]\d{2}:\d{2})\Z", re.ASCII)
UUID_FORM = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
UUID = re.compile(UUID_FORM + r"\Z")


def flaw_of(text: str) -> str | None:
    """What makes ``text`` impossible to keep or to send on, or None."""
    if "\x00" in text:
        return "Must not contain the NUL character."
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "Contains half of a surrogate pair, which is not a character."
    return None


def day_in(text: str) -> date | None:
    """The day that an address names as ``2026-01-31``; None for what is no day, or is far from any of Parley's."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if FIRST_DAY <= day <= LAST_DAY else None


def count_in(text: str, *, field: str) -> int | None:
    """The count that a form's field holds, up to nine digits; None where it is empty. Raises Rejected naming it."""
    typed = text.strip()
    if not typed:
        return None
    if not _COUNT.match(typed):
        raise Rejected("Enter a whole number, such as 12, or leave this empty.", field=field)
    return int(typed)


class Text(ma.fields.String):
    """A text of at most ``most`` characters. ``blank=False`` also refuses one that is empty or all white space."""

    def __init__(self, *, most: int, blank: bool = True, **kwargs: Any) -> None:
        checks = [ma.validate.Length(max=most, error=f"Longer than {most} characters.")]
        super().__init__(validate=[*checks, *kwargs.pop("validate", [])], **kwargs)
        self.blank = blank
        if not blank:
            self.metadata = {"minLength": 1, **self.metadata}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise self.make_error("invalid")
        flaw = flaw_of(value)
        if flaw:
            raise ma.ValidationError(flaw)
        if not self.blank and not value.strip():
            raise ma.ValidationError("Must not be blank.")
        return value


class Flag(ma.fields.Boolean):
    """``true`` or ``false`` and nothing that only looks like them."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid")
        return value


class Choice(Text):
    """One of a fixed set of words, ``called`` so in the OpenAPI document; with ``allow_none`` also null."""

    def __init__(self, words: Iterable[str], *, called: str, **kwargs: Any) -> None:
        self.words = tuple(words)
        self.called = called
        kwargs.setdefault("most", 100)
        super().__init__(**kwargs)
        self.validators = []  # the words bound the length

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise ma.ValidationError(f"Must be one of: {', '.join(self.words)}.")
        return value


class AnyOf(ma.fields.Raw):
    """A value that has one of several shapes, or is null. For answers that no schema dumps: it documents them."""

    def __init__(self, *shapes: type[ma.Schema], **kwargs: Any) -> None:
        super().__init__(allow_none=True, **kwargs)
        self.shapes = shapes


class TextByKey(ma.fields.Raw):
    """An object with texts. What is in it is for an action to check; here it is only documented."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.metadata = {"type": "object", "additionalProperties": {"type": "string"}, **self.metadata}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ma.ValidationError("Must be an object with strings.")
        return value


class Several(ma.fields.List[Any]):
    """A list of at most ``most`` things, counted before any is looked at: a million wrong ones get one short answer."""

    def __init__(self, inner: ma.fields.Field[Any], *, most: int, words: str, **kwargs: Any) -> None:
        super().__init__(inner, validate=ma.validate.Length(max=most, error=words), **kwargs)
        self.most = most
        self.words = words

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        if isinstance(value, list) and len(value) > self.most:
            raise ma.ValidationError(self.words)
        items: list[Any] = super()._deserialize(value, attr, data, **kwargs)
        return items


class QueryId(Text):
    """An id in a query; an empty value is wrong. Whether it exists is for a query to say."""

    def __init__(self, *, most: int = 100, **kwargs: Any) -> None:
        super().__init__(most=most, blank=False, **kwargs)


class WholeNumber(ma.fields.Integer):
    """A whole number in a query, in plain ASCII digits, between ``lowest`` and ``highest``."""

    def __init__(self, *, lowest: int, highest: int, **kwargs: Any) -> None:
        self.words = f"Must be a whole number from {lowest} to {highest}."
        super().__init__(validate=ma.validate.Range(min=lowest, max=highest, error=self.words), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if not isinstance(value, str) or not _WHOLE.match(value):
            raise ma.ValidationError(self.words)
        return int(value)


class EmailAddress(Text):
    """An address whose form is right; the domain is not asked. The local part keeps its letters as they were given."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(most=320, **kwargs)
        self.metadata = {"format": "email", **self.metadata}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        flaw = address_flaw(str(text))
        if flaw:
            raise ma.ValidationError(flaw)
        return text


def address_flaw(address: str) -> str | None:
    """Why ``address`` is no email address, or None."""
    try:
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        return "Not a valid email address."
    return None


class IdPattern(Text):
    """An id in the form 8-4-4-4-12 of hex digits."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(most=36, **kwargs)
        self.metadata = {
            "pattern": "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
            **self.metadata,
        }

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not UUID.match(str(text)):
            raise ma.ValidationError("Must be an id of the form 8-4-4-4-12 hex digits.")
        return str(text).lower()


class Time(Text):
    """A moment in the format of RFC 3339, with its time zone."""

    def __init__(self, description: str, *, metadata: dict[str, Any] | None = None, **kwargs: Any) -> None:
        about = {"description": description, "format": "date-time", **(metadata or {})}
        super().__init__(most=40, metadata=about, **kwargs)
        self.validators = []  # the form bounds the length

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        moment = _moment_in(text)
        if moment is None and _moment_in(f"{text}Z") is not None:
            raise ma.ValidationError(f"The time zone is missing. Send {text}Z if it is in UTC.")
        if moment is None and _moment_in(text.replace(" ", "+")) is not None:  # what a URL makes of a plain +
            raise ma.ValidationError("Has a space where + belongs. Write + as %2B in a URL.")
        if moment is None:
            raise ma.ValidationError("Must be a time with its time zone, such as 2026-01-31T09:15:00Z.")
        return moment


def _moment_in(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC) if _MOMENT.match(text) else None
    except (ValueError, OverflowError):
        return None


def limit_field(default: int) -> WholeNumber:
    """``limit`` of a list."""
    return WholeNumber(
        lowest=1, highest=LIMIT_HIGHEST, load_default=default, metadata={"description": "Number of items to return."}
    )


def offset_field() -> WholeNumber:
    """``offset`` of a list."""
    return WholeNumber(
        lowest=0, highest=OFFSET_HIGHEST, load_default=0, metadata={"description": "Number of items to skip."}
    )


def after_field() -> QueryId:
    """``after`` of a list with a cursor."""
    description = "`next` of the page before. Default: the first page."
    return QueryId(most=1_000, load_default=None, metadata={"description": description})


def team_id_field() -> QueryId:
    """``team_id`` of a list: absent or ``null`` means all teams of the organization."""
    return QueryId(
        allow_none=True,
        load_default=None,
        metadata={"description": "Limits the list to this team. Default: all teams."},
    )
