"""The recruiters' pages of interviews."""

import html
import re
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app import gateways
from app.accounts.models import AuditEntry, TeamMember, TeamMembership
from app.core.db import db, new_id
from app.core.queue import SilentWaker
from app.flows.models import FlowStatus, InterviewType
from app.interviews import PROCESS_INTERVIEW, PROCESS_VIDEO, actions
from app.interviews.documents.models import Document
from app.interviews.jobs.processing import process_interview
from app.interviews.models import Interview, Stage, VideoStage
from app.interviews.recordings.models import Media, Recording, Revocation
from tests.factories import Made, a_flow
from tests.people import Person, moved_away

from .conftest import engines_of

NOBODYS = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"


def words_of(answer: Any) -> str:
    """The page as a reader sees it."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def page(person: Person, interview: Interview) -> Any:
    return person.browser.get(f"/interviews/{interview.id}")


def test_the_dashboard_shows_what_waits_and_what_came_in(owner: Person, completed: Made, submitted: Made) -> None:
    completed(first_name="Mary")
    stuck = submitted(email="ben@candidate.example", first_name="Ben")
    stuck.stage, stuck.failure = Stage.PROCESSING_FAILED, "the language model refused the key"
    db.session.commit()
    words = words_of(owner.browser.get("/dashboard"))
    assert "the language model refused the key" in words
    assert "Ben Hall" in words
    assert "Mary Hall" in words


def test_an_empty_dashboard_says_where_to_begin(owner: Person) -> None:
    answer = owner.browser.get("/dashboard")
    assert "/flows/new" in answer.text


def test_nobody_signed_in_is_sent_to_sign_in(app: Flask, book: Made) -> None:
    client = app.test_client()
    for path in ("/dashboard", "/interviews", "/interviews/new", f"/interviews/{book().id}"):
        assert client.get(path).status_code == 302


def test_the_list_has_recruitment_interviews_with_an_address_only(owner: Person, book: Made, make_flow: Made) -> None:
    book(first_name="Shown")
    book(first_name="Unlisted", email=None)
    book(make_flow(interview_type=InterviewType.GENERAL), first_name="General")
    words = words_of(owner.browser.get("/interviews"))
    assert "Shown Hall" in words
    assert "Unlisted" not in words
    assert "General" not in words


def test_the_list_is_narrowed_and_paged(owner: Person, book: Made, make_flow: Made) -> None:
    flow = make_flow(title="Porter")
    book(first_name="Nurse")
    for number in range(26):
        book(flow, email=f"p{number}@candidate.example", first_name=f"Porter{number}")
    first = owner.browser.get(f"/interviews?flow={flow.id}&status=incomplete")
    assert "Porter25" in first.text
    assert "Porter0 Hall" not in first.text
    assert "Nurse Hall" not in first.text
    second = owner.browser.get(f"/interviews?flow={flow.id}&offset=25")
    assert "Porter0 Hall" in second.text
    assert "No interviews found" in owner.browser.get("/interviews?status=completed").text
    assert owner.browser.get("/interviews?status=odd&flow=%00&offset=x").status_code == 200


def test_a_row_costs_no_query(app: Flask, owner: Person, book: Made) -> None:
    flow = a_flow(owner)
    counts = []
    for number in (2, 12):
        for at in range(number):
            book(flow, email=f"c{number}-{at}@candidate.example")
        browser = owner.browser
        db.session.expire_all()
        counts.append(_statements(lambda: browser.get("/interviews")))  # noqa: B023 - called at once
    assert counts[0] == counts[1]


def _statements(work: Any) -> int:
    seen: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        seen.append(statement)

    sa.event.listen(db.session.connection().engine, "before_cursor_execute", note)
    try:
        assert work().status_code == 200
    finally:
        sa.event.remove(db.session.connection().engine, "before_cursor_execute", note)
    return len(seen)


def test_booking_gives_the_link_to_pass_on(owner: Person, colleague: Person, make_flow: Made) -> None:
    flow = make_flow()
    browser = owner.browser
    assert f'value="{flow.id}"' in browser.get(f"/interviews/new?flow={flow.id}").text
    given = {
        "interview_flow_id": flow.id,
        "interviewee_email_address": "mary@candidate.example",
        "interviewee_first_name": "Mary",
        "assigned_recruiter_id": colleague.member.id,
    }
    answer = browser.post("/interviews/new", data=given)
    assert answer.status_code == 303
    interview = db.session.scalars(sa.select(Interview)).one()
    assert answer.location == f"/interviews/{interview.id}"
    shown = browser.get(answer.location)
    assert (
        f"http://localhost/interview/api/{flow.id}/{interview.id}?assignedRecruiterId={colleague.member.id}"
        in shown.text
    )
    assert "Interview created. The candidate is in the list of candidates." in words_of(shown)


@pytest.mark.parametrize(
    ("kind", "address", "why"),
    [
        (InterviewType.GENERAL, "mary@candidate.example", "the flow is not for recruitment"),
        (InterviewType.RECRUITMENT, "", "you entered no email address"),
    ],
)
def test_booking_says_why_there_is_no_candidate(
    owner: Person, make_flow: Made, kind: InterviewType, address: str, why: str
) -> None:
    given = {"interview_flow_id": make_flow(interview_type=kind).id, "interviewee_email_address": address}
    shown = owner.browser.post("/interviews/new", data=given, follow_redirects=True)
    assert f"No candidate was added, because {why}." in words_of(shown)
    assert "No candidates" in words_of(owner.browser.get("/candidates"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"interviewee_email_address": "no address"}, "Not a valid email address"),
        ({"interviewee_first_name": "a" * 301}, "300"),
        ({"assigned_recruiter_id": NOBODYS}, "No member of the flow's team"),
        ({"interview_flow_id": ""}, "Flow"),
    ],
)
def test_a_booking_that_cannot_be_says_why_and_keeps_what_was_typed(
    owner: Person, make_flow: Made, changes: dict[str, str], words: str
) -> None:
    given = {"interview_flow_id": make_flow().id, "interviewee_last_name": "Kept as typed", **changes}
    answer = owner.browser.post("/interviews/new", data=given)
    assert answer.status_code == 422
    assert words in words_of(answer)
    assert "Kept as typed" in answer.text
    assert db.session.scalar(sa.select(sa.func.count(Interview.id))) == 0


def test_a_closed_flow_is_not_booked(owner: Person, make_flow: Made) -> None:
    answer = owner.browser.post("/interviews/new", data={"interview_flow_id": make_flow(status=FlowStatus.CLOSED).id})
    assert answer.status_code == 422
    assert "closed" in words_of(answer)


def test_a_flow_of_another_organization_is_not_booked(owner: Person, outsider: Person) -> None:
    answer = owner.browser.post("/interviews/new", data={"interview_flow_id": a_flow(outsider).id})
    assert answer.status_code == 403


def test_viewers_look_and_change_nothing(viewer: Person, submitted: Made, make_flow: Made) -> None:
    interview = submitted()
    interview.stage = Stage.PROCESSING_FAILED
    db.session.commit()
    browser = viewer.browser
    shown = browser.get(f"/interviews/{interview.id}")
    assert shown.status_code == 200
    assert "/retry" not in shown.text
    assert "/move" not in shown.text
    assert browser.get("/interviews/new").status_code == 403
    assert browser.post("/interviews/new", data={"interview_flow_id": make_flow().id}).status_code == 403
    assert browser.post(f"/interviews/{interview.id}/retry").status_code == 403


def test_the_page_shows_the_whole_result(owner: Person, completed: Made, scripted: Any) -> None:
    scripted.judged = {"motivation": (4.2, "I like to help people", 1)}
    said = words_of(page(owner, completed()))
    for words in (
        "Why do you want this job?",
        "Because I like to help people.",
        "Likes to help people.",
        "Not assessed",
        "Interviewed",
        "mary@candidate.example",
        "2 of 2 answers were typed",
    ):
        assert words in said, words


def test_text_from_outside_is_never_markup(owner: Person, completed: Made, scripted: Any) -> None:
    from app.interviews.models import Role

    evil = "<script>alert(1)</script>"
    scripted.summary = evil
    interview = completed(said=((Role.AGENT, 0, "Why?"), (Role.USER, 0, evil)), first_name=evil)
    answer = page(owner, interview)
    assert evil not in answer.text
    assert html.escape(evil).replace("&#x27;", "&#39;") in answer.text


def test_an_interview_outside_the_pipeline_opens_too(owner: Person, completed: Made) -> None:
    assert page(owner, completed(email=None)).status_code == 200


def test_the_page_is_not_for_others(owner: Person, outsider: Person, colleague: Person, book: Made) -> None:
    interview = book()
    assert page(outsider, interview).status_code == 403
    assert page(colleague, interview).status_code == 200
    assert owner.browser.get(f"/interviews/{new_id()}").status_code == 404
    assert owner.browser.get("/interviews/x%00").status_code == 404


def test_recruiters_see_the_interviews_of_their_own_teams(owner: Person, colleague: Person, book: Made) -> None:
    interview = book()
    other = moved_away(colleague)
    db.session.expire_all()
    assert page(colleague, interview).status_code == 403
    theirs = colleague.browser
    assert "mary" not in words_of(theirs.get("/interviews")).lower()
    assert theirs.get(f"/interviews/{interview.id}/documents/{NOBODYS}").status_code == 403
    assert theirs.post(f"/interviews/{interview.id}/retry").status_code == 403
    assert "0 of 4 steps done" in theirs.get("/dashboard").text
    a_flow(owner, team_id=other.id)
    assert "New candidates 0" in words_of(theirs.get("/dashboard"))
    assert "New candidates 1" in words_of(owner.browser.get("/dashboard"))
    assert page(owner, interview).status_code == 200


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        (Stage.CREATED, "Invite link"),
        (Stage.RUNNING, "has started"),
        (Stage.SUBMITTED, "is being processed"),
        (Stage.ABANDONED, "Process now"),
        (Stage.WAITS_FOR_RECOGNITION, "Check again"),
        (Stage.PROCESSING_FAILED, "Try again"),
    ],
)
def test_every_stage_says_what_goes_on_and_what_can_be_done(
    owner: Person, book: Made, stage: Stage, words: str
) -> None:
    interview = book()
    interview.stage = stage
    db.session.commit()
    assert words in words_of(page(owner, interview))


def test_a_failed_interview_is_tried_again_from_its_page(owner: Person, submitted: Made, waker: SilentWaker) -> None:
    interview = submitted()
    interview.stage, interview.recoveries, interview.failures = Stage.PROCESSING_FAILED, 3, 2
    db.session.commit()
    waker.enqueued.clear()
    answer = owner.browser.post(f"/interviews/{interview.id}/retry")
    assert answer.status_code == 303
    assert waker.enqueued == [(PROCESS_INTERVIEW, (interview.id,))]
    again = db.session.get_one(Interview, interview.id, populate_existing=True)
    assert (again.stage, again.recoveries, again.failures) == (Stage.SUBMITTED, 0, 0)


def test_a_failed_video_is_tried_again_from_its_page(owner: Person, completed: Made, waker: SilentWaker) -> None:
    interview = completed()
    interview.video_stage = VideoStage.FAILED
    db.session.commit()
    waker.enqueued.clear()
    assert "The video could not be processed" in words_of(page(owner, interview))
    owner.browser.post(f"/interviews/{interview.id}/retry")
    assert waker.enqueued == [(PROCESS_VIDEO, (interview.id,))]


def test_there_is_nothing_to_try_again_when_all_is_well(owner: Person, outsider: Person, completed: Made) -> None:
    interview = completed()
    browser = owner.browser
    browser.post(f"/interviews/{interview.id}/retry")
    assert "nothing to retry" in words_of(browser.get(f"/interviews/{interview.id}"))
    assert outsider.browser.post(f"/interviews/{interview.id}/retry").status_code == 403
    assert browser.post(f"/interviews/{interview.id}/retry", forged=True).status_code == 400


def recording(interview: Interview) -> Recording:
    key = f"recordings/{interview.id}/published/audio-0.m4a"
    row = Recording(
        organization_id=interview.organization_id,
        interview_id=interview.id,
        media=Media.AUDIO,
        content_type="audio/mp4",
        storage_key=key,
        size=5,
        sha256="0" * 64,
        blocks=b"",
        duration=61.0,
    )
    db.session.add(row)
    db.session.commit()
    return row


def test_an_administrator_deletes_recordings_after_typing_the_word(owner: Person, completed: Made) -> None:
    interview = completed()
    recording(interview)
    browser = owner.browser
    path = f"/interviews/{interview.id}"
    assert "<audio" in browser.get(path).text
    browser.post(f"{path}/revoke", data={"confirm": "yes"})
    assert db.session.get(Revocation, interview.id) is None
    browser.post(f"{path}/revoke", data={"confirm": " Delete "})
    assert db.session.get_one(Revocation, interview.id).deleted_at is not None
    shown = browser.get(path)
    assert "<audio" not in shown.text
    assert "were deleted" in words_of(shown)
    entry = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "recordings.revoked")).one()
    assert (entry.subject, entry.member_id) == (interview.id, owner.member.id)


def test_only_administrators_delete_recordings(colleague: Person, outsider: Person, completed: Made) -> None:
    interview = completed()
    recording(interview)
    assert "/revoke" not in page(colleague, interview).text
    for person in (colleague, outsider):
        answer = person.browser.post(f"/interviews/{interview.id}/revoke", data={"confirm": "delete"})
        assert answer.status_code == 403
    assert db.session.get(Revocation, interview.id) is None


def test_files_that_cannot_be_deleted_yet_are_out_of_reach_all_the_same(
    app: Flask, owner: Person, completed: Made
) -> None:
    from app.core.errors import GatewayError

    class Broken:
        def delete_prefix(self, prefix: str) -> None:
            raise GatewayError("the disk is gone", retryable=True)

    interview = completed()
    recording(interview)
    browser = owner.browser
    with engines_of(app, storage=Broken()):
        answer = browser.post(f"/interviews/{interview.id}/revoke", data={"confirm": "delete"})
    assert answer.status_code == 303
    assert db.session.get_one(Revocation, interview.id).deleted_at is None
    assert "will retry" in words_of(browser.get(f"/interviews/{interview.id}"))


def test_a_document_is_a_download_that_no_browser_runs(owner: Person, outsider: Person, running: Interview) -> None:
    interview_id = running.id
    accepted = actions.accept_document('../Résumé "x".txt', b"<b>hello</b>")
    key = f"documents/{interview_id}/one"
    db.session.rollback()
    gateways.current().storage.put(key, b"<b>hello</b>")
    document = actions.add_document(db.session.get_one(Interview, interview_id), accepted, storage_key=key)
    db.session.commit()
    path = f"/interviews/{interview_id}/documents/{document.id}"
    answer = owner.browser.get(path)
    assert answer.data == b"<b>hello</b>"
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert "filename*=UTF-8''R%C3%A9sum%C3%A9%20%22x%22.txt" in answer.headers["Content-Disposition"]
    assert answer.headers["Content-Security-Policy"].startswith("sandbox")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert outsider.browser.get(path).status_code == 403
    assert owner.browser.get(f"/interviews/{interview_id}/documents/{new_id()}").status_code == 404
    looks = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "document.seen")).all()
    assert [(look.member_id, look.details) for look in looks] == [(owner.member.id, {"interview": interview_id})]


@pytest.fixture
def running(book: Made, make_flow: Made) -> Interview:
    interview: Interview = book(make_flow(is_doc_upload_enabled=True))
    actions.begin(interview)
    db.session.commit()
    return interview


def test_documents_of_another_interview_are_not_found(owner: Person, running: Interview, book: Made) -> None:
    document = actions.add_document(running, actions.accept_document("a.txt", b"a"), storage_key="documents/x/y")
    db.session.commit()
    assert owner.browser.get(f"/interviews/{book().id}/documents/{document.id}").status_code == 404


def test_documents_are_limited_and_only_taken_during_the_talk(running: Interview) -> None:
    from app.core.errors import Conflict, Rejected

    accepted = actions.accept_document("a.txt", b"a")
    kept = [actions.add_document(running, accepted, storage_key=f"documents/x/{number}") for number in range(10)]
    with pytest.raises(Rejected, match="at most 10"):
        actions.add_document(running, accepted, storage_key="documents/x/11")
    assert actions.remove_document(running, kept[3]) == "documents/x/3"
    assert db.session.get(Document, kept[3].id) is None
    actions.submit(running)
    for late in (
        lambda: actions.add_document(running, accepted, storage_key="documents/x/z"),
        lambda: actions.remove_document(running, kept[0]),
    ):
        with pytest.raises(Conflict):
            late()


def test_a_flow_without_documents_takes_none(book: Made) -> None:
    from app.core.errors import Rejected

    interview = book()
    actions.begin(interview)
    with pytest.raises(Rejected, match="not accept documents"):
        actions.add_document(interview, actions.accept_document("a.txt", b"a"), storage_key="documents/x/y")


def test_members_of_no_team_see_an_empty_dashboard(owner: Person, app: Flask, book: Made) -> None:
    book()
    db.session.execute(sa.delete(TeamMembership))
    db.session.commit()
    from tests.people import person

    loner = person(app, "loner@first.example", organization=owner.organization, role="recruiter")
    db.session.execute(sa.delete(TeamMembership))
    db.session.commit()
    db.session.expire_all()
    assert loner.browser.get("/dashboard").status_code == 200
    assert isinstance(loner.member, TeamMember)


def test_scores_without_evidence_are_explained_once(owner: Person, submitted: Made) -> None:
    interview = submitted()
    process_interview(interview.id)
    said = words_of(page(owner, interview))
    assert said.count("No language model is configured") == 1
    assert "by script" not in said
    assert "In the candidate's own words, as they were typed." in said
    assert "as they were recognized" not in said
    assert "0:00" not in said, "nothing that was typed has a time"


def test_the_link_of_a_deleted_flow_is_said_to_be_dead(owner: Person, book: Made) -> None:
    interview = book()
    assert interview.link("") in page(owner, interview).text
    interview.flow.status = FlowStatus.ARCHIVED
    db.session.commit()
    seen = page(owner, interview).text
    assert interview.link("") not in seen
    assert "no longer works" in seen
