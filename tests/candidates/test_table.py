"""The list of candidates: filters, order, columns, saved views, changes in bulk and the export."""

import csv
import io
import re
from datetime import UTC, date, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.actions import add_team
from app.accounts.models import AuditEntry, TeamMembership
from app.candidates import actions, export
from app.candidates.models import Candidate, CandidateTag, SavedView
from app.candidates.queries import tags_seen_by
from app.core import clock
from app.core.db import db, new_id
from app.flows.models import FlowGrant, Right
from app.web.csv import cell
from app.web.streaming_slots import places
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.people import Person
from tests.statements import sent


def text_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))


def names(person: Person, query: str = "") -> list[str]:
    """The rows' names in order."""
    seen = person.browser.get(f"/candidates?{query}")
    assert seen.status_code == 200
    return re.findall(r'<a class="name"[^>]+>([^<]+)<', seen.text)


@pytest.fixture
def three(owner: Person, make_flow: Made, make_candidate: Made) -> dict[str, str]:
    """Ada (4.2, judged), Bob (2.0, new) and Cyd (no interview), by name."""
    flow, ids = make_flow(webhook_url="https://customer.example/hook"), {}
    for day, (name, scores) in enumerate(
        (("Ada", {"skills": 4.4, "motivation": 4.0}), ("Bob", {"skills": 2.0, "motivation": 2.0}), ("Cyd", None))
    ):
        one = make_candidate(f"{name}@e.com", flow=flow, first_name=name, last_name="X")
        one.created_at = datetime(2026, 3, day + 1, 23, 30, tzinfo=UTC)
        if scores:
            actions.note_result(one, scores, at=datetime(2026, 4, 1, tzinfo=UTC))
        ids[name] = one.id
    actions.note_review(db.session.get_one(Candidate, ids["Ada"]))
    actions.tag(db.session.get_one(Candidate, ids["Ada"]), "Remote")
    db.session.commit()
    return ids


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", "Cyd Bob Ada"),
        ("order=oldest", "Ada Bob Cyd"),
        ("order=name", "Ada Bob Cyd"),
        ("order=score", "Ada Bob Cyd"),
        ("order=name_desc", "Cyd Bob Ada"),
        ("order=score_asc", "Bob Ada Cyd"),
        ("order=sideways", "Cyd Bob Ada"),
        ("score_from=4", "Ada"),
        ("score_from=1&score_to=3", "Bob"),
        ("score_to=nan&score_from=9", "Cyd Bob Ada"),
        ("unreviewed=yes", "Bob"),
        ("tag=remote", "Ada"),
        ("without_tag=remote", "Cyd Bob"),
        ("recruiter=nobody", "Cyd Bob Ada"),
        ("recruiter=9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", ""),
        ("from=2026-03-02", "Cyd Bob"),
        ("from=2026-03-02&to=2026-03-02", "Bob"),
        ("from=yesterday&to=2026-99-99", "Cyd Bob Ada"),
        ("from=0001-01-01&to=9999-12-31", "Cyd Bob Ada"),
        ("without_status=invited", ""),
    ],
)
def test_the_list_is_narrowed_and_sorted(owner: Person, three: dict[str, str], query: str, found: str) -> None:
    assert [name.split()[0] for name in names(owner, query)] == found.split()


def test_columns_are_chosen(owner: Person, three: dict[str, str]) -> None:
    text = owner.browser.get("/candidates?show=tags&show=score&show=%3Cb%3E").text
    assert re.findall(r'<th scope="col" class="([^"]+)"', text) == [
        "choose",
        "col-name",
        "col-score",
        "col-tags",
        "more",
    ]
    assert "ada@e.com" not in text
    assert ">remote<" in text
    assert "4.2" in text


