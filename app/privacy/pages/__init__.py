"""Pages of erasure, retention and legal holds, for administrators."""

from app.privacy.pages import erasure, retention
from app.privacy.pages.erasure import pages

__all__ = ["erasure", "pages", "retention"]
