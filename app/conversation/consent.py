"""The text that candidates agree to: its version, and its words as they stood on the page.

A version is a template ``conversation/_consent_N.html`` that is never edited again; its translations count. The
words themselves are kept beside each agreement, so that not even a corrected translation changes what was agreed to.
"""

import re
from html import unescape
from typing import Any

from flask import render_template
from flask_babel import force_locale

from app.web.languages import DEFAULT, LOCALES

_TAG = re.compile(r"<[^>]*>")

VERSION = "2"
"""The text that is shown today."""


def words_shown(flow: dict[str, Any], *, version: str, locale: str) -> str:
    """The text of ``version`` in the language ``locale`` (one of the interface's tags), a line for each promise.

    ``flow`` has ``org_name`` and the switches that the text speaks about. Raises TemplateNotFound for no version.
    """
    with force_locale(LOCALES.get(locale, LOCALES[DEFAULT])):
        page = render_template(f"conversation/_consent_{version}.html", flow=flow, icon=lambda _name: "")
    promises = (_TAG.sub("", item) for item in re.findall(r"<li>(.*?)</li>", page, re.DOTALL))
    return "\n".join(" ".join(unescape(promise).split()) for promise in promises)
