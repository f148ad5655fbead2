"""Rate first, by bytes: until a member has rated a result or shown its scores, no answer of the platform has them.

Every page and file that a member may open is asked for, by the routes that the policy names, so a new route is covered
by itself. The same walk with the switch off, after a rating and after showing the scores proves that there is
something to hide.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from app.accounts.models import AuditEntry, Organization, TeamMember
from app.candidates.models import Candidate
from app.core import encryption
from app.core.db import db
from app.gateways.mail import Mail
from app.interviews.analysis.scores import NAMES
from app.interviews.models import Interview, InterviewData, ScoreVersion
from app.mail_outbox.models import QueuedMail
from app.review.figures import KEYS
from app.review.notes import actions as notes
from app.review.share_links.actions import make as share

from .conftest import World
from .policy import POLICY
from .test_tenancy import Ask, Asked, as_stranger, method_of, own_ids, path_of, routes, signed_in
from .world import Actor

MARKS = ("zqsummary", "zqreason", "zqscorer", "zqother")
SCORE, OTHER = 4.7, 1.9
NUMBERS = re.compile(r"(?<![\d.])(4\.7|1\.9)(?!\d)")
"""The scores as pages and files write them; no other number of a page happens to be one of these."""
SHOWING = {
    *("candidates.show", "candidates.index", "candidates.board", "candidates.export", "candidates.change_many"),
    *("interviews.show", "interviews.dashboard", "interviews.triage", "interviews.compare", "interviews.numbers"),
    *("interviews.chart scores", "interviews.chart flows", "exports.report", "exports.export json"),
    *("exports.export zip", "ratings.scorecard", "rescoring.show"),
}
"""What shows a result's scores, at least, where they are not hidden."""
FILES = ("json", "csv", "vtt", "zip")


@pytest.fixture
def scored(world: World) -> Iterator[str]:
    """The id of a result with scores, reasons and a summary that nothing else contains, in a flow that rates first."""
    interview_id = world.ours.ids["interview"]
    interview = db.session.get_one(Interview, interview_id)
    data, version = db.session.get_one(InterviewData, interview_id), interview.data and interview.data.version
    data.summary = "Zqsummary: a strong candidate."
    data.scores, data.evidence = dict.fromkeys(NAMES, SCORE), _evidence(data, SCORE, "zqreason", "zqscorer")
    others = sa.update(ScoreVersion).where(ScoreVersion.interview_id == interview_id, ScoreVersion.number != version)
    told = {name: _how(OTHER, "zqother", "zqother") for name in NAMES}
    db.session.execute(others.values(scores=dict.fromkeys(NAMES, OTHER), evidence=told, source="zqother"))
    db.session.execute(sa.update(Candidate).where(Candidate.id == interview.candidate_id).values(score=SCORE))
    _switch(world, on=True)
    yield interview_id
    world.settle()


def _how(value: float, reason: str, source: str) -> dict[str, Any]:
    quotes = [{"segment_index": 1, "text": "because"}]
    return {"method": "text", "source": source, "reason": reason, "rounds": [value] * 3, "quotes": quotes}


def _evidence(data: InterviewData, value: float, reason: str, source: str) -> dict[str, Any]:
    scores = {name: _how(value, reason, source) for name in NAMES}
    return {**(data.evidence or {}), "summary": {"source": source}, "scores": scores}


def _switch(world: World, *, on: bool) -> None:
    mine = Organization.id == world.ours.admin.organization_id
    db.session.execute(sa.update(Organization).where(mine).values(rates_first=on))
    db.session.commit()


def _queries(world: World) -> dict[str, list[dict[str, Any]]]:
    """What a route is asked with, where the policy's way to ask shows no result."""
    ids = world.ours.ids
    other = db.session.scalar(
        sa.select(Interview.candidate_id).where(Interview.id == ids["sat"], Interview.candidate_id.is_not(None))
    )
    by_score = {"order": "score", "score_from": "4.5"}
    return {
        "interviews.compare": [{"id": [ids["candidate"], other]}],
        "interviews.triage": [{"at": ids["candidate"]}],
        "live.results": [{"since": "2020-01-01T00:00:00Z", "seen": "0"}],
        "candidates.index": [{}, by_score],
        "candidates.board": [{}, by_score],
        "candidates.board_counts": [{}],
        "palette.find": [{"q": ""}, {"q": "mary"}, {"q": "4.7"}],
        "interviews.numbers": [{}, {"flow": ids["flow"]}],
    }


