"""The blueprint of candidates' pages."""

from flask import Blueprint

from app.accounts.access import require_member

pages = Blueprint("candidates", __name__)
pages.before_request(require_member)
