"""Speech: Whisper on a reader's and Piper's voices, in noise and without words, with pocketsphinx beside it; espeak's speed.

    .venv/bin/python bench/speech.py [--answers 150] [--models DIRECTORY] [--noise 20,10]

Needs Whisper base and Piper Joe (`parley models install`); without them it measures pocketsphinx and espeak alone. Five
clips of LibriVox come from the source package of pocketsphinx, with pip's own index, and stay in a cache outside the
checkout. Work is CPU seconds of the recogniser's process for a second of sound, so other load on the machine hardly
shows; waiting times are as they are.
"""

import argparse
import hashlib
import json
import os
import pickle
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import wave
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.gateways.speech import engines
from app.gateways.speech.engines.children import Children
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber
from app.gateways.speech.ports import SPEECH_RATE
from app.gateways.speech.silence import speech_seconds
from app.gateways.speech.sound import resample
from bench._answers import ANSWERS, words_of
from bench._wordless import KINDS, stretches

PROGRAMS = Path(engines.__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "parley-bench"
LANGUAGE, TIMEOUT, PIECE = "en-US", 600, SPEECH_RATE  # bytes: half a second
BABBLE = 6
BESIDE = 20  # answers that pocketsphinx hears too: it takes four times as long
TICK = os.sysconf("SC_CLK_TCK")
QUESTIONS = {
    "en-US": "Please tell me about a project that you are proud of, and what made it difficult.",
    "de-DE": "Bitte erzählen Sie mir von einem Projekt, auf das Sie stolz sind, und was daran schwierig war.",
    "es-419": "Por favor, cuénteme sobre un proyecto importante para usted y qué fue lo más difícil.",
    "hi-IN": "कृपया मुझे अपने किसी ऐसे प्रोजेक्ट के बारे में बताइए जिस पर आपको गर्व है।",
    "ja-JP": "誇りに思うプロジェクトについて、難しかった点も含めて教えてください。",
    "pt-BR": "Por favor, fale sobre um projeto do qual você se orgulha e o que o tornou difícil.",
    "fr-FR": "Parlez-moi d'un projet dont vous êtes fier et de ce qui l'a rendu difficile.",
    "zh-CN": "请介绍一个让您感到自豪的项目，以及它的难点在哪里。",
    "ko-KR": "자랑스럽게 생각하는 프로젝트와 어려웠던 점에 대해 말씀해 주세요.",
    "vi-VN": "Hãy kể cho tôi nghe về một dự án mà bạn tự hào và điều gì đã khiến nó khó khăn.",
    "ar-AE": "من فضلك حدثني عن مشروع تفتخر به وما الذي جعله صعبا.",
    "no-NO": "Fortell meg om et prosjekt du er stolt av, og hva som gjorde det vanskelig.",
}


def clips():
    """Text, samples and word starts of the five clips; nothing, with a sentence, where they cannot be had."""
    folder = CACHE / "librivox"
    if not list(folder.glob("*.wav")) and not fetch_clips(folder):
        return []
    found = []
    for path in sorted(folder.glob("*.wav")):
        with wave.open(str(path)) as file:
            pcm = file.readframes(file.getnframes())
        timed = json.loads(path.with_suffix(".json").read_text().splitlines()[0])["w"]
        starts = [(word["t"].split("(")[0], word["b"]) for word in timed if word["t"][0] not in "<["]
        found.append((path.with_suffix(".txt").read_text().strip(), pcm, starts))
    return found


def fetch_clips(folder):
    with tempfile.TemporaryDirectory() as place:
        constraint = Path(place) / "constraints"
        constraint.write_text("scikit-build-core<0.10\n")  # what that package's build asks for
        order = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "pocketsphinx", "-d", place]
        order.append("pocketsphinx==5.0.4")
        done = subprocess.run(
            order, check=False, env={**os.environ, "PIP_CONSTRAINT": str(constraint)}, capture_output=True
        )
        package = next(Path(place).glob("*.tar.gz"), None)
        if package is None:
            print(f"  LEFT OUT: the clips of LibriVox could not be had (pip ended with {done.returncode})")
            return False
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(package) as archive:
            for member in archive:
                name = Path(member.name)
                if name.parent.name == "librivox" and name.name.startswith("sense") and member.isfile():
                    (folder / name.name).write_bytes(archive.extractfile(member).read())
    for extra in (*folder.glob("*.phone.json"), *folder.glob("*.state.json")):
        extra.unlink()
    return True


