"""How long the recruiters' pages take on the demo data, as a multiple of ``/healthz`` in the same run.

    .venv/bin/python bench/pages.py [--rounds 9] [--database URL]

Fills its own database (``parley demo --data``, about a minute), then requests every page in turn, in process, so that
all pages are measured under the same load. Prints the median and the worst of the rounds. The goal is 150 ms.
Last figures: docs/figures/pages.md.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

GOAL_MS = 150.0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--database", default="")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-pages-") as folder:
        environment = {**os.environ, "DATA_DIR": folder, "SECRET_KEY": "x" * 40, "RATE_LIMIT_PER_MINUTE": "0"}
        for name in ("APP_URL", "REDIS_URL", "STORAGE_URL", "DATABASE_URL"):
            environment.pop(name, None)
        if given.database:
            environment["DATABASE_URL"] = given.database
        for command in (["migrate"], ["demo", "--data"]):
            subprocess.run(
                [sys.executable, "-m", "app.operations.cli", *command], cwd=ROOT, env=environment, check=True
            )
        return measure(environment, given.rounds)


def measure(environment: dict[str, str], rounds: int) -> int:
    from app import create_app
    from app.core.queue import SilentWaker
    from app.settings import Settings

    app = create_app(Settings.from_env(environment), waker=SilentWaker())
    browser, pages = signed_in(app)
    taken: dict[str, list[float]] = {path: [] for path in ("/healthz", *pages.values())}
    for path in taken:  # once before it counts: templates are compiled
        answer = browser.get(path)
        if answer.status_code != 200:
            raise SystemExit(f"{path} answered {answer.status_code}")
    for _ in range(rounds):
        for path, times in taken.items():
            began = time.perf_counter()
            browser.get(path).get_data()
            times.append(1000 * (time.perf_counter() - began))
    floor = statistics.median(taken["/healthz"])
    print(f"floor: /healthz {floor:.2f} ms, load {os.getloadavg()[0]:.1f}\n")
    print("| page | median ms | worst ms | x floor |\n|---|---|---|---|")
    late = []
    for name, path in pages.items():
        middle, worst = statistics.median(taken[path]), max(taken[path])
        late += [name] if middle > GOAL_MS else []
        print(f"| {name} | {middle:.1f} | {worst:.1f} | {middle / floor:.0f} |")
    print(f"\n{'over' if late else 'all within'} {GOAL_MS:.0f} ms{': ' + ', '.join(late) if late else ''}")
    return 1 if late else 0


def signed_in(app):
    """A browser of the demo's administrator, and every page of the platform that takes no more than an id."""
    from app.accounts import access, actions
    from app.accounts.models import Role, TeamMember
    from app.candidates.models import Candidate
    from app.core.db import db
    from app.flows.models import InterviewFlow
    from app.interviews.documents.models import Document
    from app.interviews.models import Interview, Stage
    from app.operations.demo.cli_keep import filled
    from app.webhooks.models import Delivery, Endpoint

    with app.app_context():
        organization = filled()[0].id
        admin = db.session.query(TeamMember).filter_by(organization_id=organization, role=Role.ADMIN).first()
        _, token = actions.sign_in(admin, address="127.0.0.1", browser="bench")
        db.session.commit()
        admin_id = admin.id

        def first(model, **columns):
            return db.session.query(model.id).filter_by(**columns).order_by(model.id).first()[0]

        results = db.session.query(Document.interview_id, Document.id).join(Interview)
        seen = results.filter(Interview.stage == Stage.COMPLETED, Interview.withdrawn_at.is_(None))
        done = seen.order_by(Document.id).first()
        flow = first(InterviewFlow, organization_id=organization, title="Customer support agent")
        delivery, endpoint = (first(model, organization_id=organization) for model in (Delivery, Endpoint))
        candidate = first(Candidate, organization_id=organization, status="shortlisted")
        some = db.session.query(Candidate.id).filter(Candidate.score.is_not(None), Candidate.flow_id == flow)
        compared = "&".join(f"id={row[0]}" for row in some.order_by(Candidate.id).limit(3))
        booked = first(Interview, organization_id=organization, stage=Stage.CREATED)
        db.session.rollback()
    browser = app.test_client()
    browser.set_cookie(access.cookie_name(app.extensions["parley.settings"]), token)
    return browser, {
        "dashboard": "/dashboard",
        "interviews": "/interviews",
        "interview with result": f"/interviews/{done[0]}",
        "interview, booked": f"/interviews/{booked}",
        "book an interview": "/interviews/new",
        "document": f"/interviews/{done[0]}/documents/{done[1]}/text",
        "scorecard": f"/interviews/{done[0]}/scorecard",
        "report": f"/interviews/{done[0]}/report",
        "candidates": "/candidates",
        "board": "/candidates/board",
        "candidate": f"/candidates/{candidate}",
        "triage": "/candidates/triage",
        "statuses": "/candidates/statuses",
        "requests": "/requests",
        "insights": "/insights",
        "insights of a flow": f"/insights?flow={flow}",
        "flows": "/flows",
        "flow": f"/flows/{flow}",
        "flow editor": f"/flows/{flow}/edit",
        "webhooks": "/webhooks",
        "delivery": f"/webhooks/deliveries/{delivery}",
        "endpoint": f"/webhooks/endpoints/{endpoint}",
        "invite": "/candidates/invite",
        "mails": "/candidates/mails",
        "plan of mails": "/candidates/mails/plan",
        "shares": f"/interviews/{done[0]}/shares",
        "reply deadlines": "/requests/deadlines",
        "team": "/team",
        "member": f"/team/members/{admin_id}",
        "API keys": "/api-keys",
        "audit log": "/audit",
        "jobs": "/jobs",
        "usage": "/usage",
        "mentions": "/mentions",
        "compare three": f"/candidates/compare?{compared}",
        "retention": "/retention",
        "organization": "/settings",
        "profile": "/profile",
    }


if __name__ == "__main__":
    raise SystemExit(main())
