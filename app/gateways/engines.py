"""The engines that the settings name, wired behind the four ports; clients of remote servers load when named."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from app.gateways.language_model.drafts import Drafter, NoDrafter
from app.gateways.language_model.scripted import ScriptAnalyst, ScriptInterviewer
from app.gateways.speech.engines.cache import CachedSpeaker
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.engines.fallback import FallbackSpeaker, FallbackTranscriber, Recogniser, Voice
from app.gateways.speech.engines.kokoro import KokoroSpeaker
from app.gateways.speech.engines.piper import PiperSpeaker
from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber
from app.gateways.speech.engines.whisper import WhisperTranscriber
from app.gateways.speech.host.client import SpeechHost
from app.gateways.speech.host.machine import this_machine
from app.gateways.speech.host.wire import HostSettings
from app.gateways.speech.ports import Analyst, Interviewer, Speaker, Store, Transcriber
from app.gateways.speech.watching import Part, Watch, unwatched

if TYPE_CHECKING:
    from app.gateways.language_model.chat import Chat
    from app.gateways.speech.engines.live import HeardLive


REMOTE = frozenset({"openai", "elevenlabs"})
"""Engines that are servers."""
DEFAULT_VOICES = ("piper", "kokoro", "espeak")
KOKORO_CORES = 4
"""From this number on Kokoro speaks faster than people do, beside all else."""


class SpeechSettings(HostSettings, Protocol):
    """The settings that speech reads; names as in the environment, in small letters."""

    @property
    def llm_base_url(self) -> str: ...
    @property
    def llm_api_key(self) -> str: ...
    @property
    def llm_model(self) -> str: ...
    @property
    def llm_json_mode(self) -> str: ...
    @property
    def llm_timeout(self) -> float: ...
    @property
    def stt_provider(self) -> tuple[str, ...]: ...
    @property
    def stt_base_url(self) -> str: ...
    @property
    def stt_api_key(self) -> str: ...
    @property
    def stt_model(self) -> str: ...
    @property
    def stt_realtime_model(self) -> str: ...
    @property
    def stt_words(self) -> str: ...
    @property
    def stt_timeout(self) -> float: ...
    @property
    def stt_processes(self) -> int: ...
    @property
    def stt_overrides(self) -> Mapping[str, str]: ...
    @property
    def tts_provider(self) -> tuple[str, ...]: ...
    @property
    def tts_base_url(self) -> str: ...
    @property
    def tts_api_key(self) -> str: ...
    @property
    def tts_model(self) -> str: ...
    @property
    def tts_voice_map(self) -> Mapping[str, str]: ...
    @property
    def tts_timeout(self) -> float: ...
    @property
    def tts_overrides(self) -> Mapping[str, str]: ...
    @property
    def elevenlabs_base_url(self) -> str: ...
    @property
    def elevenlabs_api_key(self) -> str: ...


def build_transcriber(
    settings: SpeechSettings, *, host: SpeechHost | None = None, watch: Watch = unwatched
) -> Transcriber:
    """The recognisers of STT_PROVIDER in order; `none` leaves every language without one.

    The embedded recogniser also aligns English where a server gives text without word times.
    """
    embedded = PocketsphinxTranscriber(processes=settings.stt_processes)

    def make(provider: str) -> Recogniser:
        if provider == "whisper":
            return WhisperTranscriber(host or SpeechHost(settings))
        return make_remote(settings, provider, aligner=embedded) if provider in REMOTE else embedded

    engines = tuple(make(provider) for provider in settings.stt_provider if provider != "none")
    return FallbackTranscriber(engines, also_close=(embedded,), watch=watch)


def make_remote(
    settings: SpeechSettings, provider: str, *, aligner: PocketsphinxTranscriber | None = None
) -> "HeardLive":
    """The recogniser `openai` or `elevenlabs` as configured; without an `aligner` its word times are its own.

    STT_REALTIME_MODEL belongs to the first of them in STT_PROVIDER: the others only serve where it fails.
    """
    is_first = provider == next((name for name in settings.stt_provider if name in REMOTE), provider)
    live = settings.stt_realtime_model if is_first else ""
    if provider == "elevenlabs":
        from app.gateways.speech.engines.elevenlabs import ElevenLabsTranscriber

        return ElevenLabsTranscriber(
            settings.elevenlabs_base_url,
            api_key=settings.elevenlabs_api_key,
            timeout=settings.stt_timeout,
            realtime_model=live,
        )
    from app.gateways.speech.engines.transcription_api import TranscriptionApiTranscriber

    return TranscriptionApiTranscriber(
        settings.stt_base_url,
        api_key=settings.stt_api_key,
        model=settings.stt_model,
        models=settings.stt_overrides,
        words=settings.stt_words,
        realtime_model=live,
        timeout=settings.stt_timeout,
        aligner=aligner,
    )


def build_speaker(
    settings: SpeechSettings,
    *,
    host: SpeechHost | None = None,
    store: Store | None = None,
    watch: Watch = unwatched,
) -> Speaker:
    """The voices of TTS_PROVIDER in order; with a `store`, speech can be remembered."""

    def make(provider: str) -> Voice:
        if provider in {"piper", "kokoro"}:
            speech_host = host or SpeechHost(settings)
            return (PiperSpeaker if provider == "piper" else KokoroSpeaker)(
                speech_host.engine(provider), speech_host.state
            )
        if provider == "openai":
            from app.gateways.speech.engines.speech_api import SpeechApiSpeaker

            return SpeechApiSpeaker(
                settings.tts_base_url,
                api_key=settings.tts_api_key,
                model=settings.tts_model,
                models=settings.tts_overrides,
                voice_map=settings.tts_voice_map,
                timeout=settings.tts_timeout,
                aligner=PocketsphinxTranscriber(processes=1),
            )
        if provider == "elevenlabs":
            from app.gateways.speech.engines.elevenlabs import ElevenLabsSpeaker

            return ElevenLabsSpeaker(
                settings.elevenlabs_base_url,
                api_key=settings.elevenlabs_api_key,
                models=settings.tts_overrides,
                voice_map=settings.tts_voice_map,
                timeout=settings.tts_timeout,
            )
        return EspeakSpeaker()

    order = voices_in_order(settings.tts_provider, cores=this_machine().cores)
    speaker = FallbackSpeaker(tuple(make(provider) for provider in order), watch=watch)
    return speaker if store is None else CachedSpeaker(speaker, store)


def voices_in_order(providers: tuple[str, ...], *, cores: int) -> tuple[str, ...]:
    """The default order of voices with Kokoro before Piper from four cores on; any other order is the operator's."""
    if providers == DEFAULT_VOICES and cores >= KOKORO_CORES:
        return "kokoro", *(name for name in providers if name != "kokoro")
    return providers


