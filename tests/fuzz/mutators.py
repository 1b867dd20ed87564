"""Ways to spoil a genuine request: its parameters, and what stands in their values."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final
from urllib.parse import unquote_to_bytes

from tests.fuzz.request import Pair, Request, encoded
from tests.fuzz.values import GARBAGE, HOSTILE, NAMES, WORDS
from tests.fuzz.values_of_tokens import cut_or_changed, forged, hostile_assertion
from tests.fuzz.world import World

Mutator = Callable[[Random, World, Request], Request]
Pairs = list[Pair]


def _pairs(request: Request) -> Pairs:
    return list(request.query if request.form is None else request.form)


def _with(request: Request, pairs: Pairs) -> Request:
    if request.form is None:
        return request.changed(query=tuple(pairs))
    return request.changed(form=tuple(pairs))


def _at(rng: Random, request: Request) -> tuple[Pairs, int]:
    """The parameters, and the place of one of them; a request without any gets one."""
    pairs = _pairs(request) or [(rng.choice(NAMES).encode(), b"x")]
    return pairs, rng.randrange(len(pairs))


# Parameters as wholes


def drop(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    del pairs[at]
    return _with(request, pairs)


def repeat(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    name, value = pairs[at]
    other = rng.choice([value, b"", b"other", value + b"x"])
    pairs.insert(rng.randrange(len(pairs) + 1), (name, other))
    return _with(request, pairs)


def reorder(rng: Random, world: World, request: Request) -> Request:
    pairs = _pairs(request)
    rng.shuffle(pairs)
    return _with(request, pairs)


def swap_values(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    other = rng.randrange(len(pairs))
    (name, value), (other_name, other_value) = pairs[at], pairs[other]
    pairs[at], pairs[other] = (name, other_value), (other_name, value)
    return _with(request, pairs)


def rename(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    name, value = pairs[at]
    spoilt = [name.upper(), name + b"[]", name + b"[$ne]", b" " + name, name + b"%00", name[:-1]]
    pairs[at] = (rng.choice([*spoilt, rng.choice(NAMES).encode()]), value)
    return _with(request, pairs)


def add(rng: Random, world: World, request: Request) -> Request:
    value = rng.choice([rng.choice(WORDS), rng.choice(world.held)])
    pairs = [*_pairs(request), (rng.choice(NAMES).encode(), encoded(value))]
    return _with(request, pairs)


def add_many(rng: Random, world: World, request: Request) -> Request:
    pairs = [
        *_pairs(request),
        *((b"p%d" % n, b"1") for n in range(rng.choice([20, 99, 101, 900]))),
    ]
    return _with(request, pairs)


def move_to_the_other_side(rng: Random, world: World, request: Request) -> Request:
    """From the body into the address, or the other way round; or into both."""
    pairs, at = _at(rng, request)
    moved = pairs[at]
    if rng.random() < 0.7:
        del pairs[at]
    if request.form is None:
        return request.changed(query=tuple(pairs), form=(moved,))
    return request.changed(form=tuple(pairs), query=(*request.query, moved))


# Values


def put_hostile(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    value = rng.choice(HOSTILE)
    pairs[at] = (pairs[at][0], value if rng.random() < 0.2 else encoded(value))
    return _with(request, pairs)


def put_garbage(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    name, value = pairs[at]
    cut = rng.randrange(len(value) + 1)
    pairs[at] = (name, value[:cut] + rng.choice(GARBAGE) + value[cut:])
    return _with(request, pairs)


def put_word(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    pairs[at] = (pairs[at][0], encoded(rng.choice(WORDS)))
    return _with(request, pairs)


def put_artefact(rng: Random, world: World, request: Request) -> Request:
    """Something genuine where it does not belong, or where another's belongs."""
    pairs, at = _at(rng, request)
    pairs[at] = (pairs[at][0], encoded(rng.choice(world.held)))
    return _with(request, pairs)


def put_forged(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    name, value = pairs[at]
    own = unquote_to_bytes(value).decode("latin-1")
    token = own if len(own) > 20 else rng.choice(world.held)
    pairs[at] = (name, encoded(rng.choice([forged, cut_or_changed])(rng, token)))
    return _with(request, pairs)


def put_assertion(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    proofs = [n for n, (name, _) in enumerate(pairs) if name.endswith(b"assertion")]
    at = rng.choice(proofs) if proofs else at
    pairs[at] = (pairs[at][0], encoded(hostile_assertion(rng, world)))
    return _with(request, pairs)


def flip_byte(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    octets = bytearray(unquote_to_bytes(pairs[at][1]) or b"x")
    octets[rng.randrange(len(octets))] = rng.randrange(256)
    pairs[at] = (pairs[at][0], encoded(bytes(octets)))
    return _with(request, pairs)


def cut_value(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    name, value = pairs[at]
    pairs[at] = (name, value[: rng.randrange(len(value) + 1)])
    return _with(request, pairs)


def encode_again(rng: Random, world: World, request: Request) -> Request:
    pairs, at = _at(rng, request)
    pairs[at] = (pairs[at][0], encoded(pairs[at][1]))
    return _with(request, pairs)


PARAMETERS: Final[tuple[Mutator, ...]] = (
    *(drop, repeat, reorder, swap_values, rename, add, add_many, move_to_the_other_side),
    *(put_hostile, put_hostile, put_garbage, put_word, put_word, put_artefact, put_artefact),
    *(put_forged, put_forged, put_assertion, flip_byte, cut_value, encode_again),
)
