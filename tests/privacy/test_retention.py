"""Retention: nothing goes by itself until a rule is set, then hidden, then erased; a hold stops all of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import AuditEntry
from app.candidate_requests.models import CandidateRequest, RequestState
from app.candidates import actions as people
from app.candidates import decisions
from app.candidates.decisions import Grounds
from app.candidates.models import Candidate, DecisionRecord
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict
from app.interviews import actions as interviews
from app.interviews.models import Interview, Stage
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.media import MediaFile
from app.interviews.recordings.models import Media, Revocation
from app.legal_holds import actions as legal_holds
from app.legal_holds.models import Held, LegalHold
from app.privacy import actions, idle, retention
from app.privacy.jobs import sweeps as jobs
from app.privacy.jobs.sweeps import apply_decision_rules, apply_retention
from app.privacy.models import Erasure, RetentionRule
from app.review.notes.models import Note
from tests.factories import a_flow
from tests.own_page.conftest import Takes
from tests.people import Person

BEGAN = clock.now()
DAY = timedelta(days=1)


@contextmanager
def days_later(days: float) -> Iterator[None]:
    with clock.replaced(lambda: BEGAN + timedelta(days=days)):
        yield


def settle() -> int:
    """Rounds of the tick until nothing is left to do; how many cases and recordings changed."""
    done, rounds = 0, 0
    while (changed := apply_retention()) and rounds < 20:
        done, rounds = done + changed, rounds + 1
    db.session.expire_all()
    return done


def set_rule(owner: Person, months: Any = "6", media_days: Any = "", confirm: str = "erase") -> Any:
    given = {"months": months, "media_days": media_days, "confirm": confirm}
    return owner.browser.post("/retention", data=given)


@pytest.fixture
def booked(app: Flask, owner: Person) -> Interview:
    flow = a_flow(owner)
    interview = interviews.book(
        owner.organization, flow.id, email="old@candidate.example", first_name="Olga", last_name="Old"
    )
    db.session.commit()
    return interview


def of(interview: Interview) -> Interview:
    db.session.expire_all()
    return db.session.get_one(Interview, interview.id)


def words_of(owner: Person) -> list[str]:
    found = db.session.query(AuditEntry.action).filter_by(organization_id=owner.organization.id)
    return [row[0] for row in found.order_by(AuditEntry.number)]


def test_without_a_rule_nothing_ever_goes(booked: Interview, owner: Person) -> None:
    with days_later(5_000):
        assert apply_retention() == 0
    assert of(booked).quarantined_at is None


def test_first_hidden_then_erased_by_the_same_service_with_a_receipt(booked: Interview, owner: Person) -> None:
    set_rule(owner)
    with days_later(170):
        assert settle() == 0
    with days_later(185):
        assert settle() == 1
        assert settle() == 0
        assert "Olga" not in owner.browser.get("/candidates").text
        assert "Olga" not in owner.browser.get("/candidates/board").text
        assert "Olga" not in owner.browser.get("/interviews").text
        assert "Olga Old" in owner.browser.get("/retention").text
        assert "In quarantine" in owner.browser.get(f"/interviews/{booked.id}").text
    with days_later(210):
        assert settle() == 0
        assert of(booked).interviewee_first_name == "Olga"
    with days_later(216):
        assert settle() == 1
        assert settle() == 0
    erasure = db.session.get_one(Erasure, booked.id)
    assert erasure.gone_at is not None
    assert erasure.receipt == actions.receipt_of(erasure, erasure.gone_at)
    assert of(booked).interviewee_first_name is None
    assert db.session.query(Candidate).count() == 0
    told = words_of(owner)
    assert told.count("retention.quarantined") == 1
    assert told.count("interview.erased") == 1


def test_nothing_happens_for_thirty_days_after_the_rule_is_set_or_made_shorter(
    booked: Interview, owner: Person
) -> None:
    with days_later(1_000):
        set_rule(owner, months="30")
        assert settle() == 0
    with days_later(1_029):
        assert settle() == 0
        set_rule(owner, months="12")
    with days_later(1_058):
        assert settle() == 0
        assert of(booked).quarantined_at is None
    with days_later(1_060):
        assert settle() == 1


def test_whoever_is_touched_comes_back(booked: Interview, owner: Person) -> None:
    set_rule(owner)
    with days_later(200):
        settle()
        candidate = db.session.query(Candidate).one()
        assert candidate.quarantined_at is not None
        people.move(candidate, "shortlisted", by=owner.member)
        db.session.commit()
    with days_later(240):
        settle()
    assert of(booked).quarantined_at is None
    assert db.session.query(Candidate).one().quarantined_at is None


def test_booking_again_ends_the_quarantine_at_once(booked: Interview, owner: Person) -> None:
    set_rule(owner)
    with days_later(200):
        settle()
        interviews.book(owner.organization, booked.flow_id, email="OLD@candidate.example")
        db.session.commit()
        assert of(booked).quarantined_at is None
        assert "Olga" in owner.browser.get("/candidates").text


def test_an_administrator_restores_and_the_time_begins_anew(
    booked: Interview, owner: Person, colleague: Person
) -> None:
    set_rule(owner)
    with days_later(200):
        settle()
        assert colleague.browser.post(f"/interviews/{booked.id}/restore").status_code == 403
        assert owner.browser.post(f"/interviews/{booked.id}/restore").status_code == 303
        assert "Olga" in owner.browser.get("/candidates").text
    with days_later(300):
        assert settle() == 0
    with days_later(390):
        assert settle() == 1
    assert "retention.restored" in words_of(owner)


def test_turned_off_everything_shows_again(booked: Interview, owner: Person) -> None:
    set_rule(owner)
    with days_later(200):
        settle()
        set_rule(owner, months="", confirm="")
        assert of(booked).quarantined_at is None
    with days_later(400):
        assert settle() == 0


def enrolled(owner: Person, many: int = 1) -> list[Candidate]:
    """Candidates of whom there is no interview."""
    flow = a_flow(owner)
    made = [
        people.enrol(flow, email=f"{number}@candidate.example", first_name="Ida", last_name=None, recruiter=None)
        for number in range(many)
    ]
    db.session.commit()
    return made


def test_candidates_without_interviews_go_round_by_round_on_one_day(owner: Person) -> None:
    many = jobs.ERASED + 2
    enrolled(owner, many)
    set_rule(owner)
    with days_later(185):
        assert settle() == many
    with days_later(216):
        assert settle() == many
    assert db.session.query(Candidate).count() == 0
    assert words_of(owner).count("candidate.erased") == many


def test_why_a_candidate_was_held_goes_with_the_candidate(owner: Person) -> None:
    (candidate,) = enrolled(owner)
    owner.browser.post(f"/candidates/{candidate.id}/hold", data={"reason": "Case 13"})
    owner.browser.post(f"/holds/{db.session.query(LegalHold).one().id}/release")
    set_rule(owner)
    for days in (185, 216):
        with days_later(days):
            assert settle() == 1
    assert db.session.query(Candidate).count() == 0
    assert db.session.query(LegalHold).one().reason is None


def test_a_round_that_fails_leaves_other_organizations_alone(
    booked: Interview, owner: Person, outsider: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    sort_out, theirs = retention.sort_out, outsider.organization.id

    def fails_for_the_outsider(rule: RetentionRule, *, limit: int) -> int:
        if rule.organization_id == theirs:
            raise RuntimeError("a round that fails")
        return sort_out(rule, limit=limit)

    set_rule(outsider)
    set_rule(owner)
    monkeypatch.setattr(retention, "sort_out", fails_for_the_outsider)
    with days_later(185):
        assert apply_retention() == 1
    assert of(booked).quarantined_at is not None


@pytest.mark.parametrize("what", ["restore", "hold"])
def test_a_candidate_who_is_kept_while_the_round_runs_stays(
    owner: Person, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    (candidate,) = enrolled(owner)
    candidate_id, listed = candidate.id, idle.over
    set_rule(owner)
    with days_later(185):
        settle()

    def over(organization_id: str, **given: Any) -> list[idle.Case]:
        found = listed(organization_id, **given)
        assert owner.browser.post(f"/candidates/{candidate_id}/{what}", data={"reason": "Case 12"}).status_code == 303
        return found

    with days_later(216):
        monkeypatch.setattr(idle, "over", over)
        assert apply_retention() == 0
    assert db.session.get(Candidate, candidate_id) is not None
    assert "candidate.erased" not in words_of(owner)


def test_an_interview_without_a_candidate_goes_the_same_way(owner: Person) -> None:
    lone = interviews.book(owner.organization, a_flow(owner).id, first_name="Lone")
    db.session.commit()
    set_rule(owner)
    with days_later(185):
        assert settle() == 1
    with days_later(216):
        assert settle() == 1
    assert of(lone).erased_at is not None


def test_the_dry_run_tells_what_would_go_and_changes_nothing(booked: Interview, owner: Person) -> None:
    with days_later(900):
        page = owner.browser.get("/retention?months=24&media_days=180").text
        assert "Olga Old" in page
        assert "Nothing has been changed yet" in page
        first = (BEGAN + 930 * DAY).date()
        assert f"{first.day} {first:%b %Y}" in page
        assert "Olga Old" not in owner.browser.get("/retention?months=36").text
    assert db.session.query(RetentionRule).count() == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"months": "5"}, "Enter 6"),
        ({"months": "x"}, "whole number"),
        ({"media_days": "29"}, "Enter 30"),
        ({"confirm": "yes"}, "Type “erase”"),
    ],
)
def test_a_rule_that_is_impossible_or_not_confirmed_is_refused(owner: Person, given: Any, said: str) -> None:
    answer = set_rule(owner, **given)
    assert answer.status_code == 422
    assert said in answer.text
    assert db.session.query(RetentionRule).count() == 0


def test_a_later_hold_keeps_everything_until_it_is_released(booked: Interview, owner: Person) -> None:
    set_rule(owner)
    with days_later(200):
        settle()
        owner.browser.post(f"/candidates/{booked.candidate_id}/hold", data={"reason": "Case 7"})
    with days_later(202):
        settle()
        assert of(booked).quarantined_at is None
        assert "Case 7" in owner.browser.get(f"/interviews/{booked.id}").text
        assert "Case 7" in owner.browser.get(f"/candidates/{booked.candidate_id}").text
    with days_later(400):
        assert settle() == 0
        assert "Kept by a legal hold" in owner.browser.get("/retention").text
        hold = db.session.query(LegalHold).one()
        owner.browser.post(f"/holds/{hold.id}/release")
    with days_later(402):
        assert settle() == 1
    with days_later(433):
        assert settle() == 1
    assert of(booked).erased_at is not None
    assert db.session.query(LegalHold).one().reason is None
    told = words_of(owner)
    assert [told.count(name) for name in ("hold.placed", "hold.released")] == [1, 1]


def test_administrators_see_every_hold_and_release_it_there(booked: Interview, owner: Person) -> None:
    assert "There are no legal holds." in owner.browser.get("/retention").text
    owner.browser.post(f"/candidates/{booked.candidate_id}/hold", data={"reason": "Case 14"})
    owner.browser.post(f"/interviews/{booked.id}/hold", data={"reason": "Case 15", "ends": "2099-05-03"})
    page = owner.browser.get("/retention").text
    assert "There are no legal holds." not in page
    for hold in db.session.query(LegalHold):
        assert f'action="/holds/{hold.id}/release"' in page
    for shown in ("Case 14", "Case 15", "3 May 2099", "Until released", f"/candidates/{booked.candidate_id}"):
        assert shown in page, shown


def test_a_hold_ends_with_its_day(booked: Interview, owner: Person) -> None:
    ends = (BEGAN + 10 * DAY).date()
    owner.browser.post(f"/interviews/{booked.id}/hold", data={"reason": "Case 8", "ends": ends.isoformat()})
    with days_later(9):
        assert "No one can erase or delete this" in owner.browser.get(f"/interviews/{booked.id}").text
    with days_later(12):
        assert "No one can erase or delete this" not in owner.browser.get(f"/interviews/{booked.id}").text


@pytest.mark.parametrize(
    "given", [{"reason": " "}, {"reason": "x", "ends": "soon"}, {"reason": "x", "ends": "2020-01-01"}]
)
def test_a_hold_wants_a_reason_and_a_day_to_come(booked: Interview, owner: Person, given: dict[str, str]) -> None:
    owner.browser.post(f"/interviews/{booked.id}/hold", data=given)
    assert db.session.query(LegalHold).count() == 0


def test_only_administrators_hold_and_release(
    booked: Interview, owner: Person, colleague: Person, outsider: Person
) -> None:
    for person in (colleague, outsider):
        assert person.browser.post(f"/interviews/{booked.id}/hold", data={"reason": "x"}).status_code == 403
    owner.browser.post(f"/interviews/{booked.id}/hold", data={"reason": "Case 9"})
    hold = db.session.query(LegalHold).one()
    for person in (colleague, outsider):
        assert person.browser.post(f"/holds/{hold.id}/release").status_code == 403
    assert "Case 9" in colleague.browser.get(f"/interviews/{booked.id}").text


def test_a_hold_stops_hand_api_and_the_candidates_request(takes: Takes, owner: Person) -> None:
    found = takes()
    browser = owner.browser
    browser.post(f"/interviews/{found.interview_id}/hold", data={"reason": "Case 10"})
    browser.post(f"/interviews/{found.interview_id}/erase", data={"confirm": "erase"})
    assert "A legal hold placed on" in browser.get(f"/interviews/{found.interview_id}").text
    assert db.session.query(Erasure).count() == 0
    browser.post(f"/interviews/{found.interview_id}/revoke", data={"confirm": "delete"})
    browser.post(f"/interviews/{found.interview_id}/notes", data={"text": "Evidence"})
    note = db.session.query(Note).one()
    browser.post(f"/interviews/{found.interview_id}/notes/{note.id}/delete")
    assert db.session.query(Note).count() == 1
    refused = owner.api("DELETE", f"/v1/interviews/{found.interview_id}")
    assert refused.status_code == 409
    assert "legal hold" in refused.json["message"]
    assert db.session.query(Revocation).count() == 0
    assert found.post("/requests", {"kind": "deletion"}).status_code == 303
    assert "may not erase any part of this interview" in found.page().text
    assert db.session.query(CandidateRequest).one().state is RequestState.OPEN
    hold = db.session.query(LegalHold).one()
    browser.post(f"/holds/{hold.id}/release")
    assert "may not erase any part of this interview" not in found.page().text
    assert owner.api("DELETE", f"/v1/interviews/{found.interview_id}").status_code == 200


def recorded(owner: Person, days: float) -> Interview:
    interview = interviews.book(owner.organization, a_flow(owner).id, email=f"{days}@candidate.example")
    interview.stage, interview.submitted_at = Stage.COMPLETED, BEGAN + timedelta(days=days)
    file = MediaFile(Media.AUDIO, "audio/mp4", "recordings/x", 1, "0" * 64, b"", 1.0)
    recordings.publish(interview.id, organization_id=interview.organization_id, file=file)
    db.session.commit()
    return interview


def test_a_hold_placed_while_an_erasure_waits_stops_it(
    booked: Interview, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_talk = actions._erase_talk

    def meanwhile(interview_id: str) -> int:
        """The erasure has looked for holds; before it has locked the interview's row, a member places one."""
        legal_holds.place(Held.INTERVIEW, interview_id, reason="Case 12", ends_at=None, by=owner.member)
        db.session.commit()
        return empty_talk(interview_id)

    monkeypatch.setattr(actions, "_erase_talk", meanwhile)
    with pytest.raises(Conflict, match="legal hold"):
        actions.erase(booked, by=owner.member)
    db.session.rollback()
    assert of(booked).erased_at is None
    assert of(booked).interviewee_email_address == "old@candidate.example"
    assert db.session.query(Erasure).count() == 0


