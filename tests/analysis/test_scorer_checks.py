"""The checks of bench/scorers.py: each bad model fails the check that is made for it, and a good one passes all."""

from dataclasses import replace

import pytest

from app.gateways.language_model.chat import Chat, ChatAnalyst
from app.gateways.speech.ports import Judgement
from bench import scorers
from bench._scorers import Constant, Good, Inventive, Obedient, Random, SwayedByNames, SwayedBySchools
from tests.conversation.models import model

FAILS = {
    Random: "scores more than 0.3 apart in 3 scorings",
    SwayedByNames: "difference by names (12)",
    SwayedBySchools: "difference by schools (8)",
    Obedient: "orders that move a score by more than 0.2 (65 in 13 languages)",
    Constant: "strong answers above weak ones, least difference",
    Inventive: "values with words that were said",
}


def failed(analyst):
    return [check.what for check in scorers.measure(analyst) if not check.holds]


@pytest.mark.parametrize("seed", range(5))
def test_a_good_model_passes_every_check(seed):
    assert failed(Good(scorers.DATA, seed=seed)) == []


@pytest.mark.parametrize(("bad", "check"), FAILS.items(), ids=[bad.__name__ for bad in FAILS])
def test_a_bad_model_fails_its_check(bad, check):
    for seed in range(3):
        wrong = failed(bad(scorers.DATA, seed=seed))
        assert check in wrong
        if bad is not Random:  # chance moves everything else too
            assert wrong == [check]


@pytest.mark.parametrize("language", scorers.DATA["languages"])
def test_obedience_in_one_language_is_enough(language):
    (check,) = (one for one in scorers.measure(Obedient(scorers.DATA, languages=[language])) if not one.holds)
    assert check.figure == f"5, {language} 5"


def test_there_are_sixty_orders_in_all_languages_and_all_differ():
    languages = scorers.DATA["languages"]
    orders = [order for one in languages.values() for order in one["orders"]]
    assert len(languages) == 13
    assert len(set(orders)) == len(orders) >= 60


def test_a_model_that_is_null_only_sometimes_is_not_steady():
    class Moody(Good):
        turn = 0

        def judge(self, material, *, scores):
            self.turn += 1
            judgement = super().judge(material, scores=scores)
            return replace(judgement, judged=()) if self.turn % 3 == 0 else judgement

    assert FAILS[Random] in failed(Moody(scorers.DATA))


def test_a_flow_s_own_criterion_has_to_pass_the_same_checks():
    class Fickle(Good):
        turn = 0

        def judge(self, material, *, scores):
            assert [one.key for one in material.criteria] == [scorers.OWN.key]
            self.turn += 1
            judged = super().judge(material, scores=scores).judged
            off = {scorers.OWN.key: self.turn % 3}
            return Judgement(self.name, tuple(replace(one, value=one.value - off.get(one.score, 0)) for one in judged))

    assert FAILS[Random] in failed(Fickle(scorers.DATA))


def test_a_model_that_scores_nothing_does_not_pass():
    class Silent(Good):
        def judge(self, material, *, scores):
            return super().judge(material, scores=())

    wrong = failed(Silent(scorers.DATA))
    assert FAILS[Random] in wrong
    assert FAILS[Constant] in wrong
    assert FAILS[Inventive] in wrong


def said_by(analyst):
    """A server whose model scores as the scripted one."""

    def played(rules, data):
        names = tuple(line[2:].split(":")[0] for line in rules.splitlines() if line.startswith("- "))
        passages = tuple(scorers.Passage(one["index"], one["role"], one["content"], 0) for one in data["passages"])
        judged = analyst.judge(scorers.Material(questions=(), passages=passages), scores=names).judged
        return {
            one.score: {
                "value": one.value,
                "reason": "",
                "quotes": [{"segment": quote.segment_index, "text": quote.text} for quote in one.quotes],
            }
            for one in judged
        }

    return played


@pytest.mark.parametrize(("scripted", "wrong"), [(Good, []), (SwayedByNames, [FAILS[SwayedByNames]])])
def test_a_model_behind_a_server_is_measured_the_same_way(scripted, wrong):
    with model(said_by(scripted(scorers.DATA))) as address:
        chat = Chat(address, api_key="k", model="m", json_mode="schema", timeout=5)
        assert failed(ChatAnalyst(chat)) == wrong
        chat.close()


def test_the_configured_model_gets_the_same_table(monkeypatch, capsys):
    with model(said_by(Obedient(scorers.DATA))) as address:
        monkeypatch.setattr("os.environ", {"LLM_BASE_URL": address, "LLM_MODEL": "m"})
        monkeypatch.setattr("sys.argv", ["scorers.py", "--model-only"])
        scorers.main()
    printed = capsys.readouterr().out
    assert "chat:m:" in printed
    assert "fails" in printed.splitlines()[1]
    assert "| 65, everywhere | none | **fails** |" in printed
    assert scorers.NOT_MEASURED not in printed


def test_without_a_model_it_says_so_and_the_scripted_ones_are_as_they_should_be(monkeypatch, capsys):
    monkeypatch.setattr("os.environ", {})
    monkeypatch.setattr("sys.argv", ["scorers.py"])
    scorers.main()
    printed = capsys.readouterr().out
    assert f"configured model: {scorers.NOT_MEASURED}" in printed
    assert printed.count(": passes") == 1
    assert printed.count(": fails") == 6


def test_checks_that_let_a_bad_model_pass_are_reported(monkeypatch, capsys):
    monkeypatch.setattr("os.environ", {})
    monkeypatch.setattr("sys.argv", ["scorers.py"])
    monkeypatch.setattr(scorers, "SWAY", 9.0)
    with pytest.raises(SystemExit, match="wrong about swayed by names, swayed by schools"):
        scorers.main()
