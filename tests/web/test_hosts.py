"""Requests for a foreign host name are refused where people have an address of their own."""

import pytest

from app.settings import Settings, SettingsError

APP_URL = "https://parley.example.com"


def asks(app, host, path="/sign-in", **headers):
    return app.test_client().get(path, headers={"Host": host, **headers})


@pytest.mark.parametrize(
    "host",
    [
        "parley.example.com",
        "PARLEY.example.com",
        "parley.example.com:8443",
        "parley.example.com.",
        "localhost:8000",
        "127.0.0.1",
        "[::1]:8000",
    ],
)
def test_its_own_names_are_answered(probing, host):
    assert asks(probing(app_url=APP_URL), host).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "parley.example.com.evil.example",
        "evilparley.example.com",
        "10.0.0.1",
        "[bad",
        "a b",
        "",
        "@parley.example.com",
    ],
)
def test_any_other_is_refused_with_a_way_out(probing, host):
    refused = asks(probing(app_url=APP_URL), host)
    assert refused.status_code == 421
    assert "ALLOWED_HOSTS" in refused.text
    assert "<html" in refused.text


def test_programs_get_the_refusal_in_their_form(probing):
    app = probing(app_url=APP_URL)
    refused = asks(app, "evil.example", "/v1/ping")
    assert (refused.status_code, refused.json["code"]) == (421, 421)
    assert "ALLOWED_HOSTS" in refused.json["message"]
    assert asks(app, "evil.example", "/sign-in", Accept="application/json").json["code"] == 421


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_monitors_may_ask_by_any_name(probing, path):
    assert asks(probing(app_url=APP_URL), "10.0.0.1:8000", path).status_code != 421


def test_named_hosts_take_the_place_of_the_usual_ones(probing):
    app = probing(app_url=APP_URL, allowed_hosts=("interviews.example.org",))
    answers = {
        name: asks(app, name).status_code for name in ("interviews.example.org", "parley.example.com", "localhost")
    }
    assert answers == {"interviews.example.org": 200, "parley.example.com": 200, "localhost": 421}


def test_while_app_url_is_of_this_machine_any_host_is_taken_with_one_warning(probing, caplog):
    app = probing(app_url="http://127.0.0.1:8000")
    assert asks(app, "localhost:8000").status_code == 200
    assert "APP_URL" not in caplog.text
    assert [asks(app, "parley.lan").status_code for _ in range(3)] == [200, 200, 200]
    assert caplog.text.count("different host than APP_URL") == 1


@pytest.mark.parametrize("given", ["https://parley.example.com", "parley.example.com:8000", "a/b", "[::1", "a b"])
def test_hosts_are_names_alone(given, tmp_path):
    with pytest.raises(SettingsError, match="ALLOWED_HOSTS must be a comma-separated list of host names"):
        Settings.from_env({"ALLOWED_HOSTS": given, "DATA_DIR": str(tmp_path)})


def test_hosts_are_read_as_a_list(tmp_path):
    read = Settings.from_env({"ALLOWED_HOSTS": "A.example.com, [::1],b", "DATA_DIR": str(tmp_path)})
    assert read.allowed_hosts == ("a.example.com", "::1", "b")
