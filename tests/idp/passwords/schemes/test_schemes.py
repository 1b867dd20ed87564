from __future__ import annotations

import time

import argon2
import bcrypt
import pytest

from idp.passwords import schemes
from idp.passwords.schemes import UnreadableHash
from tests.support.random import SeededRandom

SALT, DIGEST = "cmFuZG9tc2FsdGlzaGFyZA", "YMvo8AUoNtnKYGqeODruCjHdiEbl1pKL2MsYy9VgU/E"

# Made by other programs; each password is "password".
VECTORS = [
    f"$argon2i$v=19$m=4096,t=3,p=1${SALT}${DIGEST}",
    f"$argon2id$v=19$m=4096,t=3,p=1${SALT}$DYojYpnUWSMmTtrkVXyaNWVGxLmGe1n8VJBPDdFkbjU",
    f"$argon2id$v=19$m=7168,t=5,p=1${SALT}$5eTTjldT7exzqguiy5ZoS7Mga90/e2PNFv7H2LDADyI",
    f"$argon2id$v=19$m=19456,t=2,p=1${SALT}$xtgJ7SEpEWQX/I82kiwKLdG3roRLIWMzqEVw619ohZ4",
    f"$argon2i$v=19$m=19456,t=2,p=1${SALT}$jsXnqhd/bg7ave549/UDMgjF1mln66jISWU8bhi+Mjs",
    "$2a$12$aLYFkieuqJyeynvptPTxpehSViui5WeAPuR2Xw1wui9CPHEaacmFq",
    "$2b$12$bIRGj4QPPoSUMWsJE.4Pk.T1qTpDWz7HhMnuiQhGzGinKPsx/HQdq",
    "$2y$12$hXUrnqdq1RIIYZ2HPytIIe5lXdIvbhqrTvdPsSF7o.jFh817Z6lwm",
]
BCRYPT = VECTORS[6]


def argon2_text(costs="m=4096,t=3,p=1", salt=SALT, digest=DIGEST, name="argon2id", version="v=19"):
    return f"${name}${version}${costs}${salt}${digest}"


@pytest.mark.full
@pytest.mark.parametrize("encoded", VECTORS)
def test_hashes_of_other_programs_verify_their_password_and_no_other(encoded):
    stored = schemes.read(encoded)

    assert stored.verify(b"password")
    for wrong in (b"", b"Password", b"password\x00"):
        assert not stored.verify(wrong)


@pytest.mark.load
@pytest.mark.parametrize("encoded", VECTORS)
@pytest.mark.parametrize("wrong", [b"password ", b"passwor", b"passwore"])
def test_nor_do_they_verify_one_that_is_longer_shorter_or_ends_otherwise(encoded, wrong):
    assert not schemes.read(encoded).verify(wrong)


@pytest.mark.full
@pytest.mark.parametrize("encoded", VECTORS)
def test_an_altered_hash_does_not_verify(encoded):
    altered = encoded[:-6] + ("A" if encoded[-6] != "A" else "B") + encoded[-5:]

    assert not schemes.read(altered).verify(b"password")


@pytest.mark.full
@pytest.mark.parametrize("name", schemes.RECIPES)
def test_a_recipe_makes_hashes_that_read_back_and_verify(name):
    recipe, random = schemes.RECIPES[name], SeededRandom()

    encoded = recipe.hash(b"password", random)

    stored = schemes.read(encoded)
    assert (stored.scheme, stored.cost) == (recipe.scheme, recipe.cost)
    assert stored.verify(b"password")
    assert not stored.verify(b"Password")
    assert recipe.hash(b"password", random) != encoded


@pytest.mark.full
@pytest.mark.parametrize("name", schemes.RECIPES)
def test_a_decoy_looks_and_costs_like_a_hash_but_no_password_fits(name):
    recipe, random = schemes.RECIPES[name], SeededRandom()

    decoys = [schemes.read(recipe.decoy(random)) for _ in range(50)]

    assert {(each.scheme, each.cost) for each in decoys} == {(recipe.scheme, recipe.cost)}
    assert len(recipe.decoy(random)) == len(recipe.hash(b"password", random))
    assert not decoys[0].verify(b"password")


@pytest.mark.full
def test_new_hashes_are_what_other_libraries_make_of_the_same():
    ours = {
        name: recipe.hash(b"password", SeededRandom()) for name, recipe in schemes.RECIPES.items()
    }

    assert argon2.PasswordHasher().verify(ours["argon2id"], "password")
    assert ours["argon2id"].startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert bcrypt.checkpw(b"password", ours["bcrypt"].encode())
    assert ours["bcrypt"].startswith("$2b$12$")


def test_only_72_bytes_of_a_password_count_for_bcrypt():
    made = bcrypt.hashpw(b"x" * 72, bcrypt.gensalt(4)).decode()

    assert schemes.read(made).verify(b"x" * 100)
    assert not schemes.read(made).verify(b"x" * 71)


