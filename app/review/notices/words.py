"""What a notice says, from the rows as they are when it is sent: for channels, for a mail, and for a daily mail."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from app.accounts.models import TeamMember
from app.candidate_requests.models import RequestKind
from app.candidates.overall import overall
from app.flows.models import InterviewFlow
from app.gateways.mail import Mail
from app.interviews.models import Interview
from app.review.notices.models import Notice, NoticeChannel, NoticeKind
from app.review.rate_first.queries import asks
from app.webhooks.models import DisabledBy, Endpoint, Trouble

LONGEST = 200
"""Characters of a value in a notice."""
MOST_LINES = 50
"""Lines of one kind in a daily mail."""
MOST_TITLES = 5
_FORCED = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
REQUESTS = {
    RequestKind.ACCOMMODATION: "Accommodation",
    RequestKind.CORRECTION: "Correction",
    RequestKind.DELETION: "Erasure",
    RequestKind.REVIEW: "Human review",
    RequestKind.WITHDRAWAL: "Withdrawal of consent",
}
TROUBLES = {
    Trouble.FAILING: "Webhooks are failing",
    Trouble.WARNED: "A webhook endpoint will be disabled soon",
    Trouble.DISABLED: "A webhook endpoint is disabled",
}


@dataclass(frozen=True, slots=True)
class Shows:
    """What a destination may read about candidates."""

    names: bool = False
    scores: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """One notice in words. ``title``, ``text``, the labels and ``button`` are Parley's; the values can be anyone's."""

    title: str
    lines: tuple[tuple[str, str], ...]
    link: str
    button: str
    text: str = ""


def may_name_score(flow: InterviewFlow) -> bool:
    """Whether a notice about a result of the flow may name its score: not where members rate before they see scores,
    because they have not rated a result of which they only hear now.
    """
    return not asks(flow, flow.organization)


def clean(text: str) -> str:
    """In one line, without control characters and forced directions, and not too long."""
    spaced = "".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in text)
    plain = "".join(sign for sign in " ".join(spaced.split()) if unicodedata.bidirectional(sign) not in _FORCED)
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1].rstrip() + "…"


def said(notice: Notice, shows: Shows, *, app_url: str) -> Said:
    """The notice for one destination. Only for notices that ``queries.is_news`` accepts."""
    if notice.endpoint is not None:
        return _endpoint(notice.endpoint, Trouble(notice.step or Trouble.FAILING), app_url=app_url)
    interview = notice.interview
    if interview is None:
        raise ValueError("a notice is about an interview or about an endpoint")
    about = [("Flow", clean(interview.flow.title)), *_person(interview, shows)]
    link = interview.page_link(app_url)
    if notice.request is None:
        lines = (*about, *_score(interview, shows))
        return Said("A result is ready", lines, link, "See the result")
    due = notice.request.due_at
    lines = (
        *about,
        ("Request", REQUESTS[notice.request.kind]),
        *((("Reply by", f"{due.day} {due:%b %Y}"),) if due else ()),
    )
    return Said("A candidate's request is waiting", lines, f"{link}#requests", "See the request")


def _person(interview: Interview, shows: Shows) -> tuple[tuple[str, str], ...]:
    name = (interview.candidate.full_name if interview.candidate else None) or interview.interviewee_name
    return (("Candidate", clean(name)),) if shows.names and name else ()


def _score(interview: Interview, shows: Shows) -> tuple[tuple[str, str], ...]:
    if not shows.scores or interview.data is None or not may_name_score(interview.flow):
        return ()
    figure = overall(interview.data.scores, interview.data.own_criteria)
    return (("Overall score", "not assessed" if figure is None else f"{figure:.1f} out of 5"),)


def _endpoint(endpoint: Endpoint, trouble: Trouble, *, app_url: str) -> Said:
    """Only the host of the URL is named, because the rest may contain a secret."""
    since = f"{endpoint.failing_since:%d %b %Y, %H:%M} UTC" if endpoint.failing_since else ""
    gone = endpoint.disabled_by is DisabledBy.GONE
    why = "responded with 410 Gone" if gone else "has not accepted any events for five days"
    texts = {
        Trouble.FAILING: "The endpoint is not accepting webhooks. Parley keeps trying for about three days. Nothing is "
        "lost in the meantime.",
        Trouble.WARNED: "The endpoint is not accepting webhooks. If this continues, Parley disables it in one day and "
        "holds its events for at most 30 days.",
        Trouble.DISABLED: f"The endpoint {why}, so Parley has stopped sending to it. Its events are held for at "
        "most 30 days. They are sent in order when an administrator enables the endpoint.",
    }
    gets = "all flows" if endpoint.is_organizations else ""
    lines = [
        ("Endpoint", clean(urlsplit(endpoint.url).hostname or "unknown")),
        ("Receives events from", gets),
        ("Failing since", since),
    ]
    return Said(
        TROUBLES[trouble],
        tuple(line for line in lines if line[1]),
        f"{app_url}/webhooks/endpoints/{endpoint.id}",
        "See the endpoint",
        texts[trouble],
    )


def with_flows(message: Said, titles: Sequence[str]) -> Said:
    """The same, with the flows that send to the endpoint."""
    if not titles:
        return message
    more = f" and {len(titles) - MOST_TITLES} more" if len(titles) > MOST_TITLES else ""
    named = ", ".join(clean(title) for title in titles[:MOST_TITLES])
    return replace(message, lines=(*message.lines, ("Flows that use the endpoint", f"{named}{more}")))


def trial() -> Said:
    """The test notice of a channel's page; the page adds the link."""
    text = "This is a test notice. Parley's notices arrive here."
    return Said("Parley can post here", (("Flow", "Test flow"),), "", "Open Parley", text)


