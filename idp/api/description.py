"""The OpenAPI 3.1 description of the management API, built from the operations that the server
mounts."""

from __future__ import annotations

from typing import Any, Final

from idp import __version__
from idp.api import OPERATIONS, PARTS, examples
from idp.api.error_body import CATALOGUE, ErrorBody
from idp.api.json_schema import Schemas
from idp.api.operation import Operation
from idp.changes.repeatable_calls import MAX_KEY_CHARACTERS
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
    "Requests and answers are strict JSON. Names are in camelCase, and accepted in snake_case"
    " too. An unknown field is refused, and an answer lists all errors of a request by JSON"
    " path. Fields with their default value are left out of answers. 64-bit integers are"
    " strings, timestamps are in RFC 3339 and UTC, and durations have the format of Go."
)

# Every error that a call can be answered with, by its status. Those of `_OPERATION_SPECIFIC` are
# listed only for some operations.
REFUSALS: Final[dict[int, tuple[str, str]]] = {
    400: (
        "BadRequest",
        "The request has an invalid value, or the state of the record doesn't allow it.",
    ),
    401: ("Unauthenticated", "There is no token, or it isn't valid."),
    403: ("PermissionDenied", "The caller's roles do not have the permission."),
    404: ("NotFound", "The record doesn't exist, or the caller may not know that it exists."),
    409: ("AlreadyExists", "A name, an id or an Idempotency-Key is taken."),
    412: ("PreconditionFailed", "The record has changed: it has another ETag now."),
    413: ("ContentTooLarge", "The body is too large."),
    415: ("UnsupportedMediaType", "The body is not application/json."),
    421: ("MisdirectedRequest", "The request was sent to a host other than the issuer's."),
    429: ("TooManyRequests", "Too many requests: send it again later."),
    431: ("HeadersTooLarge", "The headers are too large."),
    500: ("Internal", "The service failed."),
    503: ("Unavailable", "The service is busy, or its store can't be reached: send it again."),
}
_OPERATION_SPECIFIC: Final = {409, 412, 413, 415}
_EXTRA_HEADERS: Final = {401: ["WWW-Authenticate"], 429: ["Retry-After"], 503: ["Retry-After"]}


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
            operation_object = _operation(each, part, schemas)
            paths.setdefault(each.path, {})[each.method.lower()] = operation_object
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
    applicable = {409: operation.method != "GET", 412: operation.is_conditional}
    applicable |= dict.fromkeys((413, 415), operation.request is not None)  # these concern a body
    return [
        status for status in REFUSALS if applicable.get(status, status not in _OPERATION_SPECIFIC)
    ]


def _operation(operation: Operation, part: str, schemas: Schemas) -> dict[str, Any]:
    responses = {"200": _success_response(operation, schemas)} | {
        str(status): {"$ref": _RESPONSES + REFUSALS[status][0]} for status in statuses(operation)
    }
    operation_object = {
        "operationId": operation.name,
        "tags": [part],
        "summary": operation.summary,
        "description": f"Needs the permission `{operation.permission}`{_requirement(operation)}.",
        "x-permission": operation.permission,
        "parameters": [
            *_parameters(operation),
            *(schemas.query(operation.query) if operation.query else ()),
        ],
        "responses": responses,
    }
    if operation.request is not None:
        content = {
            "schema": schemas.of(operation.request),
            "example": examples.body(operation.request),
        }
        operation_object["requestBody"] = {"required": True, "content": {_JSON: content}}
    return operation_object


def _requirement(operation: Operation) -> str:
    """Returns the end of a sentence about the permission: what else the caller needs, or
    nothing."""
    return ", and a service user's personal access token" if operation.is_for_services else ""


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    parameter_names = ["Organization"]
    if operation.method != "GET":
        parameter_names.append("IdempotencyKey")
    if operation.is_conditional:
        parameter_names.append("IfMatch")
    text = {"type": "string", "minLength": 1, "maxLength": MAX_ID_CHARACTERS}
    return [
        *(
            {"name": name, "in": "path", "required": True, "schema": text}
            for name in operation.parameters
        ),
        *({"$ref": _PARAMETERS + name} for name in parameter_names),
    ]


def _success_response(operation: Operation, schemas: Schemas) -> dict[str, Any]:
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


def _error_response(status: int, schemas: Schemas) -> dict[str, Any]:
    headers = ["X-Request-Id", *_EXTRA_HEADERS.get(status, ())]
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
                "The ID of the organization that the call acts in. The default is the caller's"
                " own, or that of the record in the path.",
                {"type": "string", "maxLength": MAX_ID_CHARACTERS},
            ),
            "IdempotencyKey": _header(
                "Idempotency-Key",
                "A call is carried out once a day under the same key, however often it is"
                " sent; a repeated call gets the first answer again.",
                {"type": "string", "pattern": f"^[ -~]{{1,{MAX_KEY_CHARACTERS}}}$"},
            ),
            "IfMatch": _header(
                "If-Match",
                "The ETag of the state to change; if the record has another one, nothing is"
                " changed.",
                {"type": "string", "pattern": IF_MATCH, "examples": ['"7"']},
            ),
        },
        "responses": {
            REFUSALS[status][0]: _error_response(status, schemas) for status in REFUSALS
        },
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
        "X-Request-Id": "The ID of the request in the log.",
        "ETag": "The state of the record in the answer: its `sequence`, in quotes.",
        "Idempotency-Replayed": "`true` if the answer is that of an earlier call.",
        "WWW-Authenticate": "The problem with the token (RFC 6750).",
        "Retry-After": "After how many seconds to send the request again.",
    }
    return {
        name: {"description": text, "schema": {"type": "string"}}
        for name, text in descriptions.items()
    }
