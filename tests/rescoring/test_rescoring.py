"""Results are scored again: a new version beside the one in force, which changes nothing until a person uses it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry, TeamMember
from app.accounts.usage.models import UsageRecord
from app.candidates import actions as candidates
from app.candidates.models import Candidate, DecisionRecord
from app.core import claims, clock, queue
from app.core.db import db
from app.core.errors import Rejected
from app.core.queue import SilentWaker
from app.interviews import actions
from app.interviews.jobs.claim_renewal import LEASE
from app.interviews.models import Interview, InterviewData, ScoreVersion
from app.interviews.queries import versions_of
from app.interviews.rescoring import RESCORE, jobs, queries, scoring
from app.interviews.rescoring.actions import cancel
from app.interviews.rescoring.models import Rescored, Rescoring, State
from app.privacy import actions as privacy
from app.privacy.queries import SETTLES_AFTER
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.interviews.conftest import later
from tests.people import Person, person

from .conftest import rows_of, work

Begin = Callable[..., Rescoring]


def audited(action: str) -> list[dict[str, Any]]:
    found = sa.select(AuditEntry.details).where(AuditEntry.action == action).order_by(AuditEntry.number)
    return list(db.session.scalars(found))


def score_of(interview: Interview) -> float | None:
    return db.session.scalar(sa.select(Candidate.score).where(Candidate.id == interview.candidate_id))


def test_a_new_version_lies_beside_the_one_in_force_and_changes_nothing(
    owner: Person, make_flow: Made, result: Made, model: Any, begin: Begin
) -> None:
    interview = result(make_flow(webhook_url="https://receiver.example/hook"))
    before, events = owner.api("GET", f"/v1/interviews/{interview.id}").data, db.session.query(Delivery).count()
    (row,) = work(begin(interview))
    assert (row.state, row.version, row.reason) == (State.DONE, 2, None)
    first, second = versions_of(interview)
    assert (first.number, first.source, first.basis, first.requested_by_id) == (1, "scripted", "interview", None)
    assert (first.scores or {})["motivation"] == 1.0
    assert (second.number, second.basis, second.requested_by_id) == (2, "transcript", owner.member.id)
    assert (second.source or "").startswith("chat:m:")
    assert second.scores == {**dict.fromkeys(first.scores or {}), "motivation": 2.0, "skills": 1.5}
    assert (second.evidence or {})["motivation"]["rounds"] == [2.0, 2.0, 2.0]
    assert owner.api("GET", f"/v1/interviews/{interview.id}").data == before
    assert db.session.query(Delivery).count() == events
    assert score_of(interview) == 1.0
    assert audited("scores.rescoring") == [{"interviews": 1, "flow": None}]


def test_using_a_version_shows_it_everywhere_and_sends_no_event(
    owner: Person, make_flow: Made, result: Made, model: Any, begin: Begin
) -> None:
    interview = result(make_flow(webhook_url="https://receiver.example/hook"))
    work(begin(interview))
    events = db.session.query(Delivery).count()
    before: Any = owner.api("GET", f"/v1/interviews/{interview.id}").json
    page = owner.browser.post(f"/interviews/{interview.id}/scores/2", follow_redirects=True).text
    assert "Version 2 of the scores is in force." in page
    after: Any = owner.api("GET", f"/v1/interviews/{interview.id}").json
    assert (after["interview_data"]["scores"]["motivation"], score_of(interview)) == (2.0, 1.8)
    for one in (before, after):
        one["interview_data"]["scores"] = None
    assert after == before
    exported: Any = owner.browser.post(f"/interviews/{interview.id}/export", data={"format": "json"}).json
    assert exported["overall"] == 1.8
    assert db.session.query(Delivery).count() == events
    adopted = {"from": 1, "to": 2, "model": versions_of(interview)[1].source, "criteria": None}
    assert audited("scores.adopted") == [adopted]
    owner.browser.post(f"/interviews/{interview.id}/scores/1")
    again: Any = owner.api("GET", f"/v1/interviews/{interview.id}").json
    assert again["interview_data"]["scores"]["motivation"] == 1.0
    assert "already in force" in owner.browser.post(f"/interviews/{interview.id}/scores/1", follow_redirects=True).text
    assert owner.browser.post(f"/interviews/{interview.id}/scores/9").status_code == 404
    assert len(audited("scores.adopted")) == 2


def test_an_older_result_in_force_does_not_change_the_score_of_a_newer_one(
    make_flow: Made, result: Made, model: Any, begin: Begin, owner: Person
) -> None:
    flow = make_flow()
    older = result(flow)
    newer = result(flow)
    assert older.candidate_id == newer.candidate_id
    work(begin(older))
    actions.adopt(older, 2, by=owner.member)
    db.session.commit()
    assert score_of(newer) == 1.0


def test_the_page_shows_both_versions_with_differences_marked(
    owner: Person, result: Made, model: Any, begin: Begin
) -> None:
    interview = result()
    assert "Use this version" not in owner.browser.get(f"/interviews/{interview.id}").text
    work(begin(interview))
    page = owner.browser.get(f"/interviews/{interview.id}").text
    assert page.count("Use this version") == 1
    assert page.count("(differs)") == 3  # overall, motivation, skills
    assert "chat:m:" in page


@pytest.mark.parametrize("answer", [500, 400, "nonsense"])
def test_a_failing_model_leaves_the_interview_what_it_had_and_says_why(
    owner: Person, result: Made, model: Any, begin: Begin, server: Any, reply: Any, answer: Any
) -> None:
    interview = result()
    server.replies = [reply.of({"choices": []}) if answer == "nonsense" else reply.of({}, status=answer)] * 60
    run = begin(interview)
    for attempt in range(claims.PARKED_AFTER):
        with later(minutes=5 * attempt):
            work(run)
    (row,) = rows_of(run)
    assert row.state == State.FAILED
    assert row.reason
    assert (list(versions_of(interview)), db.session.get_one(InterviewData, interview.id).version) == ([], 1)
    page = owner.browser.get(f"/rescorings/{run.id}").text
    assert "Failed" in page
    assert row.reason in page.replace("&#39;", "'")


def test_a_killed_worker_is_followed_by_another_and_its_late_outcome_is_dropped(
    result: Made, model: Any, begin: Begin
) -> None:
    run = begin(result())
    (row,) = rows_of(run)
    lost = claims.take(Rescored.state, row.id, expects=[State.WAITING], becomes=State.SCORING, lease=LEASE)
    db.session.commit()
    assert queue.overdue(RESCORE) == []
    with later(minutes=5):
        assert queue.overdue(RESCORE) == [(row.id,)]
        (row,) = work(run)
    assert (row.state, row.version) == (State.DONE, 2)
    assert lost is not None
    assert not claims.finish(Rescored, row.id, lost, state=State.FAILED)


def test_a_run_is_cancelled_and_work_under_way_is_dropped(
    owner: Person, make_flow: Made, result: Made, model: Any, begin: Begin
) -> None:
    flow = make_flow()
    one, two = result(flow), result(flow, email="ben@candidate.example")
    run = begin(one, two)
    jobs.rescore(rows_of(run)[0].id)
    token = claims.take(Rescored.state, rows_of(run)[1].id, expects=[State.WAITING], becomes=State.SCORING, lease=LEASE)
    assert cancel(run, by=owner.member) == 1
    db.session.commit()
    assert token is not None
    assert not claims.finish(Rescored, rows_of(run)[1].id, token, state=State.DONE)
    assert [row.state for row in work(run)] == [State.DONE, State.CANCELLED]
    assert audited("scores.rescoring_cancelled") == [{"interviews": 1}]
    assert cancel(run, by=owner.member) == 0


def test_cancelled_while_the_model_thinks_no_version_is_kept(
    owner: Person, result: Made, model: Any, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    interview, real = result(), scoring.score_again
    run = begin(interview)

    def meanwhile(*given: Any, **more: Any) -> Any:
        made = real(*given, **more)
        cancel(db.session.get_one(Rescoring, run.id), by=db.session.get_one(TeamMember, owner.member.id))
        db.session.commit()
        return made

    monkeypatch.setattr(jobs, "score_again", meanwhile)
    assert [row.state for row in work(run)] == [State.CANCELLED]
    assert list(versions_of(interview)) == []


def test_an_interview_is_open_in_one_run_only_and_few_wait_in_the_queue(
    owner: Person, make_flow: Made, result: Made, model: Any, begin: Begin, waker: SilentWaker
) -> None:
    flow = make_flow()
    many = [result(flow, email=f"c{number}@candidate.example") for number in range(queries.AT_ONCE + 2)]
    begin(*many)
    assert len([job for job, _ in waker.enqueued if job is RESCORE]) == queries.AT_ONCE
    assert len(queue.overdue(RESCORE)) == queries.AT_ONCE
    with pytest.raises(Rejected, match="nothing to score"):
        begin(*many)
    db.session.rollback()
    assert queries.plan_for(owner.member, which=queries.results_of(flow.id)).waiting == len(many)


def test_runs_take_turns(make_flow: Made, result: Made, model: Any, begin: Begin) -> None:
    flow = make_flow()
    many = [result(flow, email=f"c{number}@candidate.example") for number in range(queries.AT_ONCE + 1)]
    begin(*many)
    single = begin(result(flow, email="last@candidate.example"))
    assert (rows_of(single)[0].id,) in queue.overdue(RESCORE)


def test_a_dry_run_counts_calls_and_what_is_left_out(
    owner: Person, make_flow: Made, result: Made, submitted: Made, model: Any
) -> None:
    flow = make_flow()
    fine = result(flow)
    withdrawn = result(flow, email="b@candidate.example")
    actions.withdraw(withdrawn)
    silent = result(flow, said=(), email="c@candidate.example")
    db.session.commit()
    plan = queries.plan_for(owner.member, which=queries.results_of(flow.id))
    assert (plan.ids, plan.calls, plan.withheld, plan.unanswered) == ((fine.id,), 3, 1, 1)
    assert plan.tokens > 0
    assert f'href="/rescorings/new?flow={flow.id}"' in owner.browser.get(f"/flows/{flow.id}").text
    page = owner.browser.get(f"/rescorings/new?flow={flow.id}").text
    assert "Score 1 interview" in page
    assert silent.id != fine.id
    unfinished = submitted(flow, email="d@candidate.example")
    assert queries.plan_for(owner.member, which=Interview.id == unfinished.id).unfinished == 1
    assert db.session.query(Rescoring).count() == 0


def test_only_what_has_no_scores_is_scored_where_that_is_asked(
    owner: Person, make_flow: Made, result: Made, scripted: Any, model: Any
) -> None:
    flow = make_flow()
    result(flow)
    scripted.judged = {}
    bare = db.session.get_one(Interview, result(flow, email="b@candidate.example").id)
    db.session.get_one(InterviewData, bare.id).scores = {"language_fluency_and_pace": 3.0}
    db.session.commit()
    answer = owner.browser.post("/rescorings", data={"flow": flow.id, "missing": "yes"})
    assert answer.status_code == 303
    assert [row.interview_id for row in db.session.query(Rescored)] == [bare.id]


def test_a_selection_of_the_list_is_scored_by_its_newest_results(
    owner: Person, make_flow: Made, result: Made, model: Any
) -> None:
    flow = make_flow()
    first = result(flow)
    newest, other = result(flow), result(flow, email="b@candidate.example")
    chosen = [newest.candidate_id, other.candidate_id]
    assert first.candidate_id == newest.candidate_id
    page = owner.browser.post("/rescorings/new", data={"id": chosen}).text
    assert "2 selected candidates" in page
    assert "Score 2 interviews" in page
    assert f'formaction="/rescorings/new?flow={flow.id}"' in owner.browser.get(f"/candidates?flow={flow.id}").text
    filtered = owner.browser.post(f"/rescorings/new?flow={flow.id}&text=b@candidate", data={"all": "yes"}).text
    assert "1 selected candidate" in filtered
    owner.browser.post("/rescorings", data={"id": chosen})
    assert {row.interview_id for row in db.session.query(Rescored)} == {newest.id, other.id}
    for data in ({}, {"id": ["nonsense"]}):
        answer = owner.browser.post("/rescorings/new", data=data)
        assert answer.status_code in {200, 422}
        assert owner.browser.post("/rescorings", data=data).status_code == 303


def test_all_new_versions_of_a_run_are_used_at_once(
    owner: Person, make_flow: Made, result: Made, model: Any, begin: Begin
) -> None:
    flow = make_flow()
    many = [result(flow, email=f"c{number}@candidate.example") for number in range(3)]
    run = begin(*many)
    work(run)
    assert "Use the new scores for 3 interviews" in owner.browser.get(f"/rescorings/{run.id}").text
    actions.withdraw(db.session.get_one(Interview, many[0].id))
    db.session.commit()
    page = owner.browser.post(f"/rescorings/{run.id}/use", follow_redirects=True).text
    assert "The new scores for 2 interviews are in force." in page
    assert [db.session.get_one(InterviewData, one.id).version for one in many] == [1, 2, 2]
    assert len(audited("scores.adopted")) == 2


def test_a_decision_records_the_version_that_was_in_force(
    owner: Person, result: Made, model: Any, begin: Begin
) -> None:
    interview = result()
    work(begin(interview))
    candidate = db.session.get_one(Candidate, interview.candidate_id)
    candidates.move(candidate, "shortlisted", by=owner.member)
    owner.browser.post(f"/interviews/{interview.id}/scores/2")
    candidates.move(candidate, "rejected", by=owner.member)
    found = db.session.scalars(sa.select(DecisionRecord).order_by(DecisionRecord.number))
    assert [one.score_version for one in found] == [1, 2]


def test_what_is_withheld_while_versions_are_put_in_force_costs_no_other_its_version(
    owner: Person, make_flow: Made, result: Made, model: Any, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = make_flow()
    many = [result(flow, email=f"c{number}@candidate.example") for number in range(3)]
    run = begin(*many)
    work(run)
    found = queries.unused_of(owner.member, run)
    actions.withdraw(db.session.get_one(Interview, found[2][0]))
    db.session.commit()
    monkeypatch.setattr(queries, "unused_of", lambda *_: found)
    page = owner.browser.post(f"/rescorings/{run.id}/use", follow_redirects=True).text
    assert "The new scores for 2 interviews are in force." in page
    assert [db.session.get_one(InterviewData, one).version for one, _ in found] == [2, 2, 1]


def test_erasing_removes_every_version_and_nothing_is_scored_afterwards(
    owner: Person, result: Made, model: Any, begin: Begin
) -> None:
    interview = result()
    work(begin(interview))
    run = begin(interview)
    privacy.erase(interview, by=owner.member)
    db.session.commit()
    assert db.session.query(ScoreVersion).count() == 0
    (row,) = work(run)
    assert (row.state, row.reason) == (State.FAILED, jobs.WITHHELD)
    assert db.session.query(ScoreVersion).count() == 0
    with pytest.raises(Rejected):
        begin(interview)
    db.session.rollback()
    page = owner.browser.post(f"/interviews/{interview.id}/scores/2", follow_redirects=True).text
    assert "withheld or erased" in page


def test_versions_that_an_erasure_by_the_release_before_left_are_removed_when_it_settles(
    owner: Person, result: Made, model: Any, begin: Begin
) -> None:
    interview = result()
    privacy.erase(interview, by=owner.member)
    db.session.add(ScoreVersion(interview_id=interview.id, number=1, basis="interview"))
    privacy.gone(interview.id)
    db.session.commit()
    then = clock.now() + SETTLES_AFTER + timedelta(minutes=1)
    with clock.replaced(lambda: then):
        privacy.gone(interview.id)
    assert db.session.query(ScoreVersion).count() == 0


def test_what_it_costs_is_added_to_the_interview(result: Made, model: Any, begin: Begin) -> None:
    interview = result()
    before = db.session.get_one(UsageRecord, interview.id).model_calls
    work(begin(interview))
    record = db.session.get_one(UsageRecord, interview.id, populate_existing=True)
    assert (record.model_calls - before, record.model_tokens) == (3, 360)


def test_without_a_language_model_the_page_says_what_is_missing(
    owner: Person, result: Made, begin: Begin, scripted: Any
) -> None:
    interview = result()
    scripted.name = "script"
    assert "needs a language model" in owner.browser.get(f"/interviews/{interview.id}").text
    page = owner.browser.get(f"/rescorings/new?interview={interview.id}").text
    assert "needs a language model" in page
    assert 'action="/rescorings"' not in page
    answer = owner.browser.post("/rescorings", data={"interview": interview.id}, follow_redirects=True).text
    assert "needs a language model" in answer
    assert db.session.query(Rescoring).count() == 0
    (row,) = work(begin(interview))
    assert (row.state, row.reason) == (State.FAILED, jobs.NO_MODEL)


def test_those_without_the_right_neither_see_nor_do_it(
    owner: Person, outsider: Person, result: Made, model: Any, begin: Begin
) -> None:
    interview = result()
    run = begin(interview)
    work(run)
    viewer = person(owner.app, "vic@first.example", organization=owner.organization, role="viewer")
    page = viewer.browser.get(f"/interviews/{interview.id}").text
    assert "Use this version" not in page
    assert "Score again" not in page
    for who in (viewer, outsider):
        for path in (f"/rescorings/{run.id}", f"/rescorings/new?interview={interview.id}"):
            assert who.browser.get(path).status_code in {403, 404}
        for path in (
            f"/rescorings/{run.id}/cancel",
            f"/rescorings/{run.id}/use",
            f"/interviews/{interview.id}/scores/2",
        ):
            assert who.browser.post(path).status_code in {403, 404}
    assert db.session.get_one(InterviewData, interview.id).version == 1
    assert run.id not in outsider.browser.get("/rescorings").text
    assert run.id in owner.browser.get("/rescorings").text
