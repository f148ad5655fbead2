"""The best minute: what scores rest on, found in the recording by its words."""

from typing import Any

from app.interviews.highlights import LONGEST, MOST_SECONDS, SHORTEST, reel_of


def segment(text: str, *, role: str = "user", at: float = 0.0, pace: float = 0.5, timed: bool = True) -> dict[str, Any]:
    words = text.split()
    shown = [(word, at + n * pace, at + (n + 1) * pace) for n, word in enumerate(words)] if timed else []
    return {"role": role, "content": text, "shown": shown}


def result(*segments: dict[str, Any]) -> dict[str, Any]:
    mine = [n for n, one in enumerate(segments) if one["role"] == "user"]
    chapters = [{"script_question": f"Question {n}?", "transcript_item_indices": [n]} for n in mine]
    return {"transcript_with_timestamp": list(segments), "questions_to_transcript_mapping": chapters}


def why(**quotes: list[tuple[int, str]]) -> dict[str, Any]:
    return {
        "scores": {
            name: {"quotes": [{"segment_index": at, "text": text} for at, text in given]}
            for name, given in quotes.items()
        }
    }


def test_a_quote_is_found_by_its_words_whatever_the_punctuation() -> None:
    talk = result(segment("Well, I led a team; of five people. Then we moved on to other things", at=10.0))
    (clip,) = reel_of(talk, {"skills": 4.0}, why(skills=[(0, "i led a team of five")]))
    assert (clip.why, clip.text) == ("skills", "i led a team of five")
    assert clip.start == 10.5 - 0.3
    assert clip.end is not None
    assert clip.seconds >= SHORTEST


def test_words_to_the_agent_are_no_evidence() -> None:
    talk = result(
        segment("could you repeat the question for me once more please", at=1.0), segment("I like people", at=9.0)
    )
    talk["questions_to_transcript_mapping"] = [{"script_question": "Why?", "transcript_item_indices": [0, 1]}]
    assert [clip.segment for clip in reel_of(talk, {}, {"speech": {"obeyed": [0]}})] == [1]
    assert [clip.segment for clip in reel_of(talk, {}, {"speech": {"obeyed": [0, 1]}})] == []
    assert [clip.segment for clip in reel_of(talk, {}, {"speech": {"answers": 2}})] == [0], "a result from before"


def test_scores_take_turns_and_a_minute_is_kept() -> None:
    words = " ".join(f"w{n}" for n in range(40))
    talk = result(*(segment(words, at=100.0 * n) for n in range(6)))
    given = {"skills": [(n, words) for n in range(3)], "motivation": [(n, words) for n in range(3, 6)]}
    clips = reel_of(talk, {"skills": 4.0, "motivation": 3.0}, why(**given))
    assert {clip.why for clip in clips} == {"skills", "motivation"}
    assert sum(clip.seconds for clip in clips) <= MOST_SECONDS
    assert all(clip.seconds <= LONGEST for clip in clips)
    assert [clip.segment for clip in clips] == sorted(clip.segment for clip in clips)


def test_the_same_words_are_heard_once() -> None:
    talk = result(segment("We were a good team and I liked it very much indeed"))
    clips = reel_of(
        talk, {"skills": 4.0, "motivation": 4.0}, why(skills=[(0, "good team")], motivation=[(0, "a good team")])
    )
    assert len(clips) == 1


def test_what_was_not_assessed_proves_nothing() -> None:
    talk = result(segment("agent speaks", role="agent"), segment("I like to help people every day", at=5.0))
    (clip,) = reel_of(talk, {"skills": None}, why(skills=[(1, "help people")]))
    assert clip.why == "Question 1?"
    assert clip.text == "I like to help people every day"


def test_without_scores_the_longest_answers_begin() -> None:
    long, short = segment(" ".join(["many"] * 200), at=20.0), segment("short answer", at=0.0)
    clips = reel_of(result(short, long), None, None)
    assert [clip.segment for clip in clips] == [0, 1]
    assert clips[1].text.endswith(" …")
    assert sum(clip.seconds for clip in clips) <= MOST_SECONDS


def test_typed_answers_are_read_not_heard() -> None:
    talk = result(segment("I typed this answer", timed=False))
    (clip,) = reel_of(talk, {"skills": 4.0}, why(skills=[(0, "typed this")]))
    assert (clip.start, clip.end, clip.seconds) == (None, None, 0.0)


def test_a_quote_of_a_segment_that_is_not_there_is_left_out() -> None:
    talk = result(segment("I typed this answer"))
    assert [clip.why for clip in reel_of(talk, {"skills": 4.0}, why(skills=[(7, "gone")]))] == ["Question 0?"]


def test_an_empty_talk_has_no_reel() -> None:
    assert reel_of(result(), {}, {}) == []


def test_a_quote_is_found_where_one_measured_word_is_two_written_ones() -> None:
    talk = result(segment("x"))
    talk["transcript_with_timestamp"][0] |= {
        "content": "I worked at a bank, then.",
        "shown": [
            ("I", 1.0, 2.0),
            ("worked", 2.0, 3.0),
            ("at a", 3.0, 4.0),
            ("bank,", 4.0, 5.0),
            ("", 5.0, 5.5),
            ("then.", 6.0, 9.0),
        ],
    }
    (clip,) = reel_of(talk, {"skills": 4.0}, why(skills=[(0, "worked at a bank then")]))
    assert (clip.start, clip.end) == (2.0 - 0.3, 9.0 + 0.3)
