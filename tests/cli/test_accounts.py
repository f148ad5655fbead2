"""``parley org``, ``team``, ``member`` and ``api-key``."""

import json
import re
from dataclasses import replace

import pyotp
import pytest

from app import create_app
from app.accounts import passwords, queries, second_factor
from app.core import clock, queue
from app.core.db import db
from app.operations import cli
from app.operations.cli import console

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
CREATE = ["--team", "Hiring", "--admin-email", "second@first.example", "--admin-password", "a staple and a horse"]


@pytest.fixture
def ping(own_database, settings, engines):
    """Calls /v1 of an application on the same database and secret, as one that runs meanwhile would be."""
    own = replace(settings, database_url=own_database, secret_key="a secret key that is long enough")
    app = create_app(own, gateways=engines, waker=queue.SilentWaker())
    yield lambda key: app.test_client().get("/v1/teams", headers={"Authorization": f"Bearer {key}"})
    with app.app_context():
        db.engine.dispose()


def test_an_organization_is_created_with_exactly_these_keys(founded):
    assert set(founded) == {"organization_id", "team_id", "member_id", "api_key"}
    assert all(ID.fullmatch(value) for value in founded.values())


def test_the_key_works_at_once(founded, ping):
    response = ping(founded["api_key"])
    assert [team["id"] for team in response.json["teams"]] == [founded["team_id"]]


def test_further_organizations_can_be_created(parley, founded):
    made = parley("org", "create", "Second Ltd", *CREATE, "--json")
    assert json.loads(made.stdout)["organization_id"] != founded["organization_id"]


def test_without_json_the_answer_is_for_people(parley):
    made = parley("org", "create", "Second Ltd", *CREATE)
    assert re.search(r"api key: [0-9a-f-]{36}", made.stdout)


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        (["--admin-email", "owner@first.example"], "email"),
        (["--admin-email", "nobody"], "email"),
        (["--admin-password", "short"], "password"),
        (["--team", " "], "team_name"),
    ],
)
def test_bad_input_is_named_and_stdout_stays_empty(parley, founded, changed, word):
    made = parley("org", "create", "Second Ltd", *CREATE, *changed, "--json")
    assert made.exit_code == 1
    assert word in made.stderr
    assert made.stdout == ""
    assert "Traceback" not in made.stderr


def test_the_password_is_asked_for_when_it_is_left_out(parley):
    password = "a staple and a horse\n"
    made = parley("org", "create", "Second Ltd", *CREATE[:4], input=password * 2)
    assert made.exit_code == 0
    assert "a staple" not in made.stdout


def test_a_team_and_a_member_are_added(parley, founded):
    team = json.loads(parley("team", "create", "Sales", "--json").stdout)
    password = ["--password", "a staple and a horse"]
    added = parley("member", "add", "new@first.example", "--team", team["team_id"], *password, "--json")
    assert set(json.loads(added.stdout)) == {"member_id"}
    assert parley("member", "add", "new@first.example", *password).exit_code == 1


def test_a_member_cannot_join_a_team_of_another_organization(parley, founded):
    second = json.loads(parley("org", "create", "Second Ltd", *CREATE, "--json").stdout)
    arguments = ["--org", second["organization_id"], "--team", founded["team_id"], "--password", "a staple and a horse"]
    refused = parley("member", "add", "new@first.example", *arguments)
    assert refused.exit_code == 1
    assert "team_id" in refused.stderr


def test_the_organization_must_be_named_when_there_are_several(parley, founded):
    parley("org", "create", "Second Ltd", *CREATE)
    assert "--org" in parley("team", "create", "Sales").stderr
    assert parley("team", "create", "Sales", "--org", "Second Ltd").exit_code == 0
    assert parley("team", "create", "Sales", "--org", "Nobody").exit_code == 1
    parley("org", "create", "Second Ltd", *CREATE, "--admin-email", "third@first.example")
    assert "Use the id" in parley("team", "create", "Sales", "--org", "Second Ltd").stderr


def test_keys_are_created_listed_and_revoked(parley, founded, ping):
    made = json.loads(parley("api-key", "create", "Import", "--json").stdout)
    assert ping(made["api_key"]).status_code == 200
    listed = json.loads(parley("api-key", "list", "--json").stdout)["api_keys"]
    assert {key["name"] for key in listed} == {"First key", "Import"}
    assert made["api_key"] not in json.dumps(listed)
    again = json.loads(parley("api-key", "rotate", made["api_key_id"], "--ends", "7d", "--json").stdout)
    assert (ping(again["api_key"]).status_code, ping(made["api_key"]).status_code) == (200, 200)
    ends = {
        key["api_key_id"]: key["ends_at"] for key in json.loads(parley("api-key", "list", "--json").stdout)["api_keys"]
    }
    assert (ends[again["api_key_id"]], ends[made["api_key_id"]] > clock.rfc3339(clock.now())) == (None, True)
    revoked = parley("api-key", "revoke", made["api_key_id"], "--json")
    assert json.loads(revoked.stdout) == {"api_key_id": made["api_key_id"], "revoked": True}
    assert ping(made["api_key"]).status_code == 401
    assert made["api_key_id"] not in parley("api-key", "list").stdout


