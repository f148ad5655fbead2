"""What an API key may do: only read, only some teams or flows, no secrets.

The scope travels with the caller of ``/v1``. Reads that take an owner narrow themselves to it, so an endpoint that
looks its things up by them needs no checks of its own. A page's owner is an organization, which has no scope.
"""

from typing import Any, NamedTuple, Protocol
from zlib import crc32

import sqlalchemy as sa

from app.accounts.models import Owner
from app.core.db import is_id
from app.core.db.prepared import Prepared
from app.core.errors import Forbidden

OUTSIDE = (
    "This API key is limited to some teams or flows, and this is not among them. Use a key whose scope includes it."
)
NO_NEW_FLOW = "This API key is limited to certain flows, so it cannot create flows. Use a key that is limited to teams."


class KeyScope(NamedTuple):
    """``team_ids`` and ``flow_ids`` are None without that limit. With both, a thing must be within both.

    A key that is limited to flows always names their teams too.
    """

    is_read_only: bool = False
    hides_secrets: bool = False
    team_ids: tuple[str, ...] | None = None
    flow_ids: tuple[str, ...] | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether some things of the organization are outside."""
        return self.team_ids is not None or self.flow_ids is not None

    def covers(self, *, team_id: str, flow_id: str | None = None) -> bool:
        """Whether a thing of this team and flow is within. Without a flow, the team decides."""
        within_flows = self.flow_ids is None or flow_id is None or flow_id in self.flow_ids
        return within_flows and (self.team_ids is None or team_id in self.team_ids)

    def as_details(self) -> dict[str, Any]:
        """For the audit log: only the limits that there are."""
        given = {
            "read_only": self.is_read_only,
            "no_secrets": self.hides_secrets,
            "teams": list(self.team_ids or ()),
            "flows": list(self.flow_ids or ()),
        }
        return {name: value for name, value in given.items() if value}

    @property
    def view(self) -> int:
        """A number that differs for keys that see different things; 0 for those that see everything."""
        seen = (self.hides_secrets, self.team_ids, self.flow_ids)
        return crc32(repr(seen).encode()) if any(limit not in {False, None} for limit in seen) else 0


EVERYTHING = KeyScope()


class Scoped(Protocol):
    """The columns of a key that hold its scope."""

    @property
    def is_read_only(self) -> bool: ...

    @property
    def hides_secrets(self) -> bool: ...

    @property
    def team_ids(self) -> list[str] | None: ...

    @property
    def flow_ids(self) -> list[str] | None: ...


def scope_of_key(key: Scoped) -> KeyScope:
    if not key.is_read_only and not key.hides_secrets and key.team_ids is None and key.flow_ids is None:
        return EVERYTHING
    teams = None if key.team_ids is None else tuple(key.team_ids)
    flows = None if key.flow_ids is None else tuple(key.flow_ids)
    return KeyScope(key.is_read_only, key.hides_secrets, teams, flows)


def scope_of(owner: Owner) -> KeyScope:
    """The scope of the key that called, or EVERYTHING for pages and jobs."""
    scope: KeyScope = getattr(owner, "scope", EVERYTHING)
    return scope


def within(owner: Owner, *, team_id: Any, flow_id: Any = None) -> list[sa.ColumnElement[bool]]:
    """Conditions that limit a list to the owner's scope, on the columns with each row's team and flow."""
    scope, conditions = scope_of(owner), []
    if scope.team_ids is not None:
        conditions.append(team_id.in_(scope.team_ids))
    if scope.flow_ids is not None and flow_id is not None:
        conditions.append(flow_id.in_(scope.flow_ids))
    return conditions


def refuse_outside(owner: Owner, *, team_id: str, flow_id: str | None = None) -> None:
    """Raise Forbidden if a thing of the owner's organization is outside the scope of its key."""
    if not scope_of(owner).covers(team_id=team_id, flow_id=flow_id):
        raise outside()


def outside() -> Forbidden:
    return Forbidden(OUTSIDE, code="key_scope")


def refuse_new_flow(owner: Owner) -> None:
    """Raise Forbidden if the owner's key is limited to flows: it could not see the one that it creates."""
    if scope_of(owner).flow_ids is not None:
        raise Forbidden(NO_NEW_FLOW, code="key_scope")


_PLACES: dict[str, Prepared] = {}


def place(name: str, rows: Any, *, team_id: Any, flow_id: Any) -> None:
    """Say how the guard of ``/v1`` finds the team and the flow of what a path parameter ``name`` names.

    ``rows``: the table whose ``id`` it is. With that, every URL with this parameter is refused to keys whose scope
    does not include the thing, whether its view looks at the scope or not. A thing without a team is outside them all.
    """
    found = sa.select(team_id, flow_id).where(
        rows.c.id == sa.bindparam("thing"), rows.c.organization_id == sa.bindparam("owner")
    )
    _PLACES[name] = Prepared(found)


def is_placed(name: str) -> bool:
    return name in _PLACES


def refuse_place(owner: Owner, name: str, thing_id: str) -> None:
    """Raise Forbidden if what a path parameter names is the organization's, but outside the scope of its key."""
    wanted = thing_id.lower()
    for team_id, flow_id in _PLACES[name].rows(thing=wanted, owner=owner.id) if is_id(wanted) else ():
        if team_id is None:  # it belongs to the organization as a whole
            raise outside()
        refuse_outside(owner, team_id=team_id, flow_id=flow_id)
