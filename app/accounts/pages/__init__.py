"""Pages of accounts. Importing the package hangs every page on the blueprint."""

from app.accounts.pages import address, audit, keys, links, member, profile, second_factor, sign_in, team
from app.accounts.pages.blueprint import pages

__all__ = ["address", "audit", "keys", "links", "member", "pages", "profile", "second_factor", "sign_in", "team"]
