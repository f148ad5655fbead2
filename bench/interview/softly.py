"""How often a voice is taken for one that has turned away, by how much softer than before it is.

    MODELS_DIR=/srv/models .venv/bin/python -m bench.interview.softly

melody.js hears a sentence, then pieces of another one by the same voice, made softer, in a quiet room. Voices are Piper's
Joe and, where the clips can be had, a reader of LibriVox.
"""

import json
import sys
from itertools import permutations
from typing import Any

import numpy as np

from app.gateways.speech.ports import SPEECH_RATE
from bench.interview.curve import voice_and_page
from bench.interview.scenarios import PLAIN, Move
from bench.interview.voices import LOUD, QUIET_ROOM, Sound, people

PIECES = (0.6, 1.0, 1.5)
"""Seconds of a call over the agent that are heard."""
EVERY = 0.25
"""Seconds from the beginning of a piece to that of the next."""
SOFTER = (0, 3, 5, 6, 9, 12, 15)
"""Decibels."""
HEAR = """async (text) => {
    const { Melody } = await import("/static/js/voice/melody.js");
    const { before, since, pieces } = JSON.parse(text);
    const heard = (melody, samples, from) => {
        for (let at = 0; at + 320 <= samples.length; at += 320) melody.push(Int16Array.from(samples.slice(at, at + 320)), from + at + 320);
    };
    const known = new Melody();
    heard(known, before, 0);
    return pieces.map(([from, to]) => {
        const melody = Object.assign(new Melody(), { voiced: [...known.voiced] });
        heard(melody, since.slice(from, to), before.length);
        return melody.isSoft(before.length + 320);
    });
}"""


def main() -> int:
    with voice_and_page() as (voice, page):
        own = [voice.sound_of(Move("turn", 0, text=text)) for text in PLAIN[:5]]
        for name, sounds in ((voice.name, own), ("reader of LibriVox", people())):
            for seconds in PIECES if sounds else ():
                shares = [f"{softer} dB {_share(page, sounds, seconds, softer)}" for softer in SOFTER]
                print(f"{name}, {seconds} s: {', '.join(shares)}", flush=True)
    return 0


def _share(page: Any, sounds: list[Sound], seconds: float, softer: int) -> str:
    found = [soft for one, other in permutations(sounds, 2) for soft in _heard(page, one, other, seconds, softer)]
    return f"{sum(found)} of {len(found)}"


def _heard(page: Any, one: Sound, other: Sound, seconds: float, softer: int) -> list[bool]:
    """Whether each piece of ``other`` is taken to be soft, after ``one``."""
    length, step = round(seconds * SPEECH_RATE), round(EVERY * SPEECH_RATE)
    before, since = _in_a_room(one, 0), _in_a_room(other, softer)
    pieces = [(at, at + length) for at in range(0, max(1, len(since) - length), step)]
    given = json.dumps({"before": before.tolist(), "since": since.tolist(), "pieces": pieces})
    return list(page.evaluate(HEAR, given))


def _in_a_room(sound: Sound, softer: int) -> np.ndarray:
    loudness = LOUD * 10 ** (-softer / 20) / sound.samples.std()
    noise = np.random.default_rng(len(sound.samples)).normal(0, QUIET_ROOM, len(sound.samples))
    return np.clip(32_768 * loudness * sound.samples + noise, -32_768, 32_767).astype(int)


if __name__ == "__main__":
    sys.exit(main())
