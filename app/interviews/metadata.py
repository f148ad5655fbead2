"""What customers' programs keep about interviews: its rules, and reads of it.

``external_id`` is the interview's id in the customer's system. Webhooks carry it in a header, so it is what a header
can carry.
"""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from app.accounts.key_scope import within
from app.accounts.models import Owner
from app.core.db import db
from app.core.errors import Rejected
from app.interviews.models import Interview, InterviewMetadata

EXTERNAL_ID = "external_id"
MOST_KEYS, LONGEST_VALUE, MOST_BYTES = 20, 500, 4_096
LONGEST_EXTERNAL_ID = 128
MOST_FOUND = 100
KEY = re.compile(r"[a-z0-9_]{1,40}\Z", re.ASCII)
_IN_HEADERS = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?\Z", re.ASCII)
_FIELD = "metadata"


def checked(values: Mapping[str, Any]) -> dict[str, str]:
    """Metadata that can be kept. Raises Rejected, with the code ``metadata_too_large`` for more than fits."""
    if len(values) > MOST_KEYS:
        raise _too_large(f"It has {len(values)} keys. The maximum is {MOST_KEYS}. Send fewer.")
    size = size_of(values)
    if size > MOST_BYTES:
        raise _too_large(f"It has {size} bytes as JSON. The maximum is {MOST_BYTES}. Send less.")
    for key, value in values.items():
        flaw = _flaw_of(key, value)
        if flaw:
            raise Rejected(flaw, field=_FIELD)
    return dict(values)


def size_of(values: Mapping[str, Any]) -> int:
    """Bytes of the shortest JSON in UTF-8; half characters, which are refused later, count as if they were whole."""
    return len(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def is_external_id(text: str) -> bool:
    """Whether a header can carry it, unchanged and on one line."""
    return len(text) <= LONGEST_EXTERNAL_ID and _IN_HEADERS.match(text) is not None


def _too_large(words: str) -> Rejected:
    return Rejected(words, field=_FIELD, code="metadata_too_large")


def _flaw_of(key: str, value: Any) -> str | None:
    if not KEY.match(key):
        name = key[:50].encode("ascii", "backslashreplace").decode()
        return f"“{name}” is not a key. Use 1 to 40 of the characters a to z, 0 to 9 and _."
    if not isinstance(value, str):
        return f"“{key}” must be a string."
    if len(value) > LONGEST_VALUE:
        return f"“{key}” has {len(value)} characters. The maximum is {LONGEST_VALUE}."
    if key == EXTERNAL_ID and not is_external_id(value):
        return (
            f"“{key}” must be 1 to {LONGEST_EXTERNAL_ID} printable ASCII characters, and must not begin or end with a "
            "space."
        )
    return _unkept(key, value)


def _unkept(key: str, value: str) -> str | None:
    """Why the database could not keep it."""
    if "\x00" in value:
        return f"“{key}” contains the NUL character."
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        return f"“{key}” contains half of a surrogate pair, which is not a character."
    return None


def metadata_of(interview: Interview) -> dict[str, str]:
    """What was kept about the interview last; empty if nothing was."""
    row = db.session.get(InterviewMetadata, interview.id)
    return dict(row.values) if row else {}


def interviews_with(organization: Owner, external_id: str) -> list[dict[str, str]]:
    """The organization's newest interviews with this id in the customer's system, as ``/v1`` shows them."""
    mine = sa.select(Interview.id, Interview.flow_id).join(
        InterviewMetadata, InterviewMetadata.interview_id == Interview.id
    )
    same = (InterviewMetadata.organization_id == organization.id, InterviewMetadata.external_id == external_id)
    narrow = within(organization, team_id=Interview.team_id, flow_id=Interview.flow_id)
    rows = db.session.execute(mine.where(*same, *narrow).order_by(Interview.org_seq.desc()).limit(MOST_FOUND))
    return [{"interview_id": one, "interview_flow_id": flow_id, "external_id": external_id} for one, flow_id in rows]


def external_ids(interview_ids: Collection[str]) -> dict[str, str]:
    """The ids in customers' systems, by interview. Without one, or of anything else, they are left out."""
    columns = InterviewMetadata.interview_id, InterviewMetadata.external_id
    found = sa.select(*columns).where(
        InterviewMetadata.interview_id.in_(interview_ids), InterviewMetadata.external_id.is_not(None)
    )
    return {row[0]: row[1] for row in db.session.execute(found) if row[1] is not None}
