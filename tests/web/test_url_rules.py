"""Rules that are compiled late build the same addresses as werkzeug's own."""

import pytest
from flask import Flask
from werkzeug.routing import Map, Rule

from app.web.url_rules import LazyRule

VALUES = ("a b", "7", 7, "ä/ö", "00000000-0000-4000-8000-000000000000")


def addresses(rule: Rule, value: object) -> list[tuple[str, str] | type[Exception] | None]:
    """What the rule builds with and without parameters that it does not know."""
    values = {**dict.fromkeys(rule.arguments, value), "rule": "another", "page": 2}
    built: list[tuple[str, str] | type[Exception] | None] = []
    for append_unknown in (True, False):
        try:
            built.append(rule.build(values, append_unknown=append_unknown))
        except (TypeError, ValueError) as error:
            built.append(type(error))
    return built


@pytest.mark.parametrize("value", VALUES)
def test_every_rule_builds_what_a_plain_one_builds(shared_app: Flask, value: object) -> None:
    rules = list(shared_app.url_map.iter_rules())
    assert len(rules) > 200
    for rule in rules:
        assert isinstance(rule, LazyRule)
        plain = Rule(rule.rule, endpoint=rule.endpoint, defaults=rule.defaults)
        Map([plain], converters=shared_app.url_map.converters)
        assert addresses(rule, value) == addresses(plain, value), rule


def test_nothing_is_compiled_before_an_address_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[bool] = []
    compile_builder = Rule._compile_builder

    def counted(self: Rule, append_unknown: bool = True) -> object:
        compiled.append(append_unknown)
        return compile_builder(self, append_unknown)

    monkeypatch.setattr(Rule, "_compile_builder", counted)
    rule = LazyRule("/flows/<string:flow_id>", endpoint="flow")
    urls = Map([rule]).bind("parley.example")
    assert compiled == []
    assert [urls.build("flow", {"flow_id": one}) for one in ("a", "b")] == ["/flows/a", "/flows/b"]
    assert compiled == [True]
