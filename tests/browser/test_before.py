"""Before the talk: the checks with every common failure, practice that never leaves the page, and the ways out."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import CHROMIUM, assert_accessible, write_wav
from .fake_server import BASE, Running
from .test_candidate_page import WIDTHS, until

GRANTED = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"]
ASKED = [
    {"id": "1", "kind": "accommodation", "choice": "more_time", "state": "granted", "answer": None},
    {"id": "2", "kind": "accommodation", "choice": "person", "state": "open", "answer": None},
    {"id": "3", "kind": "accommodation", "choice": "other", "state": "declined", "answer": "We <are> sorry."},
]


@pytest.fixture
def browser_with(playwright: Any) -> Iterator[Callable[..., Any]]:
    """``browser_with(*flags)``: Chromium as it comes, with no permission and no device unless the flags say so."""
    opened = []

    def launch(*flags: str) -> Any:
        opened.append(playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *flags]))
        return opened[-1]

    yield launch
    for browser in opened:
        browser.close()


@pytest.fixture
def page(chromium: Any, watch: Callable[[Any], Any]) -> Iterator[Any]:
    context = chromium.new_context(viewport=WIDTHS["phone"])
    yield watch(context.new_page())
    context.close()


def check_now(page: Any, server: Running) -> None:
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")


def says(page: Any, name: str, words: str, *, seconds: float = 20) -> None:
    until(page, f"document.querySelector('[data-text={name}]').textContent.includes({words!r})", seconds=seconds)


def stays_shut(page: Any, server: Running) -> None:
    """No microphone, no first question; but writing is one press away."""
    assert page.is_disabled("[data-do=start]")
    assert page.is_hidden("[data-part=practice]")
    assert_accessible(page)
    page.check("input[value=text]")
    assert page.is_enabled("[data-do=start]")
    assert server.story.started is None


# --- the microphone ------------------------------------------------------------------------------------------------


def test_a_blocked_microphone_says_where_to_allow_it(browser_with: Any, server: Running) -> None:
    page = browser_with("--use-fake-device-for-media-stream", "--deny-permission-prompts").new_page()
    check_now(page, server)
    says(page, "check", "Click the icon next to the address")
    assert page.get_attribute("[data-check=microphone]", "data-state") == "bad"
    stays_shut(page, server)


def test_a_computer_without_a_microphone_is_told_so(browser_with: Any, server: Running) -> None:
    page = browser_with("--use-fake-ui-for-media-stream").new_page()
    check_now(page, server)
    says(page, "check", "No microphone was found.")
    stays_shut(page, server)


@pytest.mark.parametrize(
    ("name", "alone", "words"),
    [
        ("NotReadableError", "works", "Another program is using the camera."),
        ("NotReadableError", "fails", "Another program is using the microphone."),
        ("NotFoundError", "works", "No camera was found."),
        ("NotFoundError", "fails", "No microphone was found."),
    ],
)
def test_the_device_that_fails_is_the_one_that_is_named(
    page: Any, server: Running, name: str, alone: str, words: str
) -> None:
    page.add_init_script(f"""
        const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
        navigator.mediaDevices.getUserMedia = async (wanted) => {{
          if (wanted.video || "{alone}" === "fails") throw new DOMException("as told", "{name}");
          return real(wanted);
        }};
    """)
    server.story.flow["is_video_enabled"] = True
    check_now(page, server)
    says(page, "check", words)
    stays_shut(page, server)


@pytest.mark.parametrize(
    ("message", "state", "words"),
    [
        ("Permission denied by system", "granted", "privacy settings of the device"),
        ("Permission dismissed", "prompt", "choose “Allow”"),
        ("Permission denied", "denied", "Click the icon next to the address"),
    ],
)
def test_each_kind_of_refusal_has_its_own_way_out(
    page: Any, server: Running, message: str, state: str, words: str
) -> None:
    page.add_init_script(f"""
        navigator.permissions.query = async () => ({{ state: "{state}" }});
        navigator.mediaDevices.getUserMedia = async () => {{ throw new DOMException("{message}", "NotAllowedError"); }};
    """)
    check_now(page, server)
    says(page, "check", words)
    stays_shut(page, server)


def test_an_insecure_address_is_named_and_writing_works_there(browser_with: Any, server: Running) -> None:
    page = browser_with(*GRANTED, "--host-resolver-rules=MAP parley.test 127.0.0.1").new_page()
    page.goto(server.page.replace("127.0.0.1", "parley.test"))
    assert page.evaluate("window.isSecureContext") is False
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    says(page, "check", "only on secure pages (https)")
    stays_shut(page, server)
    page.click("[data-do=start]")
    page.wait_for_selector("#answer:visible")


def test_a_browser_inside_of_another_app_is_sent_to_a_real_one(page: Any, server: Running) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'mediaDevices', { value: undefined });")
    check_now(page, server)
    says(page, "check-browser", "Chrome, Edge, Firefox or Safari")
    stays_shut(page, server)


@pytest.mark.parametrize(("level", "words"), [(0, "Is it muted by a switch"), (6, "We cannot hear you yet")])
def test_a_silent_microphone_never_reaches_the_first_question(
    with_microphone: Any, server: Running, watch: Any, tmp_path: Path, level: float, words: str
) -> None:
    silence = np.random.default_rng(1).normal(0, level, 16000 * 3) if level else np.zeros(16000 * 3)
    page = watch(with_microphone(write_wav(tmp_path / "silence.wav", silence, rate=16000)).new_page())
    check_now(page, server)
    says(page, "check", words, seconds=30)
    assert page.inner_text("[data-text=start]").startswith("Say something")
    stays_shut(page, server)


def test_a_reload_is_no_way_round_the_check(with_microphone: Any, server: Running, watch: Any, tmp_path: Path) -> None:
    path = write_wav(tmp_path / "silence.wav", np.zeros(16000 * 3), rate=16000)
    page = watch(with_microphone(path).new_page())
    server.story.view, server.story.mode = "live", "voice"  # started, but nothing was asked yet
    page.goto(server.page)
    page.click("[data-do=resume]")
    says(page, "check", "Is it muted by a switch", seconds=30)
    assert page.is_hidden("[data-part=talk]")
    assert server.story.turns == []
    assert_accessible(page)
    page.click("[data-do=resume-text]")
    page.wait_for_selector("#answer:visible")


def test_another_microphone_has_to_prove_itself_anew(page: Any, server: Running) -> None:
    check_now(page, server)
    until(page, "!document.querySelector('[data-do=start]').disabled")
    until(page, "document.querySelectorAll('#microphone option').length >= 2")
    page.select_option("#microphone", index=1)
    until(page, "document.querySelector('[data-text=check]').textContent === 'We can hear you.'")
    until(page, "!document.querySelector('[data-do=start]').disabled")


def test_a_microphone_that_is_pulled_out_shuts_the_start_again(page: Any, server: Running) -> None:
    page.add_init_script("""
        const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
        navigator.mediaDevices.getUserMedia = async (wanted) => (window.held = await real(wanted));
    """)
    check_now(page, server)
    until(page, "!document.querySelector('[data-do=start]').disabled")
    page.evaluate("() => { window.held.getAudioTracks()[0].dispatchEvent(new Event('ended')); }")
    says(page, "check", "was disconnected")
    stays_shut(page, server)


# --- camera, loudspeaker, network ----------------------------------------------------------------------------------


def test_the_camera_is_seen_and_chosen_where_the_flow_records_it(page: Any, server: Running) -> None:
    server.story.flow["is_video_enabled"] = True
    check_now(page, server)
    until(page, "document.querySelector('[data-part=preview]')?.videoWidth > 0")
    until(page, "document.querySelectorAll('#camera option').length >= 1")
    assert_accessible(page)


def test_the_loudspeaker_is_asked_about(page: Any, server: Running) -> None:
    check_now(page, server)
    until(page, "!document.querySelector('[data-do=sound]').disabled")
    page.click("[data-do=sound]")
    says(page, "check-speaker", "Did you hear two tones?")
    page.click("[data-do=not-heard]")
    says(page, "check-speaker", "Turn the volume up")
    page.click("[data-do=heard-it]")
    assert page.get_attribute("[data-check=speaker]", "data-state") == "good"
    assert_accessible(page)


def test_the_network_is_measured_against_our_own_server(page: Any, server: Running) -> None:
    check_now(page, server)
    says(page, "check-network", "Your connection is")
    assert server.story.uploads == [16 * 1024, 128 * 1024]


def thin(page: Any, *, kilobits: int) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    rates = {"downloadThroughput": kilobits * 500, "uploadThroughput": kilobits * 125}
    session.send("Network.emulateNetworkConditions", {"offline": False, "latency": 50, **rates})


def test_a_line_that_carries_speech_but_no_picture_is_said_and_the_camera_can_be_left_off(
    page: Any, server: Running
) -> None:
    server.story.flow["is_video_enabled"] = True
    page.goto(server.page)
    thin(page, kilobits=400)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    says(page, "check-network", "enough for speaking, but not for video")
    assert page.get_attribute("[data-check=network]", "data-state") == "warn"
    assert_accessible(page)
    page.click("[data-do=camera-off]")
    says(page, "check-network", "Your connection is fast enough")
    until(page, "!document.querySelector('[data-do=start]').disabled")
    assert not page.is_visible("[data-part=preview]")
    page.click("[data-do=start]")
    # An imitated microphone beeps, which may be taken for the beginning of an answer.
    until(page, "['listening', 'answering'].includes(document.querySelector('[data-part=talk]').dataset.phase)")
    assert server.story.kinds == ["audio/webm"]


def test_on_a_thin_line_little_is_sent_to_measure_it_and_writing_is_offered(page: Any, server: Running) -> None:
    page.goto(server.page)
    thin(page, kilobits=64)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    says(page, "check-network", "Your connection is slow")
    assert server.story.uploads == [16 * 1024]
    page.click("[data-do=write-instead]")
    assert page.is_checked("[name=mode][value=text]")
    until(page, "!document.querySelector('[data-do=start]').disabled")


def test_no_network_is_said_with_what_helps(page: Any, server: Running) -> None:
    page.route("**/check", lambda route: route.abort())
    check_now(page, server)
    says(page, "check-network", "could not be reached")
    assert page.get_attribute("[data-check=network]", "data-state") == "bad"


# --- practice ------------------------------------------------------------------------------------------------------


def test_practice_is_repeatable_and_never_leaves_the_page(page: Any, server: Running) -> None:
    sent: list[str] = []
    check_now(page, server)
    until(page, "!document.querySelector('[data-do=start]').disabled")
    says(page, "check-network", "Your connection is")
    page.on("request", lambda request: sent.append(f"{request.method} {request.url}"))
    page.click("[data-part=practice] summary")
    assert "not sent, stored or assessed" in page.inner_text("[data-part=practice]")
    addresses = []
    for _ in range(2):
        page.click("[data-do=practice]")
        says(page, "practice", "Recording.")
        page.wait_for_timeout(700)
        page.click("[data-do=practice]")
        until(page, "document.querySelector('[data-part=practice-sound]').duration > 0")
        assert_accessible(page)
        addresses.append(page.get_attribute("[data-part=practice-sound]", "src"))
    assert addresses[0] != addresses[1]
    assert all(address.startswith("blob:") for address in addresses)
    assert [line for line in sent if not line.startswith("GET blob:")] == []
    assert server.story.chunks == {}
    kept = page.evaluate(
        "async () => (await indexedDB.databases()).length + sessionStorage.length"
        " + Object.keys(localStorage).filter((key) => key !== 'parley-captions').length"
    )
    assert kept == 0
    loads = """(url) => new Promise((told) => {
        const sound = new Audio(url);
        sound.onerror = () => told(false);
        sound.onloadeddata = () => told(true);
    })"""
    assert [page.evaluate(loads, address) for address in addresses] == [False, True], "the first try is forgotten"
    page.click("[data-do=start]")
    until(page, "!document.querySelector('[data-part=talk]').hidden")
    assert page.get_attribute("[data-part=practice-sound]", "src") is None


# --- the ways out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scripts", [True, False])
def test_who_does_not_agree_presses_one_button(chromium: Any, server: Running, scripts: bool) -> None:
    context = chromium.new_context(java_script_enabled=scripts, viewport=WIDTHS["phone"])
    page = context.new_page()
    page.goto(server.page)
    page.click("text=I do not agree")
    page.wait_for_selector("h1:text('That is fine')")
    assert (server.story.declined, server.story.started, server.story.chunks) == (1, None, {})
    context.close()


def test_something_different_is_asked_for_without_any_script(chromium: Any, server: Running) -> None:
    context = chromium.new_context(java_script_enabled=False, viewport=WIDTHS["phone"])
    page = context.new_page()
    page.goto(server.page)
    page.click("#different summary")
    page.check("#different input[value=person]")
    page.fill("#different-text", "Please call me.")
    page.click("#different button[type=submit]")
    page.wait_for_selector("#asked")
    assert "has your request" in page.inner_text("#asked")
    assert server.story.asked[0]["text"] == "Please call me."
    context.close()


def test_something_different_during_the_talk(page: Any, server: Running) -> None:
    check_now(page, server)
    until(page, "!document.querySelector('[data-do=start]').disabled")
    page.click("[data-do=start]")
    until(page, "!document.querySelector('[data-part=talk]').hidden")
    until(page, "document.querySelector('[data-part=talk]').dataset.phase !== 'ready'")
    page.click("[data-do=help]")
    page.click("[data-do=different]")
    assert page.evaluate("document.activeElement.id") == "different-title"
    assert_accessible(page)
    page.click("[data-do=different-ask]")
    says(page, "different", "Please choose what you need.")
    page.check("[data-part=different-form] input[value=more_time]")
    page.click("[data-do=different-ask]")
    says(page, "different", "You have twice the time now.")
    assert_accessible(page)
    page.click("[data-do=different-close]")
    page.click("[data-do=help]")
    page.click("[data-do=different]")
    page.check("[data-part=different-form] input[value=writing]")
    page.keyboard.press("Enter")
    says(page, "different", "You can write now.")
    page.click("[data-do=different-close]")
    page.wait_for_selector("#answer:visible")
    assert [one["choice"] for one in server.story.asked] == ["more_time", "writing"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_state_before_the_talk_is_accessible(
    chromium: Any, watch: Any, server: Running, width: str, scheme: str
) -> None:
    context = chromium.new_context(viewport=WIDTHS[width], color_scheme=scheme)
    page = watch(context.new_page())
    wrong = {"choice": "Please choose what you need.", "text": "Please say what you need.", "_form": "Too many."}
    video = {"preamble_video_url": f"{BASE}/elsewhere", "preamble_video_type": "video/mp4"}
    for changed in ({}, {"requests": ASKED, "declined": True}, {"different_errors": wrong, "different_values": {}}):
        server.story.context, server.story.flow = changed, {**video, "assess_language": True}
        page.goto(server.page)
        assert_accessible(page)
    assert page.locator("video[controls]").count() == 1
    offered = "alternative_text=Come and see us.&alternative_contact="
    for contact in ("jobs@freight.example", "+49 30 1234", "https://freight.example/a-rather-long-address-of-a-page"):
        page.goto(f"{server.url}/other/declined?{offered}{contact}")
        assert_accessible(page)
    context.close()
