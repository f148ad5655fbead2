"""The weights of the voice detector, as a browser fetches them."""

from flask import Flask

from app.conversation import detector


def test_the_installed_file_is_served_whole_and_kept_for_good(app: Flask) -> None:
    found = detector.weights()
    assert found is not None
    with app.test_request_context():
        address = detector.address()
    assert address is not None
    answer = app.test_client().get(address)
    assert answer.status_code == 200
    assert answer.get_data() == found[0].read_bytes()
    assert "immutable" in answer.headers["Cache-Control"]
    assert "no-cache" not in answer.headers["Cache-Control"]
    assert "Set-Cookie" not in answer.headers
    again = app.test_client().get(address, headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


def test_another_version_is_no_file_of_ours(app: Flask) -> None:
    assert app.test_client().get("/interview/files/detector-0000000000000000.bin").status_code == 404


def test_without_the_file_the_page_names_none(app: Flask, monkeypatch) -> None:
    monkeypatch.setattr(detector, "weights", lambda: None)
    with app.test_request_context():
        assert detector.address() is None
