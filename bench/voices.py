"""Every installed voice: how loud, how dear, how soon. Run it with models in MODELS_DIR; it asks no network.

    MODELS_DIR=/srv/models .venv/bin/python bench/voices.py [--follow-ups 12]

CPU-seconds are those of the engine's process alone, so that other work on the machine changes only the waiting times.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.conversation.script.machine import Kind
from app.conversation.script.sentences import sentences
from app.conversation.speaking import SHORT_LINE
from app.core.errors import GatewayError
from app.gateways.speech import phrases
from app.gateways.speech.catalogue import LANGUAGES, VOICES
from app.gateways.speech.engines import kokoro, piper
from app.gateways.speech.engines.cache import CachedSpeaker
from app.gateways.speech.engines.children import Children
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.engines.fallback import FallbackSpeaker
from app.gateways.speech.host import installed
from app.gateways.speech.host.machine import this_machine
from app.gateways.speech.loudness import loudness
from app.settings import Settings

TICKS = os.sysconf("SC_CLK_TCK")
LIVE_MS, READY_MS = 700, 300
FOLLOW_UPS = (
    "What was the hardest part of that?",
    "How did your team decide which of the two designs to build first?",
    "You said that the tests took too long. What did you do about it, and what happened afterwards?",
    "Could you give me one example of a customer who was angry, and tell me how you answered them?",
    "Which of these tools had you used before you joined the company in 2019?",
    "Who else was involved, and how did you keep them informed? A short answer is enough.",
)


class Shelf(dict):
    """Remembered speech, in files."""

    def __init__(self, folder):
        super().__init__()
        self._folder = Path(folder)

    def get(self, key):
        file = self._folder / key.replace("/", "-")
        return file.read_bytes() if file.exists() else None

    def put(self, key, data):
        (self._folder / key.replace("/", "-")).write_bytes(data)


class Engine:
    """One engine with its process, and what the process has used."""

    def __init__(self, name, speaker, children):
        self.name, self.speaker, self._children = name, speaker, children

    def used(self):
        """CPU-seconds and resident megabytes of the process."""
        cpu = memory = 0.0
        for pid in self._children.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            cpu += (int(fields[11]) + int(fields[12])) / TICKS
            status = Path(f"/proc/{pid}/status").read_text()
            memory += int(status.split("VmRSS:")[1].split()[0]) / 1024
        return cpu, memory


def engines(settings):
    there = installed.offers(settings, machine=this_machine())
    programs = (("piper", piper.PROGRAM, piper.PiperSpeaker), ("kokoro", kokoro.PROGRAM, kokoro.KokoroSpeaker))
    for name, program, speaker in programs:
        children = Children(program)
        yield Engine(name, speaker(children, lambda: there), children)
    espeak = EspeakSpeaker()
    yield Engine("espeak", espeak, espeak._children)


def each_voice(engine, most):
    for language in LANGUAGES:
        if not engine.speaker.supports(language):
            continue
        text = phrases.sample(language)
        ids = {engine.speaker.identity(voice_id, language): voice_id for voice_id in reversed(VOICES)}
        for identity, voice_id in list(ids.items())[-most:]:
            try:
                engine.speaker.speak(text, voice_id=voice_id, language=language)  # loads
                (before, _), began = engine.used(), time.perf_counter()
                raw = engine.speaker.speak(text, voice_id=voice_id, language=language)
                waited, (after, memory) = time.perf_counter() - began, engine.used()
            except GatewayError as error:
                print(f"| {language} | {identity} | {error.message} |")
                continue
            even = FallbackSpeaker((engine.speaker,)).speak(text, voice_id=voice_id, language=language)
            print(
                f"| {language} | `{identity}` | {loudness(raw.pcm, raw.rate):.1f} | {loudness(even.pcm, even.rate):.1f}"
                f" | {(after - before) / raw.duration:.2f} | {waited / raw.duration:.2f} | {memory:.0f} |",
                flush=True,
            )


def in_a_talk(engine, count):
    """What a candidate waits for: the first piece of a follow-up that was not known before, and a line that was."""
    with tempfile.TemporaryDirectory() as folder:
        speaker = CachedSpeaker(FallbackSpeaker((engine.speaker,)), Shelf(folder))
        line = phrases.phrase(Kind.MOMENT.value, "en-US")
        speaker.speak(line, voice_id=None, language="en-US", remember=True)
        made, ready, cpu = [], [], []
        for number in range(count):
            text = FOLLOW_UPS[number % len(FOLLOW_UPS)]
            first = sentences(text)[0] if len(text) > SHORT_LINE else text
            (before, _), began = engine.used(), time.perf_counter()
            speaker.speak(first, voice_id=None, language="en-US")
            made.append((time.perf_counter() - began) * 1000)
            cpu.append((engine.used()[0] - before) * 1000)
            began = time.perf_counter()
            speaker.speak(line, voice_id=None, language="en-US", remember=True)
            ready.append((time.perf_counter() - began) * 1000)
    for what, values, goal in (("made in the talk", made, LIVE_MS), ("prepared", ready, READY_MS)):
        print(f"| {engine.name}, {what} | {statistics.median(values):.0f} | {max(values):.0f} | {goal} |")
    print(f"| {engine.name}, CPU-milliseconds of its process | {statistics.median(cpu):.0f} | {max(cpu):.0f} | |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--follow-ups", type=int, default=12)
    parser.add_argument("--engines", nargs="*", default=["piper", "kokoro", "espeak"])
    parser.add_argument("--voices", type=int, default=16, help="of each language, at most")
    options = parser.parse_args()
    settings = Settings.from_env(os.environ)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start\n")
    every = [engine for engine in engines(settings) if engine.name in options.engines]
    try:
        print(
            "| Language | Voice | LUFS as made | LUFS | CPU-s per s | waited, s per s | MB |\n|---|---|---|---|---|---|---|"
        )
        for engine in every:
            each_voice(engine, options.voices)
        print("\n| Milliseconds until it can be heard, en-US | median | max | goal |\n|---|---|---|---|")
        for engine in every:
            if engine.speaker.supports("en-US"):
                in_a_talk(engine, options.follow_ups)
    finally:
        for engine in every:
            engine._children.close()
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
