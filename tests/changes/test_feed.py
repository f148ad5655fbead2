"""``GET /v1/changes`` against its description."""

import base64
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts import actions as accounts
from app.accounts.key_scope import KeyScope
from app.candidates import reasons, statuses
from app.candidates.models import Candidate, Meaning
from app.core import clock
from app.core.db import db, row_security
from app.flows.models import InterviewFlow
from app.interviews.models import Interview, InterviewData, InterviewStatus, ScoreVersion
from app.interviews.published_result import freeze_details, freeze_text
from app.interviews.recordings.models import Media, Recording, Revocation
from app.privacy import actions as privacy
from app.webhooks.changes import actions, jobs
from app.webhooks.changes.cursors import read, text_of
from app.webhooks.changes.models import Change
from tests.factories import a_flow
from tests.people import Person, person

from .conftest import PATH, Reader, booked, there

SCORES = {"communication": 3.5, "motivation": 4.0}


def completed(owner: Person) -> Interview:
    interview = booked(owner)
    text, details = freeze_text("Hello."), freeze_details((), (), duration=None)
    db.session.add(
        InterviewData(
            interview_id=interview.id,
            text=text.deflated,
            text_length=text.length,
            text_crc32=text.crc,
            details=details.deflated,
            details_length=details.length,
            details_crc32=details.crc,
            summary="Likes to help.",
            scores=SCORES,
        )
    )
    interview.status = InterviewStatus.COMPLETED
    db.session.commit()
    return interview


def refused(answer: Any, status: int, code: str) -> str:
    assert (answer.status_code, answer.headers["X-Parley-Error"]) == (status, code), answer.text
    assert answer.json["code"] == status
    message: str = answer.json["message"]
    return message


def get(owner: Person, **query: Any) -> Any:
    return owner.api("GET", PATH, query_string=query)


def test_a_reader_from_the_beginning_gets_the_present_state_of_everything(owner: Person) -> None:
    interview_id = completed(owner).id
    owner.api("PUT", f"/v1/interviews/{interview_id}/metadata", json={"metadata": {"external_id": "A-1"}})
    reader = Reader(owner)
    changes = reader.read(limit=3)
    assert reader.copy == there(owner)
    assert {kind for kind, _id in reader.copy} == {
        *("interview_flow", "interview", "interview_metadata", "candidate", "status", "score_version")
    }
    assert len({one["id"] for one in changes}) == len(changes)
    assert all(sorted(one) == ["at", "change", "id", "kind", "object", "object_id"] for one in changes)


def test_objects_are_what_their_own_urls_show(owner: Person, reader: Reader) -> None:
    interview = completed(owner)
    reader.read()
    flow = owner.api("GET", f"/v1/interview-flows/{interview.flow_id}").json
    assert reader.copy["interview_flow", interview.flow_id] == flow
    shown = owner.api("GET", f"/v1/interviews/{interview.id}?transcript=none").json
    assert reader.copy["interview", interview.id] == shown
    assert shown["interview_data"]["summary"] == "Likes to help."


def test_what_changed_many_times_is_there_once(owner: Person, reader: Reader) -> None:
    flow = a_flow(owner)
    for title in ("One", "Two", "Three"):
        flow.title = title
        db.session.commit()
    (change,) = reader.read()
    assert change["object"]["title"] == "Three"
    assert reader.read() == []


def test_next_can_be_asked_again_later(owner: Person, reader: Reader) -> None:
    first = reader.fetch()
    assert (first["changes"], first["has_more"]) == ([], False)
    flow = a_flow(owner)
    assert reader.kinds() == [("interview_flow", flow.id, "upserted")]


@pytest.mark.parametrize(
    "values",
    [
        {"due_at": clock.now()},
        {"lease_until": clock.now(), "fence": 7},
        {"stage": "running", "started_at": clock.now()},
        {"model_calls": 9},
        {"status": "incomplete", "interviewee_first_name": None},
    ],
)
def test_what_an_object_does_not_show_is_no_change(owner: Person, reader: Reader, values: dict[str, Any]) -> None:
    interview = booked(owner)
    reader.read()
    db.session.execute(sa.update(Interview).where(Interview.id == interview.id).values(**values))
    db.session.execute(sa.update(InterviewFlow).values(speech_state="ready", spoken_with="Joe", title="Nurse"))
    db.session.execute(sa.update(Candidate).values(score=3.0, reviewed_at=clock.now()))
    db.session.commit()
    assert reader.read() == []


