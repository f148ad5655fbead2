"""What follows an answer: an interviewer supplies the words, the script the room, the guard says what may be spoken."""

import logging
from dataclasses import dataclass

from app.conversation.script import guard
from app.conversation.script.machine import Event, Kind, Line, Place, Script, answered, may_follow_up, may_turn_aside
from app.core.errors import GatewayError
from app.gateways.language_model.scripted import ScriptInterviewer
from app.gateways.speech.catalogue import word_count
from app.gateways.speech.ports import Exchange, FollowUp, Interviewer

log = logging.getLogger(__name__)

LONGEST_QUESTION_WORDS = 40
"""Whatever is longer is no question to the agent."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What the candidate said, what they had heard before (``conversation.Answer.cut``), and their documents' text."""

    text: str
    cut: str = ""
    documents: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """What happens next, and the interviewer's words for it."""

    event: Event
    follow_up: str | None = None
    aside: Line | None = None


def decide(script: Script, place: Place, statement: Statement, *, interviewer: Interviewer) -> Decided:
    """Slow: asks the interviewer where the script has room for what it may say. Never raises for its failure.

    An interviewer that fails, or whose follow-up the guard refuses, costs its own words only: the rule of an
    interview without a language model takes their place.
    """
    if not may_follow_up(script, place) and not _may_ask_back(script, place, statement.text):
        return Decided(Event.ANSWER)
    exchange = Exchange(
        question=script.questions[place.question],
        answer=answered(place, statement.text),
        latest=statement.text,
        language=script.language,
        follow_ups=place.asked,
        limit=script.follow_up_limit,
        flow_title=script.title,
        org_name=script.org_name,
        additional_info=script.additional_info,
        additional_instructions=script.additional_instructions,
        cut=statement.cut,
        documents=statement.documents,
    )
    try:
        decided = _allowed(script, place, interviewer.decide(exchange), latest=statement.text)
    except GatewayError as error:
        log.warning("the script's own rule decides, the interviewer failed: %s", type(error).__name__)
        decided = None
    return decided or _scripted(script, place, exchange)


def _scripted(script: Script, place: Place, exchange: Exchange) -> Decided:
    """One fixed follow-up to a thin answer, else on with the script."""
    follow_up = ScriptInterviewer().decide(exchange).text if may_follow_up(script, place) else None
    return Decided(Event.ANSWER, follow_up)


def _may_ask_back(script: Script, place: Place, text: str) -> bool:
    """Whether this could be a question to the agent when no follow-up is left: long answers need not wait for it."""
    return may_turn_aside(place) and word_count(text, script.language) <= LONGEST_QUESTION_WORDS


def _allowed(script: Script, place: Place, wanted: FollowUp, *, latest: str) -> Decided | None:
    """Of what the interviewer wants only what the script has room for. None where the guard refuses its follow-up."""
    if _may_ask_back(script, place, latest):
        if wanted.wait or wanted.repeat:
            return Decided(Event.THINK if wanted.wait else Event.ASIDE)
        if wanted.reply or wanted.unknown:
            reply = guard.reply(wanted.reply, script) if wanted.reply else None
            return Decided(Event.ASIDE, aside=Line(Kind.REPLY if reply else Kind.PASS_ON, reply, place.question))
    if not wanted.text or not may_follow_up(script, place):
        return Decided(Event.ANSWER)
    follow_up = guard.follow_up(wanted.text, script, place, latest=latest)
    return Decided(Event.ANSWER, follow_up) if follow_up else None
