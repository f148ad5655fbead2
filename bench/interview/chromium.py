"""The twelve candidates in Chromium with a virtual microphone: the whole of Parley, at the speed of speech.

    MODELS_DIR=/srv/models .venv/bin/python -m bench.interview.chromium FOLDER [--only list,noise] [--passes 1] \
        [--model 600]

Each takes an interview of three questions, with the engines of a default installation (Whisper and Piper where
MODELS_DIR has them). FOLDER gets a stereo recording and a log of each; measures.py computes the figures from these
alone. With --model, a language model that takes this many milliseconds asks one follow-up about every second answer.
An interview takes about a minute. README.md has the definitions.
"""

import argparse
import base64
import itertools
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench.interview import measures
from bench.interview.recorded import Recorded, Said
from bench.interview.scenarios import PLAIN, QUESTIONS, SCENARIOS, Move, Scenario
from bench.interview.voices import Voice, room
from tests import leftovers
from tests.browser import mouth
from tests.browser.candidate import Candidate
from tests.browser.conftest import CHROMIUM
from tests.browser.rehearsal import Platform, platform_in, until
from tests.conversation.models import decision, model

HERE = Path(__file__).parent
LONGEST = 300.0
PATIENCE = 60.0
"""Seconds after which a moment that does not come is passed over."""
ANSWERS_AFTER, AGAIN, GIVES_UP = 0.5, 8.0, 8.0
"""Seconds: before a plain answer; until what was not heard is said again; until "I have finished" is pressed."""
LOOK_MS = 25
CHUNK = 0.5
SILENT = bytes(round(CHUNK * mouth.RATE) * 2)
"""A chunk that was never stored."""
FOLLOW_UP = "What was the most difficult part of that for you?"
HELLO = Move("turn", 0, kind="hello", text="Hello, can you hear me?")


