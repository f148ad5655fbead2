"""What candidates agree to never changes, in no language: each published version against the hashes of its text."""

import hashlib
import json
from itertools import product
from pathlib import Path

import pytest
from flask import Flask, render_template
from flask_babel import force_locale

from app.conversation.consent import VERSION, words_shown
from app.web.languages import LANGUAGES, LOCALES

HASHES: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("consent_texts.json").read_text(encoding="utf-8")
)
"""SHA-256 by version and language, over the stored and the rendered text with every combination of the switches."""
SWITCHES = ("is_video_enabled", "is_doc_upload_enabled", "assess_language")


def digest(version: str, language: str) -> str:
    text = hashlib.sha256()
    for values in product((False, True), repeat=len(SWITCHES)):
        flow = {"org_name": "Example & Sons"} | dict(zip(SWITCHES, values, strict=True))
        with force_locale(LOCALES[language]):
            page = render_template(f"conversation/_consent_{version}.html", flow=flow, icon=lambda _name: "")
        stored = words_shown(flow, version=version, locale=language)
        text.update(f"{stored}\n{' '.join(page.split())}\n".encode())
    return text.hexdigest()


def test_every_version_has_its_hashes() -> None:
    assert VERSION in HASHES
    assert all(hashes.keys() == LANGUAGES.keys() for hashes in HASHES.values())


@pytest.mark.parametrize("version", sorted(HASHES))
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_consent_text_is_what_it_was(shared_app: Flask, version: str, language: str) -> None:
    with shared_app.test_request_context():
        assert digest(version, language) == HASHES[version][language]