LONGEST_THOUGHT = 6.0
"""Seconds a candidate waits for one answer of the model at most; without one the next question comes instead."""


def _chat(settings: SpeechSettings, timeout: float, *, watch: Watch, part: Part) -> "Chat":
    from app.gateways.language_model.chat import Chat

    return Chat(
        settings.llm_base_url,
        api_key=settings.llm_api_key,
        model=settings.llm_model,
        json_mode=settings.llm_json_mode,
        timeout=timeout,
        watch=watch,
        part=part,
    )


def build_interviewer(settings: SpeechSettings, *, watch: Watch = unwatched) -> Interviewer:
    """The language model of LLM_BASE_URL, or the script as it is."""
    if not settings.llm_base_url:
        return ScriptInterviewer()
    from app.gateways.language_model.chat import ChatInterviewer

    patience = min(settings.llm_timeout, LONGEST_THOUGHT)
    return ChatInterviewer(_chat(settings, patience, watch=watch, part="questions"))


def build_analyst(settings: SpeechSettings, *, watch: Watch = unwatched) -> Analyst:
    """The language model of LLM_BASE_URL, or the extractive summary alone."""
    if not settings.llm_base_url:
        return ScriptAnalyst()
    from app.gateways.language_model.chat import ChatAnalyst

    return ChatAnalyst(_chat(settings, settings.llm_timeout, watch=watch, part="judgement"))


def build_drafter(settings: SpeechSettings, *, watch: Watch = unwatched) -> Drafter:
    """The language model of LLM_BASE_URL, or none."""
    if not settings.llm_base_url:
        return NoDrafter()
    from app.gateways.language_model.drafting import ChatDrafter

    return ChatDrafter(_chat(settings, settings.llm_timeout, watch=watch, part="drafts"))
