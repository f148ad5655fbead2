"""Interviews: reading long results, and the time from the last word to the result.

    python bench/interviews.py [--quick] [--interviews 1000] [--minutes 30]

1. ``GET /v1/interviews?limit=20&transcript=full`` over 30-minute interviews, from one waitress process and four
   keep-alive clients: requests and server CPU per request, next to the floor of the same run (the same compressed bytes
   fetched by the bare driver and written by the same server) and the plain version (``_interviews_plain.py``).
2. A recorded interview whose answers were recognized while it ran: seconds from submission to ``interview_processed``.

Lists, and reading and writing as the number of interviews grows: ``bench/v1.py``. SQLite always; 1 on PostgreSQL as
well if BENCH_POSTGRES_URL names a server.
"""

import argparse
import gzip
import hashlib
import http.client
import io
import json
import random
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import _clients as clients
import _ground as ground
import _interviews_plain as plain
import numpy as np
import sqlalchemy as sa
from _clients import Asked
from isal import isal_zlib
from v1 import fill

from app import create_app, gateways
from app.accounts.models import Organization
from app.core import clock, queue
from app.core.db import db, new_id
from app.flows.flow_script import FlowScript
from app.flows.models import InterviewFlow
from app.gateways.speech.ports import Segment, Word
from app.interviews.analysis.answers import QuestionPart
from app.interviews.jobs import processing
from app.interviews.models import Interview, Role, Stage, Utterance
from app.interviews.published_result import as_shown, freeze_details, freeze_text
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import Media, Track
from app.interviews.recordings.queries import chunk_key
from app.interviews.transcript import as_text
from app.settings import Settings

LIMIT = 20
PLAIN_INTERVIEWS = 20
QUESTIONS = [f"Question number {number}: what did you do then?" for number in range(10)]


# --- data -------------------------------------------------------------------------------------------------------


