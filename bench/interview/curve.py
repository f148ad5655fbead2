"""Cut-ins and replies as patience varies: real voices, detectors and words, on a virtual clock.

    MODELS_DIR=/srv/models .venv/bin/python -m bench.interview.curve [--every 1]

All of what the page waits (patience.js) is multiplied by a factor. The parts are those of bench/patience.py: Silero,
endpoint.js, melody.js and patience.js in Chromium, the words of the recognizer that a default installation uses.
Voices are Piper's Joe and, where the clips can be had, the readers of LibriVox, whose sentences are moved apart at
every fifth word; they read, so they do not hesitate like people who think. Definitions are those of measures.py.
"""

import argparse
import contextlib
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber
from app.gateways.speech.engines.whisper import WhisperTranscriber
from app.gateways.speech.ports import SPEECH_RATE
from app.operations.cli.speech import _host
from app.settings import Settings
from bench.interview import measures, virtual
from bench.interview.scenarios import PLAIN
from bench.interview.voices import QUIET_ROOM, Sound, Voice, moved_apart, people
from bench.patience import LISTEN, heard, listening, silences
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.fake_server import Running, Story
from tests.hesitations import ENGLISH, FINISHED, Clip

LENGTHS = (1.0, 2.0)
BEFORE, AFTER = 0.5, 7.0
"""Seconds of the room around each answer: the longest wait has to end in it."""
EVERY = 5
LOADS = 60.0
"""Seconds until the speech host of a busy machine has said what it offers."""
SPEAKS = 2.0
"""Seconds of a reply, for the measures."""
KEEP = "(text) => { (window.kept ??= []).push(JSON.parse(text)); return window.kept.length - 1; }"
"""Samples are given to the page once, as one text: Playwright looks at each single value."""
LISTEN_AGAIN = f"async ([number, hints]) => ({LISTEN})([...window.kept[number], hints])"


class Answer:
    """A sound in a room, and what was heard of it at its pauses."""

    def __init__(self, sound: Sound, *, page: Any, recogniser: Any, rests: bool, seed: int) -> None:
        self.sound, self.rests = sound, rests
        before, after = (np.zeros(round(seconds * SPEECH_RATE)) for seconds in (BEFORE, AFTER))
        whole = 32_768 * np.concatenate([before, sound.samples, after])
        whole += np.random.default_rng(seed).normal(0, QUIET_ROOM, len(whole))
        end = len(before) + len(sound.samples)
        self._clip = Clip("en-US", np.clip(whole, -32_768, 32_767).astype("<i2"), (), end)
        self._number = page.evaluate(KEEP, json.dumps(listening(self._clip)))
        self.lulls = [one for one in self._events(page, None) if one["type"] == "lull"]
        self.hints, self._finish_ms = heard(self._clip, self.lulls, recogniser)

    @property
    def samples(self) -> np.ndarray:
        """16 bit, with the room around it."""
        return self._clip.samples

    def _events(self, page: Any, hints: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
        return list(page.evaluate(LISTEN_AGAIN, [self._number, hints]))

    def talk(self, page: Any, *, hints: list[dict[str, Any]] | None = None) -> measures.Talk:
        """When a reply would sound, with the page's patience as it is now, or with other ``hints`` of the server."""
        found = silences(self._events(page, self.hints if hints is None else hints), self._finish_ms)
        sounds = [one["sound"] for one in found if one["noticed"] is None or one["sound"] < one["noticed"]]
        spans = tuple((at / SPEECH_RATE, at / SPEECH_RATE + SPEAKS) for at in sounds)
        pauses = tuple((begins + BEFORE, ends + BEFORE) for begins, ends in self.sound.pauses)
        said = measures.Said("answer", BEFORE, BEFORE + self.sound.seconds, pauses, rests=self.rests)
        return measures.Talk("", spans, (said,), seconds=len(self._clip.samples) / SPEECH_RATE)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--every", type=int, default=1, help="of the answers, only each of this number")
    for name, answers, page in heard_answers(every=asked.parse_args().every):
        report(name, answers, page)
    return 0


def heard_answers(*, every: int) -> Iterator[tuple[str, list[Answer], Any]]:
    """Each voice with its answers, and the page that hears them. Raises SystemExit where Chromium is missing."""
    with voice_and_page() as (voice, page), ears(os.environ.get("MODELS_DIR")) as recogniser:
        page.evaluate(virtual.VARY, 1.0)
        print(f"words: {recogniser.name}, load {os.getloadavg()[0]:.1f}", flush=True)
        for name, sounds in ((voice.name, [*spoken(voice)]), ("readers of LibriVox", [*read()])):
            answers = [
                Answer(sound, page=page, recogniser=recogniser, rests=rests, seed=number)
                for number, (sound, rests) in enumerate(sounds[::every])
            ]
            if answers:
                yield name, answers, page


@contextlib.contextmanager
def voice_and_page() -> Iterator[tuple[Voice, Any]]:
    """A speaker, and a page of Chromium that has the modules. Raises SystemExit where Chromium is missing."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    if CHROMIUM is None:
        raise SystemExit("Chromium is missing: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    models = os.environ.get("MODELS_DIR")
    voice, server = Voice(Path(models) if models else None), Running(Story())
    try:
        with sync_playwright() as running:
            page = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page()
            page.goto(f"{server.url}/modules")
            yield voice, page
    finally:
        server.stop()
        voice.close()


@contextlib.contextmanager
def ears(models: str | None) -> Iterator[Any]:
    """Whisper where it is installed, else the embedded recognizer."""
    with tempfile.TemporaryDirectory() as place:
        settings = Settings.from_env({"DATA_DIR": place, "MODELS": "off", **({"MODELS_DIR": models} if models else {})})
        with _host(settings) as host:
            recogniser: Any = WhisperTranscriber(host)
            deadline = time.monotonic() + LOADS
            while models and not recogniser.supports("en-US") and time.monotonic() < deadline:
                time.sleep(0.2)
            if not recogniser.supports("en-US"):
                recogniser = PocketsphinxTranscriber(processes=1)
            with contextlib.closing(recogniser):
                yield recogniser


def spoken(voice: Voice) -> Iterator[tuple[Sound, bool]]:
    """Each place at which people hesitate, with either pause, and answers without any."""
    for marked in ENGLISH:
        words = marked.replace(" / ", " /").split()
        for place, word in enumerate(words):
            if word[0] not in "|/":
                continue
            before, after = (" ".join(one.lstrip("|/") for one in part) for part in (words[:place], words[place:]))
            for length in LENGTHS:
                yield voice.says(f"{before} |{length:g}| {after}"), False
    for text in dict.fromkeys((*FINISHED[:8], *PLAIN)):
        yield voice.says(text), True


def read() -> Iterator[tuple[Sound, bool]]:
    """Sentences that people read, with either pause at every fifth word."""
    for sound in people():
        words = [word for word, _, _ in sound.words]
        for place in range(EVERY, len(words) - 1, EVERY):
            for length in LENGTHS:
                yield moved_apart(sound, f"{' '.join(words[:place])} |{length:g}| {' '.join(words[place:])}"), False
        yield sound, True


def report(name: str, answers: list[Answer], page: Any) -> None:
    print(f"\n{name}: {len(answers)} answers")
    print("\n".join(measures.CURVE))
    for factor in virtual.FACTORS:
        page.evaluate(virtual.VARY, factor)
        print(measures.point(f"{factor:g}", measures.of(answer.talk(page) for answer in answers)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
