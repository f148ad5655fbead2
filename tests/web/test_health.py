"""/healthz, /readyz and the front door."""

from dataclasses import replace

import pytest
import sqlalchemy as sa
from redis import Redis

from app.core.db import db
from app.gateways.redis import embedded


def test_healthz_answers_as_soon_as_the_process_serves(client):
    assert (client.get("/healthz").status_code, client.get("/healthz").json) == (200, {"status": "ok"})


def test_readyz_is_content_when_everything_answers(own_app):
    response = own_app.test_client().get("/readyz")
    assert (response.status_code, response.json) == (200, {"ready": True, "not_ready": {}})


def test_readyz_names_redis_when_it_is_away(own_app, free_port):
    known = own_app.extensions["parley.settings"]
    own_app.extensions["parley.settings"] = replace(known, redis_url=f"redis://127.0.0.1:{free_port}/0")
    response = own_app.test_client().get("/readyz")
    assert response.status_code == 503
    assert list(response.json["not_ready"]) == ["redis"]


def test_readyz_names_a_redis_that_answers_and_takes_nothing(own_app, tmp_path):
    url, server = embedded.found_or_started(tmp_path / "redis", "")
    assert server is not None
    known = own_app.extensions["parley.settings"]
    own_app.extensions["parley.settings"] = replace(known, redis_url=url)
    client = own_app.test_client()
    with Redis.from_url(url) as redis:
        assert client.get("/readyz").status_code == 200
        redis.config_set("maxmemory", "1")
        told = client.get("/readyz").json["not_ready"]
        assert told == {"redis": "accepts no writes (OutOfMemoryError); work continues more slowly"}
        figures = client.get("/metrics").text
        assert "parley_redis_up 1.0" in figures
        assert "parley_redis_takes 0.0" in figures
        redis.config_set("maxmemory", "0")
        assert client.get("/readyz").status_code == 200
    server.stop()


def test_readyz_names_a_database_that_is_behind(own_app):
    with own_app.app_context():
        db.session.execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
        db.session.commit()
    response = own_app.test_client().get("/readyz")
    assert (response.status_code, list(response.json["not_ready"])) == (503, ["migrations"])


@pytest.mark.parametrize("revision", ["9999", "9999_of_a_newer_release"])
def test_readyz_stays_content_while_a_newer_release_is_rolled_out(own_app, revision):
    """Else a proxy would take the last old process away before the first new one serves."""
    with own_app.app_context():
        db.session.execute(sa.text("UPDATE alembic_version SET version_num = :new"), {"new": revision})
        db.session.commit()
    assert own_app.test_client().get("/readyz").status_code == 200


@pytest.mark.parametrize("revision", ["0000_of_something_else", "a1b2c3d4e5f6", "9f86d081884c"])
def test_readyz_names_a_database_of_something_else(own_app, revision):
    with own_app.app_context():
        db.session.execute(sa.text("UPDATE alembic_version SET version_num = :other"), {"other": revision})
        db.session.commit()
    assert list(own_app.test_client().get("/readyz").json["not_ready"]) == ["migrations"]


def test_readyz_names_storage_that_fails(own_app):
    class Broken:
        def list(self, _prefix):
            raise OSError("disk")

    own_app.extensions["parley.gateways"] = replace(own_app.extensions["parley.gateways"], storage=Broken())
    response = own_app.test_client().get("/readyz")
    assert (response.status_code, response.json["not_ready"]) == (503, {"storage": "cannot be reached (OSError)"})


def test_the_front_door_leads_to_the_platform(client):
    response = client.get("/")
    assert response.status_code == 302
    assert client.get(response.location).status_code in {200, 302}
