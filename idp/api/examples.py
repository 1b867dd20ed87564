"""Builds an example body for each call, for the documentation: its required fields, or the first
few if none is required.

An id in an example has to be replaced by that of an existing record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, get_args, get_origin

from idp.management.connections.create import FORMS
from idp.management.connections.forms import GenericOidcForm, GitlabSelfHostedForm
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
    "text": "An account at {{.Application}} uses this email.",
    "title": "Confirm your address",
    "urlTemplate": "https://acme.example/verify?user={{.UserID}}&code={{.Code}}",
    "userName": "ada",
    "username": "ada",
    "verificationCode": "K7PMQX",
    "warnColor": "#b3261e",
}
_CONNECTION: Final = {
    "name": "Acme staff",
    "clientId": "231543543215423491",
    "clientSecret": "the client secret that the provider has given to this service",
}
# Bodies whose fields are only valid together.
_BODIES: Final[Mapping[type[Request], Mapping[str, object]]] = {
    **{form: _CONNECTION for form in FORMS.values()},
    GenericOidcForm: {**_CONNECTION, "issuer": "https://login.acme.example"},
    GitlabSelfHostedForm: {**_CONNECTION, "issuer": "https://git.acme.example"},
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
_OMITTED: Final = {"grantTypes", "publicKey", "responseTypes", "sendCode", "sendLink"}


def body(kind: type[Request]) -> Mapping[str, object]:
    """Returns an example body for the request struct `kind`, as a JSON object."""
    return _BODIES.get(kind) or {field.wire_name: _value(field) for field in _included(kind)}


def _included(kind: type[Request]) -> list[DeclaredField]:
    """Returns the fields that an example contains: the required ones, or, if there are none, the
    first few that can be sent together."""
    fields = declared(kind)
    if any(field.is_required for field in fields):
        return [each for each in fields if each.is_required or each.wire_name in _ALWAYS_INCLUDED]
    return list(_compatible(kind, fields))[:_MAX_FIELDS]


def _compatible(kind: type[Request], fields: tuple[DeclaredField, ...]) -> Iterator[DeclaredField]:
    # Of fields that exclude each other, an example has the first.
    excluded = {name for group in kind.one_of for name in group[1:]}
    for field in fields:
        is_omitted = field.name in excluded or field.wire_name in _OMITTED
        if not is_omitted and not isinstance(field.rule, NotYet):
            yield field


def _value(field: DeclaredField) -> object:
    if field.wire_name in _VALUES:
        return _VALUES[field.wire_name]
    if field.is_list:
        return [_value(field.element)]
    if field.rule is not None:
        return _schema_example(field, field.rule.schema())
    if get_origin(field.type) is Literal:
        return get_args(field.type)[0]
    return True if field.type is bool else body(field.type)


def _schema_example(field: DeclaredField, schema: Mapping[str, Any]) -> object:
    """Returns an example that the schema contains, or else a text or a number that it accepts."""
    if "anyOf" in schema:
        return _schema_example(field, schema["anyOf"][0])
    if "const" in schema:
        return schema["const"]
    for keyword in ("examples", "enum"):
        if keyword in schema:
            return schema[keyword][0]
    if schema["type"] == "integer":
        return field.default if isinstance(field.default, int) else schema["minimum"]
    return _ID if field.wire_name.endswith(("Id", "Ids")) else "Example"