def test_a_statement_over_many_rows_misses_none(owner: Person, reader: Reader) -> None:
    flow_ids = sorted(a_flow(owner).id for _one in range(5))
    reader.read()
    db.session.execute(sa.text("UPDATE interview_flow SET status = 'closed'"))
    db.session.commit()
    changes = reader.read(limit=2)
    assert sorted(one["object_id"] for one in changes) == flow_ids
    assert {one["object"]["status"] for one in changes} == {"closed"}


def test_an_interview_changes_its_candidate_too(owner: Person, reader: Reader) -> None:
    first = booked(owner)
    reader.read()
    second = booked(owner, flow_id=first.flow_id)
    reader.read()
    shown = reader.copy["candidate", str(first.candidate_id)]
    assert shown["interview_ids"] == [second.id, first.id]


def test_recordings_and_their_revocation_change_an_interview(owner: Person, reader: Reader) -> None:
    interview = completed(owner)
    reader.read()
    db.session.add(
        Recording(
            organization_id=owner.organization.id,
            interview_id=interview.id,
            media=Media.AUDIO,
            content_type="audio/mp4",
            storage_key="recordings/x",
            size=1,
            sha256="0" * 64,
            blocks=b"",
            duration=1.0,
        )
    )
    db.session.commit()
    (change,) = reader.read()
    assert change["object"]["interview_data"]["audio_url"]
    db.session.add(Revocation(interview_id=interview.id, revoked_at=clock.now()))
    db.session.commit()
    (change,) = reader.read()
    assert change["object"]["interview_data"]["audio_url"] is None


def test_versions_of_scores(owner: Person, reader: Reader) -> None:
    interview = completed(owner)
    reader.read()
    assert reader.copy["score_version", f"{interview.id}.1"]["is_current"] is True
    for number in (1, 2):
        db.session.add(
            ScoreVersion(interview_id=interview.id, number=number, basis="run", source="other", scores=SCORES)
        )
    db.session.execute(sa.update(InterviewData).values(version=2))
    db.session.commit()
    reader.read()
    current = {number: reader.copy["score_version", f"{interview.id}.{number}"]["is_current"] for number in (1, 2)}
    assert current == {1: False, 2: True}
    assert reader.copy == there(owner)


def test_metadata_follow_their_interview(owner: Person, reader: Reader) -> None:
    interview_id = booked(owner).id
    reader.read()
    url = f"/v1/interviews/{interview_id}/metadata"
    for kept in ({"external_id": "A-1"}, {"external_id": "A-1", "source": "fair"}):
        assert owner.api("PUT", url, json={"metadata": kept}).status_code == 200
        assert reader.kinds() == [("interview_metadata", interview_id, "upserted")]
        assert reader.copy["interview_metadata", interview_id] == owner.api("GET", url).json == {"metadata": kept}
    assert owner.api("PUT", url, json={"metadata": {}}).status_code == 200
    assert reader.kinds() == [("interview_metadata", interview_id, "deleted")]
    assert reader.copy == there(owner)


def test_the_first_own_status_replaces_the_six_defaults(owner: Person, reader: Reader) -> None:
    assert ("status", "invited") in reader.copy
    statuses.add(owner.organization, "Trial day", by=owner.member)
    db.session.commit()
    reader.read()
    assert ("status", "invited") not in reader.copy
    names = [one["name"] for (kind, _id), one in reader.copy.items() if kind == "status"]
    assert names == ["invited", "interviewed", "shortlisted", "accepted", "rejected", "withdrawn", "Trial day"]
    assert reader.copy == there(owner)


def test_reasons_change_the_statuses_that_offer_them(owner: Person, reader: Reader) -> None:
    reasons.add(owner.organization, "rejected", "Moved away", by=owner.member)
    db.session.commit()
    reader.read()
    assert "Moved away" in [one["label"] for one in reader.copy["status", "rejected"]["reason_codes"]]
    assert reader.copy == there(owner)


def test_a_candidate_in_quarantine_is_deleted_and_comes_back(owner: Person, reader: Reader) -> None:
    candidate_id = booked(owner).candidate_id
    reader.read()
    for value, change in ((clock.now(), "deleted"), (None, "upserted")):
        db.session.execute(sa.update(Candidate).values(quarantined_at=value))
        db.session.commit()
        assert reader.kinds() == [("candidate", candidate_id, change)]


