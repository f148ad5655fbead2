"""How ``wait`` waits, without a network: what to read next, how long to sleep, and when to give up."""

import time
from collections.abc import Generator
from typing import Any

from . import _models as m
from . import _operations as ops
from ._core import Call, Sleep, Steps
from ._errors import LinkEndedError, WaitTimeoutError

FIRST_POLL, LONGEST_POLL = 1.0, 30.0
READS_PER_LINK = 5
"""How many times the interview is read before its link is: a cancelled one must not take the whole ``timeout``."""


def waiting(
    interview_id: str, *, timeout: float, poll: float | None, transcript: ops.TranscriptChoice
) -> Generator[Call[Any] | Steps[None], Any, m.Interview[Any]]:
    """The client carries out what this yields, and sends each result back."""
    ends, grown, reads = time.monotonic() + timeout, FIRST_POLL, 0
    while True:
        found: m.Interview[Any] = yield ops.get_interview(interview_id, transcript=transcript)
        if found.status == "completed":
            return found
        reads += 1
        delay = grown if poll is None else poll
        is_last = time.monotonic() + delay > ends
        if is_last or reads % READS_PER_LINK == 0:
            link: m.InterviewLink = yield ops.get_interview_link(interview_id)
            if link.state in {"expired", "closed"}:
                raise LinkEndedError(interview_id, link.state)
        if is_last:
            raise WaitTimeoutError(f"Interview {interview_id} is still {found.status}.")
        grown = min(LONGEST_POLL, grown * 1.5)
        yield _asleep(delay)


def _asleep(seconds: float) -> Steps[None]:
    yield Sleep(seconds)
