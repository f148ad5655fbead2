"""A sound card and a screen for machines that have none: what browsers need to run a spoken interview.

PulseAudio plays what a page says into a sink that nobody hears, and what a test plays into ``mouth`` comes out of the
microphone. Xvfb is the screen. Both belong to one test process and end with it.
"""

import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"pulseaudio", "pulseaudio-utils", "xvfb"}


def missing() -> list[str]:
    """Debian packages that this machine lacks: for a sound card (PACKAGES), or for WebKit."""
    return subprocess.run(["sh", ROOT / ".ci" / "browsers"], capture_output=True, text=True, check=True).stdout.split()


RATE = 16000
PATIENT = 60.0  # seconds; only bounds a hang
MICROPHONE = (
    "module-remap-source",
    "master=mouth.monitor",
    "source_name=mic",
    "source_properties=device.description=Microphone",
)
SINKS = ("speaker", "mouth")


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class SoundCard:
    """One loudspeaker, one microphone that can be unplugged, one screen."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "PULSE_SERVER": f"unix:{folder}/pulse/native"}
        self._running: list[subprocess.Popen[bytes]] = []
        self._microphone = ""

    def start(self) -> None:
        """Returns once programs may be started with ``env``."""
        self.folder.chmod(0o700)
        sinks = [f"--load=module-null-sink sink_name={name} rate=48000" for name in SINKS]
        self._run(
            "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--load=module-native-protocol-unix", *sinks
        )
        deadline = time.monotonic() + PATIENT
        while subprocess.run(
            ["pactl", "info"], env=self.env, capture_output=True, check=False, timeout=PATIENT
        ).returncode:
            assert time.monotonic() < deadline, (self.folder / "pulseaudio.log").read_text()
            time.sleep(0.1)
        self._pactl("set-default-sink", "speaker")
        self.plug_in()
        reading, writing = os.pipe()
        self._run(
            "Xvfb", "-displayfd", str(writing), "-screen", "0", "1400x1000x24", "-nolisten", "tcp", passes=writing
        )
        os.close(writing)
        with os.fdopen(reading) as number:
            assert select.select([number], [], [], PATIENT)[0], (self.folder / "Xvfb.log").read_text()
            self.env["DISPLAY"] = f":{number.readline().strip()}"

    def _run(self, *command: str, passes: int | None = None) -> None:
        with (self.folder / f"{command[0]}.log").open("wb") as log:
            fds = () if passes is None else (passes,)
            self._running.append(subprocess.Popen(command, env=self.env, stdout=log, stderr=log, pass_fds=fds))

    def _pactl(self, *arguments: str) -> str:
        done = subprocess.run(
            ["pactl", *arguments], env=self.env, capture_output=True, text=True, check=True, timeout=PATIENT
        )
        return done.stdout.strip()

    def plug_in(self) -> None:
        """The microphone is there."""
        self._microphone = self._pactl("load-module", *MICROPHONE)
        self._pactl("set-default-source", "mic")

    def unplug(self) -> None:
        """The microphone is gone, in the middle of whatever listens to it."""
        self._pactl("unload-module", self._microphone)

    def say(self, samples: np.ndarray) -> None:
        """Play 16-bit samples at 16 kHz into the microphone; returns when they have been played."""
        command = ["paplay", "--device=mouth", "--raw", "--format=s16le", f"--rate={RATE}", "--channels=1"]
        played = np.clip(samples, -32768, 32767).astype("<i2").tobytes()
        subprocess.run(command, env=self.env, input=played, check=True, timeout=PATIENT + len(samples) / RATE)

    @contextmanager
    def listening(self) -> Iterator[Callable[[], int]]:
        """Listen at the loudspeaker. The value is a function that gives the loudest sample (16 bits) afterwards."""
        path = self.folder / "speaker.raw"
        command = ["parec", "--device=speaker.monitor", "--raw", "--format=s16le", f"--rate={RATE}", "--channels=1"]
        with path.open("wb") as out:
            ear = subprocess.Popen(command, env=self.env, stdout=out)
        try:
            yield lambda: int(np.abs(np.fromfile(path, "<i2").astype(int)).max(initial=0))
        finally:
            _ended(ear)

    def stop(self) -> None:
        """End both programs."""
        for process in reversed(self._running):
            _ended(process)


@contextmanager
def running() -> Iterator[SoundCard]:
    """A sound card in a folder of its own; its path is short, because that of a socket may be."""
    with tempfile.TemporaryDirectory(prefix="card-") as folder:
        card = SoundCard(Path(folder))
        try:
            card.start()
            yield card
        finally:
            card.stop()
