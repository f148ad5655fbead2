"""Spoken commands: how many are understood, how many ordinary short answers are mistaken for one, and what it costs.

    .venv/bin/python bench/commands.py [--voices 1] [--seed 7] [--quick]

Eight voices of the embedded speaker to which nothing was fitted, three levels of noise, English. "By its text" is what
the recognizer understands immediately; "looked at again" includes the choice among the sayings. Yes and no are spoken
after "do you want to end?", and so is every short answer once more. The same seed gives the same figures, except for
the times.
"""

import argparse
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.conversation.script.command_recheck import second_look
from app.conversation.script.commands import confirmed, spoken_command
from app.conversation.script.place import Phase, Place
from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber
from app.gateways.speech.ports import SPEECH_RATE
from tests.short_sayings import NEW_VOICES, short_sayings

LANGUAGE = "en-US"
OPEN, ASKED = Place(Phase.QUESTION), Place(Phase.QUESTION, stopping=True)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--voices", type=int, default=1, help="voices that say each saying")
    asked.add_argument("--seed", type=int, default=7)
    asked.add_argument("--quick", action="store_true", help="every fourth saying")
    asked.add_argument(
        "--show", action="store_true", help="every saying that is judged in another way than by its text"
    )
    given = asked.parse_args()
    recogniser = PocketsphinxTranscriber(processes=1)
    try:
        measure(recogniser, given)
    finally:
        recogniser.close()


def measure(recogniser, given) -> None:
    said = list(short_sayings(per_saying=given.voices, seed=given.seed, voices=NEW_VOICES))[:: 4 if given.quick else 1]
    counted: dict[str, Counter] = {}
    spent = []
    for one in said:
        heard = recogniser.transcribe(one.pcm, rate=SPEECH_RATE, language=LANGUAGE)
        places = {"yes": (ASKED,), "no": (ASKED,), "answer": (OPEN, ASKED)}.get(one.meaning, (OPEN,))
        for place in places:
            began = time.perf_counter()
            again = second_look(heard, lambda one=one: one.pcm, place, language=LANGUAGE, transcriber=recogniser)
            spent.append((time.perf_counter() - began) * 1000)
            by_text, looked_at = meaning(heard.text, place), meaning(again.text, place)
            name = (
                one.meaning
                if one.meaning != "answer"
                else "answer, asked about the end"
                if place.stopping
                else "answer"
            )
            counted.setdefault(name, Counter()).update(
                [("text", verdict(one, by_text)), ("again", verdict(one, looked_at))]
            )
            if given.show and (by_text != looked_at or (one.meaning == "answer" and looked_at)):
                print(
                    f"  {one.meaning} {one.text!r} ({one.voice}): {heard.text!r} -> {again.text!r} {again.confidence}"
                )
    report(counted, spent)


def meaning(text: str, place: Place) -> str | None:
    answer = confirmed(text, LANGUAGE) if place.stopping else None
    if answer is not None:
        return "yes" if answer else "no"
    command = spoken_command(text, LANGUAGE)
    return command.value if command else None


def verdict(one, understood: str | None) -> str:
    if one.meaning == "answer":
        # "Yes, of course." says yes where the end was asked about, but the whole of it is no "yes" of commands.toml
        return "kept" if understood is None else f"taken for {understood}"
    return "right" if understood == one.meaning else "wrong" if understood else "missed"


def report(counted: dict[str, Counter], spent: list[float]) -> None:
    total = Counter()
    for name, counts in counted.items():
        is_answer = name.startswith("answer")
        for way, title in (("text", "by its text"), ("again", "looked at again")):
            ours = {what: number for (one, what), number in sorted(counts.items()) if one == way}
            print(f"{name}, {title}: of {sum(ours.values())} " + ", ".join(f"{n} {what}" for what, n in ours.items()))
            if not is_answer:
                total.update({(way, what): number for what, number in ours.items()})
    for way, title in (("text", "by its text"), ("again", "looked at again")):
        count = sum(number for (one, _), number in total.items() if one == way)
        print(f"commands {title}: {total[way, 'right']} of {count} right, {total[way, 'wrong']} taken for another")
    ordered = sorted(spent)
    p95 = ordered[round(0.95 * (len(ordered) - 1))]
    print(f"the recheck: median {statistics.median(ordered):.0f} ms, p95 {p95:.0f} ms, n {len(ordered)}")


if __name__ == "__main__":
    main()
