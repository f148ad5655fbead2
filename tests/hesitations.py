"""Answers with pauses inside and answers that are over, made by our own voice: the same ones for the same seed.

A hesitation is a whole sentence, spoken in one go, cut at a word's end and moved apart, so that what is heard before
the pause is the melody of a sentence that goes on. Pauses last 0.3 to 2.5 s where words or a filler show that more will
come, and 0.3 to 1.2 s at the ends of clauses, where nobody could tell a longer one from the end.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from app.gateways.speech.ports import SPEECH_RATE, Speaker
from app.gateways.speech.sound import resample

VOICES = ("vendora-Anthony", "vendora-Kate", "vendora-Anna", "vendora-Rahul")
NOISES = (60.0, 100.0, 200.0)
"""Standard deviation of the room's noise in 16-bit steps: quiet, ordinary, a fan."""
FILLERS = ("um", "uh", "well", "you know", "let me see")
LONGEST, LONGEST_AT_CLAUSE = 2.5, 1.2

# "|" marks where people hesitate inside a clause, "/" the end of a clause or sentence with more to come.
ENGLISH = (
    "I have worked in a |small team for three years / and I like to |help people because |they see things.",
    "Last summer our |system was very slow in the morning / so I decided to |look at the |tables and |found it.",
    "We were eight people in the |office / and we met every morning to |plan the work of the |day.",
    "My manager told me that |the customer was angry / and I said that I |would call her because |I knew the story.",
    "When I was at the |hospital I learned to |listen first / and then to |ask the right question.",
    "It was difficult because |nobody knew the |new machine / but my friend and |I read the whole book in a |week.",
    "I think that |the most important part is |time / and you should |never promise what you |cannot do.",
    "In my |last job I was |responsible for the |money / and I had to |write a report for |the director each month.",
)
OTHERS = {
    "de-DE": "Ich habe in einem |kleinen Team gearbeitet / und ich wollte |etwas lernen, weil |es Freude macht.",
    "es-419": "He trabajado en un |equipo pequeño / y me gusta |ayudar a la |gente porque |siempre aprendo.",
    "fr-FR": "J'ai travaillé dans une |petite équipe / et je voulais |apprendre parce que |le travail était facile.",
}
FINISHED = (
    "I have worked in a small team for three years and I like to help people every day.",
    "Last summer our system was very slow in the morning and I found the reason after two days of work.",
    "We were eight people and we met every morning to plan the work of the day.",
    "My manager was angry with the customer. I called her, and in the end she was happy with the price.",
    "When I was young I wanted to be a doctor, but later I found that I like numbers and machines.",
    "I would first listen to the customer and then I would look for a way to help her today.",
    "We finished the project two weeks early and the whole team went to the sea for a day.",
    "I read a lot of books and I like to walk in the mountains with my family at the weekend.",
    "I like this company.",
    "Three years.",
)


@dataclass(frozen=True)
class Clip:
    """16 kHz samples; ``pauses`` as (first sample, last sample, kind) inside them; ``end`` is the last speech."""

    language: str
    samples: np.ndarray
    pauses: tuple[tuple[int, int, str], ...]
    end: int


def hesitations(speaker: Speaker, *, count: int, seed: int = 5) -> Iterator[Clip]:
    """English ones, and every sixth in another language, which no embedded recogniser hears."""
    rng = random.Random(seed)
    for number in range(count):
        language, text = "en-US", ENGLISH[number % len(ENGLISH)]
        if number % 6 == 5:
            language, text = rng.choice(sorted(OTHERS.items()))
        yield _broken(speaker, text, language=language, rng=rng)


def finished(speaker: Speaker, *, seed: int = 6) -> Iterator[Clip]:
    """Whole answers in English, each in two voices."""
    rng = random.Random(seed)
    for text in FINISHED:
        for voice in VOICES[:2]:
            speech, _ = _spoken(speaker, text, voice=voice, language="en-US")
            yield _in_a_room([speech], (), language="en-US", rng=rng)


def _broken(speaker: Speaker, marked: str, *, language: str, rng: random.Random) -> Clip:
    """One pause in each clip, at one of its marks."""
    words = marked.replace(" / ", " /").split()
    marks = [at for at, word in enumerate(words) if word[0] in "|/"]
    chosen = rng.choice(marks)
    is_clause = words[chosen][0] == "/"
    plain = [word.lstrip("|/") for word in words]
    voice = rng.choice(VOICES)
    kind = "clause" if is_clause else "word"
    if not is_clause and language == "en-US" and rng.random() < 0.4:
        kind, filler = "filler", rng.choice(FILLERS).split()
        plain[chosen:chosen] = filler
        chosen += len(filler)
    speech, ends = _spoken(speaker, " ".join(plain), voice=voice, language=language)
    cut = ends[chosen - 1] if len(ends) == len(plain) else len(speech) * chosen // len(plain)
    seconds = rng.uniform(0.3, LONGEST_AT_CLAUSE if is_clause else LONGEST)
    silence = np.zeros(round(seconds * SPEECH_RATE))
    start = 8000 + cut
    return _in_a_room(
        [speech[:cut], silence, speech[cut:]], ((start, start + len(silence), kind),), language=language, rng=rng
    )


def _spoken(speaker: Speaker, text: str, *, voice: str, language: str) -> tuple[np.ndarray, list[int]]:
    made = speaker.speak(text, voice_id=voice, language=language)
    samples = np.frombuffer(resample(made.pcm, made.rate, SPEECH_RATE), "<i2").astype(np.float64)
    loud = np.flatnonzero(np.abs(samples) > 150)
    last = int(loud[-1]) + 1 if len(loud) else len(samples)
    return samples[:last], [min(last, round(word.end * SPEECH_RATE)) for word in made.words]


def _in_a_room(
    parts: list[np.ndarray], pauses: tuple[tuple[int, int, str], ...], *, language: str, rng: random.Random
) -> Clip:
    speech = np.concatenate([np.zeros(8000), *parts])
    whole = np.concatenate([speech, np.zeros(4 * SPEECH_RATE)])
    noise = np.random.default_rng(rng.randrange(2**32)).normal(0, rng.choice(NOISES), len(whole))
    samples = np.clip(whole + noise, -32768, 32767).astype("<i2")
    return Clip(language, samples, pauses, len(speech))
