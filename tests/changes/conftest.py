"""A reader of the feed, on a database with real commits: what is in no transaction yet appears nowhere."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import rooms
from app.core.db import commit_order, db
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.webhooks.changes.models import Change
from tests.conftest import GIVEN_URL
from tests.factories import a_flow
from tests.people import Person, person

PATH = "/v1/changes"

collect_ignore = [] if GIVEN_URL else ["test_commit_order.py"]


@dataclass
class Reader:
    """A program that keeps a copy of everything, by kind and id."""

    owner: Person
    after: str | None = None
    copy: dict[tuple[str, str], Any] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    def fetch(self, limit: int = 100) -> dict[str, Any]:
        """One page, which counts only once it is kept."""
        db.session.rollback()  # the session is that of the test, and what it has read would stay as it was
        query = {"limit": limit} | ({"after": self.after} if self.after else {})
        answer = self.owner.api("GET", PATH, query_string=query)
        db.session.rollback()
        assert answer.status_code == 200, answer.text
        return dict(answer.json)

    def keep(self, page: dict[str, Any]) -> None:
        for change in page["changes"]:
            key = (change["kind"], change["object_id"])
            if change["change"] == "deleted":
                assert change["object"] is None
                self.copy.pop(key, None)
            else:
                self.copy[key] = change["object"]
            self.seen.append(change["id"])
        self.after = page["next"]

    def read(self, limit: int = 100) -> list[dict[str, Any]]:
        """Read to the end, once nothing delays what is committed; returns the changes.

        Of a transaction that is open elsewhere on the server and ends meanwhile, the feed cannot know where it was. It
        may do so while a page is read, too: the end is where two pages in a row are empty.
        """
        deadline = time.monotonic() + 30
        unsettled = sa.select(sa.func.count()).select_from(Change).where(~commit_order.is_settled(Change.txid))
        while db.session.scalar(unsettled) and time.monotonic() < deadline:
            db.session.rollback()
            time.sleep(0.01)
        changes, empty = [], 0
        while empty < (2 if GIVEN_URL else 1):
            found = self.read_now(limit)
            changes += found
            empty = 0 if found else empty + 1
        return changes

    def read_now(self, limit: int = 100) -> list[dict[str, Any]]:
        """The same, whatever is delayed."""
        changes = []
        while True:
            page = self.fetch(limit)
            self.keep(page)
            changes += page["changes"]
            if not page["has_more"]:
                return changes

    def kinds(self, limit: int = 100) -> list[tuple[str, str, str]]:
        """What the next changes are."""
        return [(one["kind"], one["object_id"], one["change"]) for one in self.read(limit)]


def there(owner: Person) -> dict[tuple[str, str], Any]:
    """What a reader that has read everything has: every object of every kind, as ``/v1`` shows it."""
    ids = {
        "interview_flow": "SELECT id FROM interview_flow",
        "interview": "SELECT id FROM interview",
        "interview_metadata": "SELECT interview_id FROM interview_metadata",
        "candidate": "SELECT id FROM candidate",
        "status": "SELECT id FROM pipeline_status",
        "score_version": "SELECT interview_id || '.' || number FROM score_version"
        " UNION SELECT interview_id || '.1' FROM interview_data",
    }
    found = {}
    for name, kind in rooms.change_kinds().items():
        wanted = list(db.session.scalars(sa.text(ids[name])))
        if name == "status" and not wanted:
            wanted = ["invited", "interviewed", "shortlisted", "accepted", "rejected", "withdrawn"]
        shown = rooms.resolve(kind.shown)(owner.organization.id, wanted)
        found |= {(name, object_id): one for object_id, one in shown.items()}
    db.session.rollback()
    return found


@pytest.fixture
def owner(own_app: Flask) -> Iterator[Person]:
    with own_app.app_context():
        yield person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        db.session.remove()


@pytest.fixture
def reader(owner: Person) -> Reader:
    """One that has read what there is."""
    made = Reader(owner)
    made.read()
    return made


def booked(owner: Person, email: str = "mary@candidate.example", flow_id: str | None = None) -> Interview:
    """A committed interview."""
    interview = interviews.book(owner.organization, flow_id or a_flow(owner).id, email=email)
    db.session.commit()
    return interview
