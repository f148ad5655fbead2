"""A language model over `/chat/completions`: follow-ups, summary and judgements as JSON that is checked here.

Everything that candidates or customers wrote goes in as JSON data after the rules; the rules say that data gives no
orders. A bad answer is asked for once more, then the call fails visibly.
"""

import json
import logging
import re
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import from_json

from app.core.errors import GatewayError
from app.gateways.language_model import prompts
from app.gateways.language_model.completions import Completions, Hears
from app.gateways.speech import phrases
from app.gateways.speech.calls import Call, GivenUp
from app.gateways.speech.ports import Exchange, FollowUp, Judged, Judgement, Listens, Material, Quote
from app.gateways.speech.watching import Part, Watch, unwatched, watched

log = logging.getLogger(__name__)

SERVER = "the language model server"
TRIES = 2
SHORTEST_SOURCE = 4
"""Letters and digits; less proves nothing."""


Action = Literal["next", "follow_up", "answer", "unknown", "repeat", "wait"]


class Shape(BaseModel):
    """An answer's shape; strict servers want every field required and no other."""

    model_config = ConfigDict(extra="forbid")


class Decision(Shape):
    """What the interviewer decides. Longer texts are well-formed answers too: the guard refuses them, once.

    What the words are for comes before them, so that their first sentence can be spoken while the next one is written.
    """

    action: Action
    source: str
    text: str


class Summary(Shape):
    """A summary."""

    summary: str = Field(min_length=1, max_length=4_000)


class QuoteShape(Shape):
    """A quote of the candidate."""

    segment: int
    text: str


class ScoreShape(Shape):
    """One judgement."""

    value: float | None = Field(ge=0, le=5)
    reason: str = Field(max_length=1_000)
    quotes: list[QuoteShape] = Field(max_length=5)


Answer = TypeVar("Answer", bound=BaseModel)


class Chat:
    """One model on one server. `json_mode`: `schema` (enforced), `object` (JSON promised) or `prompt` (asked for).

    `watch` gets the outcome of each question, as the `part` that this model plays.
    """

    def __init__(
        self,
        address: str,
        *,
        api_key: str,
        model: str,
        json_mode: str,
        timeout: float,
        watch: Watch = unwatched,
        part: Part = "questions",
    ) -> None:
        self._completions = Completions(SERVER, address, api_key=api_key, model=model, timeout=timeout)
        self._json_mode = json_mode
        self._watch: Watch = watch
        self._part: Part = part
        self.model = model

    def ask(
        self,
        rules: str,
        data: dict[str, Any],
        shape: type[Answer],
        *,
        hears: Hears | None = None,
        call: Call | None = None,
    ) -> Answer:
        """The model's answer in this shape; a bad one is asked for once more, then GatewayError(retryable).

        ``hears`` gets what has been written so far each time there is more of it, from its beginning. Raises GivenUp
        where ``call`` was.
        """
        asked = self._asked(rules, data, shape)
        with watched(self._watch, self._part, f"chat:{self.model}"):
            try:
                return self._ask(asked, shape, hears=hears, call=call)
            except GivenUp as error:  # no failure of the server
                given_up = error
        raise given_up

    def _ask(self, asked: dict[str, Any], shape: type[Answer], *, hears: Hears | None, call: Call | None) -> Answer:
        for _ in range(TRIES):
            content = self._completions.ask(asked, hears=hears, call=call)
            try:
                return shape.model_validate_json(_json_in(content))
            except ValidationError:
                continue
        raise GatewayError(f"{SERVER} gave {TRIES} answers in the wrong format", retryable=True)

    def close(self) -> None:
        """Close the connections."""
        self._completions.close()

    def _asked(self, rules: str, data: dict[str, Any], shape: type[BaseModel]) -> dict[str, Any]:
        schema = shape.model_json_schema()
        arguments: dict[str, Any] = {}
        if self._json_mode == "schema":
            arguments["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": shape.__name__, "schema": schema, "strict": True},
            }
        else:
            rules += "\nAnswer with one JSON object of this JSON schema and nothing else:\n" + json.dumps(schema)
            if self._json_mode == "object":
                arguments["response_format"] = {"type": "json_object"}
        messages = [
            {"role": "system", "content": rules},
            {"role": "user", "content": json.dumps(data, ensure_ascii=False)},
        ]
        return {"temperature": 0, "messages": messages, **arguments}


def _json_in(content: str) -> str:
    """The JSON object in an answer, also from models that think aloud or fence it."""
    content = _aloud(content)
    start, end = content.find("{"), content.rfind("}")
    return content[start : end + 1]


