"""``parley up`` fetches missing models beside everything else, and says so."""

import pytest

from tests.faults.processes import descendants, is_running
from tests.speech.model_sources import FILES, Publisher, serving

from .conftest import until

pytestmark = pytest.mark.platform


def test_models_are_fetched_while_parley_serves(start):
    with serving(Publisher(is_silent=True)) as publisher:
        program = start("tests.processes.generated_models", "up", MODELS="auto", PUBLISHER=publisher.address)
        until(lambda: "Parley is ready" in program.output.read_text(), 60)
        until(lambda: publisher.asked, 60)
        assert program.get("/readyz")
        said = program.output.read_text()
        assert f"Fetching ears: whisper-base, 1 MB. Asking {publisher.address.removeprefix('http://')}." in said
        assert "Speech models are ready" not in said
    family = descendants(program.process.pid)
    assert program.end() == 0
    assert not any(is_running(pid) for pid in family)


def test_a_fetched_model_is_there_and_the_process_that_fetched_it_is_gone(start):
    with serving(Publisher()) as publisher:
        program = start("tests.processes.generated_models", "up", MODELS="auto", PUBLISHER=publisher.address)
        until(lambda: "Speech models are ready: whisper-base." in program.output.read_text(), 60)
        until(lambda: "Parley is ready" in program.output.read_text(), 60)
        assert program.get("/readyz")
        assert program.end() == 0
    place = program.data_dir / "models" / "whisper-base"
    assert all((place / name).read_bytes() == body for name, body in FILES.items())
    assert program.output.read_text().count("Fetching ears") == 1


def test_without_a_source_interviews_go_on(start):
    program = start("tests.processes.generated_models", "up", MODELS="auto", PUBLISHER="http://127.0.0.1:9")
    until(lambda: "Not all speech models could be fetched" in program.output.read_text(), 60)
    until(lambda: "Parley is ready" in program.output.read_text(), 60)
    assert program.get("/readyz")
    assert program.end() == 0


def test_off_asks_nobody(start):
    with serving(Publisher()) as publisher:
        program = start("tests.processes.generated_models", "up", MODELS="off", PUBLISHER=publisher.address)
        until(lambda: "Parley is ready" in program.output.read_text(), 60)
        assert program.end() == 0
    assert publisher.asked == []
    assert "Fetching" not in program.output.read_text()
