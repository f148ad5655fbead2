"""Which models a host offers for which language, on this machine and with these settings."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.gateways.speech.engines.whisper_choice import Machine
from app.gateways.speech.host.installed import PROGRAMS, offers
from app.gateways.speech.host.machine import this_machine
from app.gateways.speech.model_files import manifest, store


@dataclass
class Wanted:
    models_dir: Path
    whisper_model: str = ""
    whisper_overrides: dict[str, str] = field(default_factory=dict)


TWO_CORES = Machine(cores=2, memory_mb=8_000)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Lay down models that the store takes for complete; their content is never looked at here."""

    def lay_down(*names: str) -> None:
        for name in names:
            model = manifest.MODELS[name]
            (tmp_path / name).mkdir()
            for file in model.files:
                with (tmp_path / name / file.name).open("wb") as sparse:
                    sparse.truncate(file.bytes)
            store.ModelStore(tmp_path).seal(model)

    return lay_down


def test_every_program_is_there():
    assert [path for path in PROGRAMS.values() if not path.is_file()] == []


def test_nothing_is_offered_without_models(tmp_path):
    assert offers(Wanted(tmp_path / "missing"), TWO_CORES) == {}


def test_languages_are_heard_by_what_is_there(tmp_path, install):
    install("whisper-base", "piper-en_US-joe-medium")
    offered = offers(Wanted(tmp_path), TWO_CORES)
    english, german = offered["whisper"]["en-US"][0], offered["whisper"]["de-DE"][0]
    assert (english.model, english.path, english.is_demonstration) == (
        "whisper-base",
        str(tmp_path / "whisper-base"),
        False,
    )
    assert (german.model, german.is_demonstration) == ("whisper-base", True)
    assert "ja-JP" not in offered["whisper"]
    assert [one.model for one in offered["piper"]["en-US"]] == ["piper-en_US-joe-medium"]


def test_the_operator_chooses_for_all_languages_or_for_one(tmp_path, install):
    install("whisper-base", "whisper-tiny.en")
    wanted = Wanted(tmp_path, whisper_overrides={"MODEL_EN_US": "whisper-tiny.en", "MODEL_XX": "whisper-base"})
    assert offers(wanted, TWO_CORES)["whisper"]["en-US"][0].model == "whisper-tiny.en"
    assert offers(wanted, TWO_CORES)["whisper"]["de-DE"][0].model == "whisper-base"
    wanted = Wanted(tmp_path, whisper_model="whisper-tiny.en")
    assert offers(wanted, TWO_CORES)["whisper"]["en-US"][0].model == "whisper-tiny.en"


def test_a_model_that_is_not_complete_is_not_offered(tmp_path, install):
    install("whisper-base")
    (tmp_path / "whisper-base" / "model.bin").write_bytes(b"cut off")
    assert offers(Wanted(tmp_path), TWO_CORES) == {}


def test_a_container_has_its_own_share_of_the_machine(tmp_path):
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    (tmp_path / "memory.max").write_text(f"{900 * 2**20}\n")
    (tmp_path / "memory.current").write_text(f"{100 * 2**20}\n")
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal: 16000000 kB\nMemAvailable: 8192000 kB\n")
    assert this_machine(cgroup=tmp_path, memory=memory) == Machine(cores=1, memory_mb=800)


def test_without_limits_all_of_the_machine_counts(tmp_path):
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal: 16000000 kB\nMemAvailable: 8192000 kB\n")
    machine = this_machine(cgroup=tmp_path, memory=memory)
    assert machine.memory_mb == 8_000
    assert machine.cores >= 1
    assert this_machine(cgroup=tmp_path, memory=tmp_path / "none").memory_mb > 0
