"""Wrappers of hashes: the `{NAME}` that directories (RFC 2307), Dovecot and Spring write before
one. The name has no case."""

from __future__ import annotations

import base64
import difflib
import re
from collections.abc import Iterable
from typing import Final

from idp.passwords.schemes.base import UnreadableHash

_WRAPPED: Final = re.compile(r"\{([A-Za-z0-9@_.-]{1,40})\}(.*)", re.DOTALL)
_HEXADECIMAL: Final = re.compile(r"(?:[0-9A-Fa-f]{2})+")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
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
# Names before a digest in base64, which are a part of its format, and its length in hexadecimal if
# no salt follows it.
_DIGESTS: Final = {
    **{"MD5": 32, "SHA": 40, "SHA256": 64, "SHA384": 96, "SHA512": 128},
    **dict.fromkeys(("SMD5", "SSHA", "SSHA256", "SSHA384", "SSHA512")),
}
_OTHER_DIGESTS: Final = {"SHA1": "SHA", "PLAINMD5": "MD5", "LDAPMD5": "MD5"}
_ENCODINGS: Final = frozenset({"", "B64", "BASE64", "HEX"})  # after the name and a dot, in Dovecot
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
    name, inner = match[1].upper(), match[2]
    if name in _OWN_BEGINNING and inner.startswith("$"):
        return inner
    if name in _PBKDF2 and _ROUNDS.match(inner):
        return _PBKDF2[name] + inner
    if digest := _digest(name, inner):
        return digest
    raise UnreadableHash(_reason(name))


def _digest(name: str, inner: str) -> str:
    """Returns a digest with its name as the format has it, in base64; empty for any other name."""
    plain, _, encoding = name.replace("-", "").partition(".")
    plain = _OTHER_DIGESTS.get(plain, plain)
    is_readable = plain == name or _BASE64.fullmatch(inner)
    if plain not in _DIGESTS or encoding not in _ENCODINGS or not is_readable:
        return ""
    # With a salt, only the name distinguishes hexadecimal from base64.
    is_hexadecimal = encoding == "HEX" or (not encoding and len(inner) == _DIGESTS[plain])
    if is_hexadecimal and _HEXADECIMAL.fullmatch(inner):
        inner = base64.b64encode(bytes.fromhex(inner)).decode("ascii")
    return f"{{{plain}}}{inner}"


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
