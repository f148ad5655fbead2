"""Scores interviews again, one after the other. The interview keeps what it had whatever happens here."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app import gateways
from app.accounts.usage import actions as usage
from app.core import claims, queue
from app.core.db import db, for_one
from app.core.errors import GatewayError
from app.flows.flow_script import FlowScript
from app.interviews import actions
from app.interviews.jobs.claim_renewal import LEASE, renewing
from app.interviews.jobs.processing import known_of
from app.interviews.models import Interview
from app.interviews.processing import Talk
from app.interviews.rescoring import RESCORE, queries
from app.interviews.rescoring.models import Rescored, State
from app.interviews.rescoring.scoring import Scoring, score_again

log = logging.getLogger(__name__)

NO_MODEL = "No language model is configured."
WITHHELD = "Consent was withdrawn, or the interview was erased."
BROKEN_OFF = "Scoring was interrupted three times. Try again, or ask your operator to check the worker's log."

_SCORING = claims.Work(
    Rescored.state,
    waits=State.WAITING,
    works=State.SCORING,
    failed=State.FAILED,
    lease=LEASE,
    reason=Rescored.reason,
    broken_off=BROKEN_OFF,
)


@dataclass(frozen=True, slots=True)
class _Source:
    """A claimed interview as plain values. ``result`` is None where nothing may be scored any more."""

    row_id: str
    token: int
    interview_id: str
    by_id: str
    talk: Talk
    result: Mapping[str, Any] | None
    evidence: Mapping[str, Any] | None


@for_one(Rescored)
def rescore(row_id: str) -> None:
    """Score one interview again, then enqueue what is next. May run twice; a missing row is no error."""
    claims.run(_SCORING, row_id, read=_read, do=_scored)
    sweep()


def sweep() -> None:
    """Enqueue what is due; called by the worker's tick."""
    queue.enqueue_overdue(RESCORE)


def _read(row: Rescored, token: int) -> _Source:
    interview = row.interview
    data = None if interview.withdrawn_at else interview.data
    criteria = interview.flow.criteria  # those of today, whatever the result was scored with
    return _Source(
        row_id=row.id,
        token=token,
        interview_id=interview.id,
        by_id=row.rescoring.requested_by_id,
        talk=Talk(
            interview.script or FlowScript(),
            (),
            abandoned=interview.submitted_at is None,
            known=known_of(interview),
            criteria=criteria.items if criteria else (),
            criteria_id=criteria.id if criteria else None,
        ),
        result=actions.result_of(interview) if data else None,
        evidence=data.evidence if data else None,
    )


def _scored(source: _Source) -> dict[str, Any] | None:
    analyst = gateways.current().analyst
    if source.result is None:
        raise GatewayError(WITHHELD, retryable=False)
    if analyst.name == queries.NO_MODEL_NAME:
        raise GatewayError(NO_MODEL, retryable=False)
    with renewing(Rescored, source.row_id, source.token):
        made = score_again(source.talk, source.result, source.evidence, analyst=analyst)
    return _kept(source, made)


def _kept(source: _Source, made: Scoring) -> dict[str, Any] | None:
    """Keep the version in the transaction that writes the outcome, if the claim still holds."""
    if not claims.renew(Rescored, source.row_id, source.token, lease=LEASE):
        db.session.rollback()  # cancelled, or another worker has taken over
        return None
    interview = db.session.get_one(Interview, source.interview_id)
    scored = actions.Made(made.evidence, made.source, source.talk.criteria_id)
    number = actions.keep_version(interview, scored, by_id=source.by_id)
    if number is None:
        return _SCORING.given_up(WITHHELD)
    tokens = made.used.input_tokens + made.used.output_tokens
    usage.count_model(interview.id, calls=made.used.calls, tokens=tokens)
    return {"state": State.DONE, "version": number, "recoveries": 0, "reason": None}
