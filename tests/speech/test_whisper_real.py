"""Whisper base with its own ears: a reader, Piper's Joe, and sounds that hold no words."""

from pathlib import Path

import numpy as np
import pytest

from app.gateways.speech import engines
from app.gateways.speech.engines.children import ChildFailed, Children
from app.gateways.speech.engines.whisper_process import utterance
from app.gateways.speech.engines.whisper_process.detector import Detector, Span
from app.gateways.speech.engines.whisper_process.model import Model
from app.gateways.speech.engines.whisper_process.utterance import Utterance
from app.gateways.speech.ports import SPEECH_RATE
from app.gateways.speech.sound import resample
from bench._answers import ANSWERS, words_of
from bench._wordless import stretches
from bench.speech import clips, errors, with_noise

pytestmark = [pytest.mark.models, pytest.mark.xdist_group("whisper")]
PROGRAMS = Path(engines.__file__).parent
LANGUAGE, TIMEOUT, PIECE = "en-US", 120, SPEECH_RATE
SPOKEN = 12


@pytest.fixture(scope="module")
def base(real_model) -> str:
    return str(real_model("whisper-base"))


@pytest.fixture(scope="module")
def child():
    children = Children(PROGRAMS / "whisper_child.py")
    yield children.pick()
    children.close()


@pytest.fixture(scope="module")
def joe(real_model) -> list[tuple[str, bytes, list[tuple[str, float]]]]:
    actor = (str(real_model("piper-en_US-joe-medium")), "")
    children = Children(PROGRAMS / "piper_child.py")
    said = []
    for text in ANSWERS[:: len(ANSWERS) // SPOKEN]:
        pcm, rate, words = children.call("speak", actor, text, LANGUAGE, timeout=TIMEOUT)
        said.append((text, resample(pcm, rate, SPEECH_RATE), [(word, start) for word, start, _ in words]))
    children.close()
    return with_noise(said, 20)


def whole(child, pcm: bytes, model: str, *, final: bool = True):
    return child.call("batch", pcm, model, LANGUAGE, final, timeout=TIMEOUT)


def fed(child, key: str, pcm: bytes, model: str):
    child.post("open", key, model, LANGUAGE)
    pieces = [pcm[start : start + PIECE] for start in range(0, len(pcm), PIECE)]
    for number, piece in enumerate(pieces):
        child.post("feed", key, number, piece, size=len(piece))
    return child.call("finish", key, 0, len(pieces) - 1, model, LANGUAGE, timeout=TIMEOUT)


def test_at_most_two_words_of_five_clips_are_wrong(child, base):
    if not (read := clips()):
        pytest.skip("the clips of LibriVox could not be had")
    for hear in (lambda pcm: whole(child, pcm, base), lambda pcm: fed(child, "clip", pcm, base)):
        assert sum(errors(words_of(text), words_of(hear(pcm)["text"])) for text, pcm, _ in read) <= 2


def test_answers_in_noise_are_understood_with_the_places_of_their_words(child, base, joe):
    wrong = total = 0
    off = []
    for text, pcm, starts in joe:
        heard = whole(child, pcm, base)
        wrong, total = wrong + errors(words_of(text), words_of(heard["text"])), total + len(words_of(text))
        for word, start, *_ in heard["words"]:
            near = [abs(start - other) for said, other in starts if words_of(said) == words_of(word)]
            off += [min(near)] if near and min(near) < 0.5 else []
        assert heard["text"] == " ".join(word for word, *_ in heard["words"])
    assert wrong / total <= 0.1
    assert np.median(off) <= 0.08


def test_nothing_is_lost_or_doubled_between_the_windows_of_a_long_answer(child, base, joe):
    """Without any pause, so that windows are cut where someone speaks; and with pauses, live."""
    text = " ".join(text for text, *_ in joe[:9])
    truth = words_of(text)
    without = b"".join(pcm for _, pcm, _ in joe[:9])
    with_pauses = b"".join(pcm + bytes(PIECE) for _, pcm, _ in joe[:9])
    for heard in (
        whole(child, without, base),
        fed(child, "long", without, base),
        fed(child, "paused", with_pauses, base),
    ):
        written = words_of(heard["text"])
        assert errors(truth, written) / len(truth) <= 0.15
        assert abs(len(written) - len(truth)) <= 4
        starts = [start for _, start, *_ in heard["words"]]
        assert starts == sorted(starts)


def test_a_hundred_stretches_without_words_give_none(child, base):
    heard = {number: whole(child, pcm, base)["text"] for number, (_, pcm) in enumerate(stretches(100))}
    assert not any(heard.values()), heard


def test_the_guards_alone_hold_most_of_what_it_makes_up(base, monkeypatch):
    """As if the detector took everything for speech."""

    class Gullible(Detector):
        def spans(self, since: float = 0.0) -> list[Span]:
            return [Span(since, self.seconds)] if self.seconds > since + 0.3 else []

    monkeypatch.setattr(utterance, "Detector", Gullible)
    model = Model(Path(base), threads=1)
    made_up = []
    for kind, pcm in stretches(15):
        one = Utterance(base, LANGUAGE, final=True)
        one.add(0, pcm[: 5 * 2 * SPEECH_RATE])
        one.end()
        list(one.work(lambda: model))
        made_up += [(kind, one.text)] if one.text else []
    assert len(made_up) <= 1, made_up


def test_a_truncated_model_is_named(child, base, joe, tmp_path):
    broken = tmp_path / "whisper-base"
    broken.mkdir()
    for file in Path(base).iterdir():
        content = file.read_bytes() if file.is_file() else b""
        (broken / file.name).write_bytes(content[: len(content) // 2] if file.name == "model.bin" else content)
    with pytest.raises(ChildFailed, match="whisper-base cannot be loaded"):
        whole(child, joe[0][1], str(broken))