def asked_of(world: World, actor: Actor, role: str) -> dict[str, str]:
    """Every answer that the member gets, as text, by the route and what tells its requests apart."""
    ask, given = signed_in(world, actor), _queries(world)
    answers: dict[str, str] = {}
    for endpoint, route in routes(world.app).items():
        rule = POLICY[endpoint]
        if rule.realm != "member" or role not in rule.roles or method_of(route) != "GET":
            continue
        asked = Asked(route, rule, own_ids(rule, world.ours), world.ours)
        if endpoint == "interviews.chart":
            for key in KEYS:
                answers[f"{endpoint} {key}"] = _text(ask("GET", f"/insights/{key}.csv"))
        elif endpoint in given:
            at = {name: value for (where, name, _), value in asked.ids.items() if where == "path"} | rule.extra
            answers[endpoint] = "".join(_text(ask("GET", path_of(route, at), query_string=q)) for q in given[endpoint])
        else:
            answers[endpoint] = _text(asked.sent(ask))
    return answers | (_files(world, ask) if role != "viewer" else {})


def _files(world: World, ask: Ask) -> dict[str, str]:
    """What forms give out."""
    ids = world.ours.ids
    found = {f"exports.export {kind}": _text(_export(ask, ids["interview"], kind)) for kind in FILES}
    found["candidates.export"] = _text(ask("POST", "/candidates/export"))
    chosen = {"id": ids["candidate"], "kind": "export"}
    found["candidates.change_many"] = _text(ask("POST", "/candidates/bulk", data=chosen))
    return found


def _export(ask: Ask, interview_id: str, kind: str) -> TestResponse:
    return ask("POST", f"/interviews/{interview_id}/export", data={"format": kind})


def _text(response: TestResponse) -> str:
    body, kind = response.get_data(), response.mimetype
    assert response.status_code < 500
    headers = str(response.headers)
    response.close()
    if kind == "application/zip":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return headers + "".join(archive.read(name).decode(errors="replace") for name in archive.namelist())
    return headers + body.decode(errors="replace")


def showing(answers: dict[str, str]) -> set[str]:
    """The requests whose answer has a score, a reason, the name of what scored, or the summary."""
    return {
        name for name, text in answers.items() if any(mark in text.lower() for mark in MARKS) or NUMBERS.search(text)
    }


@pytest.mark.parametrize("role", ["admin", "ally", "viewer"])
def test_no_answer_has_scores_before_the_member_has_rated(world: World, scored: str, role: str) -> None:
    actor: Actor = getattr(world.ours, role)
    as_role = "recruiter" if role == "ally" else role
    assert showing(asked_of(world, actor, as_role)) == set()
    _switch(world, on=False)
    open_to_all = showing(asked_of(world, actor, as_role))
    assert open_to_all >= {
        name for name in SHOWING if role != "viewer" or not name.startswith(("exp", "rat", "resc"))
    } - ({"candidates.export", "candidates.change_many"} if role == "viewer" else set())
    _switch(world, on=True)
    if role == "ally":
        signed_in(world, actor)("POST", f"/interviews/{scored}/rating", data={"value": "4.0"})
    else:
        signed_in(world, actor)("POST", f"/interviews/{scored}/show-scores")
    assert showing(asked_of(world, actor, as_role)) == open_to_all
    told = sa.select(AuditEntry.member_id).where(AuditEntry.action == "scores.shown_unrated")
    assert list(db.session.scalars(told)) == ([] if role == "ally" else [actor.member_id])


def test_mail_and_share_links_have_what_their_sender_may_see(world: World, scored: str) -> None:
    admin = db.session.get_one(TeamMember, world.ours.admin.member_id)
    interview = db.session.get_one(Interview, scored)
    notes.write(interview, f"Look at this, @{admin.email}", by=admin, mail_for=lambda _: Mail("a@b.example", "s", "t"))
    _link, token = share(interview, ["summary", "scores", "person"], days=7, label=None, by=admin)
    db.session.commit()
    stranger = as_stranger(world)
    assert showing({"shared": _text(stranger("GET", f"/shared/{token}"))}) == set()
    assert "Mary" in _text(stranger("GET", f"/shared/{token}"))
    mails = db.session.scalars(sa.select(QueuedMail).where(QueuedMail.sealed.is_not(None))).all()
    assert mails
    opened = {one.id: encryption.unseal(str(one.sealed), context=f"letter:{one.id}:sealed") for one in mails}
    assert showing(opened) == set()
    assert "Your links show the scores and the summary only after" in _shares_of(world, scored)
    signed_in(world, world.ours.admin)("POST", f"/interviews/{scored}/show-scores")
    assert showing({"shared": _text(stranger("GET", f"/shared/{token}"))}) == {"shared"}
    assert "Your links show the scores and the summary only after" not in _shares_of(world, scored)


def _shares_of(world: World, interview_id: str) -> str:
    return _text(signed_in(world, world.ours.admin)("GET", f"/interviews/{interview_id}/shares"))
