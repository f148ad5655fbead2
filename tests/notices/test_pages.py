"""The pages of notices: what a member wants by mail, and the channels of flows and of the organization."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.audit.entries import WORDS
from app.accounts.models import AuditEntry
from app.core.db import db
from app.flows.models import Right
from app.interviews.models import Interview
from app.review.flow_access import actions as flow_access
from app.review.notices import jobs, queries
from app.review.notices.actions.channels import MOST_CHANNELS, address_of
from app.review.notices.models import NoticeChannel, NoticeDelivery, Pace
from tests.factories import Made
from tests.outbound.receiver import Receiver, says
from tests.people import Person, moved_away

from .conftest import spread
from .services import SERVICES, slack_flaws, slack_seen, teams_flaws

SECRET = "https://hooks.slack.com/services/T000/B000/verysecretXYZ9"
ENTERED = {"service": "slack", "secret_url": SECRET, "name": "#hiring", "kinds": ["result_ready"]}
SAVED = {"result_ready": "daily", "request_waiting": "off", "hour": "17", "time_zone": "Europe/Berlin"}


def words_of(page: Any) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.text)))


def only_channel() -> NoticeChannel:
    db.session.expire_all()
    return db.session.scalars(sa.select(NoticeChannel)).one()


def trail() -> list[str]:
    entries = db.session.scalars(sa.select(AuditEntry).order_by(AuditEntry.number)).all()
    return [entry.action for entry in entries if entry.action.startswith("notices.")]


def test_a_member_chooses_what_to_get(colleague: Person) -> None:
    browser = colleague.browser
    assert 'href="/profile/notices"' in browser.get("/profile").text
    page = browser.get("/profile/notices").text
    assert 'data-module="timezone"' in page  # the browser proposes its own until the member has chosen
    assert "Webhooks are failing" not in page
    answer = browser.post("/profile/notices", data={**SAVED, "with_names": "y", "webhook_failing": "off"})
    assert answer.status_code == 303
    wanted = queries.wanted_by(colleague.member)
    assert (wanted.result_ready, wanted.request_waiting) == (Pace.DAILY, Pace.OFF)
    assert wanted.webhook_failing is Pace.AT_ONCE  # not offered to them, so it cannot be changed
    assert (wanted.hour, wanted.time_zone) == (17, "Europe/Berlin")
    assert (wanted.is_own_only, wanted.with_names, wanted.with_scores) == (False, True, False)
    assert 'data-module="timezone"' not in browser.get("/profile/notices").text


def test_viewers_are_not_asked_about_requests(viewer: Person) -> None:
    page = viewer.browser.get("/profile/notices").text
    assert "A result is ready" in page
    assert "candidate's request" not in html.unescape(page)
    assert "assigned to no one" not in page


@pytest.mark.parametrize(
    ("wrong", "says_what"),
    [
        ({"result_ready": "hourly"}, "Choose “Immediately”, “In the daily email” or “Never”."),
        ({"hour": "24"}, "Choose an hour"),
        ({"hour": "²"}, "Choose an hour"),
        ({"hour": ""}, "Choose an hour"),
        ({"time_zone": "../../etc/passwd"}, "Choose a time zone from the list."),
        ({"time_zone": "\x00"}, "Choose a time zone from the list."),
    ],
)
def test_choices_that_do_not_exist_are_refused(colleague: Person, wrong: dict[str, str], says_what: str) -> None:
    answer = colleague.browser.post("/profile/notices", data={**SAVED, **wrong})
    assert answer.status_code == 422
    assert says_what in words_of(answer)
    assert not queries.has_chosen(colleague.member)


def test_without_a_mail_server_the_page_says_so(colleague: Person) -> None:
    assert "has no mail server" in words_of(colleague.browser.get("/profile/notices"))


def test_a_channel_is_added_and_its_url_is_never_shown(owner: Person) -> None:
    browser = owner.browser
    assert "No channels yet" in browser.get("/notices").text
    answer = browser.post("/notices/new", data=ENTERED)
    channel = only_channel()
    assert answer.location == f"/notices/{channel.id}"
    assert "verysecret" not in channel.address_sealed + channel.address_hint
    assert address_of(channel) == SECRET
    pages = [browser.get(path).text for path in ("/notices", answer.location, "/audit")]
    assert "hooks.slack.com/…XYZ9" in pages[0]
    assert "hooks.slack.com/…XYZ9" in pages[1]
    assert not [page for page in pages if "verysecret" in page]
    assert trail() == ["notices.channel_added"]
    assert (channel.with_names, channel.with_scores) == (False, False)


def test_a_channel_is_changed_and_keeps_its_url_where_none_is_entered(owner: Person) -> None:
    browser = owner.browser
    browser.post("/notices/new", data=ENTERED)
    path = f"/notices/{only_channel().id}"
    browser.post(path, data={**ENTERED, "secret_url": "", "name": "#people", "with_scores": "y"})
    channel = only_channel()
    assert (channel.name, channel.with_scores, address_of(channel)) == ("#people", True, SECRET)
    browser.post(path, data={**ENTERED, "secret_url": f"{SECRET}2"})
    assert address_of(only_channel()) == f"{SECRET}2"
    assert trail()[1:] == ["notices.channel_changed"] * 2


@pytest.mark.parametrize(
    ("wrong", "says_what"),
    [
        ({"secret_url": ""}, "Enter the URL that Slack or Microsoft Teams gave you."),
        ({"secret_url": "not a url"}, "white space"),
        ({"secret_url": "http://[::1"}, "The URL must be complete"),
        ({"secret_url": "https://10.0.0.1/hook"}, "The IP address 10.0.0.1 is not allowed"),
        ({"secret_url": "https://169.254.169.254/latest"}, "is not allowed"),
        ({"secret_url": "https://prod.westus.logic.azure.com/workflows/1"}, "Choose Microsoft Teams"),
        ({"service": "teams"}, "Choose Slack"),
        ({"service": "mattermost"}, "Choose Slack or Microsoft Teams."),
        ({"kinds": []}, "Choose at least one kind of notice"),
        ({"kinds": ["everything"]}, "Choose at least one kind of notice"),
        ({"name": " "}, "Enter a name"),
        ({"name": "x" * 101}, "up to 100 characters"),
        ({"name": "a\x00"}, "NUL"),
    ],
)
def test_what_is_no_channel_is_refused(owner: Person, wrong: dict[str, Any], says_what: str) -> None:
    answer = owner.browser.post("/notices/new", data={**ENTERED, **wrong})
    assert answer.status_code == 422
    assert says_what in words_of(answer)
    assert db.session.scalar(sa.select(sa.func.count()).select_from(NoticeChannel)) == 0


def test_there_is_a_limit(owner: Person, channel: Made) -> None:
    for number in range(MOST_CHANNELS):
        channel(address=f"{SECRET}{number}")
    answer = owner.browser.post("/notices/new", data=ENTERED)
    assert answer.status_code == 422
    assert "Remove one first" in words_of(answer)


@pytest.mark.parametrize("service", SERVICES)
def test_a_test_message_says_what_came_of_it(owner: Person, channel: Made, receiver: Receiver, service: str) -> None:
    made = channel(service)
    browser = owner.browser
    page = browser.post(f"/notices/{made.id}/test", follow_redirects=True)
    assert "accepted the test notice" in words_of(page)
    [body] = receiver.bodies
    assert (slack_flaws if service == "slack" else teams_flaws)(body) == []
    receiver.script = says(404, b"no_team")
    page = browser.post(f"/notices/{made.id}/test", follow_redirects=True)
    assert "responded with 404 (no_team)." in words_of(page)
    assert only_channel().is_on  # it is only a test
    assert trail()[-2:] == ["notices.channel_tested"] * 2


def test_a_channel_is_switched_off_and_on_and_removed(
    owner: Person, channel: Made, receiver: Receiver, completed: Callable[..., Interview]
) -> None:
    made = channel()
    browser = owner.browser
    completed()
    spread()
    browser.post(f"/notices/{made.id}/switch", data={"on": "no"})
    assert not only_channel().is_on
    assert jobs.send() == 0
    completed()
    spread()
    browser.post(f"/notices/{made.id}/switch", data={"on": "yes"})
    assert jobs.send() == 0  # what happened meanwhile is not made up for
    completed()
    spread()
    assert jobs.send() == 1
    assert "A result is ready" in slack_seen(receiver.bodies[0])
    assert "Not needed" in browser.get(f"/notices/{made.id}").text
    answer = browser.post(f"/notices/{made.id}/remove")
    assert answer.location == "/notices"
    for table in (NoticeChannel, NoticeDelivery):
        assert db.session.scalar(sa.select(sa.func.count()).select_from(table)) == 0
    assert trail() == [f"notices.channel_{what}" for what in ("added", "off", "on", "removed")]
    assert set(trail()) <= WORDS.keys()


def test_recruiters_manage_channels_of_flows_that_they_may_edit_alone(
    owner: Person, colleague: Person, viewer: Person, make_flow: Made, channel: Made
) -> None:
    flow, everyones = make_flow(), channel(address=SECRET)
    browser = colleague.browser
    assert f'href="/notices?flow={flow.id}"' in browser.get(f"/flows/{flow.id}").text
    assert f'href="/notices?flow={flow.id}"' not in viewer.browser.get(f"/flows/{flow.id}").text
    assert browser.get("/notices").status_code == 403
    assert browser.post("/notices/new", data=ENTERED).status_code == 403
    assert browser.get(f"/notices/{everyones.id}").status_code == 403
    made = browser.post("/notices/new", data={**ENTERED, "flow": flow.id})
    assert made.status_code == 303
    assert browser.get(made.location).status_code == 200
    assert viewer.browser.get(made.location).status_code == 403
    assert owner.browser.get(made.location).status_code == 200
    overview = words_of(owner.browser.get("/notices"))
    assert "Nurse Slack A result is ready" in overview  # administrators see the channels of all flows
    assert "All flows Slack" in overview
    moved_away(colleague)
    flow_access.give(flow, colleague.member, Right.VIEW, by=owner.member)
    db.session.commit()
    assert browser.get(made.location).status_code == 403


def test_a_url_gets_each_notice_once_and_narrowed_flows_stay_among_their_members(
    owner: Person, make_flow: Made, channel: Made, receiver: Receiver, completed: Callable[..., Interview]
) -> None:
    flow = make_flow()
    channel(with_names=True)
    channel(flow=flow)  # the same URL, and the flow's own choice: no names
    completed(flow)
    spread()
    assert jobs.send() == 1
    assert "Mary" not in slack_seen(receiver.bodies[0])
    hidden = make_flow()
    flow_access.narrow(hidden, by=owner.member)
    db.session.commit()
    completed(hidden)
    spread()
    assert jobs.send() == 0
    channel(flow=hidden)
    completed(hidden)
    spread()
    assert jobs.send() == 1


def test_a_channel_whose_url_cannot_be_read_says_so(
    owner: Person, channel: Made, completed: Callable[..., Interview]
) -> None:
    made = channel()
    made.address_sealed = made.address_sealed[:-4] + "AAAA"
    db.session.commit()
    completed()
    spread()
    assert jobs.send() == 0
    for page in (owner.browser.get(f"/notices/{made.id}"), owner.browser.post(f"/notices/{made.id}/test")):
        assert page.status_code in {200, 303}
    assert "SECRET_KEY has changed" in words_of(owner.browser.get(f"/notices/{made.id}"))
