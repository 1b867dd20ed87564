"""The OpenAPI 3.1 description of the management API, built from the operations that the server
mounts."""

from __future__ import annotations

from typing import Any, Final

from idp import __version__
from idp.api import OPERATIONS, PARTS, examples
from idp.api.error_body import CATALOGUE, ErrorBody
from idp.api.json_schema import Schemas
from idp.api.operation import Operation
from idp.management.idempotency import MAX_KEY_CHARACTERS
from storage import MAX_ID_CHARACTERS

DESCRIPTION: Final = "/openapi.json"
DOCUMENTATION: Final = "/docs"
IF_MATCH: Final = r'^(\*|"(0|[1-9][0-9]{0,18})")$'
_JSON: Final = "application/json"
_LINES: Final = "application/x-ndjson"
_PARAMETERS: Final = "#/components/parameters/"
_RESPONSES: Final = "#/components/responses/"
_HEADERS: Final = "#/components/headers/"
ABOUT: Final = (
    "Strict JSON in, JSON out. Names are camelCase, and taken in snake_case too; a field that is"
    " not known is refused, and everything that is wrong is told at once, by JSON path. What has"
    " its default value is left out of answers. 64-bit integers are strings, instants RFC 3339 in"
    " UTC, durations as Go writes them."
)

# Every error that a call can be answered with, by its status; `_OF_SOME` are those that only some
# calls have.
REFUSALS: Final[dict[int, tuple[str, str]]] = {
    400: ("BadRequest", "Something in the request can't be used, or its state does not allow it."),
    401: ("Unauthenticated", "No token, or one that does not count."),
    403: ("PermissionDenied", "The caller's roles do not have the permission."),
    404: ("NotFound", "There is no such thing, or the caller may not know that there is."),
    409: ("AlreadyExists", "A name, an id or an Idempotency-Key is taken."),
    412: ("PreconditionFailed", "It has changed since: another ETag counts now."),
    413: ("ContentTooLarge", "The body is too large."),
    415: ("UnsupportedMediaType", "The body is not application/json."),
    421: ("MisdirectedRequest", "The request was sent to another host than the issuer's."),
    429: ("TooManyRequests", "Too often: come again later."),
    431: ("HeadersTooLarge", "The headers are too large."),
    500: ("Internal", "Something failed on the side of the service."),
    503: ("Unavailable", "The service is busy, or its store can't be reached: come again."),
}
_OF_SOME: Final = {409, 412, 413, 415}
_ANNOUNCED: Final = {401: ["WWW-Authenticate"], 429: ["Retry-After"], 503: ["Retry-After"]}


def document(vendor: str, issuer: str) -> dict[str, Any]:
    """Returns the OpenAPI document of this service.

    `vendor` is part of the name of the header x-<vendor>-orgid. `issuer` is the address of the
    service.
    """
    schemas = Schemas(
        [each.request for each in OPERATIONS if each.request is not None],
        [*(each.answer for each in OPERATIONS), ErrorBody],
    )
    paths: dict[str, Any] = {}
    for part, operations in PARTS.items():
        for each in operations:
            described = _operation(each, part, schemas)
            paths.setdefault(each.path, {})[each.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "Management API", "version": __version__, "description": ABOUT},
        "externalDocs": {"url": f"{issuer}{DOCUMENTATION}"},
        "servers": [{"url": issuer}],
        "security": [{"bearer": []}],
        "tags": [{"name": part} for part in PARTS],
        "paths": paths,
        "components": _components(schemas, vendor, issuer),
    }


def statuses(operation: Operation) -> list[int]:
    """Returns the HTTP statuses of the errors that the description lists for the operation."""
    own = {409: operation.method != "GET", 412: operation.is_conditional}
    own |= dict.fromkeys((413, 415), operation.request is not None)  # these concern a body
    return [status for status in REFUSALS if own.get(status, status not in _OF_SOME)]


