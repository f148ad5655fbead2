"""Barge-in in a real browser: from the first sound of a candidate's voice to the last sound of the agent's.

    .venv/bin/python bench/barge_in.py [--times 20] [--quick]

Chromium with a fake microphone, the page's own modules, Silero in its worker. The agent hums at 6.5 kHz, where there is
no voice, so the recording that the page makes distinguishes both sides: it shows what was heard, not what the page
assumes. A real device adds the delay of its speaker (outputLatency). Then short sounds over the agent's words: it has
to continue after them. Goal: silent within 200 ms.
"""

import argparse
import io
import itertools
import logging
import math
import statistics
import sys
import tempfile
import wave
from pathlib import Path
from typing import Any

import av
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser import fake_server
from tests.browser.conftest import CHROMIUM, FLAGS, write_wav
from tests.browser.fake_server import Running, Story
from tests.browser.speech import NOISE, spoken

GOAL_MS = 200
RATE, HOP = 48_000, 240
HUM = 6_500.0
ANSWER = "I built a small house with my brother last summer."
ROOM_SECONDS = (4, 4)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--times", type=int, default=20)
    asked.add_argument("--quick", action="store_true", help="five times")
    given = asked.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    if CHROMIUM is None:
        print("barge-in: Chromium is missing, nothing was measured")
        return
    fake_server.tone = hum
    times = 5 if given.quick else given.times
    with tempfile.TemporaryDirectory() as folder:
        words = talk(Path(folder), spoken(ANSWER), Story(spoken_seconds=60.0), times=times)
        calls = talk(
            Path(folder), murmur(), Story(spoken_seconds=16.0 * (times + 2), judged={"counts": False}), times=times
        )
    report_words(words)
    report_calls(calls, times)


def hum(seconds: float) -> bytes:
    """The agent's words: a WAV file of one tone."""
    samples = 2500 * np.sin(2 * math.pi * HUM / 16_000 * np.arange(round(16_000 * seconds)))
    kept = io.BytesIO()
    with wave.open(kept, "wb") as out:
        out.setparams((1, 2, 16_000, 0, "NONE", ""))
        out.writeframes(samples.astype("<i2").tobytes())
    return kept.getvalue()


def murmur() -> np.ndarray:
    """ "Mhm" and "okay", which say: I am listening."""
    return np.concatenate([spoken("mhm"), np.zeros(4 * 16_000), spoken("Okay.")])


def talk(folder: Path, voice: np.ndarray, story: Story, *, times: int) -> np.ndarray:
    """An interview in which this is said again and again; gives what the page recorded, at 48 kHz."""
    from playwright.sync_api import sync_playwright

    rng = np.random.default_rng(4)
    before, after = (np.zeros(16_000 * seconds) for seconds in ROOM_SECONDS)
    samples = np.concatenate([before, voice, after])
    loop = write_wav(folder / "voice.wav", samples + rng.normal(0, NOISE, len(samples)), rate=16_000)
    story.questions = tuple(f"Question {n}?" for n in range(times + 2))
    server = Running(story)
    try:
        with sync_playwright() as playwright:
            flags = [*FLAGS, f"--use-file-for-fake-audio-capture={loop}"]
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
            page = browser.new_page()
            begin(page, server)
            page.wait_for_timeout((times + 1) * len(samples) / 16)
            browser.close()
    finally:
        server.stop()
    chunks = sorted(
        (number, body) for (run, track, number), body in story.chunks.items() if track == "mix" and run == 1
    )
    return decoded(b"".join(body for _, body in chunks))


def begin(page: Any, server: Running) -> None:
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    page.locator("[data-do=start]:enabled").wait_for(timeout=60_000)
    page.click("[data-do=start]")


def decoded(webm: bytes) -> np.ndarray:
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(io.BytesIO(webm)) as container:
        pieces = [piece.to_ndarray()[0] for frame in container.decode(audio=0) for piece in resampler.resample(frame)]
    return np.concatenate(pieces).astype(np.float64)


def loudness(sound: np.ndarray, low: float, high: float) -> np.ndarray:
    """Of this band, one value per 5 ms."""
    spectrum = np.fft.rfft(sound)
    places = np.fft.rfftfreq(len(sound), 1 / RATE)
    spectrum[(places < low) | (places > high)] = 0
    band = np.fft.irfft(spectrum, len(sound))
    frames = band[: len(band) // HOP * HOP].reshape(-1, HOP)
    return np.sqrt((frames**2).mean(axis=1))


def stretches(heard: np.ndarray, *, gap_ms: int) -> list[tuple[float, float]]:
    """(first, last) ms of what is heard, where silences up to this length do not part it."""
    places = np.flatnonzero(heard) * 5
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > gap_ms)
    firsts, lasts = np.r_[places[0], places[breaks + 1]], np.r_[places[breaks], places[-1]] + 5
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def both(sound: np.ndarray) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """The voice's stretches and the agent's."""
    voice, agent = loudness(sound, 150, 3_500), loudness(sound, HUM - 150, HUM + 150)
    floor = np.percentile(voice, 30)
    voiced = stretches(voice > max(4 * floor, 60), gap_ms=900)
    return voiced, stretches(agent > max(100.0, 0.4 * np.percentile(agent, 90)), gap_ms=60)


def report_words(sound: np.ndarray) -> None:
    voiced, agent = both(sound)
    spent = []
    for first, last in voiced:
        over = next((one for one in agent if one[0] < first - 300 and one[1] > first), None)
        if over and last - first > 1000:
            spent.append(over[1] - first)
    if not spent:
        print("barge-in: no one was interrupted, nothing was measured")
        return
    late = np.percentile(spent, 95, method="nearest")
    print(
        f"barge-in, first sound of the voice to last sound of the agent, on the recording: n {len(spent)}, "
        f"p50 {statistics.median(spent):.0f} ms, p95 {late:.0f} ms, max {max(spent):.0f} ms"
    )
    print(f"  goal <= {GOAL_MS} ms: {'reached' if late <= GOAL_MS else 'MISSED'}")


def report_calls(sound: np.ndarray, times: int) -> None:
    voiced, agent = both(sound)
    calls = [one for one in voiced if agent and agent[0][0] < one[0] - 300][: 2 * times]
    paused = [(end, begun) for (_, end), (begun, _) in itertools.pairwise(agent)]
    gone_on = [
        begun - last for _, last in calls for end, begun in paused if last - 1500 < end < last + 400 < begun + 400
    ]
    whole = len(calls) - len(gone_on)
    print(
        f'"mhm" and "okay" over the agent: n {len(calls)}; it spoke on through {whole}, paused and went on after {len(gone_on)}'
        + (f", {statistics.median(gone_on):.0f} ms after its end (max {max(gone_on):.0f})" if gone_on else "")
    )
    is_talking = bool(agent) and agent[-1][1] > len(sound) / RATE * 1000 - 1500
    print(f"  goal: none stops it for good: {'reached' if is_talking else 'MISSED'}")


if __name__ == "__main__":
    main()
