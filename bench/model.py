"""The first words of the agent with a language model: from the end of an answer's upload to the reply's first sound.

    .venv/bin/python bench/model.py [--model 600] [--answers 8]

A local server writes each decision of the model in this many milliseconds, letter by letter, over its real protocol:
an answer of two sentences to every second answer, a follow-up of two sentences to the others. Spoken turns are sent at
the speed of speech, and the recognizer knows their words at once: its share is in bench/voice.py. The page posts an answer
that came to rest after 0.4 s of silence, and lets the reply be heard after 0.6 s.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import requests
from waitress.server import create_server

sys.path.insert(0, str(Path(__file__).parents[1]))

from app import create_app, gateways
from app.conversation.models import TurnKind
from app.core import migrate, queue
from app.core.db import db
from app.flows.models import InterviewFlow
from app.operations.demo.candidate import Candidate
from app.settings import Settings
from bench.voice import SENTENCES, link_of, percentile, shares, show, sound_of
from tests.conversation.fakes import ScriptedTranscriber
from tests.conversation.models import LETTERS, Written, decision, model

GOAL_MS = 1800
POSTED_MS, AT_REST_MS = 400, 600
"""Silence until the page posts an answer that came to rest, and until it lets the reply be heard."""
INFO = "The office is in the harbour of Bergen. Work begins at eight in the morning."
ANSWER = decision("answer", INFO, INFO[:39])
FOLLOW_UP = decision("follow_up", "You have told me about your team. What was the most difficult part of that for you?")


def paced(decision_: dict[str, str], *, seconds: float) -> Written:
    """The decision as a model writes it that thinks for half of the time."""
    text = json.dumps(decision_)
    tokens = [text[at : at + LETTERS] for at in range(0, len(text), LETTERS)]
    return Written([seconds / 2, *(part for token in tokens for part in (token, seconds / 2 / len(tokens)))])


class Timed:
    """A candidate's session at the speed of speech: from each spoken turn to the first sound of its reply."""

    def __init__(self) -> None:
        self._session = requests.Session()
        self.is_paced, self.waits, self._posted = False, [], 0.0

    def request(self, method, url, **given):
        if self.is_paced and "track=voice" in url:
            time.sleep(0.5)
        if method == "POST" and "/turns/" in url and given.get("json", {}).get("kind") == "answer":
            self._posted = self._posted or time.perf_counter()
        answer = self._session.request(method, url, **given)
        if "/audio" in url and self._posted:
            self.waits.append((time.perf_counter() - self._posted) * 1000)
            self._posted = 0.0
        return answer


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--model", type=int, default=600, help="milliseconds of a whole decision")
    asked.add_argument("--answers", type=int, default=8, help="spoken turns")
    asked.add_argument("--quick", action="store_true", help="two answers")
    given = asked.parse_args()
    decided = 0

    def played(_rules, data):
        nonlocal decided
        decided += 1
        return paced(ANSWER if decided % 2 else FOLLOW_UP, seconds=given.model / 1000)

    with tempfile.TemporaryDirectory() as folder, model(played) as address:
        run(Path(folder), address, answers=2 if given.quick else given.answers)


def run(folder: Path, address: str, *, answers: int) -> None:
    env = {"DATA_DIR": str(folder), "RATE_LIMIT_PER_MINUTE": "0", "LOG_LEVEL": "error", "LLM_BASE_URL": address}
    if models := os.environ.get("MODELS_DIR"):
        env["MODELS_DIR"] = models
    settings = Settings.from_env({**env, "LLM_MODEL": "paced", "LLM_API_KEY": "none"})
    migrate.upgrade(settings.database_url)
    engines = replace(gateways.build(settings), transcriber=ScriptedTranscriber(otherwise=SENTENCES[0]))
    app = create_app(settings, gateways=engines, waker=queue.SilentWaker())
    server = create_server(app, host="127.0.0.1", port=0, threads=settings.web_threads)
    settings = replace(settings, app_url=f"http://127.0.0.1:{server.effective_port}")
    threading.Thread(target=server.run, daemon=True).start()
    try:
        with app.app_context():
            link = link_of(settings, answers)
            db.session.query(InterviewFlow).update({"follow_up_limit": 1, "additional_info": INFO})
            db.session.commit()
        session = Timed()
        candidate = Candidate(link, session=session)
        candidate.open()
        candidate.start()
        sounds = [sound_of(engines, SENTENCES[n % len(SENTENCES)], n) for n in range(answers)]
        session.is_paced = True
        candidate.take(sounds)
        report(app, session.waits[1:])
    finally:
        server.close()
        engines.close()


def report(app, waits: list[float]) -> None:
    show("from the post of an answer to the first sound of the reply", waits)
    turns = shares(app, TurnKind.ANSWER)[1:]
    for name in ("recognised_ms", "decided_ms", "spoken_ms"):
        show(f"  of it {name.removesuffix('_ms')}", [float(getattr(turn, name) or 0) for turn in turns])
    print(f"  kinds of replies: {', '.join(str(turn.reply_kind) for turn in turns)}")
    words = [max(AT_REST_MS, POSTED_MS + one) for one in waits]
    show("first words after an answer that came to rest, with the page's patience", words)
    half = statistics.median(np.array(words))
    print(f"  goal p50 <= {GOAL_MS} ms: {'reached' if half <= GOAL_MS else 'MISSED'} (p95 {percentile(words, 95):.0f})")


if __name__ == "__main__":
    main()
