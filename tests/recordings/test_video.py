"""Runs of a recorder become files that play and seek, with every word where it was said."""

import json
import subprocess
import sys
from dataclasses import asdict

import av
import numpy as np
import pytest

from app.core.errors import GatewayError
from app.interviews.recordings.video import Limits, RunFile, Spoken, assemble, copy_sound, measure, place
from tests.recordings import recorder

MILLISECONDS = 0.001


def run(path, number=1):
    return RunFile(number=number, path=path)


def test_a_recording_becomes_a_seekable_file_with_index_and_duration(tmp_path):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(6, [1.0, 4.5]))
    made = assemble([run(path)], directory=tmp_path)
    assert made.video is None
    assert made.duration == pytest.approx(6, abs=0.03)
    order = recorder.boxes(made.audio)
    assert order.index("moov") < order.index("mdat")
    with av.open(str(made.audio)) as container:
        assert container.streams.audio[0].codec_context.name == "aac"
        assert container.duration / 1e6 == pytest.approx(6, abs=0.05)
        container.seek(4_000_000)
        frame = next(container.decode(audio=0))
        assert frame.time == pytest.approx(4, abs=0.1)
    assert recorder.heard_at(recorder.decoded(made.audio)) == pytest.approx([1.0, 4.5], abs=5 * MILLISECONDS)


def test_lost_buffers_become_silence_so_that_words_stay_in_place(tmp_path):
    samples = recorder.sound(8, [1.0, 3.0, 6.0])
    path = recorder.record(tmp_path / "a.webm", samples, gaps={2.0: 0.4, 5.0: 1.3})
    made = assemble([run(path)], directory=tmp_path)
    assert made.duration == pytest.approx(9.7, abs=0.03)
    assert recorder.heard_at(recorder.decoded(made.audio)) == pytest.approx([1.0, 3.4, 7.7], abs=5 * MILLISECONDS)


def test_runs_are_joined_without_the_time_between_them(tmp_path):
    paths = [recorder.record(tmp_path / f"{n}.webm", recorder.sound(3 + n, [1.0])) for n in range(3)]
    made = assemble([run(path, number=n + 1) for n, path in enumerate(paths)], directory=tmp_path)
    assert [(placed.number, placed.offset) for placed in made.runs] == [
        (1, 0.0),
        (2, pytest.approx(3, abs=0.03)),
        (3, pytest.approx(7, abs=0.06)),
    ]
    expected = [placed.offset + 1.0 for placed in made.runs]
    assert recorder.heard_at(recorder.decoded(made.audio)) == pytest.approx(expected, abs=5 * MILLISECONDS)
    assert measure([run(path, number=n + 1) for n, path in enumerate(paths)]) == made.runs


@pytest.mark.parametrize("codec", ["libvpx", "libvpx-vp9"])
def test_a_picture_is_encoded_as_h264_with_sound_in_step(tmp_path, codec):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(3, [2.0]), video=codec)
    made = assemble([run(path)], directory=tmp_path, want_video=True)
    order = recorder.boxes(made.video)
    assert order.index("moov") < order.index("mdat")
    with av.open(str(made.video)) as container:
        picture, voice = container.streams.video[0], container.streams.audio[0]
        assert (picture.codec_context.name, picture.codec_context.pix_fmt, voice.codec_context.name) == (
            "h264",
            "yuv420p",
            "aac",
        )
        times = [frame.time for frame in container.decode(video=0)]
    assert len(times) >= 85
    assert times == sorted(set(times))
    assert times[-1] == pytest.approx(89 / 30, abs=0.04)
    assert recorder.heard_at(recorder.decoded(made.video)) == pytest.approx([2.0], abs=5 * MILLISECONDS)


@pytest.mark.parametrize("container", ["matroska", "mp4"])
def test_h264_is_taken_over_as_it_is(tmp_path, container):
    paths = [
        recorder.record(tmp_path / f"{n}.bin", recorder.sound(2, [1.0]), video="libx264", container=container)
        for n in range(2)
    ]
    made = assemble(
        [run(path, number=n) for n, path in enumerate(paths)], directory=tmp_path, want_video=True, want_audio=False
    )
    assert made.audio is None
    with av.open(str(paths[0])) as source:
        first = [bytes(packet) for packet in source.demux(video=0) if packet.size]
    with av.open(str(made.video)) as container_made:
        copied = [bytes(packet) for packet in container_made.demux(video=0) if packet.size]
    assert len(copied) == 2 * len(first)
    assert copied[5][-50:] == first[5][-50:]
    with av.open(str(made.video)) as container_made:
        times = [frame.time for frame in container_made.decode(video=0)]
    assert times == sorted(set(times))
    assert recorder.heard_at(recorder.decoded(made.video)) == pytest.approx(
        [1.0, made.runs[1].offset + 1], abs=5 * MILLISECONDS
    )


