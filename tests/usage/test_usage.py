"""Use is counted once and for good; quotas give word once a month and level, and stop bookings only where asked to."""

import csv
import html
import io
import re
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import AuditEntry
from app.accounts.usage import actions, jobs, queries
from app.accounts.usage.models import UsageQuota, UsageRecord
from app.core import claims, clock
from app.core.db import db, new_id
from app.core.errors import Rejected
from app.gateways.language_model.usage import Used as ModelUse
from app.interviews import actions as interviews
from app.interviews.actions import Finished
from app.interviews.models import Interview, Stage
from app.interviews.published_result import Result, freeze_details, freeze_text
from app.interviews.recordings.media import MediaFile
from app.interviews.recordings.models import Media
from app.outreach.apply_links import actions as flow_links
from app.outreach.apply_links.actions import Over
from tests.factories import Made
from tests.mailing import mails
from tests.people import Person

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def at(moment: datetime) -> AbstractContextManager[None]:
    return clock.replaced(lambda: moment)


@pytest.fixture
def flow(make_flow: Made) -> Any:
    return make_flow(title="=Nurse")


def book(owner: Person, flow: Any, **values: Any) -> Interview:
    interview = interviews.book(owner.organization, flow.id, email="mary@candidate.example", **values)
    db.session.commit()
    return interview


def sound(seconds: float) -> MediaFile:
    return MediaFile(Media.AUDIO, "audio/mp4", f"audio/{new_id()}", 3, "0" * 64, b"0" * 32, seconds)


def completed(interview: Interview, *, seconds: float | None = None, model: ModelUse | None = None) -> None:
    """As the job completes it, under a claim."""
    interview.stage, interview.submitted_at = Stage.SUBMITTED, clock.now()
    db.session.commit()
    token = claims.take(
        Interview.stage, interview.id, expects=[Stage.SUBMITTED], becomes=Stage.PROCESSING, lease=timedelta(minutes=1)
    )
    assert token is not None
    result = Result(freeze_text(""), freeze_details((), (), duration=None), None, None, {}, used=model or ModelUse())
    finished = Finished(result, audio=sound(seconds) if seconds is not None else None)
    assert interviews.complete(interview.id, finished, token=token, app_url="http://localhost")
    db.session.commit()


def used(owner: Person, count: int, *, seconds: float = 60.0, flow: Any = None, moment: datetime = NOON) -> None:
    for _ in range(count):
        actions.count(
            owner.organization.id, flow_id=flow.id if flow else new_id(), subject=new_id(), at=moment, seconds=seconds
        )
    db.session.commit()


def limited(owner: Person, *, interviews: int | None = None, minutes: int | None = None, stops: bool = False) -> None:
    actions.set_quota(owner.organization, interviews=interviews, minutes=minutes, stops=stops, by=owner.member)
    db.session.commit()


def test_an_interview_counts_with_its_result_and_only_then(owner: Person, flow: Any) -> None:
    with at(NOON):
        spoken, written, failed = (book(owner, flow) for _ in range(3))
        test = book(owner, flow, is_test=True)
        failed.stage, failed.submitted_at = Stage.PROCESSING_FAILED, NOON
        db.session.commit()
        completed(spoken, seconds=90.0)
        completed(written)
        completed(test, seconds=600.0)
    assert queries.used_in(owner.organization.id, "2026-03") == queries.Used("2026-03", 2, 90.0)
    actions.count(owner.organization.id, flow_id=flow.id, subject=spoken.id, at=NOON, seconds=90.0)
    assert queries.used_in(owner.organization.id, "2026-03").interviews == 2, "counted once"
    interviews.erase(spoken)
    db.session.commit()
    assert queries.used_in(owner.organization.id, "2026-03").minutes == 1.5, "an erasure gives nothing back"
    with at(NOON + timedelta(days=40)):
        assert interviews.retry(failed)
        token = claims.take(
            Interview.stage, failed.id, expects=[Stage.SUBMITTED], becomes=Stage.PROCESSING, lease=timedelta(minutes=1)
        )
        result = Result(freeze_text(""), freeze_details((), (), duration=None), None, None, {})
        interviews.complete(failed.id, Finished(result), token=token or 0, app_url="http://localhost")
    assert queries.used_in(owner.organization.id, "2026-03").interviews == 3, "in the month in which it was submitted"
    assert queries.used_in(owner.organization.id, "2026-04").interviews == 0


def test_months_end_at_midnight_in_utc(owner: Person, outsider: Person) -> None:
    end = datetime(2026, 3, 31, 23, 59, 59, tzinfo=UTC)
    used(owner, 1, moment=end)
    used(owner, 2, moment=end + timedelta(seconds=1))
    used(outsider, 5, moment=end)
    found = {one.month: one.interviews for one in queries.by_month(owner.organization.id, since="2026-01")}
    assert found == {"2026-03": 1, "2026-04": 2}