def a_talk(seed: int, *, minutes: float = 30, words: int = 4_500, segments: int = 60) -> list[Segment]:
    """A talk in words that are as common as in speech (Zipf), so that it compresses as speech does."""
    rng = random.Random(seed)
    lexicon = ["".join(rng.choices("etaoinshrdlucmfwypvbgk", k=rng.randint(2, 9))) for _ in range(3_000)]
    weights = [1 / (rank + 2) for rank in range(len(lexicon))]
    step, at, talk = minutes * 60 / words, 0.0, []
    for number in range(segments):
        spoken = []
        for text in rng.choices(lexicon, weights, k=words // segments):
            spoken.append(Word(text, round(at, 3), round(at + step * 0.8, 3)))
            at += step * rng.uniform(0.95, 1.0)
        role = "user" if number % 2 else "agent"
        content = " ".join(word.word for word in spoken)
        talk.append(Segment(role, content, tuple(spoken), spoken[0].start, spoken[-1].end, number * 10 // segments))
    return talk


def parts_of(talk: list[Segment]) -> list[QuestionPart]:
    """Where each question lies."""
    parts = []
    for number, question in enumerate(QUESTIONS):
        places = [index for index, segment in enumerate(talk) if segment.question_index == number]
        parts.append(QuestionPart(number, question, tuple(places), talk[places[0]].start, talk[places[-1]].end))
    return parts


def seed_results(organization: Organization, *, interviews: int) -> list[dict[str, Any]]:
    """Completed 30-minute interviews; returns some of the results as ``/v1`` would send them."""
    from app.interviews.models import InterviewData

    ids = db.session.scalars(sa.select(Interview.id).order_by(Interview.org_seq).limit(interviews)).all()
    kept = []
    made = []
    for seed in range(min(40, interviews)):
        talk = a_talk(seed)
        text, details = freeze_text(as_text(talk)), freeze_details(talk, parts_of(talk), duration=1_800.0)
        made.append((text, details))
        if seed < PLAIN_INTERVIEWS:
            found = as_shown(text, details)
            for segment in found["transcript_with_timestamp"]:
                del segment["shown"]
            kept.append(found)
    scores = {"communication": 3.5, "motivation": None, "skills": 4.0, "language_fluency_and_pace": 3.1}
    for number, interview_id in enumerate(ids):
        text, details = made[number % len(made)]
        db.session.execute(
            sa.insert(InterviewData).values(
                interview_id=interview_id,
                format=1,
                text=text.deflated,
                text_length=text.length,
                text_crc32=text.crc,
                details=details.deflated,
                details_length=details.length,
                details_crc32=details.crc,
                summary="A summary of some sentences. " * 10,
                scores=scores,
                evidence={},
                created_at=clock.now(),
            )
        )
        _add_recording(organization.id, interview_id)
    db.session.commit()
    size = sum(text.length + details.length for text, details in made) / len(made)
    small = sum(len(text.deflated) + len(details.deflated) for text, details in made) / len(made)
    print(f"   {interviews} interviews of {size / 1000:.0f} kB JSON, {small / 1000:.0f} kB deflated")
    return kept


def _add_recording(organization_id: str, interview_id: str) -> None:
    from app.interviews.recordings.models import Recording

    db.session.execute(
        sa.insert(Recording).values(
            id=new_id(),
            organization_id=organization_id,
            interview_id=interview_id,
            media=Media.AUDIO,
            content_type="audio/mp4",
            storage_key="x",
            size=1,
            sha256="0" * 64,
            blocks=b"",
            duration=1_800.0,
        )
    )


# --- 1: the hot path --------------------------------------------------------------------------------------------

PAGE = """SELECT d.text, d.details FROM interview i JOIN interview_data d ON d.interview_id = i.id
WHERE i.organization_id = ? AND i.org_seq <= ? AND i.org_seq > ? ORDER BY i.org_seq DESC"""


def serve(port: int, url: str, directory: str, organization_id: str) -> None:
    """The product, the floor and the plain version behind one waitress, set up as ``parley web`` does."""
    from app.operations.processes.web import serve as serve_as_the_product
    from app.operations.processes.web import server_for

    settings = Settings.from_env(ground.env_for(url, Path(directory)))
    product = create_app(settings, waker=queue.SilentWaker())
    local = threading.local()
    plain_engine = sa.create_engine(f"sqlite:///{directory}/plain.db")

    def rows(top: int) -> list[tuple[bytes, bytes]]:
        if not hasattr(local, "run"):
            local.run = _bare(url)
        return local.run(organization_id, top)

    def application(environ: dict[str, Any], start_response: Any) -> Any:
        path = environ["PATH_INFO"]
        if path.startswith("/floor/"):
            _, _, kind, top = path.split("/")
            chunks = [bytes(part) for row in rows(int(top)) for part in row]
            if kind == "file":
                start_response("200 OK", [("Content-Length", str(sum(map(len, chunks))))])
                return environ["wsgi.file_wrapper"](io.BytesIO(b"".join(chunks)))
            if kind == "identity":
                chunks = [isal_zlib.decompressobj(-15).decompress(chunk) for chunk in chunks]
            start_response("200 OK", [("Content-Length", str(sum(map(len, chunks))))])
            return chunks
        if path == "/plain":
            body = plain.answer(plain_engine, LIMIT)
            start_response("200 OK", [("Content-Length", str(len(body)))])
            return [body]
        return product(environ, start_response)

    serve_as_the_product(server_for(application, replace(settings, host="127.0.0.1", port=port)), until=lambda: False)


def _bare(url: str) -> Any:
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        return lambda organization, top: connection.execute(PAGE, (organization, top, top - LIMIT)).fetchall()
    link, statement = ground.bare(url), PAGE.replace("?", "%s")
    return lambda organization, top: (
        link.cursor(binary=True).execute(statement, (organization, top, top - LIMIT)).fetchall()
    )


def hot_path(kind: str, *, interviews: int, requests: int, directory: Path) -> None:
    print(f"\n1. GET /v1/interviews?limit=20&transcript=full, {kind}, waitress, 4 clients")
    with ground.database(kind) as url:
        with ground.application(ground.env_for(url, directory)):
            owner = ground.customer(QUESTIONS)
            fill(owner, interviews)
            db.session.execute(sa.update(Interview).values(status="completed", stage="completed"))
            results = seed_results(owner.organization, interviews=interviews)
            organization_id, key = owner.organization.id, owner.key
        with suppress(FileNotFoundError):
            (directory / "plain.db").unlink()
        plain_engine = sa.create_engine(f"sqlite:///{directory}/plain.db")
        plain.fill(plain_engine, results)
        plain_engine.dispose()
        with server(url, directory, organization_id) as (port, pid):
            _measure(port, pid, key, interviews=interviews, requests=requests)


def _measure(port: int, pid: int, key: str, *, interviews: int, requests: int) -> None:
    rng = random.Random(1)
    offsets = [rng.randint(0, interviews - LIMIT) for _ in range(requests)]
    listed = [f"/v1/interviews?limit={LIMIT}&transcript=full&offset={offset}" for offset in offsets]
    bearer = {"Authorization": f"Bearer {key}"}
    check(port, listed[0], bearer)
    together = {
        "gzip, product": (listed, {**bearer, "Accept-Encoding": "gzip"}),
        "gzip, product, transcript=none": (
            [path.replace("transcript=full", "transcript=none") for path in listed],
            {**bearer, "Accept-Encoding": "gzip"},
        ),
        "gzip, floor": ([f"/floor/gzip/{interviews - offset}" for offset in offsets], {}),
        "gzip, floor handed over as one file": ([f"/floor/file/{interviews - offset}" for offset in offsets], {}),
    }
    fewer = {
        "identity, product": (listed[: requests // 4], {**bearer, "Accept-Encoding": "identity"}),
        "identity, floor (fetch and inflate)": (
            [f"/floor/identity/{interviews - offset}" for offset in offsets[: requests // 4]],
            {},
        ),
    }
    found = clients.in_turns(port, pid, _asked(together)) | clients.in_turns(port, pid, _asked(fewer))
    found["plain ORM and marshmallow"] = clients.load(port, pid, [Asked("/plain")] * 3, {}, clients=1)
    for name, took in found.items():
        print(f"   {name:38} {took.rate:8.1f} requests/s  {took.cpu:9.2f} ms CPU  {took.median:8.1f} ms median")
    floor = found["gzip, floor"][1]
    print(f"   gzip against its floor: {found['gzip, product'][1] / floor:.2f} x CPU (goal 1.5)")
    best = found["gzip, floor handed over as one file"][1]
    print(
        f"   gzip against the floor handed over as one file, as the product does: {found['gzip, product'][1] / best:.2f} x"
    )
    fixed = found["gzip, product, transcript=none"][1]
    print(
        f"   of which the payload: {(found['gzip, product'][1] - fixed) / floor:.2f} x; the rest is what any answer costs"
    )
    inflated = found["identity, floor (fetch and inflate)"][1]
    print(f"   identity against its floor: {found['identity, product'][1] / inflated:.2f} x CPU")
    print(
        f"   plain against gzip: {found['plain ORM and marshmallow'][1] / found['gzip, product'][1]:.0f} x CPU (goal 500)"
    )


def _asked(kinds: dict[str, tuple[list[str], dict[str, str]]]) -> dict[str, tuple[list[Asked], dict[str, str]]]:
    return {name: ([Asked(path) for path in paths], headers) for name, (paths, headers) in kinds.items()}


def check(port: int, path: str, headers: dict[str, str]) -> None:
    """Both encodings must carry the same, whole JSON."""
    bodies = []
    for encoding in ("gzip", "identity"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path, headers={**headers, "Accept-Encoding": encoding})
        answer = connection.getresponse()
        raw = answer.read()
        bodies.append(gzip.decompress(raw) if encoding == "gzip" else raw)
        print(f"   one page, {encoding}: {len(raw) / 1e6:.2f} MB")
    pages = [json.loads(body)["interviews"] for body in bodies]
    for interview in (*pages[0], *pages[1]):
        interview["interview_data"].pop("audio_url")  # signed again for every answer
    found = pages[0]
    if (
        pages[0] != pages[1]
        or len(found) != LIMIT
        or len(found[0]["interview_data"]["transcript_with_timestamp"]) != 60
    ):
        raise SystemExit("the two encodings do not carry the same page")


@contextmanager
def server(url: str, directory: Path, organization_id: str) -> Iterator[tuple[int, int]]:
    port = ground.free_port()
    with ground.serving(
        [sys.executable, __file__, "--serve", str(port), url, str(directory), organization_id], port
    ) as pid:
        yield port, pid


# --- 2: from the last word to the result ------------------------------------------------------------------------


def last_word(*, minutes: float, directory: Path) -> None:
    print(
        f"\n2. From handing in to interview_processed: {minutes:g} minutes recorded, answers recognised meanwhile, SQLite"
    )
    from tests.recordings import recorder

    rng = np.random.default_rng(1)
    turns = max(2, round(minutes * 2))
    mix = (0.002 * rng.standard_normal(round(minutes * 60 * recorder.RATE))).astype(np.float32)
    answers = []
    for number in range(turns // 2):
        at = 20.0 + 60.0 * number
        voice = recorder.speech(30.0, seed=number)
        place = round((at + 0.12) * recorder.RATE)
        loud = recorder.up_to_48k(voice)[: len(mix) - place]
        mix[place : place + len(loud)] += loud
        answers.append((at, voice))
    path = recorder.record(directory / "talk.webm", mix, layout="mono")
    with ground.database("sqlite") as url, ground.application(ground.env_for(url, directory)) as application:
        interview_id = _a_submitted_talk(ground.customer(QUESTIONS).flow, path, answers)
        began = time.perf_counter()
        watch = threading.Thread(target=_wait_for, args=(application, interview_id, began))
        watch.start()
        processing.process_interview(interview_id)
        print(
            f"   sound that plays everywhere (AAC) in place of the copied packets: {time.perf_counter() - began:.1f} s"
        )
        watch.join()


def _wait_for(application: Any, interview_id: str, began: float) -> None:
    with application.app_context():
        while True:
            interview = db.session.get_one(Interview, interview_id, populate_existing=True)
            stage, failure = interview.stage, interview.failure
            db.session.rollback()
            if stage is Stage.COMPLETED:
                print(
                    f"   result published and interview_processed in the outbox: {time.perf_counter() - began:.1f} s (goal 5)"
                )
                return
            if stage is Stage.PROCESSING_FAILED:
                print(f"   processing failed: {failure}")
                return
            time.sleep(0.05)


def _a_submitted_talk(flow: InterviewFlow, path: Path, answers: list[tuple[float, Any]]) -> str:
    from app.interviews import actions

    organization = db.session.get_one(Organization, flow.organization_id)
    interview = actions.book(organization, flow.id)
    actions.begin(interview)
    interview.script = FlowScript.of(flow)
    found = interview.id
    recordings.open_run(found, mime_type="audio/webm;codecs=opus")
    db.session.commit()
    raw, step = path.read_bytes(), 6_000
    pieces = {(Track.MIX, at // step): raw[at : at + step] for at in range(0, len(raw), step)}
    for at, voice in answers:
        pcm = (voice * 32767).astype("<i2").tobytes()
        for place in range(0, len(pcm), 16_000):
            pieces[Track.VOICE, round(at * 2) + place // 16_000] = pcm[place : place + 16_000].ljust(16_000, b"\0")
    keep(found, pieces)
    for number, (at, _voice) in enumerate(answers):
        _said(found, 2 * number + 1, Role.AGENT, number % 10, at - 5, 4.0)
        _said(found, 2 * number + 2, Role.USER, None, at, 30.0)
    actions.submit(db.session.get_one(Interview, found))
    db.session.commit()
    return found


def keep(interview_id: str, pieces: dict[tuple[Track, int], bytes]) -> None:
    storage = gateways.current().storage
    names = {}
    for (track, number), content in pieces.items():
        sha256 = hashlib.sha256(content).hexdigest()
        key = chunk_key(interview_id, segment=1, track=track, number=number, sha256=sha256)
        storage.put(key, content)
        names[track, number] = (sha256, len(content), key)
    for (track, number), (sha256, size, key) in names.items():
        recordings.keep_chunk(
            interview_id, segment=1, track=track, number=number, sha256=sha256, size=size, storage_key=key
        )
    db.session.commit()


def _said(interview_id: str, number: int, role: Role, question: int | None, start: float, seconds: float) -> None:
    count = round(seconds * 2.5)
    words = [[f"word{at}", round(start + at * 0.4, 3), round(start + at * 0.4 + 0.3, 3)] for at in range(count)]
    db.session.add(
        Utterance(
            interview_id=interview_id,
            number=number,
            role=role,
            question_index=question,
            segment=1,
            start=start,
            end=start + seconds,
            content=" ".join(str(word[0]) for word in words),
            words=words,
            typed=False,
        )
    )


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]), *sys.argv[3:])
        return
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="smaller numbers, under two minutes")
    options.add_argument("--interviews", type=int, default=0)
    options.add_argument("--minutes", type=float, default=0)
    options.add_argument("--only", default="12")
    given = options.parse_args()
    interviews = given.interviews or (200 if given.quick else 1_000)
    with ground.folder() as directory:
        for kind in ground.KINDS if "1" in given.only else ():
            hot_path(kind, interviews=interviews, requests=440 if given.quick else 1_650, directory=directory)
        if "2" in given.only:
            last_word(minutes=given.minutes or (5 if given.quick else 30), directory=directory)


if __name__ == "__main__":
    main()