def test_a_limited_key_is_created_and_listed_with_its_limits(parley, founded, ping):
    team = founded["team_id"]
    options = ["--read-only", "--no-secrets", "--team", team, "--expires", "2199-12-31"]
    made = json.loads(parley("api-key", "create", "Report", *options, "--json").stdout)
    assert ping(made["api_key"]).status_code == 200
    listed = json.loads(parley("api-key", "list", "--json").stdout)["api_keys"]
    (key,) = (one for one in listed if one["name"] == "Report")
    assert {name: key[name] for name in ("read_only", "no_secrets", "teams", "flows", "ends_at")} == {
        "read_only": True,
        "no_secrets": True,
        "teams": [team],
        "flows": None,
        "ends_at": "2200-01-01T00:00:00Z",
    }
    assert f"read only  no secrets  teams: {team}" in parley("api-key", "list").stdout


@pytest.mark.parametrize(
    ("option", "value"), [("--team", "nothing"), ("--flow", "nothing"), ("--expires", "2020-01-31")]
)
def test_a_wrong_limit_creates_no_key(parley, founded, option, value):
    refused = parley("api-key", "create", "Report", option, value)
    assert refused.exit_code == 1
    assert "Choose" in refused.stderr
    assert "Report" not in parley("api-key", "list").stdout


def test_a_key_of_another_organization_cannot_be_revoked(parley, founded):
    second = json.loads(parley("org", "create", "Second Ltd", *CREATE, "--json").stdout)
    key = json.loads(parley("api-key", "create", "x", "--org", second["organization_id"], "--json").stdout)
    refused = parley("api-key", "revoke", key["api_key_id"], "--org", founded["organization_id"])
    assert refused.exit_code == 1
    assert parley("api-key", "revoke", "nothing", "--org", founded["organization_id"]).exit_code == 1


def test_the_set_up_address_dies_with_the_first_organization(parley):
    known = cli.settings()
    assert cli.set_up_address(known).startswith("http://127.0.0.1:8000/setup/")
    parley("org", "create", "First Ltd", *CREATE)
    assert cli.set_up_address(known) is None


def test_the_only_administrator_gets_a_new_password(parley, founded):
    changed = parley("member", "password", "Owner@first.example", "--password", "seven lanterns in fog", "--json")
    assert json.loads(changed.stdout) == {"member_id": founded["member_id"]}
    with cli.database(cli.settings()):
        kept = queries.member_by_address("owner@first.example").password_hash
        assert passwords.matches(kept, "seven lanterns in fog")
        assert not passwords.matches(kept, "a staple and a horse")


@pytest.mark.parametrize(
    ("email", "password", "word"),
    [("nobody@first.example", "seven lanterns in fog", "email"), ("owner@first.example", "short", "password")],
)
def test_a_new_password_needs_a_member_and_a_good_password(parley, founded, email, password, word):
    refused = parley("member", "password", email, "--password", password, "--json")
    assert refused.exit_code == 1
    assert word in refused.stderr
    assert refused.stdout == ""


def test_two_step_sign_in_is_turned_off_for_whoever_lost_it(parley, founded):
    with cli.database(cli.settings()):
        member = queries.member_by_address("owner@first.example")
        second_factor.begin(member)
        code = pyotp.TOTP(second_factor.pending_secret(member)).at(clock.now())
        assert second_factor.confirm(member, code, but=None)
        db.session.commit()
    done = parley("member", "second-factor-off", "Owner@first.example", "--json")
    assert json.loads(done.stdout) == {"member_id": founded["member_id"]}
    with cli.database(cli.settings()):
        assert queries.member_by_address("owner@first.example").totp_since is None
    assert parley("member", "second-factor-off", "nobody@first.example").exit_code == 1


def test_a_password_is_read_from_standard_input(parley):
    made = parley(
        "org", "create", "Second Ltd", *CREATE[:4], "--admin-password", "-", "--json", input="seven lanterns\n"
    )
    assert made.exit_code == 0, made.stderr
    assert set(json.loads(made.stdout)) == {"organization_id", "team_id", "member_id", "api_key"}
    assert made.stderr == ""
    changed = parley("member", "password", "second@first.example", "--password", "-", input="eight lanterns\r\n")
    assert changed.exit_code == 0, changed.stderr
    with console.database(console.settings()):
        assert passwords.matches(queries.member_by_address("second@first.example").password_hash, "eight lanterns")


def test_a_password_that_ps_would_show_is_warned_of(parley, monkeypatch):
    assert "other users of this machine can see a password" in parley("org", "create", "Second Ltd", *CREATE).stderr
    monkeypatch.setenv("PARLEY_ADMIN_PASSWORD", "a staple and a horse")
    named = ["--team", "Hiring", "--admin-email", "third@first.example"]
    assert parley("org", "create", "Third Ltd", *named).stderr == ""
