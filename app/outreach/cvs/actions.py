"""Actions on uploaded CVs. Files are stored and deleted by the edges, outside transactions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core import queue
from app.core.db import db, new_id
from app.core.errors import Rejected
from app.flows.models import FlowStatus, InterviewFlow
from app.outreach.cvs import INVITE_CV, READ_CV, queries
from app.outreach.cvs.models import TO_CHECK, CvFile, CvUpload, State

MOST_FILES = 200
MOST_REFUSED = 100
"""Refused files that are named one by one; the others are counted."""
BEYOND = f"You can upload at most {MOST_FILES} CVs at once. Upload the rest separately."


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of an upload: where it is stored, or why it was not."""

    name: str
    size: int = 0
    storage_key: str | None = None
    reason: str | None = None


def key_of(upload_id: str) -> str:
    """A new storage key for a file of the upload."""
    return f"cv-uploads/{upload_id}/{new_id()}"


def begin(flow: InterviewFlow, *, recruiter_id: str | None, by_mail: bool, by: TeamMember) -> CvUpload:
    """An upload without files yet. Raises Rejected for a flow that is not open."""
    if flow.status is not FlowStatus.OPEN:
        raise Rejected(f"This flow is {flow.status.value}. Choose an open flow.", field="flow")
    upload = CvUpload(
        id=new_id(),
        organization_id=flow.organization_id,
        flow_id=flow.id,
        by_id=by.id,
        recruiter_id=recruiter_id,
        by_mail=by_mail,
    )
    db.session.add(upload)
    db.session.flush()
    return upload


def add_files(upload: CvUpload, files: Iterable[Kept]) -> None:
    """Add stored and refused files. Those that are stored are read in the background."""
    last = db.session.scalar(sa.select(sa.func.max(CvFile.number)).where(CvFile.upload_id == upload.id)) or 0
    rows = []
    for number, file in enumerate(shortened(list(files)), last + 1):
        state = State.REFUSED if file.reason else State.WAITING
        row = CvFile(id=new_id(), upload_id=upload.id, number=number, name=file.name, state=state, reason=file.reason)
        row.storage_key, row.size = file.storage_key, file.size
        rows.append(row)
    db.session.add_all(rows)
    db.session.flush()
    waiting = [row.id for row in rows if row.state == State.WAITING]
    for file_id in waiting[: queries.AT_ONCE]:
        queue.after_commit(READ_CV, file_id)


def shortened(files: Sequence[Kept]) -> list[Kept]:
    """All files, of the refused ones at most ``MOST_REFUSED`` by name."""
    refused = [file for file in files if file.reason]
    if len(refused) <= MOST_REFUSED:
        return list(files)
    kept = [file for file in files if not file.reason]
    more = len(refused) - MOST_REFUSED
    return [*kept, *refused[:MOST_REFUSED], Kept("1 more file" if more == 1 else f"{more} more files", reason=BEYOND)]


def confirm(upload: CvUpload, chosen: Mapping[str, Mapping[str, str | None]], *, by: TeamMember) -> int:
    """Have interviews created for the ``chosen`` files (values by id). Their files are read from no more. Audited."""
    count = 0
    for row in queries.files_of(upload):
        if row.id in chosen and row.state in TO_CHECK:
            for name, value in chosen[row.id].items():
                setattr(row, name, value)
            row.state, row.reason, row.recoveries, row.lease_until = State.CONFIRMED, None, 0, None
            count += 1
            if count <= queries.AT_ONCE:
                queue.after_commit(INVITE_CV, row.id)
    details, organization = {"invited": count}, upload.flow.organization
    write_audit(organization, action="candidates.cvs_confirmed", subject=upload.flow_id, by=by, details=details)
    return count


def drop(ids: Iterable[str]) -> None:
    """Delete rows of files that are deleted already."""
    db.session.execute(sa.delete(CvFile).where(CvFile.id.in_(list(ids))))
    db.session.expire_all()


def forget(upload_id: str) -> None:
    """Delete an upload whose files are deleted already."""
    db.session.execute(sa.delete(CvFile).where(CvFile.upload_id == upload_id))
    db.session.execute(sa.delete(CvUpload).where(CvUpload.id == upload_id))


def erase(interview_id: str) -> None:
    """Erase what an upload knows of the interview."""
    db.session.execute(sa.delete(CvFile).where(CvFile.interview_id == interview_id))