def spoken_answers(models, count):
    """Text, samples and word starts of interview answers spoken by Piper's Joe; each is spoken once and kept."""
    children = Children(PROGRAMS / "piper_child.py")
    answers = []
    CACHE.mkdir(parents=True, exist_ok=True)
    for text in ANSWERS[:count]:
        path = CACHE / f"joe-{hashlib.sha256(text.encode()).hexdigest()[:16]}.pickle"
        if not path.exists():
            actor = (str(models / "piper-en_US-joe-medium"), "")
            pcm, rate, words = children.call("speak", actor, text, LANGUAGE, timeout=TIMEOUT)
            answer = text, resample(pcm, rate, SPEECH_RATE), [(word[0], word[1]) for word in words]
            path.write_bytes(pickle.dumps(answer))
        answers.append(pickle.loads(path.read_bytes()))
    children.close()
    return answers


def with_noise(items, decibels):
    """The same with pink noise and the babble of six others, together so far below the voice."""
    random = np.random.default_rng(decibels)
    sounds = [np.frombuffer(pcm, "<i2").astype(float) for _, pcm, _ in items]
    noisy = []
    for (text, _, starts), sound in zip(items, sounds, strict=True):
        spectrum = np.fft.rfft(random.normal(size=len(sound))) / np.sqrt(np.maximum(np.arange(len(sound) // 2 + 1), 1))
        pink = np.fft.irfft(spectrum, len(sound))
        others = (sounds[number] for number in random.choice(len(sounds), min(BABBLE, len(sounds)), replace=False))
        babble = sum(np.resize(np.roll(other, random.integers(len(other))), len(sound)) for other in others)
        power = np.mean(sound**2) * 10 ** (-decibels / 10) / 2
        noise = sum(part * np.sqrt(power / np.mean(part**2)) for part in (pink, babble))
        noisy.append((text, np.clip(sound + noise, -32_768, 32_767).astype("<i2").tobytes(), starts))
    return noisy


class Whisper:
    """The recogniser's process, with one model."""

    def __init__(self, model):
        self.model = str(model)
        self._children = Children(PROGRAMS / "whisper_child.py")
        self._child = self._children.pick()
        self.final(b"".join([bytes(SPEECH_RATE)]))
        self._child.post("prepare", self.model, LANGUAGE)

    @property
    def cpu(self):
        fields = Path(f"/proc/{self._child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def final(self, pcm):
        heard = self._child.call("batch", pcm, self.model, LANGUAGE, True, timeout=TIMEOUT)
        return heard["text"], [(word, start) for word, start, *_ in heard["words"]]

    def live(self, pcm, *, key="live", pace=0.0, wait=0.0):
        """Fed in pieces; the third value is the time from the end to the text."""
        self._child.post("open", key, self.model, LANGUAGE)
        pieces = [pcm[start : start + PIECE] for start in range(0, len(pcm), PIECE)]
        due = time.perf_counter()
        for number, piece in enumerate(pieces):
            due += pace * len(piece) / 2 / SPEECH_RATE
            time.sleep(max(0.0, due - time.perf_counter()))
            self._child.post("feed", key, number, piece, size=len(piece))
            while not pace and self._child.pending_bytes:
                time.sleep(0.001)
        time.sleep(wait)
        began = time.perf_counter()
        heard = self._child.call("finish", key, 0, len(pieces) - 1, self.model, LANGUAGE, timeout=TIMEOUT)
        return heard["text"], [(word, start) for word, start, *_ in heard["words"]], time.perf_counter() - began

    def close(self):
        self._children.close()


class Pocketsphinx:
    """The recogniser that needs no model."""

    def __init__(self):
        self._transcriber = PocketsphinxTranscriber(processes=1)
        self._transcriber.prepare(LANGUAGE)

    @property
    def cpu(self):
        fields = Path(f"/proc/{self._transcriber.pids()[0]}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def final(self, pcm):
        heard = self._transcriber.transcribe(pcm, rate=SPEECH_RATE, language=LANGUAGE)
        return heard.text, [(word.word, word.start) for word in heard.words]

    def align(self, text, pcm, rate):
        return self._transcriber.align(text, pcm, rate=rate)

    def close(self):
        self._transcriber.close()


def errors(truth, heard):
    row = list(range(len(heard) + 1))
    for number, word in enumerate(truth, 1):
        before, row[0] = row[:], number
        for place, other in enumerate(heard, 1):
            row[place] = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (word != other))
    return row[-1]


def recognise(name, engine, how, items):
    """One line: wrong words, work, word starts."""
    wrong = total = length = 0
    off, before = [], engine.cpu
    for text, pcm, starts in items:
        heard, words, *_ = how(pcm)
        truth = words_of(text)
        wrong, total = wrong + errors(truth, words_of(heard)), total + len(truth)
        length += len(pcm) / 2 / SPEECH_RATE
        for word, start in starts:
            near = [abs(other - start) for said, other in words if words_of(said) == words_of(word)]
            off += [min(near)] if near and min(near) < 0.5 else []
    work = (engine.cpu - before) / length
    middle, late = np.percentile(off, [50, 90]) * 1000 if off else (0, 0)
    print(
        f"  {name:38} {wrong:4} of {total:<5} {wrong / total:6.1%} {work:9.3f} {middle:11.0f} {late:6.0f}", flush=True
    )


def accuracy(title, items, whisper, sphinx):
    print(f"\n{title:39}  wrong words         CPU-s/s   starts: median, p90 (ms)")
    if whisper is not None:
        recognise("whisper, whole answers", whisper, whisper.final, items)
        recognise("whisper, while it is spoken", whisper, whisper.live, items)
    beside = items[:BESIDE]
    recognise(f"pocketsphinx ({len(beside)} of them)", sphinx, sphinx.final, beside)


def waiting(whisper, answers):
    """An answer of about five seconds at the speed of speech, ended at once and after the page's pause."""
    one = min(answers, key=lambda item: abs(len(item[1]) / 2 / SPEECH_RATE - 5))[1]
    print(
        f"\nFrom the end of an answer of {len(one) / 2 / SPEECH_RATE:.1f} s to its text, fed at the speed of speech (5 times)"
    )
    for name, pcm in (
        ("ended with the last sound", one),
        ("after 0.7 s of quiet", one + bytes(round(1.4 * SPEECH_RATE))),
    ):
        took = [1000 * whisper.live(pcm, key=f"wait{number}", pace=1.0)[2] for number in range(5)]
        print(f"  {name:38} median {statistics.median(took):.0f} ms, worst {max(took):.0f} ms", flush=True)


def together(whisper, answers):
    """Four people who speak at once, three answers each."""
    texts, took, lost = {}, [], []

    def talk(person):
        chosen = answers[person::4][:3]
        pcm = b"".join(item[1] + bytes(SPEECH_RATE) for item in chosen)
        text, _, seconds = whisper.live(pcm, key=f"person{person}", pace=1.0)
        took.append(1000 * seconds)
        texts[person] = text
        truth = words_of(" ".join(item[0] for item in chosen))
        lost.append(errors(truth, words_of(text)) / len(truth))

    before, began = whisper.cpu, time.perf_counter()
    threads = [threading.Thread(target=talk, args=(person,)) for person in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    share = (whisper.cpu - before) / (time.perf_counter() - began)
    print(
        f"\nFour at once, three answers each: {len(texts)} texts, {statistics.mean(lost):.1%} wrong words on average,"
    )
    print(
        f"  from the end to the text median {statistics.median(took):.0f} ms, worst {max(took):.0f} ms; {share:.2f} cores",
        flush=True,
    )


def wordless(whisper, sphinx):
    heard = dict.fromkeys(KINDS, 0)
    guessed = 0
    for kind, pcm in stretches():
        guessed += len(sphinx.final(pcm)[0].split())
        if whisper is not None:
            heard[kind] += len(whisper.final(pcm)[0].split())
    whispered = ", ".join(f"{kind} {count}" for kind, count in heard.items()) if whisper is not None else "not measured"
    print(f"\nWords heard in 100 stretches without words: whisper: {whispered}; pocketsphinx: {guessed}", flush=True)


def synthesis(speaker: EspeakSpeaker) -> None:
    speaker.speak("Warm up.", voice_id=None, language="en-US")
    print("Synthesis of one question (median of 9)      ms   of real time")
    for language, question in QUESTIONS.items():
        if not speaker.supports(language):
            print(f"  {language}: needs its extra")
            continue
        took = []
        for _ in range(9):
            began = time.perf_counter()
            spoken = speaker.speak(question, voice_id=None, language=language)
            took.append(time.perf_counter() - began)
        middle = statistics.median(took)
        print(f"  {language:8}                             {1000 * middle:9.1f}   1/{spoken.duration / middle:.0f}")


def alignment_and_detection(speaker, sphinx):
    text = " ".join(ANSWERS[:2])
    spoken = speaker.speak(text, voice_id="vendora-Kate", language=LANGUAGE)
    sphinx.align("Warm up.", spoken.pcm[:40_000], spoken.rate)
    began = time.perf_counter()
    words = sphinx.align(text, spoken.pcm, spoken.rate)
    took = time.perf_counter() - began
    known = {word.word.strip(".,"): word.start for word in reversed(spoken.words)}
    first = {word.word.strip(".,"): word.start for word in reversed(words)}
    off = [abs(first[name] - start) * 1000 for name, start in known.items() if name in first]
    print(f"\nForced alignment: {took / spoken.duration:.3f} of real time, start error median {np.median(off):.0f} ms")
    began = time.perf_counter()
    speech_seconds(spoken.pcm, spoken.rate)
    print(f"Speech detection: {(time.perf_counter() - began) / spoken.duration:.3f} of real time")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=len(ANSWERS), help="how many of the 150 sentences")
    parser.add_argument("--models", type=Path, default=Path(os.environ.get("MODELS_DIR", "instance/models")))
    parser.add_argument("--model", default="whisper-base")
    parser.add_argument("--noise", default="20,10", help="decibels below the voice")
    options = parser.parse_args()
    model = options.models / options.model
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {options.model}")
    speaker, sphinx = EspeakSpeaker(), Pocketsphinx()
    whisper = Whisper(model) if (model / "model.bin").exists() else None
    if whisper is None:
        print(f"  LEFT OUT: Whisper, because {model} is not there (parley models install {options.model})")
    try:
        if read := clips():
            accuracy("Five clips of LibriVox", read, whisper, sphinx)
        if (options.models / "piper-en_US-joe-medium").exists():
            answers = spoken_answers(options.models, options.answers)
            for decibels in map(int, options.noise.split(",")):
                title = f"{len(answers)} answers, noise {decibels} dB below"
                accuracy(title, with_noise(answers, decibels), whisper, sphinx)
            if whisper is not None:
                waiting(whisper, answers)
                together(whisper, answers)
        else:
            print(
                "  LEFT OUT: interview answers, because Piper Joe is not there (parley models install piper-en_US-joe-medium)"
            )
        wordless(whisper, sphinx)
        synthesis(speaker)
        alignment_and_detection(speaker, sphinx)
    finally:
        speaker.close()
        sphinx.close()
        if whisper is not None:
            whisper.close()


if __name__ == "__main__":
    main()
