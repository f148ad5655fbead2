"""Every state in which a candidate can see the pages, each with the way there; for checks that hold in all of them."""

from collections.abc import Callable
from typing import Any

from .fake_server import Running
from .test_candidate_page import BLOCK_MICROPHONE, phase, start_writing, until

Way = Callable[[Any, Running], None]
STATES: dict[str, Way] = {}


def state(name: str) -> Callable[[Way], Way]:
    """Keeps a way under a name."""

    def kept(way: Way) -> Way:
        STATES[name] = way
        return way

    return kept


@state("invitation")
def invitation(page: Any, server: Running) -> None:
    server.story.flow.update(is_video_enabled=True, preamble_video_url="/static/none.mp4")
    page.goto(server.page)


@state("the second step")
def second_step(page: Any, server: Running) -> None:
    server.story.flow["is_video_enabled"] = True
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")


@state("the second step in Arabic")
def second_step_in_arabic(page: Any, server: Running) -> None:
    page.goto(f"{server.page}?lang=ar-AE")
    page.check("#consent")
    page.click("[data-do=next]")


@state("invitation in Arabic")
def arabic(page: Any, server: Running) -> None:
    page.goto(f"{server.page}?lang=ar-AE")


@state("invitation with errors")
def errors(page: Any, server: Running) -> None:
    server.story.context.update(
        errors={"email_address": "This is not an email address.", "consent": "Please agree."},
        values={"first_name": "Ada", "mode": "text"},
    )
    page.goto(server.page)


@state("invitation to go on")
def taking_over(page: Any, server: Running) -> None:
    server.story.context.update(taking_over=True, hears=False, speaks=False)
    page.goto(server.page)


@state("microphone checked")
def checked(page: Any, server: Running) -> None:
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    until(page, "!document.querySelector('[data-do=start]').disabled")


@state("microphone refused")
def refused(page: Any, server: Running) -> None:
    page.add_init_script(BLOCK_MICROPHONE)
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    until(page, "document.querySelector('[data-text=check]').textContent.startsWith('The browser did not allow')")


@state("the agent speaks")
def speaking(page: Any, server: Running) -> None:
    server.story.spoken_seconds = 60.0
    checked(page, server)
    page.click("[data-do=start]")
    phase(page, "speaking")


@state("the candidate's turn")
def listening(page: Any, server: Running) -> None:
    checked(page, server)
    page.click("[data-do=start]")
    phase(page, "listening", "answering")


@state("thinking")
def thinking(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.route("**/turns/2", lambda route: None)
    page.fill("#answer", "A written answer.")
    page.click("[data-do=send]")
    phase(page, "thinking")


@state("writing")
def writing(page: Any, server: Running) -> None:
    start_writing(page, server)


@state("a long question")
def long_question(page: Any, server: Running) -> None:
    server.story.questions = ("What did you build last, with whom, and what would you do otherwise today? " * 4, "Two?")
    start_writing(page, server)


@state("end dialog")
def dialog(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.click("[data-do=end]")
    page.wait_for_selector("dialog[open]")


@state("a document added")
def document(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.click("text=Add a document")
    page.set_input_files("#document", {"name": "cv.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"})
    page.wait_for_selector(".documents li")


@state("help opened")
def helped(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.click("[data-do=help]")
    page.click("[data-part=help-dialog] summary")


@state("something different asked for")
def different(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.click("[data-do=help]")
    page.click("[data-do=different]")
    page.wait_for_selector("[data-part=different-dialog][open]")


@state("paused")
def paused(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.click("[data-do=pause]")
    phase(page, "paused")


@state("the time runs out")
def short_of_time(page: Any, server: Running) -> None:
    server.story.elapsed = 1000
    start_writing(page, server)
    page.wait_for_selector("[data-part=time-note]:visible")


@state("captions of both sides")
def captions(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.fill("#answer", "A written answer, as long as a sentence is when somebody explains what was done.")
    page.click("[data-do=send]")
    page.wait_for_selector("[data-text=heard]:visible")


@state("the last answer to read")
def last_answer(page: Any, server: Running) -> None:
    server.story.may_say_again = True
    start_writing(page, server)
    page.fill(
        "#answer", "A written answer that goes on for several lines on a phone, with one word after another. " * 8
    )
    page.click("[data-do=send]")
    page.wait_for_selector("[data-do=again]:visible")


@state("over, with the last answer to read")
def over(page: Any, server: Running) -> None:
    server.story.may_say_again, server.story.questions = True, ("One?",)
    start_writing(page, server)
    page.clock.install()
    page.fill("#answer", "A written answer.")
    page.click("[data-do=send]")
    phase(page, "lingering")


@state("connection lost")
def lost(page: Any, server: Running) -> None:
    start_writing(page, server)
    server.story.fail_next["/turns/2"] = [503] * 99
    page.fill("#answer", "Patience.")
    page.click("[data-do=send]")
    page.wait_for_selector(".connection .notice-warn")


@state("saving")
def saving(page: Any, server: Running) -> None:
    page.clock.install()
    start_writing(page, server)
    page.route("**/finish", lambda route: None)
    page.click("[data-do=end]")
    page.click("[data-do=end-yes]")
    phase(page, "leaving")
    page.clock.run_for(15_000)
    page.wait_for_selector("[data-part=saving]:visible")


@state("the end waits for a CV")
def cv_missing(page: Any, server: Running) -> None:
    server.story.flow.update(cv="required", is_doc_upload_enabled=True)
    start_writing(page, server)
    waits = {"message": "x", "reason": "cv", "cv": "missing"}
    page.route("**/finish", lambda route: route.fulfill(status=409, json=waits))
    page.click("[data-do=end]")
    page.click("[data-do=end-yes]")
    page.wait_for_selector("[data-part=cv]:visible")
    page.click("[data-do=cv-added]")
    page.locator("[data-text=cv]", has_text="Please add your CV first").wait_for()


@state("stopped")
def stopped(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.route("**/turns/2", lambda route: route.fulfill(status=409, json={"message": "x", "reason": "taken over"}))
    page.fill("#answer", "Hello?")
    page.click("[data-do=send]")
    page.wait_for_selector("[data-part=stopped]:visible")


@state("welcome back")
def resume(page: Any, server: Running) -> None:
    start_writing(page, server)
    server.story.mode = "voice"
    page.reload()
    page.wait_for_selector("[data-do=resume]:visible")


OTHERS = {
    "used": "taken?reason=used",
    "taken": "taken?reason=elsewhere&wait_seconds=50",
    "archived": "closed?reason=archived",
    "expired": "closed?reason=expired",
    "ended": "closed?reason=ended",
    "unknown": "unknown",
    "declined": "declined",
    "done": "done",
    "done, going on elsewhere": "done?redirect_url=https://freight.example/x&redirect_host=freight.example",
    "rated": "done?sent=sent&given=1&own_url=/own",
    "rated twice": "done?sent=final&may_rate=",
    "a flow's own link": "open?title=Nurse",
    "a flow's own link, address known": "open?reason=known",
    "statement": "accessibility",
}


def _other(path: str) -> Way:
    def way(page: Any, server: Running) -> None:
        page.goto(f"{server.url}/other/{path}")

    return way


STATES |= {name: _other(path) for name, path in OTHERS.items()}
