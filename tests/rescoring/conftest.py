"""Interviews with a result, and a language model that scores them again: the real client, a server of the tests."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

from app.core.db import db
from app.gateways.language_model.chat import Chat, ChatAnalyst
from app.interviews.analysis.scores import wanted
from app.interviews.models import Interview
from app.interviews.rescoring import actions, jobs, queries
from app.interviews.rescoring.models import Rescored, Rescoring
from tests.factories import Made
from tests.interviews.conftest import book, completed, engines_of, scripted, submitted  # noqa: F401 - fixtures
from tests.interviews.fakes import ScriptedAnalyst
from tests.people import Person
from tests.speech.conftest import reply, server  # noqa: F401 - fixtures

QUOTE = {"text": "I like to help people", "segment": 1}


def scores(**values: float | None) -> dict[str, Any]:
    """What a model answers: these scores, each with its quote, and null for every other."""
    return {
        name: {"value": value, "reason": "said so", "quotes": [QUOTE] if value is not None else []}
        for name, value in {**dict.fromkeys(wanted(assess_language=True)), **values}.items()
    }


@pytest.fixture
def result(
    app: Flask,
    completed: Made,  # noqa: F811
    scripted: ScriptedAnalyst,  # noqa: F811
) -> Callable[..., Interview]:
    """``result(**values)``: a completed interview with motivation and skills 1.0, by an engine called ``scripted``."""
    scripted.judged = dict.fromkeys(("motivation", "skills"), (1.0, "I like to help people", 1))

    def make(*given: Any, **values: Any) -> Interview:
        with engines_of(app, analyst=scripted):
            interview: Interview = completed(*given, **values)
        return interview

    return make


@pytest.fixture
def model(app: Flask, server: Any, reply: Any) -> Iterator[Callable[..., None]]:  # noqa: F811
    """``model(motivation=4.0, …)``: from now on the language model gives these scores."""

    def gives(**values: float | None) -> None:
        message = {"role": "assistant", "content": json.dumps(scores(**values))}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        server.replies = [reply.of({**whole, "usage": usage})] * 300

    chat = Chat(f"{server.address}/v1", api_key="k", model="m", json_mode="schema", timeout=5.0)
    gives(motivation=2.0, skills=1.5)
    with engines_of(app, analyst=ChatAnalyst(chat)):
        yield gives
    chat.close()


@pytest.fixture
def begin(owner: Person) -> Callable[..., Rescoring]:
    """``begin(*interviews)``: a run over them, as the page starts it."""

    def make(*interviews: Interview, by: Person | None = None) -> Rescoring:
        who = by or owner
        which = Interview.id.in_([one.id for one in interviews])
        run = actions.start(queries.plan_for(who.member, which=which), flow=None, by=who.member)
        db.session.commit()
        return run

    return make


def rows_of(run: Rescoring) -> list[Rescored]:
    db.session.expire_all()
    return db.session.query(Rescored).filter_by(rescoring_id=run.id).order_by(Rescored.place).all()


def work(run: Rescoring) -> list[Rescored]:
    """Score everything of the run, as workers do."""
    for row_id in [row.id for row in rows_of(run)]:
        jobs.rescore(row_id)
    return rows_of(run)
