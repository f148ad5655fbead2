"""A whole interview with real models: heard by Whisper, spoken by Piper, as a new installation does it."""

import os
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = pytest.mark.models
ROOT = Path(__file__).parents[2]


def test_a_talk_is_heard_by_whisper_and_spoken_by_piper(real_model, tmp_path) -> None:
    models = real_model("whisper-base").parent
    assert real_model("piper-en_US-joe-medium").parent == models
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    done = subprocess.run(
        [sys.executable, "-m", "app.operations.cli", "demo"],
        env={
            "PATH": os.environ["PATH"],
            "DATA_DIR": str(tmp_path),
            "MODELS_DIR": str(models),
            "MODELS": "off",
            "PORT": str(port),
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert "All checks passed" in done.stdout, done.stdout + done.stderr
    with closing(sqlite3.connect(tmp_path / "demo" / "parley.db")) as database:
        said = database.execute("SELECT role, engine, hearing, content FROM utterance ORDER BY number").fetchall()
    answers = [row for row in said if row[0] == "user"]
    assert answers
    assert {(engine, hearing) for _, engine, hearing, _ in answers} == {("whisper", "heard")}
    assert {engine for role, engine, _, _ in said if role == "agent"} == {"piper"}
