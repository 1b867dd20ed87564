"""Formats of stored password hashes: each is read strictly, bounded, then verified.

To add a format: a module beside this one with a `read` that answers a `Stored` or raises
UnreadableHash, and a line in `SCHEMES`. A format is found by what the encoded hash begins with;
of several that fit, the longest one.
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
    yescrypt,
)
from idp.passwords.schemes.base import Reader, Recipe, Stored, Strength, UnreadableHash, WeakHash

MAX_ENCODED_CHARACTERS: Final = 200

# What is verified: what the encoded form begins with, and its reader.
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
    "{SHA": digests.read_directory,
    "{SSHA": digests.read_directory,
    "": digests.read_hexadecimal,
}

# What is known and refused, and why: so that whoever brings it need not guess.
REFUSED: Final[Mapping[str, str]] = {
    "$2$": "bcrypt's first version ($2$) is not supported",
    "$2x$": "$2x$ marks hashes of a faulty bcrypt, in which different passwords were alike",
    "$argon2d$": "argon2d is not for passwords; supported are argon2id and argon2i",
    "$sha1$": "SHA-1 crypt is not supported",
    "$wp$": "the form of WordPress 6.8 and later is not supported",
    "$fbscrypt$": "scrypt of Firebase needs the secret key of its project",
    "$firescrypt$": "scrypt of Firebase needs the secret key of its project",
}

# The longest of them that fits.
_BEGINNING: Final = re.compile(
    "|".join(sorted(map(re.escape, [*SCHEMES, *REFUSED]), key=len, reverse=True))
)

# What new passwords may be hashed with: the values of the setting `password_hasher`.
RECIPES: Final[Mapping[str, Recipe]] = {"argon2id": argon2.RECIPE, "bcrypt": bcrypt.RECIPE}


def read(encoded: str) -> Stored:
    """The hash, ready to verify. Raises UnreadableHash, and then tells the rule, not the value.

    Called when a hash is imported and again at each verification: a store may have been
    restored from elsewhere, and one hostile hash could cost gigabytes or days.
    """
    if len(encoded) > MAX_ENCODED_CHARACTERS:
        raise UnreadableHash(f"it is longer than {MAX_ENCODED_CHARACTERS} characters")
    found = _BEGINNING.match(encoded)
    assert found is not None  # noqa: S101 - of one scheme the beginning is empty
    if found[0] in REFUSED:
        raise UnreadableHash(REFUSED[found[0]])
    return SCHEMES[found[0]](encoded)


def read_imported(encoded: str, config: Config) -> Stored:
    """The same of a hash that comes from elsewhere: it must be as dear as the settings say.

    Raises UnreadableHash, and WeakHash. What is stored already goes on verifying.
    """
    stored = read(encoded)
    if stored.strength is not None:
        setting, value = stored.strength
        least: int = getattr(config, setting)
        if value < least:
            raise WeakHash(
                f"{stored.scheme} is too weak with {value}; at least {least} ({setting})"
            )
    return stored


__all__ = [
    "MAX_ENCODED_CHARACTERS",
    "RECIPES",
    "REFUSED",
    "SCHEMES",
    "Recipe",
    "Stored",
    "Strength",
    "UnreadableHash",
    "WeakHash",
    "read",
    "read_imported",
]
