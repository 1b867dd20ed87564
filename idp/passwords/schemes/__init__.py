"""Formats of stored password hashes: each is parsed strictly and bounded before it is verified.

To add a format: a module in this package with a `read` that returns a `ParsedHash` or raises
UnreadableHash, and a line in `SCHEMES`. A format is found by the beginning of the encoded hash; if
several match, the longest applies. A wrapper such as `{CRYPT}` is removed first (`wrappers`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from idp.config.settings import Config
from idp.passwords.schemes import (
    argon2,
    bcrypt,
    digests,
    django,
    pbkdf2,
    phpass,
    scrypt,
    unix_crypt,
    werkzeug,
    wrappers,
    yescrypt,
)
from idp.passwords.schemes.base import (
    ParsedHash,
    Reader,
    Recipe,
    Strength,
    UnreadableHash,
    WeakHash,
)

MAX_ENCODED_CHARACTERS: Final = 200

# The formats that can be verified: the beginning of the encoded form, and its reader.
SCHEMES: Final[Mapping[str, Reader]] = {
    "$argon2id$": argon2.read,
    "$argon2i$": argon2.read,
    "$2a$": bcrypt.read,
    "$2b$": bcrypt.read,
    "$2y$": bcrypt.read,
    "$scrypt$": scrypt.read,
    "$7$": scrypt.read,
    "$pbkdf2$": pbkdf2.read,
    "$pbkdf2-": pbkdf2.read,
    "$y$": yescrypt.read,
    "$6$": unix_crypt.read_sha,
    "$5$": unix_crypt.read_sha,
    "$1$": unix_crypt.read_md5,
    "$P$": phpass.read,
    "$H$": phpass.read,
    "$S$": phpass.read_drupal,
    "$md5salted-": digests.read_salted_md5,
    "argon2$": django.read_argon2,
    "bcrypt$": django.read_bcrypt,
    "bcrypt_sha256$": django.read_bcrypt_sha256,
    "pbkdf2_": django.read_pbkdf2,
    "scrypt$": django.read_scrypt,
    "pbkdf2:": werkzeug.read_pbkdf2,
    "scrypt:": werkzeug.read_scrypt,
    "{MD5": digests.read_directory,
    "{SHA": digests.read_directory,
    "{SMD5": digests.read_directory,
    "{SSHA": digests.read_directory,
    "": digests.read_hexadecimal,
}

# Known formats that are refused, with the reason for the administrator who imports them.
REFUSED: Final[Mapping[str, str]] = {
    "$2$": "bcrypt's first version ($2$) is not supported",
    "$2x$": "$2x$ marks hashes of a faulty bcrypt, for which different passwords are equal",
    "$argon2d$": "argon2d is not for passwords; supported are argon2id and argon2i",
    "$sha1$": "SHA-1 crypt is not supported",
    "$wp$": "the form of WordPress 6.8 and later is not supported",
    "$fbscrypt$": "scrypt of Firebase needs the secret key of its project",
    "$firescrypt$": "scrypt of Firebase needs the secret key of its project",
}

# Sorted by length, so that the longest beginning matches.
_PREFIX: Final = re.compile(
    "|".join(sorted(map(re.escape, [*SCHEMES, *REFUSED]), key=len, reverse=True))
)

# What a hash in an unknown format begins with.
_BEGINNING: Final = re.compile(r"\$[^$]{1,20}\$?|[A-Za-z0-9_]{1,20}[$:]")

# The schemes for new passwords: the values of the setting `password_hasher`.
RECIPES: Final[Mapping[str, Recipe]] = {"argon2id": argon2.RECIPE, "bcrypt": bcrypt.RECIPE}


def read(encoded: str) -> ParsedHash:
    """Returns the hash in a form that can be verified. Raises UnreadableHash, which names the
    broken rule and not the value.

    It is called at an import and again at each verification: a store may have been restored from
    elsewhere, and one hostile hash could cost gigabytes or days.
    """
    if len(encoded) > MAX_ENCODED_CHARACTERS:
        raise UnreadableHash(f"it is longer than {MAX_ENCODED_CHARACTERS} characters")
    encoded = wrappers.unwrapped(encoded)
    match = _PREFIX.match(encoded)
    assert match is not None  # noqa: S101 - the beginning of one scheme is empty
    if match[0] in REFUSED:
        raise UnreadableHash(REFUSED[match[0]])
    if not match[0] and (beginning := _BEGINNING.match(encoded)):
        raise UnreadableHash(_unknown(beginning[0]))
    return SCHEMES[match[0]](encoded)


def _unknown(beginning: str) -> str:
    near = wrappers.nearest(beginning, filter(None, SCHEMES))
    hint = f"; the nearest that is read begins with {near}" if near else ""
    return digests.NO_KNOWN_FORMAT + hint


def read_imported(encoded: str, config: Config) -> ParsedHash:
    """Returns a hash from another system as `read` does, if it is as strong as the settings
    require.

    Raises UnreadableHash, and WeakHash. Hashes that are stored already can still be verified.
    """
    stored = read(encoded)
    if stored.strength is not None:
        setting, value = stored.strength
        minimum: int = getattr(config, setting)
        if value < minimum:
            raise WeakHash(
                f"{stored.scheme} is too weak with {value}; at least {minimum} ({setting})"
            )
    return stored


__all__ = [
    "MAX_ENCODED_CHARACTERS",
    "RECIPES",
    "REFUSED",
    "SCHEMES",
    "Recipe",
    "ParsedHash",
    "Strength",
    "UnreadableHash",
    "WeakHash",
    "read",
    "read_imported",
]