class Person:
    """One scenario's candidate, in a browser."""

    def __init__(self, playwright: Any, platform: Platform, scenario: Scenario, *, voice: Voice) -> None:
        self.scenario, self.platform = scenario, platform
        self.recorded = Recorded()
        self._moves, self._plain = list(scenario.moves), [Move("turn", 0, text=text) for text in PLAIN * 2]
        self._sounds = {
            _key(move): voice.sound_of(move) for move in [HELLO, *self._moves, *self._plain] if move.act == "say"
        }
        self._phase, self._since, self._moved, self._online = "", 0.0, 0.0, 0.0
        self.one = Candidate(
            playwright,
            platform,
            script=self._script(),
            executable=CHROMIUM,
            questions=list(QUESTIONS),
            intro="Welcome.",
        )
        self.one.context.expose_binding("stereo_taken", self.recorded.take)
        session = self.one.context.new_cdp_session(self.one.page)
        session.send("Page.setBypassCSP", {"enabled": True})  # the recorder's worklet is no file of the page's server

    def _script(self) -> str:
        sounds = {key: base64.b64encode(sound.pcm).decode() for key, sound in self._sounds.items()}
        worklet = (HERE / "stereo-worklet.js").read_text(encoding="utf-8")
        given = json.dumps({"rate": 16_000, "sounds": sounds, "worklet": worklet})
        own = (HERE / "stereo.js").read_text(encoding="utf-8").replace("__GIVEN__", given)
        return mouth.script({}, automatic=False, room=room(self.scenario.noise).pcm) + own

    def take(self) -> None:
        """The whole interview, to the thank-you."""
        page = self.one.page
        page.goto(self.one.link)
        page.check("#consent")
        page.click("[data-do=next]")
        page.click("[data-do=check]")
        deadline = time.monotonic() + LONGEST
        while not (now := self._now())["ready"] or now["speaks"]:
            assert time.monotonic() < deadline, f"the microphone check: {page.inner_text('body')[:400]}"
            if not now["speaks"] and self.recorded.rate:
                self._say(HELLO)
            page.wait_for_timeout(100)
        page.click("[data-do=start]")
        self.recorded.began = self._moved = now["at"]
        while not now["over"]:
            assert time.monotonic() < deadline, f"the interview does not end: {page.inner_text('body')[:400]}"
            self._look(now)
            page.wait_for_timeout(LOOK_MS)
            with suppress(Exception):  # the page may just be changing to the thank-you
                now = self._now()

    def is_submitted(self) -> bool:
        """Whether everything that was said is in the database."""
        rows = self.platform.rows("select submitted_at from interview where id = :i", i=self.one.interview_id)
        return rows[0][0] is not None

    def close(self) -> None:
        self.one.close()

    def _now(self) -> dict[str, Any]:
        return dict(self.one.page.evaluate("stereo.now"))

    def _look(self, now: dict[str, Any]) -> None:
        if now["phase"] != self._phase:
            self._phase, self._since = now["phase"], now["at"]
        if self._online and now["at"] >= self._online:
            self.one.context.set_offline(False)
            self._online = 0.0
        if self._moves:
            is_late = now["at"] - self._moved > PATIENCE
            if is_late or self._is_due(self._moves[0], now):
                move = self._moves.pop(0)
                self._moved = now["at"]
                if not is_late:
                    self._do(move, now)
        elif not now["speaks"]:
            self._answers(now)

    def _is_due(self, move: Move, now: dict[str, Any]) -> bool:
        ms = move.ms / 1000
        if move.when == "speaking":
            return bool(now["speaks"]) and now["at"] - self.recorded.said[-1].begins >= ms
        if now["speaks"]:
            return False
        if move.when == "agent":
            return self._phase == "speaking" and now["agent"] >= ms
        return self._phase == "listening" and now["at"] - self._since >= ms

    def _do(self, move: Move, now: dict[str, Any]) -> None:
        if move.act == "say":
            self._say(move)
        elif move.act == "offline":
            self.one.context.set_offline(True)
            self._online = now["at"] + move.away
        else:
            self.recorded.said[-1].cut = now["at"]
            self.one.page.reload()
            self.one.page.wait_for_timeout(1000 * move.away)
            self.one.page.click("[data-do=resume]")

    def _answers(self, now: dict[str, Any]) -> None:
        """What someone does who has nothing special to do."""
        waits = now["at"] - max(self._since, self.recorded.said[-1].ends)
        if self._phase == "answering" and waits > GIVES_UP:
            self.one.page.click("[data-do=finished]")
        is_new = self.recorded.said[-1].begins < self._since
        if self._phase == "listening" and waits > (ANSWERS_AFTER if is_new else AGAIN) and self._plain:
            self._say(self._plain.pop(0))

    def _say(self, move: Move) -> None:
        begins = float(self.one.page.evaluate("name => stereo.say(name)", _key(move)))
        self.recorded.said.append(
            Said(move.kind, self._sounds[_key(move)], begins, rests=move.rests and move.kind != "hello")
        )

    def keep(self, folder: Path, name: str, **about: Any) -> measures.Talk:
        """The recording and the log in files, and what they say."""
        path = folder / f"{name}.wav"
        asked, taken = self._asked(), self._taken()
        self.recorded.keep(path, **about, questions=len(QUESTIONS), asked=asked, taken=taken)
        return measures.read(path)

    def _asked(self) -> list[dict[str, Any]]:
        """Each time a question was asked. What was asked again because the candidate had said so was wanted."""
        rows = self.platform.rows(
            "select role, content, obeyed from utterance where interview_id = :i order by number",
            i=self.one.interview_id,
        )
        found, wanted = [], False
        for role, content, obeyed in rows:
            if role != "agent":
                wanted = bool(obeyed)
                continue
            for number, question in enumerate(QUESTIONS, 1):
                words = question.split()
                said = (content or "").split()
                if said[:2] == words[:2]:
                    share = min(1.0, len(said) / len(words))
                    found.append({"question": number, "share": round(share, 2), "wanted": wanted})
        return found

    def _taken(self) -> list[dict[str, Any]]:
        """The sound of each of the candidate's utterances, found in the recording."""
        rows = self.platform.rows(
            "select segment, first_chunk, last_chunk from utterance where interview_id = :i and role = 'user' "
            "and first_chunk is not null order by number",
            i=self.one.interview_id,
        )
        zero = {run: self._zero(run, [row for row in rows if row[0] == run]) for run in {row[0] for row in rows}}
        return [
            {"begins": round(zero[run] + CHUNK * first, 3), "ends": round(zero[run] + CHUNK * (last + 1), 3)}
            for run, first, last in rows
        ]

    def _zero(self, run: int, utterances: list[tuple[int, int, int]]) -> float:
        """Where chunk 0 of a run lies in the recording. All its sound is looked for in one piece, since a sentence alone
        may be said twice."""
        stored = self.platform.rows(
            "select number, storage_key from chunk where interview_id = :i and segment = :s and track = 'voice'",
            i=self.one.interview_id,
            s=run,
        )
        files = {number: Path(self.platform.env["STORAGE_URL"]) / key for number, key in stored}
        first = min(first for _, first, _ in utterances)
        numbers = range(first, max(last for *_, last in utterances) + 1)
        pcm = b"".join(files[number].read_bytes() if number in files else SILENT for number in numbers)
        return self.recorded.place_of(pcm, between=self.recorded.between_reloads(run)) - CHUNK * first


