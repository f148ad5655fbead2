"""Retakes the pictures of the README, from demo data: board, interview and dashboard, 1280 wide.

    .venv/bin/python bench/pictures.py [--chromium /usr/bin/chromium] [--into docs/img]

Needs `make install-dev` and a Chromium. Fills its own database (about a minute), serves it here, and writes PNGs
with a palette of 256 colors, so that each is below 200 kB.
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


def served(environment, port):
    """The demo data on a port, the cookie of its administrator, and the pages to take by name."""
    from waitress import serve

    from app import create_app
    from app.accounts import access, actions
    from app.accounts.models import Role, TeamMember
    from app.candidates.models import Candidate
    from app.core.db import db
    from app.core.queue import SilentWaker
    from app.interviews.models import Interview, InterviewData
    from app.interviews.recordings.models import Recording
    from app.operations.demo.cli_keep import filled
    from app.settings import Settings

    settings = Settings.from_env(environment)
    app = create_app(settings, waker=SilentWaker())
    with app.app_context():
        admin = db.session.query(TeamMember).filter_by(organization_id=filled()[0].id, role=Role.ADMIN).first()
        _, token = actions.sign_in(admin, address="127.0.0.1", browser="pictures")
        db.session.commit()
        spoken = (
            db.session.query(Interview.id).join(InterviewData).join(Recording, Recording.interview_id == Interview.id)
        )
        best = spoken.join(Candidate).filter(Interview.withdrawn_at.is_(None)).order_by(Candidate.score.desc()).first()
        db.session.rollback()
    threading.Thread(target=serve, args=(app,), kwargs={"host": "127.0.0.1", "port": port}, daemon=True).start()
    cookie = {"name": access.cookie_name(settings), "value": token, "url": settings.app_url}
    pages = {"board": "/candidates/board", "result": f"/interviews/{best[0]}", "dashboard": "/dashboard"}
    return cookie, {name: settings.app_url + path for name, path in pages.items()}


def take(cookie, pages, given) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        context.add_cookies([cookie])
        page = context.new_page()
        for name, address in pages.items():
            page.goto(address, wait_until="networkidle")
            path = given.into / f"{name}.png"
            path.write_bytes(small(page.screenshot()))
            print(f"{path.name}  {path.stat().st_size / 1024:.0f} kB")
            if path.stat().st_size > LARGEST:
                raise SystemExit(f"{path.name} is larger than {LARGEST // 1024} kB")
        browser.close()


def small(picture: bytes) -> bytes:
    """The same picture with a palette."""
    from PIL import Image

    made = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        made, "PNG", optimize=True
    )
    return made.getvalue()


if __name__ == "__main__":
    main()