def test_headers_sort_and_say_how_the_list_is_sorted(owner: Person, three: dict[str, str]) -> None:
    def head(query: str, column: str) -> tuple[str, str]:
        text = owner.browser.get(f"/candidates?{query}").text
        found = re.search(rf'<th scope="col" class="col-{column}"([^>]*)><a href="([^"]+)"', text)
        assert found
        return found[1].strip(), found[2].replace("&amp;", "&")

    assert head("text=X", "name") == ("", "/candidates?text=X&order=name")
    assert head("text=X", "added") == ('aria-sort="descending"', "/candidates?text=X&order=oldest")
    assert head("order=oldest&text=X", "added") == ('aria-sort="ascending"', "/candidates?text=X")
    assert head("order=name", "name") == ('aria-sort="ascending"', "/candidates?order=name_desc")
    assert head("order=score", "score") == ('aria-sort="descending"', "/candidates?order=score_asc")
    assert head("order=score_asc&show=score", "score")[1] == "/candidates?order=score&show=score"


def test_active_filters_are_named_and_removed_one_by_one(owner: Person, three: dict[str, str]) -> None:
    everything = (
        f"text=a+X&flow={new_id()}&status=invited&recruiter=nobody&tag=remote&without_status=rejected&without_tag=old"
        "&score_from=1&score_to=4.5&from=2026-01-01&to=2026-12-31&unreviewed=yes&tests=yes"
    )
    page = owner.browser.get(f"/candidates?{everything}&order=name&show=score").text
    chips = re.findall(r'<a href="([^"]+)" aria-label="Remove the filter ([^"]+)"', page)
    assert [words for _href, words in chips] == [
        "“a X”",
        "Flow: unknown",
        "Status: Invited",
        "Recruiter: Unassigned",
        "Tag: remote",
        "Status is not: Rejected",
        "Without tag: old",
        "Minimum score: 1",
        "Maximum score: 4.5",
        "Added on or after 2026-01-01",
        "Added on or before 2026-12-31",
        "To review",
        "Test interviews included",
    ]
    for href, _words in chips:
        left = owner.browser.get(href.replace("&amp;", "&")).text
        assert left.count('aria-label="Remove the filter') == len(chips) - 1
        assert "Sort by" in left
        assert '<option value="name" selected>' in left
    plain = owner.browser.get("/candidates?score_from=nan&order=name&show=score").text
    assert "Remove the filter" not in plain


def test_presets_and_views_say_which_one_is_shown(owner: Person, three: dict[str, str]) -> None:
    def current(query: str) -> list[str]:
        page = owner.browser.get(f"/candidates?{query}").text
        return re.findall(r'aria-current="true"[^>]*>([^<]+)<', page)

    owner.browser.post("/candidates/views?score_from=4&order=score", data={"name": "Best"})
    assert current("order=name") == ["All"]
    assert current("unreviewed=yes") == ["To review"]
    assert current("score_from=4&order=score") == ["Best"]
    assert current("score_from=4") == []
    found = re.search(
        r'href="/candidates\?order=name&amp;from=([\d-]+)"', owner.browser.get("/candidates?order=name").text
    )
    assert found
    assert date.fromisoformat(found[1]).weekday() == 0, "a week begins on Monday"
    assert 0 <= (clock.now().date() - date.fromisoformat(found[1])).days < 7


def test_scores_are_a_number_with_a_bar_and_a_color(owner: Person, three: dict[str, str]) -> None:
    page = owner.browser.get("/candidates?order=score").text
    chip = r'class="score-chip badge-(\w+)" title="([^"]+)">([\d.]+)<svg.*?width="([\d.]+)" height="4"></rect></svg'
    chips = re.findall(chip, page, re.DOTALL)
    assert chips == [
        ("good", "Overall score: 4.2 out of 5", "4.2", "42.0"),
        ("bad", "Overall score: 2.0 out of 5", "2.0", "20.0"),
    ]


