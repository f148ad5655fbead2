"""What a flow's owner tries before anybody is invited, and what documents do, on the real platform."""

import io
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from . import mouth
from .conftest import Installation, assert_accessible, sign_in, wait_until
from .test_interview import ANSWER, book, progress, reach

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("platform-talks")]

PART = 256 * 1024
SPARE = {"member_session", "audit_entry"}
"""Of these a preview may not add any either, but looking at recruiters' pages does."""


@pytest.fixture
def owner(signed_in: Callable[..., Any]) -> Any:
    """A page of a signed-in member."""
    return signed_in("/dashboard", viewport={"width": 1280, "height": 800})


def stored(installation: Installation) -> tuple[dict[str, int], list[str]]:
    """Rows of every table, and the files, without those of signing in and looking."""
    path = next(installation.data.rglob("*.db"))
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        names = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        counts = {name: database.execute(f'select count(*) from "{name}"').fetchone()[0] for name in names}
    files = sorted(str(one) for one in (installation.data / "files").rglob("*") if one.is_file())
    return {name: count for name, count in counts.items() if name not in SPARE}, files


def prepared(installation: Installation) -> None:
    """Every flow's speech is made and every audit log checked, so that nothing else writes meanwhile."""
    path = next(installation.data.rglob("*.db"))

    def ready() -> bool:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            states = {row[0] for row in database.execute("select distinct lower(speech_state) from interview_flow")}
            unchecked = "select count(*) from organization where id not in (select organization_id from audit_check)"
            left = database.execute(unchecked).fetchone()[0]
        return not left and states <= {"ready", "failed", "unneeded", "none"}

    wait_until(ready, seconds=120, what="the agent's voice is recorded, the audit log is checked")


def open_preview(page: Any, installation: Installation) -> None:
    page.goto(f"{installation.url}/flows")
    page.locator("main table a, main .rows a").first.click()
    page.locator("a", has_text="Try it yourself").click()
    page.locator(".preview-note", has_text="nothing is stored").wait_for()


