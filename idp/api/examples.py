"""Builds an example body for each call, for the documentation: its required fields, or the first
few if none is required.

An id in an example has to be replaced by that of an existing record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, get_args, get_origin

from idp.management.policies.login_texts import LoginTextEntry
from idp.schema.field_rules import NotYet
from idp.schema.reading import DeclaredField, Request, declared
from idp.transfer.calls.exports import Export
from idp.transfer.calls.imports import Import

_MAX_FIELDS: Final = 4
_ID: Final = "231543543215423491"

# Values by the name of the field; all others are derived from the field's rule.
_VALUES: Final[Mapping[str, object]] = {
    "backgroundColor": "#ffffff",
    "buttonText": "Confirm",
    # A grey pixel.
    "content": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNo"
    "AAAAggCB2kUIOwAAAABJRU5ErkJggg==",
    "description": "Copies the orders every night",
    "displayName": "Ada Lovelace",
    "domain": "acme.example",
    "domainName": "acme.example",
    "familyName": "Lovelace",
    "firstName": "Ada",
    "fontColor": "#1a2233",
    "formatted": "Main Street 1, 8000 Zurich",
    "givenName": "Ada",
    "greeting": "Hello,",
    "group": "customers",
    "key": "department",
    "lastName": "Lovelace",
    "name": "Acme",
    "nickName": "Countess",
    "password": "horse staple battery",
    "primaryColor": "#2b4fc7",
    "queries": [],
    "query": {"limit": 100},
    "roleKey": "buyer",
    "roleKeys": ["buyer"],
    "subject": "Is this your address?",
    "text": "Somebody gave this address at {{.Application}}.",
    "title": "Confirm your address",
    "urlTemplate": "https://acme.example/verify?user={{.UserID}}&code={{.Code}}",
    "userName": "ada",
    "username": "ada",
    "verificationCode": "K7PMQX",
    "warnColor": "#b3261e",
}
# Bodies whose fields are only valid together.
_WHOLE: Final[Mapping[type[Request], Mapping[str, object]]] = {
    Export: {"withPasswords": True, "withOtp": True, "timeout": "30m"},
    Import: {
        "dataOrgs": {"orgs": [{"orgId": "acme", "org": {"name": "Acme"}}]},
        "timeout": "30m",
        "dryRun": True,
    },
    LoginTextEntry: {"screen": "login-name", "key": "Sign in", "text": "Welcome to Acme"},
}
# Optional fields that every example shows, and fields that none shows although they come first.
_ALWAYS_INCLUDED: Final = {"redirectUris"}
_NEEDLESS: Final = {"grantTypes", "publicKey", "responseTypes", "sendCode", "sendLink"}


def body(kind: type[Request]) -> Mapping[str, object]:
    """Returns an example body for the request struct `kind`, as a JSON object."""
    return _WHOLE.get(kind) or {field.wire_name: _value(field) for field in _included(kind)}


def _included(kind: type[Request]) -> list[DeclaredField]:
    """Returns the fields that an example contains: the required ones, or, if there are none, the
    first few that can be sent together."""
    fields = declared(kind)
    if any(field.is_required for field in fields):
        return [each for each in fields if each.is_required or each.wire_name in _ALWAYS_INCLUDED]
    return list(_together(kind, fields))[:_MAX_FIELDS]


def _together(kind: type[Request], fields: tuple[DeclaredField, ...]) -> Iterator[DeclaredField]:
    # Of fields that exclude each other the first is shown.
    left_out = {name for group in kind.one_of for name in group[1:]}
    for field in fields:
        is_needless = field.name in left_out or field.wire_name in _NEEDLESS
        if not is_needless and not isinstance(field.rule, NotYet):
            yield field


def _value(field: DeclaredField) -> object:
    if field.wire_name in _VALUES:
        return _VALUES[field.wire_name]
    if field.is_list:
        return [_value(field.element)]
    if field.rule is not None:
        return _of_schema(field, field.rule.schema())
    if get_origin(field.type) is Literal:
        return get_args(field.type)[0]
    return True if field.type is bool else body(field.type)


def _of_schema(field: DeclaredField, schema: Mapping[str, Any]) -> object:
    """Returns an example that the schema contains, or else a text or a number that it accepts."""
    if "anyOf" in schema:
        return _of_schema(field, schema["anyOf"][0])
    if "const" in schema:
        return schema["const"]
    for several in ("examples", "enum"):
        if several in schema:
            return schema[several][0]
    if schema["type"] == "integer":
        return field.default if isinstance(field.default, int) else schema["minimum"]
    return _ID if field.wire_name.endswith(("Id", "Ids")) else "Example"
