"""``parley hear`` and ``parley say``: try out what is installed.

They ask the running speech host. Where none runs, they start its engines for themselves.
"""

import contextlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from app.core.errors import GatewayError
from app.gateways.speech import catalogue
from app.gateways.speech.host.client import SpeechHost
from app.operations.cli.console import AS_JSON, Failed, settings, tell
from app.settings import Settings

HOST_SECONDS = 3.0
"""For a running host to answer."""
MEGABYTES = 500
"""Largest file that is heard."""
LANGUAGE = click.option(
    "--language",
    default=catalogue.DEFAULT_LANGUAGE,
    show_default=True,
    type=click.Choice(sorted(catalogue.LANGUAGES)),
    help="Language of the speech.",
)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@LANGUAGE
@AS_JSON
def hear(file: Path, *, language: str, as_json: bool) -> None:
    """Recognize the speech in FILE (sound or video), and print text, word times, engine and time taken."""
    from app.gateways.engines import build_transcriber
    from app.gateways.speech.ports import SPEECH_RATE

    config = settings()
    pcm = _decoded(file)
    with _host(config) as host:
        transcriber = build_transcriber(config, host=host)
        try:
            if not transcriber.supports(language):
                raise Failed(f"No installed engine recognizes {language}. To see what is missing, run: parley check")
            began = time.perf_counter()
            heard = transcriber.transcribe(pcm, rate=SPEECH_RATE, language=language)
            is_demonstration = transcriber.is_demonstration(language)
        except GatewayError as error:
            raise Failed(error.message) from None
        finally:
            transcriber.close()
    words = [
        {"word": word.word, "start": round(word.start, 3), "end": round(word.end, 3), "confidence": word.confidence}
        for word in heard.words
    ]
    report = {
        "text": heard.text,
        "words": words,
        "confidence": heard.confidence,
        "engine": heard.engine,
        "demonstration": is_demonstration,
        "seconds": round(time.perf_counter() - began, 3),
        "audio_seconds": round(len(pcm) / 2 / SPEECH_RATE, 3),
    }
    lines = [
        heard.text or "(no speech)",
        *(f"{word['start']:8.2f} {word['end']:8.2f}  {word['word']}" for word in words),
    ]
    lines.append(f"{report['audio_seconds']} s of sound, recognized by {heard.engine} in {report['seconds']} s")
    tell(report, as_json=as_json, words="\n".join(lines))


@click.command()
@click.argument("text")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--voice", default=catalogue.DEFAULT_VOICE, show_default=True, help="A voice_id of the API.")
@LANGUAGE
@AS_JSON
def say(text: str, file: Path, *, voice: str, language: str, as_json: bool) -> None:
    """Write TEXT as speech to FILE (WAV), and print the engine and the time taken."""
    from app.gateways.engines import build_speaker
    from app.gateways.speech.sound import wav

    if voice not in catalogue.VOICES:
        raise Failed(f"There is no voice {voice}. The voices are: {', '.join(catalogue.VOICES)}.")
    config = settings()
    with _host(config) as host:
        speaker = build_speaker(config, host=host)
        began = time.perf_counter()
        try:
            spoken = speaker.speak(text, voice_id=voice, language=language)
        except GatewayError as error:
            raise Failed(error.message) from None
        finally:
            speaker.close()
    seconds = round(time.perf_counter() - began, 3)
    try:
        file.write_bytes(wav(spoken.pcm, spoken.rate))
    except OSError as error:
        raise Failed(f"{file} cannot be written: {error.strerror}") from None
    report = {
        "engine": spoken.engine,
        "seconds": seconds,
        "audio_seconds": round(spoken.duration, 3),
        "file": str(file),
    }
    tell(report, as_json=as_json, words=f"{spoken.duration:.1f} s of speech by {spoken.engine} in {seconds} s: {file}")


@contextlib.contextmanager
def _host(config: Settings) -> Iterator[SpeechHost]:
    """The running host, or the engines of one of our own."""
    client = SpeechHost(config)
    client.state(wait=HOST_SECONDS)
    if client.is_reached:
        with contextlib.closing(client):
            yield client
        return
    client.close()
    from app.gateways.speech.host.installed import PROGRAMS, offers
    from app.gateways.speech.host.machine import this_machine
    from app.gateways.speech.host.server import host_for

    with tempfile.TemporaryDirectory() as folder:
        separate = replace(config, data_dir=Path(folder), speech_host="")
        host, client = (
            host_for(separate, programs=PROGRAMS, look=partial(offers, config, this_machine())),
            SpeechHost(separate),
        )
        with contextlib.closing(host), contextlib.closing(client):
            client.state(wait=HOST_SECONDS)
            yield client


def _decoded(file: Path) -> bytes:
    """The first sound track: 16 kHz, s16le, mono."""
    # nosemgrep: parser-in-the-wrong-process - the operator's own file, in a process of this command alone
    import av

    from app.gateways.speech.ports import SPEECH_RATE

    if file.stat().st_size > MEGABYTES * 1_000_000:
        raise Failed(f"{file} is too large. The largest file has {MEGABYTES} MB; cut it into parts.")
    try:
        with av.open(str(file)) as container:
            if not container.streams.audio:
                raise Failed(f"{file} has no sound track.")
            resampler = av.AudioResampler(format="s16", layout="mono", rate=SPEECH_RATE)
            frames = [
                piece for frame in container.decode(container.streams.audio[0]) for piece in resampler.resample(frame)
            ]
            frames += resampler.resample(None)
    except av.FFmpegError as error:
        raise Failed(f"{file} cannot be decoded as sound or video ({type(error).__name__}).") from None
    return b"".join(frame.to_ndarray().tobytes() for frame in frames)
