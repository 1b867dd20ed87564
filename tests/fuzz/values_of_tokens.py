"""Hostile copies of what somebody holds: cut, changed, and signed to say what it must not."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.fuzz.world import World, signed
from tests.support.attacks.forged import hostile_jwts

_NUMBERS: Final = [
    *["1", True, None, 1e308, float("nan"), 2**70, -1, 0, 1.5, [1], {}, "９", 10**400],
]
CLAIMS: Final[dict[str, list[Any]]] = {
    "iss": ["", 1, None, ["a"], {"a": 1}, "https://evil.example", "a" * 5000],
    "sub": ["", 1, None, ["a"], "\0", "\ud83d\ude00", "client:x", "a" * 5000],
    "aud": ["", 1, None, [], [1], [[]], {}, "https://evil.example", ["a", None], ["x"] * 500],
    "exp": _NUMBERS,
    "iat": _NUMBERS,
    "nbf": _NUMBERS,
    "jti": ["", 1, None, [], "\0", "a" * 5000, True],
    "act": [1, {"sub": 1}, {"act": {"act": {}}}],
    "\0": [1],
    "$ne": [{"$gt": ""}],
}


def cut_or_changed(rng: Random, token: str) -> bytes:
    """A token that lacks something, has something more, or has something else in it."""
    octets = bytearray(token.encode("latin-1", "replace"))
    at = rng.randrange(len(octets) + 1)
    how = rng.randrange(5)
    if how == 0:
        return bytes(octets[:at])
    if how == 1:
        return bytes(octets[at:])
    if how == 2:
        octets[at:at] = rng.choice([b"A", b"=", b".", b"-", b"\0", b" ", b"!", b"\xff"])
    elif how == 3 and octets:
        octets[at - 1] ^= 1 << rng.randrange(8)
    else:
        octets[at:] = octets[:at][::-1]
    return bytes(octets)


def forged(rng: Random, token: str) -> bytes:
    """A JWT that would fool a credulous verifier; of anything else, a changed copy."""
    try:
        hostile = hostile_jwts(token, b"a public key")
    except (ValueError, TypeError):  # no JWT, or one that was spoilt before
        return cut_or_changed(rng, token)
    return rng.choice(list(hostile.values())).encode()


def hostile_assertion(rng: Random, world: World) -> str:
    """A genuine signature below claims that must not count."""
    key = rng.choice([world.clients["private_key_jwt"].key, world.machine_key])
    claims = key.claims()
    for _ in range(rng.randint(1, 3)):
        name = rng.choice(list(CLAIMS))
        claims[name] = rng.choice(CLAIMS[name])
    return signed(key, claims)