@pytest.mark.parametrize(
    ("count", "interviews_", "minutes", "level", "percent"),
    [
        (79, 100, None, 0, 79),
        (80, 100, None, 80, 80),
        (100, 100, None, 100, 100),
        (2, 3, None, 0, 66),
        (1, None, None, 0, None),
        (10, 100, 11, 80, 90),
        (12, 100, 11, 100, 109),
    ],
)
def test_the_limit_nearest_to_its_end_counts(
    owner: Person, count: int, interviews_: int | None, minutes: int | None, level: int, percent: int | None
) -> None:
    with at(NOON):
        limited(owner, interviews=interviews_, minutes=minutes)
        used(owner, count)
        standing = queries.standing_of(owner.organization.id)
    assert (standing.level, standing.percent, standing.is_shut) == (level, percent, False)


def test_without_a_stop_bookings_go_on(owner: Person, flow: Any) -> None:
    with at(NOON):
        limited(owner, interviews=1)
        used(owner, 5)
        assert book(owner, flow).stage is Stage.CREATED


def test_with_a_stop_nothing_is_booked_until_the_next_month_or_a_higher_quota(owner: Person, flow: Any) -> None:
    body = {"interview_flow_id": flow.id, "interviewee_email_address": "new@candidate.example"}
    with at(NOON):
        limited(owner, interviews=2, stops=True)
        used(owner, 1)
        waiting = book(owner, flow)
        used(owner, 1)
        answer = owner.api("POST", "/v1/interviews", json=body)
        assert answer.status_code == 422
        assert "quota" in answer.json["message"]
        seen = owner.browser.post("/interviews/new", data=body)
        assert seen.status_code == 422
        assert "has used up its quota" in words_of(seen)
        with pytest.raises(Rejected):
            interviews.book(owner.organization, flow.id)
        db.session.rollback()
        assert book(owner, flow, is_test=True).is_test, "test interviews use nothing"
        interviews.begin(waiting)
        completed(waiting, seconds=60.0)
        assert queries.standing_of(owner.organization.id).used.interviews == 3, "who was invited could still begin"
        limited(owner, interviews=4, stops=True)
        assert owner.api("POST", "/v1/interviews", json=body).status_code == 200
    with at(NOON + timedelta(days=30)):
        limited(owner, interviews=1, stops=True)
        assert owner.api("POST", "/v1/interviews", json=body).status_code == 200


def test_word_is_given_once_a_month_and_level(
    owner: Person, colleague: Person, outsider: Person, mailing: None
) -> None:
    with at(NOON):
        limited(owner, interviews=10, stops=True)
        used(owner, 7)
        assert jobs.tell() == 0
        used(owner, 1)
        assert [jobs.tell(), jobs.tell()] == [1, 0]
    with at(NOON + timedelta(hours=1)):
        used(owner, 2)
        assert [jobs.tell(), jobs.tell()] == [1, 0]
        limited(owner, interviews=11, stops=True)
        assert jobs.tell() == 0
    with at(NOON + timedelta(days=30)):
        used(owner, 20, moment=clock.now())
        assert [jobs.tell(), jobs.tell()] == [1, 0], "both levels at once are one mail"
    told = mails()
    assert {one.to for one in told} == {owner.member.email}
    assert [one.subject for one in told] == [
        "80% of this month's quota is used",
        "This month's quota is used up",
        "This month's quota is used up",
    ]
    assert "8 of 10 interviews" in told[0].text
    assert "still start" in told[1].text
    written = db.session.scalars(sa.select(AuditEntry.details).where(AuditEntry.action == "usage.reached")).all()
    assert sorted(one["level"] for one in written) == [80, 100, 100]


def test_without_a_mail_server_the_log_and_the_dashboard_say_it(owner: Person, viewer: Person, make_flow: Made) -> None:
    make_flow()
    with at(NOON):
        limited(owner, minutes=10)
        used(owner, 9)
        assert jobs.tell() == 0
        page = words_of(owner.browser.get("/dashboard"))
        assert "90% of this month's quota is used: 9.0 of 10 minutes" in page
        used(owner, 1)
        assert "used up: 10.0 of 10 minutes. You can still create interviews." in words_of(
            owner.browser.get("/dashboard")
        )
        assert "quota" not in words_of(viewer.browser.get("/dashboard"))
    assert mails() == []
    assert db.session.scalar(sa.select(sa.func.count()).where(AuditEntry.action == "usage.reached")) == 1