def test_a_page_further_on_keeps_filter_order_and_columns(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    first = make_candidate("c0@e.com", flow=make_flow())
    known = {name: getattr(first, name) for name in Candidate.__table__.columns.keys()}  # noqa: SIM118
    rows = [{**known, "id": new_id(), "email": f"c{n}@e.com", "address": f"c{n}@e.com"} for n in range(1, 120)]
    db.session.execute(sa.insert(Candidate), rows)
    db.session.commit()
    page = owner.browser.get("/candidates?text=e.com&order=name&show=tags&show=score&offset=50").text
    assert "51–100 of 120 candidates" in page
    kept = "/candidates?text=e.com&amp;order=name&amp;show=tags&amp;show=score&amp;offset="
    assert [int(at) for at in re.findall(re.escape(kept) + r"(\d+)", page)] == [0, 100]


def test_a_new_result_asks_for_a_new_judgement_and_a_move_by_a_person_is_one(
    owner: Person, three: dict[str, str]
) -> None:
    ada = db.session.get_one(Candidate, three["Ada"])
    actions.note_result(ada, {"skills": None}, at=datetime(2026, 5, 1, tzinfo=UTC))
    assert (ada.score, ada.reviewed_at) == (None, None)
    actions.move(ada, "interviewed", by=None)
    assert ada.reviewed_at is None
    actions.move(ada, "shortlisted", by=owner.member)
    assert ada.reviewed_at is not None


def post(person: Person, query: str = "", **form: Any) -> Any:
    """Sent by somebody who has answered the question, if there is one."""
    return person.browser.post(f"/candidates/bulk?{query}", data={"sure": "yes", **form})


def test_a_move_is_asked_about_with_its_number_and_whether_systems_hear_of_it(
    owner: Person, three: dict[str, str], make_flow: Made, make_candidate: Made
) -> None:
    assert re.search(
        r'<select[^>]+id="bulk-kind"[^>]*>\s*<option value="" ?[^>]*>Choose an action',
        owner.browser.get("/candidates").text,
    )
    silent = make_candidate("dan@e.com", flow=make_flow(webhook_url=None), first_name="Dan")
    moved = db.session.get_one(Candidate, three["Ada"])
    actions.move(moved, "accepted", by=None)
    db.session.commit()
    form = {"id": [*three.values(), silent.id, "nonsense"], "kind": "move", "status": "accepted", "sure": ""}
    asked = post(owner, **form)
    assert asked.status_code == 200
    words = text_of(asked)
    assert "Move 3 candidates to Accepted?" in words
    assert "2 webhook events will be sent" in words
    assert "1 of the selected candidates needs no change." in words
    assert "You cannot change 1 of the selected candidates" in words
    db.session.expire_all()
    assert db.session.scalar(sa.select(sa.func.count(Delivery.id))) == 1, "nothing has happened"
    fields = re.findall(r'<input type="hidden" name="(kind|sure|status|id)" value="([^"]*)"', asked.text)
    answered = {name: [value for key, value in fields if key == name] for name, _ in fields}
    assert "3 of 5 changed" in post(owner, **answered).text
    assert db.session.scalar(sa.select(sa.func.count(Delivery.id))) == 3


def test_what_a_filter_finds_is_asked_about_whatever_is_done(owner: Person, three: dict[str, str]) -> None:
    asked = post(owner, "score_from=0", all="yes", kind="tag", tag="x", sure="")
    assert "Add the tag “x” to 2 candidates?" in text_of(asked)
    assert "webhook" not in text_of(asked)
    assert db.session.scalar(sa.select(sa.func.count(CandidateTag.id))) == 1
    assert post(owner, id=[three["Ada"]], kind="tag", tag="x", sure="").text.count(">Changed<") == 1, (
        "a handful at once"
    )


def test_many_are_moved_with_a_result_for_each(owner: Person, three: dict[str, str]) -> None:
    actions.move(db.session.get_one(Candidate, three["Ada"]), "accepted", by=None)
    db.session.commit()
    ids = [*three.values(), "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "nonsense"]
    answer = post(owner, id=ids, kind="move", status="accepted")
    assert answer.status_code == 200
    assert "2 of 5 changed" in answer.text
    assert answer.text.count(">Skipped<") == 2
    assert answer.text.count(">Unchanged<") == 1
    assert set(db.session.scalars(sa.select(Candidate.status))) == {"accepted"}
    assert db.session.scalar(sa.select(sa.func.count(Delivery.id))) == 3


def test_what_was_changed_in_bulk_is_taken_back_where_nobody_moved_it_since(
    owner: Person, colleague: Person, three: dict[str, str]
) -> None:
    ada, bob, cyd = (db.session.get_one(Candidate, one) for one in three.values())
    actions.note_result(bob, {"skills": 4.0, "motivation": 4.0}, at=datetime(2026, 5, 1, tzinfo=UTC))
    actions.move(cyd, "rejected", by=owner.member)
    db.session.commit()
    page = post(owner, id=list(three.values()), kind="move", status="accepted").text
    fields = re.findall(r'<input type="hidden" name="(kind|undo|status|id)" value="([^"]*)"', page)
    form = {name: [value for key, value in fields if key == name] for name, _ in fields}
    assert (form["kind"], form["status"], len(form["id"])) == (["back"], ["accepted"], 3)
    actions.move(ada, "rejected", by=colleague.member)
    db.session.commit()
    page = post(owner, **form).text
    assert "2 of 3 undone" in page
    assert "This candidate was moved again in the meantime. The status is now rejected." in page
    assert ">Undo<" not in page
    db.session.expire_all()
    assert [one.status for one in (ada, bob, cyd)] == ["rejected", "invited", "rejected"]
    assert bob.reviewed_at is None, "the result waits for a person again"
    assert "0 of 3 undone" in post(owner, **form).text, "twice is once"
    half = text_of(post(owner, id=[ada.id, bob.id], kind="move", status="rejected"))
    assert "1 of 2 changed" in half
    assert "1 needed no change." in half
    tagged = post(owner, id=bob.id, kind="tag", tag="new").text
    assert 'name="kind" value="untag"' in tagged
    assert 'name="tag" value="new"' in tagged


def test_all_that_a_filter_finds_are_changed(owner: Person, three: dict[str, str]) -> None:
    post(owner, "score_from=0", all="yes", kind="tag", tag="  Second   ROUND ")
    tagged = {one.first_name for one in db.session.scalars(sa.select(Candidate)) if "second round" in str(_tags(one))}
    assert tagged == {"Ada", "Bob"}
    post(owner, "score_from=0", all="yes", kind="untag", tag="second round")
    assert all("second round" not in _tags(one) for one in db.session.scalars(sa.select(Candidate)))


def _tags(candidate: Candidate) -> list[str]:
    db.session.refresh(candidate)
    return [tag.name for tag in candidate.tags]


def test_many_are_assigned_and_judged(owner: Person, three: dict[str, str]) -> None:
    post(owner, id=list(three.values()), kind="assign", recruiter=owner.member.id)
    assert len(names(owner, f"recruiter={owner.member.id}")) == 3
    post(owner, id=list(three.values()), kind="reviewed")
    assert names(owner, "unreviewed=yes") == []
    post(owner, id=list(three.values()), kind="assign", recruiter="")
    assert len(names(owner, "recruiter=nobody")) == 3


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({}, "at least one"),
        ({"id": "x", "kind": "dance"}, "Choose an action"),
        ({"id": "x", "kind": ""}, "Choose an action"),
        ({"id": "x", "kind": "move", "status": ""}, "Choose a status"),
        ({"id": "x", "kind": "move", "status": "accepted", "sure": ""}, "Nothing would change"),
        ({"id": "x", "kind": "tag", "tag": " "}, "Enter a tag"),
        ({"id": "x", "kind": "tag", "tag": "t" * 51}, "50"),
        ({"id": [str(n) for n in range(1001)], "kind": "reviewed"}, "at most 1,000"),
    ],
)
def test_what_cannot_be_done_is_said(owner: Person, three: dict[str, str], form: dict[str, Any], words: str) -> None:
    answer = post(owner, **{"kind": "reviewed", **form})
    assert answer.status_code == 422
    assert words in answer.text


