"""Addresses when they are saved: one strict reading."""

import pytest

from app.core.errors import Rejected
from app.gateways.outbound import check_form
from app.gateways.outbound.target import read

from .hostile import BAD_ADDRESS, BAD_FORM, GOOD_FORM


def test_the_corpus_is_large():
    assert len(set(BAD_FORM) | set(BAD_ADDRESS)) >= 120


@pytest.mark.parametrize("url", BAD_FORM)
def test_a_hostile_form_is_refused_with_a_reason(url):
    with pytest.raises(Rejected) as refusal:
        check_form(url, http_allowed=True)
    assert refusal.value.message.endswith(".")


@pytest.mark.parametrize("url", GOOD_FORM)
def test_an_ordinary_address_is_kept(url):
    check_form(url, http_allowed=False)


def test_http_is_refused_unless_it_is_allowed():
    with pytest.raises(Rejected, match="https"):
        check_form("http://example.com/", http_allowed=False)
    check_form("http://example.com/", http_allowed=True)


@pytest.mark.parametrize(
    ("url", "local", "public"),
    [
        ("ftp://example.com/", "begin with https:// or http://.", "begin with https://."),
        ("http://example.com/", None, "with OUTBOUND_HTTP."),
        ("https://10.0.0.1/", "OUTBOUND_ALLOW does not name its network.", "OUTBOUND_ALLOW does not name its network."),
        ("https://127.0.0.1/", None, "OUTBOUND_ALLOW does not name its network."),
        ("https://localhost/", None, "can allow with OUTBOUND_ALLOW."),
        ("https://169.254.169.254/", "it belongs to a cloud platform.", "it belongs to a cloud platform."),
        ("https://example.com:81/", "Use 80, 443 or a port from 1024 to 65535.", "a port from 1024 to 65535."),
        ("https://example.com:6379/", "another port from 1024 to 65535.", "another port from 1024 to 65535."),
    ],
)
def test_a_refusal_names_the_way_out(make_client, url, local, public):
    for words, variables in ((local, {}), (public, {"APP_URL": "https://parley.example.com"})):
        client = make_client(**variables)
        if words is None:
            client.check_form(url)
            continue
        with pytest.raises(Rejected) as refusal:
            client.check_form(url)
        assert words in refusal.value.message
        assert ("OUTBOUND" in refusal.value.message) is ("OUTBOUND" in words)


def test_an_address_of_2048_characters_is_kept_and_one_more_is_not():
    longest = "https://example.com/" + "a" * (2048 - 20)
    check_form(longest, http_allowed=False)
    with pytest.raises(Rejected, match="2048"):
        check_form(longest + "a", http_allowed=False)


def test_the_parts_are_those_that_are_used():
    target = read("HTTPS://BÜCHER.Example:8443/a?b=c", http_allowed=False)
    assert (target.scheme, target.host, target.port, target.path) == (
        "https",
        "xn--bcher-kva.example",
        8443,
        "/a?b=c",
    )
    assert target.authority == "xn--bcher-kva.example:8443"
    assert read("https://[2606:4700::1111]/", http_allowed=False).authority == "[2606:4700::1111]"
    assert read("http://example.com:80/x", http_allowed=True).authority == "example.com"


def test_localhost_is_a_name_only_where_loopback_may_be_called(make_client):
    make_client().check_form("http://localhost:9000/hook")
    with pytest.raises(Rejected):
        make_client(APP_URL="https://parley.example.com").check_form("https://localhost:9000/hook")


def test_http_follows_the_scheme_of_the_platform_unless_it_is_set(make_client):
    local, public = {}, {"APP_URL": "https://parley.example.com"}
    make_client(**local).check_form("http://example.com/")
    make_client(**public, OUTBOUND_HTTP="on").check_form("http://example.com/")
    for variables in (public, {**local, "OUTBOUND_HTTP": "off"}):
        with pytest.raises(Rejected):
            make_client(**variables).check_form("http://example.com/")
