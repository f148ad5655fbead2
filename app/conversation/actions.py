"""Actions on a sitting: claim it, keep it alive, take and record turns, finish it, give it up.

Every write carries the fence of the browser that holds the interview. If another browser has taken over or the
interview has ended, no row matches, and Conflict names which of the two it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.conversation import untaken_speech, utterances
from app.conversation.heartbeat import seen
from app.conversation.models import Agreement, Mode, Sitting, Turn, TurnKind, TurnState
from app.conversation.queries import ABANDONED_AFTER, TAKEOVER_AFTER, turn_of
from app.conversation.script.machine import Event, Script, WrongMoment, finish, open_line
from app.conversation.script.place import Phase, Place
from app.conversation.turn import Reply, Said
from app.conversation.utterances import Heard, Played
from app.core import claims, clock
from app.core.db import db, new_id
from app.core.errors import Conflict, sentence
from app.gateways.language_model.usage import Used
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.interviews.recordings.models import LAST_CHUNK

AWAY_AFTER = 30.0
"""Seconds without a request from the browser after which time no longer counts towards the limit."""
LONGEST_CALL = 4
"""Voice chunks (2 s). Shorter speech may be "mm-hm" over the agent's words, which no turn takes either."""
TURN_LEASE = timedelta(seconds=20)
"""How long a process holds a turn. Renewed while it works."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The browser that holds an interview, as plain values read at the start of a request."""

    sitting_id: str
    interview_id: str
    fence: int
    heartbeat_at: datetime
    next_turn: int
    language: str

    @property
    def has_taken_over(self) -> bool:
        """Whether another browser held the interview before: this one then gets no words of answers (0050)."""
        return self.fence > 1


@dataclass(frozen=True, slots=True)
class Agreed:
    """The candidate's consent, given before anything was stored."""

    text_version: str
    locale: str
    mode: Mode
    shown: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """A turn with our claim's ``token``; None if the turn is answered or another process works on it."""

    turn: Turn
    token: int | None


# --- who holds the interview ---------------------------------------------------------------------------------------


def claim(
    interview: Interview, *, token_hash: str, agreed: Agreed, voice: str | None = None, **names: str | None
) -> bool:
    """Bind the interview to one browser, for a first start and for a takeover alike.

    False if its link was closed, it has ended, or another browser holds it and sent a heartbeat within the last two
    minutes. ``names`` (email, first_name, last_name) are stored where the interview has none. ``voice``: see ``begin``.
    """
    if not interviews.may_begin(interview):
        return False
    sitting = _sitting_row(interview.id)
    # A takeover adds the time in which no browser was here to the pauses, so the time limit does not count it.
    since = sitting.paused_at or sitting.heartbeat_at
    away = (clock.now() - since).total_seconds() if since else 0.0
    # This UPDATE alone decides: of browsers that press Start at the same time exactly one matches the row. The higher
    # fence shuts the previous holder out, whose next write matches nothing.
    is_free = sa.or_(Sitting.token_hash.is_(None), Sitting.heartbeat_at < claims.moment(-TAKEOVER_AFTER))
    statement = (
        sa.update(Sitting)
        .where(Sitting.interview_id == interview.id, Sitting.ended_at.is_(None), is_free)
        .values(
            token_hash=token_hash,
            fence=Sitting.fence + 1,
            mode=agreed.mode,
            heartbeat_at=claims.moment(),
            paused=Sitting.paused + away,
            paused_at=None,
        )
        .returning(Sitting.fence)
    )
    fences = [row.fence for row in db.changed_rows(statement)]
    db.session.expire(sitting)
    if len(fences) != 1:
        return False
    db.session.add(
        Agreement(
            interview_id=interview.id,
            fence=fences[0],
            text_version=agreed.text_version,
            locale=agreed.locale,
            mode=agreed.mode,
            shown=agreed.shown,
        )
    )
    interviews.begin(interview, voice=voice, **names)
    db.session.flush()
    return True


def _sitting_row(interview_id: str) -> Sitting:
    query = sa.select(Sitting).where(Sitting.interview_id == interview_id)
    sitting_row = db.session.scalar(query)
    if sitting_row is not None:
        return sitting_row
    sitting = Sitting(interview_id=interview_id, place=Place().to_json())
    try:
        with db.session.begin_nested():
            db.session.add(sitting)
    except IntegrityError:  # another browser pressed Start at the same time; the claim decides
        return db.session.execute(query).scalar_one()
    return sitting


def hold(holder: Holder) -> None:
    """Record a heartbeat and check that this browser still holds the interview. Every write does this first.

    Raises Conflict with the reason ``taken over`` or ``finished``.
    """
    away = (clock.now() - holder.heartbeat_at).total_seconds()
    if away > AWAY_AFTER:
        # Only the first request after the gap finds the old heartbeat, so the gap is counted once.
        counted = {"paused": Sitting.paused + away, "heartbeat_at": claims.moment()}
        write(holder, counted, Sitting.heartbeat_at == holder.heartbeat_at, Sitting.paused_at.is_(None))
    if not seen(holder.sitting_id, fence=holder.fence):
        raise refusal(holder)