def test_others_candidates_are_out_of_reach(outsider: Person, three: dict[str, str]) -> None:
    answer = post(outsider, id=list(three.values()), kind="tag", tag="mine")
    assert answer.text.count(">Skipped<") == 3
    assert "Ada" not in answer.text


def test_tags_of_other_teams_are_none_of_ones_business(
    owner: Person, colleague: Person, three: dict[str, str], make_flow: Made, make_candidate: Made
) -> None:
    elsewhere = add_team(owner.organization, "Board", by=owner.member)
    theirs = make_candidate("ceo@e.com", flow=make_flow(team_id=elsewhere.id))
    actions.tag(theirs, "secret search")
    db.session.commit()
    assert tags_seen_by(owner.member) == ["remote", "secret search"]
    assert tags_seen_by(colleague.member) == ["remote"]


def test_the_same_tag_at_the_same_moment_is_one(owner: Person, three: dict[str, str]) -> None:
    bob = db.session.get_one(Candidate, three["Bob"])
    assert bob.tags == []
    row = {"organization_id": bob.organization_id, "candidate_id": bob.id, "name": "remote", "id": new_id()}
    db.session.execute(sa.insert(CandidateTag).values(**row))
    assert actions.tag(bob, "remote") is False
    assert [one.name for one in bob.tags] == ["remote"]
    db.session.commit()


