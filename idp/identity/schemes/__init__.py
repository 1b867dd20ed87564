"""Formats of stored password hashes: each is read strictly, bounded, then verified.

To add a format: a module beside this one with a `read` that answers a `Stored` or raises
UnreadableHash, and a line in `SCHEMES`. A format is found by what stands between the first two
dollar signs of the encoded hash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from idp.identity.schemes import argon2, bcrypt
from idp.identity.schemes.base import Recipe, Stored, UnreadableHash

MAX_ENCODED_CHARACTERS: Final = 200

# What is verified: the identifier of the encoded form, and its reader.
SCHEMES: Final[Mapping[str, Callable[[str], Stored]]] = {
    "argon2id": argon2.read,
    "argon2i": argon2.read,
    "2a": bcrypt.read,
    "2b": bcrypt.read,
    "2y": bcrypt.read,
}

# What new passwords may be hashed with: the values of the setting `password_hasher`.
RECIPES: Final[Mapping[str, Recipe]] = {"argon2id": argon2.RECIPE, "bcrypt": bcrypt.RECIPE}

_IDENTIFIER: Final = re.compile(r"\$([A-Za-z0-9-]{1,20})\$")


def read(encoded: str) -> Stored:
    """The hash, ready to verify. Raises UnreadableHash, and then tells the rule, not the value.

    Called when a hash is imported and again at each verification: a store may have been
    restored from elsewhere, and one hostile hash could cost gigabytes or days.
    """
    if len(encoded) > MAX_ENCODED_CHARACTERS:
        raise UnreadableHash(f"it is longer than {MAX_ENCODED_CHARACTERS} characters")
    found = _IDENTIFIER.match(encoded)
    if not found:
        raise UnreadableHash("it is not in Modular Crypt Format ($algorithm$…)")
    if found[1] not in SCHEMES:
        known = ", ".join(SCHEMES)
        raise UnreadableHash(f"the algorithm {found[1]} is not supported; supported are {known}")
    return SCHEMES[found[1]](encoded)


__all__ = [
    "MAX_ENCODED_CHARACTERS",
    "RECIPES",
    "SCHEMES",
    "Recipe",
    "Stored",
    "UnreadableHash",
    "read",
]
