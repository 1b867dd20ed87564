"""Accounts for wrong passwords: each is used once, so that neither a delay nor a lock has an
effect."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import argon2
import bcrypt
import httpx

PASSWORD: Final = secrets.token_urlsafe(12)
WRONG: Final = secrets.token_urlsafe(12)
_LEGACY_ROUNDS: Final = 4  # a hash of another system: two milliseconds instead of twenty


class Kind(NamedTuple):
    """The state of an account that is measured. `given` is the password that is tried on it."""

    given: str
    is_made: bool = True
    hashed_by: str = "argon2id"
    then: str = ""


KINDS: Final[Mapping[str, Kind]] = {
    "wrong": Kind(WRONG),
    "unknown": Kind(WRONG, is_made=False),
    "inactive": Kind(PASSWORD, then="deactivate"),
    "locked": Kind(PASSWORD, then="lock"),
    "legacy hash": Kind(WRONG, hashed_by="bcrypt"),
    "md5": Kind(WRONG, hashed_by="md5"),
    "sha1": Kind(WRONG, hashed_by="sha1"),
}


class Administrator:
    """Creates accounts with the management API, as the owner of the installation."""

    def __init__(self, issuer: str, pat_file: Path) -> None:
        token = pat_file.read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=issuer, headers=headers, timeout=20)
        password_bytes = PASSWORD.encode()
        self._hashes = {
            "argon2id": argon2.PasswordHasher(2, 19456, 1).hash(PASSWORD),
            "bcrypt": bcrypt.hashpw(password_bytes, bcrypt.gensalt(_LEGACY_ROUNDS)).decode(),
            "md5": hashlib.md5(password_bytes, usedforsecurity=False).hexdigest(),
            "sha1": hashlib.sha1(password_bytes, usedforsecurity=False).hexdigest(),
        }

    def people(self, name: str, kind: Kind, count: int) -> Sequence[str]:
        """Returns the login names of so many accounts of a kind."""
        names = [f"{name.replace(' ', '-')}-{n}-{secrets.token_hex(4)}" for n in range(count)]
        if kind.is_made:
            for name in names:
                self._make(name, kind)
        return names

    def _make(self, name: str, kind: Kind) -> None:
        body = {
            "username": name,
            "profile": {"givenName": "Some", "familyName": "Body"},
            "email": {"email": f"{name}@example.com", "isVerified": True},
            "hashedPassword": {"hash": self._hashes[kind.hashed_by]},
        }
        made = self._post("/v2/users/human", body)
        if kind.then:
            self._post(f"/v2/users/{made['userId']}/{kind.then}", {})

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        answer = self._http.post(path, json=body)
        answer.raise_for_status()
        document: dict[str, Any] = answer.json()
        return document

    def close(self) -> None:
        self._http.close()
