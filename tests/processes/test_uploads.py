"""How large a body may be, before the application sees it."""

import gc

import pytest
from waitress.adjustments import Adjustments

from app.operations.processes.refusal import LARGEST_UPLOAD, UPLOADS_AT_ONCE, Parser

MIB = 1024 * 1024
FLOW = "/flows/9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d/edit"


def _read(path: str, size: int, cookie: str = "sid=x") -> Parser:
    parser = Parser(Adjustments(max_request_body_size=32 * MIB))
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nCookie: a=b; {cookie}\r\nContent-Length: {size}\r\n\r\n"
    parser.received(head.encode())
    return parser


@pytest.mark.parametrize(
    ("path", "size", "cookie", "is_read"),
    [
        ("/flows/new", 100 * MIB, "sid=x", True),
        (FLOW, 100 * MIB, "__Host-sid=x", True),
        (FLOW, 100 * MIB, "noside=x", False),
        (FLOW, LARGEST_UPLOAD, "sid=x", False),
        ("/flows", 100 * MIB, "sid=x", False),
        ("/v1/interviews", 40 * MIB, "sid=x", False),
        ("/v1/interviews", 30 * MIB, "", True),
    ],
)
def test_only_uploads_of_browsers_with_a_session_may_be_large(path: str, size: int, cookie: str, is_read: bool) -> None:
    assert (_read(path, size, cookie).error is None) is is_read


def test_a_few_uploads_at_once_are_taken() -> None:
    gc.collect()
    many = [_read("/flows/new", 100 * MIB) for _ in range(UPLOADS_AT_ONCE + 1)]
    assert [one.error is None for one in many] == [True] * UPLOADS_AT_ONCE + [False]
    many.clear()
    gc.collect()
    assert _read("/flows/new", 100 * MIB).error is None