def _key(move: Move) -> str:
    """Names the sound of a move."""
    return f"{move.kind}: {move.text}"


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--only", default="", help="parts of scenarios' names, separated by commas")
    asked.add_argument("--passes", type=int, default=1)
    asked.add_argument("--model", type=int, metavar="MS", help="a language model that answers after this time")
    given = asked.parse_args()
    if CHROMIUM is None:
        print("Chromium is missing: apt-get install chromium")
        return 1
    given.folder.mkdir(parents=True, exist_ok=True)
    chosen = [one for one in SCENARIOS if any(part in one.name for part in given.only.split(","))]
    models = os.environ.get("MODELS_DIR")
    voice = Voice(Path(models) if models else None)
    print(f"{len(chosen)} candidates, voice {voice.name}, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings(), asking(given.model) as settings:
        warnings.simplefilter("ignore")
        os.environ |= {"MODELS": "off", "STORAGE_URL": f"{place}/files", **settings}
        with platform_in(Path(place), with_model=False) as platform:
            host = platform._run("speech", platform.env)
            try:
                failed = played(platform, chosen, voice, folder=given.folder, passes=given.passes)
            finally:
                leftovers.end(host, seconds=30)
                voice.close()
    talks = [measures.read(path) for path in sorted(given.folder.glob("*.wav"))]
    print("\n".join(measures.table(measures.of(talks))))
    return 1 if failed else 0


@contextmanager
def asking(ms: int | None) -> Iterator[dict[str, str]]:
    """Settings of a language model that asks back every other time, after this time; none without one."""
    if ms is None:
        yield {}
        return
    turns = itertools.cycle((decision("follow_up", FOLLOW_UP), decision("next")))

    def late(_rules: str, _data: dict[str, Any]) -> Any:
        time.sleep(ms / 1000)
        return next(turns)

    with model(late) as address:
        yield {"LLM_BASE_URL": address, "LLM_MODEL": "m", "LLM_API_KEY": "k"}


def played(platform: Platform, chosen: list[Scenario], voice: Voice, *, folder: Path, passes: int) -> int:
    """How many interviews failed. The first one, which loads the engines, is not kept."""
    from playwright.sync_api import sync_playwright

    failed = 0
    with sync_playwright() as playwright:
        for number, scenario in enumerate([Scenario("first", ()), *chosen * passes]):
            person = Person(playwright, platform, scenario, voice=voice)
            try:
                play(person, folder if number else None, name=f"{number:02}-{scenario.name.replace(' ', '-')}")
            except Exception as error:  # the others are still played  # noqa: BLE001
                failed += 1
                print(f"  {scenario.name} FAILED: {type(error).__name__}: {str(error)[:500]}", flush=True)
            finally:
                person.close()
    return failed


def play(person: Person, folder: Path | None, *, name: str) -> None:
    """One interview, kept in ``folder``."""
    before, began = os.getloadavg()[0], time.monotonic()
    person.take()
    until(person.is_submitted, what="the interview is submitted", seconds=60)
    if folder is None:
        return
    talk = person.keep(folder, name, interviewer="Parley", scenario=person.scenario.name, load=before)
    shown = " ".join(f"{1000 * one:.0f}" for one in measures.of([talk]).replies)
    print(f"  {name}: {time.monotonic() - began:.0f} s, load {before:.1f}, replies after {shown} ms", flush=True)


if __name__ == "__main__":
    sys.exit(main())
