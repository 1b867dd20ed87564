"""The checks of a sign-in at another identity provider, in their order."""

from __future__ import annotations

from typing import Final

from idp.oauth.errors import AccessDenied
from idp.oauth.refusals.check import Check
from idp.upstream.refused import UpstreamRefused

_CORE: Final = "OpenID Connect Core 1.0, 3.1.3.7"

CHECKS: Final = (
    Check(
        "connection_usable",
        "the connection is active, offered, and as it was when the sign-in left",
        "OAuth 2.0 Security Best Current Practice (RFC 9700), 4.4",
        "Activate the connection and offer it on the sign-in pages; then sign in again.",
    ),
    Check(
        "provider_reached",
        "the provider answers",
        "OpenID Connect Discovery 1.0, 4",
        "See that the provider's address is right and reachable from this service; a private"
        " network is opened by outgoing_networks.",
    ),
    Check(
        "provider_configured",
        "the provider's discovery document is that of the issuer, with usable endpoints",
        "OpenID Connect Discovery 1.0, 4.3",
        "Set the issuer of the connection to the one that the document states, octet by octet.",
    ),
    Check(
        "answer_from_provider",
        "iss of the answer is the provider's",
        "RFC 9207, 2.4",
        "Let the provider return to the redirect URI of this connection alone.",
    ),
    Check(
        "answer_without_error",
        "the provider has answered with a code and not with an error",
        "RFC 6749, 4.1.2.1",
        "Look up the error at the provider; compare client id, redirect URI and scopes there.",
    ),
    Check(
        "code_redeemed",
        "the provider has exchanged the code for tokens",
        "RFC 6749, 4.1.3",
        "Compare the client secret, the way to authenticate and the redirect URI with those that"
        " the provider knows.",
    ),
    Check(
        "id_token_signed",
        "the ID token is signed by a key of the provider, with an allowed algorithm",
        _CORE,
        "Allow the algorithm in idTokenAlgorithms, if the provider signs with one of them.",
    ),
    Check(
        "id_token_issued",
        "iss of the ID token is the provider's",
        _CORE,
        "Set the issuer of the connection to the one that the provider's ID tokens have.",
    ),
    Check(
        "id_token_audience",
        "the ID token was issued to this client",
        _CORE,
        "Set clientId to the id that the provider has given to this service.",
    ),
    Check(
        "id_token_current",
        "the ID token has been issued now and has not expired",
        _CORE,
        "Set the clocks of this service and of the provider.",
    ),
    Check(
        "id_token_nonce",
        "nonce and at_hash of the ID token are those of this sign-in",
        _CORE,
        "The provider has to return the nonce of each request; ask its maker.",
    ),
    Check(
        "id_token_subject",
        "sub of the ID token identifies a person",
        "OpenID Connect Core 1.0, 2",
        "The provider has to state a sub of 1 to 255 characters; ask its maker.",
    ),
    Check(
        "userinfo_matches",
        "the UserInfo endpoint has answered, for the same person",
        "OpenID Connect Core 1.0, 5.3.2",
        "See that the endpoint answers in JSON, or switch isIdTokenMapping on.",
    ),
    Check(
        "account_admitted",
        "the connection admits this account of the provider, and its user may sign in here",
        "docs/connections.md",
        "Name the tenant or hosted domain in the connection, or activate the user.",
    ),
    Check(
        "authentication_recent",
        "the person has signed in at the provider as recently as the application demands",
        "OpenID Connect Core 1.0, 3.1.2.1",
        "The provider has to state auth_time; without it, do not send prompt=login or max_age.",
    ),
)
_BY_NAME: Final = {check.name: check for check in CHECKS}


def error_of(refused: UpstreamRefused) -> AccessDenied:
    """Returns the refusal in the form in which it is stored for administrators."""
    error = AccessDenied("the sign-in at another provider failed", details=refused.details)
    error.check = _BY_NAME[refused.check]
    return error
