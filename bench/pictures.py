"""Retakes the pictures of the README, 1280 wide: board, result and dashboard from demo data, and an interview; and
smaller ones of each page of the platform, for docs/platform.md.

    .venv/bin/python bench/pictures.py [--chromium /usr/bin/chromium] [--into docs/img]

Needs `make install-dev`, a Chromium, and the models of `parley models install default` in MODELS_DIR (default:
~/.cache/parley-models), which hear the interview. Fills its own database (about a minute), serves it here, and writes
PNGs with a palette of 256 colors, so that each is below 200 kB.
"""

import argparse
import io
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

PAGES = {
    "home": "/dashboard",
    "candidates": "/candidates",
    "candidate": "/candidates/{candidate}",
    "board": "/candidates/board",
    "triage": "/candidates/triage",
    "compare": "/candidates/compare?id={interview}&id={other}",
    "invite": "/candidates/invite?flow={flow}",
    "cvs": "/candidates/cvs?flow={flow}",
    "message": "/candidates/message?id={candidate}",
    "emails": "/candidates/mails",
    "report": "/interviews/{interview}/report",
    "scorecard": "/interviews/{interview}/scorecard",
    "flows": "/flows",
    "flow": "/flows/{flow}",
    "editor": "/flows/{flow}/edit",
    "templates": "/flows/templates",
    "question-bank": "/flows/bank",
    "insights": "/insights",
    "requests": "/requests",
    "statuses": "/candidates/statuses",
    "message-templates": "/settings/messages",
    "schedule": "/candidates/mails/plan",
    "members": "/team",
    "branding": "/organization/branding",
    "retention": "/retention",
    "api-keys": "/api-keys",
    "webhooks": "/webhooks",
    "notices": "/notices",
    "usage": "/usage",
    "audit-log": "/audit",
    "profile": "/profile",
}
"""Addresses of docs/platform.md's pictures, by name."""
LARGEST = 200 * 1024
WIDTH, HEIGHT = 1280, 880


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--chromium", default="/usr/bin/chromium")
    options.add_argument("--into", default=str(ROOT / "docs" / "img"), type=Path)
    options.add_argument("--port", default=8767, type=int)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-pictures-") as folder:
        environment = {**os.environ, "DATA_DIR": folder, "SECRET_KEY": "x" * 40, "PORT": str(given.port)}
        for name in ("APP_URL", "REDIS_URL", "STORAGE_URL", "DATABASE_URL"):
            environment.pop(name, None)
        for command in (["migrate"], ["demo", "--data"]):
            subprocess.run(
                [sys.executable, "-m", "app.operations.cli", *command], cwd=ROOT, env=environment, check=True
            )
        cookie, pages = served(environment, given.port)
        take(cookie, pages, given)
    interview(given)


def served(environment, port):
    """The demo data on a port, the cookie of its administrator, and the pages to take by name."""
    from waitress import serve

    from app import create_app
    from app.accounts import access, actions
    from app.accounts.models import Role, TeamMember
    from app.candidates.models import Candidate
    from app.core import queue
    from app.core.db import db
    from app.core.queue import SilentWaker
    from app.interviews.models import Interview, InterviewData
    from app.interviews.recordings import DRAW_WAVEFORM
    from app.interviews.recordings.jobs import draw_waveform
    from app.interviews.recordings.models import Recording
    from app.operations.demo.cli_keep import filled
    from app.settings import Settings

    settings = Settings.from_env(environment)
    app = create_app(settings, waker=SilentWaker())
    with app.app_context():
        admin = db.session.query(TeamMember).filter_by(organization_id=filled()[0].id, role=Role.ADMIN).first()
        _, token = actions.sign_in(admin, address="127.0.0.1", browser="pictures")
        db.session.commit()
        spoken = db.session.query(Interview).join(InterviewData).join(Recording, Recording.interview_id == Interview.id)
        best = spoken.join(Candidate).filter(Interview.withdrawn_at.is_(None)).order_by(Candidate.score.desc()).first()
        other = spoken.filter(Interview.flow_id == best.flow_id, Interview.id != best.id).first()
        shown = {"interview": best.id, "candidate": best.candidate_id, "flow": best.flow_id, "other": other.id}
        db.session.rollback()
        for (row_id,) in queue.overdue(DRAW_WAVEFORM):  # no worker runs here
            draw_waveform(row_id)
    threading.Thread(target=serve, args=(app,), kwargs={"host": "127.0.0.1", "port": port}, daemon=True).start()
    cookie = {"name": access.cookie_name(settings), "value": token, "url": settings.app_url}
    pages = {"board": "/candidates/board", "result": "/interviews/{interview}", "dashboard": "/dashboard"}
    pages |= {f"pages/{name}": path for name, path in PAGES.items()}
    return cookie, {name: settings.app_url + path.format(**shown) for name, path in pages.items()}


def take(cookie, pages, given) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        context.add_cookies([cookie])
        page = context.new_page()
        for name, address in pages.items():
            page.goto(address, wait_until="networkidle")
            keep(page, name, given)
        browser.close()


ANSWER = "We had a problem with late deliveries. I talked to the drivers, and together we made a new plan."


def interview(given) -> None:
    """A candidate answers the second question, in a browser whose microphone speaks."""
    from playwright.sync_api import sync_playwright

    from tests.browser import mouth
    from tests.browser.conftest import FLAGS, _up

    flow = {
        "org_name": "Example Freight",
        "title": "Team lead, warehouse",
        "questions": ["Why would you like to work with us?", "Tell me about a problem that you have solved.", "And?"],
        "intro": "Welcome.",
        "interview_type": "recruitment",
    }
    with (
        tempfile.TemporaryDirectory(prefix="parley-pictures-") as folder,
        _up(
            Path(folder), {"MODELS_DIR": os.environ.get("MODELS_DIR", str(Path.home() / ".cache/parley-models"))}
        ) as up,
        sync_playwright() as playwright,
    ):
        owner = up.organization()
        flow_id = owner.api("POST", "/interview-flows", json={**flow, "team_id": owner.team_id})["interview_flow_id"]
        link = owner.api("POST", "/interviews", json={"interview_flow_id": flow_id})["interview_link"]
        browser = playwright.chromium.launch(executable_path=given.chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": 720})
        page.add_init_script(mouth.script({"1": "I have worked in a small team for three years.", "2": ANSWER}))
        page.goto(link)
        page.check("#consent")
        page.click("[data-do=next]")
        page.click("[data-do=check]")
        page.wait_for_selector("[data-do=start]:enabled", timeout=60_000)
        page.click("[data-do=start]")
        page.mouse.move(0, 0)
        page.locator("[data-text=progress]", has_text="Question 2 of 3").wait_for(timeout=120_000)
        page.wait_for_selector("[data-part=talk][data-phase=listening]", timeout=60_000)
        page.wait_for_timeout(5_000)  # they speak
        keep(page, "interview", given)
        browser.close()


def keep(page, name: str, given) -> None:
    path = given.into / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(small(page.screenshot(), is_small="/" in name))
    print(f"{path.name}  {path.stat().st_size / 1024:.0f} kB")
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path.name} is larger than {LARGEST // 1024} kB")


def small(picture: bytes, *, is_small: bool) -> bytes:
    """The same picture with a palette."""
    from PIL import Image

    made, shown = io.BytesIO(), Image.open(io.BytesIO(picture)).convert("RGB")
    if is_small:
        shown = shown.resize((WIDTH * 5 // 8, HEIGHT * 5 // 8), Image.Resampling.LANCZOS)
    shown.quantize(64 if is_small else 256, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
    return made.getvalue()


if __name__ == "__main__":
    main()
