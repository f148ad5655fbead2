"""What the rest of Parley knows about speech: frozen values and narrow Protocols, and no engine.

Units: times are seconds (float) from the start of the audio they belong to; audio is signed 16-bit
little-endian mono PCM. Engines raise `app.core.errors.GatewayError(message, retryable)` and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from app.gateways.speech.calls import Call

SPEECH_RATE = 16_000
"""Samples per second of audio that is fed piece by piece; `Transcriber.transcribe` takes any rate."""
SAMPLE_BYTES = 2

Role = Literal["agent", "user"]
Retake = Literal["former", "later"]


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word; `confidence` is 0..1 where the engine gives one."""

    word: str
    start: float
    end: float
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """One turn of the talk on the recording's clock.

    `words` is empty where nothing measured their times (typed answers, engines without word times).
    `question_index` is the script question it belongs to; None for intro, outro and small talk. `obeyed`: words to the
    agent that it followed, or an answer that was said again; no one judges them. `retake`: which of the two it is.
    """

    role: Role
    content: str
    words: tuple[Word, ...]
    start: float
    end: float
    question_index: int | None = None
    obeyed: bool = False
    retake: Retake | None = None

    @property
    def is_answer(self) -> bool:
        """Whether the candidate says something that counts."""
        return self.role == "user" and not self.obeyed


@dataclass(frozen=True, slots=True)
class Heard:
    """What a recogniser understood; word times count from the start of the given audio.

    ``spoken``: seconds of speech, where the engine has asked the voice detector itself.
    """

    text: str
    words: tuple[Word, ...]
    engine: str
    confidence: float | None = None
    spoken: float | None = None


@dataclass(frozen=True, slots=True)
class Sayings:
    """What may be said: one of ``whole``, between any number of words ``before`` and ``after`` it."""

    whole: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spoken:
    """Speech to be played; `fell_back` says that the preferred engine failed and another one served."""

    pcm: bytes
    rate: int
    words: tuple[Word, ...]
    engine: str
    fell_back: bool = False

    @property
    def duration(self) -> float:
        """Seconds of audio."""
        return len(self.pcm) / (SAMPLE_BYTES * self.rate)


@dataclass(frozen=True, slots=True)
class Exchange:
    """All that an interviewer may know when it decides whether to ask on.

    `answer` is everything said to `question` so far, `latest` the newest part of it; `follow_ups` are those already
    put, of at most `limit`; `cut` is what was heard of the agent's last words where the candidate interrupted them
    (empty: all), `documents` text of the candidate's files. What comes from the candidate is data, never orders.
    """

    question: str
    answer: str
    language: str = "en-US"
    follow_ups: tuple[str, ...] = ()
    limit: int = 1
    flow_title: str = ""
    org_name: str = ""
    additional_info: str | None = None
    additional_instructions: str | None = None
    latest: str = ""
    cut: str = ""
    documents: str = ""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What to say next: `text` asks on. The others leave the question open: `reply` answers the candidate, `unknown`
    says that no one here can, `repeat` says the question again, `wait` gives a moment. All empty: go on."""

    text: str | None = None
    reply: str | None = None
    unknown: bool = False
    repeat: bool = False
    wait: bool = False


Listens = Callable[[FollowUp], None]


@dataclass(frozen=True, slots=True)
class Scores:
    """The contract's seven scores, 0..5 with one decimal; None means not assessed."""

    communication: float | None = None
    motivation: float | None = None
    skills: float | None = None
    language_vocabulary_and_expression: float | None = None
    language_grammar_and_structure: float | None = None
    language_fluency_and_pace: float | None = None
    language_comprehension: float | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """One segment as text alone: what a judge may see of it. `index` is its place in the transcript."""

    index: int
    role: Role
    content: str
    question_index: int | None


