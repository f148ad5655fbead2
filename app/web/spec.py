"""What the OpenAPI document says about all endpoints alike: errors, the key, common headers.

An endpoint declares its own success and its input; which failures are possible follows from that.
"""

import json
from typing import Any
from urllib.parse import urlsplit

import marshmallow as ma
from apispec import APISpec, BasePlugin
from werkzeug.http import HTTP_STATUS_CODES

from app.web import error_codes
from app.web.fields import AnyOf, Choice

DESCRIPTION = """\
Define interview flows, create invite links and read results.

Send `Authorization: Bearer <API key>` with every API request. You can send an `Idempotency-Key` with a `POST`. Parley
keeps the key for 24 hours: if you repeat the API request, you get the same response, with `Idempotent-Replayed: true`.
Every response includes `X-Request-Id`. If rate limits are on, it also includes `X-RateLimit-Limit`,
`X-RateLimit-Remaining` and `X-RateLimit-Reset`.

Every error has a code for programs in `X-Parley-Error`; the schema `ErrorCode` lists them. Operations that Parley adds
to the interface carry `x-parley-extension: true`. [What may change, and what was added](/v1/docs/changes) says how long
you can rely on what.

To try the API here, select Authorize, enter a test key, and run `POST /v1/interview-flows` without changes. Copy
`interview_flow_id` from the response into the body of `POST /v1/interviews`. Interviews created with a test key
complete without a candidate.
"""


class ErrorSchema(ma.Schema):
    """The default error. For invalid input ``errors`` is keyed by location and field."""

    code = ma.fields.Integer(metadata={"description": "Status code."})
    status = ma.fields.String(metadata={"description": "Name of the status code."})
    message = ma.fields.String(metadata={"description": "What is wrong, in one sentence."})
    errors = ma.fields.Dict(metadata={"description": "Invalid input, by location and field."})


class ErrorResponseSchema(ma.Schema):
    """A documented error of one status."""

    class Meta:
        """Further facts such as ``errors`` may be beside the three."""

        unknown = ma.INCLUDE

    code = ma.fields.Integer(required=True, metadata={"description": "Status code."})
    status = ma.fields.String(required=True, metadata={"description": "Name of the status code."})
    message = ma.fields.String(required=True, metadata={"description": "What is wrong, in one sentence."})


ALWAYS = {
    401: "The API key is missing, malformed, unknown or revoked.",
    429: "Too many requests for this key or IP address. `Retry-After` says when to continue.",
    500: "An internal error.",
    503: "The service, or something that it needs, is not available. `Retry-After` says when to try again.",
}
WITH_PATH = {
    404: "There is nothing at this URL, for example because an id is empty.",
    405: "This URL does not support this method.",
}
WITH_INPUT = {
    403: "Something named in the request belongs to another organization.",
    422: "The input is invalid, or something named in the path or body does not exist.",
}
WITH_BODY = {
    400: "The body is not JSON, is nested too deeply, or contains a number that is too long.",
    413: "The body is too large.",
    415: "The content type of the body is not application/json, or the body is compressed.",
}
TO_REPEAT = {
    409: "The first request with this `Idempotency-Key` is still running. `Retry-After` says when to repeat it.",
}
HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-Id": {"schema": {"type": "string"}, "description": "Id of this request, as logged by the service."},
    "X-RateLimit-Limit": {"schema": {"type": "integer"}, "description": "Requests allowed per minute."},
    "X-RateLimit-Remaining": {"schema": {"type": "integer"}, "description": "Requests left in this minute."},
    "X-RateLimit-Reset": {
        "schema": {"type": "integer"},
        "description": "When the limit resets, in Unix seconds.",
    },
    "Idempotent-Replayed": {
        "schema": {"type": "string", "const": "true"},
        "description": "Present when this is the response to an earlier request with this `Idempotency-Key`.",
    },
    "WWW-Authenticate": {"schema": {"type": "string", "const": "Bearer"}, "description": "How to authenticate."},
    "Warning": {
        "schema": {"type": "string"},
        "description": "What was changed in a request written for the original service (COMPATIBLE_INPUT).",
    },
    "Retry-After": {
        "schema": {"type": "integer", "minimum": 0},
        "description": "Seconds to wait before you try again.",
    },
    "X-Parley-Error": {
        "schema": {"$ref": "#/components/schemas/ErrorCode"},
        "description": "Code of the error, for programs.",
    },
}
"""Headers of answers, by name; components of the document."""
ON_ALL = ("X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
ON_SOME = {401: ("WWW-Authenticate",), 409: ("Retry-After",), 429: ("Retry-After",), 503: ("Retry-After",)}


def extension(operation_id: str) -> dict[str, Any]:
    """What ``doc`` takes for an operation that the contract does not have: its name, and the mark of an extension."""
    return {"operationId": operation_id, "x-parley-extension": True}


FULL_SHAPE = frozenset({403, 422, 500})
"""Documented per status by the interface, so all three fields are promised; others have the default shape."""


def answers_of(operation: dict[str, Any], method: str, path: str) -> dict[int, str]:
    """The failures an operation can answer, from what it takes."""
    answers = dict(ALWAYS)
    if "{" in path:
        answers |= WITH_PATH
    if operation.get("parameters") or operation.get("requestBody") or "{" in path:
        answers |= WITH_INPUT
    if operation.get("requestBody"):
        answers |= WITH_BODY
    if method == "post":
        answers |= TO_REPEAT
    return answers


class StandardAnswers(BasePlugin):
    """Adds the failures to every operation, by reference. What an endpoint declared itself keeps its words."""

    def operation_helper(self, path: str | None = None, operations: Any = None, **_: Any) -> None:
        for method, operation in (operations or {}).items():
            if method not in {"get", "post", "put", "patch", "delete"}:
                continue
            answers = operation.setdefault("responses", {})
            own = {int(code): one for code, one in answers.items() if isinstance(one, dict) and int(code) >= 400}
            for code in own.keys() | answers_of(operation, method, path or ""):
                answers.pop(code, None)
                answers[str(code)] = failure(code, own[code]["description"]) if code in own else _NAMES[code]
            operation["responses"] = dict(sorted(answers.items(), key=lambda item: str(item[0])))
            for code, answer in operation["responses"].items():
                if isinstance(answer, dict) and int(code) < 400:  # else it is the name of a component, or has them
                    repeated = ("Idempotent-Replayed",) if method == "post" and int(code) == 200 else ()
                    _add_headers(answer, *ON_ALL, *repeated)
            if method == "post":
                operation.setdefault("parameters", []).append(IDEMPOTENCY_KEY)


IDEMPOTENCY_KEY = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "description": "Makes it safe to repeat the request for 24 hours.",
}


