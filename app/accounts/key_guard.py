"""Holds API keys to their scope at the door of ``/v1``, before any view runs.

An endpoint that says nothing about itself is safe: keys that only read cannot write there, and keys that are limited to
teams or flows reach it only if its path names one thing whose team is known (``key_scope.place``). An endpoint that
shows or takes more narrows itself and says so with ``narrows_itself``.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from flask import current_app, has_request_context, request

from app.accounts import key_scope
from app.accounts.key_scope import EVERYTHING, KeyScope, scope_of
from app.accounts.models import Owner
from app.core.errors import Forbidden

READ_ONLY = "This API key is read only. Use a key that may write."
ORGANIZATION_WIDE = (
    "This API key is limited to some teams or flows, and this URL covers the whole organization. Use a key without "
    "these limits."
)
SECRETS = "This API key was created without access to secrets. Use a key with access to them."

View = TypeVar("View", bound=Callable[..., Any])
_SCOPE = "parley.key_scope"
_NARROWS, _SECRET = "parley_narrows_itself", "parley_gives_secrets"


def narrows_itself(view: View) -> View:
    """Mark a view of ``/v1`` that shows and takes nothing outside the scope of its caller."""
    setattr(view, _NARROWS, True)
    return view


def gives_secrets(view: View) -> View:
    """Mark a view of ``/v1`` whose answer contains a secret. URLs with the word secret need no mark."""
    setattr(view, _SECRET, True)
    return view


def hold(caller: Owner, *, writes: bool) -> None:
    """Raise Forbidden if the key may not make this request. Costs nothing for keys without limits."""
    scope = scope_of(caller)
    request.environ[_SCOPE] = scope
    if scope is EVERYTHING:
        return
    if scope.is_read_only and writes:
        raise Forbidden(READ_ONLY, code="key_read_only")
    view = current_app.view_functions[request.endpoint or ""]
    if scope.hides_secrets and (hasattr(view, _SECRET) or "secret" in str(request.url_rule)):
        raise Forbidden(SECRETS, code="key_scope")
    if scope.is_narrow:
        _hold_narrow(caller, view)


def _hold_narrow(caller: Owner, view: Callable[..., Any]) -> None:
    named = request.view_args or {}
    placed = [name for name in named if key_scope.is_placed(name)]
    if not placed and not hasattr(view, _NARROWS):
        raise Forbidden(ORGANIZATION_WIDE, code="key_scope")
    for name in placed:
        key_scope.refuse_place(caller, name, str(named[name]))


def scope_of_request() -> KeyScope:
    """The scope of the key that called; EVERYTHING outside ``/v1``."""
    scope: KeyScope = request.environ.get(_SCOPE, EVERYTHING) if has_request_context() else EVERYTHING
    return scope


def shows_secrets() -> bool:
    """Whether the answer to this request may contain secrets."""
    return not scope_of_request().hides_secrets
