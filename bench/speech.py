"""Speech: synthesis per question and language, recognition on self-made speech, streaming tail against batch.

Run: .venv/bin/python -m bench.speech   (from the checkout; needs nothing but the installed packages)
Everything is said as a ratio to real time where that makes sense; other load on the machine shows in it.
"""

import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.gateways.speech.catalogue import VOICES
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber
from app.gateways.speech.ports import SPEECH_RATE
from app.gateways.speech.silence import speech_seconds
from app.gateways.speech.sound import resample, seconds

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
ANSWERS = (
    "I worked for six years as a nurse in a small hospital near the river, and I learned to stay calm.",
    "My last project was a web site for a school, and we finished it two weeks before the date.",
    "I like to work with other people because they often see things that I would miss when I work alone.",
    "When a customer is angry I first listen, and then I ask questions until I understand what went wrong.",
    "We had to move all the files to a new server, and nobody was allowed to notice that anything changed.",
)
SPEAKERS = ("vendora-Anthony", "vendora-Kate", "vendora-Anna", "vendorb-Shimmer", "vendora-Rahul")
PIECE = SPEECH_RATE  # bytes: half a second


def word_errors(said: str, heard: str) -> tuple[int, int]:
    truth = "".join(letter for letter in said.lower() if letter.isalpha() or letter in "' ").split()
    row = list(range(len(heard.split()) + 1))
    for number, word in enumerate(truth, 1):
        before, row[0] = row[:], number
        for place, other in enumerate(heard.split(), 1):
            row[place] = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (word != other))
    return row[-1], len(truth)


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


def noisy(pcm: bytes) -> bytes:
    samples = np.frombuffer(pcm, "<i2") + np.random.default_rng(7).normal(0, 100, len(pcm) // 2)
    return np.clip(samples, -32768, 32767).astype("<i2").tobytes()


def recognition(speaker: EspeakSpeaker, transcriber: PocketsphinxTranscriber) -> list[bytes]:
    print("\nRecognition of self-made English (5 answers a voice, noise of sigma 100 added)")
    print("  voice              WER   word start error ms: median  p90   decoding / real time")
    clearest = []
    for voice_id in SPEAKERS:
        wrong = total = 0
        off: list[float] = []
        took = length = 0.0
        for text in ANSWERS:
            spoken = speaker.speak(text, voice_id=voice_id, language="en-US")
            pcm = noisy(resample(spoken.pcm, spoken.rate, SPEECH_RATE))
            if voice_id == SPEAKERS[0]:
                clearest.append(pcm)
            began = time.perf_counter()
            heard = transcriber.transcribe(pcm, rate=SPEECH_RATE, language="en-US")
            took += time.perf_counter() - began
            length += spoken.duration
            edits, words = word_errors(text, heard.text)
            wrong, total = wrong + edits, total + words
            truth = [(word.word.lower(), word.start) for word in spoken.words]
            for word in heard.words:
                near = [abs(start - word.start) for name, start in truth if name == word.word]
                off += [min(near)] if near and min(near) < 0.5 else []
        p50, p90 = np.percentile(off, [50, 90]) * 1000
        print(f"  {voice_id:18} {wrong / total:4.0%} {p50:33.0f} {p90:5.0f} {took / length:19.2f}")
    return clearest


def streaming(transcriber: PocketsphinxTranscriber, answers: list[bytes]) -> None:
    tails, batches, ratios = [], [], []
    for number, pcm in enumerate(answers):
        pieces = [pcm[start : start + PIECE] for start in range(0, len(pcm), PIECE)]
        due = time.perf_counter()
        for place, piece in enumerate(pieces):
            due += seconds(piece, SPEECH_RATE)
            time.sleep(max(0.0, due - time.perf_counter()))
            transcriber.feed(f"s{number}", place, piece, language="en-US")
        began = time.perf_counter()
        transcriber.finish(f"s{number}", first=0, last=len(pieces) - 1, language="en-US", pcm=lambda pcm=pcm: pcm)
        tails.append(time.perf_counter() - began)
        began = time.perf_counter()
        transcriber.transcribe(pcm, rate=SPEECH_RATE, language="en-US")
        batches.append(time.perf_counter() - began)
        ratios.append(batches[-1] / tails[-1])
    print("\nFrom the last sound of an answer to its text (fed live in pieces of 0.5 s)")
    print(f"  streamed: median {1000 * statistics.median(tails):.0f} ms, max {1000 * max(tails):.0f} ms")
    print(f"  batch:    median {1000 * statistics.median(batches):.0f} ms, max {1000 * max(batches):.0f} ms")
    print(f"  the streamed tail is 1/{statistics.median(ratios):.1f} of the batch")


def alignment_and_silence(speaker: EspeakSpeaker, transcriber: PocketsphinxTranscriber) -> None:
    spoken = speaker.speak(" ".join(ANSWERS[:2]), voice_id="vendora-Kate", language="en-US")
    transcriber.align("Warm up.", spoken.pcm[:40_000], rate=spoken.rate)
    began = time.perf_counter()
    words = transcriber.align(" ".join(ANSWERS[:2]), spoken.pcm, rate=spoken.rate)
    took = time.perf_counter() - began
    known = {word.word.strip(".,"): word.start for word in reversed(spoken.words)}
    first = {word.word.strip(".,"): word.start for word in reversed(words)}
    off = [abs(first[name] - start) * 1000 for name, start in known.items() if name in first]
    print(f"\nForced alignment: {took / spoken.duration:.3f} of real time, start error median {np.median(off):.0f} ms")
    began = time.perf_counter()
    speech_seconds(spoken.pcm, spoken.rate)
    print(f"Speech detection: {(time.perf_counter() - began) / spoken.duration:.3f} of real time")


def main() -> None:
    speaker, transcriber = EspeakSpeaker(), PocketsphinxTranscriber(processes=1)
    try:
        synthesis(speaker)
        print(f"\n{len(VOICES)} voices in the catalogue")
        answers = recognition(speaker, transcriber)
        streaming(transcriber, answers)
        alignment_and_silence(speaker, transcriber)
    finally:
        speaker.close()
        transcriber.close()


if __name__ == "__main__":
    main()
