"""Talks as hypothesis makes them up: what the candidate does at which moment, and how quick the network is."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as some

from .stage import Script

QUESTIONS = (
    "Why do you want this job?",
    "Tell me about the last team that you worked in, and what your part in it was.",
    "What would you change?",
)
COMMANDS = ("could you repeat the question please", "let me think", "stop the interview")
CALLS = ("hello can you hear me", "are you there")
MURMURS = ("mm-hm", "okay")
ANSWER_WORDS, RESERVE = 12, 14


@dataclass
class _Words:
    """Every word that is said gets a number of its own; those of answers are said once only."""

    texts: list[str] = field(default_factory=lambda: [""])

    def plain(self, count: int) -> list[int]:
        return [self._number(f"w{len(self.texts)}") for _ in range(count)]

    def of(self, text: str) -> list[int]:
        return [self._number(word) for word in text.split()]

    def _number(self, word: str) -> int:
        self.texts.append(word)
        return len(self.texts) - 1


def _ms(least: int, most: int) -> Any:
    return some.integers(least // 20, most // 20).map(lambda frames: 20 * frames)


def _at(when: str, most: int) -> Any:
    return some.fixed_dictionaries({"when": some.just(when), "ms": _ms(0, most)})


ANSWERS = some.lists(
    some.fixed_dictionaries({"words": some.integers(1, 24), "pause": _ms(200, 2400)}), min_size=1, max_size=3
).map(lambda phrases: {"act": "say", "kind": "answer", "phrases": phrases})
SAYINGS = some.one_of(
    some.sampled_from(COMMANDS).map(lambda text: {"act": "say", "kind": "command", "text": text}),
    some.sampled_from(CALLS).map(lambda text: {"act": "say", "kind": "call", "text": text}),
    some.sampled_from(MURMURS).map(lambda text: {"act": "say", "kind": "murmur", "text": text}),
)
BUTTONS = ("finished", "repeat", "think", "pause", "skip")
DEEDS = some.one_of(
    _ms(500, 6000).map(lambda away: {"act": "reload", "away": away}),
    some.sampled_from((None, "typed")).map(lambda text: {"act": "write", "text": text}),
    _ms(500, 9000).map(lambda lasts: {"act": "offline", "lasts": lasts}),
    some.sampled_from(BUTTONS).map(lambda name: {"act": "press", "name": name}),
    some.builds(
        lambda turns, seconds: {"act": "late", "turns": turns, "seconds": seconds},
        some.integers(1, 2),
        some.sampled_from((1, 4, 15)),
    ),
)
WHENEVER = some.one_of(_at("agent", 4000), _at("thinking", 600), _at("quiet", 2500), _at("turn", 3000))


def _scene(*steps: tuple[Any, Any]) -> Any:
    """Moves that belong together: (moment, deed) each."""
    return some.tuples(*(some.builds(lambda moment, act: {**moment, **act}, *step) for step in steps)).map(list)


SCENES = some.one_of(
    _scene((_at("turn", 3000), ANSWERS)),
    _scene((_at("turn", 3000), ANSWERS), (_at("speaking", 7000), DEEDS)),
    _scene((_at("agent", 4000), some.one_of(SAYINGS, ANSWERS))),
    _scene((WHENEVER, some.one_of(SAYINGS, ANSWERS))),
    _scene((WHENEVER, DEEDS)),
)
_WEATHER = {
    "seed": some.integers(0, 10_000),
    "latency": some.sampled_from(([20, 60], [40, 400], [300, 1500])),
    "detector": some.sampled_from((True, True, False)),
    "falls": some.sampled_from((True, False, None)),
}
WEATHERS = some.fixed_dictionaries(_WEATHER)
STORMS = some.fixed_dictionaries({**_WEATHER, "drops": some.just(True)})
SECOND_THOUGHTS = some.fixed_dictionaries(
    {**_WEATHER, "may_say_again": some.just(True), "patience": some.just(18_000)}  # longer than the greeting
)
_WHILE_OFFERED = some.one_of(_at("agent", 4000), _at("turn", 3000))
_PRESS_AGAIN = some.just({"act": "press", "name": "again"})
_AGAIN = (_at("turn", 3000), ANSWERS), (_WHILE_OFFERED, _PRESS_AGAIN)
AGAIN_SCENES = some.one_of(_scene(*_AGAIN), _scene(*_AGAIN, (WHENEVER, some.one_of(ANSWERS, SAYINGS, DEEDS))))
_AMONG_OTHERS = some.tuples(some.lists(SCENES, max_size=2), AGAIN_SCENES, some.lists(SCENES, max_size=3))


def _script(count: int, scenes: list[list[dict[str, Any]]], weather: dict[str, Any]) -> Script:
    words = _Words()
    given = [_numbered(move, words) for scene in scenes for move in scene]
    reserve = {
        "answers": [words.plain(ANSWER_WORDS) for _ in range(RESERVE)],
        "no": [words.of("no") for _ in range(4)],
    }
    return Script(QUESTIONS[:count], given, weather, words.texts, reserve)


def _numbered(move: dict[str, Any], words: _Words) -> dict[str, Any]:
    if move["act"] != "say":
        return move
    if "text" in move:
        return {**move, "phrases": [{"ids": words.of(move["text"]), "pause": 0}]}
    phrases = [{"ids": words.plain(one["words"]), "pause": one["pause"]} for one in move["phrases"]]
    return {**move, "phrases": phrases}


SCRIPTS = some.builds(_script, some.integers(1, 3), some.lists(SCENES, max_size=5), WEATHERS)
WITH_DROPS = some.builds(_script, some.integers(1, 3), some.lists(SCENES, max_size=5), STORMS)
"""The line breaks for 0.5 to 5 seconds, every 8 to 20 seconds."""
SAID_AGAIN = some.builds(
    _script,
    some.integers(1, 3),
    _AMONG_OTHERS.map(lambda parts: [*parts[0], parts[1], *parts[2]]),
    SECOND_THOUGHTS,
)
"""The flow lets candidates say an answer again, and they press the button for it."""

_QUICK = {"seed": 0, "latency": [20, 60], "detector": True, "falls": True}
_ANSWER = {"act": "say", "kind": "answer", "phrases": [{"words": 20, "pause": 200}]}
_TWO_BREATHS = {
    "act": "say",
    "kind": "answer",
    "phrases": [{"words": 10, "pause": 4200}, {"words": 14, "pause": 200}],
}


def _said(*phrases: tuple[int, int]) -> dict[str, Any]:
    """An answer: words and the milliseconds of silence after them, breath by breath."""
    return {"act": "say", "kind": "answer", "phrases": [{"words": words, "pause": pause} for words, pause in phrases]}


SAID_AGAIN_ONCE = _script(
    2,
    [[{"when": "turn", "ms": 0, **_said((8, 200))}, {"when": "turn", "ms": 1000, "act": "press", "name": "again"}]],
    {**_QUICK, "may_say_again": True, "patience": 18_000},
)
_REPEAT = {"act": "say", "kind": "command", "text": COMMANDS[0]}
ONCE_BROKEN = {
    "a call over the first words of a question": _script(
        2, [[{"when": "agent", "ms": 300, "act": "say", "kind": "call", "text": CALLS[0]}]], _QUICK
    ),
    "a reload in mid-answer": _script(
        1,
        [[{"when": "turn", "ms": 0, **_ANSWER}, {"when": "speaking", "ms": 4000, "act": "reload", "away": 500}]],
        _QUICK,
    ),
    "a reload while somebody speaks on to a server that thinks": _script(
        1,
        [
            [
                {"when": "turn", "ms": 0, "act": "late", "turns": 2, "seconds": 15},
                {"when": "turn", "ms": 40, **_TWO_BREATHS},
                {"when": "thinking", "ms": 2000, "act": "reload", "away": 500},
            ]
        ],
        _QUICK,
    ),
    "a wish to hear the question again": _script(
        1, [[{"when": "turn", "ms": 0, "act": "say", "kind": "command", "text": COMMANDS[0]}]], _QUICK
    ),
    "a word soon after the end of an answer": _script(
        1,
        [
            [{"when": "turn", "ms": 0, **_said((1, 200))}],
            [{"when": "turn", "ms": 0, **_said((2, 420), (1, 200))}],
        ],
        _QUICK,
    ),
    "a word soon after an answer to a question that was put again": _script(
        1,
        [
            [{"when": "agent", "ms": 1240, **_REPEAT}],
            [{"when": "turn", "ms": 0, **_REPEAT}],
            [{"when": "turn", "ms": 2860, **_said((1, 200))}, {"when": "quiet", "ms": 460, **_said((1, 200))}],
        ],
        _QUICK,
    ),
    "words over the goodbye on a slow line": _script(
        1,
        [[{"when": "agent", "ms": 0, **_REPEAT}], [{"when": "turn", "ms": 0, **_said((8, 2160), (4, 200))}]],
        {"seed": 0, "latency": [300, 1500], "detector": False, "falls": None},
    ),
    "a reload as the first question begins to sound": _script(
        1,
        [[{"when": "quiet", "ms": 1060, **_REPEAT}, {"when": "agent", "ms": 0, "act": "reload", "away": 500}]],
        {"seed": 37, "latency": [300, 1500], "detector": True, "falls": True},
    ),
    "words from before the first question on, and a reload as it begins": _script(
        2,
        [
            [{"when": "quiet", "ms": 1120, **_said((6, 740), (2, 920))}],
            [{"when": "agent", "ms": 0, "act": "reload", "away": 3960}],
        ],
        {"seed": 37, "latency": [300, 1500], "detector": True, "falls": True},
    ),
    "a reload as more of the last answer is sent": _script(
        1,
        [
            [{"when": "turn", "ms": 2900, **_said((3, 1520))}],
            [{"when": "turn", "ms": 2560, **_said((15, 1800), (23, 960), (7, 780))}],
            [{"when": "thinking", "ms": 0, "act": "reload", "away": 500}],
        ],
        {**_QUICK, "seed": 1},
    ),
    "a word as the agent asks whether it was heard": _script(
        1,
        [
            [{"when": "agent", "ms": 2160, **_REPEAT}],
            [{"when": "agent", "ms": 880, **_REPEAT}],
            [{"when": "agent", "ms": 40, **_said((4, 1920), (12, 1960), (6, 200))}],
        ],
        {"seed": 17, "latency": [20, 60], "detector": True, "falls": False},
    ),
    "speech soon after the answer was ended by its button": _script(
        2,
        [
            [
                {"when": "turn", "ms": 1360, **_said((15, 460), (9, 1240), (16, 1900))},
                {"when": "speaking", "ms": 2660, "act": "press", "name": "finished"},
                {"when": "thinking", "ms": 500, **_said((16, 2220), (18, 1380))},
            ]
        ],
        {"seed": 622, "latency": [300, 1500], "detector": True, "falls": False, "drops": True},
    ),
    "interruptions of a question and of the words before it is put again": _script(
        2,
        [
            [{"when": "turn", "ms": 0, **_said((12, 200))}],
            [{"when": "agent", "ms": 2000, **_said((12, 200))}],
            [{"when": "agent", "ms": 2600, **_said((12, 200))}],
        ],
        _QUICK,
    ),
    "a question that is cut off as it is put for the first time, after words over the greeting": _script(
        1,
        [
            [{"when": "thinking", "ms": 420, "act": "say", "kind": "murmur", "text": MURMURS[0]}],
            [{"when": "agent", "ms": 0, "act": "say", "kind": "command", "text": "let me think"}],
            [{"when": "turn", "ms": 0, **_said((1, 200))}],
            [{"when": "agent", "ms": 0, **_REPEAT}],
            [{"when": "quiet", "ms": 0, **_REPEAT}],
        ],
        {"seed": 258, "latency": [300, 1500], "detector": True, "falls": True},
    ),
    "a sound before the greeting and another over its first words": _script(
        1,
        [
            [{"when": "thinking", "ms": 180, "act": "say", "kind": "murmur", "text": MURMURS[0]}],
            [{"when": "agent", "ms": 0, "act": "say", "kind": "murmur", "text": MURMURS[0]}],
        ],
        {"seed": 45, "latency": [300, 1500], "detector": True, "falls": True},
    ),
    "a wish to think in the middle of words over a question": _script(
        3,
        [
            [{"when": "turn", "ms": 0, **_said((1, 200))}],
            [{"when": "agent", "ms": 0, "act": "press", "name": "again"}],
            [{"when": "turn", "ms": 0, **_said((1, 200))}],
            [
                {"when": "turn", "ms": 1640, **_said((5, 1640), (8, 200))},
                {"when": "speaking", "ms": 3980, "act": "press", "name": "think"},
            ],
        ],
        {**_QUICK, "may_say_again": True, "patience": 18_000},
    ),
    "a reload while the last answer goes on over the goodbye": _script(
        1,
        [
            [{"when": "turn", "ms": 0, "act": "say", "kind": "murmur", "text": MURMURS[0]}],
            [
                {"when": "turn", "ms": 0, **_said((5, 2080), (20, 200))},
                {"when": "speaking", "ms": 4780, "act": "reload", "away": 500},
            ],
        ],
        {**_QUICK, "falls": None},
    ),
}
"""The shortest talks in which generated ones first found a fault."""
