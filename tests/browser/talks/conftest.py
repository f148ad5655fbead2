"""One page and one application for all talks of a module: the theatre prepares the page once.

Talks commit for real: each makes hundreds of requests, and those of an application whose commits are SAVEPOINTs of a
test's transaction cost more than those of the product, and do not take its shortest ways to the database.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.core.db import db
from app.gateways import Gateways
from app.settings import Settings
from tests.conftest import committing_app, migrated_database
from tests.people import Person, person


@pytest.fixture(scope="module")
def page(chromium: Any) -> Iterator[Any]:
    page = chromium.new_page()
    yield page
    page.close()


@pytest.fixture(scope="module")
def app(
    pristine_database: str, settings: Settings, engines: Gateways, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Flask]:
    folder = tmp_path_factory.mktemp("talks")
    with (
        migrated_database(pristine_database, folder) as database,
        committing_app(database, settings, engines, folder) as application,
        application.app_context(),
    ):
        yield application
        db.session.remove()


@pytest.fixture(scope="module")
def owner(app: Flask) -> Person:
    return person(app, "owner@first.example", organization="First Ltd", role="admin")
