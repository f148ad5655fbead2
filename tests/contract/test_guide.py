"""The code and the bodies of the integrators' guide: run, and held against what is really sent."""

import http.client
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.core import encryption
from app.core.db import db
from app.flows.queries import secret_context
from app.webhooks import signature
from tests.factories import Made
from tests.outbound.receiver import Receiver
from tests.people import Person

GUIDE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
WEBHOOKS = GUIDE.partition("\n## Webhooks\n")[2].partition("\n## ")[0]
SECRET = "at-least-32-characters-of-randomness"
VECTOR_BODY = b'{"event_type": "interview_processed", "status": "completed"}'


def blocks(language: str, *, under: str) -> list[str]:
    """The code in ``language`` below the heading ``under`` and before the next one."""
    chapter = re.split(rf"^#+ {re.escape(under)}$", WEBHOOKS, flags=re.MULTILINE)[1]
    return re.findall(rf"```{language}\n(.*?)```", re.split(r"^#+ ", chapter, flags=re.MULTILINE)[0], re.DOTALL)


STANDARD, SERVICE = "`webhook-signature`", "`x-service-signature`"
Post = Callable[[bytes, dict[str, str]], int]
Sent = tuple[bytes, dict[str, str]]


@pytest.fixture
def sent(owner: Person, make_flow: Made) -> Sent:
    """Body and headers of an event as they came over the wire, with present time and the guide's secret."""
    with Receiver() as receiver:
        flow = make_flow(webhook_url=receiver.url)
        flow.webhook_secret_sealed = encryption.seal(SECRET, context=secret_context(flow.id))
        db.session.commit()
        owner.browser.post("/webhooks/test", data={"flow": flow.id, "event": "interview_processed"})
        (request,) = receiver.requests
    return request.body, {name.lower(): value for name, value in request.headers.items()}


def python_receiver(code: str) -> Post:
    """The Flask application of the guide, called through its own test client."""
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(code, "docs/api.md", "exec"), names)
    application: Flask = names["app"]

    def post(body: bytes, headers: dict[str, str]) -> int:
        known = {name: value for name, value in headers.items() if name.startswith(("webhook-", "x-"))}
        answer = application.test_client().post("/parley", data=body, headers=known, content_type="application/json")
        return answer.status_code

    return post


