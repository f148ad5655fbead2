"""The page of a candidate with their newest result, and the same page opened on one interview."""

import html
import re
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry
from app.candidates import actions as candidates
from app.candidates.models import Candidate, DecisionRecord
from app.core.db import db
from app.flows.models import InterviewType
from app.interviews import actions
from app.interviews.models import Interview
from tests.factories import Made, a_flow
from tests.people import Person, moved_away

LISTED = "status=interviewed&order=score"


def words_of(answer: Any) -> str:
    """What the page says, without its frame."""
    main = answer.text.partition("<main")[2].partition("</main>")[0]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", main)))


def links_of(answer: Any) -> list[str]:
    return [html.unescape(one) for one in re.findall(r'href="([^"]+)"', answer.text)]


def candidate_of(interview: Interview) -> Candidate:
    assert interview.candidate is not None
    return interview.candidate


def seen_interviews() -> list[str]:
    query = sa.select(AuditEntry.subject).where(AuditEntry.action == "interview.seen")
    return list(db.session.scalars(query))


def test_a_candidate_is_shown_with_the_newest_result(owner: Person, completed: Made, book: Made) -> None:
    first = completed(first_name="Mary")
    second = actions.book(owner.organization, first.flow_id, email=first.interviewee_email_address)
    db.session.commit()
    answer = owner.browser.get(f"/candidates/{first.candidate_id}")
    assert f'value="{first.id}"' in answer.text  # the id for the API
    assert "Scores" in words_of(answer)
    assert {f"/interviews/{first.id}", f"/interviews/{second.id}"} <= set(links_of(answer))
    other = owner.browser.get(f"/interviews/{second.id}")
    assert f'value="{second.id}"' in other.text
    assert "Invite link" in words_of(other)
    assert seen_interviews() == [first.id, second.id]


def test_a_candidate_without_a_result_is_shown_with_the_newest_interview(owner: Person, book: Made) -> None:
    interview = book()
    answer = owner.browser.get(f"/candidates/{interview.candidate_id}")
    assert f'value="{interview.id}"' in answer.text
    assert "Shortlist" in words_of(answer)


def test_a_candidate_without_an_interview_has_a_page(owner: Person, make_flow: Made) -> None:
    candidate = candidates.enrol(
        make_flow(), email="new@candidate.example", first_name=None, last_name=None, recruiter=None
    )
    db.session.commit()
    answer = owner.browser.get(f"/candidates/{candidate.id}?{LISTED}")
    assert "No interviews yet" in words_of(answer)
    assert 'href="#files"' not in answer.text
    assert seen_interviews() == []


def test_a_general_interview_has_no_pipeline(owner: Person, completed: Made, make_flow: Made) -> None:
    interview = completed(make_flow(interview_type=InterviewType.GENERAL))
    assert interview.candidate is None
    answer = owner.browser.get(f"/interviews/{interview.id}?{LISTED}")
    words = words_of(answer)
    assert "Scores" in words
    for absent in ("Change status", "Shortlist", "History", "Previous"):
        assert absent not in words


def test_the_list_leads_to_pages_that_know_it(owner: Person, completed: Made) -> None:
    interview = completed(first_name="Mary")
    rows = links_of(owner.browser.get("/candidates?tests=yes"))
    assert f"/candidates/{interview.candidate_id}?tests=yes&order=newest" in rows
    links = links_of(owner.browser.get(f"/candidates/{interview.candidate_id}?tests=yes&order=newest"))
    assert "/candidates?tests=yes" in links  # back to the list as it was
    assert "Previous" not in words_of(owner.browser.get(f"/candidates/{interview.candidate_id}"))


def test_previous_and_next_keep_the_list_and_a_move_too(owner: Person, completed: Made, make_flow: Made) -> None:
    flow = make_flow()
    made = [completed(flow, email=f"c{number}@candidate.example") for number in range(3)]
    for interview, score in zip(made, (4.0, 3.0, 2.0), strict=True):
        candidate_of(interview).score = score
    db.session.commit()
    first, middle, last = (candidate_of(one).id for one in made)
    links = links_of(owner.browser.get(f"/candidates/{middle}?{LISTED}"))
    assert {f"/candidates/{first}?{LISTED}", f"/candidates/{last}?{LISTED}"} <= set(links)
    form = {"status": "shortlisted", "from": "interviewed"}
    answer = owner.browser.post(f"/candidates/{middle}/move?{LISTED}", data=form)
    assert (answer.status_code, answer.location) == (303, f"/candidates/{middle}?{LISTED}")
    links = links_of(owner.browser.get(answer.location))  # no longer in the list, and still between the two
    assert {f"/candidates/{first}?{LISTED}", f"/candidates/{last}?{LISTED}"} <= set(links)
    back = owner.browser.post(f"/candidates/{middle}/take-back?{LISTED}", data={"status": "shortlisted"})
    assert (back.status_code, back.location) == (303, f"/candidates/{middle}?{LISTED}")


def test_notes_and_ratings_return_to_the_page_with_its_list(owner: Person, completed: Made) -> None:
    interview = completed()
    base = f"/interviews/{interview.id}"
    note = owner.browser.post(f"{base}/notes?{LISTED}", data={"text": "Good."})
    assert note.location.startswith(f"{base}?{LISTED}#note-")
    rated = owner.browser.post(f"{base}/scorecard?{LISTED}", data={})
    assert rated.location == f"{base}?{LISTED}#scorecard"


