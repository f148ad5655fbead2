"""Pages of accounts. Importing the package hangs every page on the blueprint."""

from app.accounts.pages import address, audit, entry, keys, links, member, own, people, second_factor
from app.accounts.pages.blueprint import pages

__all__ = ["address", "audit", "entry", "keys", "links", "member", "own", "pages", "people", "second_factor"]
