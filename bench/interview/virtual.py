"""The twelve candidates on a virtual clock: the page's own modules and the real application, in seconds.

    .venv/bin/python -m bench.interview.virtual FOLDER [--curve]

Plays tests/browser/talks/test_scenarios.py, which writes a stereo recording and a log of each candidate into FOLDER, and
prints the figures. With --curve, it plays them once for each of several patiences: all that the page waits (patience.js)
is multiplied by a factor, and FOLDER gets a folder for each. Words are numbers in the samples and the melody is that of
the script, so recognition and detectors are perfect here: the figures are those of the rules alone, the same on every
machine.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

import numpy as np

from app.interviews.models import Role
from bench.interview import measures
from bench.interview.scenarios import PLAIN, QUESTIONS, Move, Scenario, phrases_of
from tests.browser.talks.invariants import WORD_SECONDS
from tests.browser.talks.stage import Played, Script

ROOT = Path(__file__).resolve().parents[2]
FRAME, SOFT = 0.02, 0.06
"""Seconds of a frame, and of the soft end of a word."""
RATE = 8_000
PATIENCE = 60_000
"""Milliseconds after which a moment that does not come is passed over."""
NOISE_WORDS = 3
"""Sounds without words in a row: 0.9 s."""
FACTORS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
"""Of patience, in the curve."""
VARY = """async (factor) => {
    const { Patience } = await import("/static/js/voice/patience.js");
    Patience.plain ??= Patience.prototype.speak;
    Patience.prototype.speak = function speak(...given) { return factor * Patience.plain.apply(this, given); };
}"""
"""In a page: all that it waits, multiplied by the factor."""
WEATHER = {"seed": 3, "latency": [20, 60], "detector": True, "falls": True, "patience": PATIENCE}


def script_of(scenario: Scenario) -> Script:
    """The candidate as tests/browser/talks plays it."""
    words = [""]

    def numbered(text: str, *, rests: bool) -> list[dict[str, Any]]:
        spoken = []
        for phrase in phrases_of(text):
            first = len(words)
            words.extend(phrase.text.split())
            ids = list(range(first, len(words)))
            spoken.append({"ids": ids, "pause": round(1000 * phrase.pause), "falls": rests and not phrase.pause})
        return spoken

    def moved(move: Move) -> dict[str, Any]:
        given = {"when": move.when, "ms": move.ms, "act": move.act}
        if move.act == "offline":
            return {**given, "lasts": round(1000 * move.away)}
        if move.act == "reload":
            return {**given, "away": round(1000 * move.away)}
        if not move.text:
            first = len(words)
            words.extend([""] * NOISE_WORDS)
            ids = list(range(first, len(words)))
            return {**given, "kind": move.kind, "phrases": [{"ids": ids, "pause": 0, "falls": True}]}
        return {**given, "kind": move.kind, "phrases": numbered(move.text, rests=move.rests)}

    moves = [moved(move) for move in scenario.moves]
    reserve = {
        "answers": [numbered(text, rests=True)[0]["ids"] for text in PLAIN * 2],
        "no": [numbered("no", rests=True)[0]["ids"] for _ in range(4)],
    }
    return Script(QUESTIONS, moves, WEATHER, words, reserve)


def keep(scenario: Scenario, played: Played, tape: str, *, folder: Path) -> measures.Talk:
    """Write the recording and the log of a talk, and read them again."""
    frames = np.frombuffer(tape.encode(), np.uint8) - ord("0")
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(round(FRAME * RATE)) / RATE)
    sides = np.stack([np.outer(frames & 1, tone).ravel(), np.outer(frames >> 1, tone).ravel()], axis=1)
    path = folder / f"{scenario.name.replace(' ', '-')}.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, RATE, 0, "NONE", ""))
        file.writeframes((32_767 * sides).astype("<i2").tobytes())
    log = {
        "interviewer": "Parley on a virtual clock",
        "questions": len(QUESTIONS),
        "said": _said(scenario, played),
        "asked": _asked(played),
        "taken": _taken(played),
    }
    path.with_suffix(".json").write_text(json.dumps(log, indent=1), encoding="utf-8")
    return measures.read(path)


def _said(scenario: Scenario, played: Played) -> list[dict[str, Any]]:
    """What was said, with its pauses: phrases that the script has in one move are one."""
    begun = [move for move in played.report["log"] if move["act"] in {"say", "plain"}]
    ended = [move["at"] / 1000 for move in played.report["log"] if move["act"] == "reload"]
    rests = {move.text: move.rests for move in scenario.moves}
    words = played.report["words"]
    found = []
    for move in begun:
        ids = [number for phrase in move.get("phrases", ()) for number in phrase["ids"]] or move["ids"]
        mine = [word for word in words if word["id"] in set(ids)]
        if not mine:
            continue
        spans = [(_begins(word), _begins(word) + FRAME * word["frames"] - SOFT) for word in mine]
        cut = len(mine) < len(ids) or any(spans[0][0] <= at <= spans[-1][1] + WORD_SECONDS for at in ended)
        found.append(
            {
                "kind": move.get("kind", "answer"),
                "begins": spans[0][0],
                "ends": spans[-1][1],
                "pauses": [
                    (before[1], after[0])
                    for before, after in itertools.pairwise(spans)
                    if after[0] - before[1] > 2 * SOFT
                ],
                "words": [(played.script.words[word["id"]], *span) for word, span in zip(mine, spans, strict=True)],
                "rests": not cut and rests.get(_text(move, played), True),
                "cut": cut,
            }
        )
    return found


def _begins(word: dict[str, Any]) -> float:
    return float(word["at"]) / 1000 - FRAME


def _text(move: dict[str, Any], played: Played) -> str:
    """The marked text of a move that was played; "" for plain answers."""
    parts = []
    for phrase in move.get("phrases", ()):
        parts.append(" ".join(played.script.words[number] for number in phrase["ids"]))
        parts += [f"|{phrase['pause'] / 1000:g}|"] if phrase["pause"] else []
    return " ".join(parts)


def _asked(played: Played) -> list[dict[str, Any]]:
    """Each time a question was asked: how much of it was heard, and whether the candidate had asked for it."""
    found = []
    for turn in played.turns:
        spans = [
            (one["from"], one["to"]) for one in played.report["heard"] if one["url"].endswith(f"/{turn.number}/audio")
        ]
        for part in turn.parts or []:
            for number, question in enumerate(QUESTIONS, 1):
                if question in part["text"]:
                    share = measures.covered((part["offset"], part["offset"] + part["seconds"]), spans)
                    found.append({"question": number, "share": share, "wanted": turn.reply_kind == "repeat"})
    return found


def _taken(played: Played) -> list[dict[str, Any]]:
    """The sound of each utterance of the candidate, on the clock of the recording."""
    starts = {
        word["run"]: _begins(word) - word["from"] / 16_000
        for word in played.report["words"]
        if word["from"] is not None
    }
    return [
        {
            "begins": starts[row.segment] + 0.5 * row.first_chunk,
            "ends": starts[row.segment] + 0.5 * (row.last_chunk + 1),
        }
        for row in played.utterances
        if row.role is not Role.AGENT and row.first_chunk is not None and row.segment in starts
    ]


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--curve", action="store_true", help="once for each patience")
    given = asked.parse_args()
    if not given.curve:
        figures, is_passed = _played(given.folder)
        print("\n".join(measures.table(figures)))
        return 0 if is_passed else 1
    print("\n".join(measures.CURVE))
    for factor in FACTORS:
        figures, _ = _played(given.folder / f"{factor:g}", factor=factor)
        print(measures.point(f"{factor:g}", figures), flush=True)
    return 0


def _played(folder: Path, *, factor: float | None = None) -> tuple[measures.Figures, bool]:
    """All candidates, and whether the test of the page's rules passed."""
    folder.mkdir(parents=True, exist_ok=True)
    test = "tests/browser/talks/test_scenarios.py"
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:randomly", test]
    env = {**os.environ, "INTERVIEW_FOLDER": str(folder.resolve())}
    if factor is not None:
        env["INTERVIEW_PATIENCE"] = str(factor)
    ended = subprocess.run(command, cwd=ROOT, env=env, check=False, stdout=subprocess.DEVNULL if factor else None)
    return measures.of(measures.read(path) for path in sorted(folder.glob("*.wav"))), ended.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