def test_a_move_returns_to_the_interview_that_was_open(owner: Person, completed: Made) -> None:
    old = completed()
    new = actions.book(owner.organization, old.flow_id, email=old.interviewee_email_address)
    db.session.commit()
    form = {"status": "rejected", "from": "interviewed", "interview": new.id}
    answer = owner.browser.post(f"/candidates/{old.candidate_id}/move", data=form)
    assert answer.location == f"/interviews/{new.id}"
    assert db.session.scalar(sa.select(DecisionRecord.status)) == "rejected"


def test_an_interview_of_someone_else_in_the_form_is_not_shown(
    owner: Person, completed: Made, outsider: Person
) -> None:
    mine = completed()
    theirs = actions.book(outsider.organization, a_flow(outsider).id, email="x@candidate.example")
    db.session.commit()
    form = {"status": "nonsense", "interview": theirs.id}
    answer = owner.browser.post(f"/candidates/{mine.candidate_id}/move", data=form)
    assert answer.status_code == 422
    assert theirs.id not in answer.text
    assert f'value="{mine.id}"' in answer.text


def test_a_refused_move_says_so_and_keeps_what_was_written(owner: Person, completed: Made) -> None:
    interview = completed()
    browser = owner.browser
    candidates.move(candidate_of(interview), "shortlisted", by=None)
    db.session.commit()
    form = {"status": "rejected", "from": "interviewed", "note": "Not this time."}
    answer = browser.post(f"/candidates/{interview.candidate_id}/move?{LISTED}", data=form)
    assert answer.status_code == 409
    assert '<details class="drop" data-drop open>' in answer.text
    assert "Not this time." in answer.text


def test_the_last_move_can_be_undone_from_the_header_by_who_made_it(
    owner: Person, colleague: Person, completed: Made
) -> None:
    interview = completed()
    candidates.move(candidate_of(interview), "shortlisted", by=owner.member)
    db.session.commit()
    address = f"/candidates/{interview.candidate_id}"
    assert 'data-key="u"' in owner.browser.get(address).text
    assert 'data-key="u"' not in colleague.browser.get(address).text


def test_other_flows_of_the_same_address_are_named_where_the_member_may_see_them(
    owner: Person, colleague: Person, completed: Made, make_flow: Made
) -> None:
    here = completed(email="Two@candidate.example")
    there = completed(make_flow(title="Porter"), email="two@candidate.example")
    elsewhere = f"/candidates/{there.candidate_id}"
    assert elsewhere in links_of(owner.browser.get(f"/interviews/{here.id}"))
    there.flow.team_id = candidate_of(there).team_id = moved_away(owner).id
    db.session.commit()
    answer = colleague.browser.get(f"/interviews/{here.id}")
    assert answer.status_code == 200
    assert elsewhere not in links_of(answer)


def edited(person: Person, candidate: Candidate, **values: str) -> Any:
    given = {"first_name": "Mary", "last_name": "Hall", "recruiter": "", **values}
    return person.browser.post(f"/candidates/{candidate.id}/details?{LISTED}", data=given)


def test_a_name_is_corrected_and_a_recruiter_assigned(owner: Person, colleague: Person, completed: Made) -> None:
    interview = completed(first_name="Mray")
    candidate = candidate_of(interview)
    answer = edited(owner, candidate, last_name="  van  Hall ", recruiter=colleague.member.id)
    assert (answer.status_code, answer.location) == (303, f"/candidates/{candidate.id}?{LISTED}#data")
    db.session.expire_all()
    assert (candidate.full_name, candidate.assigned_recruiter_id) == ("Mary van Hall", colleague.member.id)
    assert interview.interviewee_first_name == "Mray"  # as it was created
    moved_away(colleague)
    edited(owner, candidate, first_name="", recruiter=colleague.member.id)
    db.session.expire_all()
    assert (candidate.full_name, candidate.assigned_recruiter_id) == ("Hall", colleague.member.id)
    entries = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "candidate.edited")).all()
    assert [(entry.subject, entry.details) for entry in entries] == [(candidate.id, {})] * 2


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"first_name": "x" * 301}, "Enter at most 300 characters."),
        ({"last_name": "a\x00b"}, "character"),
        ({"recruiter": "nobody"}, "Choose a member of the team"),
    ],
)
def test_details_that_cannot_be_stored_are_refused(
    owner: Person, completed: Made, values: dict[str, str], words: str
) -> None:
    candidate = candidate_of(completed(first_name="Mary"))
    answer = edited(owner, candidate, **{"first_name": "Marie", **values})
    assert answer.status_code == 422
    assert words.lower() in words_of(answer).lower()
    db.session.expire_all()
    assert candidate.first_name == "Mary"


def test_viewers_decide_nothing(viewer: Person, completed: Made) -> None:
    interview = completed()
    answer = viewer.browser.get(f"/candidates/{interview.candidate_id}")
    words = words_of(answer)
    assert "Interviewed" in words
    assert "Shortlist" not in words
    assert "reason-dialog" not in answer.text