def _operation(operation: Operation, part: str, schemas: Schemas) -> dict[str, Any]:
    answers = {"200": _done(operation, schemas)} | {
        str(status): {"$ref": _RESPONSES + REFUSALS[status][0]} for status in statuses(operation)
    }
    described = {
        "operationId": operation.name,
        "tags": [part],
        "summary": operation.summary,
        "description": f"Needs the permission `{operation.permission}`{_requirement(operation)}.",
        "x-permission": operation.permission,
        "parameters": [
            *_parameters(operation),
            *(schemas.query(operation.query) if operation.query else ()),
        ],
        "responses": answers,
    }
    if operation.request is not None:
        content = {
            "schema": schemas.of(operation.request),
            "example": examples.body(operation.request),
        }
        described["requestBody"] = {"required": True, "content": {_JSON: content}}
    return described


def _requirement(operation: Operation) -> str:
    """Returns the end of a sentence about the permission: what else the caller needs, or
    nothing."""
    return ", and a service user's personal access token" if operation.is_for_services else ""


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    named = ["Organization"]
    if operation.method != "GET":
        named.append("IdempotencyKey")
    if operation.is_conditional:
        named.append("IfMatch")
    text = {"type": "string", "minLength": 1, "maxLength": MAX_ID_CHARACTERS}
    return [
        *(
            {"name": name, "in": "path", "required": True, "schema": text}
            for name in operation.parameters
        ),
        *({"$ref": _PARAMETERS + name} for name in named),
    ]


def _done(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    headers = ["X-Request-Id", "ETag"]
    if operation.method != "GET":
        headers.append("Idempotency-Replayed")
    return {
        "description": "Done.",
        "headers": {name: {"$ref": _HEADERS + name} for name in headers},
        "content": {
            _JSON: {"schema": schemas.of(operation.answer)},
            **({_LINES: {"schema": {"type": "string"}}} if operation.lines else {}),
            **{name: {"schema": {"type": "string"}} for name in operation.formats},
        },
    }


def _refusal(status: int, schemas: Schemas) -> dict[str, Any]:
    headers = ["X-Request-Id", *_ANNOUNCED.get(status, ())]
    return {
        "description": REFUSALS[status][1],
        "headers": {name: {"$ref": _HEADERS + name} for name in headers},
        "content": {_JSON: {"schema": schemas.of(ErrorBody)}},
    }


def _components(schemas: Schemas, vendor: str, issuer: str) -> dict[str, Any]:
    return {
        "schemas": schemas.components,
        "parameters": {
            "Organization": _header(
                f"x-{vendor}-orgid",
                "The id of the organization that the call acts in; otherwise the caller's own, or"
                " the one of what the call names.",
                {"type": "string", "maxLength": MAX_ID_CHARACTERS},
            ),
            "IdempotencyKey": _header(
                "Idempotency-Key",
                "Under the same key a call is carried out once a day, however often it is sent;"
                " whoever repeats it gets the first answer again.",
                {"type": "string", "pattern": f"^[ -~]{{1,{MAX_KEY_CHARACTERS}}}$"},
            ),
            "IfMatch": _header(
                "If-Match",
                "The ETag of the state that is to be changed; in any other nothing is done.",
                {"type": "string", "pattern": IF_MATCH, "examples": ['"7"']},
            ),
        },
        "responses": {REFUSALS[status][0]: _refusal(status, schemas) for status in REFUSALS},
        "headers": _headers(),
        "securitySchemes": {
            "bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "A personal access token, or an access token with the issuer"
                f" {issuer} in its audience.",
            }
        },
        "x-errors": f"{issuer}{CATALOGUE}",
    }


def _header(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": description, "schema": schema}


def _headers() -> dict[str, Any]:
    descriptions = {
        "X-Request-Id": "By which name the log knows the request.",
        "ETag": "The state that the answer tells of: its `sequence`, in quotes.",
        "Idempotency-Replayed": "`true` where the answer is that of an earlier call.",
        "WWW-Authenticate": "What is wrong with the token (RFC 6750).",
        "Retry-After": "After how many seconds to come again.",
    }
    return {
        name: {"description": text, "schema": {"type": "string"}}
        for name, text in descriptions.items()
    }
