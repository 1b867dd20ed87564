"""Credentials of Keycloak's users, which it exports as objects whose details are JSON texts."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

from idp.foundation import strict_json
from idp.foundation.errors import InvalidArgument
from idp.identity.factors import totp
from idp.transfer.package.rows import RowProblem
from idp.transfer.sources.import_row_builder import PersonDraft

_PBKDF2: Final = frozenset({
    *("pbkdf2", "pbkdf2-sha224", "pbkdf2-sha256", "pbkdf2-sha384", "pbkdf2-sha512"),
})  # fmt: skip
_ARGON2_VERSIONS: Final = {"1.3": 19, "1.0": 16}
_DIGITS: Final = re.compile(r"[0-9]{1,10}")
_BASE32: Final = ("B32", "BASE32")


class _UnusableCredential(ValueError):
    """The error that a credential can't be converted; its message is the reason."""


def add_to(draft: PersonDraft, credentials: object) -> list[str]:
    """Copies the password hash and the secret of the authenticator app from a user's `credentials`
    to the draft. Returns the names of the other credentials, which are dropped with a warning.
    """
    if not isinstance(credentials, list):
        return ["credentials"] if credentials else []
    lost_parts = []
    for each in credentials:
        kind = each.get("type") if isinstance(each, dict) else None
        if kind == "password" and not draft.password_hash:
            lost_parts += _added(draft, "password", each)
        elif kind in ("otp", "totp") and not draft.otp_secret:
            lost_parts += _added(draft, "otp", each)
        else:
            lost_parts.append(_named(kind))
            draft.problems.append(_unusable_factor("can't be migrated", _named(kind)))
    return lost_parts


def _added(draft: PersonDraft, kind: str, credential: Mapping[str, Any]) -> list[str]:
    try:
        if kind == "password":
            draft.password_hash = encoded(credential)
            draft.must_change = draft.must_change or credential.get("temporary") is True
        else:
            draft.otp_secret = otp_secret(credential)
    except _UnusableCredential as reason:
        draft.problems.append(_UNUSABLE_PROBLEMS[kind](str(reason)))
        return [f"credentials.{kind}"]
    return []


def _unusable_password(reason: str) -> RowProblem:
    return RowProblem(
        error_code="source.password",
        field="credentials.password",
        message=reason,
        fix="The user sets a new password with 'forgot password'.",
        is_error=False,
    )


def _unusable_factor(reason: str, name: str = "credentials.otp") -> RowProblem:
    return RowProblem(
        error_code="source.factor",
        field=name,
        message=reason,
        fix="The user sets it up again.",
        is_error=False,
    )


_UNUSABLE_PROBLEMS: Final = {"password": _unusable_password, "otp": _unusable_factor}


def _named(kind: object) -> str:
    is_name = isinstance(kind, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,50}", kind)
    return f"credentials.{kind}" if is_name else "credentials"


def encoded(credential: Mapping[str, Any]) -> str:
    """Returns the hash of a password credential in Modular Crypt Format.

    Raises ValueError, whose message is the reason, if it can't be migrated.
    """
    about, secret = _inner(credential, "credentialData"), _inner(credential, "secretData")
    algorithm, value, salt = about.get("algorithm"), secret.get("value"), secret.get("salt")
    if not (isinstance(value, str) and value and isinstance(salt, str) and salt):
        raise _UnusableCredential("has no value and salt")
    rounds = _number(about.get("hashIterations"), "hashIterations")
    if isinstance(algorithm, str) and algorithm in _PBKDF2:
        return f"${algorithm}${rounds}${salt}${value}"
    if algorithm == "argon2":
        return _argon2(about, rounds, salt, value)
    raise _UnusableCredential(f"is hashed by {_displayed(algorithm)}, which is unknown here")


def _argon2(about: Mapping[str, Any], rounds: int, salt: str, value: str) -> str:
    parameters = about.get("additionalParameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    kind, version = _only(parameters, "type", "id"), _only(parameters, "version", "1.3")
    if kind not in ("id", "i", "d") or str(version) not in _ARGON2_VERSIONS:
        raise _UnusableCredential(
            f"is hashed by argon2 of the kind {_displayed(kind)} {_displayed(version)}"
        )
    memory = _number(_only(parameters, "memory", None), "memory")
    lanes = _number(_only(parameters, "parallelism", None), "parallelism")
    return (
        f"$argon2{kind}$v={_ARGON2_VERSIONS[str(version)]}$m={memory},t={rounds},p={lanes}"
        f"${_unpadded(salt)}${_unpadded(value)}"
    )


def otp_secret(credential: Mapping[str, Any]) -> str:
    """Returns the secret of an authenticator app in base32.

    Raises ValueError, whose message is the reason, if it can't be migrated.
    """
    about, secret = _inner(credential, "credentialData"), _inner(credential, "secretData")
    is_usual = (
        about.get("subType", "totp") == "totp"
        and about.get("digits", totp.DIGITS) == totp.DIGITS
        and about.get("period", totp.STEP_SECONDS) == totp.STEP_SECONDS
        and about.get("algorithm", "HmacSHA1") in ("HmacSHA1", "SHA1")
    )
    if not is_usual:
        raise _UnusableCredential("isn't an authenticator app with 6 digits, 30 seconds and SHA-1")
    value = secret.get("value")
    if not (isinstance(value, str) and value):
        raise _UnusableCredential("has no secret")
    if about.get("secretEncoding") in _BASE32:
        return value
    # Without a stated encoding, the bytes of the text are the secret.
    return base64.b32encode(value.encode()).decode().rstrip("=")


def _inner(credential: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Returns the object within a JSON text; an object is returned unchanged."""
    value = credential.get(name)
    if isinstance(value, str):
        try:
            value = strict_json.decode(value.encode())
        except InvalidArgument:
            raise _UnusableCredential(f"has {name} that is not JSON") from None
    if not isinstance(value, dict):
        raise _UnusableCredential(f"has no {name}")
    return value


def _number(value: object, name: str) -> int:
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise _UnusableCredential(f"has no {name}")


def _only(parameters: Mapping[str, Any], name: str, default: object) -> object:
    """Returns the parameter's only value: Keycloak writes each as a list of one text."""
    value = parameters.get(name, default)
    return value[0] if isinstance(value, list) and value else value


def _unpadded(text: str) -> str:
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)).decode().rstrip("=")
    except (binascii.Error, ValueError):
        raise _UnusableCredential("has a value or a salt that is not base64") from None


def _displayed(value: object) -> str:
    return value if isinstance(value, str) and value.isprintable() and len(value) < 50 else "?"
