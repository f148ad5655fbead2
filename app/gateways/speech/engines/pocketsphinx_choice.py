"""A second look at a short utterance: which of some sayings it is, and how much better than any other sounds.

A part of the recognition process (`pocketsphinx_child.py` loads it by path), so it imports nothing of Parley. A grammar
of the sayings is decoded and, beside it, a loop of all sounds of English.
"""

import math
import re
import sys
from typing import Any

import numpy as np

RATE, SAMPLE_BYTES, FRAMES_PER_SECOND = 16_000, 2, 100
LONGEST = 4.0
"""Seconds of speech that are looked at again; longer speech is an answer."""
KEPT = 6
"""Grammars that are kept; there are two, unless someone changes the sayings."""
POLITE = 0.1
"""Chance of a word of politeness before or after a saying; at most two before and one after are expected."""
QUIET = ("<sil>", "[NOISE]")
HEARD, NO_SEARCH = "heard", "for one word, which costs next to nothing"
FRAME, AROUND = 160, 12
"""Samples of 10 ms; this many of these frames are left before and after the speech."""
OVER_ROOM, OF_LOUDEST = 2.5, 0.06
VOWELS = frozenset(("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW"))
ALIKE, MISSING, ADDED, OUTSIDE = 0.6, 0.9, 0.8, 0.4
"""What it costs that a vowel is another vowel, that a sound is missing, that there is one more inside or outside."""
LIKENESS, EVEN, STEEP = 4.0, 4.2, 2.0
"""How the two measures are weighed; at EVEN they say neither yes nor no. Fitted to other voices."""
UNEXPLAINED = 2.5
"""The first measure where the words heard at first cannot explain the sound: then likeness to the saying decides."""
BEAMS = {"beam": 1e-64, "pbeam": 1e-64, "wbeam": 1e-48}
"""Wider than pocketsphinx's own, under which the end of a longer saying is not reached."""
STATES = 500
"""Searched per frame at most. Sound that fits no saying would keep up to 2,000 and take half as long again."""

Found = tuple[str, float, float, float]
Sayings = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
Arc = tuple[Any, ...]
"""From, to, chance, and the word; without one it is empty."""
EMPTY = 3


class Grammar:
    """Arcs of a finite-state grammar in which sayings share their beginnings and ends."""

    def __init__(self, sayings: Sayings) -> None:
        whole, before, after = sayings
        self.arcs: list[Arc] = []
        self._states = 0
        self._known: dict[tuple[Any, ...], int] = {}
        self.begin, first, second, start, end, last, self.end = (self._state() for _ in range(7))
        self._quiet(self.begin, first)
        self._polite(first, second, before)
        self._polite(second, start, before)
        self._end = end
        self.arcs.append((start, self._place(_tree(whole)), 1.0))
        self._polite(end, last, after)
        self._quiet(last, self.end)
        self._close()

    def _state(self) -> int:
        self._states += 1
        return self._states - 1

    def _quiet(self, start: int, end: int) -> None:
        self.arcs.append((start, end, 0.4))
        self.arcs += [(start, end, 0.3, noise) for noise in QUIET]

    def _polite(self, start: int, end: int, words: tuple[str, ...]) -> None:
        self.arcs.append((start, end, 1 - POLITE))
        for said in words:
            *first, last = said.split()
            at, chance = start, POLITE / len(words)
            for word in first:
                to = self._state()
                self.arcs.append((at, to, chance, word))
                at, chance = to, 1.0
            self.arcs.append((at, end, chance, last))

    def _close(self) -> None:
        """Ways of several empty arcs as one: the decoder follows a single one between two words."""
        empty = {arc[:2]: arc[2] for arc in self.arcs if len(arc) == EMPTY}
        longer = dict(empty)
        while longer:
            longer = {
                (start, to): chance * on
                for (start, between), chance in longer.items()
                for (before, to), on in empty.items()
                if between == before and (start, to) not in empty
            }
            empty |= longer
        spoken = [arc for arc in self.arcs if len(arc) > EMPTY]
        self.arcs = [*spoken, *((start, to, chance) for (start, to), chance in empty.items())]

    def _place(self, tree: dict[str, Any]) -> int:
        """The state from which exactly the rest of these sayings leads to the end."""
        ways = tuple(sorted((word, self._end if word == "" else self._place(rest)) for word, rest in tree.items()))
        if ways not in self._known:
            self._known[ways] = at = self._state()
            self.arcs += [(at, to, 1 / len(ways), *([word] if word else [])) for word, to in ways]
        return self._known[ways]


def _tree(sayings: tuple[str, ...]) -> dict[str, Any]:
    """The words of the sayings as branches; an empty word where one of them ends."""
    tree: dict[str, Any] = {}
    for said in sayings:
        at = tree
        for word in said.split():
            at = at.setdefault(word, {})
        at[""] = {}
    return tree


