"""The client against the OpenAPI document: operations, names of parameters and fields, enums and status codes."""

import inspect
import json
import re
import typing
from dataclasses import fields
from typing import Any

import parley
import pytest
from parley import _errors, _models, _operations, _resources, webhooks
from parley._core import Call
from parley._paging import Page, Plan

from tests.contract.test_openapi import GOLDEN

from .test_types import PACKAGE

DOCUMENT: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
DOCUMENTED: dict[str, tuple[str, str, dict[str, Any]]] = {
    operation["operationId"]: (
        method.upper(),
        path,
        {**operation, "parameters": operation.get("parameters", []) + item.get("parameters", [])},
    )
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method != "parameters"
}

NOT_YET_DOCUMENTED: set[str] = set()
"""Operations that the client has before the document does. An entry goes when its operation arrives."""


def given_for(name: str, parameter: inspect.Parameter) -> Any:
    """A value that the operation accepts and that shows up in the request."""
    values: dict[str, Any] = {
        "questions": ["Why?"],
        "metadata": {"a": "b"},
        "limit": 7,
        "offset": 3,
        "overlap_hours": 24,
        "transcript": "full",
        "is_video_enabled": True,
        "is_doc_upload_enabled": True,
    }
    return values.get(name, f"a-{name}")


def built(function: Any) -> Call[Any]:
    """The call of an operation with all of its parameters, those of its TypedDict too."""
    args, named = [], {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            (options,) = typing.get_args(parameter.annotation)
            named.update({each: given_for(each, parameter) for each in options.__annotations__})
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named[name] = given_for(name, parameter)
        else:
            args.append(given_for(name, parameter))
    named.pop("max_items", None)
    made = function(*args, **named)
    return made.ask({"limit": 7, made.position: "x"}) if isinstance(made, Plan) else made


FUNCTIONS = {
    name: function
    for name, function in vars(_operations).items()
    if inspect.isfunction(function)
    and function.__module__ == _operations.__name__
    and not name.startswith("_")
    and name not in {"request", "interview_of"}
}
CALLS = {built(function).operation: built(function) for function in FUNCTIONS.values()}
KNOWN = sorted(set(CALLS) & set(DOCUMENTED))


def shape(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the indirection to its component."""
    while "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    if "allOf" in schema and "properties" not in schema:
        return {"properties": {k: v for part in schema["allOf"] for k, v in shape(part).get("properties", {}).items()}}
    return schema


def test_the_client_has_every_operation_and_no_other():
    missing = set(DOCUMENTED) - set(CALLS)
    assert not missing, f"clients/python has no {sorted(missing)}"
    undocumented = set(CALLS) - set(DOCUMENTED)
    assert undocumented <= NOT_YET_DOCUMENTED, f"The document has no {sorted(undocumented - NOT_YET_DOCUMENTED)}"


def test_every_operation_is_a_method_of_both_clients():
    async_names = {
        name: getattr(_resources, f"Async{name}")
        for name in (
            "Teams",
            "TeamMembers",
            "Flows",
            "Interviews",
            "Candidates",
            "Statuses",
            "WebhookEndpoints",
            "WebhookDeliveries",
        )
    }
    offered = {"ping", "list_changes"}
    for name, other in async_names.items():
        plain = getattr(_resources, name)
        methods = {method for method in vars(plain) if not method.startswith("_")}
        assert methods == {method for method in vars(other) if not method.startswith("_")}, name
        for method in methods:
            assert (
                inspect.signature(vars(plain)[method]).parameters == inspect.signature(vars(other)[method]).parameters
            )
            assert inspect.getdoc(vars(plain)[method]), (name, method)
            offered.add(getattr(vars(plain)[method], "__wrapped__", vars(plain)[method]).__name__)
    offered -= {"wait", "retrieve", "list"}
    assert offered | {"get_interview", "list_interviews"} == set(FUNCTIONS)


@pytest.mark.parametrize("operation", KNOWN)
def test_method_path_and_parameters_are_those_of_the_document(operation):
    call = CALLS[operation]
    method, path, documented = DOCUMENTED[operation]
    ids = {one: f"a-{one}" for one in _names(documented, "path")}
    assert (call.method, call.path) == (method, path.format(**ids))
    assert set(call.query) == _names(documented, "query")
    sent = {
        name for name in call.headers if name != "Idempotency-Key" or "Idempotency-Key" in _names(documented, "header")
    }
    assert sent == _names(documented, "header")
    assert method != "POST" or call.headers["Idempotency-Key"]


def _names(operation: dict[str, Any], where: str) -> set[str]:
    return {one["name"] for one in operation["parameters"] if one["in"] == where}


@pytest.mark.parametrize("operation", KNOWN)
def test_the_fields_of_a_body_are_those_of_the_document(operation):
    documented = DOCUMENTED[operation][2].get("requestBody")
    if documented is None:
        assert CALLS[operation].body is None
        return
    schema = shape(documented["content"]["application/json"]["schema"])
    assert set(CALLS[operation].body) == set(schema["properties"])
    signature = inspect.signature(next(f for f in FUNCTIONS.values() if built(f).operation == operation))
    needed = {
        name
        for name, one in signature.parameters.items()
        if one.default is one.empty and one.kind is not one.VAR_KEYWORD and name in schema["properties"]
    }
    assert needed == set(schema.get("required", []))


def sample(schema: dict[str, Any], *, empty: bool) -> Any:
    """An object that fits a schema: with everything it may have, or ``empty``, with null where that is allowed."""
    while "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    for choices in ("allOf", "anyOf"):
        if choices in schema:
            return sample(schema[choices][-1 if empty else 0], empty=empty)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kinds = [schema.get("type", "object")] if isinstance(schema.get("type", ""), str) else schema["type"]
    kind = "null" if empty and "null" in kinds else kinds[0]
    if kind == "object":
        needed = schema.get("required", []) if empty else schema.get("properties", {})
        told = {name: sample(schema["properties"][name], empty=empty) for name in needed}
        return told if "properties" in schema else {"a": "b"}
    if kind == "array":
        return [] if empty else [sample(schema["items"], empty=empty)]
    return {"null": None, "string": "text", "integer": 7, "number": 0.5, "boolean": True}[kind]


def plain(parsed: Any) -> Any:
    """What was parsed, as JSON again, without what defaults have added."""
    if isinstance(parsed, _models.Model):
        assert parsed.extra == {}, type(parsed)
        return {one.name: plain(getattr(parsed, one.name)) for one in fields(parsed) if one.name != "extra"}
    if isinstance(parsed, Page):
        return [plain(one) for one in parsed.items]
    return [plain(one) for one in parsed] if isinstance(parsed, list) else parsed


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("operation", KNOWN)
def test_a_response_of_the_document_is_read_completely(operation, empty):
    schema = DOCUMENTED[operation][2]["responses"]["200"]["content"]["application/json"]["schema"]
    told = sample(schema, empty=empty)
    parsed = CALLS[operation].parse(told)
    if isinstance(parsed, _models.Model):
        expected = told
    else:
        expected = next(value for name, value in told.items() if name != "next")
    found = plain(parsed)
    if empty and isinstance(found, dict):
        found = {name: found[name] for name in expected}
    assert found == expected


@pytest.mark.parametrize(
    "event", [webhooks.InterviewProcessed, webhooks.VideoProcessed, webhooks.CandidateStatusUpdated]
)
def test_an_event_has_the_fields_of_the_document(event):
    own = {one.name for one in fields(event)} - {"extra", "webhook_id", "external_id"}
    assert own == set(SCHEMAS[f"{event.__name__}Event"]["properties"])


ENUMS = ["VoiceId", "Language", "InterviewType", "InterviewStatus", "InterviewFlowStatus", "InterviewMode", "Scenario"]
LATER = {
    "InterviewLinkState": "getInterviewLink",
    "StatusMeaning": "listStatuses",
    "ChangeKind": "listChanges",
    "ChangeType": "listChanges",
    "WebhookDeliveryState": "listWebhookDeliveries",
    "WebhookResendState": "resendWebhookDeliveries",
}
"""Enums that arrive with an operation."""


@pytest.mark.parametrize("name", [*ENUMS, *LATER])
def test_enums_have_the_values_of_the_document_and_stay_open(name):
    known, other = typing.get_args(getattr(_models, name))
    assert other is str
    if LATER.get(name) not in NOT_YET_DOCUMENTED - set(DOCUMENTED):
        assert list(typing.get_args(known)) == SCHEMAS[name]["enum"]


def test_the_choices_of_transcript_are_those_of_the_document():
    assert list(typing.get_args(_operations.TranscriptChoice)) == SCHEMAS["TranscriptChoice"]["enum"]
    assert list(_operations.DATA) == SCHEMAS["TranscriptChoice"]["enum"]


def test_every_documented_status_code_has_an_error_of_its_own():
    told = {int(code) for _m, _p, one in DOCUMENTED.values() for code in one["responses"] if code.isdigit()}
    plain = {405, 415}
    for code in told - {200} - plain:
        kind = type(_errors.status_error(code, None, {}))
        assert kind is not parley.APIStatusError, code
        assert getattr(parley, kind.__name__) is kind
    assert {type(_errors.status_error(code, None, {})) for code in plain} == {parley.APIStatusError}


FLOW_OPTIONS = {_operations.FlowOptions, _operations.NewFlowOptions, _operations.FlowChanges}


def row(resource: str, name: str, method: Any) -> str:
    """A method as the README lists it. ``name=`` can be left out."""
    shown: list[str] = []
    hints = typing.get_type_hints(getattr(method, "__wrapped__", method))
    for one in list(inspect.signature(method).parameters.values())[1:]:
        if one.kind is one.VAR_KEYWORD:
            (known,) = typing.get_args(hints[one.name])
            shown += ["**options"] if known in FLOW_OPTIONS else [f"{each}=" for each in known.__annotations__]
        elif one.kind is one.KEYWORD_ONLY:
            shown += [*([] if "*" in shown else ["*"]), one.name if one.default is one.empty else f"{one.name}="]
        else:
            shown.append(one.name)
    returned = hints["return"] if name in {"retrieve", "wait"} and resource == "interviews" else None
    (kind,) = [returned] if returned else typing.get_args(hints["return"])
    listed = "each " if typing.get_origin(hints["return"]) in {Plan, _resources.Listing} else ""
    return f"| `{resource}.{name}({', '.join(shown)})` | {listed}`{words_of(kind)}` |"


def words_of(kind: Any) -> str:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in {list, dict}:
        return f"{origin.__name__}[{', '.join(map(words_of, args))}]"
    return "Interview" if kind is Any else getattr(origin or kind, "__name__", "")


def test_the_readme_lists_every_method_with_its_arguments():
    readme = (PACKAGE / "README.md").read_text(encoding="utf-8")
    client = parley.Parley("key", "http://parley.test")
    resources = {name: one for name, one in vars(client).items() if isinstance(one, _resources.Resource)}
    expected = [
        row(resource, name, method)
        for resource, one in resources.items()
        for name, method in vars(type(one)).items()
        if not name.startswith("_")
    ]
    listed = [line for line in readme.splitlines() if re.match(r"\| `\w+\.\w+\(", line)]
    assert sorted(listed) == sorted(expected)
    for options in FLOW_OPTIONS:
        assert all(f"`{name}`" in readme for name in options.__annotations__)


def test_a_misspelled_option_is_refused_before_it_is_sent():
    with pytest.raises(TypeError, match="unexpected keyword argument 'titel'"):
        _operations.update_interview_flow("one", titel="Nurse")  # type: ignore[call-arg]
