"""/v1/docs: readable without a key, from our own files only."""

import re

import pytest


def test_the_docs_need_no_key_and_hold_no_inline_script(client):
    response = client.get("/v1/docs")
    page = response.get_data(as_text=True)
    assert response.status_code == 200
    assert all('src="' in tag for tag in re.findall(r"<script[^>]*>", page))
    assert "<style" not in page
    assert 'style="' not in page
    assert "http" not in re.sub(r"http-equiv", "", page)


def test_every_file_of_the_docs_is_served_here(client):
    page = client.get("/v1/docs").get_data(as_text=True)
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(addresses) >= 4
    for address in addresses:
        with client.get(address) as response:
            assert response.status_code == 200, address


def test_the_rules_and_changes_are_linked_and_name_every_extension(client):
    document = client.get("/v1/openapi.json").json
    assert "(/v1/docs/changes)" in document["info"]["description"]
    response = client.get("/v1/docs/changes")
    assert (response.status_code, response.mimetype) == (200, "text/plain")
    rules, changes = response.get_data(as_text=True).split("\n## Changes\n")
    operations = [one for path in document["paths"].values() for name, one in path.items() if name != "parameters"]
    for operation in operations:
        where = changes if operation.get("x-parley-extension") else rules.split("\n## Extensions\n")[0]
        assert f"`{operation['operationId']}`" in where, operation["operationId"]


@pytest.mark.parametrize("name", ["index.html", "..%2f__init__.py", "oauth2-redirect.html", "swagger-ui.js"])
def test_no_other_file_of_the_wheel_is_served(client, name):
    assert client.get(f"/v1/docs/{name}").status_code == 404
