"""The receivers that integrators copy get genuine, forged and repeated events.

Flask, plain ASGI and Starlette run always. Django and FastAPI are no dependencies of ours: their receivers run where
`.ci/run` has put them into ``build/frameworks``, and everywhere the type checker reads them (``test_types.py``).
"""

import asyncio
import importlib.util
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import pytest
from parley.testing import event_body, sign
from starlette.applications import Starlette
from starlette.routing import Mount

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "clients" / "python" / "examples"
FRAMEWORKS = ROOT / "build" / "frameworks"
if FRAMEWORKS.is_dir():
    sys.path.append(str(FRAMEWORKS))  # last, so that what the environment has comes from there
SECRET = "at-least-32-characters-of-randomness"
Post = Callable[[bytes, dict[str, str]], int]


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_flask() -> Post:
    client = loaded("flask_receiver").app.test_client()
    return lambda body, headers: int(client.post("/parley", data=body, headers=headers).status_code)


def with_asgi(name: str = "asgi_receiver") -> Post:
    return posting(loaded(name).app, "/parley")


def with_starlette() -> Post:
    """As the example says: mounted, with a slash at the end."""
    return posting(Starlette(routes=[Mount("/parley", app=loaded("asgi_receiver").app)]), "/parley/")


def posting(application: Any, path: str) -> Post:
    def post(body: bytes, headers: dict[str, str]) -> int:
        async def call() -> int:
            transport = httpx2.ASGITransport(application)
            async with httpx2.AsyncClient(transport=transport, base_url="http://receiver.test") as client:
                return (await client.post(path, content=body, headers=headers)).status_code

        return asyncio.run(call())

    return post


def with_fastapi() -> Post:
    return with_asgi("fastapi_receiver")


def with_django() -> Post:
    import django
    from django.conf import settings
    from django.test import Client
    from django.urls import path

    if not settings.configured:
        settings.configure(ROOT_URLCONF="parley_urls", ALLOWED_HOSTS=["*"], SECRET_KEY="for tests only")
        django.setup()
    urls = ModuleType("parley_urls")
    vars(urls)["urlpatterns"] = [path("parley", loaded("django_receiver").receive)]
    sys.modules["parley_urls"] = urls
    client: Any = Client(enforce_csrf_checks=True)

    def post(body: bytes, headers: dict[str, str]) -> int:
        kind = headers.get("Content-Type", "application/json")
        return int(client.post("/parley", data=body, content_type=kind, headers=headers).status_code)

    return post


RUNNERS: dict[str, Callable[[], Post]] = {
    "flask": with_flask,
    "asgi": with_asgi,
    "starlette": with_starlette,
    **({"fastapi": with_fastapi} if importlib.util.find_spec("fastapi") else {}),
    **({"django": with_django} if importlib.util.find_spec("django") else {}),
}


@pytest.fixture(params=RUNNERS)
def post(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Post:
    monkeypatch.setenv("PARLEY_WEBHOOK_SECRET", SECRET)
    return RUNNERS[request.param]()


def test_a_receiver_takes_each_event_once_and_refuses_forged_ones(post, caplog):
    caplog.set_level(logging.INFO)
    body = event_body("interview_processed", interviewee_first_name="Zoë")
    genuine = sign(body, SECRET)
    assert post(body, genuine) == 204
    assert post(body, genuine) == 204
    assert caplog.text.count("has been processed") == 1
    assert post(body + b" ", genuine) == 401
    assert post(body, sign(body, "another-secret-of-thirty-two-characters")) == 401
    assert post(body, sign(body, SECRET, timestamp=1_700_000_000)) == 401
    assert post(body, {"Content-Type": "application/json"}) == 401
    for other in ("video_processed", "candidate_status_updated", "interview_cancelled"):
        told = event_body(other)
        assert post(told, sign(told, SECRET)) == 204
    assert caplog.text.count("has been processed") == 1


def test_there_is_a_runner_for_every_example():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {
        f"{name}_receiver" for name in ("flask", "asgi", "fastapi", "django")
    }
