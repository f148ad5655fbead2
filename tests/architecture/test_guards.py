"""Every route is closed unless it is on the list of open ones, each with its reason."""

import re

import pytest
from flask import Flask

OPEN = {
    "static": "files of the product itself",
    "site.front": "sends everybody on to where they belong",
    "site.healthz": "load balancers carry no key",
    "site.readyz": "load balancers carry no key",
    "metrics.show": "its own token, or a program of this machine; tests/metrics has every case",
    "site.csp_reports": "browsers report without a session",
    "api-docs.openapi_json": "the published document",
    "api_docs.page": "the published document, to read",
    "api_docs.file": "its script and style",
    "api_docs.changes": "what may change in the published document",
    "accounts.sign_in": "how one gets in",
    "accounts.sign_in_code": "the second step; opens for whoever has just given the right password",
    "accounts.forgotten": "a link by mail; the answer is the same for everyone",
    "accounts.choose_password": "the one-time link is the key",
    "accounts.confirm_address": "the one-time link is the key",
    "accounts.set_up": "the one-time address is the key",
    "flows.logo": "candidates see it; the id is random",
    "flows.intro_video": "candidates see it; the id is random",
    "accessibility.page": "what is promised to everybody; it names nobody",
    "detector.detector": "a file of a public package, the same for everybody",
    "font.style": "as above",
    "flows.accent_styles": "it depends on the color in its address alone",
    "flows.mail_accent_styles": "as above",
    "font.subset_file": "as above",
    "shared.page": "the secret in the address is the key; it ends",
    "shared.recording": "as above",
    "shared.document": "as above",
    "recordings.recording": "the address is signed and expires",
}
CANDIDATE = re.compile(r"^(conversation|protocol|own_page|apply)\.")
"""The candidate's pages guard themselves with the sitting's cookie; their own tests cover every route."""


def _closed_routes(app: Flask) -> list[tuple[str, str, str]]:
    found = []
    for rule in app.url_map.iter_rules():
        if rule.endpoint in OPEN or CANDIDATE.match(rule.endpoint):
            continue
        path = re.sub(r"<(?:int:)[^>]+>", "1", rule.rule)
        path = re.sub(r"<[^>]+>", "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", path)
        found += [(rule.endpoint, method, path) for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})]
    return found


def test_every_other_route_is_closed_to_strangers(app: Flask) -> None:
    routes = _closed_routes(app)
    assert len(routes) > 40
    for endpoint, method, path in routes:
        answer = app.test_client().open(path, method=method, json={} if path.startswith("/v1") else None)
        if path.startswith("/v1"):
            assert answer.status_code == 401, f"{method} {path} ({endpoint}) answered {answer.status_code}"
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        else:
            if method != "GET":
                assert answer.status_code == 401, f"{method} {path} ({endpoint}) answered {answer.status_code}"
                continue
            is_sent_to_sign_in = answer.status_code in {302, 303} and "/sign-in" in answer.headers["Location"]
            assert is_sent_to_sign_in, f"{method} {path} ({endpoint}) answered {answer.status_code}"


@pytest.mark.parametrize("endpoint", sorted(OPEN))
def test_an_open_route_exists(app: Flask, endpoint: str) -> None:
    assert endpoint in {rule.endpoint for rule in app.url_map.iter_rules()}
