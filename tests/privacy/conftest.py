"""Interviews that were really taken, as on the candidate's own page, to be erased or kept."""

from tests.own_page.conftest import (  # noqa: F401 - fixtures
    asks,
    book,
    candidates,
    hears,
    scripted,
    speaks,
    taken,
    takes,
)