class Chooser:
    """A decoder without a language model, 27 MB."""

    def __init__(self) -> None:
        import pocketsphinx

        self._decoder = pocketsphinx.Decoder(loglevel="FATAL", lm=None, fsgusefiller=False, maxhmmpf=STATES, **BEAMS)
        self._decoder.add_keyphrase(NO_SEARCH, "nothing")
        self._names: dict[Sayings, str] = {}

    def choose(self, sayings: Sayings, pcm: bytes, heard: str) -> tuple[list[Found], float] | None:
        """The words of the most likely saying with their times, and how sure that is; None where none fits."""
        first, last = speech_of(pcm)
        speech = pcm[first * SAMPLE_BYTES : last * SAMPLE_BYTES]
        if not heard or not speech or last - first > LONGEST * RATE:
            return None
        if sayings not in self._names:
            self._learn(sayings)
        fit = self._fit(self._names[sayings], speech)
        words = list(words_of(self._decoder))
        if fit is None or not words:
            return None
        self._decoder.add_fsg(HEARD, self._grammar(Grammar(((heard,), (), ()))))
        other = self._fit(HEARD, speech)
        unlike = difference(self._sounds(" ".join(word for word, *_ in words)), self._sounds(heard))
        worse = UNEXPLAINED if other is None else (other - fit) * FRAME / (last - first)
        begins = first / RATE
        return [(word, begins + start, begins + end, sure) for word, start, end, sure in words], _sure(worse, unlike)

    def _fit(self, grammar: str, pcm: bytes) -> float | None:
        """How well this grammar explains the sound; None where it cannot."""
        decoder = self._decoder
        decoder.activate_search(NO_SEARCH)  # the end of an utterance searches what was not searched yet
        decoder.reinit_feat()  # nothing remains of another sound, nor of another grammar
        decoder.start_utt()
        decoder.process_raw(pcm, no_search=True)
        decoder.get_cmn(update=True)
        decoder.end_utt()
        decoder.activate_search(grammar)
        decoder.start_utt()
        decoder.process_raw(pcm, full_utt=True)
        decoder.end_utt()
        if decoder.hyp() is None:
            return None
        return sum(math.log(max(one.ascore, sys.float_info.min)) for one in decoder.seg() if one.word[0] != "(")

    def _learn(self, sayings: Sayings) -> None:
        if len(self._names) == KEPT:
            self._decoder.remove_search(self._names.pop(next(iter(self._names))))
        whole, before, after = (tuple(one for one in part if self._sounds(one)) for part in sayings)
        name = str(hash(sayings))
        self._decoder.add_fsg(name, self._grammar(Grammar((whole, before, after))))
        self._names[sayings] = name

    def _grammar(self, grammar: Grammar) -> Any:
        return self._decoder.create_fsg("sayings", grammar.begin, grammar.end, grammar.arcs)

    def _sounds(self, said: str) -> list[str]:
        """Empty where a word is unknown."""
        words = [self._decoder.lookup_word(word) for word in said.split()]
        return [sound for word in words for sound in word.split()] if all(words) else []


def speech_of(pcm: bytes) -> tuple[int, int]:
    """The first and last sample of what is louder than the room, and a little around it; nothing where all is even."""
    samples = np.frombuffer(pcm[: len(pcm) // SAMPLE_BYTES * SAMPLE_BYTES], "<i2").astype(np.float64)
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    if not len(frames):
        return 0, 0
    loudness = np.sqrt((frames**2).mean(axis=1))
    room, loudest = np.percentile(loudness, 10), np.percentile(loudness, 95)
    loud = loudness > max(OVER_ROOM * room, OF_LOUDEST * loudest)
    steady = np.flatnonzero(loud[:-2] & loud[1:-1] & loud[2:])
    if not len(steady):
        return 0, 0
    first, last = (int(steady[0]) - AROUND) * FRAME, (int(steady[-1]) + 3 + AROUND) * FRAME
    return max(0, first), min(len(samples), last)


def difference(said: list[str], heard: list[str]) -> float:
    """How unlike two rows of sounds are, per sound of the first; more heard before or after it counts little."""
    row = [OUTSIDE * place for place in range(len(heard) + 1)]
    for number, sound in enumerate(said, 1):
        before, row = row, [float(number)]
        extra = OUTSIDE if number == len(said) else ADDED
        for place, other in enumerate(heard, 1):
            is_alike = (sound in VOWELS) == (other in VOWELS)
            other_sound = 0.0 if sound == other else ALIKE if is_alike else 1.0
            row.append(min(before[place - 1] + other_sound, before[place] + MISSING, row[-1] + extra))
    return row[-1] / max(1, len(said))


def _sure(worse: float, unlike: float) -> float:
    """How surely the saying was said, 0..1: how much worse the heard words explain the sound, how unlike they are."""
    return round(1 / (1 + math.exp(STEEP * (worse + LIKENESS * unlike - EVEN))), 3)


def words_of(decoder: Any) -> Any:
    """What was decoded, word by word, without noises and silence."""
    if decoder.hyp() is None:
        return
    for one in decoder.seg():
        if one.word[0] in "<[+(":
            continue
        yield (
            re.sub(r"\(\d+\)$", "", one.word),
            one.start_frame / FRAMES_PER_SECOND,
            (one.end_frame + 1) / FRAMES_PER_SECOND,
            round(min(1.0, max(0.0, one.prob)), 3),
        )
