"""What becomes of Whisper's words: places, borders between windows, what it makes up. Pure."""

import numpy as np
import pytest

from app.gateways.speech.engines.whisper_process import guards, windows
from app.gateways.speech.engines.whisper_process.detector import FRAME, RATE, Detector, Span
from app.gateways.speech.engines.whisper_process.machine import TOO_SLOW, threads, unfit
from app.gateways.speech.engines.whisper_process.utterance import Utterance
from app.gateways.speech.engines.whisper_process.windows import FINAL, LIVE, Limits, Resume, Window, next_window
from app.gateways.speech.engines.whisper_process.words import Word, clamped, spliced, text_of, with_marks
from app.gateways.speech.silence import speech_spans


def said(text: str, *, start: float = 0.0, pace: float = 0.4, sure: float = 0.9) -> list[Word]:
    return [
        Word(f" {word}", start + number * pace, start + (number + 1) * pace, sure)
        for number, word in enumerate(text.split())
    ]


START = Resume()


def window_of(spans, heard, *, resume=START, limits=LIVE, ended=False) -> Window | None:
    return next_window(
        spans, heard, resume=resume, limits=limits, ended=ended, quietest=lambda start, end: (start + end) / 2
    )


def test_marks_belong_to_their_word():
    parts = [
        (" ¿", 0),
        (" Qué", 0),
        ("?", 1),
        (" I", 1),
        (" worked", 2),
        (",", 2),
        (" well", 3),
    ]
    words = with_marks([Word(text, place, place + 1, 1.0) for text, place in parts])
    assert [word.text for word in words] == [" ¿Qué?", " I", " worked,", " well"]
    assert text_of(words) == "¿Qué? I worked, well"


def test_words_stay_inside_speech_and_in_order():
    speech = (Span(1.0, 2.0), Span(4.0, 5.0))
    words = [
        Word(" early", 0.1, 0.4, 1),
        Word(" at", 1.2, 3.0, 1),
        Word(" late", 3.4, 4.5, 1),
        Word(" last", 4.4, 7, 1),
    ]
    placed = clamped(words, speech)
    assert [word.text for word in placed] == [word.text for word in words]
    assert placed[0].start == pytest.approx(0.9)
    assert placed[1].end == 2.0
    assert placed[2].start == pytest.approx(3.9)
    assert placed[3].end == 5.0
    starts = [word.start for word in placed]
    assert starts == sorted(starts)
    assert all(word.end > word.start for word in placed)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (said("we built a house near"), said("a house near the river", start=0.85)),
        (said("we built a house"), said("near the river", start=1.6)),
        (said("we built a house neither"), said("use near the river", start=1.2)),
        (said("we built a house near"), said("near the river", start=1.75)),
    ],
)
def test_no_word_is_lost_or_doubled_where_a_cut_goes_through_speech(left, right):
    assert text_of(spliced(left, right, cut=1.7)) == "we built a house near the river"


def test_a_word_between_two_windows_is_kept():
    """Each window puts it on the other side of the cut."""
    left = said("we built a", pace=0.5)
    right = [Word(" house", 1.55, 1.95, 1.0), *said("near the river", start=2.0)]
    assert text_of(spliced(left, right, cut=1.8)) == "we built a house near the river"


def test_a_short_pause_gives_something_to_show_and_a_later_one_closes():
    assert window_of([Span(0.5, 2.0)], 2.3) is None
    shown = window_of([Span(0.5, 2.0)], 2.6)
    assert shown is not None
    assert (shown.closed, shown.start) == (False, pytest.approx(0.2))
    closed = window_of([Span(0.5, 3.0), Span(3.4, 7.0)], 7.6)
    assert closed is not None
    assert closed.closed
    assert closed.resume.seconds == closed.end == pytest.approx(7.3)


def test_a_long_pause_is_never_inside_a_window():
    first = window_of([Span(0, 1), Span(4, 5)], 6, limits=FINAL, ended=True)
    assert first is not None
    assert first.closed
    assert first.end <= 1.3
    second = window_of([Span(4, 5)], 6, resume=first.resume, limits=FINAL, ended=True)
    assert second is not None
    assert second.start == pytest.approx(3.7)


def test_speech_without_pauses_is_cut_with_an_overlap():
    first = window_of([Span(0, 40)], 40, limits=FINAL)
    assert first is not None
    assert first.resume.cut
    assert first.end <= FINAL.most
    second = window_of([Span(first.resume.seconds, 40)], 40, resume=first.resume, limits=FINAL)
    assert second is not None
    assert first.end - second.start == pytest.approx(2 * windows.OVERLAP)


@pytest.mark.parametrize("limits", [LIVE, FINAL])
@pytest.mark.parametrize("seed", range(20))
def test_all_speech_is_in_some_window_and_no_window_is_too_long(limits: Limits, seed: int):
    random = np.random.default_rng(seed)
    spans, place = [], 0.0
    for _ in range(30):
        place += float(random.choice([0.35, 0.6, 1.0, 3.0]))
        spans.append(Span(place, place + float(random.uniform(0.2, 12))))
        place = spans[-1].end
    resume, covered = Resume(), []
    while True:
        left = [Span(max(span.start, resume.seconds), span.end) for span in spans if span.end > resume.seconds]
        window = window_of(left, place + 1, resume=resume, limits=limits, ended=True)
        if window is None:
            break
        assert window.end - window.start <= limits.most + 2 * windows.OVERLAP + 1
        assert (
            not covered
            or window.start <= covered[-1][1]
            or not any(covered[-1][1] < span.end and span.start < window.start for span in spans)
        )
        covered.append((window.start, window.end))
        assert window.resume.seconds > resume.seconds
        resume = window.resume
    for span in spans:
        assert any(start <= span.start < end for start, end in covered)
        assert any(start < span.end <= end + 0.001 for start, end in covered)