@pytest.fixture
def node_receiver(tmp_path: Path, free_port: int) -> Iterator[Callable[[str], Post]]:
    """``node_receiver(code)`` runs the server of the guide on a free port."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed; the guide's Node receiver runs where it is, and always in .ci/run")
    running: list[subprocess.Popen[bytes]] = []

    def start(code: str) -> Post:
        assert ".listen(3000)" in code
        script = tmp_path / "receiver.mjs"
        script.write_text(code.replace(".listen(3000)", f'.listen({free_port}, "127.0.0.1")'))
        running.append(subprocess.Popen([str(node), str(script)], stdout=subprocess.DEVNULL))
        deadline = time.monotonic() + 60
        while not _answers(free_port) and time.monotonic() < deadline:
            assert running[0].poll() is None, "the server of the guide ended"
            time.sleep(0.05)

        def post(body: bytes, headers: dict[str, str]) -> int:
            known = {name: value for name, value in headers.items() if name.startswith(("webhook-", "x-"))}
            encoded = {name: value.encode("latin-1") for name, value in known.items()}
            return status_of(free_port, "POST", body, encoded)

        return post

    yield start
    for process in running:
        process.kill()
        process.wait()


def status_of(port: int, method: str, body: bytes = b"", headers: Any = None) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as line:
        line.request(method, "/parley", body, headers or {})
        answer = line.getresponse()
        answer.read()
        return answer.status


def _answers(port: int) -> bool:
    try:
        return status_of(port, "GET") == 401
    except OSError:
        return False


def again(body: bytes, headers: dict[str, str], **changes: str) -> Sent:
    """The same event with some headers replaced; both signatures are made again with the secret."""
    changed = headers | {name.replace("_", "-"): value for name, value in changes.items()}
    changed["webhook-signature"] = signature.standard(
        SECRET, body, event_id=changed["webhook-id"], timestamp=int(changed["webhook-timestamp"])
    )
    return body, changed


def check_standard(post: Post, body: bytes, headers: dict[str, str]) -> None:
    """A receiver that verifies ``webhook-signature`` takes what is genuine, and refuses all else in words."""
    now = int(time.time())
    assert post(body, headers) == 204
    assert post(body, headers | {"webhook-signature": f"v1,AAAA {headers['webhook-signature']}"}) == 204
    assert post(*again(body, headers, webhook_timestamp=str(now - 200))) == 204
    for old in (now - 400, now + 400):
        assert post(*again(body, headers, webhook_timestamp=str(old))) == 401
    earlier = str(int(headers["webhook-timestamp"]) - 1)
    for changed in (
        {"webhook-id": "evt_another"},
        {"webhook-timestamp": earlier},
        {"webhook-signature": ""},
        {"webhook-signature": "v1,\u00fc"},
        {"webhook-signature": "\u00fc"},
        {"webhook-signature": "v1"},
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": "\u00b2"},
        {"webhook-timestamp": "9" * 5000},
    ):
        assert post(body, headers | changed) == 401, changed
    assert post(body.replace(b"completed", b"completes"), headers) == 401
    assert post(body, {}) == 401


def check_service(post: Post, body: bytes, headers: dict[str, str]) -> None:
    """The same of ``x-service-signature``, which says nothing about id and time."""
    assert post(body, headers) == 204
    assert post(body, headers | {"webhook-id": "evt_another"}) == 204
    for wrong in ("", "\u00fc", headers["x-service-signature"].upper(), headers["x-service-signature"][:-1]):
        assert post(body, headers | {"x-service-signature": wrong}) == 401, wrong
    assert post(body + b" ", headers) == 401
    assert post(body, {}) == 401


def test_the_python_receivers_of_the_guide_take_what_is_genuine_and_nothing_else(sent: Sent) -> None:
    check_standard(python_receiver(blocks("python", under=STANDARD)[0]), *sent)
    check_service(python_receiver(blocks("python", under=SERVICE)[0]), *sent)


@pytest.mark.parametrize(("under", "check"), [(STANDARD, check_standard), (SERVICE, check_service)])
def test_the_node_receivers_of_the_guide_do_the_same(
    sent: Sent, node_receiver: Callable[[str], Post], under: str, check: Callable[..., None]
) -> None:
    check(node_receiver(blocks("js", under=under)[0]), *sent)


def test_the_python_library_verifies_events_as_the_guide_says(sent: Sent) -> None:
    names: dict[str, Any] = {}
    exec(compile(blocks("python", under=STANDARD)[1], "docs/api.md", "exec"), names)
    event_of, (body, headers) = names["event_of"], sent
    assert event_of(headers, body) == json.loads(body)
    for wrong in ({"webhook-id": "evt_another"}, {"webhook-signature": "v1,\u00fc"}, {"webhook-signature": "none"}):
        assert event_of(headers | wrong, body) is None, wrong
    body, headers = again(body, headers, webhook_timestamp=str(int(time.time()) - 400))
    assert event_of(headers, body) is None


def test_the_vectors_of_the_guide(sent: Sent) -> None:
    key, event_id, at = re.search(r"key `(\w+)`, id `(\w+)`, timestamp `(\d+)`", WEBHOOKS).groups()  # type: ignore[union-attr]
    assert f"`{VECTOR_BODY.decode()}` ({len(VECTOR_BODY)} bytes)" in WEBHOOKS
    standard = signature.standard(key, VECTOR_BODY, event_id=event_id, timestamp=int(at))
    assert f"\n`{standard}`" in WEBHOOKS
    assert f"\n`{signature.sign(key, VECTOR_BODY)}`" in WEBHOOKS
