"""A body of many pieces reads like one file, and what waits for slow readers is bounded."""

import io
import os

from hypothesis import given
from hypothesis import strategies as st

from app.web.body_files import ON_DISK, WAITING, DiskFile, PiecesFile

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.integers(-1, 40)),
        st.tuples(st.just("seek"), st.integers(0, 60)),
        st.tuples(st.just("again"), st.integers(0, 20)),
    ),
    max_size=30,
)


@given(pieces=st.lists(st.binary(max_size=12), max_size=8), steps=STEPS)
def test_it_reads_as_a_file_of_the_same_bytes_does(pieces, steps):
    whole = b"".join(pieces)
    ours, real = PiecesFile(pieces), io.BytesIO(whole)
    for what, number in steps:
        if what == "read":
            assert ours.read(number) == real.read(number)
        elif what == "seek":
            assert ours.seek(min(number, len(whole))) == real.seek(min(number, len(whole)))
        else:  # as a server does that could send only a part
            place = ours.tell()
            ours.read(20)
            ours.seek(place)
            assert ours.read(number) == real.read(number)
        assert ours.tell() == real.tell()
    assert ours.seek(0, os.SEEK_END) == len(whole)
    assert ours.read() == b""


class Counted(PiecesFile):
    _waiting = 0


def test_what_slow_readers_leave_in_memory_is_bounded():
    body = Counted([b"x" * 600, b"y" * 400])
    assert Counted.has_room(WAITING - 1_000)
    assert not Counted.has_room(WAITING - 999)
    body.close()
    body.close()
    assert Counted.has_room(WAITING)
    assert not Counted.has_room(WAITING + 1)


def test_a_body_that_nobody_read_gives_its_memory_back():
    Counted([b"x" * 1_000])
    assert Counted.has_room(WAITING)


def test_on_the_disk_it_reads_alike_and_is_bounded_too():
    class OwnDisk(DiskFile):
        _waiting = 0

    body = OwnDisk([b"x" * 600, b"", b"y" * 400])
    assert (body.read(700), body.tell(), body.seek(0), body.read()) == (
        b"x" * 600 + b"y" * 100,
        700,
        0,
        b"x" * 600 + b"y" * 400,
    )
    assert OwnDisk.has_room(ON_DISK - 1_000)
    assert not OwnDisk.has_room(ON_DISK - 999)
    body.close()
    body.close()
    assert OwnDisk.has_room(ON_DISK)
    OwnDisk([b"x" * 1_000])
    assert OwnDisk.has_room(ON_DISK)
