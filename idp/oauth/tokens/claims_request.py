"""The parameter `claims` (OpenID Connect Core 5.5), by which a client requests individual claims.

Parts of it that cannot be used are ignored and are not an error, because every claim is voluntary
for the provider.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct

from idp.foundation import strict_json
from idp.foundation.errors import InvalidArgument
from idp.oauth.tokens import standard_claims
from idp.records import AuthRequest


class RequestedClaim(Struct, frozen=True, omit_defaults=True):
    """The requirements on one requested claim.

    The value `null` in the parameter requests the claim without requirements, as the defaults are.
    """

    essential: bool = False
    value: Any = None
    values: list[Any] = []

    @property
    def choice(self) -> list[Any]:
        """The values that the client prefers, the best one first; empty when it accepts any."""
        return self.values if self.value is None else [self.value]


class ClaimsRequest(Struct, frozen=True, omit_defaults=True):
    """The claims that are requested from userinfo and in the ID token, by their names."""

    userinfo: dict[str, RequestedClaim] = {}
    id_token: dict[str, RequestedClaim] = {}


NOTHING: Final = ClaimsRequest()


def read(text: str | None) -> ClaimsRequest:
    """Parses the parameter. Returns the requested claims without what cannot be used; raises
    nothing."""
    try:
        sent = strict_json.decode(text.encode()) if text else None
    except InvalidArgument:
        return NOTHING
    if not isinstance(sent, dict):
        return NOTHING
    return ClaimsRequest(_claims(sent.get("userinfo")), _claims(sent.get("id_token")))


def _claims(sent: object) -> dict[str, RequestedClaim]:
    if not isinstance(sent, dict):
        return {}
    return {
        name: _requested_claim(member)
        for name, member in sent.items()
        if member is None or isinstance(member, dict)
    }


def _requested_claim(member: dict[str, Any] | None) -> RequestedClaim:
    member = member or {}
    values = member.get("values")
    return RequestedClaim(
        essential=member.get("essential") is True,
        value=member.get("value"),
        values=values if isinstance(values, list) else [],
    )


def beyond_scopes(request: AuthRequest) -> set[str]:
    """Returns the claims that a request names in `claims` and that its scopes do not release."""
    requested = stored(request.claims)
    names = {*requested.userinfo, *requested.id_token} & set(standard_claims.SUPPORTED)
    # `sub` is in every ID token and in every userinfo response, so it needs no consent.
    return names - {"sub"} - standard_claims.names_of(request.scopes)


def write(request: ClaimsRequest) -> str | None:
    """Returns the requested claims as text to store, or None if there are none."""
    return msgspec.json.encode(request).decode() if request != NOTHING else None


def stored(text: str | None) -> ClaimsRequest:
    """Returns the requested claims in a text that `write` returned; no claims for None."""
    return msgspec.json.decode(text, type=ClaimsRequest) if text else NOTHING