def test_recordings_go_earlier_than_everything_else(app: Flask, owner: Person) -> None:
    old, held, young = recorded(owner, 0), recorded(owner, 1), recorded(owner, 50)
    owner.browser.post(f"/interviews/{held.id}/hold", data={"reason": "Case 11"})
    set_rule(owner, months="24", media_days="60")
    with days_later(29):
        assert settle() == 0
    with days_later(62):
        assert settle() == 1
        assert settle() == 0
    assert [row.interview_id for row in db.session.query(Revocation)] == [old.id]
    assert of(old).interviewee_email_address is not None
    assert db.session.query(Erasure).count() == 0
    assert of(young).quarantined_at is None


def test_a_second_round_on_the_same_day_asks_nobody(booked: Interview, owner: Person) -> None:
    set_rule(owner)
    with days_later(100):
        assert apply_retention() == 0
        assert idle.rounds_due() == []
    with days_later(101.1):
        assert idle.rounds_due() == [owner.organization.id]


def test_the_same_day_so_many_months_earlier() -> None:
    last = datetime(2027, 3, 31, 12, tzinfo=UTC)
    assert idle.earlier(last, 1) == datetime(2027, 2, 28, 12, tzinfo=UTC)
    assert idle.earlier(last, 24) == datetime(2025, 3, 31, 12, tzinfo=UTC)
    assert idle.later(last, 9) == datetime(2027, 12, 31, 12, tzinfo=UTC)