def refusal(holder: Holder) -> Conflict:
    """Why this browser can no longer write."""
    ended = db.session.scalar(sa.select(Sitting.ended_at).where(Sitting.id == holder.sitting_id))
    if ended is not None:
        return Conflict(sentence("This interview is over."), details={"reason": "finished"})
    return taken_over()


def taken_over() -> Conflict:
    """The Conflict for a browser that no longer holds the interview."""
    return Conflict(sentence("This interview continues in another browser."), details={"reason": "taken over"})


def write(holder: Holder, values: dict[str, Any], *more: sa.ColumnElement[bool]) -> bool:
    """Update the sitting if this browser still holds it and ``more`` is true. Returns whether it was."""
    statement = (
        sa.update(Sitting)
        .where(Sitting.id == holder.sitting_id, Sitting.fence == holder.fence, Sitting.ended_at.is_(None), *more)
        .values(values)
    )
    return db.changed(statement) == 1


# --- turns ---------------------------------------------------------------------------------------------------------


def take_turn(holder: Holder, *, number: int, kind: TurnKind, continues: bool = False) -> Taken:
    """Claim turn ``number``, or find its stored reply. Raises Conflict if it is not the next turn.

    After the goodbye only what goes back to the last answer (``continues``) is accepted: more of it, or that it
    is said again.
    """
    hold(holder)
    sitting = db.session.get_one(Sitting, holder.sitting_id, populate_existing=True)
    former = turn_of(holder.sitting_id, number)
    if former is not None and former.state is TurnState.ANSWERED:
        return Taken(former, None)
    if number != sitting.next_turn:
        details = {"reason": "wrong turn", "expected": sitting.next_turn}
        raise Conflict(f"Turn {sitting.next_turn} comes next.", details=dict(details))
    place = Place.from_json(sitting.place)
    if place.question_index is None and number > 1 and not (continues and place.former):
        raise Conflict("The agent has said goodbye; only finish comes next.", details={"reason": "over"})
    turn = former or _turn_row(sitting, number, kind)
    token = claims.take(Turn.state, turn.id, expects=[TurnState.WAITING], becomes=TurnState.WORKING, lease=TURN_LEASE)
    db.session.refresh(turn)
    if turn.kind is not kind and token is not None:
        turn.kind = kind
        db.session.flush()
    return Taken(turn, token)


def _turn_row(sitting: Sitting, number: int, kind: TurnKind) -> Turn:
    turn = Turn(id=new_id(), sitting_id=sitting.id, number=number, kind=kind)
    try:
        with db.session.begin_nested():
            db.session.add(turn)
    except IntegrityError:  # the same turn was posted twice at once; the claim decides
        posted = turn_of(sitting.id, number)
        if posted is None:
            raise
        return posted
    return turn


def renew_turn(turn_id: str, token: int) -> bool:
    """Extend the claim of a turn that is still being worked on. False if the claim was lost."""
    return claims.renew(Turn, turn_id, token, lease=TURN_LEASE)


