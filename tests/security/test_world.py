"""The world of the matrix sees what changes, and puts it back."""

import os

import pytest
import sqlalchemy as sa

from app.accounts.models import Login, Organization
from app.core.db import db, new_id

from .conftest import World

WRITES = {
    "changed": sa.update(Organization).values(name="Somebody else"),
    "new": sa.insert(Organization).values(id=new_id(), name="Somebody else"),
    "deleted": sa.delete(Login),
    "deleted by a query": sa.delete(Login).where(Login.id.in_(sa.select(sa.select(Login.id).cte("those").c.id))),
}


@pytest.mark.parametrize("how", WRITES)
def test_what_becomes_of_a_row_is_seen_and_gone_afterwards(world: World, how: str) -> None:
    before = world.tables()
    with world.undone():
        world.watch(how)
        db.session.execute(WRITES[how])
        db.session.commit()
        with pytest.raises(AssertionError, match=WRITES[how].table.name):
            world.settle()
    assert world.tables() == before


@pytest.mark.parametrize("how", ["written", "of the same size", "deleted", "new"])
def test_a_changed_file_is_put_back(world: World, how: str) -> None:
    before = {path: path.read_bytes() for path in world.files.rglob("*") if path.is_file()}
    chosen = next(iter(before))
    with world.undone():
        if how == "deleted":
            chosen.unlink()
        elif how == "of the same size":
            chosen.write_bytes(os.urandom(len(before[chosen])))
        else:
            (chosen if how == "written" else chosen.with_name("new")).write_bytes(b"something else")
    assert {path: path.read_bytes() for path in world.files.rglob("*") if path.is_file()} == before