def test_a_spoken_preview_with_a_reload_leaves_nothing(
    installation: Installation, strict_chromium: Any, watch: Any
) -> None:
    book(installation, is_doc_upload_enabled=True, redirect_url="https://customer.example/thanks")
    prepared(installation)
    page = watch(strict_chromium.new_page(viewport={"width": 1280, "height": 800}))
    page.add_init_script(mouth.script({"answer": ANSWER}))
    sign_in(page, installation)
    before = stored(installation)
    open_preview(page, installation)
    assert_accessible(page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    reach(page, lambda: page.is_enabled("[data-do=start]"), "the microphone check")
    page.click("[data-do=start]")
    reach(page, lambda: progress(page) == "Question 2 of 2", "the second question")
    page.goto(installation.url + str(page.get_attribute("[data-interview]", "data-base")))
    page.click("[data-do=resume]")
    reach(page, lambda: progress(page) == "Question 2 of 2", "the same question after the reload")
    reach(page, lambda: page.locator("h1", has_text="Thank you").count() == 1, "the thank-you")
    assert page.get_attribute("a.button-primary", "href") == "https://customer.example/thanks"
    assert_accessible(page)
    assert stored(installation) == before


def test_a_written_preview_on_a_phone_shows_every_page(installation: Installation, owner: Any) -> None:
    book(installation, is_doc_upload_enabled=True)
    prepared(installation)
    owner.set_viewport_size({"width": 360, "height": 740})
    before = stored(installation)
    open_preview(owner, installation)
    assert_accessible(owner)
    owner.click("button[form=decline]")
    owner.locator("h1", has_text="That is fine").wait_for()
    assert_accessible(owner)
    owner.locator("a", has_text="Back to the invitation").click()
    owner.check("#consent")
    owner.click("[data-do=next]")
    owner.check("input[name=mode][value=text]")
    owner.click("[data-do=start]")
    owner.wait_for_selector("#answer:visible")
    assert_accessible(owner)
    owner.set_input_files("#document", files=[{"name": "cv.txt", "mimeType": "text/plain", "buffer": b"I lead"}])
    owner.locator(".documents li[data-document]", has_text="cv.txt").wait_for(state="attached")
    for number in (1, 2):
        owner.locator("[data-text=progress]", has_text=f"{number} of 2").wait_for()
        owner.fill("#answer", "I have worked in a small team for three years and I like to help people.")
        owner.click("[data-do=send]")
    owner.locator("h1", has_text="Thank you").wait_for(timeout=60_000)
    owner.locator("main p", has_text="1 document").wait_for()
    owner.check("input[name=rating][value='5']", force=True)
    owner.locator("#feedback button").click()
    owner.locator("[role=status]", has_text="this has arrived").wait_for()
    assert_accessible(owner)
    owner.locator("a", has_text="Back to the flow").click()
    owner.locator("h1", has_text="Team lead, warehouse").wait_for()
    assert stored(installation) == before


def test_every_voice_can_be_heard_while_a_flow_is_edited(installation: Installation, owner: Any) -> None:
    owner.goto(f"{installation.url}/flows/new")
    with owner.expect_response("**/flows/voices/**") as heard:
        owner.locator("[data-voice]").first.click()
    assert heard.value.status == 200
    assert heard.value.headers["content-type"].startswith("audio/")
    assert len(heard.value.body()) > 20_000
    owner.locator("[data-voice][aria-pressed=true], [data-voice].is-playing, [data-playing]").first.wait_for()
    assert owner.url.endswith("/flows/new")  # it plays on the page
    assert_accessible(owner)


# --- documents ----------------------------------------------------------------------------------------------------


def begin_in_writing(page: Any, link: str) -> None:
    page.goto(link)
    page.check("#consent")
    page.click("[data-do=next]")
    page.check("input[name=mode][value=text]")
    page.click("[data-do=start]")
    page.wait_for_selector("#answer:visible")
    page.locator("[data-part=documents] summary").click()


def one(name: str, content: bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def test_a_broken_upload_goes_on_where_it_stopped_and_its_text_reaches_the_recruiter(
    installation: Installation, owner: Any, chromium: Any, watch: Any
) -> None:
    interview_id, link = book(installation, is_doc_upload_enabled=True)
    page = watch(chromium.new_context().new_page())
    begin_in_writing(page, link)
    text = b"Seven years of warehouse work in Rotterdam.\n" + b"and so on\n" * 150_000
    sent: list[int] = []
    page.on("request", lambda call: sent.append(int(call.url.rsplit("/", 1)[1])) if "/parts/" in call.url else None)
    page.route("**/parts/3", lambda route: route.abort())
    page.set_input_files("#document", files=[one("cv.txt", text)])
    reach(page, lambda: 3 in sent, "the part that breaks")
    assert float(page.eval_on_selector(".documents progress", "bar => bar.value")) >= 0.5
    page.reload()
    page.click("[data-do=resume-text]")
    page.locator("[data-part=documents] summary").click()
    page.locator(".documents li", has_text="cv.txt").wait_for()
    page.unroute("**/parts/3")  # the page before would have tried again by itself, and gone on
    sent.clear()
    page.set_input_files("#document", files=[one("cv.txt", text)])
    page.locator(".documents li[data-document]", has_text="cv.txt").wait_for()
    assert sent == list(range(3, -(-len(text) // PART)))
    page.set_input_files("#document", files=[one("wrong.txt", b"the wrong file")])
    wrong = page.locator(".documents li[data-document]", has_text="wrong.txt")
    wrong.wait_for()
    wrong.locator("button").click()
    wrong.wait_for(state="detached")
    assert_accessible(page)
    owner.goto(f"{installation.url}/interviews/{interview_id}#files")
    assert owner.locator("main", has_text="wrong.txt").count() == 0
    read = owner.locator("a[href$='/text']")
    wait_until(lambda: owner.reload() and read.count() == 1, seconds=60, what="the text has been read")
    read.click()
    owner.locator(".document-text", has_text="Seven years of warehouse work in Rotterdam.").wait_for()
    assert_accessible(owner)
    page.context.close()


def test_hostile_files_are_refused_in_words(installation: Installation, chromium: Any, watch: Any) -> None:
    _, link = book(installation, is_doc_upload_enabled=True)
    page = watch(chromium.new_context(viewport={"width": 360, "height": 740}).new_page())
    begin_in_writing(page, link)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(60_000_000))
    refused = {
        "cv.pdf": (b"MZ\x90\0" + bytes(5000), "This type of file is not accepted"),  # a program
        "cv.docx": (packed.getvalue(), "Save it as a PDF"),  # 60 MB
        "page.html": (b"<!doctype html><script>alert(1)</script>", "This type of file is not accepted"),
    }
    for name, (content, words) in refused.items():
        with page.expect_response("**/finish") as answer:
            page.set_input_files("#document", files=[one(name, content)])
        assert answer.value.status == 422
        page.locator("[data-text=document]", has_text=words).wait_for()
        page.locator(".documents li").wait_for(state="detached")
    page.set_input_files("#document", files=[one("huge.txt", b"a" * (10 * 1024 * 1024 + 1))])
    page.locator("[data-text=document]", has_text="huge.txt").wait_for()
    assert page.locator(".documents li").count() == 0
    assert_accessible(page)
    page.set_input_files("#document", files=[one("good.txt", b"A good one")])
    page.locator(".documents li[data-document]", has_text="good.txt").wait_for()
    page.context.close()
