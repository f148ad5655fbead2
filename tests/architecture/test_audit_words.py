"""Every action that is written into the audit log can be read and chosen on its page."""

import re
from pathlib import Path

from flask import Flask

from app.accounts.audit.entries import ALSO, GROUPS, WORDS


def test_every_action_of_the_code_has_words_and_can_be_chosen(app: Flask) -> None:
    """What is missing here wants a line in ``WORDS`` of app/accounts/audit/entries.py."""
    source = "\n".join(path.read_text() for path in Path("app").rglob("*.py") if path.name != "trail.py")
    written = set(re.findall(r'\baction="([a-z_]+\.[a-z_]+)"', source))
    assert len(written) > 40
    firsts = {first for group in GROUPS for first in (group, *ALSO.get(group, ()))}
    assert {name.split(".")[0] for name in (*written, *WORDS)} <= firsts
    named = set(re.findall(rf'"((?:{"|".join(sorted(firsts))})\.[a-z_]+)"', source))
    others = {name for name in named if name.endswith((".id", ".json"))} | set(app.view_functions)
    assert written | (named - others) <= set(WORDS)