def test_pictures_of_another_size_are_fitted_into_the_first_one(tmp_path):
    wide = recorder.record(tmp_path / "a.webm", recorder.sound(1, []), video="libvpx", size=(160, 120))
    tall = recorder.record(tmp_path / "b.webm", recorder.sound(1, []), video="libvpx", size=(122, 162))
    made = assemble([run(wide, 1), run(tall, 2)], directory=tmp_path, want_video=True)
    with av.open(str(made.video)) as container:
        sizes = {(frame.width, frame.height) for frame in container.decode(video=0)}
    assert sizes == {(160, 120)}


def test_a_run_without_a_picture_among_others_keeps_its_sound(tmp_path):
    seen = recorder.record(tmp_path / "a.webm", recorder.sound(2, [1.0]), video="libvpx")
    heard = recorder.record(tmp_path / "b.webm", recorder.sound(2, [1.0]))
    made = assemble([run(heard, 1), run(seen, 2)], directory=tmp_path, want_video=True)
    assert recorder.heard_at(recorder.decoded(made.video)) == pytest.approx(
        [1.0, made.runs[1].offset + 1], abs=5 * MILLISECONDS
    )


def test_no_picture_means_no_video(tmp_path):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(1, []))
    assert assemble([run(path)], directory=tmp_path, want_video=True).video is None


FORBIDDEN = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'


def test_a_decoder_says_whether_it_gave_up_the_network():
    order = json.dumps({"work": "confine", "limits": asdict(Limits())})
    child = [sys.executable, "-m", "app.interviews.recordings.video.child"]
    unshared = ["unshare", "--user", "--map-root-user"]
    if subprocess.run([*unshared, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system allows no user namespaces")

    def said(*before):
        return json.loads(subprocess.check_output([*before, *child], input=order, text=True))["is_cut_off"]

    assert said(*unshared), "the kernel allows it"
    assert not said(*unshared, "sh", "-c", FORBIDDEN, "sh"), "the kernel allows no further network namespace"


def test_a_recording_that_is_cut_off_keeps_what_arrived(tmp_path):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(10, [1.0, 9.0]), video="libvpx")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    made = assemble([run(path)], directory=tmp_path, want_video=True)
    assert 2 < made.duration < 8
    assert recorder.heard_at(recorder.decoded(made.audio)) == pytest.approx([1.0], abs=5 * MILLISECONDS)


@pytest.mark.parametrize("video", [None, "libx264"])
def test_a_fragment_whose_header_stands_there_twice_loses_nothing(tmp_path, video):
    samples = recorder.sound(3.8, [1.0, 3.4])
    path = recorder.record(tmp_path / "a.mp4", samples, video=video, container="mp4", fragments=True)
    whole = assemble([run(path)], directory=tmp_path, want_video=bool(video))
    beeps, pictures = recorder.heard_at(recorder.decoded(whole.audio)), _pictures(whole.video)
    assert beeps == pytest.approx([1.0, 3.4], abs=10 * MILLISECONDS)
    _repeat_last_header(path)
    assert recorder.boxes(path).count("moof") == 5, "one more than fragments"
    with av.open(str(path)) as damaged, pytest.raises(av.error.FFmpegError):
        list(damaged.decode(audio=0))
    quick = copy_sound([run(path)], directory=tmp_path)
    made = assemble([run(path)], directory=tmp_path, want_video=bool(video))
    for file in filter(None, (quick.audio, made.audio, made.video)):
        assert recorder.heard_at(recorder.decoded(file)) == pytest.approx(beeps, abs=5 * MILLISECONDS)
    assert _pictures(made.video) == pictures


def _repeat_last_header(path):
    """As WebKitGTK does when its recorder stops."""
    content = path.read_bytes()
    at = content.rindex(b"moof") - 4
    size = int.from_bytes(content[at : at + 4], "big")
    path.write_bytes(content[: at + size] + content[at:])


def _pictures(path):
    if path is None:
        return []
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(video=0) if packet.size]


def test_a_run_that_never_got_past_its_header_counts_nothing(tmp_path):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(2, [1.0]))
    torn = tmp_path / "torn.webm"
    torn.write_bytes(path.read_bytes()[:60])
    made = assemble([run(torn, 1), run(path, 2)], directory=tmp_path)
    assert [(placed.offset, placed.duration > 0) for placed in made.runs] == [(0.0, False), (0.0, True)]
    with pytest.raises(GatewayError, match="nothing playable") as error:
        assemble([run(torn, 1)], directory=tmp_path)
    assert error.value.retryable is False


def test_damage_in_the_middle_costs_only_itself(tmp_path):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(10, [1.0, 9.0]))
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 400] = bytes(400)
    path.write_bytes(content)
    made = assemble([run(path)], directory=tmp_path)
    found = recorder.heard_at(recorder.decoded(made.audio))
    assert found[0] == pytest.approx(1.0, abs=5 * MILLISECONDS)


