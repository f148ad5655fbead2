"""Word errors with each form of a piece, for `bench/line.py --words`: the page's coder, the server's decoder, a recogniser."""

import logging
import sys
from base64 import b64decode, b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from app.gateways.speech.coding import Codec
from bench._answers import ANSWERS
from bench.speech import Pocketsphinx, Whisper, spoken_answers
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.fake_server import Running, Story
from tests.browser.speech import NOISE, spoken

SAMPLES_KILOBITS = 256
OWN = 23 << 3
"""First byte of a packet by our own encoder."""
CODED = ("opus", "own")
CODE = """async ([pcm, opus]) => {
  const { Coder, startOpus } = await import("/static/js/voice/coder.js");
  const { VoiceTrack } = await import("/static/js/voice/voice-track.js");
  const coder = new Coder(opus ? startOpus() : null);
  for (let n = 0; opus && n < 500 && !coder.isNative; n += 1) await new Promise((go) => { setTimeout(go, 10); });
  const [chunks, pieces] = [[], []];
  const track = new VoiceTrack((_, chunk) => chunks.push(chunk));
  track.open(0);
  track.push(new Int16Array(Uint8Array.from(atob(pcm), (one) => one.charCodeAt(0)).buffer));
  for (const chunk of chunks) pieces.push(btoa(String.fromCharCode(...(await coder.code(chunk)))));
  coder.lose();
  return pieces;
}"""


def compare(models: Path | None, count: int, rooms: int, only: list[str], *, distance: Any, plain: Any) -> None:
    """Print the word errors of ``count`` answers as samples, in Opus by the browser and by our own encoder, by each recogniser there is.

    Each answer is heard in ``rooms`` rooms, which differ in their noise. A difference has its standard error behind it.
    """
    from playwright.sync_api import sync_playwright

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    codec, server = Codec(), Running(Story())
    sounds = _answers(models, count, rooms)
    sent = {"samples": sum(len(pcm) for _, pcm in sounds)}
    forms: dict[str, list[bytes]] = {"samples": [pcm for _, pcm in sounds]}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.goto(f"{server.url}/modules")
        for name in [form for form in CODED if form in only] or CODED:
            sent[name], forms[name] = 0, []
            for _, pcm in sounds:
                coded = page.evaluate(CODE, [b64encode(pcm).decode(), name == "opus"])
                pieces = [b64decode(piece) for piece in coded]
                sent[name] += sum(map(len, pieces))
                assert all((piece[6 + 2 * piece[3]] == OWN) is (name == "own") for piece in pieces)
                forms[name].append(b"".join(codec.decode(piece) for piece in pieces))
        browser.close()
    server.stop()
    codec.close()
    recognisers = {"pocketsphinx": Pocketsphinx} | (
        {"whisper-base": lambda: Whisper(models / "whisper-base")} if models else {}
    )
    for recogniser, make in recognisers.items():
        named = [part for part in only if part not in CODED]
        if named and not any(part in recogniser for part in named):
            continue

        def wrong(heard: list[bytes], make: Any = make) -> list[int]:
            engine = make()
            found = [
                distance(plain(text), plain(engine.final(pcm)[0])) for (text, _), pcm in zip(sounds, heard, strict=True)
            ]
            engine.close()
            return found

        words = sum(len(plain(text)) for text, _ in sounds)
        with ThreadPoolExecutor(max_workers=2) as two:
            found = dict(zip(forms, two.map(wrong, forms.values()), strict=True))
        for name, errors in found.items():
            off = np.subtract(errors, found["samples"])
            error = 100 * off.std() * len(off) ** 0.5 / words
            print(
                f"{recogniser}, {name}: {100 * sum(errors) / words:.1f} % of {words} words, "
                f"{100 * off.sum() / words:+.1f} (standard error {error:.1f}), "
                f"{SAMPLES_KILOBITS * sent[name] / sent['samples']:.1f} kbit/s",
                flush=True,
            )


def _answers(models: Path | None, count: int, rooms: int) -> list[tuple[str, bytes]]:
    """Text and samples, with the noise of a room and whole half seconds of length."""
    rng = np.random.default_rng(21)
    if models:
        said = [(text, np.frombuffer(pcm, "<i2").astype(float)) for text, pcm, _ in spoken_answers(models, count)]
    else:
        said = [(text, spoken(text)) for text in ANSWERS[:count]]
    made = []
    for text, sound in said * rooms:
        whole = np.pad(sound, (4_000, 4_000 + -len(sound) % 8_000))
        noisy = np.clip(whole + rng.normal(0, NOISE, len(whole)), -32_768, 32_767)
        made.append((text, noisy.astype("<i2").tobytes()))
    return made


if __name__ == "__main__":
    sys.exit("run bench/line.py --words")
