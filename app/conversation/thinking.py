"""How long a turn waits for the interviewer: for its first sentence, and not long before the agent asks for a moment.

The interviewer works in a thread of its own and goes on where a turn has answered with what it had, so that the next
request to this process finds the rest. Another process asks again, or lets a reply that has begun end there.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from app.conversation.script import next_step
from app.conversation.script.machine import Event, Line, Script
from app.conversation.script.next_step import Decided, Statement
from app.conversation.script.patience import plain
from app.conversation.script.place import Place
from app.conversation.script.sentences import whole_sentences
from app.core.errors import GatewayError
from app.gateways.language_model.scripted import ScriptInterviewer
from app.gateways.language_model.usage import Used, counted
from app.gateways.speech.calls import Call, GivenUp
from app.gateways.speech.ports import Exchange, FollowUp, Interviewer

log = logging.getLogger(__name__)

BRIDGES_AFTER = 1.5
"""Seconds without a sentence after which the agent asks for a moment."""
SOON = 0.3
"""Seconds that the first sentence waits for the others: words that come at once are spoken in one go."""
FORGOTTEN_AFTER = 120.0
MOST_SPENT = 10_000
"""Interviews whose costs are held until a turn records them."""


class Thought:
    """What an interviewer wants, as far as it is known by now."""

    def __init__(self, asked: Exchange) -> None:
        self.asked, self.call, self.since = asked, Call(), time.monotonic()
        self._changed = threading.Condition()
        self._wanted: FollowUp | None = None
        self._is_over = False

    def listens(self, wanted: FollowUp) -> None:
        """There is more of it."""
        with self._changed:
            self._wanted = wanted
            self._changed.notify_all()

    def ends(self, wanted: FollowUp | None) -> None:
        """That is all of it; None where the interviewer failed."""
        with self._changed:
            self._wanted, self._is_over = wanted, True
            self._changed.notify_all()

    def known(self) -> tuple[FollowUp | None, bool]:
        """What it wants so far, and whether that is final."""
        with self._changed:
            return self._wanted, self._is_over or (self._wanted is not None and next_step.is_final(self._wanted))

    def final(self) -> FollowUp | None:
        """What it wants, as soon as that is final."""
        while True:
            wanted, is_final = self.known()
            if is_final:
                return wanted
            self.wait(wanted, seconds=None)

    def wait(self, seen: FollowUp | None, *, seconds: float | None) -> None:
        """Wait until there is more than what was ``seen``, or it is over, and ``seconds`` at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self._wanted != seen, timeout=seconds)


_running: dict[str, Thought] = {}
_spent: dict[str, Used] = {}
_lock = threading.Lock()


def decide(
    script: Script, place: Place, statement: Statement, *, interviewer: Interviewer, key: str | None, is_more: bool
) -> Decided:
    """What follows an answer. Slow, and never raises for the interviewer's failure.

    ``key`` names an answer to which a part of the reply may be spoken first: the outcome is then Event.LATE, and the
    next turn asks once more with ``is_more``. Without a key everything is waited for.
    """
    place = place if is_more else replace(place, began=None)
    asked = next_step.exchange(script, place, statement)
    if asked is None:
        give_up(key)
        return Decided(Event.ANSWER)
    if interviewer.name == ScriptInterviewer.name:
        return next_step.decided(script, place, asked, wanted=None)
    if key is None:
        return next_step.decided(script, place, asked, wanted=_outcome(lambda: interviewer.decide(asked)))
    thought = _thought(key)
    if thought is None and place.began is not None:
        return next_step.decided(script, place, asked, wanted=None)
    if thought is None or not (is_more or _is_same(thought.asked, asked)):
        thought = _begin(key, asked, interviewer)
    late = None if is_more else _late(thought, lambda wanted: next_step.beginning(script, place, asked, wanted=wanted))
    if late is not None:
        return late
    decided = next_step.decided(script, place, asked, wanted=thought.final())
    _forget(key)
    return decided


def begin_early(script: Script, place: Place, text: str, *, interviewer: Interviewer, key: str, documents: str) -> None:
    """Ask about an answer that may be over with these words, once in each pause. The turn goes on with it if they are.

    A former call about fewer words is given up.
    """
    asked = next_step.exchange(script, replace(place, began=None), Statement(text, documents=documents))
    thought = _thought(key)
    if asked is not None and (thought is None or not _is_same(thought.asked, asked)):
        _begin(key, asked, interviewer)


def goes_on(key: str, text: str) -> None:
    """The candidate has said this by now: a call about fewer words is given up."""
    thought = _thought(key)
    if thought is not None and len(plain(text).split()) > len(plain(thought.asked.latest).split()):
        give_up(key)


def give_up(key: str | None) -> None:
    """End the call about this answer, if there is one: its connection is closed."""
    thought = _forget(key) if key is not None else None
    if thought is not None:
        thought.call.give_up()


def _is_same(one: Exchange, other: Exchange) -> bool:
    """Whether both ask about the same words, however a recogniser writes them."""
    one, other = (replace(each, answer=plain(each.answer), latest=plain(each.latest)) for each in (one, other))
    return one == other


def _late(thought: Thought, beginning: Callable[[FollowUp], Line | None]) -> Decided | None:
    """What is said before all of the reply is known; None where it is known soon enough."""
    line, whole, until = None, "", time.monotonic() + BRIDGES_AFTER
    while True:
        wanted, is_final = thought.known()
        if is_final:
            return None
        if wanted is not None and whole != (whole := whole_sentences(wanted.reply or wanted.text or "")):
            first, line = line is None, beginning(wanted) or line
            until = min(until, time.monotonic() + SOON) if first and line else until
        left = until - time.monotonic()
        if left <= 0:
            return Decided(Event.LATE, aside=line)
        thought.wait(wanted, seconds=left)


def _begin(key: str, asked: Exchange, interviewer: Interviewer) -> Thought:
    give_up(key)
    thought = Thought(asked)
    with _lock:
        for old in [name for name, one in _running.items() if thought.since - one.since > FORGOTTEN_AFTER]:
            del _running[old]
        _running[key] = thought

    def think() -> None:
        wanted = None
        with counted() as used:
            try:
                wanted = _outcome(lambda: interviewer.decide(asked, listens=thought.listens, call=thought.call))
            finally:  # whatever happens, a candidate waits for it
                _spend(key, used)
                thought.ends(wanted)

    threading.Thread(target=think, name="thinks", daemon=True).start()
    return thought


def spent(interview_id: str) -> Used:
    """What the calls about answers of this interview have cost in this process since it was asked last."""
    with _lock:
        return _spent.pop(interview_id, Used())


def _spend(key: str, used: Used) -> None:
    with _lock:
        _spent.setdefault(key.partition("/")[0], Used()).add(used)
        while len(_spent) > MOST_SPENT:  # of interviews that were left, for which no one asks
            del _spent[next(iter(_spent))]


def _outcome(decide_now: Callable[[], FollowUp]) -> FollowUp | None:
    try:
        return decide_now()
    except GivenUp:
        return None
    except GatewayError as error:
        log.warning("the language model failed, so the script's own rule decides: %s", type(error).__name__)
        return None


def _thought(key: str) -> Thought | None:
    with _lock:
        return _running.get(key)


def _forget(key: str) -> Thought | None:
    with _lock:
        return _running.pop(key, None)
