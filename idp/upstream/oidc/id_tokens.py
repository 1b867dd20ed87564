"""ID tokens of other providers: their signature and claims (OpenID Connect Core 1.0 section
3.1.3.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from msgspec import Struct

from idp.foundation import base64url, opaque_tokens, strict_json
from idp.foundation.errors import InvalidArgument
from idp.keys import jws
from idp.keys.algorithms import ALGORITHMS
from idp.outgoing import documents
from idp.records.connections import GenericOidcSettings, ProviderConnection
from idp.service import Service
from idp.upstream.oidc import key_sets, provider
from idp.upstream.oidc.key_sets import UpstreamKey
from idp.upstream.oidc.provider import Provider
from idp.upstream.presets.addresses import AZURE_ANY_TENANT
from idp.upstream.refused import UpstreamRefused

SKEW_SECONDS: Final = 60
MAX_SUBJECT: Final = 255
_MAX_AGE_SECONDS: Final = 24 * 3600
_MAX_CHARACTERS: Final = 64 * 1024
_REFETCH_AGE: Final = timedelta(
    minutes=1
)  # a key set is not fetched more often for an unknown key


class Expected(Struct, frozen=True):
    """The expected contents of an ID token: the nonce of the request, and the hash of the access
    token in `at_hash` if one came with it."""

    nonce: str
    access_token: str | None = None


class _Token(Struct, frozen=True):
    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    signing_input: bytes
    signature: bytes


async def verify(
    service: Service,
    connection: ProviderConnection,
    token_provider: Provider,
    token: object,
    expected: Expected,
) -> Mapping[str, Any]:
    """Returns the claims of an ID token that the provider has signed for this connection. Raises
    UpstreamRefused."""
    parsed = _parse(token)
    algorithm = parsed.header.get("alg")
    if algorithm not in algorithms(connection):
        _refuse("id_token_signed", f"alg is {_excerpt(algorithm)}, which is not among the allowed")
    await _check_signature(service, token_provider, parsed, str(algorithm))
    _check_issuer(token_provider, parsed.claims)
    _check_audience(connection, parsed.claims)
    _check_times(service, parsed.claims)
    _check_bindings(parsed.claims, str(algorithm), expected)
    _check_subject(parsed.claims)
    return parsed.claims


def _refuse(check: Any, details: str) -> None:
    raise UpstreamRefused(check, f"the ID token: {details}")


def _excerpt(value: object) -> str:
    return repr(value)[:100]


def algorithms(connection: ProviderConnection) -> Sequence[str]:
    """Returns the algorithms by which the ID tokens of a connection's provider may be signed."""
    settings = connection.settings
    if isinstance(settings, GenericOidcSettings):
        return settings.id_token_algorithms
    return tuple(ALGORITHMS)


def _parse(token: object) -> _Token:
    parts = token.split(".") if isinstance(token, str) and len(token) <= _MAX_CHARACTERS else []
    if len(parts) != 3:
        raise UpstreamRefused("id_token_signed", "the ID token is no signed JWT")
    try:
        header, claims = (_decoded(each) for each in parts[:2])
        signature = base64url.decode(parts[2])
    except (ValueError, InvalidArgument):
        raise UpstreamRefused("id_token_signed", "the ID token is malformed") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise UpstreamRefused("id_token_signed", "the ID token is malformed")
    # Critical extensions (RFC 7515 4.1.11), none of which is supported.
    if "crit" in header or "b64" in header or "zip" in header:
        raise UpstreamRefused("id_token_signed", "the ID token uses an extension of JWS")
    return _Token(header, claims, f"{parts[0]}.{parts[1]}".encode(), signature)


def _decoded(part: str) -> object:
    return strict_json.decode(base64url.decode(part), max_values=documents.MAX_VALUES)


