"""What counts as an installed model, and what the manifest promises."""

import errno
import os
from pathlib import Path

import pytest

from app.gateways.speech import catalogue
from app.gateways.speech.model_files import ModelStore, manifest
from app.gateways.speech.model_files.store import MARKER, ModelError

from .model_sources import FILES, SMALL, folder_of, models


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(folder_of(tmp_path / "models"), models())


def test_a_copied_directory_counts_once_its_hashes_were_compared(store: ModelStore) -> None:
    assert (store.path("tiny"), store.installed()) == (None, ())
    assert store.verify("tiny") == []
    assert store.path("tiny") == store.folder / "tiny"
    assert store.installed() == ("tiny",)


def test_nothing_is_there_in_a_directory_that_does_not_exist(tmp_path: Path) -> None:
    store = ModelStore(tmp_path / "none", models())
    assert (store.path("tiny"), store.path("unheard of"), store.installed()) == (None, None, ())
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.unlink(), "tiny/config.json is missing"),
        (lambda path: path.write_bytes(b"short"), "tiny/config.json has 5 bytes instead of 3,000"),
        (lambda path: path.write_bytes(b"x" * SMALL), "tiny/config.json has the wrong content"),
    ],
)
def test_a_damaged_file_is_named_and_the_model_no_longer_counts(store: ModelStore, spoil, words) -> None:
    store.verify("tiny")
    spoil(store.folder / "tiny" / "config.json")
    assert [words in problem for problem in store.verify("tiny")] == [True]
    assert store.path("tiny") is None


def test_a_file_that_is_gone_or_cut_is_seen_without_reading_it_all(store: ModelStore) -> None:
    store.verify("tiny")
    (store.folder / "tiny" / "model.bin").write_bytes(FILES["model.bin"][:-1])
    assert store.path("tiny") is None


def test_a_model_of_an_older_manifest_does_not_count(store: ModelStore) -> None:
    store.verify("tiny")
    (store.folder / "tiny" / MARKER).write_text("another release's")
    assert store.path("tiny") is None


def test_a_removed_model_is_gone_at_once(store: ModelStore) -> None:
    store.verify("tiny")
    with (store.folder / "tiny" / "model.bin").open("rb") as loaded:
        assert store.remove("tiny")
        assert loaded.read() == FILES["model.bin"]
    assert (store.path("tiny"), list(store.folder.iterdir())) == (None, [])
    assert not store.remove("tiny")


def test_a_file_system_without_locks_is_named_instead_of_waited_for(store: ModelStore, monkeypatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.lockf", refused)
    with pytest.raises(ModelError, match="is on a file system without locks"), store.lock():
        pass


def test_a_complete_model_is_verified_without_writing(store: ModelStore) -> None:
    store.verify("tiny")
    before = (store.folder / "tiny" / MARKER).stat().st_ino
    assert store.verify("tiny") == []
    assert (store.folder / "tiny" / MARKER).stat().st_ino == before


def test_an_unknown_name_lists_the_names(store: ModelStore) -> None:
    with pytest.raises(ModelError, match=r"There is no model parrot. The names are: tiny"):
        store.verify("parrot")


def test_every_file_of_the_manifest_has_size_hash_and_a_source() -> None:
    assert len(manifest.MODELS) > 20
    for model in manifest.MODELS.values():
        assert model.files
        assert model.kind in manifest.KINDS
        assert set(model.languages) <= set(catalogue.LANGUAGES)
        assert model.default <= set(model.languages)
        assert set(model.needs) <= set(manifest.MODELS)
        for file in model.files:
            assert file.bytes > 0
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.parts or (model.address and file.is_published)
            assert Path(file.name).name == file.name
            assert all(len(bytes.fromhex(package.sha256)) == 32 for package, _member in file.parts)


def test_no_default_forbids_commercial_use_or_leaves_it_open() -> None:
    assert {model.commercial for model in manifest.MODELS.values() if model.default} == {"yes"}


def test_publishers_are_asked_for_a_fixed_revision() -> None:
    """A branch may change under its name."""
    for model in manifest.MODELS.values():
        if "huggingface.co" in model.address:
            revision = model.address.split("/resolve/")[1].split("/")[0]
            assert len(bytes.fromhex(revision)) == 20