HOSTILE = {
    "zero bytes": b"",
    "text": b"this is no recording" * 50,
    "web page": b"<html><script>alert(1)</script></html>",
    "play list": b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1/\n",
    "concat script": b"ffconcat version 1.0\nfile /etc/passwd\n",
    "mid-stream chunk": b"\xa3\x42\x10\x81" * 400,
    "pdf": b"%PDF-1.7" + bytes(100),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_no_recording_is_refused_by_its_content(tmp_path, content):
    path = tmp_path / "a.webm"
    path.write_bytes(content)
    with pytest.raises(GatewayError, match="neither WebM nor MP4") as error:
        assemble([run(path)], directory=tmp_path, want_video=True)
    assert error.value.retryable is False


@pytest.mark.parametrize("magic", [b"\x1aE\xdf\xa3", b"\0\0\0\x18ftypmp42"])
def test_noise_behind_a_good_beginning_is_refused(tmp_path, magic):
    path = tmp_path / "a.bin"
    path.write_bytes(magic + np.random.default_rng(3).bytes(50_000))
    with pytest.raises(GatewayError) as error:
        assemble([run(path)], directory=tmp_path)
    assert error.value.retryable is False


def test_a_play_list_behind_an_mp4_beginning_opens_no_other_file(tmp_path):
    path = tmp_path / "a.mp4"
    path.write_bytes(b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n")
    with pytest.raises(GatewayError) as error:
        assemble([run(path)], directory=tmp_path)
    assert error.value.retryable is False


def test_a_recording_that_claims_to_last_for_ages_is_refused(tmp_path):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(2, []), gaps={1.0: 100_000.0})
    with pytest.raises(GatewayError, match="too long"):
        assemble([run(path)], directory=tmp_path)


def test_a_picture_that_is_too_large_is_refused(tmp_path):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(0.2, []), video="libvpx", size=(640, 480))
    with pytest.raises(GatewayError, match="too large"):
        assemble([run(path)], directory=tmp_path, want_video=True, limits=Limits(pixels=320 * 240))


def test_too_little_memory_is_an_error_and_not_a_hang(tmp_path):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(1, []))
    with pytest.raises(GatewayError) as error:
        assemble([run(path)], directory=tmp_path, limits=Limits(memory=96 * 1024 * 1024))
    assert error.value.retryable is False


def test_work_that_takes_too_long_is_ended(tmp_path):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(1, []))
    with pytest.raises(GatewayError, match="took too long") as error:
        assemble([run(path)], directory=tmp_path, limits=Limits(wall_seconds=0))
    assert error.value.retryable is False


def test_a_file_that_grows_too_large_is_an_error(tmp_path):
    path = recorder.record(tmp_path / "a.webm", recorder.sound(6, []))
    with pytest.raises(GatewayError):
        assemble([run(path)], directory=tmp_path, limits=Limits(file_size=4_000))


def test_the_quick_file_holds_the_same_sound_at_the_same_times(tmp_path):
    paths = [
        recorder.record(tmp_path / f"{n}.webm", recorder.sound(4, [1.0, 3.0]), gaps={2.0: 0.5}, video="libvpx")
        for n in range(2)
    ]
    made = copy_sound([run(path, number=n) for n, path in enumerate(paths)], directory=tmp_path)
    order = recorder.boxes(made.audio)
    assert order.index("moov") < order.index("mdat")
    second = made.runs[1].offset
    assert recorder.heard_at(recorder.decoded(made.audio)) == pytest.approx(
        [1.0, 3.5, second + 1, second + 3.5], abs=8 * MILLISECONDS
    )


def test_speech_is_found_in_the_recording_however_late_the_clocks_were(tmp_path):
    answers = {seed: recorder.speech(3, seed=seed) for seed in (5, 6)}
    mix = np.concatenate([np.zeros(2 * 16_000), answers[5], np.zeros(8 * 16_000), answers[6], np.zeros(16_000)]).astype(
        np.float32
    )
    mix += 0.3 * recorder.speech(len(mix) / 16_000, seed=9)[: len(mix)]
    path = recorder.record(tmp_path / "a.webm", recorder.up_to_48k(mix), gaps={8.0: 0.25})
    spoken = []
    for (seed, samples), start in zip(answers.items(), (1.85, 13.1), strict=True):
        file = tmp_path / f"{seed}.pcm"
        file.write_bytes((samples * 32767).astype("<i2").tobytes())
        spoken.append(Spoken(path=file, start=start))
    shifts = place(run(path), spoken)
    assert shifts == pytest.approx([0.15, 0.15], abs=10 * MILLISECONDS)


def test_silence_and_words_that_were_never_said_have_no_place(tmp_path):
    mix = recorder.speech(8, seed=1)
    path = recorder.record(tmp_path / "a.webm", recorder.up_to_48k(mix))
    (tmp_path / "silence").write_bytes(bytes(16_000 * 2 * 2))
    (tmp_path / "other").write_bytes((recorder.speech(3, seed=2) * 32767).astype("<i2").tobytes())
    (tmp_path / "nothing").write_bytes(b"")
    spoken = [Spoken(path=tmp_path / name, start=1.0) for name in ("silence", "other", "nothing")]
    assert place(run(path), spoken) == [None, None, None]