def test_the_detector_agrees_with_the_one_beside_the_web_pages(samples):
    for sample in samples:
        detector = Detector()
        sound = np.frombuffer(sample.pcm, "<i2").astype(np.float32) / 32_768
        for start in range(0, len(sound), 3_333):
            detector.listen(sound[start : start + 3_333])
        detector.end()
        other = speech_spans(sample.pcm, RATE)
        assert len(detector.spans()) == len(other) > 0
        for span, twin in zip(detector.spans(), other, strict=True):
            assert span == pytest.approx((twin.start, twin.end), abs=FRAME / RATE + 0.001)


LONG = "I worked as a nurse in Bergen for six years"


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (said("no no no no"), "no no no no"),
        (said("no " * 9), "no"),
        (said("and so we went " * 4 + "home"), "and so we went home"),
        (said("and so we went and so we went home"), "and so we went and so we went home"),
        (said("I like to work. I like to work. Yes. Yes."), "I like to work. Yes. Yes."),
        (said(LONG), LONG),
    ],
)
def test_loops_and_doubles_are_said_once(words, kept):
    assert text_of(guards.without_repeats(words)) == kept


@pytest.mark.parametrize(
    ("text", "language", "foreign"),
    [
        ("मैं बर्गन में नर्स थी", "hi", False),
        ("میں برگن میں نرس تھی", "hi", True),
        ("मैं Python और React में काम करती हूँ", "hi", False),
        ("Python", "hi", False),
        ("I was a nurse in Bergen", "hi", True),
        ("我在卑尔根当护士", "zh", False),
        ("私はベルゲンで看護師をしていました", "ja", False),
        ("저는 베르겐에서 간호사였습니다", "ko", False),
        ("Ich war Krankenschwester in Köln", "de", False),
        ("Я была медсестрой", "en", True),
        ("ผมเป็นพยาบาล", "th", False),
        ("كنت ممرضة في بيرغن", "ar", False),
        ("Tôi là y tá ở Bergen", "vi", False),
        ("1987, 42.", "ar", False),
    ],
)
def test_text_in_a_script_that_the_language_does_not_use_is_found(text, language, foreign):
    assert guards.is_foreign(text, language) is foreign


@pytest.mark.parametrize(
    ("words", "no_speech", "sure", "language", "made_up"),
    [
        (said(LONG), 0.1, -0.3, "en", False),
        (said(LONG), 0.9, -0.3, "en", False),
        (said(LONG), 0.9, -1.1, "en", True),
        (said(LONG), 0.1, -1.8, "en", True),
        (said(LONG), 0.4, -1.1, "en", True),
        (said(LONG), 0.2, -1.1, "en", False),
        (said("Thanks for watching!"), 0.1, -0.2, "en", True),
        (said("Untertitel der Amara.org-Community"), 0.1, -0.2, "de", True),
        (said("Thank you."), 0.1, -0.2, "en", False),
        (said("Thank you.", sure=0.3), 0.1, -0.6, "en", True),
        (said("you", sure=0.3), 0.1, -0.9, "en", True),
        (said("..."), 0.1, -0.2, "en", True),
        (said("ご視聴ありがとうございました"), 0.1, -0.2, "ja", True),
    ],
)
def test_what_is_made_up_is_found(words, no_speech, sure, language, made_up):
    assert guards.is_made_up(words, no_speech=no_speech, sure=sure, language=language) is made_up


def test_a_loop_counts_against_what_may_be_noise():
    about = {"sure": -0.4, "language": "en", "looped": True}
    assert guards.is_made_up(said(LONG), no_speech=0.5, **about)
    assert not guards.is_made_up(said(LONG), no_speech=0.1, **about)


def test_more_words_than_a_mouth_can_form_are_found():
    assert not guards.is_too_quick(said(LONG), 2.0, "en")
    assert guards.is_too_quick(said(LONG), 1.0, "en")
    assert not guards.is_too_quick(said("a b"), 0.3, "en")
    assert guards.is_repeating("and so we went and so we went " * 6)
    assert not guards.is_repeating(LONG)


def test_a_processor_without_avx2_is_refused():
    assert unfit("flags\t\t: fpu sse2 avx avx2 fma", "x86_64") is None
    assert unfit("flags\t\t: fpu sse2 avx fma", "x86_64") == TOO_SLOW
    assert unfit("Features\t: fp asimd", "aarch64") is None
    assert unfit("", "x86_64") is None


@pytest.mark.parametrize(("limit", "most"), [("800000 100000", 4), ("200000 100000", 1), ("50000 100000", 1)])
def test_a_container_uses_half_of_its_share(tmp_path, limit, most):
    (tmp_path / "cpu.max").write_text(limit)
    assert 1 <= threads(tmp_path) <= most
    assert threads(tmp_path / "none") >= threads(tmp_path)


def test_silence_is_not_kept_and_the_words_after_it_have_their_place(samples):
    one = Utterance("nowhere", "en-US")
    for number in range(60):
        one.add(number, bytes(2 * RATE))
        assert not any(one.work(pytest.fail))
    assert one.size <= 2 * RATE * 4
    one.add(60, samples[0].pcm)
    list(one.work(pytest.fail))
    one.end()
    window = one._window()
    assert window is not None
    assert 59 < window.start < window.speech[0].start < 61