def test_the_same_view_in_two_windows_is_told(
    owner: Person, three: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save = "/candidates/views?score_from=4"
    assert owner.browser.post(save, data={"name": "Best"}).status_code == 303
    monkeypatch.setattr(actions, "views_of", lambda _: [])
    assert owner.browser.post(save, data={"name": "Best"}).status_code == 409


def test_viewers_change_nothing(viewer: Person, three: dict[str, str]) -> None:
    assert post(viewer, id=list(three.values()), kind="reviewed").status_code == 403
    assert viewer.browser.post("/candidates/export").status_code == 403
    assert 'name="id"' not in viewer.browser.get("/candidates").text


def test_a_view_is_kept_used_and_deleted(owner: Person, colleague: Person, three: dict[str, str]) -> None:
    saved = owner.browser.post("/candidates/views?score_from=4&show=score&offset=50&x=y", data={"name": "Best"})
    assert saved.status_code == 303
    view = db.session.scalars(sa.select(SavedView)).one()
    assert (view.name, view.query) == ("Best", "score_from=4&show=score")
    view_id = view.id
    assert "Best" in owner.browser.get("/candidates").text
    assert "Best" not in colleague.browser.get("/candidates").text
    assert colleague.browser.post(f"/candidates/views/{view_id}/delete").status_code == 404
    assert owner.browser.post(f"/candidates/views/{view_id}/delete").status_code == 303
    assert db.session.scalar(sa.select(sa.func.count(SavedView.id))) == 0
    assert owner.browser.post("/candidates/views?tag=x", data={"name": " "}).status_code == 422


def test_the_export_reads_back_and_holds_no_formulas(
    owner: Person, three: dict[str, str], make_candidate: Made
) -> None:
    make_candidate("=cmd@e.com", first_name="=1+1", last_name='"; DROP').phone = "020 7946 0958"
    db.session.commit()
    answer = owner.browser.post("/candidates/export?order=oldest")
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    rows = list(csv.DictReader(io.StringIO(answer.data.decode("utf-8-sig"))))
    assert [row["name"] for row in rows[:3]] == ["Ada X", "Bob X", "Cyd X"]
    assert (rows[0]["score"], rows[0]["tags"], rows[2]["score"]) == ("4.2", "remote", "")
    assert (rows[3]["name"], rows[3]["phone"]) == ("'=1+1 \"; DROP", "020 7946 0958")
    entry = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "candidates.exported")).one()
    assert entry.details == {"rows": 4}
    assert answer.headers["X-Rows"] == "4"
    chosen = post(owner, id=[three["Bob"]], kind="export")
    assert chosen.data.decode("utf-8-sig").count("\r\n") == 2
    assert post(owner, kind="export").status_code == 422, "nobody was chosen"


