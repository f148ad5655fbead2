"""What commands say of a database without Parley, where it is PostgreSQL."""

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from app.operations import cli
from tests.conftest import postgresql_database


@pytest.mark.usefixtures("pristine_database")  # so that it runs with the tests that see a database
def test_an_empty_database_is_named_without_its_password(home, monkeypatch):
    with postgresql_database() as empty:
        monkeypatch.setenv("DATABASE_URL", f"{empty}?password=secret-word")
        refused = CliRunner().invoke(cli.parley, ["api-key", "list"])
    assert "secret-word" not in refused.output
    shown = sa.make_url(empty).set(drivername="postgresql", password=None, query={}).render_as_string()
    assert refused.stderr.startswith(f"Error: there is no Parley in the database {shown}. Is DATABASE_URL the same")
    assert refused.stderr.endswith("run: parley migrate\n")
    assert not (home / "data").exists()
