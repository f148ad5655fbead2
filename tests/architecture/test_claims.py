"""Every claimable table: one winner, a lease that runs out, and a stolen token that loses."""

from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask

from app.core import claims, clock
from app.core.claims import Claimable
from app.core.db import Base, db
from app.core.rooms import load_tables
from app.flows.models import InterviewFlow, SpeechState
from tests.factories import Made

LEASE = timedelta(seconds=30)


def _take(flow: InterviewFlow) -> int | None:
    column = InterviewFlow.speech_state
    return claims.take(column, flow.id, expects=[SpeechState.PENDING], becomes=SpeechState.PREPARING, lease=LEASE)


def test_only_one_of_two_gets_the_claim(make_flow: Made) -> None:
    flow = make_flow()
    assert _take(flow) == 1
    assert _take(flow) is None


def test_a_claim_whose_lease_ran_out_is_taken_over_and_the_first_holder_loses(make_flow: Made) -> None:
    flow = make_flow()
    start = datetime(2026, 1, 1, tzinfo=UTC)
    with clock.replaced(lambda: start):
        first = _take(flow)
    with clock.replaced(lambda: start + LEASE + timedelta(seconds=1)):
        second = _take(flow)
    assert (first, second) == (1, 2)
    assert not claims.finish(InterviewFlow, flow.id, 1, speech_state=SpeechState.FAILED)
    assert not claims.renew(InterviewFlow, flow.id, 1, lease=LEASE)
    assert claims.finish(InterviewFlow, flow.id, 2, speech_state=SpeechState.READY)
    stored = db.session.get_one(InterviewFlow, flow.id)
    assert (stored.speech_state, stored.recoveries, stored.lease_until) == (SpeechState.READY, 1, None)


def _claimable_models() -> list[type]:
    load_tables()
    found = [mapper.class_ for mapper in Base.registry.mappers if issubclass(mapper.class_, Claimable)]
    return sorted(found, key=lambda model: model.__name__)


def test_every_claimable_table_has_an_index_that_the_sweep_can_use(app: Flask) -> None:
    models = _claimable_models()
    assert {"interview", "interview_flow", "webhook_delivery", "turn"} <= {model.__tablename__ for model in models}


@pytest.mark.parametrize("model", _claimable_models(), ids=lambda model: model.__tablename__)
def test_a_stolen_token_writes_nothing(app: Flask, model: type) -> None:
    assert not claims.finish(model, "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", 1)
    assert not claims.renew(model, "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", 1, lease=LEASE)
