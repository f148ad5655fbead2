"""The main job in a real browser, against the real platform: spoken, with video, with a reload in the middle."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from . import mouth
from .conftest import PASSWORD, Installation, assert_accessible, wait_until

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("platform-talks")]

ANSWER = (
    "I have worked in a small team for three years and I like to help people every day "
    "and I want to learn new things and I think that this is a good place for me."
)
QUESTIONS = ["Why would you like to work with us?", "What do you want to learn here?"]
LONGEST = 240.0


def book(installation: Installation, **flow: Any) -> tuple[str, str]:
    script = {
        "org_name": "Example Freight",
        "title": "Team lead, warehouse",
        "questions": QUESTIONS,
        "intro": "Welcome.",
        "outro": "Thank you, that was all.",
        "interview_type": "recruitment",
        "language": "en-US",
    }
    made = installation.api("POST", "/interview-flows", json={**script, "team_id": installation.team_id, **flow})
    person = {"interviewee_email_address": "ada@applicants.example", "interviewee_first_name": "Ada"}
    booked = installation.api("POST", "/interviews", json={"interview_flow_id": made["interview_flow_id"], **person})
    return booked["interview_id"], booked["interview_link"]


def result(installation: Installation, interview_id: str) -> dict[str, Any]:
    listed = installation.api("GET", "/interviews", params={"transcript": "full", "limit": 100})
    return next(dict(one) for one in listed["interviews"] if one["interview_id"] == interview_id)


def progress(page: Any) -> str:
    return str(page.text_content("[data-text=progress]"))


def reach(page: Any, holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < deadline, f"{what}: {page.inner_text('body')[:800]}"
        page.wait_for_timeout(100)


def test_a_spoken_interview_with_video_and_a_reload_in_the_middle(
    installation: Installation, strict_chromium: Any, watch: Any
) -> None:
    interview_id, link = book(installation, is_video_enabled=True)
    page = watch(strict_chromium.new_page(viewport={"width": 360, "height": 740}))
    page.add_init_script(mouth.script({"answer": ANSWER}))
    page.goto(link)
    assert_accessible(page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    reach(page, lambda: page.is_enabled("[data-do=start]"), "the microphone check")
    page.click("[data-do=start]")
    reach(page, lambda: progress(page) == "Question 2 of 2", "the second question")
    page.reload()
    assert_accessible(page)
    page.click("[data-do=resume]")
    reach(page, lambda: progress(page) == "Question 2 of 2", "the same question after the reload")
    reach(page, lambda: page.locator("h1", has_text="Thank you").count() == 1, "the thank-you")
    assert_accessible(page)
    wait_until(lambda: has_video(result(installation, interview_id)), seconds=LONGEST, what="the video")
    check_result(result(installation, interview_id))
    page.goto(link)  # the link has done its work, and this browser may look at the end again
    assert page.locator("h1", has_text="Thank you").count() == 1


def has_video(found: dict[str, Any]) -> bool:
    return bool((found["interview_data"] or {}).get("video_url"))


def check_result(found: dict[str, Any]) -> None:
    data = found["interview_data"]
    assert found["status"] == "completed"
    segments = data["transcript_with_timestamp"]
    assert (segments[0]["role"], segments[0]["content"]) == ("agent", "Welcome.")
    for question in QUESTIONS:
        assert any(line["content"] == question for line in segments)
    spoken_words = [word for line in segments if line["role"] == "user" for word in line["words"]]
    known = set(re.findall(r"[a-z]+", ANSWER.lower()))
    heard = [word for word in spoken_words if word["word"].lower() in known]
    # The answer has 34 words and is given twice; embedded recognition of synthetic speech gets 60 to 88 % of them.
    assert len(heard) >= 34, f"{len(heard)} of 68 words: {[word['word'] for word in spoken_words]}"
    for line in segments:
        starts = [word["start"] for word in line["words"]]
        assert starts == sorted(starts), line
        assert all(0 <= word["start"] <= word["end"] for word in line["words"]), line
    for name, kind in (("video_url", "video/"), ("audio_url", "audio/")):
        answer = requests.get(data[name], timeout=30)
        assert answer.headers["Content-Type"].startswith(kind)
        assert answer.content[4:8] == b"ftyp"


def test_the_platform_s_pages_are_accessible_at_both_widths(
    installation: Installation, chromium: Any, watch: Any
) -> None:
    book(installation)
    page = watch(chromium.new_context().new_page())
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{installation.url}/sign-in")
        assert_accessible(page)
    page.fill("input[type=email]", installation.email)
    page.fill("input[type=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector(".sidebar")
    for path in walk(page, installation.url):
        assert page.locator("h1").count() == 1, path
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert_accessible(page)
    page.context.close()


def walk(page: Any, url: str) -> Iterator[str]:
    """Open every kind of page that can be reached by links from the dashboard, one of each kind."""
    found, kinds = ["/dashboard"], {"/dashboard"}
    for path in found:
        assert page.goto(url + path).status == 200, path
        for link in page.eval_on_selector_all(
            "nav a, main a", "links => links.map((link) => link.getAttribute('href'))"
        ):
            kind = re.sub(r"[0-9a-f-]{36}|\b[a-z]{2}-[A-Z0-9]{2,3}\b", "*", (link or "").split("?")[0].split("#")[0])
            if (
                kind.startswith("/")
                and not kind.startswith(("/v1", "/recordings", "/interview/", "/flows/voices/"))
                and not kind.endswith(".csv")
                and kind not in kinds
            ):
                kinds.add(kind)
                found.append(link)
        yield path
    assert len(found) >= 8, found
