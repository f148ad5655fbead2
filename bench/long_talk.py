"""A spoken interview of half an hour: how long after the last word its result is there.

    MODELS_DIR=/srv/models .venv/bin/python bench/long_talk.py [--minutes 30] [--last 60] [--port 18500]

A whole `parley up` with Whisper base and Piper Joe. The candidate speaks Joe's interview sentences, joined to twenty
answers (the most that a flow can ask for). All but the last are sent four times as fast as people speak, and before each
of them the ones before may be heard again for as long as it lasts. The goal: the result within 10 s of the last word.
"""

import argparse
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import requests
from _ground import folder, machine, parley, serving
from speech import spoken_answers

from app.flows.models import MOST_QUESTIONS
from app.operations.demo.candidate import Candidate
from app.operations.demo.platform import Platform, found_customer
from app.operations.demo.tape import CHUNK_SECONDS

MODELS = Path(os.environ.get("MODELS_DIR", "instance/models"))
GOAL, PATIENCE = 10.0, 600.0
FASTER = 4
BETWEEN = b"\0\0" * 8_000
"""Half a second between two sentences, at 16 kHz."""
OPEN = "SELECT count(*) FROM utterance WHERE hearing IN ('waiting', 'hearing')"


class Paced(Candidate):
    """Sends its voice faster than people speak."""

    faster = FASTER
    due = 0.0

    def put_chunk(self, segment, number, content, *, track):
        """Send a chunk when it would have been spoken."""
        if track == "voice":
            self.due += CHUNK_SECONDS / self.faster
            time.sleep(max(0.0, self.due - time.monotonic()))
        return super().put_chunk(segment, number, content, track=track)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--last", type=float, default=60, help="seconds of the last answer, at most")
    parser.add_argument("--port", type=int, default=18_500)
    options = parser.parse_args()
    print(machine())
    answers = joined(spoken_answers(MODELS, 150), minutes=options.minutes, last=options.last)
    spoken = sum(map(seconds_of, answers))
    print(f"{len(answers)} answers, {spoken / 60:.1f} minutes of speech, the last one {seconds_of(answers[-1]):.0f} s")
    with folder() as place:
        url, data = f"http://127.0.0.1:{options.port}", place / "data"
        env = {"DATA_DIR": str(data), "PORT": str(options.port), "APP_URL": url, "MODELS": "off"}
        env |= {
            "MODELS_DIR": str(MODELS.resolve()),
            "RATE_LIMIT_PER_MINUTE": "0",
            "LOG_LEVEL": os.environ.get("LOG_LEVEL", "error"),
        }
        with serving(parley("up"), options.port, env=env):
            customer = found_customer(Platform(url, {**os.environ, **env}, data, is_ours=True))
            waited, result = taken(url, customer.api_key, answers, database=data / "parley.db")
    held = "reached" if result <= GOAL else "missed"
    print(f"turns: median {sorted(waited)[len(waited) // 2]:.2f} s, worst {max(waited):.2f} s")
    print(f"result {result:.1f} s after the last word (goal {GOAL:.0f} s: {held})")


def taken(url, key, answers, *, database):
    """Seconds that each answer waited for its reply, and from the last word to the result."""
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {key}"
    questions = [f"Question {number}: what did you do then?" for number in range(1, len(answers) + 1)]
    flow = {"org_name": "Bench", "title": "Long", "questions": questions, "language": "en-US"}
    made = session.post(f"{url}/v1/interview-flows", json=flow, timeout=60)
    if made.status_code != 200:
        raise SystemExit(f"the flow was refused: {made.text}")
    flow_id = made.json()["interview_flow_id"]
    booked = session.post(f"{url}/v1/interviews", json={"interview_flow_id": flow_id}, timeout=60).json()
    candidate, waited, asked = Paced(booked["interview_link"]), [], []
    candidate.open()
    candidate.start(mode="voice")
    remaining = iter(answers)

    def next_answer(prompt):
        if asked:
            waited.append(time.monotonic() - asked[-1])
        pcm = next(remaining)
        catch_up(database, seconds_of(pcm))
        candidate.faster = 1 if pcm is answers[-1] else FASTER
        candidate.due = time.monotonic()
        asked.append(candidate.due + seconds_of(pcm) / candidate.faster)
        return pcm

    candidate.take(next_answer)
    over = time.monotonic()
    while time.monotonic() - over < PATIENCE:
        row = session.get(f"{url}/v1/interviews/{booked['interview_id']}?transcript=none", timeout=60).json()
        if row["status"] == "completed":
            return waited, time.monotonic() - asked[-1]
        time.sleep(0.1)
    raise SystemExit(f"no result within {PATIENCE:.0f} s")


def catch_up(database, seconds):
    """Let the answers before be heard again, for as long as the next one lasts at most."""
    until = time.monotonic() + seconds
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as link:
        while link.execute(OPEN).fetchone()[0] and time.monotonic() < until:
            time.sleep(0.2)


def joined(spoken, *, minutes, last):
    """An answer for each question, of the sentences in turn: the last one so long, the others sharing the rest."""
    answers, at = [], 0
    for longest in [*[(minutes * 60 - last) / (MOST_QUESTIONS - 1)] * (MOST_QUESTIONS - 1), last]:
        answer = b""
        while seconds_of(longer := answer + spoken[at % len(spoken)][1] + BETWEEN) <= longest:
            answer = longer
            at += 1
        answers.append(answer)
    return answers


def seconds_of(pcm):
    return len(pcm) / 32_000


if __name__ == "__main__":
    main()
