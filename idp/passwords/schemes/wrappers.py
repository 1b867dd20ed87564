"""Wrappers of hashes: the `{NAME}` that directories (RFC 2307), Dovecot and Spring write before
one. The name has no case."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

from idp.passwords.schemes.base import UnreadableHash

_WRAPPED: Final = re.compile(r"\{([A-Za-z0-9@_.-]{1,40})\}(.*)", re.DOTALL)
_HEXADECIMAL: Final = re.compile(r"[0-9A-Fa-f]{32}|[0-9A-Fa-f]{40}")
_ROUNDS: Final = re.compile(r"[0-9]{1,10}\$")

# Names before a hash whose own beginning says the format.
_OWN_BEGINNING: Final = frozenset({
    *("CRYPT", "BLF-CRYPT", "MD5-CRYPT", "SHA256-CRYPT", "SHA512-CRYPT", "MD5"),
    *("ARGON2", "ARGON2I", "ARGON2ID", "ARGON2@SPRINGSECURITY_V5_8"),
    "BCRYPT",
})  # fmt: skip
# Names before rounds$salt$hash, and what stands for them without a wrapper.
_PBKDF2: Final = {
    "PBKDF2": "$pbkdf2$",
    "PBKDF2-SHA1": "$pbkdf2-sha1$",
    "PBKDF2-SHA256": "$pbkdf2-sha256$",
    "PBKDF2-SHA512": "$pbkdf2-sha512$",
}
# Names before a digest in base64, which are a part of its format.
_DIGESTS: Final = frozenset({
    *("MD5", "SMD5", "SHA", "SSHA"),
    *("SHA256", "SHA384", "SHA512", "SSHA256", "SSHA384", "SSHA512"),
})  # fmt: skip
_OTHER_DIGESTS: Final = {"SHA1": "SHA", "SHA-1": "SHA", "PLAIN-MD5": "MD5", "LDAP-MD5": "MD5"}
_REFUSED: Final = {
    **dict.fromkeys(
        ("CLEAR", "CLEARTEXT", "PLAIN", "NOOP"),
        "it is a password in plain text: send it as the password, which is then hashed here",
    ),
    **dict.fromkeys(
        ("SASL", "KERBEROS", "LDAP"), "it is no hash: the password is verified by another system"
    ),
    **dict.fromkeys(
        ("SCRYPT", "SCRYPT@SPRINGSECURITY_V5_8"),
        "the nearest form that is read is $scrypt$ln=…,r=…,p=…$salt$hash, without a wrapper",
    ),
}


def unwrapped(encoded: str) -> str:
    """Returns the hash without a wrapper that only repeats its format, and with the name of any
    other in upper case; a hash without a wrapper is returned unchanged.

    Raises UnreadableHash, which names the nearest form that is read, for any other `{NAME}`.
    """
    match = _WRAPPED.fullmatch(encoded)
    if match is None:
        return encoded
    name, inner = _OTHER_DIGESTS.get(match[1].upper(), match[1].upper()), match[2]
    if name in _OWN_BEGINNING and inner.startswith("$"):
        return inner
    if name in _PBKDF2 and _ROUNDS.match(inner):
        return _PBKDF2[name] + inner
    if name in ("MD5", "SHA") and _HEXADECIMAL.fullmatch(inner):
        return inner
    if name in _DIGESTS:
        return f"{{{name}}}{inner}"
    raise UnreadableHash(_reason(name))


def _reason(name: str) -> str:
    if name in _REFUSED:
        return _REFUSED[name]
    near = nearest(name, [*_PBKDF2, *_OWN_BEGINNING, *_DIGESTS])
    if near in _PBKDF2:
        return f"the nearest form that is read is {{{near}}}rounds$salt$hash"
    if near in _OWN_BEGINNING:
        return f"the nearest form that is read is {{{near}}} and a hash such as $2b$… or $6$…"
    return f"the nearest form that is read is {{{near or 'SSHA'}}}base64"


def nearest(text: str, accepted: Iterable[str]) -> str:
    """Returns the one of the `accepted` texts that resembles `text` most, whatever its case; empty
    if none does."""
    by_folded = {each.lower(): each for each in reversed([*accepted])}
    found = difflib.get_close_matches(text.lower(), by_folded, 1)
    return by_folded[found[0]] if found else ""
