"""The candidate's pages in every language: whole, in step with their sources, right to left where it belongs."""

import functools
import html
import io
import json
import re
import tomllib
from gettext import GNUTranslations
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from flask import Flask

from app.conversation.pages.accessibility import CLAIMS
from app.gateways.speech import catalogue as speech
from app.interviews.documents.file_types import KINDS
from app.web.languages import COOKIE, LANGUAGES, LOCALES
from tests.factories import Made
from tests.people import Browser

from .conftest import Candidates, path_of

pytestmark = pytest.mark.xdist_group("languages")
ROOT = Path(__file__).resolve().parents[2]
OTHERS = sorted(set(LANGUAGES) - {"en-US"})
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}|</?\w+>")
NUMBER = {"%(num)s"}


def catalogue(tag: str) -> Catalog:
    path = ROOT / "app" / "web" / "translations" / LOCALES[tag] / "LC_MESSAGES" / "messages.po"
    with path.open("rb") as source:
        return read_po(source, locale=LOCALES[tag])


@functools.cache
def extracted() -> set[str | tuple[str, ...]]:
    """What is said to candidates anywhere; read once, for it reads every source."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["babel"]["mappings"]
    methods = [(one["pattern"], one["method"]) for one in declared]
    keywords = {**DEFAULT_KEYWORDS, "lazy_gettext": None, "sentence": None}
    found: set[str | tuple[str, ...]] = set()
    for folder in ("app", "templates"):
        of_folder = [
            (str(Path(pattern).relative_to(folder)), method)
            for pattern, method in methods
            if pattern.startswith(f"{folder}/")
        ]
        found |= {message for _, _, message, *_ in extract_from_dir(ROOT / folder, of_folder, keywords=keywords)}
    return found


def texts(value: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def shown(page: str) -> str:
    """What a page says, without its escapes, and the sentences that its script may say, which it carries as JSON."""
    words = re.search(r'data-words="([^"]*)"', page)
    said = json.loads(html.unescape(words.group(1))).values() if words else ()
    return html.unescape(page) + "".join(f"\n>{text}<" for text in said)


def test_there_is_a_catalogue_for_every_language_of_the_interface() -> None:
    assert set(LANGUAGES) == set(speech.LANGUAGES)
    folders = {path.name for path in (ROOT / "app" / "web" / "translations").iterdir() if path.is_dir()}
    assert folders == {LOCALES[tag] for tag in OTHERS}


@pytest.mark.parametrize("tag", OTHERS)
def test_every_sentence_is_translated_and_none_is_left_over(tag: str) -> None:
    sources = extracted()
    assert len(sources) > 140
    messages = {message.id: message for message in catalogue(tag) if message.id}
    assert set(messages) == sources, "extract and update the catalogues: docs/adding.md has the commands"
    for source, message in messages.items():
        assert not message.fuzzy, source
        assert all(text.strip() for text in texts(message.string)), source


@pytest.mark.parametrize("tag", OTHERS)
def test_translations_keep_their_placeholders_and_marks(tag: str) -> None:
    for message in catalogue(tag):
        if not message.id:
            continue
        wanted = set(PLACEHOLDER.findall(texts(message.id)[-1]))
        for text in texts(message.string):
            left_out = wanted - set(PLACEHOLDER.findall(text))
            assert set(PLACEHOLDER.findall(text)) <= wanted, text
            assert not left_out or (message.pluralizable and left_out == NUMBER), text


@pytest.mark.parametrize("tag", OTHERS)
def test_the_compiled_catalogue_is_that_of_the_source(tag: str) -> None:
    kept = io.BytesIO()
    write_mo(kept, catalogue(tag))
    kept.seek(0)
    path = ROOT / "app" / "web" / "translations" / LOCALES[tag] / "LC_MESSAGES" / "messages.mo"
    with path.open("rb") as compiled:
        there, wanted = GNUTranslations(compiled)._catalog, GNUTranslations(kept)._catalog
    assert len(wanted) > 140
    assert {**there, "": ""} == {**wanted, "": ""}, "pybabel compile -d app/web/translations"


@pytest.mark.parametrize("tag", sorted(LANGUAGES))
def test_the_invitation_speaks_the_flows_language(client: Browser, scripted: Flask, book: Made, tag: str) -> None:
    interview = book(language=tag, is_doc_upload_enabled=True, is_video_enabled=True)
    page = shown(client.get(path_of(interview)).get_data(as_text=True))
    assert f'<html lang="{tag}" dir="{"rtl" if tag == "ar-AE" else "ltr"}">' in page
    assert f'<option value="{tag}" lang="{tag}" selected>{LANGUAGES[tag]}</option>' in page
    assert f'name="locale" value="{tag}"' in page
    if tag == "en-US":
        assert "Start the interview" in page
        return
    known = {message.id: message.string for message in catalogue(tag) if isinstance(message.id, str)}
    assert str(known["Start the interview"]) in page
    assert str(known["Everything has arrived."]) in page
    sentences = [source for source, text in known.items() if " " in source and source != text]
    assert [source for source in sentences if f">{source}<" in page or f'"{source}"' in page] == []


@pytest.mark.parametrize("tag", sorted(LANGUAGES))
def test_an_interview_in_writing_works_in_every_language(candidates: Candidates, book: Made, tag: str) -> None:
    candidate = candidates(book(language=tag, is_doc_upload_enabled=False))
    candidate.open()
    candidate.start("text")
    candidate.write(["42", "7"])
    page = shown(candidate.open())
    thanks = "Thank you" if tag == "en-US" else str(catalogue(tag)["Thank you"].string)
    assert f"<h1>{thanks}</h1>" in page
    assert f'<html lang="{tag}"' in page


def test_a_language_without_voice_or_recognition_says_so_before_the_talk(
    client: Browser, scripted: Flask, book: Made
) -> None:
    page = shown(client.get(path_of(book(language="th-TH"))).get_data(as_text=True))
    thai = catalogue("th-TH")
    for source in (
        "The questions are shown, not spoken, in this language.",
        "Read the questions and type your answers. Counts just the same.",
    ):
        assert str(thai[source].string) in page
    assert any(str(m.string) in page for m in thai if str(m.id).startswith("This service cannot yet"))


def test_the_switch_holds_for_these_pages_alone(client: Browser, scripted: Flask, book: Made) -> None:
    link = path_of(book(language="fr-FR"))
    answer = client.get(link + "?lang=de-DE")
    assert '<html lang="de-DE"' in answer.get_data(as_text=True)
    cookie = next(line for line in answer.headers.getlist("Set-Cookie") if line.startswith(COOKIE))
    assert "Path=/interview/api" in cookie
    assert "HttpOnly" in cookie
    assert "Interview beginnen" in client.get(link).get_data(as_text=True)
    refused = client.post(link + "/start", data={"mode": "voice", "locale": "de-DE"})
    assert refused.status_code == 422
    assert "Bitte stimmen Sie zu" in refused.get_data(as_text=True)
    elsewhere = client.get("/sign-in").get_data(as_text=True)
    assert '<html lang="en"' in elsewhere
    assert 'name="lang"' not in elsewhere


def test_the_switch_is_a_form_that_keeps_the_rest_of_the_address(client: Browser, scripted: Flask, book: Made) -> None:
    page = client.get(path_of(book()) + '?lang=ja-JP&assignedRecruiterId="><b>').get_data(as_text=True)
    form = page.split('<form class="language"')[1].split("</form>")[0]
    assert 'method="get"' in form
    assert '<input type="hidden" name="assignedRecruiterId" value="&#34;&gt;&lt;b&gt;">' in form
    assert form.count("<option") == len(LANGUAGES)
    assert 'type="submit"' in form


@pytest.mark.parametrize("asked", ["", "xx-XX", "de", "../de_DE", "%00", "x" * 3000, '"><script>'])
def test_an_unknown_language_falls_back_and_is_not_remembered(
    client: Browser, scripted: Flask, book: Made, asked: str
) -> None:
    answer = client.get(path_of(book(language="de-DE")), query_string={"lang": asked})
    assert answer.status_code == 200
    assert '<html lang="de-DE"' in answer.get_data(as_text=True)
    assert not [line for line in answer.headers.getlist("Set-Cookie") if line.startswith(COOKIE)]


def test_a_link_that_nobody_knows_is_answered_in_the_browsers_language(client: Browser, scripted: Flask) -> None:
    page = client.get("/interview/api/a/b", headers={"Accept-Language": "sv, ar;q=0.8, en;q=0.5"})
    assert page.status_code == 404
    assert '<html lang="ar-AE" dir="rtl"' in page.get_data(as_text=True)
    plain = client.get("/interview/api/a/b").get_data(as_text=True)
    assert "We do not know this link" in plain


def test_a_refusal_is_said_in_the_language_of_the_page(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book(language="fr-FR", is_doc_upload_enabled=True))
    candidate.open()
    candidate.start("text")
    refused = candidate.ask("POST", "/documents", files={"file": ("cv.pdf", b"MZ\x90")})
    assert refused.status_code == 422
    french = catalogue("fr-FR")["This type of file is not accepted. You can add: %(kinds)s."].string
    assert refused.json()["message"] == french % {"kinds": KINDS}
    assert refused.json()["field"] == "file"
    candidate.ask("GET", "?lang=ko-KR")
    empty = candidate.ask("POST", "/documents", files={"file": ("cv.pdf", b"")}).json()
    assert empty["message"] == catalogue("ko-KR")["The file is empty."].string


@pytest.mark.parametrize("tag", OTHERS)
def test_what_only_a_script_can_have_done_is_told_people_in_general(
    candidates: Candidates, book: Made, tag: str
) -> None:
    candidate = candidates(book(language=tag))
    candidate.open()
    candidate.start("text")
    refused = candidate.ask("POST", "/turns/1", json={"kind": "begin", "colour": "red"}).json()
    general = catalogue(tag)["This could not be accepted. What you said is saved. Please try again."].string
    assert (refused["message"], refused["detail"]) == (general, "colour: Unknown field.")
    broken = candidate.ask("POST", "/turns/1", data=b"{", headers={"Content-Type": "application/json"})
    assert broken.status_code == 400
    assert broken.json()["message"] == general
    other = candidates(book(language=tag)).ask("GET", "/state")
    assert other.status_code == 403
    words = "This interview is not open in this browser. Open its link and press Start."
    assert other.json()["message"] == catalogue(tag)[words].string


def test_in_english_a_script_reads_its_mistake_at_once(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book())
    candidate.start("text")
    refused = candidate.ask("POST", "/turns/1", json={"kind": "begin", "colour": "red"}).json()
    assert refused["message"] == "colour: Unknown field."
    assert "detail" not in refused


def test_dates_are_written_as_the_language_writes_them(client: Browser, scripted: Flask, book: Made) -> None:
    link = path_of(book(language="ja-JP"))
    assert re.search(r"\d{4}年\d{1,2}月\d{1,2}日まで開始できます", client.get(link).get_data(as_text=True))
    german = client.get(link + "?lang=de-DE").get_data(as_text=True)
    assert re.search(r"bis zum \d{1,2}\. [A-Z][a-zä]+ \d{4} beginnen", german)


@pytest.mark.parametrize("tag", sorted(LANGUAGES))
def test_the_accessibility_statement_names_every_claim_in_every_language(client: Browser, tag: str) -> None:
    answer = client.get(f"/interview/api/accessibility?lang={tag}")
    page = html.unescape(answer.get_data(as_text=True))
    assert f'<html lang="{tag}"' in page
    for claim in CLAIMS:
        source = claim.sentence._args[0]
        assert (source if tag == "en-US" else str(catalogue(tag)[source].string)) in page
        assert all(criterion in page for criterion in claim.criteria)


def test_every_candidates_page_leads_to_the_statement(client: Browser, scripted: Flask, book: Made) -> None:
    for path in (path_of(book(language="fr-FR")), "/interview/api/a/b"):
        page = client.get(path).get_data(as_text=True)
        href = re.search(r'href="(/interview/api/accessibility\?lang=[\w-]+)"', page)
        assert href is not None
        assert client.get(href.group(1)).status_code == 200


CONSENT = ("speaks with you.</strong>", "Who sees it:", "Who will see it:", "Who decides:")
"""The texts that candidates have agreed to stay as they are."""


def test_no_french_sentence_puts_a_word_that_would_be_elided_before_a_name() -> None:
    """Names that begin with a vowel would need d', qu' or l': "de Example" is wrong, and so is "d'Willow"."""
    sentences = [
        text
        for message in catalogue("fr-FR")
        if message.id and not any(part in str(message.id) for part in CONSENT)
        for text in texts(message.string)
    ]
    wrong = [
        text for text in sentences if re.search(r"\b(de|que|le|la|du|jusque|lorsque) %\(org\)s", text, re.IGNORECASE)
    ]
    assert wrong == []
