"""A local web server with files that a customer might name, and the files themselves."""

import io
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import av
import numpy as np
import pytest
from PIL import Image

Page = Callable[[BaseHTTPRequestHandler], None]


class Files:
    """``files.serve(path, content)`` answers with it; ``files.serve_by(path, function)`` lets the function answer."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.asked: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def serve(self, path: str, content: bytes, content_type: str = "application/octet-stream") -> str:
        def page(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Type", content_type)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)

        return self.serve_by(path, page)

    def serve_by(self, path: str, page: Page) -> str:
        self.pages[path] = page
        return self.url(path)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}{path}"

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def _handler(files) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - self is the handler below
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                files.asked.append(self.path)
                page = files.pages.get(self.path)
                with suppress(ConnectionError):  # whoever has seen enough hangs up
                    if page is None:
                        self.send_error(404)
                    else:
                        page(self)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        return Handler


@pytest.fixture
def files() -> Iterator[Files]:
    server = Files()
    yield server
    server.close()


def picture(kind: str = "PNG", size: tuple[int, int] = (60, 40)) -> bytes:
    """A plain picture."""
    written = io.BytesIO()
    Image.new("RGB", size, "teal").save(written, kind)
    return written.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A PNG of some hundred bytes that claims to be enormous."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    )


def video(container: str = "mp4") -> bytes:
    """One second of grey pictures in ``mp4``, ``mov``, ``webm`` or ``matroska``."""
    written = io.BytesIO()
    with av.open(written, "w", format=container) as output:
        stream = output.add_stream("libvpx" if container in {"webm", "matroska"} else "mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(10):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), number * 20, np.uint8), format="rgb24")
            output.mux(stream.encode(frame))
        output.mux(stream.encode())
    return written.getvalue()


def sound_only() -> bytes:
    """An MP4 file with a sound track and no picture."""
    written = io.BytesIO()
    with av.open(written, "w", format="mp4") as output:
        stream = output.add_stream("aac", rate=16_000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 16_000
        output.mux(stream.encode(frame))
        output.mux(stream.encode())
    return written.getvalue()
