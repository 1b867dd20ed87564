"""Proof Key for Code Exchange (RFC 7636), by S256 only."""

from __future__ import annotations

import hmac
import re

from idp.foundation.opaque_tokens import digest
from idp.oauth.errors import InvalidGrant, InvalidRequest
from idp.oauth.params import Params
from idp.oauth.refusals.details import characters

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def challenge_of(verifier: str) -> str:
    """Returns the code_challenge of a code_verifier (RFC 7636 4.2)."""
    return digest(verifier)


def read_challenge(params: Params, *, is_required: bool) -> str | None:
    """Returns the request's code_challenge, or None without one. Raises `InvalidRequest`.

    `is_required` refuses a request without it.
    """
    challenge, method = params.get("code_challenge"), params.get("code_challenge_method")
    if challenge is None:
        if method is not None:
            raise InvalidRequest("code_challenge_method was sent without code_challenge")
        if is_required:
            raise InvalidRequest("code_challenge is missing: this client must use PKCE")
        return None
    # Without a method RFC 7636 4.3 means `plain`, which gives the verifier away.
    if method != "S256":
        raise InvalidRequest("code_challenge_method must be S256")
    if not _CHALLENGE.fullmatch(challenge):
        raise InvalidRequest("code_challenge must be 43 base64url characters")
    return challenge


def verify(challenge: str | None, verifier: str | None) -> None:
    """Verifies a code_verifier (RFC 7636 4.6) against the code_challenge of the authorization
    request.

    Either is None if it was not sent. Raises `InvalidGrant` when the verifier is missing or does
    not match, or the request had no challenge.
    """
    if challenge is None:
        # RFC 9700 4.8.2: otherwise an attacker could remove the challenge from the request
        # unnoticed.
        if verifier is not None:
            raise InvalidGrant("code_verifier was sent, but the request had no code_challenge")
        return
    if verifier is None:
        raise InvalidGrant("code_verifier is missing")
    if not _VERIFIER.fullmatch(verifier) or not hmac.compare_digest(
        challenge_of(verifier), challenge
    ):
        description = "code_verifier does not match the code_challenge"
        raise InvalidGrant(description, details=_mismatch(challenge, verifier))


def _mismatch(challenge: str, verifier: str) -> str:
    if verifier == challenge:
        return "The code_challenge itself is the code_verifier: it was made by plain, not by S256."
    if not _VERIFIER.fullmatch(verifier):
        return (
            f"The code_verifier has {characters(verifier)}, or some that are not allowed: "
            "it has 43 to 128 letters, digits and - . _ ~"
        )
    return "The code_verifier is not the one that the code_challenge was made of."