def _aloud(content: str) -> str:
    return re.sub(r"<think>.*?</think>", "", content, flags=re.DOTALL)


def _begun(content: str) -> tuple[Decision, bool] | None:
    """What a decision says so far, and whether all before its words is known; None while nothing of it can be used."""
    content = _aloud(content)
    start = content.find("{")
    if start < 0 or "<think>" in content[:start]:
        return None
    try:
        known = from_json(content[start:], allow_partial=True)
        read = from_json(content[start:], allow_partial="trailing-strings")
        decision = Decision.model_validate({"source": "", "text": "", **read, "action": known.get("action")})
    except (ValueError, TypeError, AttributeError):
        return None
    return decision, "source" in known and list(read)[:2] == ["action", "source"]


class ChatInterviewer:
    """Asks on where the answer leaves something open, and answers from what the organization has told it."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """With the model's name."""
        return f"chat:{self._chat.model}"

    def decide(self, exchange: Exchange, *, listens: Listens | None = None, call: Call | None = None) -> FollowUp:
        """No more than `limit` follow-ups, no answer without a source, and no word of the rules."""

        known: FollowUp | None = None

        def hears(content: str) -> None:
            nonlocal known
            begun = _begun(content)
            wanted = _wanted_so_far(begun[0], exchange, is_known=begun[1]) if begun else None
            if listens is not None and wanted is not None and wanted != known:
                listens(wanted)
                known = wanted

        data = prompts.exchange_data(exchange)
        listener = hears if listens else None
        decision = self._chat.ask(prompts.INTERVIEWER, data, Decision, hears=listener, call=call)
        return _wanted(decision, exchange)

    def close(self) -> None:
        """Close the connections."""
        self._chat.close()


def _wanted(decision: Decision, exchange: Exchange) -> FollowUp:
    text = decision.text.strip()
    if prompts.recites(text):
        log.warning("the language model repeated its instructions; the reply is dropped")
        return FollowUp()
    if decision.action == "answer":
        is_known = bool(text) and _stands_in(decision.source, exchange.additional_info or "")
        return FollowUp(reply=text) if is_known else FollowUp(unknown=True)
    if decision.action == "follow_up":
        return FollowUp(text if text and len(exchange.follow_ups) < exchange.limit else None)
    wanted = decision.action
    return FollowUp(unknown=wanted == "unknown", repeat=wanted == "repeat", wait=wanted == "wait")


def _wanted_so_far(decision: Decision, exchange: Exchange, *, is_known: bool) -> FollowUp | None:
    """What a decision wants whatever is still to come, or the beginning of its words; None where neither is known."""
    if decision.action not in {"answer", "follow_up"}:
        return _wanted(decision, exchange)
    is_worded = is_known and bool(decision.text.strip()) and not prompts.recites(decision.text)
    return _wanted(decision, exchange) if is_worded else None


def _stands_in(source: str, background: str) -> bool:
    """Whether the words are really there, give or take spaces, case and punctuation."""
    quoted, whole = ("".join(c for c in part.casefold() if c.isalnum()) for part in (source, background))
    return len(quoted) >= SHORTEST_SOURCE and quoted in whole


class ChatAnalyst:
    """Summary and judgements from text alone."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """With the model's name and the version of the prompts."""
        return f"chat:{self._chat.model}:{prompts.VERSION}"

    def summarize(self, material: Material) -> str | None:
        """A summary in the interview's language; a silent interview needs no model."""
        if not any(passage.role == "user" and passage.content.strip() for passage in material.passages):
            return phrases.nothing_said(material.language)
        return self._chat.ask(prompts.SUMMARY, prompts.material_data(material), Summary).summary

    def judge(self, material: Material, *, scores: tuple[str, ...]) -> Judgement:
        """Each named score with reason and quotes; Parley checks the quotes and caps the values afterwards."""
        if not scores:
            return Judgement(self.name)
        fields: dict[str, Any] = dict.fromkeys(scores, (ScoreShape, ...))
        shape = create_model("Scores", __base__=Shape, **fields)
        answer = self._chat.ask(prompts.judge_rules(scores, material.criteria), prompts.scored_data(material), shape)
        return Judgement(self.name, tuple(_judged(score, getattr(answer, score)) for score in scores))

    def close(self) -> None:
        """Close the connections."""
        self._chat.close()


def _judged(score: str, shape: ScoreShape) -> Judged:
    quotes = tuple(Quote(quote.text, quote.segment) for quote in shape.quotes)
    return Judged(score, shape.value, shape.reason, quotes)
