"""The candidate's own page in a real browser, on the real platform: from the thank-you to the proof of an erasure."""

import email
import email.policy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mail_outbox.smtp_server import Script, SmtpServer

from .conftest import Installation, assert_accessible, sign_in, wait_until
from .test_interview import book, result
from .wcag import hold

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("platform-talks")]

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
ANSWER = "I have worked in a small team for three years and I like to help people."


@pytest.fixture(scope="module")
def postbox() -> Iterator[tuple[Script, int]]:
    """A mail server, and its port."""
    with SmtpServer() as server:
        yield server.script, server.port


@pytest.fixture(scope="module")
def more_settings(postbox: tuple[Script, int]) -> dict[str, str]:
    """The installation sends mail."""
    return {
        "SMTP_HOST": "127.0.0.1",
        "SMTP_PORT": str(postbox[1]),
        "SMTP_SECURITY": "none",
        "SMTP_FROM": "Parley <parley@company.example>",
    }


@pytest.fixture
def files(installation: Installation) -> Callable[[str], list[str]]:
    """``files(interview_id)``: everything that the storage holds of it."""

    def listed(interview_id: str) -> list[str]:
        kept = installation.data / "files"
        return sorted(str(path) for path in kept.rglob("*") if path.is_file() and interview_id in str(path))

    return listed


def write(page: Any, link: str, *, document: bool = True) -> None:
    """Take the interview by text, with a document on the way."""
    page.goto(link)
    page.check("#consent")
    page.click("[data-do=next]")
    page.check("input[name=mode][value=text]")
    page.click("[data-do=start]")
    page.wait_for_selector("#answer:visible")
    if document:
        page.set_input_files("#document", files=[{"name": "cv.pdf", "mimeType": "application/pdf", "buffer": PDF}])
        page.locator(".documents li", has_text="cv.pdf").wait_for(state="attached")
    for number in (1, 2):
        page.locator("[data-text=progress]", has_text=f"{number} of 2").wait_for()
        page.fill("#answer", ANSWER)
        page.click("[data-do=send]")
    page.locator("h1", has_text="Thank you").wait_for(timeout=60_000)


def accessible(page: Any) -> None:
    """In both widths, without the further claims that are made for candidates."""
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert_accessible(page)


def open_requests(page: Any) -> int:
    """As the sidebar counts them; other candidates of the installation have theirs."""
    page.reload()
    found = page.locator("nav .count")
    return int(found.inner_text().split()[0]) if found.count() else 0


def test_from_the_thank_you_to_the_proof_of_erasure(
    installation: Installation,
    chromium: Any,
    signed_in: Callable[..., Any],
    watch: Callable[[Any], Any],
    files: Callable[[str], list[str]],
) -> None:
    recruiter = signed_in("/dashboard")
    before = open_requests(recruiter)
    interview_id, link = book(installation, is_doc_upload_enabled=True)
    page = watch(chromium.new_context().new_page())
    write(page, link)
    page.click(f"a[href$='{interview_id}/own']")
    hold(page)
    stranger = watch(chromium.new_context().new_page())
    assert stranger.goto(link + "/own").status == 403
    hold(stranger)
    assert ANSWER not in stranger.content()
    wait_until(lambda: result(installation, interview_id)["interview_data"], seconds=120, what="the result")
    page.reload()
    assert page.locator(".said-user", has_text=ANSWER).count() == 2
    page.locator(".said-user .flag-link").first.click()
    page.locator(".chips label", has_text="three").click()
    page.fill("#suggestion", "thirteen")
    hold(page)
    page.locator("button", has_text="Send the correction").click()
    assert "thirteen" in page.locator(".said-user").first.inner_text()
    page.locator("summary", has_text="Ask for a deletion").click()
    page.locator("#text-deletion").fill("Please erase it.")
    page.locator("button", has_text="Ask for a deletion").click()
    page.locator("#requests h3", has_text="Delete everything").wait_for()
    hold(page)
    with page.expect_download() as download:
        page.locator("button", has_text="Download everything").click()
    assert Path(download.value.path()).read_bytes()[:2] == b"PK"
    assert len(files(interview_id)) >= 1

    assert open_requests(recruiter) == before + 2
    recruiter.goto(f"{installation.url}/requests")
    accessible(recruiter)
    recruiter.locator("table a", has_text="Correction").click()
    recruiter.locator("mark.flagged", has_text="three").wait_for()
    accessible(recruiter)
    correction = recruiter.locator("li", has=recruiter.locator("h3", has_text="Correction"))
    correction.locator("select").select_option("granted")
    correction.locator("button", has_text="Send reply").click()
    recruiter.locator("ins", has_text="thirteen").wait_for()
    page.reload()
    assert page.locator(".said-user ins", has_text="thirteen").count() == 1
    recruiter.locator("[data-tabs] a", has_text="Data").click()
    recruiter.locator("summary", has_text="Legal hold, erasure and recordings").click()
    recruiter.locator("#erasure button", has_text="Erase this interview's data").click()
    recruiter.fill("#erase-confirm", "erase")
    recruiter.locator("button", has_text="Erase permanently").click()
    recruiter.locator("#erasure code").wait_for()  # the page opens where the proof is
    assert re.fullmatch(r"[0-9a-f]{64}", recruiter.locator("#erasure code").inner_text())
    accessible(recruiter)
    assert files(interview_id) == []
    page.reload()
    assert "was erased on" in page.locator("#status").inner_text()
    assert ANSWER not in page.content()
    hold(page)
    for one in (page, stranger):
        one.context.close()


