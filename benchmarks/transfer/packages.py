"""A package of very many people, such as another system might export."""

from __future__ import annotations

import base64
import json
import random
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import bcrypt

ORG_ID: Final = "benchmark-org"
PASSWORD: Final = secrets.token_urlsafe(12)
COST: Final = 10
_SEED: Final = 7
_PHONE_EVERY: Final = 2
_VERIFIED_EVERY: Final = 3
_METADATA_EVERY: Final = 10
_TRIED: Final = 3
_HASHED: Final = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_HASH_LENGTH: Final = 53
_LAST_OF_SALT, _LAST_OF_HASH = ".Oeu", ".CGKOSWaeimquy26"  # they hold two and four bits
_SALT_LENGTH: Final = 22


class Package(NamedTuple):
    """A file with so many people, and `rows` in total; those of `tried` have `PASSWORD`."""

    file: Path
    people: int
    rows: int
    tried: list[str]


def write(file: Path, people: int) -> Package:
    """Writes a package with people of one new organization, each with a hash of their own: half
    with phones, a third with verified addresses, a tenth with an entry of metadata."""
    tried = sorted({people * n // (_TRIED - 1) - (n == _TRIED - 1) for n in range(_TRIED)})
    true = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(COST)).decode()
    with file.open("w", encoding="utf-8") as out:
        out.write('{"timeout":"0s","dataOrgs":{"orgs":[{"org":{"name":"Benchmark"},')
        out.write(f'"orgId":"{ORG_ID}","humanUsers":[')
        _write_rows(out, _people(people, dict.fromkeys(tried, true)))
        out.write('],"userMetadata":[')
        _write_rows(out, map(_entry, range(0, people, _METADATA_EVERY)))
        out.write("]}]}}")
    rows = 1 + people + len(range(0, people, _METADATA_EVERY))
    return Package(file, people, rows, [_name(n) for n in tried])


def _write_rows(out: Any, rows: Iterator[dict[str, Any]]) -> None:
    between = ""
    for row in rows:
        out.write(between + json.dumps(row, separators=(",", ":")))
        between = ","


def _people(count: int, known: dict[int, str]) -> Iterator[dict[str, Any]]:
    source = random.Random(_SEED)  # noqa: S311 - the same hashes in every run
    for n in range(count):
        yield _person(n, known.get(n) or _hash(source))


def _person(n: int, hashed: str) -> dict[str, Any]:
    name = _name(n)
    user = {
        "userName": name,
        "profile": {"firstName": f"Ada{n % 977}", "lastName": f"Byron{n % 4999}"},
        "email": {"email": f"{name}@example.com", "isEmailVerified": n % _VERIFIED_EVERY == 0},
        "hashedPassword": {"value": hashed},
    }
    if n % _PHONE_EVERY == 0:
        user["phone"] = {"phone": f"+4930{n:08}", "isPhoneVerified": n % _VERIFIED_EVERY == 0}
    return {"userId": _id(n), "user": user}


def _entry(n: int) -> dict[str, Any]:
    value = base64.b64encode(f"plan-{n % 5}".encode()).decode()
    return {"id": _id(n), "key": "plan", "value": value}


def _name(n: int) -> str:
    return f"benchmark-{n:08}"


def _id(n: int) -> str:
    return f"auth0|{n:024x}"


def _hash(source: random.Random) -> str:
    """Returns a text with the form of a bcrypt hash."""
    salt = "".join(source.choices(_HASHED, k=_SALT_LENGTH - 1)) + source.choice(_LAST_OF_SALT)
    rest = _HASH_LENGTH - _SALT_LENGTH - 1
    hashed = "".join(source.choices(_HASHED, k=rest)) + source.choice(_LAST_OF_HASH)
    return f"$2b${COST}${salt}{hashed}"