@pytest.mark.parametrize(
    "costs",
    ["m=8,t=1,p=1", "m=131072,t=1,p=1", "m=131072,t=4,p=4", "m=52428,t=10,p=1", "m=128,t=1,p=16"],
)
def test_argon2_costs_within_bounds_are_read(costs):
    assert schemes.read(argon2_text(costs)).cost


@pytest.mark.parametrize(
    "costs",
    [
        "m=7,t=1,p=1",
        "m=127,t=1,p=16",
        "m=131073,t=1,p=1",
        "m=4194304,t=1,p=1",
        "m=4294967295,t=4294967295,p=16777215",
        "m=99999999999999999999,t=1,p=1",
        "m=131072,t=5,p=1",
        "m=52429,t=10,p=1",
        "m=4096,t=0,p=1",
        "m=4096,t=11,p=1",
        "m=4096,t=1,p=0",
        "m=4096,t=1,p=17",
        "m=04096,t=3,p=1",
        "m=+4096,t=3,p=1",
        "m= 4096,t=3,p=1",
        "m=4_096,t=3,p=1",
        "m=４096,t=3,p=1",
        "m=4096,p=1,t=3",
        "t=3,m=4096,p=1",
        "m=4096,t=3",
        "m=4096,t=3,p=1,data=AA",
        "m=4096,t=3,p=1,keyid=AA",
        "",
    ],
)
def test_argon2_costs_out_of_bounds_or_in_another_form_are_refused(costs):
    with pytest.raises(UnreadableHash):
        schemes.read(argon2_text(costs))


FOREIGN = [
    argon2_text(name="argon2d"),
    argon2_text(name="argon2"),
    argon2_text(name="ARGON2ID"),
    argon2_text(version="v=16"),
    argon2_text(version="v=019"),
    argon2_text().replace("$v=19", ""),
    argon2_text(salt=""),
    argon2_text(digest=""),
    argon2_text(salt=SALT + "=="),
    argon2_text(digest=DIGEST + "="),
    argon2_text(salt=SALT[:-1] + "B"),
    argon2_text(digest=DIGEST[:-1] + "F"),
    argon2_text(salt="cmFuZG9t"),
    argon2_text(salt="A" * 87),
    argon2_text(digest="A" * 20),
    argon2_text(digest="A" * 87),
    argon2_text(digest=DIGEST.replace("/", "_")),
    argon2_text(digest=DIGEST.replace("Y", "é", 1)),
    argon2_text() + "\n",
    argon2_text() + "$",
    " " + argon2_text(),
    "x" + argon2_text(),
    argon2_text() * 2,
    BCRYPT.replace("$2b$", "$2$"),
    BCRYPT.replace("$2b$", "$2x$"),
    BCRYPT.replace("$2b$", "$2c$"),
    BCRYPT.replace("$12$", "$03$"),
    BCRYPT.replace("$12$", "$15$"),
    BCRYPT.replace("$12$", "$31$"),
    BCRYPT.replace("$12$", "$00$"),
    BCRYPT.replace("$12$", "$1$"),
    BCRYPT.replace("$12$", "$012$"),
    BCRYPT.replace("$12$", "$+4$"),
    BCRYPT.replace("$12$", "$１2$"),
    BCRYPT[:-1],
    BCRYPT + "a",
    BCRYPT + "\n",
    BCRYPT[:28] + "a" + BCRYPT[29:],
    BCRYPT[:-1] + "r",
    BCRYPT.replace(".", "+"),
    "",
    "$",
    "$$",
    "$$$$",
    "2b$12$x",
    "{SSHA}x",
    "pbkdf2_sha256$260000$salt$hash",
    "5f4dcc3b5aa765d61d8327deb882cf9",
    "$unknown$x",
    "$argon2id$",
    "$2b$",
    "$" + "a" * 150 + "$",
    "\x00$2b$",
    "\ud800",
    "$2b$12$" + "a" * 10_000_000,
]


@pytest.mark.parametrize("encoded", FOREIGN)
def test_hostile_and_foreign_hashes_are_refused(encoded):
    with pytest.raises(UnreadableHash) as refused:
        schemes.read(encoded)

    assert refused.value.error_code == "password_hash.unreadable"
    assert DIGEST not in refused.value.message
    assert BCRYPT[-31:] not in refused.value.message


@pytest.mark.load
@pytest.mark.parametrize("encoded", FOREIGN)
def test_hostile_and_foreign_hashes_are_refused_at_once(encoded):
    started = time.thread_time()
    with pytest.raises(UnreadableHash):
        schemes.read(encoded)

    assert time.thread_time() - started < 0.05


def test_the_refusal_of_an_unknown_format_says_what_was_looked_for():
    with pytest.raises(UnreadableHash, match="neither in a known format nor a hexadecimal"):
        schemes.read("$md99$x")


def test_every_reader_is_registered_for_what_its_recipe_makes():
    for recipe in schemes.RECIPES.values():
        assert f"${recipe.decoy(SeededRandom()).split('$')[1]}$" in schemes.SCHEMES
