"""What every storage promises."""

import hashlib
import io
import os

import pytest

from app.core.errors import NotFound
from app.gateways.storage import Damaged, probe, read, read_verified


def test_what_was_put_is_read_back_with_its_size_and_hash(storage):
    content = os.urandom(300_000)
    stored = storage.put("recordings/a/one.bin", content)
    assert stored.size == storage.size("recordings/a/one.bin") == 300_000
    assert stored.sha256 == hashlib.sha256(content).hexdigest()
    assert read(storage, "recordings/a/one.bin") == content


def test_a_large_stream_arrives_whole_and_in_order(storage):
    content = os.urandom(20 * 1024 * 1024 + 17)  # three parts of a multipart upload
    stored = storage.put("recordings/a/large.bin", io.BytesIO(content))
    assert (stored.size, stored.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert read(storage, "recordings/a/large.bin") == content


def test_pieces_from_a_generator_are_joined(storage):
    storage.put("a/joined", (bytes([number]) * 3 for number in range(4)))
    assert read(storage, "a/joined") == b"\0\0\0\1\1\1\2\2\2\3\3\3"


def test_an_empty_file_is_a_file(storage):
    assert storage.put("a/empty", b"").size == 0
    assert storage.size("a/empty") == 0
    assert read(storage, "a/empty") == b""


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(0, 4, b"0123"), (4, None, b"456789"), (9, 10, b"9"), (3, 3, b""), (8, 99, b"89"), (50, 60, b"")],
)
def test_ranges_begin_at_start_and_stop_before_end(storage, start, end, expected):
    storage.put("a/digits", b"0123456789")
    assert b"".join(storage.open("a/digits", start, end)) == expected


def test_a_second_put_replaces_the_first(storage):
    storage.put("a/twice", b"first")
    storage.put("a/twice", b"second")
    assert read(storage, "a/twice") == b"second"


def test_an_absent_key_is_not_found(storage):
    with pytest.raises(NotFound):
        storage.size("a/absent")
    with pytest.raises(NotFound):
        storage.open("a/absent")
    with pytest.raises(NotFound):
        next(storage.open("a/absent", 0, 10))


def test_delete_destroys_the_bytes_and_may_be_repeated(storage):
    storage.put("a/gone", b"x")
    storage.delete("a/gone")
    storage.delete("a/gone")
    with pytest.raises(NotFound):
        storage.size("a/gone")


def test_delete_prefix_takes_the_folder_and_nothing_beside_it(storage):
    for key in ("r/1/a", "r/1/b/c", "r/10/a", "r/1x"):
        storage.put(key, b"x")
    storage.delete_prefix("r/1")
    storage.delete_prefix("r/1")
    assert list(storage.list("r")) == ["r/10/a", "r/1x"]


def test_list_gives_the_keys_below_a_folder_in_order(storage):
    for key in ("r/2/b", "r/2/a", "r/3/a"):
        storage.put(key, b"x")
    assert list(storage.list("r/2")) == ["r/2/a", "r/2/b"]
    assert list(storage.list("nothing")) == []


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../x",
        "a//b",
        "a/",
        "a/./b",
        ".incoming/x",
        "a\\b",
        "a b",
        "a\0b",
        "a/..",
        "x" * 201,
        "a\n",
    ],
)
def test_a_key_that_could_leave_the_storage_is_refused(storage, key):
    for call in (
        storage.size,
        storage.delete,
        storage.delete_prefix,
        storage.open,
        lambda name: storage.put(name, b"x"),
    ):
        with pytest.raises(ValueError, match="storage key"):
            call(key)
    with pytest.raises(ValueError, match="storage key"):
        list(storage.list(key))


def test_a_flipped_bit_is_found_by_the_hash_before_the_bytes_are_used(storage):
    content = bytearray(os.urandom(5_000))
    acknowledged = storage.put("a/chunk", bytes(content)).sha256
    assert read_verified(storage, "a/chunk", sha256=acknowledged) == bytes(content)
    content[2_500] ^= 0b100
    storage.put("a/chunk", bytes(content))
    with pytest.raises(Damaged, match="is damaged") as damage:
        read_verified(storage, "a/chunk", sha256=acknowledged)
    assert (damage.value.retryable, damage.value.key) == (False, "a/chunk")
    assert "a/chunk" not in damage.value.message, "people read it"


def test_the_probe_leaves_nothing_behind(storage):
    probe(storage)
    assert list(storage.list("probe")) == []


def test_there_is_room_or_a_clear_no(storage):
    assert storage.has_room() in {True, False}