def test_after_an_erasure_only_ids_remain(owner: Person, reader: Reader) -> None:
    interview = completed(owner)
    interview_id, candidate_id = interview.id, str(interview.candidate_id)
    reader.read()
    privacy.erase(interview, by=owner.member)
    db.session.commit()
    assert ("candidate", candidate_id, "deleted") in reader.kinds()
    assert reader.copy == there(owner)
    data = reader.copy["interview", interview_id]["interview_data"]
    assert {data[name] for name in data if name not in {"word_timings", "mapping"}} == {None}
    for rows in (reader, Reader(owner)):
        rows.read()
        assert "mary@" not in repr(rows.copy)
        assert "Likes to help" not in repr(rows.copy)
    kept = db.session.execute(sa.select(Change.__table__)).all()
    assert "mary@" not in repr(kept)


def test_the_organization_takes_its_changes_along(own_app: Flask, owner: Person) -> None:
    other = person(own_app, "owner@second.example", organization="Second Ltd", role="admin")
    (flow_id, other_id) = (a_flow(other).id, other.organization.id)
    tables = ("interview_flow", "api_key", "team_membership", "audit_entry", "team_member", "team")
    db.session.execute(sa.delete(InterviewFlow).where(InterviewFlow.id == flow_id))
    of_member = f"DELETE FROM team_membership WHERE member_id = '{other.member.id}'"
    for table in tables:
        own = f"DELETE FROM {table} WHERE organization_id = '{other_id}'"
        db.session.execute(sa.text(of_member if table == "team_membership" else own))
    gone = sa.select(Change.is_deleted).where(Change.object_id == flow_id)
    assert db.session.scalars(gone).all() == [True]
    db.session.execute(sa.text(f"DELETE FROM organization WHERE id = '{other_id}'"))
    db.session.commit()
    assert db.session.scalars(sa.select(Change.number).where(Change.organization_id == other_id)).all() == []


def test_another_organization_sees_none_of_it(own_app: Flask, owner: Person) -> None:
    booked(owner)
    other = Reader(person(own_app, "owner@second.example", organization="Second Ltd", role="admin"))
    other.read()
    assert {kind for kind, _id in other.copy} == {"status"}


def test_a_cursor_of_another_organization_is_forbidden(own_app: Flask, owner: Person, reader: Reader) -> None:
    other = person(own_app, "owner@second.example", organization="Second Ltd", role="admin")
    message = refused(get(other, after=reader.after), 403, "cursor_of_other_organization")
    assert "without after" in message


def test_a_reader_may_be_away_for_90_days(owner: Person, reader: Reader) -> None:
    cursor = read(str(reader.after))
    there_still = cursor._replace(since=clock.now() - timedelta(days=90) + timedelta(minutes=1))
    assert get(owner, after=text_of(there_still)).status_code == 200
    too_late = cursor._replace(since=clock.now() - timedelta(days=90, minutes=1))
    message = refused(get(owner, after=text_of(too_late)), 410, "cursor_expired")
    assert "90 days" in message
    assert "without after" in message


def test_pages_in_the_middle_do_not_make_a_reader_younger(owner: Person, reader: Reader) -> None:
    """It still needs the deletions since it last had everything."""
    before = read(str(reader.after))._replace(since=clock.now() - timedelta(days=80))
    for _flow in range(3):
        a_flow(owner)
    reader.after = text_of(before)
    page = reader.fetch(limit=2)
    assert page["has_more"] is True
    assert read(page["next"]).since == read(reader.after).since
    reader.keep(page)
    assert clock.now() - read(reader.fetch()["next"]).since < timedelta(days=1)


def test_old_deletions_are_dropped_once_no_reader_needs_them(owner: Person, reader: Reader) -> None:
    for title in ("Old", "New"):
        a_flow(owner, title=title)
    old, new = db.session.scalars(sa.select(InterviewFlow.id).order_by(InterviewFlow.title.desc())).all()
    db.session.execute(sa.delete(InterviewFlow))
    for flow_id, days in ((old, 92), (new, 89)):
        db.session.execute(
            sa.update(Change).where(Change.object_id == flow_id).values(at=clock.now() - timedelta(days=days))
        )
    db.session.commit()
    assert (jobs.forget_old_deletions(), jobs.forget_old_deletions()) == (1, 0)
    assert reader.kinds() == [("interview_flow", new, "deleted")]
    a_flow(owner)
    assert len(reader.read()) == 1, "the number of a row that is gone is not given again"