def decided(owner: Person, email: str) -> str:
    candidate = people.enrol(a_flow(owner), email=email, first_name="Olga", last_name="Old", recruiter=None)
    people.move(candidate, "rejected", by=owner.member, note="About Olga", grounds=Grounds(reason="skills"))
    db.session.commit()
    return candidate.id


def kept() -> list[DecisionRecord]:
    db.session.expire_all()
    return list(db.session.query(DecisionRecord))


def months_of_records(owner: Person, months: str) -> Any:
    return owner.browser.post("/retention/decisions", data={"decision_months": months})


def test_decision_records_go_with_the_candidate_without_a_rule_of_their_own(owner: Person) -> None:
    decided(owner, "old@candidate.example")
    set_rule(owner)
    with days_later(220):
        settle()
    with days_later(260):
        settle()
    assert kept() == []


def test_decision_records_stay_without_the_person_for_their_months(owner: Person) -> None:
    candidate_id = decided(owner, "old@candidate.example")
    assert months_of_records(owner, "24").status_code == 303
    set_rule(owner)
    with days_later(220):
        settle()
    with days_later(260):
        settle()
        apply_decision_rules()
        (one,) = kept()
        assert (one.candidate_id, one.reason_code, one.by_id) == (None, "skills", owner.member.id)
        assert one.pseudonym not in {None, candidate_id}
    with days_later(700):
        assert apply_decision_rules() == 0
    with days_later(740):
        assert apply_decision_rules() == 1
        assert apply_decision_rules() == 0, "once a day"
    assert kept() == []
    assert "decision.deleted" in words_of(owner)


def test_a_shorter_period_for_records_takes_effect_thirty_days_later(owner: Person) -> None:
    months_of_records(owner, "24")
    decided(owner, "old@candidate.example")
    set_rule(owner)
    with days_later(220):
        settle()
    with days_later(260):
        settle()
    assert len(kept()) == 1
    with days_later(300):
        decisions.set_months(owner.organization, None, by=owner.member)
        db.session.commit()
        assert apply_decision_rules() == 0
    with days_later(335):
        assert apply_decision_rules() == 1


def test_records_under_a_legal_hold_stay_with_their_candidate(owner: Person) -> None:
    candidate_id = decided(owner, "old@candidate.example")
    owner.browser.post(f"/candidates/{candidate_id}/hold", data={"reason": "Lawsuit", "ends": ""})
    set_rule(owner)
    with days_later(300):
        settle()
        apply_decision_rules()
    assert [one.candidate_id for one in kept()] == [candidate_id]


@pytest.mark.parametrize("months", ["5", "241", "many", "-1", "6.5"])
def test_a_period_for_records_that_is_impossible_is_refused(owner: Person, months: str) -> None:
    answer = months_of_records(owner, months)
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.text
    assert "The rule" in answer.text