def test_the_export_has_everyone_however_many_they_are(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    first = make_candidate("c0@e.com", flow=make_flow())
    known = {name: getattr(first, name) for name in Candidate.__table__.columns.keys()}  # noqa: SIM118
    rows = [{**known, "id": new_id(), "email": f"c{n}@e.com", "address": f"c{n}@e.com"} for n in range(1, 10_050)]
    db.session.execute(sa.insert(Candidate), rows)
    db.session.commit()
    answer = owner.browser.post("/candidates/export")
    found = list(csv.DictReader(io.StringIO(answer.get_data().decode("utf-8-sig"))))
    assert len({row["email"] for row in found}) == len(found) == 10_050
    assert "Export 10,050 candidates as CSV" in owner.browser.get("/candidates").text


def test_the_export_goes_out_in_pieces_and_reads_rights_again(
    owner: Person, colleague: Person, three: dict[str, str], make_candidate: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PIECE", 1)
    answer = colleague.browser.post("/candidates/export?order=name", buffered=False)
    pieces = answer.iter_encoded()
    assert [next(pieces)[:5], next(pieces)[37:40]] == [b"\xef\xbb\xbfid", b"Ada"]
    db.session.query(TeamMembership).filter_by(member_id=colleague.member.id).delete()
    db.session.commit()
    assert b"".join(pieces) == b"", "not a member of the flow's team any more"
    answer.close()


def test_the_page_says_whom_filter_and_right_leave_out(
    owner: Person, colleague: Person, three: dict[str, str], make_flow: Made, make_candidate: Made
) -> None:
    plain, narrowed = (text_of(owner.browser.get(f"/candidates{query}")) for query in ("", "?score_from=4"))
    assert "Export 3 candidates as CSV" in plain
    assert "The export includes" not in plain
    assert "Export 1 candidate as CSV" in narrowed
    assert "The export includes 1 of 3 candidates. The filter excludes 2." in narrowed
    other = make_flow(team_id=add_team(owner.organization, "Other", by=None).id)
    dan = make_candidate("dan@e.com", flow=other, first_name="Dan")
    given = {"flow_id": other.id, "member_id": colleague.member.id, "by_id": owner.member.id}
    db.session.add(FlowGrant(right=Right.VIEW, **given))
    db.session.commit()
    page = text_of(colleague.browser.get("/candidates"))
    assert "Export 3 candidates as CSV" in page
    assert "The export includes 3 of 4 candidates. 1 is left out because you can only view their flow." in page
    refused = post(colleague, id=[three["Bob"], dan.id], kind="export")
    assert refused.status_code == 422
    assert "You cannot export 1 of the 2 selected candidates" in text_of(refused)
    alone = text_of(post(colleague, id=dan.id, kind="export"))
    assert "You cannot export the selected candidate, because they were deleted" in alone
    moved = text_of(post(colleague, id=[three["Bob"], dan.id], kind="move", status="invited", sure=""))
    assert "Nothing would change. All candidates that you can change are already in “invited”." in moved


def test_only_so_many_exports_run_at_once(owner: Person, three: dict[str, str], app: Flask) -> None:
    with app.app_context():
        among = places("candidates", share=4)
    held = [place for _ in range(99) if (place := among.take())]
    assert held
    full = owner.browser.post("/candidates/export")
    assert (full.status_code, "Try again in a minute" in full.text) == (503, True)
    held.clear()
    assert owner.browser.post("/candidates/export").status_code == 200


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_every_start_of_a_formula_is_defused(start: str) -> None:
    assert cell(f"{start}x") == f"'{start}x"
    assert cell(f"x{start}") == f"x{start}"


@pytest.mark.parametrize("number", [2, 9])
def test_no_query_per_row(owner: Person, make_flow: Made, make_candidate: Made, number: int) -> None:
    flow = make_flow()
    for place in range(number):
        actions.tag(make_candidate(f"c{place}@e.com", flow=flow), "x")
    db.session.commit()
    with sent() as asked:
        owner.browser.get("/candidates")
    assert sum("candidate" in one for one in asked) == 4
