"""With real commits and threads: of a hundred starts one wins, and a turn posted twice at once is answered once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.conversation.models import Agreement, Sitting, Turn
from app.core.db import db
from app.interviews import actions
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate, Refused, Talk
from app.operations.demo.tape import Tape
from tests.factories import a_flow
from tests.people import person

from .around import script_rows
from .conftest import path_of, sound
from .direct import Direct
from .fakes import ScriptedInterviewer, ScriptedSpeaker, ScriptedTranscriber

STARTS = 100


@pytest.fixture
def real(own_app: Flask) -> Flask:
    """An application with real commits and scripted engines."""
    engines: dict[str, Any] = {
        "transcriber": ScriptedTranscriber(),
        "speaker": ScriptedSpeaker(),
        "interviewer": ScriptedInterviewer(),
    }
    own_app.extensions["parley.gateways"] = replace(own_app.extensions["parley.gateways"], **engines)
    return own_app


@pytest.fixture
def link(real: Flask) -> str:
    with real.app_context():
        owner = person(real, "owner@first.example", organization="First Ltd", role="admin")
        interview = actions.book(owner.organization, a_flow(owner).id, email="candidate@example.com")
        db.session.commit()
        return f"http://localhost{path_of(interview)}"


def browser(app: Flask, link: str) -> Candidate:
    return Candidate(link, session=Direct(app.test_client()))  # type: ignore[arg-type]


def test_of_a_hundred_starts_at_once_exactly_one_wins(real: Flask, link: str) -> None:
    def start(_n: int) -> str:
        try:
            return str(browser(real, link).start()["stage"])
        except Refused as refused:
            return f"{refused.status} {refused.body['reason']}"

    with ThreadPoolExecutor(16) as pool:
        outcomes = Counter(pool.map(start, range(STARTS)))
    assert outcomes == {"live": 1, "409 taken over": STARTS - 1}
    with real.app_context():
        assert (db.session.query(Sitting).one().fence, db.session.query(Agreement).count()) == (1, 1)


def test_a_turn_and_a_chunk_that_arrive_many_times_at_once_count_once(real: Flask, link: str) -> None:
    candidate = browser(real, link)
    candidate.start()
    candidate.turn(1, "begin")
    body = Talk(candidate, Tape(video=False)).answer(sound(1))
    jar = candidate._session.browser._cookies  # type: ignore[attr-defined]

    def twin(_n: int) -> Candidate:
        made = browser(real, link)
        made._session.browser._cookies = dict(jar)  # type: ignore[attr-defined]
        return made

    twins = [twin(n) for n in range(12)]
    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda one: one.turn(2, "answer", **body), twins))
        chunks = list(pool.map(lambda one: one.put_chunk(1, 1, b"the same bytes", track="mix"), twins))
    assert all(reply == replies[0] for reply in replies)
    assert sum(not chunk["duplicate"] for chunk in chunks) == 1
    with real.app_context():
        interview_id = link.rsplit("/", 1)[-1]
        assert db.session.query(Turn).filter_by(number=2).one().fence == 1
        assert [row.content for row in script_rows(utterances_of(interview_id))] == [
            "Why do you want this job?",
            "i like this work very much",
        ]
        kept = list(real.extensions["parley.gateways"].storage.list(f"recordings/{interview_id}/1/mix"))
        assert len(kept) == 2, "the twins' files are gone again"