@dataclass(frozen=True, slots=True)
class OwnCriterion:
    """What an organization judges answers by, and what good looks like. ``is_yes_no``: there are only 0 and 5."""

    key: str
    name: str
    good: str = ""
    is_yes_no: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """What an analyst reads: text, never sound, times or faces. Transcript and documents are data, not orders."""

    questions: tuple[str, ...]
    passages: tuple[Passage, ...]
    language: str = "en-US"
    title: str = ""
    org_name: str = ""
    additional_info: str | None = None
    documents: tuple[str, ...] = ()
    criteria: tuple[OwnCriterion, ...] = ()


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the candidate that carry a judgement, and their segment."""

    text: str
    segment_index: int


@dataclass(frozen=True, slots=True)
class Judged:
    """One score (a field name of `Scores`, or a criterion's key) as an analyst gave it, before Parley's checks."""

    score: str
    value: float | None
    reason: str = ""
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that was judged and by what `method`, such as `script` or `chat:<model>`."""

    method: str
    judged: tuple[Judged, ...] = ()


class Transcriber(Protocol):
    """Turns speech into text. Streaming is an advantage only: `finish` falls back to the whole audio."""

    @property
    def name(self) -> str:
        """The engine or engines, in order."""
        ...

    def supports(self, language: str) -> bool:
        """Whether this language of the interface can be recognised."""
        ...

    def is_demonstration(self, language: str) -> bool:
        """Whether what hears this language now is good enough to show Parley, but not to judge answers."""
        ...

    def improves(self, language: str) -> bool:
        """Whether a finished answer is worth another hearing, by `hear_again`."""
        ...

    def hear_again(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """A finished answer once more, with more care than `finish` has time for, and by no lesser engine."""
        ...

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """Recognise one whole answer."""
        ...

    def prepare(self, language: str) -> None:
        """Someone will speak soon: load what takes time. Never blocks, never raises."""
        ...

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        """Hand over piece `number` of utterance `key` (16 kHz) while it is spoken; never blocks, never raises. The
        smallest number given first marks the start; pieces may come twice or in another order."""
        ...

    def peek(self, key: str, *, last: int, language: str, seconds: float, begun: bytes = b"") -> str | None:
        """The words of utterance `key` up to piece `last`, which goes on; None where the engine does not hear as it is
        spoken, or not within `seconds`. Never raises.

        `begun` is the beginning of piece `last` where the rest of it has not been spoken yet: the piece is still fed
        when it is whole. None from engines that hear whole pieces only.
        """
        ...

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        """The text of pieces `first..last`; `pcm()` gives all of them (16 kHz) where they were not all fed."""
        ...

    def choose(self, heard: Heard, *, language: str, among: Sayings, pcm: Callable[[], bytes]) -> Heard | None:
        """The saying that the whole sound (16 kHz) of what was `heard` as another text is most like, and how surely.

        None where it is like none, and from engines whose text needs no second look. Quick, and never raises.
        """
        ...

    def partial(self, key: str) -> str | None:
        """The words of an utterance that is still being fed, as far as they are known, until `finish` changes them;
        None where nothing is known. Never blocks, never raises."""
        ...

    def drop(self, key: str) -> None:
        """Forget an utterance that will not be finished."""
        ...

    def close(self) -> None:
        """End processes and connections; a closed gateway is not used again."""
        ...


class Speaker(Protocol):
    """Turns text into speech."""

    @property
    def name(self) -> str:
        """The engine or engines, in order."""
        ...

    def supports(self, language: str) -> bool:
        """Whether this language of the interface can be spoken; if not, show the text instead."""
        ...

    def identity(self, voice_id: str | None, language: str) -> str:
        """The voice that speaks now: engine, model and their parameters. `none` where the language has no voice."""
        ...

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        """A talk with this voice begins: load what takes time. Never blocks, never raises."""
        ...

    def speak(
        self, text: str, *, voice_id: str | None, language: str, remember: bool = False, steady: str | None = None
    ) -> Spoken:
        """Speak `text`. `remember` keeps the result for the next time: never for text with a candidate's data.

        `steady` is the identity of the voice that a talk began with. It speaks as long as it is there, even if another
        one is preferred by now.
        """
        ...

    def close(self) -> None:
        """End processes and connections; a closed gateway is not used again."""
        ...


class Interviewer(Protocol):
    """Supplies words and a judgement; the script decides what happens and bounds how often."""

    @property
    def name(self) -> str:
        """The engine, such as `script` or `chat:<model>`."""
        ...

    def decide(self, exchange: Exchange, *, listens: Listens | None = None, call: Call | None = None) -> FollowUp:
        """What to ask after this answer, if anything. ``listens`` gets it as far as it is known, each time that is more
        than before: without words it is final, and words may go on (or, after a failure, begin again). Another thread
        may give up the ``call``.
        """
        ...

    def close(self) -> None:
        """End connections."""
        ...


class Analyst(Protocol):
    """Reads a finished interview."""

    @property
    def name(self) -> str:
        """The engine, such as `script` or `chat:<model>`."""
        ...

    def summarize(self, material: Material) -> str | None:
        """A short summary of what the candidate said."""
        ...

    def judge(self, material: Material, *, scores: tuple[str, ...]) -> Judgement:
        """Judge the named fields of `Scores`, and the material's criteria by their keys, from text alone, each with the
        candidate's own words as quotes.
        """
        ...

    def close(self) -> None:
        """End connections."""
        ...


class Store(Protocol):
    """Where remembered speech is kept: bytes under a key of letters, digits, `/`, `-` and `.`."""

    def get(self, key: str) -> bytes | None:
        """The bytes, or None where nothing is kept."""
        ...

    def put(self, key: str, data: bytes) -> None:
        """Keep the bytes."""
        ...
