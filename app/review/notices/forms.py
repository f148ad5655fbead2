"""Forms of notices: what a member wants by mail, and one channel. The actions check the values."""

from collections.abc import Mapping

from flask_wtf import FlaskForm
from wtforms import BooleanField, RadioField, SelectField, SelectMultipleField, StringField
from wtforms.fields import SelectChoice

from app.accounts.models import Role, TeamMember
from app.core.errors import Rejected
from app.review.notices.actions import Choices
from app.review.notices.delivery import NAMES
from app.review.notices.models import NoticeChannel, NoticeKind, Pace, Service
from app.review.notices.queries import Wanted
from app.review.notices.schedule import time_zones
from app.web.fields import flaw_of

KINDS = {
    NoticeKind.RESULT_READY.value: "A result is ready",
    NoticeKind.REQUEST_WAITING.value: "A candidate's request is waiting",
    NoticeKind.WEBHOOK_FAILING.value: "Webhooks are failing",
}


def _choices(texts: Mapping[str, str]) -> list[SelectChoice]:
    return [SelectChoice(value, text) for value, text in texts.items()]


PACES = _choices({Pace.AT_ONCE: "Immediately", Pace.DAILY: "In the daily email", Pace.OFF: "Never"})


class _Blamed(FlaskForm):  # type: ignore[misc]
    def blame(self, field: str | None, words: str) -> None:
        """Set an error on its field, or on the first field if it belongs to none."""
        blamed = self._fields.get(field or "") or next(iter(self._fields.values()))
        blamed.errors = [words]


class PreferenceForm(_Blamed):
    """What a member wants by mail."""

    result_ready = SelectField("A result is ready", choices=PACES)
    request_waiting = SelectField("A candidate's request is waiting", choices=PACES)
    webhook_failing = SelectField("Webhooks are failing", choices=PACES)
    is_own_only = BooleanField(
        "Only about interviews that are assigned to me",
        description="If you turn this on, you still get notices about requests that concern interviews "
        "without an assigned recruiter.",
    )
    hour = SelectField("Send the daily email at", choices=_choices({str(hour): f"{hour:02}:00" for hour in range(24)}))
    time_zone = SelectField("Time zone", validate_choice=False)
    with_names = BooleanField(
        "Include candidates' names",
        description="If you turn this off, emails identify an interview only by its flow and a link.",
    )
    with_scores = BooleanField("Include overall scores")

    def fit(self, member: TeamMember) -> None:
        """Offer the member's choices only."""
        self.time_zone.choices = _choices({name: name.replace("_", " ") for name in time_zones()})
        if member.role is not Role.ADMIN:
            del self.webhook_failing
        if member.role is Role.VIEWER:
            del self.request_waiting
            self.is_own_only.description = ""

    def wanted(self, before: Wanted) -> Wanted:
        """What was entered; what was not offered stays as it was. Raises Rejected with the field."""
        paces = {kind: self._pace(kind, before) for kind in NoticeKind}
        hour = str(self.hour.data or "")
        if not hour.isdecimal() or not hour.isascii() or len(hour) > 2:
            raise Rejected("Choose an hour from the list.", field="hour")
        return Wanted(
            result_ready=paces[NoticeKind.RESULT_READY],
            request_waiting=paces[NoticeKind.REQUEST_WAITING],
            webhook_failing=paces[NoticeKind.WEBHOOK_FAILING],
            is_own_only=bool(self.is_own_only.data),
            with_names=bool(self.with_names.data),
            with_scores=bool(self.with_scores.data),
            hour=int(hour),
            time_zone=str(self.time_zone.data or ""),
        )

    def _pace(self, kind: NoticeKind, before: Wanted) -> Pace:
        if kind.value not in self._fields:
            return before.pace(kind)
        value = self[kind.value].data
        if value not in set(Pace):
            raise Rejected("Choose “Immediately”, “In the daily email” or “Never”.", field=kind.value)
        return Pace(value)


class ChannelForm(_Blamed):
    """One channel in Slack or Teams."""

    name = StringField("Name", description="The channel's name in Slack or Microsoft Teams, such as #hiring.")
    service = RadioField("Service", choices=_choices(NAMES))
    secret_url = StringField("Webhook URL")  # so called that it is not shown again after signing in
    kinds = SelectMultipleField("Post when", choices=_choices(KINDS), validate_choice=False)
    with_names = BooleanField(
        "Include candidates' names",
        description="Everyone in the channel can read the names, and Slack or Microsoft Teams stores them. Erasing a "
        "candidate in Parley does not remove the name there.",
    )
    with_scores = BooleanField("Include overall scores")

    def show(self, channel: NoticeChannel) -> None:
        """Fill the form with the channel, without its URL."""
        for name in ("name", "kinds", "with_names", "with_scores"):
            self[name].data = getattr(channel, name)
        self.service.data = channel.service.value

    def choices(self) -> Choices:
        """What was entered. Raises Rejected with the field."""
        name, address = (self.name.data or "").strip(), (self.secret_url.data or "").strip()
        for field, text in (("name", name), ("secret_url", address)):
            flaw = flaw_of(text)
            if flaw:
                raise Rejected(flaw, field=field)
        if self.service.data not in set(Service):
            raise Rejected("Choose Slack or Microsoft Teams.", field="service")
        kinds = tuple(NoticeKind(value) for value in self.kinds.data or () if value in set(NoticeKind))
        return Choices(
            name,
            Service(self.service.data),
            address,
            kinds,
            with_names=bool(self.with_names.data),
            with_scores=bool(self.with_scores.data),
        )
