"""Speech in a codec: replies are files that any player can read, pieces decode alone, in any order, to the sample."""

import io
from collections.abc import Iterator

import av
import numpy as np
import pytest

from app.core.errors import GatewayError
from app.gateways.speech import coding
from app.gateways.speech.coding import CONTENT_TYPES, PIECE_BYTES, Codec, Undecodable
from app.gateways.speech.engines.espeak import EspeakSpeaker
from tests.speech.pieces import PREROLL, opus_piece


@pytest.fixture(scope="module")
def codec() -> Iterator[Codec]:
    made = Codec()
    yield made
    made.close()


@pytest.fixture(scope="module")
def words() -> tuple[bytes, int]:
    speaker = EspeakSpeaker()
    spoken = speaker.speak("Please tell me about your last job.", voice_id="vendora-Kate", language="en-US")
    speaker.close()
    return spoken.pcm, spoken.rate


def speech(words: tuple[bytes, int], *, first: int, count: int) -> np.ndarray:
    """Samples of the words at 16 kHz."""
    pcm = np.frombuffer(words[0], "<i2").astype(float)
    places = np.arange(first, first + count) * words[1] / 16_000
    return np.interp(places, np.arange(len(pcm)), pcm).round().astype("<i2")


def lag(one: np.ndarray, other: np.ndarray) -> int:
    """By how many samples the first is later than the other."""
    size = 1 << (len(one) + len(other)).bit_length()
    likeness = np.fft.irfft(np.fft.rfft(one, size) * np.conj(np.fft.rfft(other, size)), size)
    place = int(np.argmax(likeness))
    return place - size if place > size // 2 else place


def decoded(file: bytes, rate: int) -> np.ndarray:
    with av.open(io.BytesIO(file)) as opened:
        resampler = av.AudioResampler(format="s16", layout="mono", rate=rate)
        frames = [part for frame in opened.decode(audio=0) for part in resampler.resample(frame)]
    return np.concatenate([frame.to_ndarray()[0] for frame in frames]).astype(float)


@pytest.mark.parametrize(("form", "late"), [("opus", 0.002), ("aac", 0.025)])
def test_a_reply_in_a_codec_is_small_and_begins_where_the_words_do(
    codec: Codec, words: tuple[bytes, int], form: coding.Form, late: float
) -> None:
    pcm, rate = words
    file = codec.encode(pcm, rate, form)
    found, said = decoded(file, rate), np.frombuffer(pcm, "<i2").astype(float)
    assert len(file) * 8 / (len(said) / rate) < 56_000
    assert 0 <= lag(found, said) / rate <= late
    assert abs(len(found) - len(said)) / rate < 0.05
    assert 0.8 < np.sum(found**2) / np.sum(said**2) < 1.25
    assert set(CONTENT_TYPES) == {"opus", "aac"}


def test_a_piece_in_opus_decodes_alone_to_its_own_samples(codec: Codec, words: tuple[bytes, int]) -> None:
    for first in (8_000, 16_000):
        said = speech(words, first=first - PREROLL, count=PREROLL + 8_000 + 320)
        piece = opus_piece(said)
        found = np.frombuffer(codec.decode(piece), "<i2").astype(float)
        wanted = said[PREROLL : PREROLL + 8_000].astype(float)
        assert len(piece) < 1_700
        assert len(found) == 8_000
        assert abs(lag(found, wanted)) <= 16
        assert np.corrcoef(found, wanted)[0, 1] > 0.85


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"PV",
        b"PV\x03" + bytes(100),
        b"PV\x01\x00" + bytes(4_004),
        b"fLaC" + bytes(200),
        b"PV\x02\x00" + bytes(40),
        b"PV\x02\x05" + bytes(4),
        b"PV\x02\x01\x00\x00\x09\x00short",
        b"PV\x02\x01\x00\x00\x04\x00\xff\xff\xff\xff",
        bytes(PIECE_BYTES),
        b"PV\x02" + bytes(9_000),
        b"RIFF" + bytes(400),
    ],
)
def test_a_damaged_piece_is_refused_and_the_next_one_decodes(
    codec: Codec, words: tuple[bytes, int], damaged: bytes
) -> None:
    with pytest.raises(Undecodable):
        codec.decode(damaged)
    assert len(codec.decode(opus_piece(speech(words, first=0, count=8_960)))) == PIECE_BYTES


def test_a_piece_that_is_cut_off_anywhere_makes_no_sound_of_another_length(
    codec: Codec, words: tuple[bytes, int]
) -> None:
    piece = opus_piece(speech(words, first=0, count=8_960))
    for end in range(0, len(piece), 101):
        with pytest.raises(Undecodable):
            codec.decode(piece[:end])


def test_sound_that_no_one_can_encode_is_an_error_of_the_gateway(codec: Codec) -> None:
    with pytest.raises(GatewayError):
        codec.encode(b"", 0, "opus")


def test_both_are_done_by_one_process_that_ends_with_its_owner() -> None:
    codec = Codec()
    assert codec.pids() == []
    with pytest.raises(Undecodable):
        codec.decode(b"PV\x02\x00" + bytes(40))
    assert len(codec.pids()) == 1
    codec.close()
    assert codec.pids() == []
