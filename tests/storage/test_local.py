"""The directory keeps what it acknowledged, also on a bad day."""

import errno
import io
import os
import stat
from pathlib import Path

import pytest

from app.core.errors import GatewayError
from app.gateways.storage import LocalStorage, read


class Disk:
    """An fsync that fails at chosen calls, and remembers what it was asked to make durable."""

    def __init__(self, fails: dict[int, int] | None = None) -> None:
        self.fails = fails or {}
        self.synced: list[tuple[str, str]] = []

    def __call__(self, descriptor: int) -> None:
        kind = "directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        self.synced.append((kind, str(Path(f"/proc/self/fd/{descriptor}").readlink())))
        code = self.fails.get(len(self.synced))
        if code is not None:
            raise OSError(code, os.strerror(code))
        os.fsync(descriptor)


def calls_of_a_first_put(tmp_path) -> int:
    disk = Disk()
    LocalStorage(tmp_path / "count", fsync=disk).put("r/1/a", b"x")
    return len(disk.synced)


def test_the_file_is_synced_before_its_name_and_the_name_before_the_answer(tmp_path):
    disk = Disk()
    storage = LocalStorage(tmp_path / "files", fsync=disk)
    storage.put("r/1/a", b"x")
    *before, file, directory = disk.synced
    assert file[0] == "file"
    assert ".incoming" in file[1]
    assert directory == ("directory", str(tmp_path / "files/r/1"))
    assert {path for _kind, path in before} >= {str(tmp_path), str(tmp_path / "files"), str(tmp_path / "files/r")}


def test_a_failed_fsync_is_never_repeated_on_the_same_file(tmp_path):
    file_call = calls_of_a_first_put(tmp_path) - 1
    disk = Disk({file_call: errno.EIO})
    storage = LocalStorage(tmp_path / "files", fsync=disk)
    storage.put("r/1/a", io.BytesIO(b"whole content"))
    files = [path for kind, path in disk.synced if kind == "file"]
    assert len(files) == len(set(files)) == 2
    assert read(storage, "r/1/a") == b"whole content"


def test_every_single_failing_fsync_ends_in_a_whole_file_or_an_error(tmp_path):
    for call in range(1, calls_of_a_first_put(tmp_path) + 1):
        storage = LocalStorage(tmp_path / f"files{call}", fsync=Disk({call: errno.EIO}))
        storage.put("r/1/a", b"content")
        assert read(storage, "r/1/a") == b"content"
        assert list((tmp_path / f"files{call}/.incoming").iterdir()) == []


def test_a_disk_that_keeps_failing_is_an_error_that_may_be_retried(tmp_path):
    storage = LocalStorage(tmp_path / "files", fsync=Disk(dict.fromkeys(range(1, 100), errno.EIO)))
    with pytest.raises(GatewayError, match="EIO") as error:
        storage.put("r/1/a", b"x")
    assert error.value.retryable is True


def test_a_stream_that_cannot_be_read_again_is_not_half_written(tmp_path):
    file_call = calls_of_a_first_put(tmp_path) - 1
    storage = LocalStorage(tmp_path / "files", fsync=Disk({file_call: errno.EIO}))
    with pytest.raises(GatewayError):
        storage.put("r/1/a", iter([b"a", b"b"]))
    assert list(storage.list("r")) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_says_so_and_leaves_nothing(tmp_path, code):
    storage = LocalStorage(tmp_path / "files", fsync=Disk(dict.fromkeys(range(1, 100), code)))
    with pytest.raises(GatewayError, match="full") as error:
        storage.put("r/1/a", b"x")
    assert error.value.retryable is True
    assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()] == []


def test_a_reader_that_fails_leaves_no_temporary_file(tmp_path):
    def broken():
        yield b"half"
        raise RuntimeError("the sender went away")

    storage = LocalStorage(tmp_path / "files")
    with pytest.raises(RuntimeError):
        storage.put("r/1/a", broken())
    assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()] == []


def test_a_folder_deleted_meanwhile_is_made_again(tmp_path):
    storage = LocalStorage(tmp_path / "files")
    storage.put("r/1/a", b"x")
    LocalStorage(tmp_path / "files").delete_prefix("r")
    storage.put("r/1/b", b"y")
    assert list(storage.list("r")) == ["r/1/b"]


def test_an_open_reader_of_a_deleted_file_finishes_or_says_gone(tmp_path):
    storage = LocalStorage(tmp_path / "files")
    storage.put("r/1/a", b"x" * 10)
    reader = storage.open("r/1/a")
    storage.delete("r/1/a")
    with pytest.raises(Exception, match="gone"):
        next(reader)