def release_turn(turn_id: str, token: int) -> None:
    """Release a turn that could not be answered, so that the next attempt need not wait for the lease."""
    claims.finish(Turn, turn_id, token, state=TurnState.WAITING)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reply with everything that is recorded with it. ``heard`` locates the candidate's words.

    ``sound``: the turn's columns that name the voice chunks it has used. ``is_awaited``: the previous turn has recorded
    this answer without its words. ``model``: what the language model has cost since the turn before.
    """

    number: int
    script: Script
    reply: Reply
    audio_key: str | None
    heard: Heard
    played: Played | None
    detected_ms: int | None
    answered_ms: int
    sound: Mapping[str, int | None] = field(default_factory=dict)
    is_awaited: bool = False
    hears_again: bool = False
    model: Used = field(default_factory=Used)


def record_reply(holder: Holder, turn_id: str, token: int, *, outcome: Outcome) -> Turn | None:
    """Store the reply and advance the sitting. None if the claim was lost, because another process has answered.

    Also writes what the agent said in the previous turn, as far as it was heard, and what the candidate said in this
    one.
    """
    reply = outcome.reply
    is_ours = claims.finish(
        Turn,
        turn_id,
        token,
        state=TurnState.ANSWERED,
        reply_kind=str(reply.kind),
        answered_at=claims.moment(),
        question_index=reply.step.place.question_index,
        question=_open_question(outcome),
        expects=reply.step.expects,
        parts=utterances.kept_parts(reply.parts),
        audio_key=outcome.audio_key,
        seconds=reply.seconds,
        engine=reply.engine,
        heard_text=reply.said.content,
        detected_ms=outcome.detected_ms,
        collected_ms=reply.timing.collected,
        recognised_ms=reply.timing.recognised,
        decided_ms=reply.timing.decided,
        spoken_ms=reply.timing.spoken,
        answered_ms=outcome.answered_ms,
        **outcome.sound,
    )
    if not is_ours:
        return None
    values = {
        "place": _opened(reply.step.place, outcome.number).to_json(),
        "next_turn": Sitting.next_turn + 1,
        "heartbeat_at": claims.moment(),
        "answers": Sitting.answers + int(reply.is_answer),
    }
    if not write(holder, values, Sitting.next_turn == outcome.number):
        raise refusal(holder)
    _write_previous(holder, outcome.number - 1, outcome.played)
    _write_answer(holder, outcome)
    count_model(holder, outcome.model)
    db.session.expire_all()
    return db.session.get_one(Turn, turn_id)


def count_model(holder: Holder, used: Used) -> None:
    """Add what the language model has cost."""
    if used.calls:
        tokens = used.input_tokens + used.output_tokens
        interviews.count_model(holder.interview_id, calls=used.calls, tokens=tokens)


def _opened(place: Place, number: int) -> Place:
    return replace(place, opened=number) if place.phase is Phase.QUESTION and place.opened is None else place


def _write_answer(holder: Holder, outcome: Outcome) -> None:
    if outcome.reply.retakes is not None:
        utterances.replace_former(holder.interview_id, outcome.reply.retakes)
    utterances.write_candidates(
        holder.interview_id,
        outcome.reply.said,
        outcome.heard,
        is_there=outcome.is_awaited,
        obeyed=outcome.reply.obeyed,
        hears_again=outcome.hears_again,
        turn=outcome.number,
        is_retake=outcome.reply.is_retake,
    )


def _open_question(outcome: Outcome) -> str | None:
    try:
        return open_line(outcome.script, outcome.reply.step.place).text
    except WrongMoment:
        return None


def _write_previous(holder: Holder, number: int, played: Played | None) -> None:
    previous = turn_of(holder.sitting_id, number) if number else None
    if previous is None:
        return
    utterances.write_agents(holder.interview_id, previous, played)
    if played is not None:
        previous.heard_ms = played.latency_ms
        previous.interrupted = bool(previous.seconds) and not played.whole
        previous.murmurs = played.murmurs
    db.session.flush()


# --- the end -------------------------------------------------------------------------------------------------------


def finish_sitting(holder: Holder, interview: Interview, *, played: Played | None) -> None:
    """End the sitting and submit the interview, after the outro and when everything has arrived. Raises Conflict."""
    hold(holder)
    sitting = db.session.get_one(Sitting, holder.sitting_id, populate_existing=True)
    try:
        place = finish(Place.from_json(sitting.place))
    except WrongMoment:
        details = {"reason": "not over", "expected": sitting.next_turn}
        raise Conflict(
            "The interview is not over yet; end it with a turn of the kind end.", details=dict(details)
        ) from None
    _write_previous(holder, sitting.next_turn - 1, played)
    write(holder, {"place": place.to_json(), "ended_at": claims.moment()})
    db.session.expire(sitting)
    interviews.submit(interview)


def give_up(interview: Interview) -> bool:
    """Settle an interview whose candidate left: submit the answers, or mark it abandoned. False if they came back."""
    is_silent = sa.and_(Sitting.ended_at.is_(None), Sitting.heartbeat_at < claims.moment(-ABANDONED_AFTER))
    statement = (
        sa.update(Sitting)
        .where(Sitting.interview_id == interview.id, is_silent, Sitting.answers > 0)
        .values(ended_at=claims.moment(), fence=Sitting.fence + 1)
    )
    if db.changed(statement):
        _keep_untaken(interview.id)
        return interviews.submit(interview)
    is_still_gone = sa.select(sa.exists().where(Sitting.interview_id == interview.id, is_silent))
    return bool(db.session.scalar(is_still_gone)) and interviews.abandon(interview)


def _keep_untaken(interview_id: str) -> None:
    """Store the start of an unfinished answer with its place. Processing recognises its words."""
    sitting = db.session.execute(
        sa.select(Sitting).where(Sitting.interview_id == interview_id), execution_options={"populate_existing": True}
    ).scalar_one()
    place = Place.from_json(sitting.place)
    for stretch in untaken_speech.stretches(sitting, most=LAST_CHUNK):
        if stretch.last_chunk - stretch.first_chunk >= LONGEST_CALL:
            heard = Heard(place.question_index, stretch.segment, stretch.first_chunk, stretch.last_chunk)
            utterances.write_candidates(interview_id, Said(Event.PART), heard)