async def _check_signature(
    service: Service, token_provider: Provider, token: _Token, algorithm: str
) -> None:
    """Checks the signature with the key that the header names. The keys are fetched again if none
    has this name: the provider may have new ones."""
    key_id = token.header.get("kid")
    keys = key_sets.read(await provider.key_set(service, token_provider))
    matching_keys = _matching_keys(keys, token, algorithm)
    if not matching_keys:
        keys = key_sets.read(await provider.key_set(service, token_provider, _REFETCH_AGE))
        matching_keys = _matching_keys(keys, token, algorithm)
    if len(matching_keys) != 1:
        count = len(matching_keys)
        details = f"{count} keys of the provider fit alg {algorithm}, kid {_excerpt(key_id)}"
        _refuse("id_token_signed", details)
    try:
        ALGORITHMS[algorithm].verify(matching_keys[0].public, token.signature, token.signing_input)
    except InvalidSignature:
        _refuse("id_token_signed", f"the signature is not by the key {_excerpt(key_id)}")


def _matching_keys(
    keys: Sequence[UpstreamKey], token: _Token, algorithm: str
) -> list[UpstreamKey]:
    return [
        key
        for key in keys
        if token.header.get("kid") in (None, key.id)
        and key.algorithm in (None, algorithm)
        and _is_of_issuer(key, token.claims)
        and ALGORITHMS[algorithm].fits(key.public)
    ]


def _is_of_issuer(key: UpstreamKey, claims: Mapping[str, Any]) -> bool:
    """Returns whether a key may sign for the issuer that the claims name: the keys of all tenants
    of Microsoft Entra ID are in one set."""
    if key.issuer is None:
        return True
    return key.issuer.replace(AZURE_ANY_TENANT, str(claims.get("tid"))) == claims.get("iss")


def _check_issuer(token_provider: Provider, claims: Mapping[str, Any]) -> None:
    issuer, tenant = claims.get("iss"), claims.get("tid")
    if AZURE_ANY_TENANT not in token_provider.issuer:
        if issuer != token_provider.issuer:
            _refuse("id_token_issued", f"iss is {_excerpt(issuer)}")
        return
    if not isinstance(tenant, str) or issuer != token_provider.issuer.replace(
        AZURE_ANY_TENANT, tenant
    ):
        _refuse("id_token_issued", f"iss {_excerpt(issuer)} does not fit tid {_excerpt(tenant)}")


def _check_audience(connection: ProviderConnection, claims: Mapping[str, Any]) -> None:
    audience, client_id = claims.get("aud"), connection.settings.client_id
    audiences = audience if isinstance(audience, list) else [audience]
    if client_id not in audiences:
        _refuse("id_token_audience", f"aud is {_excerpt(audience)}")
    party = claims.get("azp")
    if party not in (None, client_id) or (len(audiences) > 1 and party is None):
        _refuse("id_token_audience", f"aud is {_excerpt(audience)}, azp is {_excerpt(party)}")


def _check_times(service: Service, claims: Mapping[str, Any]) -> None:
    now = service.clock.now().timestamp()
    expires, issued = _instant(claims, "exp"), _instant(claims, "iat")
    not_before = _instant(claims, "nbf") if "nbf" in claims else issued
    if now >= expires + SKEW_SECONDS:
        _refuse("id_token_current", "it has expired")
    if issued > now + SKEW_SECONDS or not_before > now + SKEW_SECONDS:
        _refuse("id_token_current", "it begins in the future")
    if issued < now - _MAX_AGE_SECONDS:
        _refuse("id_token_current", "it was issued more than a day ago")


def _instant(claims: Mapping[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UpstreamRefused("id_token_current", f"the ID token: {name} is no time")
    return float(value)


def _check_bindings(claims: Mapping[str, Any], algorithm: str, expected: Expected) -> None:
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not opaque_tokens.equal(nonce, expected.nonce):
        _refuse("id_token_nonce", "nonce is not that of the request")
    if "at_hash" not in claims:
        return
    expected_hash = jws.half_hash(algorithm, expected.access_token or "")
    if claims["at_hash"] != expected_hash:
        _refuse("id_token_nonce", "at_hash is not that of the access token")


def _check_subject(claims: Mapping[str, Any]) -> None:
    subject = claims.get("sub")
    is_usable = isinstance(subject, str) and 0 < len(subject) <= MAX_SUBJECT
    if not is_usable or not str(subject).isprintable():
        _refuse("id_token_subject", "sub is no text of 1 to 255 characters")