_STANDARD = ALWAYS | WITH_PATH | WITH_INPUT | WITH_BODY | TO_REPEAT
_NAMES = {code: HTTP_STATUS_CODES[code].title().replace(" ", "") for code in _STANDARD}


def failure(code: int, words: str) -> dict[str, Any]:
    """A failure with this status, as the document describes it."""
    schema = "ErrorResponse" if code in FULL_SHAPE else "Error"
    example = {"code": code, "status": HTTP_STATUS_CODES[code], "message": words.replace("`", "")}
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}, "example": example}}
    answer = {"description": words, "content": content}
    _add_headers(answer, *ON_ALL, *ON_SOME.get(code, ()), "X-Parley-Error")
    return answer


def _add_headers(answer: dict[str, Any], *names: str) -> None:
    answer["headers"] = {**answer.get("headers", {}), **{name: header(name) for name in names}}


def header(name: str) -> dict[str, str]:
    """The header ``name`` of ``HEADERS``, for an answer that declares it."""
    return {"$ref": f"#/components/headers/{name}"}


def options(app_url: str) -> dict[str, Any]:
    """Top of the document."""
    return {
        "info": {"description": DESCRIPTION, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        "servers": [{"url": app_url}],
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "UUID"}},
            "headers": HEADERS,
        },
        "security": [{"bearer": []}],
    }


def server(app_url: str, *, asked_at: str) -> str:
    """The address under which the caller of the document reaches Parley: APP_URL, unless it came by another host.

    Both are addresses without a slash at the end. Behind a proxy that is not trusted only APP_URL knows about TLS.
    """
    return app_url if urlsplit(asked_at).netloc == urlsplit(app_url).netloc else asked_at


def describe(document: APISpec) -> None:
    """The interface's error of one status, and the codes. flask-smorest has registered Error, and a shape of pages."""
    document.components.schema("ErrorResponse", schema=ErrorResponseSchema)
    for code, words in _STANDARD.items():
        document.components.response(_NAMES[code], failure(code, words))
    document.components.schema("ErrorCode", error_codes.schema())
    document.components.schemas.pop("PaginationMetadata", None)


def choice_by_name(self: Any, field: Any, ret: dict[str, Any]) -> dict[str, Any]:
    """Documents ``Choice``: its words get a name of their own, so that clients which are made from the document have
    one type for them, wherever they are used. ``self`` is apispec's converter."""
    if not isinstance(field, Choice):
        return {}
    shapes = self.spec.components.schemas
    if field.called not in shapes:
        self.spec.components.schema(field.called, {"type": "string", "enum": list(field.words)})
    if shapes[field.called]["enum"] != list(field.words):
        raise ValueError(f"{field.called} stands for other words elsewhere")
    ret.pop("type", None)
    reference: dict[str, Any] = self.spec.components.get_ref("schema", field.called)
    if field.allow_none:
        return {"anyOf": [reference, {"type": "null"}]}
    return {"allOf": [reference]} if ret else reference  # some generators read nothing beside a reference


def constant(self: Any, field: Any, ret: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - as apispec calls it
    """Documents a value that is always the same. ``self`` is apispec's converter."""
    return {"const": field.constant} if isinstance(field, ma.fields.Constant) else {}


def without_defaults(shapes: dict[str, Any]) -> None:
    """Move defaults of fields into their descriptions, in place: the server fills them in.

    Of a field with a default generators make one that has to be given (openapi-typescript), or one that clients
    fill in themselves, which would freeze the default of the day. Parameters keep theirs.
    """
    for shape in shapes.values():
        for field in shape.get("properties", {}).values():
            default = field.pop("default", None)
            if default is not None and "const" not in field:
                shown = default if isinstance(default, str) else json.dumps(default)
                field["description"] = f"{field['description']} Default: `{shown}`."


def shapes_by_name(self: Any, field: Any, ret: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - as apispec calls it
    """Documents ``AnyOf``, in the order of its shapes. ``self`` is apispec's converter."""
    if not isinstance(field, AnyOf):
        return {}
    return {"anyOf": [*(self.resolve_nested_schema(shape) for shape in field.shapes), {"type": "null"}]}
