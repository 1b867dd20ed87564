"""Rules for fields that only applications have."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from msgspec import Struct

from idp.foundation import durations
from idp.oauth.tokens import standard_claims
from idp.schema.field_rules import FieldRefused, Schema, Text

MAX_CLOCK_SKEW: Final = timedelta(seconds=5)
_CLAIM: Final = re.compile(r"[A-Za-z0-9_.:/-]*")

# Claims with a standard meaning (RFC 7519, 7662, 8693, 9068, OpenID Connect Core): an
# application's claim of groups must not replace one of them.
_RESERVED_CLAIMS: Final = frozenset(standard_claims.SUPPORTED) | {
    *("iss", "sub", "aud", "exp", "nbf", "iat", "jti", "act", "may_act", "scope", "client_id"),
    *("auth_time", "nonce", "acr", "amr", "azp", "at_hash", "c_hash", "s_hash", "sid", "cnf"),
    *("active", "username", "token_type", "events", "profile", "picture", "website", "gender"),
    *("birthdate", "_claim_names", "_claim_sources"),
}


class ClockSkew(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds a duration in the notation of Go, in
    whole seconds, which are read as a number."""

    def read(self, value: object) -> int:
        text = Text().read(value)
        try:
            skew = durations.parse(text)
        except ValueError:
            skew = timedelta.max
        if skew > MAX_CLOCK_SKEW or skew.microseconds:
            raise FieldRefused("app.clock_skew", "must be whole seconds from 0s to 5s")
        return int(skew.total_seconds())

    def schema(self) -> Schema:
        return Text().schema() | {"description": "Seconds, from 0s to 5s.", "examples": ["5s"]}


class ClaimName(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds the name of an additional claim, which
    must be none that this service's tokens have already; or an empty text."""

    def read(self, value: object) -> str:
        name = Text().read(value)
        if not _CLAIM.fullmatch(name):
            raise FieldRefused("app.groups_claim.characters", "is not a claim name such as groups")
        if name in _RESERVED_CLAIMS or name.startswith(("urn:", "__")):
            raise FieldRefused("app.groups_claim.taken", "is a reserved claim")
        return name

    def schema(self) -> Schema:
        return Text().schema() | {"examples": ["groups"]}


class NoLoginUri(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field for the address of an application's own sign-in
    pages, which are not supported: it refuses any address."""

    def read(self, value: object) -> str:
        if Text(max=2048).read(value):
            text = "is not supported: users sign in at this service's own pages"
            raise FieldRefused("app.login_version.base_uri", text)
        return ""

    def schema(self) -> Schema:
        return {"const": "", "description": "Not supported yet."}
