"""What follows an answer: an interviewer supplies the words, the script the room, the guard says what may be spoken."""

from dataclasses import dataclass
from itertools import accumulate
from operator import add

from app.conversation.script import guard, job_questions
from app.conversation.script.machine import Event, Kind, Line, Script, answered, may_follow_up, may_turn_aside
from app.conversation.script.place import Place
from app.conversation.script.sentences import sentences, whole_sentences
from app.gateways.language_model.scripted import ScriptInterviewer
from app.gateways.speech.catalogue import word_count
from app.gateways.speech.ports import Exchange, FollowUp

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
    """What happens next, and the interviewer's words for it.

    With Event.LATE, ``aside`` is the beginning of the reply, of its own kind; None where not even that is known.
    """

    event: Event
    follow_up: str | None = None
    aside: Line | None = None


def exchange(script: Script, place: Place, statement: Statement) -> Exchange | None:
    """What the interviewer is asked; None where the script has no room for what it may say."""
    if not may_follow_up(script, place) and not _may_ask_back(script, place, statement.text):
        return None
    return Exchange(
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


def decided(script: Script, place: Place, asked: Exchange, *, wanted: FollowUp | None) -> Decided:
    """Of what the interviewer wants only what the script has room for and the guard allows.

    An interviewer that failed (None), or whose follow-up the guard refuses, costs its own words only: the rule of an
    interview without a language model takes their place. It is also what None means where there is no model at all. A
    reply that has begun (``place.began``) ends where it is.
    """
    if place.began is not None:
        return _rest(script, place, asked, wanted=wanted)
    if wanted is None:
        return _scripted(script, place, asked)
    return _allowed(script, place, asked, wanted=wanted) or _scripted(script, place, asked)


def beginning(script: Script, place: Place, asked: Exchange, *, wanted: FollowUp) -> Line | None:
    """Whole sentences, of words that go on, which may be spoken whatever follows them."""
    whole = whole_sentences(wanted.reply or wanted.text or "")
    if not whole:
        return None
    if wanted.reply:
        text = _reply(whole, script) if _may_ask_back(script, place, asked.latest) else None
        return Line(Kind.REPLY, text, place.question) if text else None
    text = guard.beginning(whole, script, place, latest=asked.latest) if may_follow_up(script, place) else None
    return Line(Kind.FOLLOW_UP, text, place.question) if text else None


def is_final(wanted: FollowUp) -> bool:
    """Whether what an interviewer wants so far needs no more words."""
    return not (wanted.text or wanted.reply)


def _scripted(script: Script, place: Place, asked: Exchange) -> Decided:
    """Words of the background for a question about the job, one fixed follow-up to a thin answer, else on."""
    if _may_ask_back(script, place, asked.latest):
        wanted = job_questions.reply(asked.latest, script, asked=(asked.question, *asked.follow_ups))
        if wanted is not None:
            return _aside(script, place, wanted)
    follow_up = ScriptInterviewer().decide(asked).text if may_follow_up(script, place) else None
    return Decided(Event.ANSWER, follow_up)


def _may_ask_back(script: Script, place: Place, text: str) -> bool:
    """Whether this could be a question to the agent when no follow-up is left: long answers need not wait for it."""
    return may_turn_aside(place) and word_count(text, script.language) <= LONGEST_QUESTION_WORDS


def _allowed(script: Script, place: Place, asked: Exchange, *, wanted: FollowUp) -> Decided | None:
    """None where the guard refuses the follow-up."""
    if _may_ask_back(script, place, asked.latest):
        if wanted.wait or wanted.repeat:
            return Decided(Event.THINK if wanted.wait else Event.ASIDE)
        if wanted.reply or wanted.unknown:
            return _aside(script, place, wanted)
    if not wanted.text or not may_follow_up(script, place):
        return Decided(Event.ANSWER)
    follow_up = guard.follow_up(wanted.text, script, place, latest=asked.latest)
    return Decided(Event.ANSWER, follow_up) if follow_up else None


def _aside(script: Script, place: Place, wanted: FollowUp) -> Decided:
    reply = _reply(wanted.reply, script) if wanted.reply else None
    return Decided(Event.ASIDE, aside=Line(Kind.REPLY if reply else Kind.PASS_ON, reply, place.question))


def _reply(text: str, script: Script) -> str | None:
    """An answer to the candidate's question as it may be spoken; none where the background is private."""
    return None if script.is_background_private else guard.reply(text, script)


def _rest(script: Script, place: Place, asked: Exchange, *, wanted: FollowUp | None) -> Decided:
    """What is still to be said of a reply whose beginning was spoken: as much as the guard allows with it."""
    kind, spoken = place.began or ("", "")
    if kind == Kind.FOLLOW_UP:
        whole = guard.follow_up(wanted.text or "", script, place, latest=asked.latest) if wanted else None
        rest = _after(spoken, whole or "")
        return Decided(Event.ANSWER, rest) if rest else _scripted(script, place, asked)
    rest = ""
    for whole in _growing((wanted.reply or "") if wanted else ""):
        allowed = _reply(whole, script)
        if allowed is None:
            break
        rest = _after(spoken, allowed)
    return Decided(Event.ASIDE, aside=Line(Kind.REPLY, rest, place.question) if rest else None)


def _growing(text: str) -> list[str]:
    """The text up to the end of its first sentence, of its second, and so on."""
    return [" ".join(parts) for parts in accumulate(([one] for one in sentences(text)), add)]


def _after(spoken: str, whole: str) -> str:
    return whole.removeprefix(spoken).strip() if whole.startswith(spoken) else ""
