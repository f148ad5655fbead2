"""The measures of bench/interview on recordings made of tones, of which the right figures are known."""

import json
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.interview import measures

RATE = 8_000
EXACT = {"abs": 0.011}
"""Seconds: a frame."""


def talk(
    folder: Path, *, seconds: float, agent: list[tuple[float, float]], said: list[dict[str, Any]], **log: Any
) -> measures.Talk:
    """A recording in which both sides are tones, written and read again."""
    sides = np.zeros((round(seconds * RATE), 2))
    tone = 0.2 * np.sin(2 * np.pi * 300 * np.arange(len(sides)) / RATE)
    for side, spans in enumerate(([(one["begins"], one["ends"]) for one in said], agent)):
        for begins, ends in spans:
            place = slice(round(begins * RATE), round(ends * RATE))
            sides[place, side] = tone[place]
    path = folder / "talk.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, RATE, 0, "NONE", ""))
        file.writeframes((32_767 * sides).astype("<i2").tobytes())
    path.with_suffix(".json").write_text(json.dumps({"said": said, **log}))
    return measures.read(path)


def figures(folder: Path, **given: Any) -> measures.Figures:
    return measures.of([talk(folder, **given)])


def answer(begins: float, ends: float, **more: Any) -> dict[str, Any]:
    return {"kind": "answer", "begins": begins, "ends": ends, **more}


def over(kind: str, begins: float, ends: float) -> dict[str, Any]:
    return {"kind": kind, "begins": begins, "ends": ends}


def test_a_reply_is_counted_from_the_end_of_the_answer(tmp_path: Path) -> None:
    said = [answer(3, 5, rests=True), answer(9, 10)]
    found = figures(tmp_path, seconds=16, agent=[(0, 2), (5.8, 8), (11.3, 13)], said=said)
    assert found.replies == pytest.approx([0.8, 1.3], **EXACT)
    assert found.rested == pytest.approx([0.8], **EXACT)
    assert found.unanswered == 0


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100])
def test_places_do_not_drift_in_a_long_recording(rate: int) -> None:
    tone = np.zeros(100 * rate)
    tone[98 * rate : 99 * rate] = 0.2 * np.sin(2 * np.pi * 300 * np.arange(rate) / rate)
    [(begins, ends)] = measures.audible(tone, rate)
    assert begins == pytest.approx(98, abs=measures.FRAME)
    assert ends == pytest.approx(99, abs=measures.FRAME)


def test_an_agent_that_never_replies_is_counted(tmp_path: Path) -> None:
    found = figures(tmp_path, seconds=20, agent=[(0, 2)], said=[answer(3, 5), answer(12, 14)])
    assert (found.replies, found.unanswered) == ([], 2)
    assert found.dead == pytest.approx([7.0], **EXACT)


def test_a_pause_inside_a_line_of_the_agent_is_no_reply(tmp_path: Path) -> None:
    found = figures(tmp_path, seconds=10, agent=[(4, 5), (5.3, 7)], said=[answer(1, 3)])
    assert found.replies == pytest.approx([1.0], **EXACT)


@pytest.mark.parametrize(
    ("agent", "is_cut"),
    [((3.5, 4.5), True), ((4.15, 5), True), ((4.6, 5), False), ((7, 8), False)],
    ids=["inside the pause", "too late to be helped", "after it", "after the answer"],
)
def test_a_cut_in_begins_inside_a_pause(tmp_path: Path, agent: tuple[float, float], is_cut: bool) -> None:
    said = [answer(1, 6, pauses=[(3, 4)])]
    found = figures(tmp_path, seconds=10, agent=[agent], said=said)
    assert found.pauses[1.0] == [is_cut]
    assert found.cut(1.0) == float(is_cut)
    assert found.cut(2.0) is None


def test_pauses_are_counted_by_the_nearest_length(tmp_path: Path) -> None:
    said = [answer(1, 12, pauses=[(2, 2.6), (3, 4.1), (5, 6.9), (7, 11.2)])]
    found = figures(tmp_path, seconds=14, agent=[(5.5, 6)], said=said)
    assert found.pauses == {0.5: [False], 1.0: [False], 2.0: [True], 4.0: [False]}


def test_silences_are_the_agents_or_the_candidates(tmp_path: Path) -> None:
    said = [answer(8, 10), answer(16, 17)]
    found = figures(tmp_path, seconds=30, agent=[(0, 3), (15, 15.5), (18, 19)], said=said)
    assert found.alone == pytest.approx([5.0], **EXACT)
    assert found.dead == pytest.approx([5.0], **EXACT)


