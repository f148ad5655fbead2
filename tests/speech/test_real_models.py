"""The models that people fetched are those that the manifest means."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.gateways.speech.model_files import manifest

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]
SENTENCE = "I worked for six years as a nurse in a small hospital near the river."


@pytest.mark.parametrize("name", ["whisper-base", "whisper-tiny.en", "piper-en_US-joe-medium", "kokoro"])
def test_every_byte_is_the_publishers(real_model, name) -> None:
    place = real_model(name)
    for file in manifest.MODELS[name].files:
        with (place / file.name).open("rb") as content:
            assert hashlib.file_digest(content, "sha256").hexdigest() == file.sha256


def test_joe_speaks_american_english(real_model) -> None:
    settings = json.loads((real_model("piper-en_US-joe-medium") / "en_US-joe-medium.onnx.json").read_bytes())
    assert settings["espeak"]["voice"] == "en-us"
    assert settings["num_speakers"] == 1


def parley(*arguments: str, models: Path, home: Path) -> dict:
    """What a command prints as JSON, in an installation of its own with these models."""
    done = subprocess.run(
        [sys.executable, "-m", "app.operations.cli", *arguments, "--json"],
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(home / "data"), "MODELS_DIR": str(models), "MODELS": "off"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    return json.loads(done.stdout)


def test_what_joe_says_is_heard_by_base(real_model, tmp_path) -> None:
    models = real_model("whisper-base").parent
    assert real_model("piper-en_US-joe-medium").parent == models
    sound = str(tmp_path / "said.wav")
    said = parley("say", SENTENCE, sound, "--language", "en-US", models=models, home=tmp_path)
    heard = parley("hear", sound, "--language", "en-US", models=models, home=tmp_path)
    assert (said["engine"], heard["engine"]) == ("piper", "whisper")
    wished = re.findall(r"\w+", SENTENCE.lower())
    words = re.findall(r"\w+", heard["text"].lower())
    assert len(set(wished) - set(words)) <= 1
    assert abs(len(wished) - len(words)) <= 1
    starts = [word["start"] for word in heard["words"]]
    assert starts == sorted(starts)
    assert 0 <= starts[0] <= heard["words"][-1]["end"] <= heard["audio_seconds"] + 0.5