def mail(message: Said, member: TeamMember, *, app_url: str) -> Mail:
    """One notice by itself."""
    first = message.lines[0][1] if message.lines else ""
    facts = "\n".join(f"{label}: {value}" for label, value in message.lines)
    paragraphs = [message.text, facts, f"{message.button}:\n{message.link}", _footer(app_url)]
    text = "\n\n".join(part for part in (f"{message.title}.", *paragraphs) if part)
    subject = f"{message.title}: {first}" if first else message.title
    return Mail(
        member.email, subject, text, link=message.link, button=message.button, sender=clean(member.organization.name)
    )


def digest(items: Sequence[tuple[Notice, Said]], member: TeamMember, *, app_url: str) -> Mail:
    """All notices since the last daily mail: a paragraph for each kind, and one button."""
    found = {kind: [message for notice, message in items if notice.kind is kind] for kind in NoticeKind}
    heads = [_counted(kind, len(messages)) for kind, messages in found.items() if messages]
    parts = [
        f"{_counted(kind, len(messages))}:\n" + "\n".join(_listed(messages))
        for kind, messages in found.items()
        if messages
    ]
    text = "\n\n".join([*parts, f"Open Parley:\n{app_url}/", _footer(app_url)])
    summary = " and ".join(filter(None, [", ".join(heads[:-1]), heads[-1]]))
    return Mail(
        member.email,
        f"Your daily summary: {summary}",
        text,
        link=f"{app_url}/",
        button="Open Parley",
        sender=clean(member.organization.name),
    )


def _counted(kind: NoticeKind, number: int) -> str:
    one, many = {
        NoticeKind.RESULT_READY: ("new result", "new results"),
        NoticeKind.REQUEST_WAITING: ("request waiting", "requests waiting"),
        NoticeKind.WEBHOOK_FAILING: ("problem with webhooks", "problems with webhooks"),
    }[kind]
    return f"{number} {one if number == 1 else many}"


def _listed(messages: Iterable[Said]) -> list[str]:
    """A line for each notice; those that read the same share one."""
    lines = Counter(", ".join(value for _label, value in message.lines) for message in messages)
    listed = [f"- {line}{f' ({count})' if count > 1 else ''}" for line, count in lines.items()]
    more = len(listed) - MOST_LINES
    return [*listed[:MOST_LINES], *([f"- and {more} more"] if more > 0 else [])]


def _footer(app_url: str) -> str:
    return f"To change which emails you receive, open your profile: {app_url}/profile/notices\n"


def gone(channel: NoticeChannel, failure: str, *, app_url: str) -> Mail:
    """To the owner of a channel that was switched off because its URL no longer exists. To no one yet."""
    where = f"{app_url}/notices/{channel.id}"
    service = "Slack" if channel.service.value == "slack" else "Microsoft Teams"
    return Mail(
        "",
        f"Notices to {clean(channel.name)} are switched off",
        f"{failure} This means that the URL of the channel “{clean(channel.name)}” no longer exists in {service}, so "
        "Parley has stopped sending notices to the channel.\n\n"
        f"To receive notices there again, create a new URL in {service} and enter it on the "
        f"channel's page:\n{where}\n",
        link=where,
        button="See the channel",
    )