def code_of(script: Script) -> str:
    """What the newest mail holds, once it has come."""
    wait_until(lambda: script.mails, seconds=60, what="the mail with the code")
    mail = email.message_from_bytes(script.mails[-1], policy=email.policy.default)
    assert mail["To"] == "ada@applicants.example"
    text = mail.get_body(("plain",))
    assert text is not None
    return re.findall(r"\b\d{8}\b", str(text.get_content()))[0]


def test_with_a_code_by_mail_consent_is_withdrawn_and_a_person_asked(
    installation: Installation, chromium: Any, watch: Callable[[Any], Any], postbox: tuple[Script, int]
) -> None:
    interview_id, link = book(installation)
    first = watch(chromium.new_context().new_page())
    write(first, link, document=False)
    first.context.close()
    wait_until(lambda: result(installation, interview_id)["interview_data"], seconds=120, what="the result")
    page = watch(chromium.new_context().new_page())
    page.goto(link + "/own")
    page.fill("#address", "ada@applicants.example")
    page.keyboard.press("Enter")
    page.wait_for_selector("#code")
    accessible(page)
    page.fill("#code", "00000000")
    page.keyboard.press("Enter")
    page.wait_for_selector("#code-error")
    accessible(page)
    page.fill("#code", code_of(postbox[0]))
    page.keyboard.press("Enter")
    page.wait_for_selector("#status")
    assert page.context.cookies()[0]["httpOnly"]
    page.locator("summary", has_text="Ask for a review by a person").click()
    page.locator("button", has_text="Ask for a review").click()
    page.locator("#requests h3", has_text="Review by a person").wait_for()
    page.locator("summary", has_text="Withdraw your consent").click()
    page.locator("button", has_text="Withdraw my consent").click()
    page.locator("#status", has_text="You withdrew your consent").wait_for()
    accessible(page)
    assert page.locator("#requests", has_text="You will have an answer by").count() == 1

    recruiter = watch(chromium.new_context().new_page())
    sign_in(recruiter, installation)
    recruiter.goto(f"{installation.url}/requests")
    kinds = recruiter.locator(f"table a[href*='{interview_id}']").all_inner_texts()
    assert kinds == ["Withdrawal of consent", "Human review"], "what is due sooner stands first"
    assert all(re.search(r"\d{4}", due) for due in recruiter.locator("td[data-label='Reply by']").all_inner_texts())
    recruiter.locator("table a", has_text="Human review").first.click()
    accessible(recruiter)
    data = result(installation, interview_id)["interview_data"]
    assert (data["summary"], data["scores"], data["audio_url"]) == (None, None, None)
    page.context.close()
    recruiter.context.close()
