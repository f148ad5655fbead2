"""Repeats erasures, revocations and withdrawals after a restore. Each act has its own commit."""

from collections.abc import Iterable

from app.core.db import db
from app.core.erasure_journal import ACTS, ERASED, REVOKED, Kept
from app.gateways.storage import Storage
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import Revocation
from app.privacy import actions
from app.privacy.models import Erasure
from app.privacy.queries import acts

__all__ = ["acts", "repeat"]


def repeat(acts: Iterable[Kept], storage: Storage) -> dict[str, int]:
    """Repeat every act, each in its own commit, and delete the files. Returns counts of the outcomes."""
    acts, outcomes = list(acts), list[bool | None]()
    erased = {act.interview for act in acts if act.what == ERASED}
    acts = [act for act in acts if act.what == ERASED or act.interview not in erased]
    for what, interview_id in sorted({(ACTS.index(act.what), act.interview) for act in acts}):
        outcomes.append(actions.repeat(ACTS[what], interview_id))
        db.session.commit()
        if outcomes[-1] is not None:
            _see_to_files(ACTS[what], interview_id, storage)
    return {
        "erased_again": outcomes.count(True),
        "known": outcomes.count(False),
        "not_in_it": outcomes.count(None),
    }


def _see_to_files(what: str, interview_id: str, storage: Storage) -> None:
    """Delete files that came back with the backup because it was made before the act."""
    if what == ERASED:
        left = actions.sweep_files(interview_id, storage=storage)
        if not left and db.session.get_one(Erasure, interview_id).settled_at is None:
            actions.gone(interview_id)
    elif what == REVOKED:
        recordings.destroy(interview_id, storage=storage)
        revocation = db.session.get(Revocation, interview_id)
        if revocation is not None and revocation.settled_at is None:
            recordings.bytes_gone(interview_id)
    db.session.commit()
