"""Decision records: one for each move that decides, withdrawn by an undo, kept or deleted when the person goes."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry
from app.candidates import actions, bulk, decisions, reasons, statuses
from app.candidates.bulk import Change, Kind
from app.candidates.decisions import Grounds
from app.candidates.models import Candidate, DecisionRecord, Meaning, Source, StatusChange
from app.candidates.queries import decisions_on, records_of
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.review.ratings.models import Assessment
from tests.factories import Made
from tests.people import Person


def records(candidate: Candidate | None = None) -> list[DecisionRecord]:
    db.session.expire_all()
    query = sa.select(DecisionRecord).order_by(DecisionRecord.number)
    return list(db.session.scalars(query.where(DecisionRecord.candidate_id == candidate.id) if candidate else query))


def entries(action: str) -> list[AuditEntry]:
    return list(db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == action)))


def pass_time(candidate: Candidate, **much: Any) -> None:
    """Everything that happened to the candidate happened that much earlier."""
    for change in db.session.scalars(sa.select(StatusChange).where(StatusChange.candidate_id == candidate.id)):
        change.at -= timedelta(**much)
    db.session.commit()
    for record in records(candidate):
        record.at -= timedelta(**much)
    db.session.commit()


def rate(who: Person, candidate: Candidate, **values: float) -> Interview:
    interview = interviews.book(candidate.flow.organization, candidate.flow_id, email=candidate.email)
    for competence, value in values.items():
        more = {"member_id": who.member.id, "competence": competence, "value": value, "changed_at": clock.now()}
        db.session.add(Assessment(organization_id=candidate.organization_id, interview_id=interview.id, **more))
    db.session.commit()
    return interview


def test_a_record_says_who_when_from_where_why_and_what_they_had_seen(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    rate(owner, candidate, overall=1.0)
    rate(owner, candidate, skills=2.0, motivation=3.0)
    change = actions.move(candidate, "rejected", by=owner.member, grounds=Grounds(Source.TRIAGE, "skills"))
    db.session.commit()
    assert change is not None
    (one,) = records(candidate)
    assert (one.by_id, one.at, one.number) == (owner.member.id, change.at, 1)
    assert (one.previous, one.status, one.meaning, one.source) == ("invited", "rejected", "rejected", "triage")
    assert (one.reason_code, one.reason, one.own_rating) == ("skills", "Skills do not match the role", 2.5)
    assert (one.criteria_version, one.score_version, one.decided_by, one.withdrawn_at) == (None, None, None, None)
    (entry,) = entries("decision.recorded")
    assert (entry.subject, entry.member_id) == (candidate.id, owner.member.id)
    assert entry.details == {"meaning": "rejected", "source": "triage", "reason": "skills"}


def test_the_overall_rating_counts_and_only_ones_own(owner: Person, outsider: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    rate(outsider, candidate, overall=5.0)
    rate(owner, candidate, overall=4.0, skills=1.0)
    actions.move(candidate, "accepted", by=owner.member)
    assert [one.own_rating for one in records(candidate)] == [4.0]


def test_only_moves_that_decide_leave_a_record(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    for status in ("interviewed", "shortlisted", "withdrawn", "invited", "accepted"):
        actions.move(candidate, status, by=owner.member)
    actions.move(candidate, "rejected", by=None)  # Parley itself, or a program without a person behind it
    actions.move(candidate, "accepted", by=None, grounds=Grounds(Source.API_KEY, decided_by="jo@customer.example"))
    db.session.commit()
    found = [(one.status, one.source, one.by_id, one.decided_by) for one in records(candidate)]
    assert found == [
        ("shortlisted", "page", owner.member.id, None),
        ("accepted", "page", owner.member.id, None),
        ("accepted", "api_key", None, "jo@customer.example"),
    ]


def test_a_status_without_a_meaning_counts_as_open(owner: Person, make_candidate: Made) -> None:
    statuses.add(owner.organization, "Trial day", by=owner.member).meaning = None
    candidate = make_candidate()
    actions.move(candidate, "Trial day", by=owner.member)
    with pytest.raises(Rejected, match="takes no reason"):
        actions.move(make_candidate("b@e.com"), "Trial day", by=owner.member, grounds=Grounds(reason="skills"))
    assert records() == []


@pytest.mark.parametrize(
    ("to", "code", "says"),
    [
        ("rejected", "nonsense", "not in your organization's list"),
        ("rejected", "x" * 5000, "not in your organization's list"),
        ("rejected", "skills_fit", "“Skills match the role” is not a reason for “rejected”"),
        ("withdrawn", "skills", "A move to “withdrawn” takes no reason"),
    ],
)
def test_a_reason_that_does_not_belong_there_moves_nobody(
    owner: Person, make_candidate: Made, to: str, code: str, says: str
) -> None:
    candidate = make_candidate()
    with pytest.raises(Rejected, match=says) as refusal:
        actions.move(candidate, to, by=owner.member, grounds=Grounds(reason=code))
    assert refusal.value.field == "reason"
    assert (candidate.status, records()) == ("invited", [])


def test_a_reason_of_another_organization_is_unknown(owner: Person, outsider: Person, make_candidate: Made) -> None:
    reasons.add(outsider.organization, "rejected", "Their own reason", by=outsider.member)
    theirs = next(one for one in reasons.reasons_of(outsider.organization) if one.label == "Their own reason")
    assert theirs in reasons.reasons_for(outsider.organization, Meaning.REJECTED)
    with pytest.raises(Rejected, match="not in your organization's list"):
        actions.move(make_candidate(), "rejected", by=owner.member, grounds=Grounds(reason=theirs.code))
    with pytest.raises(Rejected, match="at most 9 reasons"):
        reasons.add(outsider.organization, "rejected", "One too many", by=outsider.member)


def test_a_reason_can_be_required(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    assert reasons.require(owner.organization, wanted=True, by=owner.member)
    assert not reasons.require(owner.organization, wanted=True, by=owner.member)
    with pytest.raises(Rejected, match="requires one for “rejected”"):
        actions.move(candidate, "rejected", by=owner.member)
    assert actions.move(candidate, "interviewed", by=owner.member) is not None
    assert actions.move(candidate, "rejected", by=owner.member, grounds=Grounds(reason="other")) is not None


def test_an_undo_within_five_minutes_withdraws_the_record_and_leaves_it(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    actions.move(candidate, "shortlisted", by=owner.member)
    pass_time(candidate, hours=1)
    actions.move(candidate, "rejected", by=owner.member)
    assert actions.move_back(candidate, "rejected", by=owner.member)
    db.session.commit()
    first, second = records(candidate)
    assert (second.status, second.withdrawn_by_id) == ("rejected", owner.member.id)
    assert second.withdrawn_at is not None
    assert (first.status, first.withdrawn_at) == ("shortlisted", None), "the earlier decision stands again"
    assert decisions_on([candidate.id])[candidate.id].number == 1
    assert [entry.subject for entry in entries("decision.withdrawn")] == [candidate.id]


def test_an_undo_after_five_minutes_is_a_new_move(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    actions.move(candidate, "shortlisted", by=owner.member)
    actions.move(candidate, "rejected", by=owner.member)
    pass_time(candidate, minutes=6)
    assert actions.move_back(candidate, "rejected", by=owner.member)
    found = [(one.number, one.status, one.withdrawn_at) for one in records(candidate)]
    assert found == [(1, "shortlisted", None), (2, "rejected", None), (3, "shortlisted", None)]
    assert entries("decision.withdrawn") == []


def test_the_second_of_two_people_is_told(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    actions.move(candidate, "shortlisted", by=owner.member, seen="invited")
    with pytest.raises(Conflict, match=r"was moved to shortlisted in the meantime\. Nothing was changed"):
        actions.move(candidate, "rejected", by=owner.member, seen="invited")
    assert [one.status for one in records(candidate)] == ["shortlisted"]


def test_many_get_one_reason_and_one_record_each_and_lose_it_together(
    owner: Person, make_flow: Made, make_candidate: Made
) -> None:
    flow = make_flow()
    people = [make_candidate(f"p{n}@e.com", flow=flow) for n in range(4)]
    actions.move(people[3], "rejected", by=None)
    ids = [one.id for one in people]
    rows = bulk.apply(owner.member, ids, Change(Kind.MOVE, "rejected", "role_filled"))
    db.session.commit()
    assert [row.outcome for row in rows] == ["done", "done", "done", "same"]
    assert {(one.candidate_id, one.reason, one.source) for one in records()} == {
        (one, "Role filled", "bulk") for one in ids[:3]
    }
    (entry,) = entries("decision.recorded")
    assert (entry.subject, entry.details["n"]) == (owner.organization.id, 3)
    bulk.apply(owner.member, ids[:3], Change(Kind.BACK, "rejected"))
    db.session.commit()
    assert [one.withdrawn_by_id for one in records()] == [owner.member.id] * 3
    assert {db.session.get_one(Candidate, one).status for one in ids[:3]} == {"invited"}


def test_a_bulk_with_a_wrong_reason_moves_nobody(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    with pytest.raises(Rejected, match="not in your organization's list"):
        bulk.apply(owner.member, [candidate.id], Change(Kind.MOVE, "rejected", "nonsense"))
    assert candidate.status == "invited"


def test_a_removed_status_leaves_records_of_where_its_candidates_went(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    actions.move(candidate, "shortlisted", by=owner.member)
    statuses.remove(owner.organization, "shortlisted", into="rejected", by=owner.member)
    assert [(one.status, one.source) for one in records(candidate)] == [
        ("shortlisted", "page"),
        ("rejected", "statuses"),
    ]


def test_records_go_with_the_candidate_unless_the_rule_keeps_them(owner: Person, make_candidate: Made) -> None:
    gone, kept = make_candidate(), make_candidate("bob@e.com")
    actions.move(gone, "rejected", by=owner.member)
    actions.erase(gone)
    assert records() == []
    decisions.set_months(owner.organization, 24, by=owner.member)
    actions.move(kept, "shortlisted", by=owner.member, note="A note about Bob", grounds=Grounds(reason="potential"))
    actions.move(kept, "rejected", by=owner.member, grounds=Grounds(reason="skills"))
    actions.erase(kept)
    db.session.commit()
    first, second = records()
    assert (first.candidate_id, second.candidate_id) == (None, None)
    assert first.pseudonym == second.pseudonym is not None
    assert first.pseudonym != kept.id
    assert [one.reason_code for one in (first, second)] == ["potential", "skills"]
    assert db.session.scalar(sa.select(sa.func.count(StatusChange.id))) == 0, "the note went with the move"


def test_records_of_a_candidate_are_found_by_their_moves(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    actions.move(candidate, "interviewed", by=owner.member)
    actions.move(candidate, "accepted", by=owner.member)
    assert {number: one.status for number, one in records_of(candidate).items()} == {2: "accepted"}
    assert decisions_on([]) == {}


def test_the_page_takes_a_reason_and_shows_the_record_in_the_history(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    path = f"/candidates/{candidate.id}"
    seen = owner.browser.get(path).text
    assert '<option value="role_filled">Role filled</option>' in seen
    given = {"status": "rejected", "from": "invited", "reason": "role_filled", "note": "Filled on Monday"}
    assert owner.browser.post(f"{path}/move", data=given).status_code == 303
    seen = " ".join(owner.browser.get(path).text.split())
    assert "Decision: <strong>Role filled</strong>" in seen
    assert "made on the candidate" in seen
    assert owner.browser.post(f"{path}/take-back", data={"status": "rejected"}).status_code == 303
    seen = " ".join(owner.browser.get(path).text.split())
    assert "Decision: <strong>Role filled</strong>" in seen
    assert "Withdrawn" in seen


def test_a_page_that_someone_else_overtook_says_so_and_keeps_what_was_typed(
    owner: Person, make_candidate: Made
) -> None:
    candidate = make_candidate()
    actions.move(candidate, "shortlisted", by=owner.member)
    db.session.commit()
    given = {"status": "rejected", "from": "invited", "reason": "skills", "note": "My note"}
    answer = owner.browser.post(f"/candidates/{candidate.id}/move", data=given)
    assert answer.status_code == 409
    assert "was moved to shortlisted in the meantime" in answer.text
    assert "My note</textarea>" in answer.text
    assert '<option value="skills" selected>' in answer.text
    assert [one.status for one in records(candidate)] == ["shortlisted"]


@pytest.mark.parametrize("reason", ["nonsense", "re\x00", "skills_fit", "x" * 9000])
@pytest.mark.parametrize("place", ["page", "triage", "bulk"])
def test_a_bad_reason_is_a_sentence_on_every_page(owner: Person, make_candidate: Made, place: str, reason: str) -> None:
    candidate = make_candidate()
    path, given = {
        "page": (f"/candidates/{candidate.id}/move", {"status": "rejected"}),
        "triage": (f"/candidates/triage/{candidate.id}", {"decision": "rejected"}),
        "bulk": ("/candidates/bulk", {"kind": "move", "status": "rejected", "id": candidate.id, "sure": "yes"}),
    }[place]
    answer = owner.browser.post(path, data={**given, "reason": reason})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text or 'class="error"' in answer.text
    assert records() == []


def test_a_required_reason_is_asked_for_on_every_page(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    owner.browser.post("/candidates/reasons/require", data={"required": "yes"})
    says = "Your organization requires one for “rejected”."
    page = owner.browser.post(f"/candidates/{candidate.id}/move", data={"status": "rejected", "board": ""})
    assert (page.status_code, says in page.text) == (422, True)
    triage = owner.browser.post(f"/candidates/triage/{candidate.id}", data={"decision": "rejected", "from": "invited"})
    assert (triage.status_code, says in triage.text) == (422, True)
    given = {"kind": "move", "status": "rejected", "id": candidate.id}
    question = owner.browser.post("/candidates/bulk", data=given).text
    assert '<option value="skills">Skills do not match the role</option>' in question
    assert "Skills match the role" not in question
    again = owner.browser.post("/candidates/bulk", data={**given, "sure": "yes"})
    assert (again.status_code, says in again.text) == (422, True)
    done = owner.browser.post("/candidates/bulk", data={**given, "sure": "yes", "reason": "other"})
    assert done.status_code == 200
    assert [one.reason_code for one in records(candidate)] == ["other"]


def test_triage_and_board_say_where_they_decided(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    json = {"Accept": "application/json"}
    given = {"status": "rejected", "from": "invited", "board": "", "reason": "skills", "note": "On the board"}
    owner.browser.post(f"/candidates/{candidate.id}/move", data=given, headers=json)
    undone = {"status": "invited", "from": "rejected", "board": "", "undo": "yes"}
    answer = owner.browser.post(f"/candidates/{candidate.id}/move", data=undone, headers=json)
    assert answer.json == {"status": "invited", "changed": True}
    owner.browser.post(f"/candidates/triage/{candidate.id}", data={"decision": "accepted", "reason": "best_fit"})
    found = [(one.source, one.reason_code, one.withdrawn_at is not None) for one in records(candidate)]
    assert found == [("board", "skills", True), ("triage", "best_fit", False)]


def test_the_list_of_candidates_as_csv_has_the_decision_that_stands(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    actions.move(candidate, "shortlisted", by=owner.member, grounds=Grounds(reason="potential"))
    actions.move(candidate, "rejected", by=owner.member)
    actions.move_back(candidate, "rejected", by=owner.member)
    db.session.commit()
    head, row = owner.browser.post("/candidates/export").text.splitlines()
    assert head.endswith(",decision,decision_reason,decided")
    assert ",advanced,Potential to learn the role,20" in row


def test_all_records_as_csv_those_of_erased_candidates_too(
    owner: Person, outsider: Person, make_candidate: Made
) -> None:
    decisions.set_months(owner.organization, 24, by=owner.member)
    kept, gone = make_candidate(), make_candidate("bob@e.com")
    for one in (kept, gone):
        actions.move(one, "rejected", by=owner.member, grounds=Grounds(reason="other"))
    actions.erase(gone)
    db.session.commit()
    head, *rows = owner.browser.post("/candidates/decisions/export").text.splitlines()
    assert head.lstrip("\ufeff").startswith("id,candidate_id,pseudonym,flow,")
    assert sorted(row.split(",")[1] for row in rows) == ["", kept.id]
    assert all(",rejected,rejected,20" in row and owner.member.email in row for row in rows)
    assert len(outsider.browser.post("/candidates/decisions/export").text.splitlines()) == 1
    assert [entry.details for entry in entries("decision.exported")] == [{"rows": 2}, {"rows": 0}]
