"""The recording of a test interview: it is stored like a browser's chunks, durable before a row names it."""

import hashlib

from app.conversation.utterances import Heard, Played
from app.core.db import db
from app.gateways.speech.ports import SPEECH_RATE, Spoken, Word
from app.gateways.speech.sound import resample
from app.gateways.storage import Storage
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import Track
from app.interviews.recordings.queries import chunk_key
from app.operations.demo.tape import CHUNK_SECONDS, Tape

GAP = 0.4
"""Seconds of silence before the next speaker."""


class Recorder:
    """One run of the recorder. Every method leaves no transaction open."""

    def __init__(self, interview_id: str, *, video: bool, storage: Storage) -> None:
        self._interview_id, self._storage, self._tape = interview_id, storage, Tape(video=video)
        self.segment = recordings.open_run(interview_id, mime_type=self._tape.mime_type).number
        db.session.commit()
        self._mixed, self._voiced = 0, 0

    def listen(self, pcm: bytes, rate: int) -> Played:
        """Play the agent's reply to its end; nothing if it is only shown."""
        self._tape.pause(GAP)
        began = self._tape.now
        if pcm:
            self._tape.play(pcm, rate)
        self._keep_mix(self._tape.mixed_so_far())
        return Played(self.segment, round(began, 3), round(self._tape.now - began, 3), whole=True)

    def answer(self, spoken: Spoken, *, question: int) -> tuple[Heard, tuple[Word, ...]]:
        """Speak the answer; returns its place in the recording, and its words on the clock of its chunks."""
        self._tape.pause(GAP)
        began = self._tape.now
        self._tape.speak(resample(spoken.pcm, spoken.rate, SPEECH_RATE))
        self._tape.pause(GAP)
        first, last = max(self._voiced, int(began / CHUNK_SECONDS)), int((self._tape.now - 0.001) / CHUNK_SECONDS)
        for number in range(first, last + 1):
            self._keep(Track.VOICE, number, self._tape.voice_chunk(number))
        self._voiced = last + 1
        self._keep_mix(self._tape.mixed_so_far())
        later = began - first * CHUNK_SECONDS
        words = tuple(Word(one.word, one.start + later, one.end + later, one.confidence) for one in spoken.words)
        return Heard(question, self.segment, first, last), words

    def stop(self) -> int:
        """End the run; returns the number of its last piece."""
        self._keep_mix(self._tape.stop())
        return self._mixed - 1

    def _keep_mix(self, content: bytes) -> None:
        if content:
            self._keep(Track.MIX, self._mixed, content)
            self._mixed += 1

    def _keep(self, track: Track, number: int, content: bytes) -> None:
        sha256 = hashlib.sha256(content).hexdigest()
        key = chunk_key(self._interview_id, segment=self.segment, track=track, number=number, sha256=sha256)
        self._storage.put(key, content)
        recordings.keep_chunk(
            self._interview_id,
            segment=self.segment,
            track=track,
            number=number,
            sha256=sha256,
            size=len(content),
            storage_key=key,
        )
        db.session.commit()