def test_a_cursor_from_before_a_restore_is_gone(owner: Person, reader: Reader) -> None:
    actions.restored()
    db.session.commit()
    message = refused(get(owner, after=reader.after), 410, "cursor_expired")
    assert "without after" in message
    fresh = Reader(owner)
    fresh.read()
    assert fresh.copy == reader.copy


def test_a_cursor_from_the_future_is_gone(owner: Person, reader: Reader) -> None:
    """A copy of the files that no command has restored."""
    ahead = read(str(reader.after))._replace(txid=2**40, number=2**40)
    refused(get(owner, after=text_of(ahead)), 410, "cursor_expired")


@pytest.mark.parametrize("after", ["x", "AAAA", "é", "a" * 76, "%00", "=" * 76])
def test_what_is_no_cursor(owner: Person, after: str) -> None:
    assert "without after" in refused(get(owner, after=after), 422, "cursor_invalid")


def test_a_cursor_that_was_changed_or_cut_off(owner: Person, reader: Reader) -> None:
    cursor = str(reader.after)
    raw = bytearray(base64.urlsafe_b64decode(cursor))
    for at in range(len(raw)):
        changed = bytes(raw[:at]) + bytes([raw[at] ^ 1]) + bytes(raw[at + 1 :])
        refused(get(owner, after=base64.urlsafe_b64encode(changed).decode()), 422, "cursor_invalid")
    refused(get(owner, after=cursor[:-4]), 422, "cursor_invalid")


@pytest.mark.parametrize(
    "query", [{"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"after": ""}, {"after": "a" * 201}, {"before": "x"}]
)
def test_invalid_input(owner: Person, query: dict[str, Any]) -> None:
    refused(get(owner, **query), 422, "invalid_input")


def test_without_a_key(own_app: Flask, owner: Person) -> None:
    refused(own_app.test_client().get(PATH), 401, "unauthorized")
    refused(owner.api("POST", PATH, json={}), 405, "method_not_allowed")


def test_test_interviews_are_included_as_in_the_list(owner: Person, reader: Reader) -> None:
    interview = booked(owner)
    db.session.execute(sa.update(Interview).values(is_test=True))
    db.session.commit()
    reader.read()
    assert ("interview", interview.id) in reader.copy


def test_rows_of_others_stay_hidden_where_the_database_can_hide_them(owner: Person, reader: Reader) -> None:
    """The triggers write as the caller does."""
    with row_security.only(owner.organization.id):
        flow = db.session.scalars(sa.select(InterviewFlow)).first() or a_flow(owner)
        flow.title = "Changed under row security"
        db.session.commit()
    assert [one["object"]["title"] for one in reader.read()] == ["Changed under row security"]


def test_a_cursor_of_a_key_that_sees_less_is_not_for_one_that_sees_more(owner: Person, reader: Reader) -> None:
    flow = a_flow(owner)
    scope = KeyScope(team_ids=(flow.team_id,), flow_ids=(flow.id,))
    _row, key = accounts.issue_api_key(owner.organization, name="Limited", by=None, scope=scope)
    db.session.commit()
    headers = {"Authorization": f"Bearer {key}"}
    following = owner.app.test_client().get(PATH, headers=headers).json["next"]
    assert owner.app.test_client().get(f"{PATH}?after={following}", headers=headers).status_code == 200
    answer = owner.api("GET", f"{PATH}?after={following}")
    assert (answer.status_code, answer.headers["X-Parley-Error"]) == (410, "cursor_expired")
    assert "sees other things" in answer.json["message"]


def test_removing_a_status_changes_the_positions_of_the_later_ones(owner: Person, reader: Reader) -> None:
    for name in ("one", "two", "three"):
        statuses.add(owner.organization, name, meaning=Meaning.OPEN, by=owner.member)
    db.session.commit()
    reader.read()
    column = next(one for one in statuses.own_columns(owner.organization) if one.name == "one")
    statuses.remove(owner.organization, column.id, into="", by=owner.member)
    db.session.commit()
    reader.read()
    assert [reader.copy[("status", one["status_id"])] for one in owner.api("GET", "/v1/statuses").json["statuses"]] == (
        owner.api("GET", "/v1/statuses").json["statuses"]
    )
