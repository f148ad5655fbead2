"""``/v1`` is described when its document is first asked for: few processes ever are."""

from collections.abc import Callable

from flask import Flask


def test_no_process_describes_v1_before_it_is_asked(probing: Callable[..., Flask]) -> None:
    rest = probing().extensions["parley.api"]
    assert rest.spec.to_dict()["paths"] == {}
    document = rest.document("https://parley.example.com")
    assert {"/v1/probe", "/v1/interviews"} <= document["paths"].keys()
    assert "interview_processed" in document["webhooks"]
    assert rest.document("https://parley.example.com") == document
