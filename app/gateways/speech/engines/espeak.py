"""The embedded voice: espeak-ng in its own process, no key, no download, every language it can really speak."""

from importlib.util import find_spec
from pathlib import Path

from app.core.errors import GatewayError
from app.gateways.speech import catalogue
from app.gateways.speech.engines.children import ChildFailed, Children
from app.gateways.speech.ports import Spoken, Word

PROGRAM = Path(__file__).with_name("espeak_child.py")
LONGEST_TEXT = 20_000
TIMEOUT = 30.0
PITCH_RANGE = 50
HOW_TO_GET = {
    "ja-JP": 'Japanese needs the extra "ja" (pip install pyopenjtalk-plus) or another engine in TTS_PROVIDER',
    "th-TH": "espeak-ng cannot speak Thai; add another engine to TTS_PROVIDER",
}


class EspeakSpeaker:
    """Speaks through one child process; a synthesis takes milliseconds, so one is enough."""

    name = "espeak"

    def __init__(self) -> None:
        self._children = Children(PROGRAM)
        self._japanese = find_spec("pyopenjtalk") is not None

    def supports(self, language: str) -> bool:
        """All but Thai; Japanese only where its extra is installed."""
        return language in catalogue.ESPEAK_LANGUAGES and (language != "ja-JP" or self._japanese)

    def identity(self, voice_id: str | None, language: str) -> str:
        """What decides on the sound besides the text."""
        voice = catalogue.voice(voice_id)
        return f"espeak:{catalogue.ESPEAK_LANGUAGES.get(language)}+{voice.variant}:{voice.pitch}:{voice.pace}"

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        """Nothing takes time here."""

    def speak(self, text: str, *, voice_id: str | None, language: str, steady: str | None = None) -> Spoken:
        """Speak; refuses languages it cannot speak and texts above 20,000 characters."""
        del steady  # its voices do not change with what is installed
        if not self.supports(language):
            reason = HOW_TO_GET.get(language, f"espeak-ng does not support {language}")
            raise GatewayError(reason, retryable=False)
        if len(text) > LONGEST_TEXT:
            raise GatewayError(f"a text to speak may have at most {LONGEST_TEXT} characters", retryable=False)
        voice = catalogue.voice(voice_id)
        style = (f"{catalogue.ESPEAK_LANGUAGES[language]}+{voice.variant}", voice.pace, voice.pitch, PITCH_RANGE)
        try:
            pcm, rate, words = self._children.call("speak", text.replace("\0", " "), language, style, timeout=TIMEOUT)
        except ChildFailed as error:
            raise GatewayError(f"espeak-ng failed: {error}", retryable=False) from error
        return Spoken(pcm, rate, tuple(Word(*word) for word in words), self.name)

    def pids(self) -> list[int]:
        """Process ids of the running children."""
        return self._children.pids()

    def close(self) -> None:
        """End the process."""
        self._children.close()