def test_a_silence_while_the_page_was_away_is_not_counted(tmp_path: Path) -> None:
    said = [answer(3, 4, cut=True)]
    found = figures(tmp_path, seconds=20, agent=[(0, 2), (10, 11)], said=said)
    assert (found.dead, found.replies, found.unanswered) == ([], [], 0)


def test_the_agent_stops_for_an_interruption(tmp_path: Path) -> None:
    found = figures(tmp_path, seconds=12, agent=[(0, 2.14), (6, 7)], said=[over("barge-in", 2, 5)])
    assert found.stops == pytest.approx([0.14], **EXACT)
    assert found.replies == pytest.approx([1.0], **EXACT)
    assert found.kept_on == 0


def test_an_agent_that_does_not_stop_is_counted(tmp_path: Path) -> None:
    found = figures(tmp_path, seconds=12, agent=[(0, 6)], said=[over("barge-in", 2, 4)])
    assert (found.stops, found.kept_on) == ([], 1)


@pytest.mark.parametrize(
    ("agent", "strays", "holes"),
    [
        ([(0, 8)], [False], []),
        ([(0, 2.2), (3.0, 8)], [False], [0.8]),
        ([(0, 2.2), (6.0, 8)], [True], []),
        ([(0, 2.2)], [True], []),
    ],
    ids=["speaks on", "pauses", "is away for too long", "stops"],
)
def test_sounds_that_must_not_stop_the_agent(
    tmp_path: Path, agent: list[tuple[float, float]], strays: list[bool], holes: list[float]
) -> None:
    found = figures(tmp_path, seconds=12, agent=agent, said=[over("back-channel", 2, 2.4)])
    assert found.strays == strays
    assert found.holes == pytest.approx(holes, **EXACT)
    assert found.unanswered == 0


def test_a_sound_in_the_agents_silence_stops_nothing(tmp_path: Path) -> None:
    found = figures(tmp_path, seconds=6, agent=[(0, 2)], said=[over("noise", 3, 3.4)])
    assert found.strays == []


def test_words_outside_of_utterances(tmp_path: Path) -> None:
    words = [("one", 1.0, 1.5), ("two", 1.5, 2.0), ("three", 2.0, 2.5), ("four", 2.5, 3.0)]
    lost = [("five", 5.0, 6.0)]
    found = figures(
        tmp_path,
        seconds=10,
        agent=[],
        said=[answer(1, 3, words=words), answer(5, 6, words=lost), {**over("side talk", 7, 8), "words": lost}],
        taken=[{"begins": 1.6, "ends": 2.3}, {"begins": 2.2, "ends": 4}],
    )
    assert (found.words, found.at_borders) == (5, 1)
    assert found.spoken == pytest.approx(3.0)
    assert found.untaken == pytest.approx(0.5 + 0.1 + 1.0)


def test_without_utterances_no_word_is_counted(tmp_path: Path) -> None:
    found = figures(tmp_path, seconds=5, agent=[], said=[answer(1, 2, words=[("one", 1, 2)])])
    assert (found.words, found.spoken) == (0, 0.0)
    assert "| words lost at borders | 0 | 0 (0.0%) | ≤ 0.5% | not measured |" in list(measures.table(found))


def test_questions_that_are_lost_or_asked_twice(tmp_path: Path) -> None:
    asked = [
        {"question": 1, "share": 1.0, "wanted": False},
        {"question": 1, "share": 1.0, "wanted": True},
        {"question": 2, "share": 0.7, "wanted": False},
        {"question": 2, "share": 1.0, "wanted": False},
        {"question": 3, "share": 0.3, "wanted": False},
        {"question": 4, "share": 0.3, "wanted": False},
        {"question": 4, "share": 0.5, "wanted": False},
    ]
    found = figures(tmp_path, seconds=5, agent=[], said=[], questions=5, asked=asked)
    assert (found.questions, found.lost, found.twice) == (5, 2, 1)


def test_only_stereo_recordings_are_read(tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "mono.wav"), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(bytes(200))
    (tmp_path / "mono.json").write_text('{"said": []}')
    with pytest.raises(ValueError, match="two channels"):
        measures.read(tmp_path / "mono.wav")


def test_the_table_names_goals_that_are_missed(tmp_path: Path) -> None:
    found = figures(tmp_path, seconds=9, agent=[(0, 2), (7, 8)], said=[answer(3, 5, rests=True, pauses=[(3.5, 4.5)])])
    lines = list(measures.table(found))
    assert (
        "| replies to answers that come to rest | 1 | p50 2000, p95 2000 ms | p50 ≤ 850, p95 ≤ 1500 ms | **missed** |"
        in lines
    )
    assert "| cut-ins, pauses of 1 s | 1 | 0 (0.0%) | ≤ 2% | reached |" in lines
    assert "| false stops | 0 |  | ≤ 5% | not measured |" in lines
