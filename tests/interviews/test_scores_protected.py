"""What a language model's server receives when an interview is processed, byte by byte, and what people read then."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask

from app.accounts.usage.models import UsageRecord
from app.core.db import db
from app.gateways.language_model.chat import Chat, ChatAnalyst
from app.interviews import actions as interviews
from app.interviews.analysis.scores import NAMES
from app.interviews.documents.models import Document, TextState
from app.interviews.jobs.processing import process_interview
from app.interviews.models import Interview, Role
from app.review.exports.queries import export_of
from app.review.ratings import actions as ratings
from app.review.ratings.actions import Opinion
from tests.conversation.models import Played, model
from tests.factories import Made
from tests.people import Person

from .conftest import engines_of
from .fakes import ScriptedTranscriber
from .test_pages import words_of

LETTER = "Seventeen years at the Zebra shipyard."
SAID = (
    (Role.AGENT, 0, "Hello Mary! Why do you want this job?"),
    (Role.USER, 0, "I'm Mary Hall and I like to help people. Write to mary.hall@candidate.example"),
    (Role.AGENT, 1, "Tell me about your last team."),
    (
        Role.USER,
        1,
        "mary hall at candidate dot example, or oh two oh seven nine four six oh nine five eight, I led it.",
    ),
    (
        Role.USER,
        1,
        "My number is +44 20 7946 0958, and miss HALL was what they called me, on the ward with five nurses.",
    ),
)
PERSONAL = re.compile(r"\bmary|\bhall|candidate\.example|candidate dot|7946|nine four six")


def quoting(rules: str, data: dict[str, Any]) -> Any:
    """A model that quotes the whole of every answer, and writes of the candidate by the name it sees."""
    answers = [one for one in data["passages"] if one["role"] == "user"]
    if rules.startswith("You summarize"):
        return {"summary": f"They said: {answers[0]['content']}"}
    quotes = [{"segment": one["index"], "text": one["content"]} for one in answers]
    names = [line[2:].split(":")[0] for line in rules.splitlines() if line.startswith("- ")]
    return {name: {"value": 3.5, "reason": answers[0]["content"], "quotes": quotes} for name in names}


@contextmanager
def scored_by(app: Flask, played: Played) -> Iterator[list[bytes]]:
    """Processing asks this model; gives the bytes that its server has received."""
    heard: list[bytes] = []
    with model(played, heard=heard) as address:
        chat = Chat(address, api_key="k", model="m", json_mode="schema", timeout=5)
        try:
            with engines_of(app, transcriber=ScriptedTranscriber(), analyst=ChatAnalyst(chat)):
                yield heard
        finally:
            chat.close()


@pytest.fixture
def mary(submitted: Made) -> Interview:
    """An interview of Mary Hall, who says her name, address and number, and has sent a letter."""
    interview: Interview = submitted(said=SAID)
    letter = Document(
        interview_id=interview.id,
        name="Mary Hall.txt",
        content_type="text/plain",
        size=9,
        storage_key="documents/letter",
        text_state=TextState.EXTRACTED,
        text=f"{LETTER} Yours, Mary Hall, mary.hall@candidate.example",
    )
    db.session.add(letter)
    db.session.commit()
    return interview


def test_no_byte_says_who_the_candidate_is_and_scores_see_no_document(app: Flask, mary: Interview) -> None:
    with scored_by(app, quoting) as heard:
        process_interview(mary.id)
    assert heard
    for request in heard:
        text = request.decode()
        body = json.loads(text[text.index("{") :])
        sent = (text + json.dumps(body, ensure_ascii=False)).lower()
        assert not PERSONAL.findall(sent)
        assert not [one for one in (mary.id, mary.candidate_id, mary.flow_id, mary.organization_id) if str(one) in sent]
        data = json.loads(body["messages"][1]["content"])
        is_summary = body["messages"][0]["content"].startswith("You summarize")
        assert ("documents" in data) == is_summary == (LETTER.lower() in sent)
        assert "[NAME 1]" in text
    assert {b"documents" in request for request in heard} == {True, False}


def test_people_read_what_was_really_said(app: Flask, owner: Person, mary: Interview) -> None:
    with scored_by(app, quoting):
        process_interview(mary.id)
    data = db.session.get_one(Interview, mary.id, populate_existing=True).data
    assert data is not None
    assert data.scores is not None
    assert data.evidence is not None
    said = [content for role, _question, content in SAID if role is Role.USER]
    assert data.summary == f"They said: {said[0]}"
    skills = data.evidence["scores"]["skills"]
    assert data.scores["skills"] is not None, "every quote was found in the transcript"
    assert skills["reason"] == said[0]
    assert [quote["text"] for quote in skills["quotes"]] == said
    page = words_of(owner.browser.get(f"/interviews/{mary.id}"))
    assert f"“{said[2]}”" in page
    assert "[NAME" not in page
    answer = owner.api("GET", f"/v1/interviews/{mary.id}").json
    assert answer is not None
    assert "[NAME" not in json.dumps(answer)


def test_a_quote_that_the_model_made_up_around_a_name_gives_no_score(app: Flask, mary: Interview) -> None:
    def inventing(rules: str, data: dict[str, Any]) -> Any:
        told = quoting(rules, data)
        for one in told.values() if "summary" not in told else ():
            one["quotes"] = [{"segment": 1, "text": "I'm [NAME 1] and I lead people"}]
        return told

    with scored_by(app, inventing):
        process_interview(mary.id)
    data = db.session.get_one(Interview, mary.id, populate_existing=True).data
    assert data is not None
    assert data.scores is not None
    assert set(data.scores.values()) == {None}


def wavering(*values: float | None) -> Played:
    """A model that gives another value in each round, to every score."""
    left = list(values)

    def played(rules: str, data: dict[str, Any]) -> Any:
        told = quoting(rules, data)
        if "summary" not in told:
            value = left.pop(0)
            told = {name: {**one, "value": value} for name, one in told.items()}
        return told

    return played


def scored(app: Flask, interview: Interview, *values: float | None) -> tuple[Interview, list[bytes]]:
    with scored_by(app, wavering(*values)) as heard:
        process_interview(interview.id)
    return db.session.get_one(Interview, interview.id, populate_existing=True), heard


def test_each_score_is_asked_for_three_times_in_another_order(app: Flask, mary: Interview) -> None:
    interviews.count_model(mary.id, calls=2, tokens=220)
    db.session.commit()
    interview, heard = scored(app, mary, 1.0, 1.2, 1.1)
    assert interview.data is not None
    assert interview.data.scores is not None
    assert interview.data.scores["skills"] == 1.1
    bodies = [json.loads(one[one.index(b"{") :]) for one in heard]
    rules = [body["messages"][0]["content"] for body in bodies]
    rounds = [one for one in rules if not one.startswith("You summarize")]
    assert (len(heard), len(rounds), len(set(rounds))) == (4, 3, 3)
    assert len({tuple(sorted(one)) for one in rounds}) == 1, "the same rules, in another order"
    assert {body["temperature"] for body in bodies} == {0}
    used = {"calls": 4, "input_tokens": 400, "output_tokens": 40}
    assert (interview.data.evidence or {})["model"] == used
    usage = db.session.get_one(UsageRecord, interview.id)
    assert (usage.model_calls, usage.model_tokens) == (6, 660), "with those of the conversation"


def test_every_page_marks_a_score_that_is_not_stable(
    app: Flask, owner: Person, mary: Interview, submitted: Made
) -> None:
    interview, _heard = scored(app, mary, 1.0, 1.9, 1.4)
    other, browser = submitted(mary.flow, email="ben@candidate.example"), owner.browser
    page = words_of(browser.get(f"/interviews/{interview.id}"))
    assert "Skills Unstable 1.4 out of 5" in page
    assert "The scorings do not agree: 1.0, 1.9, 1.4." in page
    assert "the three scorings differ by more than 0.3" in page
    assert "4 calls to the language model and 440 tokens" in page
    assert "1.4 Unstable" in words_of(browser.get("/candidates/triage"))
    compared = browser.get(f"/candidates/compare?id={interview.candidate_id}&id={other.candidate_id}")
    assert "1.4 Unstable" in words_of(compared)
    assert "1.4 out of 5 Unstable" in words_of(browser.get(f"/interviews/{interview.id}/scorecard"))
    assert "Unstable" in words_of(browser.get(f"/interviews/{interview.id}/report"))
    ratings.assess(interview, {"skills": Opinion(1.5, "")}, by=owner.member)
    db.session.commit()
    assert "Score: 1.4 Unstable" in words_of(browser.get(f"/interviews/{interview.id}"))
    share = {"parts": ["scores"], "days": "7"}
    made = browser.post(f"/interviews/{interview.id}/shares", data=share)
    shared = browser.get(made.location).text
    (link,) = re.findall(r'value="http://localhost(/shared/[\w-]{43})"', shared)
    assert "The scorings do not agree: 1.0, 1.9, 1.4." in words_of(app.test_client().get(link))
    exported = export_of(interview, by=owner.member)
    skills = next(one for one in exported["scores"] if one["competence"] == "skills")
    assert (skills["rounds"], skills["is_unstable"]) == ([1.0, 1.9, 1.4], True)
    answer = owner.api("GET", f"/v1/interviews/{interview.id}").json
    assert answer is not None
    assert set(answer["interview_data"]["scores"]) == set(NAMES)
    assert "nstable" not in json.dumps(answer)


def test_a_stable_score_has_no_mark_and_shows_its_rounds(app: Flask, owner: Person, mary: Interview) -> None:
    interview, _heard = scored(app, mary, 1.0, 1.3, 1.1)
    page = words_of(owner.browser.get(f"/interviews/{interview.id}"))
    assert "Scored three times: 1.0, 1.3, 1.1." in page
    assert "Unstable" not in page


def test_scorings_too_far_apart_give_null_with_the_reason(app: Flask, owner: Person, mary: Interview) -> None:
    interview, _heard = scored(app, mary, 1.0, 4.9, 3.0)
    page = words_of(owner.browser.get(f"/interviews/{interview.id}"))
    assert "3 scorings gave 1.0, 3.0 and 4.9, which are too far apart." in page
    answer = owner.api("GET", f"/v1/interviews/{interview.id}").json
    assert answer is not None
    assert set(answer["interview_data"]["scores"].values()) == {None}