def test_the_page_shows_months_flows_and_the_quota(owner: Person, flow: Any) -> None:
    with at(NOON):
        used(owner, 3, seconds=90.0, flow=flow)
        used(owner, 1, seconds=0.0, flow=flow, moment=NOON - timedelta(days=60))
        limited(owner, interviews=4)
        words = words_of(owner.browser.get("/usage?months=3"))
        assert "Mar 2026 3 4.5 Feb 2026 0 0.0 Jan 2026 1 0.0" in words
        assert "Mar 2026 =Nurse 3 4.5 Jan 2026 =Nurse 1 0.0" in words
        assert "Quota used 75%" in words
        assert "2025" not in words
        assert "Apr 2025" in words_of(owner.browser.get("/usage?months=nonsense"))


def test_the_sheet_runs_nothing(owner: Person, outsider: Person, flow: Any) -> None:
    with at(NOON):
        used(owner, 2, seconds=30.0, flow=flow)
        answer = owner.browser.get("/usage.csv?months=3")
        theirs = outsider.browser.get("/usage.csv")
    rows = list(csv.reader(io.StringIO(answer.get_data(as_text=True).removeprefix("\ufeff"))))
    assert rows == [
        ["month", "flow", "title", "interviews", "minutes", "model_calls", "model_tokens"],
        ["2026-03", flow.id, "'=Nurse", "2", "1.0", "0", "0"],
    ]
    assert answer.headers["Content-Disposition"] == 'attachment; filename="usage-from-2026-01.csv"'
    assert len(theirs.get_data(as_text=True).splitlines()) == 1


def test_calls_of_a_language_model_are_counted_and_shown_where_there_are_any(owner: Person, flow: Any) -> None:
    with at(NOON):
        interview = book(owner, flow)
        assert "Model calls" not in words_of(owner.browser.get("/usage"))
        completed(interview, model=ModelUse(4, 400, 40))
        used(owner, 1, flow=flow)
        words = words_of(owner.browser.get("/usage?months=3"))
        sheet = owner.browser.get("/usage.csv?months=3").get_data(as_text=True)
    counted = queries.used_in(owner.organization.id, "2026-03")
    assert (counted.interviews, counted.model_calls, counted.model_tokens) == (2, 4, 440)
    assert "Mar 2026 2 1.0 4 440" in words
    assert "Mar 2026 =Nurse 2 1.0 4 440" in words
    assert sheet.splitlines()[1].endswith(",2,1.0,4,440")


def test_the_quota_is_set_by_administrators_and_written_down(owner: Person, colleague: Person) -> None:
    browser = owner.browser
    form = {"interviews": "100", "minutes": "", "stops": "yes"}
    assert browser.post("/usage/quota", data=form).status_code == 303
    assert browser.post("/usage/quota", data=form).status_code == 303
    quota = db.session.get_one(UsageQuota, owner.organization.id)
    assert (quota.interviews, quota.minutes, quota.stops) == (100, None, True)
    written = db.session.scalars(sa.select(AuditEntry.details).where(AuditEntry.action == "usage.quota")).all()
    assert written == [{"interviews": 100, "minutes": None, "stops": True}]
    for wrong in ("0", "-1", "1.5", "many", "9" * 10, "٣"):
        answer = browser.post("/usage/quota", data={**form, "interviews": wrong})
        assert answer.status_code == 422, wrong
        assert "a whole number" in words_of(answer)
    assert browser.post("/usage/quota", data={"stops": "yes"}).status_code == 303
    db.session.expire_all()
    assert (quota.interviews, quota.stops) == (None, False), "without a limit there is nothing to stop at"
    assert colleague.browser.post("/usage/quota", data=form).status_code == 403
    assert colleague.browser.get("/usage").status_code == 403
    assert colleague.browser.get("/usage.csv").status_code == 403


def test_nothing_is_told_to_who_has_no_quota(owner: Person, mailing: None) -> None:
    with at(NOON):
        used(owner, 3)
        assert queries.to_be_told() == []
        assert jobs.tell() == 0
    assert db.session.scalar(sa.select(sa.func.count()).select_from(UsageRecord)) == 3


def test_a_flows_own_link_gives_out_nothing_while_a_quota_stops(app: Flask, owner: Person, flow: Any) -> None:
    link = flow_links.turn_on(flow, by=owner.member)
    db.session.commit()
    with at(NOON):
        limited(owner, interviews=1, stops=True)
        assert flow_links.over(link) is None
        used(owner, 1)
        assert flow_links.over(link) is Over.FULL
        answer = app.test_client().get(f"/interview/api/open/{link.token}")
        assert answer.status_code == 410
        assert "quota" not in answer.text
