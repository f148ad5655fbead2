"""Where the sound of an utterance lies in the recording of an interview."""

import base64

import numpy as np

from bench.interview.recorded import Recorded, Said
from bench.interview.voices import Sound

RATE = 16_000
SPOKEN = (5, 12)
CUT = 9.0


def test_words_that_are_said_again_after_a_reload_are_found_where_each_run_has_them() -> None:
    voice = np.random.default_rng(3).normal(0, 3_000, RATE).astype("<i2")
    sides = np.zeros((15 * RATE, 2), "<i2")
    for louder, second in enumerate(SPOKEN):
        sides[second * RATE : (second + 1) * RATE, 0] = voice // 2 * (1 + louder)
    recorded = Recorded(began=100.0)
    recorded.said = [
        Said("answer", Sound(voice / 32_768), 105.0, rests=True, cut=100.0 + CUT),
        Said("answer", Sound(voice / 32_768), 112.0, rests=True),
    ]
    recorded.take(None, {"rate": RATE, "at": 100.0, "pcm": [base64.b64encode(sides.tobytes()).decode()]})
    assert recorded.place_of(voice.tobytes()) == SPOKEN[1]
    places = [recorded.place_of(voice.tobytes(), between=recorded.between_reloads(run)) for run in (1, 2)]
    assert places == list(SPOKEN)
